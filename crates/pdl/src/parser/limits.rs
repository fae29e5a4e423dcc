//! `(< 5, > 80)` and `(DEGRADED, FAILED)` after `warn` and `alarm`.

use super::{ParseResult, Parser};
use crate::{
    ast::{Condition, Number},
    diagnostic::{Code, Diagnostic},
    lexer::Token,
    source::Span,
};
use std::collections::HashMap;

const EXAMPLE: &str = "write it as `> 80` or `< 5, > 80`";

impl Parser<'_> {
    /// At least one, without duplicates.
    pub(super) fn conditions(&mut self) -> ParseResult<Vec<Condition>> {
        let mut conditions = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        loop {
            // The operator or enumerator, which must not occur twice.
            let span = self.span();
            let text = self.slice(span).to_owned();
            conditions.push(self.condition()?);
            if let Some(first) = seen.insert(text.clone(), span) {
                let message = format!("duplicate `{text}`");
                let diagnostic = Diagnostic::new(Code::RepeatedAttribute, span, message, "again here");
                self.report(diagnostic.related(first, "first here"));
            }
            if !self.eat(Token::Comma) {
                return Ok(conditions);
            }
        }
    }

    fn condition(&mut self) -> ParseResult<Condition> {
        match self.peek() {
            Token::AngleOpen => {
                self.advance();
                self.limit().map(Condition::Below)
            }
            Token::AngleClose => {
                self.advance();
                self.limit().map(Condition::Above)
            }
            Token::Name => self.name("an enumerator").map(Condition::Is),
            _ => Err(self.unexpected_with("`<`, `>` or an enumerator", Some(EXAMPLE.into()))),
        }
    }

    fn limit(&mut self) -> ParseResult<Number> {
        if self.peek() == Token::Equals {
            return Err(self.unexpected_with("a number", Some(EXAMPLE.into())));
        }
        self.number()
    }
}
