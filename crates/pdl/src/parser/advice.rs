//! Help for constructs of other languages that PDL spells differently or does not have.

use super::{Parser, Token};
use crate::diagnostic::{Code, Diagnostic};

pub const WRITE_ABSTRACT: &str = "write `abstract probe`";

/// Returns the PDL keyword for a keyword of another language.
pub fn declaration(word: &str) -> Option<&'static str> {
    Some(match word {
        "class" | "record" | "type" | "typedef" | "message" | "union" => "struct",
        "interface" | "sensor" => "probe",
        "namespace" | "package" => "module",
        "import" | "include" | "using" => "#include",
        _ => return None,
    })
}

impl Parser<'_> {
    /// Returns help for an unexpected token; `wanted` is the expected token, if only one is.
    pub(super) fn advice(&self, wanted: Option<Token>) -> Option<String> {
        let text = match (wanted, self.peek(), self.next()) {
            (Some(Token::Semicolon), Token::BracketOpen, Token::Name) => {
                "put attributes before the type: `[unit(\"s\")] real64 age;`"
            }
            (_, Token::BracketOpen, Token::Number | Token::BracketClose | Token::Name) => {
                "fixed-size arrays are not supported: use `vector<uint8>`"
            }
            (Some(Token::Semicolon), Token::Equals, _) => "default values are not supported",
            (Some(Token::BraceOpen), Token::Comma, _) => "a probe has at most one base",
            (Some(Token::BraceOpen), Token::Scope, _) => {
                "a declared name cannot contain `::`: declare it inside `module … { }`"
            }
            (Some(Token::BracketClose), Token::Comma, _) => "separate attributes with `;`",
            (Some(Token::AngleClose), Token::Comma, _) => "vectors have no fixed size",
            (Some(Token::ParenClose), Token::Scope, _) => "write the enumerator without the name of its enum",
            (None, Token::Semicolon, _) if self.is_at_begin() => "remove it: one `;` is enough",
            (None, Token::Number | Token::Uuid, _) => "a name starts with a letter",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Reports documentation that describes nothing, and skips it.
    pub(super) fn stray_documentation(&mut self) {
        let place = self.span();
        if self.peek() == Token::Doc && self.doc().is_some() && !self.is_at_end_of_block() {
            let message = "misplaced documentation";
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, place, message, "not allowed here");
            self.report(diagnostic.help("move it before the attributes"));
        }
    }

    /// Whether a declaration or a metric can begin here.
    fn is_at_begin(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        before
            .is_none_or(|(token, _)| matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose))
    }

    fn is_at_end_of_block(&self) -> bool {
        matches!(self.peek(), Token::BraceClose | Token::End)
    }
}
