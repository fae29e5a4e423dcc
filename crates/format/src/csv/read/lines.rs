//! The records of a file, with their lines. A record has a bounded length: an open quotation mark reads no file to its end.

use super::dialect::Dialect;
use crate::input::{InputError, bounds::MAX_MESSAGE};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// Bytes that are read at once.
const READ_CHUNK_BYTES: usize = 256 * 1024;

/// Iterates over records.
pub struct Lines<R> {
    reader: Reader<Bounded<R>>,
    left: Rc<Cell<usize>>,
    /// Lines before the first record.
    skipped: u64,
    line: u64,
    records: u64,
}

impl<R: Read> Lines<R> {
    /// `from` begins with the first record.
    pub fn new(from: R, dialect: &Dialect) -> Self {
        let left = Rc::new(Cell::new(0));
        let reader = ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(READ_CHUNK_BYTES)
            .from_reader(Bounded { from, left: left.clone() });
        Self { reader, left, skipped: dialect.skipped_lines, line: 0, records: 0 }
    }

    /// Reads the next record. Returns whether there is one.
    pub fn next(&mut self, record: &mut ByteRecord) -> Result<bool, InputError> {
        self.left.set(MAX_MESSAGE);
        let found = self.reader.read_byte_record(record);
        self.line = record.position().map_or(self.line, |position| position.line()) + self.skipped;
        self.records += 1;
        match found {
            Ok(found) => Ok(found),
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    Err(InputError::Defect {
                        place: format!("after line {}", self.line),
                        why: format!("a record has more than {MAX_MESSAGE} bytes"),
                        remedy: "close the quotation mark, or choose the delimiter with --delimiter".into(),
                    })
                }
                csv::ErrorKind::Io(error) => Err(error.into()),
                other => Err(InputError::file(format!("{other:?}"), "check the file")),
            },
        }
    }

    /// The line in which the last record begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the last record is the first one.
    pub fn is_first(&self) -> bool {
        self.records == 1
    }
}

/// A reader that fails after `left` bytes.
struct Bounded<R> {
    from: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left.get().checked_sub(1) else {
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        let read = self.from.read(to)?;
        self.left.set((left + 1).saturating_sub(read));
        Ok(read)
    }
}
