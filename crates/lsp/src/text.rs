//! Positions: the compiler counts bytes, the protocol lines and UTF-16 units.

use lsp_types::{Position, Range};
use oasis_pdl::Span;

/// A text and where its lines begin.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Lines end with `\n`, `\r\n` or `\r`.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: usize| match bytes.get(at) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(|&at| is_end(at)).map(|at| at + 1);
        Self { text, starts: [0].into_iter().chain(starts).collect() }
    }

    /// Returns the position of a byte, or the last position if there is no such byte.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let line_text = self.text.get(start..).unwrap_or_default();
        let before = line_text.char_indices().take_while(|(at, _)| start + at < offset);
        let units: usize = before.map(|(_, character)| character.len_utf16()).sum();
        Position::new(narrow(line), narrow(units))
    }

    /// Returns the byte at a position, or the end of the line or of the text if the position is beyond it.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return self.text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (at, character) in content.char_indices() {
            units += character.len_utf16();
            if units > position.character as usize {
                return start + at;
            }
        }
        start + content.len()
    }

    /// The range of a piece.
    pub fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The range of everything.
    pub fn all(&self) -> Range {
        Range::new(Position::default(), self.position(self.text.len()))
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_utf_16_units() {
        let lines = Lines::new("a水𝄞b\r\nc\rd\n");
        // One byte and unit, three bytes and one unit, four bytes and two units.
        for (offset, line, character) in
            [(0, 0, 0), (1, 0, 1), (4, 0, 2), (8, 0, 4), (9, 0, 5), (11, 1, 0), (13, 2, 0), (15, 3, 0)]
        {
            assert_eq!(lines.position(offset), Position::new(line, character), "{offset}");
            assert_eq!(lines.offset(Position::new(line, character)), offset, "{line}:{character}");
        }
    }

    #[test]
    fn positions_that_are_nowhere_are_moved_to_where_they_can_be() {
        let lines = Lines::new("a𝄞\r\nb");
        assert_eq!(lines.offset(Position::new(0, 2)), 1, "in the middle of a character");
        assert_eq!(lines.offset(Position::new(0, 99)), 5, "after the end of a line");
        assert_eq!(lines.offset(Position::new(9, 0)), 8, "after the last line");
        assert_eq!(lines.position(99), Position::new(1, 1));
        assert_eq!(Lines::new("").all(), Range::default());
    }
}
