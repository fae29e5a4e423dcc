//! Encoding of batches in a segment: pure functions over bytes, little-endian. `docs/reference/file-spool.md` is the
//! specification.

use crate::spool::{Missing, QueuedBatch};
use oasis_wire::batch::MAX_BATCH;

/// Magic number of a record. After damage, a reader searches for it to find the next record.
const RECORD_MARK: [u8; 4] = *b"OSPC";
/// Magic number of a record with `network`: only devices of a gateway have it.
const DEVICE_MARK: [u8; 4] = *b"OSPD";
/// The same of earlier releases, whose records have no `not_taken`.
const EARLIER_MARK: [u8; 4] = *b"OSPB";
/// The marks, each with the bytes of its head.
const FORMS: [([u8; 4], usize); 3] = [(EARLIER_MARK, 56), (RECORD_MARK, 64), (DEVICE_MARK, 72)];

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Index of the instance within the run.
    pub instance: u32,
    /// Sequence number of its first sample.
    pub first_sequence: u64,
    /// Number of samples, at least one.
    pub count: u16,
    /// As [`QueuedBatch::before`].
    pub before: Missing,
    length: usize,
    crc: u32,
    /// Bytes of this head.
    size: usize,
}

/// Contents at the start of a byte slice.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A batch as it was written.
    Batch {
        /// Its head.
        head: Head,
        /// The batch.
        bytes: &'a [u8],
    },
    /// A batch that is truncated or damaged.
    Damaged(Head),
    /// Bytes up to the next record or the end that belong to no record.
    Unreadable,
    /// The bytes end before the record does.
    Incomplete,
}

/// Returns the bytes of a batch's record.
pub fn length(batch: &QueuedBatch) -> usize {
    let (_, head) = if batch.before.network > 0 { FORMS[2] } else { FORMS[1] };
    head + batch.bytes.len()
}

/// Appends a batch as a record.
pub fn write(batch: &QueuedBatch, out: &mut Vec<u8>) {
    let start = out.len();
    let has_network = batch.before.network > 0;
    out.extend_from_slice(if has_network { &DEVICE_MARK } else { &RECORD_MARK });
    out.extend_from_slice(&u32::try_from(batch.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(&batch.bytes).to_le_bytes());
    out.extend_from_slice(&u32::try_from(batch.instance).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&batch.first_sequence.to_le_bytes());
    out.extend_from_slice(&batch.before.ring_full.to_le_bytes());
    out.extend_from_slice(&batch.before.kept_back.to_le_bytes());
    out.extend_from_slice(&batch.before.invalid_row.to_le_bytes());
    out.extend_from_slice(&batch.before.not_taken.to_le_bytes());
    if has_network {
        out.extend_from_slice(&batch.before.network.to_le_bytes());
    }
    out.extend_from_slice(&u32::from(batch.count).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(&out[start..]).to_le_bytes());
    out.extend_from_slice(&batch.bytes);
}

/// Returns what is at the start of `bytes`, and its length. With `is_end`, nothing follows them, and the result is
/// never [`Content::Incomplete`].
pub fn next(bytes: &[u8], is_end: bool) -> (Content<'_>, usize) {
    let form = FORMS.iter().find(|(mark, _)| bytes.starts_with(mark));
    let size = form.map_or(FORMS[0].1, |(_, size)| *size);
    let Some(head) = bytes.get(..size) else {
        return if is_end { (Content::Unreadable, bytes.len()) } else { (Content::Incomplete, 0) };
    };
    let Some(head) = parse(head) else { return (Content::Unreadable, next_record(bytes, is_end)) };
    match bytes.get(size..size + head.length) {
        Some(batch) if crc32fast::hash(batch) == head.crc => {
            (Content::Batch { head, bytes: batch }, size + head.length)
        }
        Some(_) => (Content::Damaged(head), size + head.length),
        None if is_end => (Content::Damaged(head), bytes.len()),
        None => (Content::Incomplete, 0),
    }
}

/// Parses the whole head of a record.
fn parse(head: &[u8]) -> Option<Head> {
    let field = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let wide = |at: usize| u64::from(field(at)) | u64::from(field(at + 4)) << 32;
    let size = head.len();
    let is_marked = FORMS.iter().any(|(mark, of)| *of == size && head.starts_with(mark));
    if !is_marked || crc32fast::hash(&head[..size - 4]) != field(size - 4) {
        return None;
    }
    let (length, first_sequence) = (field(4) as usize, wide(16));
    let count = u16::try_from(field(size - 8)).ok().filter(|&count| count > 0)?;
    first_sequence.checked_add(u64::from(count))?;
    // Before the count come as many causes as the form has.
    let optional = |at: usize| if at < size - 8 { wide(at) } else { 0 };
    let before = Missing {
        ring_full: wide(24),
        kept_back: wide(32),
        invalid_row: wide(40),
        not_taken: optional(48),
        network: optional(56),
    };
    let head = Head { instance: field(12), first_sequence, count, before, length, crc: field(8), size };
    (length <= MAX_BATCH && first_sequence > 0).then_some(head)
}

/// Returns the number of bytes before the next possible record.
fn next_record(bytes: &[u8], is_end: bool) -> usize {
    let is_mark = |window: &[u8]| FORMS.iter().any(|(mark, _)| window == mark);
    let mark = bytes[1..].windows(RECORD_MARK.len()).position(is_mark);
    // Without one, the last three bytes may be the start of a magic number.
    let none = if is_end { bytes.len() } else { bytes.len() - (RECORD_MARK.len() - 1) };
    mark.map_or(none, |at| at + 1)
}

impl Head {
    /// Returns the sequence number of the batch's last sample.
    pub fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn records_of_this_and_earlier_releases_are_read() {
        let before = Missing { ring_full: 1, kept_back: 2, invalid_row: 3, not_taken: 4, network: 0 };
        let bytes = Arc::new(b"a batch".to_vec());
        let batch = QueuedBatch { instance: 5, first_sequence: 6, count: 7, before, bytes, stored: None };
        let mut record = Vec::new();
        write(&batch, &mut record);
        let (Content::Batch { head, bytes }, length) = next(&record, true) else { panic!("no batch") };
        assert_eq!((head.before, head.last_sequence(), bytes), (before, 12, &b"a batch"[..]));
        assert_eq!((length, super::length(&batch)), (record.len(), record.len()));

        let mut earlier = [&EARLIER_MARK[..], &record[4..48], &record[56..60]].concat();
        let crc = crc32fast::hash(&earlier);
        earlier.extend_from_slice(&crc.to_le_bytes());
        assert_eq!(earlier.len(), FORMS[0].1);
        earlier.extend_from_slice(b"a batch");
        let mut both = b"damage".to_vec();
        both.extend_from_slice(&earlier);
        both.extend_from_slice(&record);
        assert_eq!(next(&both, true), (Content::Unreadable, 6));
        let (Content::Batch { head, bytes }, length) = next(&both[6..], true) else { panic!("no batch") };
        assert_eq!((head.before, head.count), (Missing { not_taken: 0, ..before }, 7));
        assert_eq!((bytes, length), (&b"a batch"[..], earlier.len()));

        let batch = QueuedBatch { before: Missing { network: 9, ..before }, ..batch };
        let mut of_a_device = Vec::new();
        write(&batch, &mut of_a_device);
        let (Content::Batch { head, .. }, length) = next(&of_a_device, true) else { panic!("no batch") };
        assert_eq!((head.before, head.count, length), (batch.before, 7, of_a_device.len()));
        assert_eq!((of_a_device.len(), super::length(&batch)), (72 + b"a batch".len(), of_a_device.len()));
    }
}
