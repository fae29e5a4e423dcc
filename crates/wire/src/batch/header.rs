//! The fixed part of a batch, and its directory.

use super::{BatchError, column::Encoding};
use crate::schema::ProbeType;

/// Bytes before the directory.
pub const HEADER: usize = 48;
/// Largest batch.
pub const MAX_BATCH: usize = 1024 * 1024;
/// Most values in one batch: samples times columns. Repeated values take few bytes in a batch, but not in the memory of its reader.
pub const MAX_VALUES: usize = 4 * 1024 * 1024;

const KIND: u8 = 1;
const VERSION: u8 = 1;
const TOPIC: usize = 4;
const OFFSET: usize = 16;
const DAC_TIME: usize = 32;
const DROPPED: usize = 40;

/// The header of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Probe state; 0 is normal.
    pub state: u16,
    /// Topic number.
    pub topic: u32,
    /// Sequence number of the first sample.
    pub first_sequence: u64,
    /// Offset of the first sample in the topic log.
    pub offset: u64,
    /// Node's clock when the batch was encoded, nanoseconds.
    pub node_time: u64,
    /// DAC's clock when it arrived, nanoseconds.
    pub dac_time: u64,
    /// Samples dropped between the batch before and this one.
    pub dropped_before: u32,
    /// Samples.
    pub count: u16,
    /// Columns: the time and each metric.
    pub columns: u16,
}

/// The header fields that the node sets and that do not follow from the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fields {
    /// Topic number, 0 while the node does not know it.
    pub topic: u32,
    /// Probe state.
    pub state: u16,
    /// Sequence number of the first sample.
    pub first_sequence: u64,
    /// Node's clock, nanoseconds.
    pub node_time: u64,
    /// Samples dropped between the batch before and this one.
    pub dropped_before: u32,
}

impl Header {
    /// Returns the sequence number of the last sample.
    pub const fn last_sequence(&self) -> u64 {
        self.first_sequence.saturating_add((self.count as u64).saturating_sub(1))
    }

    /// Reads the header and ignores the bytes after it.
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        Self::parse_within(bytes, MAX_BATCH)
    }

    /// As [`Header::parse`], for batches of at most this many bytes.
    fn parse_within(bytes: &[u8], most: usize) -> Result<Self, BatchError> {
        let short = BatchError::Truncated { length: bytes.len() };
        let head = bytes.first_chunk::<HEADER>().ok_or(short)?;
        let [kind, version, ..] = *head;
        if kind != KIND {
            return Err(BatchError::Kind(kind));
        }
        if version != VERSION {
            return Err(BatchError::Version(version));
        }
        let header = Self {
            state: u16::from_le_bytes(at(head, 2)),
            topic: u32::from_le_bytes(at(head, TOPIC)),
            first_sequence: u64::from_le_bytes(at(head, 8)),
            offset: u64::from_le_bytes(at(head, OFFSET)),
            node_time: u64::from_le_bytes(at(head, 24)),
            dac_time: u64::from_le_bytes(at(head, DAC_TIME)),
            dropped_before: u32::from_le_bytes(at(head, DROPPED)),
            count: u16::from_le_bytes(at(head, 44)),
            columns: u16::from_le_bytes(at(head, 46)),
        };
        if header.count == 0 {
            return Err(BatchError::Empty);
        }
        if bytes.len() > most {
            return Err(BatchError::TooLarge { length: bytes.len() });
        }
        if usize::from(header.count) * usize::from(header.columns) > MAX_VALUES {
            return Err(BatchError::TooManyValues { count: header.count, columns: header.columns });
        }
        Ok(header)
    }

    pub(super) fn write(fields: Fields, count: u16, columns: u16) -> [u8; HEADER] {
        let mut head = [0; HEADER];
        head[0] = KIND;
        head[1] = VERSION;
        head[2..4].copy_from_slice(&fields.state.to_le_bytes());
        head[TOPIC..8].copy_from_slice(&fields.topic.to_le_bytes());
        head[8..16].copy_from_slice(&fields.first_sequence.to_le_bytes());
        head[24..32].copy_from_slice(&fields.node_time.to_le_bytes());
        head[DROPPED..44].copy_from_slice(&fields.dropped_before.to_le_bytes());
        head[44..46].copy_from_slice(&count.to_le_bytes());
        head[46..48].copy_from_slice(&columns.to_le_bytes());
        head
    }
}

fn at<const N: usize>(head: &[u8; HEADER], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&head[offset..offset + N]);
    field
}

/// Checks header and directory, as the DAC does before it forwards a batch. The cost does not depend on the number of samples.
pub fn check(bytes: &[u8], probe_type: &ProbeType) -> Result<Header, BatchError> {
    check_within(bytes, probe_type, MAX_BATCH)
}

/// As [`check`], for batches of at most this many bytes.
pub(super) fn check_within(bytes: &[u8], probe_type: &ProbeType, most: usize) -> Result<Header, BatchError> {
    let header = Header::parse_within(bytes, most)?;
    let wanted = probe_type.metrics.len() + 1;
    if usize::from(header.columns) != wanted {
        return Err(BatchError::Columns { found: header.columns, wanted });
    }
    let directory =
        bytes.get(HEADER..HEADER + wanted).ok_or(BatchError::Truncated { length: bytes.len() })?;
    for (column, &code) in directory.iter().enumerate() {
        let kind = column.checked_sub(1).map(|metric| &probe_type.metrics[metric].kind);
        if !Encoding::from_code(code).is_some_and(|encoding| encoding.suits(kind)) {
            return Err(BatchError::Encoding { column, code });
        }
    }
    Ok(header)
}

/// Writes the fields of the DAC in place. Does nothing to bytes that are not a batch.
pub fn stamp(bytes: &mut [u8], offset: u64, dac_time: u64) {
    if let Some(head) = bytes.first_chunk_mut::<HEADER>() {
        head[OFFSET..24].copy_from_slice(&offset.to_le_bytes());
        head[DAC_TIME..DROPPED].copy_from_slice(&dac_time.to_le_bytes());
    }
}

/// Writes the fields that the node learns after encoding, in place: the topic of this epoch, and drops since. Does nothing to bytes that are not a batch.
pub fn stamp_by_node(bytes: &mut [u8], topic: u32, dropped_before: u32) {
    stamp_topic(bytes, topic);
    if let Some(head) = bytes.first_chunk_mut::<HEADER>() {
        head[DROPPED..44].copy_from_slice(&dropped_before.to_le_bytes());
    }
}

/// Writes the topic, in place. Does nothing to bytes that are no batch.
pub fn stamp_topic(bytes: &mut [u8], topic: u32) {
    if let Some(head) = bytes.first_chunk_mut::<HEADER>() {
        head[TOPIC..8].copy_from_slice(&topic.to_le_bytes());
    }
}
