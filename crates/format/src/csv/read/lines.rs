//! The records of a file, with their lines. A record has a bounded length: an open quotation mark reads no file to its end.

use super::dialect::Dialect;
use crate::input::{InputError, bounds::MAX_MESSAGE};
use memchr::{memchr_iter, memchr3};
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 256 * 1024;

/// A record: its fields without quotation marks, and the line in which it begins.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    pub fields: Fields<'a>,
    pub line: u64,
    /// The place after it.
    pub end: Position,
}

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The byte of the file.
    byte: u64,
    line: u64,
    /// Records before it.
    pub records: u64,
}

impl Position {
    /// The place of the first record.
    pub fn first(dialect: &Dialect) -> Self {
        Self { byte: dialect.start, line: 1 + dialect.skipped_lines, records: 0 }
    }
}

/// The fields of a record.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    /// One byte stands between two fields.
    text: &'a [u8],
    /// The byte after each field.
    ends: &'a [u32],
}

impl<'a> Fields<'a> {
    /// The number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a field.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&'a [u8]> {
        let end = *self.ends.get(at)?;
        let start = match at {
            0 => 0,
            _ => *self.ends.get(at - 1)? + 1,
        };
        self.text.get(start as usize..end as usize)
    }

    /// Iterates over the fields.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(move |at| self.get(at))
    }

    /// Returns the first fields.
    pub fn first(self, count: usize) -> Self {
        Self { ends: self.ends.get(..count).unwrap_or(self.ends), ..self }
    }

    /// Whether all bytes are ASCII.
    pub fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }
}

/// Fields that are copies.
#[derive(Debug, Default)]
pub struct FieldBuffer {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl FieldBuffer {
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, field: &[u8]) {
        self.text.extend_from_slice(field);
        self.end_field();
    }

    pub fn fields(&self) -> Fields<'_> {
        Fields { text: &self.text, ends: &self.ends }
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len() as u32);
        self.text.push(0);
    }
}

/// Reads the records of a file.
pub struct Lines<R> {
    from: R,
    delimiter: u8,
    block: Vec<u8>,
    /// The bytes of the block that are not split yet.
    at: usize,
    filled: usize,
    is_end: bool,
    /// The ends of the fields; the text of the fields too, if a field has quotation marks.
    split: FieldBuffer,
    /// The place of `at`.
    position: Position,
}

/// The end of a record in a block.
struct RecordEnd {
    bytes: usize,
    has_copies: bool,
}

impl<R: Read + Seek> Lines<R> {
    /// Reads the records from a place on.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn from(mut from: R, position: Position, dialect: &Dialect) -> Result<Self, InputError> {
        from.seek(SeekFrom::Start(position.byte))?;
        Ok(Self {
            from,
            delimiter: dialect.delimiter,
            block: vec![0; READ_CHUNK_BYTES],
            at: 0,
            filled: 0,
            is_end: false,
            split: FieldBuffer::default(),
            position,
        })
    }

    /// Reads the next record; `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or the record is too long.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, InputError> {
        if !self.skip_line_ends()? {
            return Ok(None);
        }
        let end = loop {
            let left = self.block.get(self.at..self.filled).unwrap_or_default();
            match split(left, self.delimiter, self.is_end, &mut self.split) {
                Some(end) if end.bytes <= MAX_MESSAGE => break end,
                None if left.len() <= MAX_MESSAGE => self.refill()?,
                _ => return Err(too_long(self.position.line)),
            }
        };
        let text = self.block.get(self.at..self.at + end.bytes).unwrap_or_default();
        let line = self.position.line;
        self.at += end.bytes;
        self.position.byte += end.bytes as u64;
        self.position.records += 1;
        if end.has_copies {
            self.position.line += memchr_iter(b'\n', text).count() as u64;
        }
        let text = if end.has_copies { &self.split.text } else { text };
        let fields = Fields { text, ends: &self.split.ends };
        Ok(Some(Record { fields, line, end: self.position }))
    }

    /// Skips line feeds, carriage returns and both together. Returns whether a record follows.
    fn skip_line_ends(&mut self) -> Result<bool, InputError> {
        let mut is_after_return = false;
        loop {
            while let Some(byte) = self.block.get(self.at..self.filled).and_then(|left| left.first()) {
                match byte {
                    b'\n' => self.position.line += u64::from(!is_after_return),
                    b'\r' => self.position.line += 1,
                    _ => return Ok(true),
                }
                is_after_return = *byte == b'\r';
                self.at += 1;
                self.position.byte += 1;
            }
            if self.is_end {
                return Ok(false);
            }
            self.refill()?;
        }
    }

    /// Reads the next bytes of the file after those that are left. A record that fills half of the block doubles it, so that few bytes are split twice.
    fn refill(&mut self) -> Result<(), InputError> {
        self.block.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.filled * 2 > self.block.len() {
            self.block.resize(self.block.len() * 2, 0);
        }
        while !self.is_end && self.filled < self.block.len() {
            match self.from.read(self.block.get_mut(self.filled..).unwrap_or_default()) {
                Ok(read) => {
                    self.filled += read;
                    self.is_end = read == 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn too_long(line: u64) -> InputError {
    InputError::Defect {
        place: format!("after line {line}"),
        why: format!("a record has more than {MAX_MESSAGE} bytes"),
        remedy: "close the quotation mark, or choose the delimiter with --delimiter".into(),
    }
}

/// Splits the record at the beginning of a text; `None` if its end is not there.
fn split(left: &[u8], delimiter: u8, is_end: bool, to: &mut FieldBuffer) -> Option<RecordEnd> {
    to.clear();
    let bytes = match memchr3(b'\n', b'\r', b'"', left) {
        Some(at) if left.get(at) == Some(&b'"') => {
            let bytes = unquote(left, delimiter, is_end, to)?;
            return Some(RecordEnd { bytes, has_copies: true });
        }
        Some(at) => at,
        None if is_end => left.len(),
        None => return None,
    };
    find_ends(left.get(..bytes)?, delimiter, &mut to.ends);
    Some(RecordEnd { bytes, has_copies: false })
}

/// Finds the ends of fields without quotation marks, eight bytes at a time.
fn find_ends(line: &[u8], delimiter: u8, ends: &mut Vec<u32>) {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let delimiters = u64::from_le_bytes([delimiter; 8]);
    let (words, rest) = line.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let differences = u64::from_le_bytes(*word) ^ delimiters;
        // The highest bit of each byte without a difference.
        let mut found = !(((differences & LOW_BITS) + LOW_BITS) | differences | LOW_BITS);
        while found != 0 {
            ends.push(at + found.trailing_zeros() / 8);
            found &= found - 1;
        }
        at += 8;
    }
    for byte in rest {
        if *byte == delimiter {
            ends.push(at);
        }
        at += 1;
    }
    ends.push(at);
}

/// Copies fields of which one has a quotation mark. Returns the bytes of the record; `None` if its end is not there.
fn unquote(left: &[u8], delimiter: u8, is_end: bool, to: &mut FieldBuffer) -> Option<usize> {
    #[derive(Clone, Copy)]
    enum State {
        Start,
        Plain,
        Quoted,
        /// After a quotation mark in a quoted field: its end, unless another one follows.
        Closed,
    }
    let mut state = State::Start;
    for (at, byte) in left.iter().enumerate() {
        state = match (state, *byte) {
            (State::Start, b'"') => State::Quoted,
            (State::Quoted, b'"') => State::Closed,
            (State::Quoted, byte) => {
                to.text.push(byte);
                State::Quoted
            }
            (State::Closed, b'"') => {
                to.text.push(b'"');
                State::Quoted
            }
            (_, byte) if byte == delimiter => {
                to.end_field();
                State::Start
            }
            (_, b'\n' | b'\r') => {
                to.end_field();
                return Some(at);
            }
            (_, byte) => {
                to.text.push(byte);
                State::Plain
            }
        };
    }
    is_end.then(|| {
        to.end_field();
        left.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputOptions;
    use csv::ReaderBuilder;
    use proptest::{collection::vec, prelude::*, sample::select};
    use std::io::Cursor;

    /// A reader that returns few bytes at a time.
    struct Slow<'a>(Cursor<&'a [u8]>);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let length = to.len().min(1_007);
            self.0.read(&mut to[..length])
        }
    }

    impl Seek for Slow<'_> {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }

    fn lines(text: &[u8], delimiter: u8, block: usize, from: Option<Position>) -> Lines<Slow<'_>> {
        let options = InputOptions { delimiter: Some(delimiter), ..InputOptions::default() };
        let dialect = Dialect::detect(b"a", &options).unwrap();
        let from = from.unwrap_or(Position::first(&dialect));
        Lines { block: vec![0; block], ..Lines::from(Slow(Cursor::new(text)), from, &dialect).unwrap() }
    }

    fn all(text: &[u8], delimiter: u8, block: usize) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut reader = lines(text, delimiter, block, None);
        let mut all = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            assert_eq!(record.fields.len(), record.fields.iter().count());
            all.push((record.line, record.fields.iter().map(<[u8]>::to_vec).collect()));
            // Any record can be the first of another reading.
            let end = record.end;
            assert_eq!(end.records, all.len() as u64);
            if end.records % 3 == 1 {
                reader = lines(text, delimiter, block, Some(end));
            }
        }
        all
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_library(
            text in vec(select(&b"ab1.,;\"\"\n\n\r\t\xe4 "[..]), 0..200),
            delimiter in select(&b",;\t"[..]),
            block in 1..64_usize,
        ) {
            let mut reader =
                ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(&text[..]);
            let expected: Vec<Vec<Vec<u8>>> =
                reader.byte_records().map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect()).collect();
            let found: Vec<_> = all(&text, delimiter, block).into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_record_has_the_line_in_which_it_begins() {
        for (text, expected) in [
            ("a\nb\n\n\nc", vec![1, 2, 5]),
            ("a\r\nb\r\n\r\nc\r\n", vec![1, 2, 4]),
            ("a\rb\r\rc", vec![1, 2, 4]),
            ("\n\"a\nb\"\nc\n", vec![2, 4]),
        ] {
            for block in [1, 3, 64] {
                let found: Vec<_> = all(text.as_bytes(), b',', block).iter().map(|(line, _)| *line).collect();
                assert_eq!(found, expected, "{text:?}");
            }
        }
    }

    #[test]
    fn a_record_has_a_bounded_length() {
        for (longest, is_read) in [(MAX_MESSAGE, true), (MAX_MESSAGE + 1, false)] {
            let text = [b"a\n".as_slice(), &vec![b'x'; longest], b"\nb\n"].concat();
            let mut lines = lines(&text, b',', READ_CHUNK_BYTES, None);
            assert!(lines.next().unwrap().is_some());
            match lines.next() {
                Ok(record) => assert!(is_read && record.unwrap().fields.get(0).unwrap().len() == longest),
                Err(error) => assert!(!is_read && error.to_string().starts_with("after line 2"), "{error}"),
            }
        }
    }
}
