//! Characters that are not a token. Errors after them are consequences and are not reported; a value full of them is reported once.

use super::Parser;
use crate::{
    diagnostic::{Code, Diagnostic},
    source::Span,
};

/// Characters that are not part of a token.
pub struct UnknownCharacters {
    start: usize,
    /// Whether another diagnostic covers them.
    is_forgotten: bool,
}

/// The characters that the lexer reported, in order.
pub fn unknown(wrong: &[Diagnostic]) -> Vec<UnknownCharacters> {
    let wrong = wrong.iter().filter(|wrong| wrong.code == Code::UnknownCharacter);
    let places = wrong.filter_map(|wrong| wrong.place);
    places.map(|place| UnknownCharacters { start: place.start, is_forgotten: false }).collect()
}

impl Parser<'_> {
    /// Whether an invalid character precedes this token. It has been reported, so an error here is a consequence.
    pub(super) fn follows_unknown(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].1.end);
        let next = self.unknown.partition_point(|unknown| unknown.start < before);
        let next = self.unknown.get(next);
        next.is_some_and(|unknown| unknown.start < self.span().start && !unknown.is_forgotten)
    }

    /// The span of a value in parentheses, up to a blank or a comment. An invalid value can have several tokens.
    pub(super) fn value_span(&self) -> Span {
        let span = self.span();
        let rest = &self.text[span.start..];
        let length = rest.find(|end: char| end.is_whitespace() || ");]/".contains(end)).unwrap_or(rest.len());
        Span { end: span.end.max(span.start + length), ..span }
    }

    /// From here to the end of the line, or to where another directive begins on it.
    pub(super) fn line(&self) -> Span {
        let span = self.span();
        let rest = &self.text[span.start..];
        Span { end: span.start + rest.find(['\n', '#']).unwrap_or(rest.len()), ..span }
    }

    /// Drops the lexer's diagnostics of a piece and of the blanks before it; the whole gets one diagnostic.
    pub(super) fn forget_unknown(&mut self, piece: Span) {
        let start = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].1.end);
        let first = self.unknown.partition_point(|unknown| unknown.start < start);
        let inside = self.unknown[first..].iter_mut().take_while(|unknown| unknown.start < piece.end);
        inside.for_each(|unknown| unknown.is_forgotten = true);
    }

    /// Removes the dropped diagnostics, at the end.
    pub(super) fn forget(&mut self) {
        let unknown = &self.unknown;
        let is_forgotten = |start: usize| {
            let found = unknown.binary_search_by_key(&start, |unknown| unknown.start);
            found.is_ok_and(|index| unknown[index].is_forgotten)
        };
        self.wrong.retain(|wrong| {
            let place = wrong.place.filter(|_| wrong.code == Code::UnknownCharacter);
            !place.is_some_and(|place| is_forgotten(place.start))
        });
    }
}
