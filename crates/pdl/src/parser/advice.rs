//! Help for constructs of other languages that PDL spells differently or does not have.

use super::{ParseResult, Parser, Token};
use crate::{
    diagnostic::{Code, Diagnostic},
    source::Span,
};

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

/// Returns the PDL attribute for an attribute of another language; `value` is the text in its parentheses.
pub fn attribute(word: &str, value: &str) -> Option<String> {
    Some(match word.to_ascii_lowercase().as_str() {
        "range" | "limits" | "bounds" | "interval" => match value.split_once(',') {
            Some((min, max)) => format!("write `min({}); max({})`", min.trim(), max.trim()),
            None => "write `min(0); max(100)`".into(),
        },
        "name" | "title" | "display_name" => "write `label(\"…\")`".into(),
        "doc" | "description" | "comment" | "brief" => {
            "write documentation as `/// …` on a line before the metric".into()
        }
        "default" | "optional" | "required" => {
            "PDL has no such attribute: each sample has all metrics".into()
        }
        "threshold" | "warning" | "critical" | "error" => "write `warn(> 80)` or `alarm(> 90)`".into(),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reports `[3]` after the name of a metric: `kind` is its type.
    pub(super) fn array(&mut self, kind: Span, name: Span) -> ParseResult<()> {
        let is_size = match self.next() {
            Token::Number | Token::BracketClose => true,
            // `[SIZE]`, and not an attribute after the name.
            Token::Name => {
                let after = self.tokens.get(self.at + 2).map(|(token, _)| *token);
                after == Some(Token::BracketClose)
            }
            _ => false,
        };
        if self.peek() != Token::BracketOpen || !is_size || self.is_on_new_line() {
            return Ok(());
        }
        let help = format!(
            "fixed-size arrays are not supported: write `vector<{}> {};`",
            self.slice(kind),
            self.slice(name)
        );
        let message = format!("missing {} after the metric", Token::Semicolon);
        let label = format!("expected {}", Token::Semicolon);
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, label);
        Err(self.report(diagnostic.help(help)))
    }

    /// Returns help for an unexpected token; `wanted` is the expected token, if only one is.
    pub(super) fn advice(&self, wanted: Option<Token>) -> Option<String> {
        let text = match (wanted, self.peek(), self.next()) {
            (Some(Token::Semicolon), Token::BracketOpen, Token::Name) if self.is_on_new_line() => {
                return None;
            }
            (Some(Token::Semicolon), Token::Name, Token::ParenOpen) if !self.is_on_new_line() => {
                return Some(self.late_attribute());
            }
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

    /// Help for `real64 level range(0, 1);`.
    fn late_attribute(&self) -> String {
        let word = self.word();
        match attribute(word, self.parenthesized_text()) {
            Some(known) => format!("put attributes in brackets before the type: {known}"),
            None => format!("put attributes in brackets before the type: `[{word}(…)] real64 age;`"),
        }
    }

    /// The text in the parentheses after this word, on its line.
    pub(super) fn parenthesized_text(&self) -> &str {
        let rest = &self.text[self.span().end..];
        let line = rest.split('\n').next().unwrap_or_default().trim_start();
        let inner = line.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        inner.map_or("", |(inner, _)| inner)
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
