//! Habits from other languages, and the PDL for them.

use super::{Parser, Token};
use crate::diagnostic::{Code, Diagnostic};

pub const WRITE_ABSTRACT: &str = "write `abstract probe`";

/// The declaration that another language calls so.
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
    /// Help for a token that does not fit, where one that would fit is known or not.
    pub(super) fn advice(&self, wanted: Option<Token>) -> Option<String> {
        let text = match (wanted, self.peek(), self.next()) {
            (Some(Token::Semicolon), Token::BracketOpen, Token::Name) => {
                "attributes stand before the type: `[unit(\"s\")] real64 age;`"
            }
            (_, Token::BracketOpen, Token::Number | Token::BracketClose | Token::Name) => {
                "there are no arrays of fixed size: `vector<uint8>` holds any number"
            }
            (Some(Token::Semicolon), Token::Equals, _) => "there are no default values",
            (Some(Token::BraceOpen), Token::Comma, _) => "a probe has at most one base",
            (Some(Token::BraceOpen), Token::Scope, _) => {
                "declare it inside of `module … { }`: the name itself has no `::`"
            }
            (Some(Token::BracketClose), Token::Comma, _) => "put `;` between attributes",
            (Some(Token::AngleClose), Token::Comma, _) => "a vector has no fixed size",
            (Some(Token::ParenClose), Token::Scope, _) => "write the enumerator alone, without its enum",
            (None, Token::Semicolon, _) if self.is_at_begin() => "take it out: one `;` is enough",
            (None, Token::Number | Token::Uuid, _) => "a name begins with a letter",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Reports documentation that documents nothing, and skips it.
    pub(super) fn stray_documentation(&mut self) {
        let place = self.span();
        if self.peek() == Token::Doc && self.doc().is_some() && !self.is_at_end_of_block() {
            let message = "documentation stands in the middle of what it describes";
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, place, message, "not here");
            self.report(diagnostic.help("put it before the attributes"));
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
