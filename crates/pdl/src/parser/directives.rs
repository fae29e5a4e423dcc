//! `#pragma version (1.1)` and `#include "path"`: before the first declaration.

use super::{ParseResult, Parser};
use crate::{
    ast::{DECLARATIONS, File, Name},
    diagnostic::{Code, Diagnostic, nearest},
    lexer::Token,
};

impl Parser<'_> {
    /// `#pragma version (1.1)` and `#include "path"`.
    pub(super) fn preamble(&mut self, file: &mut File) {
        while self.eat(Token::Hash) {
            let parsed = match self.word() {
                "pragma" => self.pragma(),
                "include" => self.include(file),
                word => {
                    let known = nearest(word, ["pragma", "include"].into_iter());
                    let help = known.map(|known| format!("did you mean `{known}`?"));
                    Err(self.unexpected_with("`pragma` or `include`", help))
                }
            };
            if parsed.is_err() {
                self.skip_directive();
            }
        }
    }

    /// A directive after a declaration. It has no effect.
    pub(super) fn late_directive(&mut self) {
        let message = "directive after a declaration";
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), message, "not allowed here");
        self.report(diagnostic.help("move it before the first declaration"));
        self.advance();
        self.skip_directive();
    }

    fn skip_directive(&mut self) {
        while !matches!(
            self.peek(),
            Token::Hash | Token::End | Token::BracketOpen | Token::BraceClose | Token::Doc
        ) && !DECLARATIONS.contains(&self.word())
        {
            self.advance();
        }
    }

    fn pragma(&mut self) -> ParseResult<()> {
        self.advance();
        if self.word() != "version" {
            return Err(self.unexpected("`version`"));
        }
        self.advance();
        self.parenthesized(|parser| parser.version()).map(drop)
    }

    fn include(&mut self, file: &mut File) -> ParseResult<()> {
        self.advance();
        let span = self.span();
        let is_text = self.peek() == Token::Text && !self.unquoted(span).is_empty();
        if !is_text {
            self.forget_unknown(self.line());
            let help = Some("write it as `#include \"engine.pdl\"`".to_owned());
            return Err(self.unexpected_with("the path of a file in quotes", help));
        }
        self.advance();
        file.includes.push(Name { text: self.unquoted(span).to_owned(), span });
        Ok(())
    }

    /// `major.minor`
    pub(super) fn version(&mut self) -> ParseResult<String> {
        let span = self.value_span();
        let text = self.slice(span).to_owned();
        let parts: Vec<&str> = text.split('.').collect();
        let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if self.peek() != Token::Number || parts.len() != 2 || !parts.iter().all(number) {
            self.forget_unknown(span);
            let message = "invalid version";
            let diagnostic =
                Diagnostic::new(Code::BadVersion, span, message, "expected two numbers and a dot");
            return Err(self.report(diagnostic.help("write it as `1.0`")));
        }
        self.advance();
        Ok(text)
    }
}
