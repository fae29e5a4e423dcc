//! Iterates over the records of a file: those of each chunk once the whole chunk was read, and what is damaged.
//!
//! A damaged chunk hides no other one: the record around it has its length, and the message indexes after it say how many messages it has.

use super::{
    ReadError,
    bounds::{MAX_RECORD, READ_CHUNK_BYTES},
};
use mcap::{
    McapError,
    records::op,
    sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
};

/// Bytes in front of a record: its kind and its length.
const RECORD_HEAD: usize = 9;
/// Bytes of the magic number in front of the first record.
const MAGIC_BYTES: u64 = 8;
/// Bytes of a chunk before its checksum: two times and a length.
const BEFORE_CHUNK_CRC: usize = 24;
/// Bytes of an entry of a message index: a time and a place.
const INDEX_ENTRY: usize = 16;

/// A record, or a damaged chunk.
pub enum Event<'a> {
    /// A record of the data section, of a chunk, or of the summary.
    Record { kind: u8, data: &'a [u8] },
    /// A chunk that cannot be read.
    LostChunk(LostChunk),
    /// All records follow again, from the first one.
    Again,
}

/// A chunk that cannot be read.
#[derive(Debug, Default)]
pub struct LostChunk {
    /// Number of messages by channel; `None` if the file has no index of them.
    pub messages: Option<BTreeMap<u16, u64>>,
}

/// The damage of a file that can still be read in part.
#[derive(Debug, Default)]
pub struct FileDamage {
    /// Chunks that cannot be read, from 0.
    pub bad_chunks: BTreeSet<u64>,
    /// Number of chunks.
    pub chunks: u64,
    /// The first error.
    pub why: Option<String>,
    /// Byte at which the file ends early, and whether all data precedes it.
    pub cut: Option<(u64, bool)>,
    /// Whether schemas, channels or messages have no checksum of their own.
    is_unchecked: bool,
    /// Whether the checksum over all data is wrong.
    has_bad_crc: bool,
    /// Whether files of which no part is reliable are read as far as records are whole.
    is_partial: bool,
}

impl FileDamage {
    /// Whether records could have been changed without notice, or a chunk be hidden: no damaged chunk explains the checksum over all data.
    pub fn is_doubtful(&self) -> bool {
        self.has_bad_crc && (self.is_unchecked || self.bad_chunks.is_empty())
    }

    fn note(&mut self, error: &McapError) {
        self.why.get_or_insert_with(|| error.to_string());
    }
}

/// Checks a file, and passes its records to `visit`. Returns the damage that can be skipped; with `is_partial` also that which leaves no part
/// reliable.
///
/// # Errors
/// If nothing of the file is reliable, or `visit` fails.
pub fn check<E>(
    from: &mut (impl Read + io::Seek),
    is_partial: bool,
    visit: &mut dyn FnMut(Event<'_>) -> Result<(), ReadError<E>>,
) -> Result<FileDamage, ReadError<E>> {
    let mut found = FileDamage { is_partial, ..FileDamage::default() };
    let crc_error = match walk(from, true, &mut found, visit) {
        Ok(None) => return Ok(found),
        Ok(Some(error)) => error,
        Err(error) => return Err(error),
    };
    // The summary after the wrong checksum names channels that only a damaged chunk has.
    from.rewind()?;
    visit(Event::Again)?;
    found = FileDamage { has_bad_crc: true, is_partial, ..FileDamage::default() };
    walk(from, false, &mut found, visit)?;
    if found.is_doubtful() && !is_partial {
        return Err(ReadError::of_mcap(crc_error));
    }
    found.note(&crc_error);
    Ok(found)
}

/// Passes the records of a checked file to `visit`, without those of its bad chunks.
///
/// # Errors
/// If the file cannot be read, or `visit` fails.
pub fn replay<E>(
    from: &mut impl Read,
    found: &mut FileDamage,
    visit: &mut dyn FnMut(Event<'_>) -> Result<(), ReadError<E>>,
) -> Result<(), ReadError<E>> {
    walk(from, false, found, visit).map(drop)
}

/// Returns the error of the checksum over all data, at which it stops.
fn walk<E>(
    from: &mut impl Read,
    checks_data: bool,
    found: &mut FileDamage,
    visit: &mut dyn FnMut(Event<'_>) -> Result<(), ReadError<E>>,
) -> Result<Option<McapError>, ReadError<E>> {
    let options = LinearReaderOptions::default()
        .with_emit_chunks(true)
        .with_validate_data_section_crc(checks_data)
        .with_record_length_limit(MAX_RECORD);
    let mut reader = LinearReader::new_with_options(options);
    let mut walk = Walk { found, visit, at: MAGIC_BYTES, chunk: 0, lost: None, is_data_complete: false };
    while let Some(event) = reader.next_event() {
        match event {
            Ok(LinearReadEvent::ReadRequest(wanted)) => {
                let read = from.read(reader.insert(wanted.min(READ_CHUNK_BYTES)))?;
                reader.notify_read(read);
            }
            Ok(LinearReadEvent::Record { opcode, data }) => walk.record(opcode, data)?,
            Err(error @ McapError::BadDataCrc { .. }) => return Ok(Some(error)),
            Err(McapError::UnexpectedEof) if walk.has_data() => {
                walk.found.cut = Some((walk.at, walk.is_data_complete));
                walk.found.note(&McapError::UnexpectedEof);
                break;
            }
            Err(error @ (McapError::ChunkTooLarge(_) | McapError::RecordTooLarge { .. })) => {
                return Err(ReadError::of_mcap(error));
            }
            Err(error) if walk.found.is_partial && walk.has_data() => {
                walk.found.cut = Some((walk.at, walk.is_data_complete));
                walk.found.note(&error);
                break;
            }
            Err(error) => return Err(ReadError::of_mcap(error)),
        }
    }
    walk.end_lost_chunk()?;
    walk.found.chunks = walk.chunk;
    Ok(None)
}

struct Walk<'a, E> {
    found: &'a mut FileDamage,
    visit: &'a mut dyn FnMut(Event<'_>) -> Result<(), ReadError<E>>,
    /// Bytes before the next record.
    at: u64,
    /// Number of the next chunk.
    chunk: u64,
    /// A bad chunk whose indexes may follow.
    lost: Option<LostChunk>,
    is_data_complete: bool,
}

impl<E> Walk<'_, E> {
    /// Whether there was a record.
    fn has_data(&self) -> bool {
        self.at > MAGIC_BYTES
    }

    fn record(&mut self, kind: u8, data: &[u8]) -> Result<(), ReadError<E>> {
        self.at += (RECORD_HEAD + data.len()) as u64;
        if kind == op::MESSAGE_INDEX
            && let Some(lost) = &mut self.lost
        {
            lost.add(data);
            return Ok(());
        }
        self.end_lost_chunk()?;
        match kind {
            op::CHUNK => return self.chunk(data),
            op::DATA_END => self.is_data_complete = true,
            op::SCHEMA | op::CHANNEL | op::MESSAGE => self.found.is_unchecked |= !self.is_data_complete,
            _ => {}
        }
        (self.visit)(Event::Record { kind, data })
    }

    fn chunk(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let number = self.chunk;
        self.chunk += 1;
        let crc = data.get(BEFORE_CHUNK_CRC..).and_then(|rest| rest.first_chunk::<4>());
        self.found.is_unchecked |= crc.is_none_or(|crc| *crc == [0; 4]);
        if !self.found.bad_chunks.contains(&number) {
            match records_of(data, self.visit)? {
                Ok(()) => return Ok(()),
                Err(error @ McapError::UnsupportedCompression(_)) => return Err(ReadError::of_mcap(error)),
                Err(error @ (McapError::ChunkTooLarge(_) | McapError::RecordTooLarge { .. })) => {
                    return Err(ReadError::of_mcap(error));
                }
                Err(error) => self.found.note(&error),
            }
            self.found.bad_chunks.insert(number);
        }
        self.lost = Some(LostChunk::default());
        Ok(())
    }

    fn end_lost_chunk(&mut self) -> Result<(), ReadError<E>> {
        self.lost.take().map_or(Ok(()), |lost| (self.visit)(Event::LostChunk(lost)))
    }
}

impl LostChunk {
    /// Adds a message index: a channel, and the length of its entries.
    fn add(&mut self, index: &[u8]) {
        let Some((channel, rest)) = index.split_first_chunk::<2>() else { return };
        let Some((length, entries)) = rest.split_first_chunk::<4>() else { return };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let messages = (length.min(entries.len()) / INDEX_ENTRY) as u64;
        let all = self.messages.get_or_insert_default();
        *all.entry(u16::from_le_bytes(*channel)).or_default() += messages;
    }
}

/// Passes the records of a chunk to `visit`, after its checksum was checked.
fn records_of<E>(
    chunk: &[u8],
    visit: &mut dyn FnMut(Event<'_>) -> Result<(), ReadError<E>>,
) -> Result<Result<(), McapError>, ReadError<E>> {
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_skip_end_magic(true)
        .with_prevalidate_chunk_crcs(true)
        .with_record_length_limit(MAX_RECORD);
    let mut reader = LinearReader::new_with_options(options);
    let length = (chunk.len() as u64).to_le_bytes();
    let head = [op::CHUNK];
    let mut from = head.as_slice().chain(&length[..]).chain(chunk);
    while let Some(event) = reader.next_event() {
        match event {
            Ok(LinearReadEvent::ReadRequest(wanted)) => {
                let read = from.read(reader.insert(wanted.min(READ_CHUNK_BYTES)))?;
                reader.notify_read(read);
            }
            Ok(LinearReadEvent::Record { opcode, data }) => visit(Event::Record { kind: opcode, data })?,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}
