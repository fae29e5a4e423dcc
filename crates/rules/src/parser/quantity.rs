//! Numbers with their units: `95 Cel`, `5 Cel/s`, `10s`. A unit has no blanks and ends at one, so `5 m / x` is a quotient.

use super::{ParseResult, Parser};
use crate::{
    ast::Name,
    code::{Code, Diagnostic},
    lexer::Token,
    unit::Unit,
};
use oasis_pdl::Span;

/// Longest duration: a rule must not wait for weeks in memory.
const MAX_DURATION: f64 = 7.0 * 86_400.0;
const NANOS: f64 = 1e9;
/// Words that follow numbers, and are no units.
const WORDS: [&str; 13] = [
    "for", "and", "or", "not", "then", "within", "at", "last", "every", "samples", "sample", "always",
    "after",
];

impl Parser<'_> {
    /// A number and its unit, if it has one.
    pub(super) fn quantity(&mut self) -> ParseResult<(f64, Option<Name>)> {
        if self.peek() != Token::Number {
            return Err(self.unexpected("a number"));
        }
        let span = self.advance();
        let Some(value) = self.slice(span).parse().ok().filter(|value: &f64| value.is_finite()) else {
            let wrong = Diagnostic::new(Code::TooLarge, span, "number is too large", "too large");
            return Err(self.report(wrong));
        };
        let Some(place) = unit_after(self.text, span) else { return Ok((value, None)) };
        while self.peek() != Token::End && self.span().start < place.end {
            self.advance();
        }
        Ok((value, Some(Name { text: self.slice(place).to_owned(), span: place })))
    }

    /// A duration in nanoseconds, more than 0.
    pub(super) fn duration(&mut self) -> ParseResult<(u64, Span)> {
        let (nanos, span) = self.instant()?;
        if nanos == 0 {
            let wrong = Diagnostic::new(Code::BadDuration, span, "duration of zero", "too short");
            return Err(self.report(wrong.help("write a duration such as `500ms` or `10s`")));
        }
        Ok((nanos, span))
    }

    /// A duration in nanoseconds; 0 too.
    pub(super) fn instant(&mut self) -> ParseResult<(u64, Span)> {
        let start = self.span();
        let (value, unit) = self.quantity()?;
        let span = unit.as_ref().map_or(start, |unit| start.to(unit.span));
        let in_seconds = unit.and_then(|unit| Unit::parse(&unit.text).ok()?.seconds());
        let Some(factor) = in_seconds else {
            let message = "expected a duration";
            let wrong = Diagnostic::new(Code::BadDuration, span, message, "no unit of time");
            return Err(self.report(wrong.help("write a duration such as `500ms`, `10s`, `5min` or `1h`")));
        };
        let seconds = value * factor;
        if seconds > MAX_DURATION {
            let wrong = Diagnostic::new(Code::BadDuration, span, "duration of more than 7 d", "too long");
            return Err(self.report(wrong));
        }
        Ok(((seconds * NANOS).round() as u64, span))
    }

    /// A number of samples.
    pub(super) fn samples(&mut self, most: u32) -> ParseResult<u32> {
        let span = self.span();
        let (value, unit) = self.quantity()?;
        if unit.is_none() && value.fract() == 0.0 && (1.0..=f64::from(most)).contains(&value) {
            return Ok(value as u32);
        }
        let message = format!("expected a number of samples from 1 to {most}");
        Err(self.report(Diagnostic::new(Code::BadWindow, span, message, "not such a number")))
    }
}

/// The unit after a number, if one follows on the same line.
pub fn unit_after(text: &str, number: Span) -> Option<Span> {
    let rest = text.get(number.end..)?;
    let unit = rest.trim_start_matches([' ', '\t']);
    let start = number.end + rest.len() - unit.len();
    if !unit.starts_with(|first: char| first.is_ascii_alphabetic() || "%[{".contains(first)) {
        return None;
    }
    let unit = &unit[..length(unit)];
    if unit.is_empty() || WORDS.contains(&unit) {
        return None;
    }
    Some(Span { start, end: start + unit.len(), ..number })
}

/// Bytes of a unit: up to a blank, or a character that units have only in brackets.
fn length(text: &str) -> usize {
    let mut inside = 0;
    for (at, character) in text.char_indices() {
        match character {
            _ if at < inside => {}
            '[' | '{' => match closed(&text[at..]) {
                Some(length) => inside = at + length,
                None => return at,
            },
            '/' if text[at + 1..].starts_with(['/', '*']) => return at,
            // UCUM section 3.3: a sign belongs to an exponent.
            '+' | '-' if text[at + 1..].starts_with(|next: char| next.is_ascii_digit()) => {}
            _ if character.is_ascii_alphanumeric() || "%./_*".contains(character) => {}
            _ => return at,
        }
    }
    text.len()
}

/// Bytes of a symbol in brackets, or of an annotation in braces, which a block is not. `[[degF]]` is `[degF]` as the page writes it.
fn closed(text: &str) -> Option<usize> {
    let end = if text.starts_with("[[") {
        "]]"
    } else if text.starts_with('[') {
        "]"
    } else {
        "}"
    };
    let length = text.find(end)? + end.len();
    let is_unit = !text[..length].contains(|other: char| other.is_whitespace() || ";=".contains(other));
    is_unit.then_some(length)
}
