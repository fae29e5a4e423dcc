//! Which words begin a line, and how far in.
//!
//! A text is a row of items. An item extends to its `;`, or to the `;` after its block in braces; attributes may come first. A
//! block has items again, or, if there is no `;` in it, a list with commas.

use super::{
    WIDTH,
    pieces::SourceToken,
    spacing::{Join, inline},
};
use crate::lexer::Token;
use std::ops::Range;

/// One level of blocks.
pub const INDENT: usize = 2;
/// Indentation of the rest of an item whose line is full: deeper than a block.
const CONTINUED: usize = 4;

/// Position of a word.
#[derive(Debug, Clone, Copy)]
pub struct WordPosition {
    pub join: Join,
    /// Blanks before it if it begins a line, or if a comment makes it begin one.
    pub indent: usize,
}

/// The place of each word; the last one is the end of the file.
pub fn layout(pieces: &[SourceToken<'_>]) -> Vec<WordPosition> {
    let places = inline(pieces).into_iter().map(|join| WordPosition { join, indent: 0 }).collect();
    let mut layout = Layout { pieces, places, at: 0 };
    layout.items(0);
    // The parser refuses an unmatched closing brace. If one were here, the rest would still be laid out.
    while layout.token() != Token::End {
        layout.begin_item(0);
        layout.items(0);
    }
    layout.begin_item(0);
    layout.places
}

struct Layout<'a> {
    pieces: &'a [SourceToken<'a>],
    /// At first as if all were one line.
    places: Vec<WordPosition>,
    at: usize,
}

impl Layout<'_> {
    fn token(&self) -> Token {
        self.token_at(self.at)
    }

    fn token_at(&self, at: usize) -> Token {
        self.pieces.get(at).map_or(Token::End, |piece| piece.token)
    }

    /// Steps over a word that stays on its line; `indent` applies if a comment prevents that.
    fn stay(&mut self, indent: usize) {
        if let Some(place) = self.places.get_mut(self.at) {
            place.indent = indent;
        }
        self.at += 1;
    }

    fn stay_up_to(&mut self, end: usize, indent: usize) {
        while self.at < end {
            self.stay(indent);
        }
    }

    /// Steps over a word that begins a line.
    fn begin(&mut self, join: Join, indent: usize) {
        if let Some(place) = self.places.get_mut(self.at) {
            *place = WordPosition { join, indent };
        }
        self.at += 1;
    }

    fn begin_item(&mut self, indent: usize) {
        // Nothing comes between documentation and its declaration.
        let described = self.at.checked_sub(1).is_some_and(|before| self.token_at(before) == Token::Doc);
        self.begin(if described { Join::Line } else { Join::Item }, indent);
    }

    /// Items up to the `}` that ends their block, or to the end of the file.
    fn items(&mut self, indent: usize) {
        loop {
            match self.token() {
                Token::End | Token::BraceClose => return,
                Token::Doc => self.begin_item(indent),
                Token::Hash => self.directive(indent),
                _ => self.item(indent),
            }
        }
    }

    /// `#include "path"` ends with its text, `#pragma version (1.1)` with its parenthesis.
    fn directive(&mut self, indent: usize) {
        let last = |token| matches!(token, Token::Text | Token::ParenClose | Token::Doc | Token::End);
        let end = self.find(self.at, last);
        self.begin_item(indent);
        self.stay_up_to(end, indent + CONTINUED);
        if matches!(self.token(), Token::Text | Token::ParenClose) {
            self.stay(indent + CONTINUED);
        }
    }

    fn item(&mut self, indent: usize) {
        let start = self.at;
        let head = self.end_of_attributes();
        let end = self.find(head, |token| {
            matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose | Token::End)
        });
        let is_block = self.token_at(end) == Token::BraceOpen;
        if head > start && (is_block || !self.fits(start..end + 1, indent)) {
            self.attributes(head, indent);
            self.begin(Join::Line, indent);
        } else {
            self.begin_item(indent);
            self.stay_up_to(head, indent + 1);
        }
        self.wrapped(head, end, indent);
        if is_block {
            self.block(head, indent);
        }
        if self.token() == Token::Semicolon {
            self.stay(indent);
        }
    }

    /// The first token from here on that satisfies, or the end.
    fn find(&self, from: usize, is_wanted: impl Fn(Token) -> bool) -> usize {
        let found = self.pieces.iter().skip(from).position(|piece| is_wanted(piece.token));
        found.map_or(self.pieces.len(), |after| from + after)
    }

    fn end_of_attributes(&self) -> usize {
        let mut end = self.at;
        while self.token_at(end) == Token::BracketOpen {
            let close = self.find(end, |token| matches!(token, Token::BracketClose | Token::End));
            if self.token_at(close) == Token::End {
                return close;
            }
            end = close + 1;
        }
        end
    }

    /// Characters that these words take on one line.
    fn width(&self, range: Range<usize>) -> usize {
        let first = range.start;
        let width = |at: usize| {
            let (Some(piece), Some(place)) = (self.pieces.get(at), self.places.get(at)) else { return 0 };
            let before = piece.comments_width() + usize::from(place.join == Join::Spaced);
            piece.width() + if at == first { 0 } else { before }
        };
        range.map(width).sum()
    }

    /// Whether these words can share a line.
    fn fits(&self, range: Range<usize>, indent: usize) -> bool {
        let inner = self.pieces.get(range.start + 1..range.end.min(self.pieces.len())).unwrap_or_default();
        let apart = inner.iter().any(|piece| piece.token == Token::Doc || piece.is_set_apart());
        !apart && indent + self.width(range) <= WIDTH
    }

    /// Attributes on lines of their own: all on one if they fit, else each bracket, else each attribute.
    fn attributes(&mut self, end: usize, indent: usize) {
        if self.fits(self.at..end, indent) {
            self.begin_item(indent);
            return self.stay_up_to(end, indent + 1);
        }
        self.begin_item(indent);
        while self.at < end {
            let close = self.find(self.at, |token| matches!(token, Token::BracketClose | Token::End));
            let next = (close + 1).min(end);
            if self.fits(self.at - 1..next, indent) {
                self.stay_up_to(next, indent + 1);
            } else {
                self.attribute_lines(next, indent + 1);
            }
            if self.at < end {
                self.begin(Join::Line, indent);
            }
        }
    }

    /// One attribute a line, each after the column of the bracket.
    fn attribute_lines(&mut self, end: usize, indent: usize) {
        while self.at < end {
            let is_next =
                self.token_at(self.at - 1) == Token::Semicolon && self.token() != Token::BracketClose;
            if is_next { self.begin(Join::Line, indent) } else { self.stay(indent) }
        }
    }

    /// The words of an item after its first one, in as many lines as they need; a line can end after a comma.
    fn wrapped(&mut self, start: usize, end: usize, indent: usize) {
        let deeper = indent + CONTINUED;
        let mut column = indent + self.width(start..self.at);
        while self.at < end {
            let next = self.after_comma(end);
            let is_after_comma = self.token_at(self.at - 1) == Token::Comma;
            let width = self.width(self.at..next);
            let joined = self.width(self.at - 1..next) - self.width(self.at - 1..self.at);
            if is_after_comma && column + joined > WIDTH {
                self.begin(Join::Line, deeper);
                column = deeper + width;
            } else {
                column += joined;
            }
            self.stay_up_to(next.min(end), deeper);
        }
    }

    /// The position after the next comma before `end`, or after the `;` at `end`.
    fn after_comma(&self, end: usize) -> usize {
        let rest = self.pieces.get(self.at..end).unwrap_or_default();
        match rest.iter().position(|piece| piece.token == Token::Comma) {
            Some(comma) => self.at + comma + 1,
            None if self.token_at(end) == Token::Semicolon => end + 1,
            None => end,
        }
    }

    /// A block, from its `{` to its `}`. `start` is where its line begins.
    fn block(&mut self, start: usize, indent: usize) {
        let open = self.at;
        self.stay(indent);
        let end = self.find(self.at, |token| {
            matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose | Token::End)
        });
        let is_list = self.token_at(end) == Token::BraceClose;
        // The `;` belongs to the line.
        let width = indent + self.width(start..end + 1) + 1;
        if is_list && self.fits(open..end + 1, 0) && width <= WIDTH {
            return self.stay_up_to(end + 1, indent + INDENT);
        }
        if is_list {
            self.list(end, indent + INDENT);
        } else {
            self.items(indent + INDENT);
        }
        if self.token() == Token::BraceClose {
            self.begin(Join::Item, indent);
        }
    }

    /// A list with a line for each of its elements.
    fn list(&mut self, end: usize, indent: usize) {
        let mut parentheses = 0_usize;
        while self.at < end {
            let before = self.token_at(self.at - 1);
            match self.token() {
                Token::ParenOpen => parentheses += 1,
                Token::ParenClose => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
            let begins = matches!(before, Token::BraceOpen | Token::Comma | Token::Doc) && parentheses == 0;
            if begins || self.token() == Token::Doc {
                self.begin_item(indent);
            } else {
                self.stay(indent + CONTINUED);
            }
        }
    }
}
