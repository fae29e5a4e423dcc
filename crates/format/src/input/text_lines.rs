//! The lines of a text, each of a bounded length.

use super::{InputError, bounds::MAX_MESSAGE};
use std::io::{BufRead, BufReader, Read};

/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 256 * 1024;
/// The byte order mark in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Iterates over lines.
pub struct TextLines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    number: u64,
}

impl<R: Read> TextLines<R> {
    /// `from` begins with the first line.
    pub fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(READ_CHUNK_BYTES, from), line: Vec::new(), number: 0 }
    }

    /// Returns the next line with its number, without its line feed.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is too long.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, InputError> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.from).take(MAX_MESSAGE as u64 + 1).read_until(b'\n', &mut self.line)?;
        if read > MAX_MESSAGE {
            return Err(InputError::Defect {
                place: format!("line {}", self.number),
                why: format!("it has more than {MAX_MESSAGE} bytes"),
                remedy: "check the format of the file: --format names it".into(),
            });
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        // Some programs write the byte order mark before the first line.
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.number == 1).unwrap_or(line);
        Ok((read > 0).then_some((self.number, line)))
    }
}
