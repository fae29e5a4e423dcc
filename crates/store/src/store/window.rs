//! Reads batches from a segment file, many at once, because most are small and adjacent.

use crate::{
    group::StoredBatch,
    index::Entry,
    record::{self, FileHeader, Head, Kind, RECORD_HEADER},
};
use bytes::Bytes;
use oasis_wire::{batch::Header, loss::Cause, quantity::Offset};
use std::{fs::File, io, os::unix::fs::FileExt};

/// Most bytes read at once.
const READ_WINDOW_BYTES: u64 = 1024 * 1024;
/// Bytes to read from the start of the last requested record, whose size is unknown.
const LAST_RECORD_BYTES: u64 = 4 * 1024;

/// Errors of reading a listed batch.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// Damaged bytes.
    #[error("is damaged")]
    Damaged,
    /// The disk failed. Another attempt may succeed.
    #[error("cannot be read: {0}")]
    Disk(io::Error),
}

impl Unread {
    /// The cause of its missing samples.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Damaged => Cause::Damaged,
            Self::Disk(_) => Cause::ReadError,
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        // A truncated file.
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
    /// Reads and checks one batch or group of a series. Also reads the following `wanted` batches that are close.
    pub fn read(
        &mut self,
        file: &File,
        (header, number): (&FileHeader, u32),
        entry: &Entry,
        wanted: &[Entry],
    ) -> Result<StoredBatch, Unread> {
        // Reads an unreadable part alone: other batches may be intact.
        let is_read = self.move_to(file, entry, wanted).is_ok();
        let (head, payload) = match self.record(header, entry).filter(|_| is_read) {
            Some(record) => record,
            None => read_record(file, header, entry)?,
        };
        let stored = match head.kind {
            Kind::Batch => Some(StoredBatch::as_it_arrived(payload)),
            Kind::Group => StoredBatch::of_group(payload),
            _ => None,
        };
        let is_listed = |stored: &StoredBatch| {
            !header.has_groups || (head.number == number && is_of(&stored.batch, entry))
        };
        stored.filter(is_listed).ok_or(Unread::Damaged)
    }

    /// Reads a record and the requested ones after it, unless already read.
    fn move_to(&mut self, file: &File, entry: &Entry, wanted: &[Entry]) -> io::Result<()> {
        let end = self.start + self.bytes.len() as u64;
        if (self.start..end).contains(&entry.position) {
            return Ok(());
        }
        let mut last = entry.position;
        for next in wanted {
            let further = (last..=entry.position.saturating_add(READ_WINDOW_BYTES)).contains(&next.position);
            // Do not read large unneeded parts.
            if !further || next.position - last > 4 * LAST_RECORD_BYTES {
                break;
            }
            last = next.position;
        }
        let mut bytes =
            vec![0; usize::try_from(last - entry.position + LAST_RECORD_BYTES).unwrap_or_default()];
        // The file may end earlier.
        let read = file.read_at(&mut bytes, entry.position)?;
        bytes.truncate(read);
        *self = Self { start: entry.position, bytes: bytes.into() };
        Ok(())
    }

    /// Checks one record; `None` if it is damaged, or not completely read.
    fn record(&self, header: &FileHeader, entry: &Entry) -> Option<(Head, Bytes)> {
        let at = usize::try_from(entry.position.checked_sub(self.start)?).ok()?;
        let (head, _, _) = record::parse(self.bytes.get(at..)?, header.nonce, entry.position).ok()?;
        let payload = at + RECORD_HEADER..at + RECORD_HEADER + head.length;
        Some((head, self.bytes.slice(payload)))
    }
}

/// Reads and checks one record.
fn read_record(file: &File, header: &FileHeader, entry: &Entry) -> Result<(Head, Bytes), Unread> {
    let mut head = [0; RECORD_HEADER];
    file.read_exact_at(&mut head, entry.position)?;
    let head = record::parse_head(&head, header.nonce, entry.position).map_err(|_| Unread::Damaged)?;
    let mut bytes = vec![0; record::size_of(head.length)];
    file.read_exact_at(&mut bytes, entry.position)?;
    match record::parse(&bytes, header.nonce, entry.position) {
        Ok(_) => Ok((head, Bytes::from(bytes).slice(RECORD_HEADER..RECORD_HEADER + head.length))),
        Err(_) => Err(Unread::Damaged),
    }
}

/// Whether a batch is the listed one: its position may be one of the file before it was written again.
pub fn is_of(batch: &[u8], entry: &Entry) -> bool {
    Header::parse(batch).is_ok_and(|found| (Offset(found.offset), found.count) == (entry.first, entry.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Start;
    use oasis_wire::quantity::{Epoch, Nanos};

    const HEADER: FileHeader = FileHeader {
        number: 1,
        nonce: 99,
        created: Nanos(0),
        epoch: Epoch(1),
        marks_syncs: true,
        has_groups: false,
    };

    fn entry(position: u64) -> Entry {
        Entry { position, first: Offset(0), count: 1, min_time: 0, max_time: 0, last_sequence: 1 }
    }

    #[test]
    fn read_errors_are_distinguished_from_damage() {
        let mut bytes = Vec::new();
        let start = Start { nonce: HEADER.nonce, position: 0, follows_sync: false };
        record::put(&mut bytes, start, (Kind::Batch, 1), (0, 0), b"good");
        let damaged = bytes.len() as u64;
        record::put(&mut bytes, start, (Kind::Batch, 1), (0, 0), b"elsewhere");
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &bytes).unwrap();
        let read = |file: &File, position| {
            let wanted = [entry(position)];
            Window::default().read(file, (&HEADER, 1), &wanted[0], &wanted).map(|stored| stored.batch)
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
