//! The byte format of records in a segment file. `docs/reference/archive-files.md` is the specification.
//!
//! Pure functions over slices: files are opened elsewhere.

use oasis_wire::quantity::{Epoch, Nanos};

/// Bytes of a file's header.
pub const FILE_HEADER: usize = 64;
/// Bytes of a record's header.
pub const RECORD_HEADER: usize = 40;
/// Bytes after the last record of a sealed file.
pub const TRAILER: usize = 16;
/// Alignment of records.
pub const ALIGN: usize = 8;
/// Longest payload: an index of a segment file as large as may be configured.
pub const MAX_PAYLOAD: usize = 256 * 1024 * 1024;

const MAGIC: [u8; 8] = *b"OASISSEG";
const VERSION: u16 = 1;
/// Version of files with groups, which earlier releases cannot read.
const WITH_GROUPS: u16 = 2;
const RECORD_MAGIC: [u8; 4] = *b"OREC";
const END_MAGIC: [u8; 8] = *b"OASISEND";

/// Declares the fields of a part of a file, from their first byte to the byte after their last one. They follow each other and fill the part.
macro_rules! layout {
    ($(#[$docs:meta])* $part:ident, $size:expr, { $($field:ident: $from:literal..$to:literal,)* }) => {
        $(#[$docs])*
        pub(crate) mod $part {
            use std::ops::Range;

            $(pub const $field: Range<usize> = $from..$to;)*

            const _: () = {
                let fields: &[(usize, usize)] = &[$(($from, $to)),*];
                let (mut number, mut end) = (0, 0);
                while number < fields.len() {
                    assert!(fields[number].0 == end && fields[number].1 > end);
                    end = fields[number].1;
                    number += 1;
                }
                assert!(end == $size);
            };
        }
    };
}
pub(crate) use layout;

layout! {
    /// The header of a file. The checksum covers all before it.
    file_header, super::FILE_HEADER, {
        MAGIC: 0..8,
        VERSION: 8..10,
        MARKS_SYNCS: 10..11,
        _RESERVED: 11..16,
        NUMBER: 16..24,
        NONCE: 24..32,
        CREATED: 32..40,
        EPOCH: 40..48,
        _RESERVED_TOO: 48..60,
        CHECKSUM: 60..64,
    }
}

layout! {
    /// The header of a record. Its checksum covers the nonce of the file, the position, and the header without the checksum.
    record_header, super::RECORD_HEADER, {
        MAGIC: 0..4,
        LENGTH: 4..8,
        CHECKSUM: 8..12,
        KIND: 12..13,
        FOLLOWS_SYNC: 13..14,
        _RESERVED: 14..16,
        NUMBER: 16..20,
        PAYLOAD_CHECKSUM: 20..24,
        MIN_TIME: 24..32,
        MAX_TIME: 32..40,
    }
}

layout! {
    /// The end of a sealed file.
    trailer_fields, super::TRAILER, {
        INDEX_POSITION: 0..8,
        MAGIC: 8..16,
    }
}

/// A file's first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    /// The file's number, as in its name.
    pub number: u64,
    /// Random, so that records of another file, or bytes forged by a probe, do not match.
    pub nonce: u64,
    /// When it was begun, on the DAC's clock.
    pub created: Nanos,
    /// The epoch of the DAC that wrote it.
    pub epoch: Epoch,
    /// Whether its records say that what precedes them was synced. Those of earlier releases do not.
    pub marks_syncs: bool,
    /// Whether it may have groups.
    pub has_groups: bool,
}

/// Errors of a file header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASegment {
    /// Shorter than a header.
    #[error("{0} bytes are too short for the header of a segment file")]
    Short(usize),
    /// Another kind of file.
    #[error("not a segment file")]
    Magic,
    /// A later version.
    #[error("unsupported segment file version {0}: supported are 1 and 2, update oasis")]
    Version(u16),
    /// Damaged.
    #[error("damaged header")]
    Checksum,
}

impl FileHeader {
    /// Encodes the header.
    pub fn write(&self) -> [u8; FILE_HEADER] {
        use file_header as field;
        let mut bytes = [0; FILE_HEADER];
        bytes[field::MAGIC].copy_from_slice(&MAGIC);
        let version = if self.has_groups { WITH_GROUPS } else { VERSION };
        bytes[field::VERSION].copy_from_slice(&version.to_le_bytes());
        bytes[field::MARKS_SYNCS].copy_from_slice(&[self.marks_syncs.into()]);
        bytes[field::NUMBER].copy_from_slice(&self.number.to_le_bytes());
        bytes[field::NONCE].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[field::CREATED].copy_from_slice(&self.created.0.to_le_bytes());
        bytes[field::EPOCH].copy_from_slice(&self.epoch.0.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..field::CHECKSUM.start]);
        bytes[field::CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes the header.
    ///
    /// # Errors
    /// If the bytes are not a header.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotASegment> {
        use file_header as field;
        let bytes = bytes.first_chunk::<FILE_HEADER>().ok_or(NotASegment::Short(bytes.len()))?;
        if bytes[field::MAGIC] != MAGIC {
            return Err(NotASegment::Magic);
        }
        let version = u16::from_le_bytes(copied(&bytes[field::VERSION]));
        if !(VERSION..=WITH_GROUPS).contains(&version) {
            return Err(NotASegment::Version(version));
        }
        if crc32fast::hash(&bytes[..field::CHECKSUM.start]) != u32_of(&bytes[field::CHECKSUM]) {
            return Err(NotASegment::Checksum);
        }
        Ok(Self {
            number: u64_of(&bytes[field::NUMBER]),
            nonce: u64_of(&bytes[field::NONCE]),
            created: Nanos(u64_of(&bytes[field::CREATED])),
            epoch: Epoch(u64_of(&bytes[field::EPOCH])),
            marks_syncs: bytes[field::MARKS_SYNCS] != [0],
            has_groups: version == WITH_GROUPS,
        })
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A probe type: its schema in JSON. `number` identifies it in the file.
    Type = 1,
    /// A series: names, run, epoch, type, in JSON. `number` identifies it in the file.
    Series = 2,
    /// A native batch, as it arrived, of the series `number`.
    Batch = 3,
    /// Offsets of the series `number` that were not stored.
    Gap = 4,
    /// The index of the batches; the last record of a sealed file.
    Index = 5,
    /// The directory of the cells, in JSON; the last record of a roll-up file.
    Directory = 6,
    /// Batches of the series `number` that follow each other.
    Group = 7,
}

impl Kind {
    fn from_code(code: u8) -> Option<Self> {
        [Self::Type, Self::Series, Self::Batch, Self::Gap, Self::Index, Self::Directory, Self::Group]
            .into_iter()
            .find(|kind| *kind as u8 == code)
    }
}

/// A record without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its kind.
    pub kind: Kind,
    /// Number of the series or type in this file.
    pub number: u32,
    /// Bytes of payload.
    pub length: usize,
    /// Whether all bytes before it were synced when it was written.
    pub follows_sync: bool,
    /// Least time of the samples in a batch.
    pub min_time: u64,
    /// Greatest time of the samples in a batch.
    pub max_time: u64,
    payload_checksum: u32,
}

/// Errors of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// Truncated.
    #[error("the file ends within a record")]
    Short,
    /// No record header, or a damaged one.
    #[error("no valid record header")]
    Head,
    /// A damaged payload, with the size of the record.
    #[error("damaged payload in a record of {0} bytes")]
    Payload(usize),
}

/// Size of a record with this payload.
pub fn size_of(payload: usize) -> usize {
    RECORD_HEADER + payload.next_multiple_of(ALIGN)
}

/// Start of a record.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The nonce of its file.
    pub nonce: u64,
    /// Its first byte in the file.
    pub position: u64,
    /// Whether all bytes before it are synced.
    pub follows_sync: bool,
}

/// Appends a record.
pub fn put(
    out: &mut Vec<u8>,
    Start { nonce, position, follows_sync }: Start,
    (kind, number): (Kind, u32),
    (min_time, max_time): (u64, u64),
    payload: &[u8],
) {
    use record_header as field;
    let mut head = [0; RECORD_HEADER];
    head[field::MAGIC].copy_from_slice(&RECORD_MAGIC);
    head[field::LENGTH].copy_from_slice(&(payload.len() as u32).to_le_bytes()); // MAX_PAYLOAD is far below 4 GiB
    head[field::KIND].copy_from_slice(&[kind as u8]);
    head[field::FOLLOWS_SYNC].copy_from_slice(&[follows_sync.into()]);
    head[field::NUMBER].copy_from_slice(&number.to_le_bytes());
    head[field::MIN_TIME].copy_from_slice(&min_time.to_le_bytes());
    head[field::MAX_TIME].copy_from_slice(&max_time.to_le_bytes());
    let padding = payload.len().next_multiple_of(ALIGN) - payload.len();
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(payload);
    checksum.update(&[0; ALIGN][..padding]);
    head[field::PAYLOAD_CHECKSUM].copy_from_slice(&checksum.finalize().to_le_bytes());
    let checksum = head_checksum(&head, nonce, position);
    head[field::CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
    out.extend_from_slice(&[0; ALIGN][..padding]);
}

/// Decodes the record at `position` of its file. Returns its head, its payload and its size.
///
/// # Errors
/// The damage.
pub fn parse(bytes: &[u8], nonce: u64, position: u64) -> Result<(Head, &[u8], usize), BadRecord> {
    let head = parse_head(bytes, nonce, position)?;
    let size = size_of(head.length);
    let padded = bytes.get(RECORD_HEADER..size).ok_or(BadRecord::Short)?;
    if crc32fast::hash(padded) != head.payload_checksum {
        return Err(BadRecord::Payload(size));
    }
    Ok((head, &padded[..head.length], size))
}

/// Kind and length of the payload of a checked record; `None` if the bytes are too short.
pub fn kind_and_length_at(bytes: &[u8]) -> Option<(Kind, usize)> {
    let head = bytes.first_chunk::<RECORD_HEADER>()?;
    Some((kind_of(head)?, u32_of(&head[record_header::LENGTH]) as usize))
}

/// Decodes only the head.
///
/// # Errors
/// [`BadRecord::Short`] or [`BadRecord::Head`].
pub fn parse_head(bytes: &[u8], nonce: u64, position: u64) -> Result<Head, BadRecord> {
    use record_header as field;
    let head = bytes.first_chunk::<RECORD_HEADER>().ok_or(BadRecord::Short)?;
    // A cheap test that rejects most bytes: the search for the next record tries many positions.
    if head[field::MAGIC] != RECORD_MAGIC
        || head_checksum(head, nonce, position) != u32_of(&head[field::CHECKSUM])
    {
        return Err(BadRecord::Head);
    }
    let length = u32_of(&head[field::LENGTH]) as usize;
    match kind_of(head) {
        Some(kind) if length <= MAX_PAYLOAD => Ok(Head {
            kind,
            number: u32_of(&head[field::NUMBER]),
            length,
            follows_sync: head[field::FOLLOWS_SYNC] != [0],
            min_time: u64_of(&head[field::MIN_TIME]),
            max_time: u64_of(&head[field::MAX_TIME]),
            payload_checksum: u32_of(&head[field::PAYLOAD_CHECKSUM]),
        }),
        _ => Err(BadRecord::Head),
    }
}

/// Encodes the trailer of a sealed file: the position of its index record.
pub fn trailer(index_position: u64) -> [u8; TRAILER] {
    let mut bytes = [0; TRAILER];
    bytes[trailer_fields::INDEX_POSITION].copy_from_slice(&index_position.to_le_bytes());
    bytes[trailer_fields::MAGIC].copy_from_slice(&END_MAGIC);
    bytes
}

/// Decodes the position of the index record; `None` if the file is not sealed.
pub fn parse_trailer(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.last_chunk::<TRAILER>()?;
    (bytes[trailer_fields::MAGIC] == END_MAGIC).then(|| u64_of(&bytes[trailer_fields::INDEX_POSITION]))
}

fn head_checksum(head: &[u8; RECORD_HEADER], nonce: u64, position: u64) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&nonce.to_le_bytes());
    checksum.update(&position.to_le_bytes());
    checksum.update(&head[..record_header::CHECKSUM.start]);
    checksum.update(&head[record_header::CHECKSUM.end..]);
    checksum.finalize()
}

fn kind_of(head: &[u8; RECORD_HEADER]) -> Option<Kind> {
    let [code] = copied(&head[record_header::KIND]);
    Kind::from_code(code)
}

fn u32_of(field: &[u8]) -> u32 {
    u32::from_le_bytes(copied(field))
}

/// Returns the number in a field of eight bytes.
pub(crate) fn u64_of(field: &[u8]) -> u64 {
    u64::from_le_bytes(copied(field))
}

/// Copies a field, which has exactly this many bytes.
fn copied<const N: usize>(field: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(field);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Start = Start { nonce: 5, position: 64, follows_sync: true };
    const HEADER: FileHeader = FileHeader {
        number: 7,
        nonce: 0x1234,
        created: Nanos(9),
        epoch: Epoch(0xab),
        marks_syncs: true,
        has_groups: true,
    };

    proptest! {
        #[test]
        fn a_record_reads_back_and_every_flipped_bit_is_noticed(
            payload in proptest::collection::vec(any::<u8>(), 0..100),
            number: u32, times: (u64, u64), bit: prop::sample::Index,
        ) {
            let mut bytes = Vec::new();
            put(&mut bytes, START, (Kind::Batch, number), times, &payload);
            prop_assert_eq!(bytes.len(), size_of(payload.len()));
            let (head, read, size) = parse(&bytes, 5, 64).unwrap();
            prop_assert_eq!((head.number, (head.min_time, head.max_time)), (number, times));
            prop_assert!(head.follows_sync);
            prop_assert_eq!((read, size), (&payload[..], bytes.len()));
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(parse(&bytes, 5, 64).is_err());
        }

        #[test]
        fn a_file_header_notices_every_flipped_bit(bit in 0_usize..FILE_HEADER * 8) {
            let mut bytes = HEADER.write();
            prop_assert_eq!(FileHeader::parse(&bytes), Ok(HEADER));
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(FileHeader::parse(&bytes).is_err());
        }
    }

    #[test]
    fn a_record_of_another_file_or_position_is_rejected() {
        let mut bytes = Vec::new();
        put(&mut bytes, START, (Kind::Gap, 1), (0, 0), &[1, 2, 3]);
        assert!(parse(&bytes, 5, 64).is_ok());
        assert_eq!(parse(&bytes, 6, 64), Err(BadRecord::Head));
        assert_eq!(parse(&bytes, 5, 72), Err(BadRecord::Head));
    }
}
