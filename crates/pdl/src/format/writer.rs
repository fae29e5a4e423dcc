//! Words in their places, and comments between them, to text.

use super::{
    layout::{INDENT, WordPosition},
    pieces::{Comment, SourceToken},
    spacing::Join,
};
use crate::lexer::Token;
use std::iter;

/// The text; its last line ends with a line break.
pub fn write(pieces: &[SourceToken<'_>], places: &[WordPosition]) -> String {
    let mut writer = Writer { out: String::new() };
    let mut before = None;
    for (piece, place) in iter::zip(pieces, places) {
        writer.between(before, piece, *place);
        writer.out.push_str(piece.text);
        before = Some(piece.token);
    }
    writer.out
}

struct Writer {
    out: String,
}

impl Writer {
    /// Writes the text between two words. A comment keeps its line: that of the word before it, its own, or that of the word after it.
    fn between(&mut self, before: Option<Token>, piece: &SourceToken<'_>, place: WordPosition) {
        let is_item = matches!(place.join, Join::Line | Join::Item);
        let ends = is_item && matches!(piece.token, Token::BraceClose | Token::End);
        let closes = ends && piece.token == Token::BraceClose;
        let indent = if closes { place.indent + INDENT } else { place.indent };
        let may_set_off = place.join == Join::Item;
        // The beginning of the file begins a line.
        let mut has_broken = before.is_none();
        let mut must_break = before == Some(Token::Doc);
        let mut is_at_opening = matches!(before, None | Some(Token::BraceOpen));
        for comment in &piece.comments {
            if must_break || comment.newlines > 0 {
                self.line(indent, may_set_off && comment.newlines > 1 && !is_at_opening);
                has_broken = true;
            } else {
                self.blank();
            }
            self.comment(comment);
            must_break = comment.runs_to_the_end_of_its_line();
            is_at_opening = false;
        }
        let is_set_apart = !piece.comments.is_empty() && piece.newlines > 0;
        if must_break || is_set_apart || (is_item && (ends || !has_broken)) {
            self.line(place.indent, may_set_off && piece.newlines > 1 && !is_at_opening && !ends);
        } else if !piece.comments.is_empty() {
            self.after_comment(piece.token, place.join);
        } else if place.join == Join::Spaced {
            self.blank();
        }
    }

    fn after_comment(&mut self, token: Token, join: Join) {
        let is_opening = matches!(token, Token::Name | Token::Number | Token::Text | Token::Uuid);
        if is_opening || join != Join::Glued {
            self.blank();
        }
    }

    fn blank(&mut self) {
        if !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    /// Begins a line, after an empty one if it is set off. The first line of the file has begun already.
    fn line(&mut self, indent: usize, is_set_off: bool) {
        if self.out.is_empty() {
            return;
        }
        self.out.push_str(if is_set_off { "\n\n" } else { "\n" });
        self.out.extend(iter::repeat_n(' ', indent));
    }

    /// The lines of a comment move with its beginning.
    fn comment(&mut self, comment: &Comment<'_>) {
        let column = self.out.chars().rev().take_while(|&character| character != '\n').count();
        for (number, line) in comment.text.split('\n').enumerate() {
            let line = line.trim_end();
            if number > 0 {
                self.out.push('\n');
            }
            if number == 0 || line.is_empty() {
                self.out.push_str(line);
            } else {
                self.moved(line, comment.before, column);
            }
        }
    }

    /// A line that stood below `before` and now stands below as many characters as `column` says.
    fn moved(&mut self, line: &str, before: &str, column: usize) {
        // Whatever blanks the author indents with.
        if before.trim().is_empty()
            && let Some(rest) = line.strip_prefix(before)
        {
            self.out.extend(iter::repeat_n(' ', column));
            return self.out.push_str(rest);
        }
        let from = before.chars().count();
        self.out.extend(iter::repeat_n(' ', column.saturating_sub(from)));
        self.out.push_str(without_blanks(line, from.saturating_sub(column)));
    }
}

/// Returns the text without up to this many of the blanks that it begins with.
fn without_blanks(line: &str, most: usize) -> &str {
    let blanks = line.bytes().take(most).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(blanks..).unwrap_or(line)
}
