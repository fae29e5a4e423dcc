//! Numbers: `5`, `-1`, `99.5`, `1e6`.

use super::{ParseResult, Parser};
use crate::{
    ast::Number,
    diagnostic::{Code, Diagnostic},
    lexer::Token,
    model,
};

impl Parser<'_> {
    pub(super) fn number(&mut self) -> ParseResult<Number> {
        if self.peek() != Token::Number {
            return Err(self.unexpected("a number"));
        }
        let span = self.span();
        let Some(value) = value(self.slice(span)) else {
            let message = "number is too large for any type";
            return Err(self.report(Diagnostic::new(Code::NumberDoesNotFit, span, message, "too large")));
        };
        self.advance();
        Ok(Number { value, span })
    }
}

fn value(text: &str) -> Option<model::Number> {
    // An `i128` contains every `u64` and `i64`, and one more on either side.
    let integer = text.parse().ok().filter(|value| (i64::MIN.into()..=u64::MAX.into()).contains(value));
    match integer {
        Some(integer) => Some(model::Number::Integer(integer)),
        None => text.parse().ok().filter(|value: &f64| value.is_finite()).map(model::Number::Real),
    }
}
