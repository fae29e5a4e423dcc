//! Reads one file of the log record by record, and checks that each follows the one before.

use super::{
    head::Head,
    record::{LineError, MAX_LINE_BYTES, Record},
};
use std::io::{self, BufRead, Read};

/// Damage of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("the line is no record, or was changed: {0}")]
    Line(LineError),
    #[error("the line has more than {MAX_LINE_BYTES} bytes")]
    Long,
    #[error("the line has no end: it was torn by a crash or cut")]
    Torn,
    #[error("records {from} to {to} are missing before this one")]
    Missing { from: u64, to: u64 },
    #[error("record {found} is at the place of record {expected}: records were reordered or repeated")]
    Order { expected: u64, found: u64 },
    #[error("the record before this one was exchanged: its hash is another one")]
    Chain,
}

/// A step through a file.
#[derive(Debug)]
pub(crate) struct Step {
    /// Number of the line, from 1.
    pub(crate) line: u64,
    /// Bytes of the file up to the end of the line.
    pub(crate) end: u64,
    /// The record. A record that does not follow the one before comes with the damage.
    pub(crate) record: Option<(Record, Head)>,
    pub(crate) damage: Option<Damage>,
}

/// Reads a file. After damage it continues with the next record, whatever its number.
#[derive(Debug)]
pub(crate) struct Chain<R> {
    from: R,
    /// The record before; none if it is not known.
    before: Option<Head>,
    line: u64,
    end: u64,
}

impl<R: BufRead> Chain<R> {
    /// Reads records that follow `before`; the first may be any if that is none.
    pub(crate) fn new(from: R, before: Option<Head>) -> Self {
        Self { from, before, line: 0, end: 0 }
    }

    /// The last record that was read; none if it is not known.
    pub(crate) fn last(&self) -> Option<Head> {
        self.before
    }

    /// Reads a line; none at the end.
    pub(crate) fn step(&mut self) -> io::Result<Option<Step>> {
        let mut line = Vec::new();
        let read = (&mut self.from).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.end += read as u64;
        let damaged = |damage| (None, Some(damage));
        let (record, damage) = match line.strip_suffix(b"\n") {
            None if read == MAX_LINE_BYTES => {
                self.skip_line()?;
                damaged(Damage::Long)
            }
            None => damaged(Damage::Torn),
            Some(line) => match Record::parse(line) {
                Err(error) => damaged(Damage::Line(error)),
                Ok((record, head)) => {
                    let damage = self.before.and_then(|before| follows(before, &record));
                    (Some((record, head)), damage)
                }
            },
        };
        self.before = record.as_ref().map(|(_, head)| *head);
        Ok(Some(Step { line: self.line, end: self.end, record, damage }))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.from.fill_buf()?;
            let (length, is_end) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), bytes.is_empty()),
            };
            self.from.consume(length);
            self.end += length as u64;
            if is_end {
                return Ok(());
            }
        }
    }
}

fn follows(before: Head, record: &Record) -> Option<Damage> {
    let expected = before.seq + 1;
    match record.seq {
        found if found > expected => Some(Damage::Missing { from: expected, to: found - 1 }),
        found if found < expected => Some(Damage::Order { expected, found }),
        _ if record.previous != before.hash.to_string() => Some(Damage::Chain),
        _ => None,
    }
}
