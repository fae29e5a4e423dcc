//! `(demand, 1, 100)` after `rate`: the readers choose between two rates in hertz.

use super::{ParseResult, Parser};
use crate::{
    ast::{Demand, Number},
    diagnostic::{Code, Diagnostic},
    lexer::Token,
};

/// Rates that a node can call a probe at, in hertz (docs/reference/data-channel.md, `hertz`).
const HERTZ: std::ops::RangeInclusive<f64> = 0.01..=1_000.0;
const EXAMPLE: &str = "write it as `rate(demand, 1, 100)`: lowest and highest rate in hertz";

impl Parser<'_> {
    /// `None` if it was parsed but is invalid, which is reported.
    pub(super) fn rate(&mut self) -> ParseResult<Option<Demand>> {
        if self.word() != "demand" {
            let message = "invalid rate: expected `demand`";
            let diagnostic = Diagnostic::new(Code::BadAttribute, self.span(), message, "expected `demand`");
            return Err(self.report(diagnostic.help(EXAMPLE)));
        }
        self.advance();
        self.comma_in_rate()?;
        let min = self.number()?;
        self.comma_in_rate()?;
        let max = self.number()?;
        let are_rates = [min, max].map(|bound| self.is_rate(bound));
        if are_rates.contains(&false) {
            return Ok(None);
        }
        if max.value.is_less_than(min.value) {
            let message = "the lower bound of the rate is greater than its upper bound";
            let diagnostic = Diagnostic::new(Code::LimitsReversed, max.span, message, "upper bound");
            self.report(diagnostic.related(min.span, "lower bound"));
            return Ok(None);
        }
        Ok(Some(Demand { min, max }))
    }

    fn comma_in_rate(&mut self) -> ParseResult<()> {
        if self.eat(Token::Comma) {
            return Ok(());
        }
        Err(self.unexpected_with("`,`", Some(EXAMPLE.into())))
    }

    fn is_rate(&mut self, bound: Number) -> bool {
        let is_rate = HERTZ.contains(&bound.value.to_f64());
        if !is_rate {
            let message = "rate is out of range";
            let diagnostic = Diagnostic::new(Code::RateOutOfRange, bound.span, message, "out of range");
            self.report(diagnostic.note("rates range from 0.01 to 1000 Hz"));
        }
        is_rate
    }
}
