//! Batches out of a segment file: most lie close together, and are small, so that many are read at once.

use crate::{
    index::Entry,
    record::{self, FileHeader, Kind, RECORD_HEADER},
};
use bytes::Bytes;
use oasis_wire::loss::Cause;
use std::{fs::File, io, os::unix::fs::FileExt};

/// Most bytes read at once.
const WINDOW: u64 = 1024 * 1024;
/// What is read behind the beginning of the last record that is wanted, of which only the beginning is known.
const BEYOND: u64 = 4 * 1024;

/// Why a batch that is listed cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// Its bytes are not what was written.
    #[error("is not what was written")]
    Damaged,
    /// The disk does not give them. It may another time.
    #[error("cannot be read: {0}")]
    Disk(io::Error),
}

impl Unread {
    /// Why its samples are missing.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Damaged => Cause::Damaged,
            Self::Disk(_) => Cause::ReadError,
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        // A file that was cut short.
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Disk(error) }
    }
}

/// Bytes of a file that were read at once.
#[derive(Debug, Default)]
pub struct Window {
    start: u64,
    bytes: Bytes,
}

impl Window {
    /// One batch, checked. What of those behind it is `wanted` and lies close is read with it.
    pub fn read(
        &mut self,
        file: &File,
        header: &FileHeader,
        entry: &Entry,
        wanted: &[Entry],
    ) -> Result<Bytes, Unread> {
        // What of it cannot be read is read alone: others may be good.
        let is_read = self.move_to(file, entry, wanted).is_ok();
        match self.batch(header, entry).filter(|_| is_read) {
            Some(batch) => Ok(batch),
            None => read_batch(file, header, entry),
        }
    }

    /// Reads a record, and those behind it that are wanted, unless they were read.
    fn move_to(&mut self, file: &File, entry: &Entry, wanted: &[Entry]) -> io::Result<()> {
        let end = self.start + self.bytes.len() as u64;
        if (self.start..end).contains(&entry.position) {
            return Ok(());
        }
        let mut last = entry.position;
        for next in wanted {
            let further = (last..=entry.position.saturating_add(WINDOW)).contains(&next.position);
            // What lies between is not worth reading if it is much.
            if !further || next.position - last > 4 * BEYOND {
                break;
            }
            last = next.position;
        }
        let mut bytes = vec![0; usize::try_from(last - entry.position + BEYOND).unwrap_or_default()];
        // The file may end before: what is not there is no record.
        let read = file.read_at(&mut bytes, entry.position)?;
        bytes.truncate(read);
        *self = Self { start: entry.position, bytes: bytes.into() };
        Ok(())
    }

    /// One batch, checked; none if it is damaged, or goes beyond what was read.
    fn batch(&self, header: &FileHeader, entry: &Entry) -> Option<Bytes> {
        let at = usize::try_from(entry.position.checked_sub(self.start)?).ok()?;
        let (head, _, _) = record::parse(self.bytes.get(at..)?, header.nonce, entry.position).ok()?;
        let payload = at + RECORD_HEADER..at + RECORD_HEADER + head.length;
        (head.kind == Kind::Batch).then(|| self.bytes.slice(payload))
    }
}

/// One batch, checked.
fn read_batch(file: &File, header: &FileHeader, entry: &Entry) -> Result<Bytes, Unread> {
    let mut head = [0; RECORD_HEADER];
    file.read_exact_at(&mut head, entry.position)?;
    let parsed = match record::parse_head(&head, header.nonce, entry.position) {
        Ok(parsed) if parsed.kind == Kind::Batch => parsed,
        _ => return Err(Unread::Damaged),
    };
    let mut bytes = vec![0; record::size_of(parsed.length)];
    file.read_exact_at(&mut bytes, entry.position)?;
    match record::parse(&bytes, header.nonce, entry.position) {
        Ok(_) => Ok(Bytes::from(bytes).slice(RECORD_HEADER..RECORD_HEADER + parsed.length)),
        Err(_) => Err(Unread::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::{Epoch, Nanos, Offset};

    const HEADER: FileHeader = FileHeader { number: 1, nonce: 99, created: Nanos(0), epoch: Epoch(1) };

    fn entry(position: u64) -> Entry {
        Entry { position, first: Offset(0), count: 1, min_time: 0, max_time: 0, last_sequence: 1 }
    }

    #[test]
    fn what_the_disk_does_not_give_is_told_apart_from_what_is_damaged() {
        let mut bytes = Vec::new();
        record::put(&mut bytes, HEADER.nonce, 0, (Kind::Batch, 1), (0, 0), b"good");
        let damaged = bytes.len() as u64;
        record::put(&mut bytes, HEADER.nonce, 0, (Kind::Batch, 1), (0, 0), b"elsewhere");
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &bytes).unwrap();
        let read = |file: &File, position| {
            let wanted = [entry(position)];
            Window::default().read(file, &HEADER, &wanted[0], &wanted)
        };
        let good = File::open(path.path()).unwrap();
        assert_eq!(read(&good, 0).unwrap(), &b"good"[..]);
        assert_eq!(read(&good, damaged).unwrap_err().cause(), Cause::Damaged);
        assert_eq!(read(&good, bytes.len() as u64).unwrap_err().cause(), Cause::Damaged);
        // Each read of it fails.
        let failing = File::options().write(true).open(path.path()).unwrap();
        assert_eq!(read(&failing, 0).unwrap_err().cause(), Cause::ReadError);
    }
}
