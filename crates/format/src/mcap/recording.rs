//! The records of a file, one after the other.

use super::{
    bounds::{
        self, MAX_BATCHES, MAX_DESCRIPTIONS, MAX_HELD_TOGETHER, MAX_LOST, MAX_LOST_BYTES, MAX_MESSAGE,
        MAX_METRICS, MAX_RECORD, READ,
    },
    channel::{Channel, Schemas, Unread},
    infer,
    lost::{self, Lost},
    record::{BadRecord, ChannelRecord, Message, Schema},
    samples::Take,
};
use mcap::{
    McapError,
    records::op,
    sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions},
};
use oasis_wire::batch::RowError;
use std::{
    collections::BTreeMap,
    io::{self, Read},
};

/// Why a file was not read to its end. `E` is what whoever takes the batches may say.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// It ends too early, or is not what it was when it was written.
    #[error(
        "the MCAP file is damaged or not whole (`mcap recover` of the MCAP command line saves what is good): {0}"
    )]
    Damaged(McapError),
    /// A record of it is not what its kind says.
    #[error("the MCAP file is damaged: {0}")]
    Record(#[from] BadRecord),
    /// A message has no channel.
    #[error("the MCAP file is damaged: a message is of channel {0}, which it does not have")]
    NoChannel(u16),
    /// A record or a chunk says that it is longer than is held at once.
    #[error(
        "a record of the MCAP file is too long ({0}): {MAX_RECORD} bytes are read at once, packed and unpacked. Write it again with smaller chunks (`mcap compress --chunk-size`), without long attachments (`mcap filter`)"
    )]
    Long(McapError),
    /// It is packed in a way that is not read.
    #[error("the MCAP file's chunks cannot be read: {0}. Write them again with zstd (`mcap compress`)")]
    Compression(McapError),
    /// More is said of channels than is held.
    #[error(
        "the MCAP file's schemas and channels have more than {MAX_DESCRIPTIONS} bytes, or one of them more than {MAX_MESSAGE}: take some of its topics at a time (`mcap filter`)"
    )]
    Descriptions,
    /// Its channels have more metrics than are held.
    #[error(
        "the MCAP file's channels have more than {MAX_METRICS} metrics together: take some of its topics at a time (`mcap filter`)"
    )]
    Metrics,
    /// Its samples make too many batches.
    #[error(
        "the MCAP file's samples make more than {MAX_BATCHES} batches: take some time of it at a time (`mcap filter`, `oasis export --from --to`)"
    )]
    Batches,
    /// A sample is not what its schema says.
    #[error("{0}")]
    Row(#[from] RowError),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A batch was not taken.
    #[error("{0}")]
    Take(E),
}

impl<E> ReadError<E> {
    fn of_mcap(error: McapError) -> Self {
        match error {
            McapError::RecordTooLarge { .. } | McapError::ChunkTooLarge(_) => Self::Long(error),
            McapError::UnsupportedCompression(_) => Self::Compression(error),
            error => Self::Damaged(error),
        }
    }
}

/// Messages of a channel that were left out.
#[derive(Debug)]
pub struct LeftOut {
    /// The channel's topic.
    pub topic: String,
    /// How many.
    pub messages: u64,
    /// Why the first of them was.
    pub why: Unread,
}

/// What a file has besides samples that were taken.
#[derive(Debug, Default)]
pub struct Rest {
    /// Messages that are no samples, by channel.
    pub left_out: Vec<LeftOut>,
    /// What it says is missing.
    pub lost: Vec<Lost>,
    /// Such messages beyond what is held.
    pub lost_forgotten: u64,
}

/// Reads a file from its beginning to its end; `take` gets its batches. Answers what else there was.
///
/// # Errors
/// If the file cannot be read, is damaged or breaks a bound, or if `take` fails. What was taken before is not all of the file.
pub fn read<E>(
    mut from: impl Read,
    mut take: impl FnMut(&super::Recorded, &[u8]) -> Result<(), E>,
) -> Result<Rest, ReadError<E>> {
    let options = LinearReaderOptions::default()
        .with_prevalidate_chunk_crcs(true)
        .with_validate_data_section_crc(true)
        .with_record_length_limit(MAX_RECORD);
    let mut reader = LinearReader::new_with_options(options);
    let mut recording = Recording::default();
    while let Some(event) = reader.next_event() {
        match event.map_err(ReadError::of_mcap)? {
            LinearReadEvent::ReadRequest(wanted) => {
                let read = from.read(reader.insert(wanted.min(READ)))?;
                reader.notify_read(read);
            }
            LinearReadEvent::Record { data, opcode: op::SCHEMA } => recording.schema(data)?,
            LinearReadEvent::Record { data, opcode: op::CHANNEL } => recording.channel(data)?,
            LinearReadEvent::Record { data, opcode: op::MESSAGE } => {
                recording.message(&Message::read(data)?, &mut take)?;
            }
            // Others are not looked at: attachments, indexes, statistics.
            LinearReadEvent::Record { .. } => {}
        }
    }
    recording.finish(&mut take)
}

/// What was read so far.
#[derive(Default)]
struct Recording {
    schemas: Schemas,
    channels: BTreeMap<u16, Channel>,
    /// Bytes of schemas and channels.
    descriptions: usize,
    /// Of all channels.
    metrics: usize,
    /// Bytes of all channels that wait to become batches.
    held: usize,
    batches: usize,
    lost: Vec<Lost>,
    /// Of their names and causes.
    lost_bytes: usize,
    lost_forgotten: u64,
    /// Of the sample at hand.
    row: Vec<u8>,
}

impl Recording {
    fn schema<E>(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let schema = Schema::read(data)?;
        // Both schemas and channels stand in each chunk that needs them, and in the summary again.
        if self.schemas.contains_key(&schema.id) {
            return Ok(());
        }
        self.describe(data.len())?;
        let metrics = if schema.encoding == "jsonschema" { infer::metrics(schema.data) } else { Vec::new() };
        self.count(bounds::metrics(&metrics))?;
        self.schemas.insert(schema.id, (schema.name.to_owned(), metrics));
        Ok(())
    }

    fn channel<E>(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let record = ChannelRecord::read(data)?;
        if self.channels.contains_key(&record.id) {
            return Ok(());
        }
        self.describe(data.len())?;
        let (id, channel) = (record.id, Channel::new(&record));
        self.count(channel.metrics())?;
        self.channels.insert(id, channel);
        Ok(())
    }

    fn count<E>(&mut self, metrics: usize) -> Result<(), ReadError<E>> {
        self.metrics = self.metrics.saturating_add(metrics);
        if self.metrics > MAX_METRICS { Err(ReadError::Metrics) } else { Ok(()) }
    }

    fn describe<E>(&mut self, length: usize) -> Result<(), ReadError<E>> {
        self.descriptions = self.descriptions.saturating_add(length);
        let is_long = length > MAX_MESSAGE || self.descriptions > MAX_DESCRIPTIONS;
        if is_long { Err(ReadError::Descriptions) } else { Ok(()) }
    }

    fn message<E>(&mut self, message: &Message<'_>, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        let id = message.channel;
        let channel = self.channels.get_mut(&id).ok_or(ReadError::NoChannel(id))?;
        if channel.topic == lost::TOPIC {
            self.lose(message);
            return Ok(());
        }
        let known = channel.metrics();
        match channel.sample(message, &self.schemas, &mut self.row) {
            Ok((samples, head)) => {
                let before = samples.held();
                self.batches += samples.push(head, &self.row, take)?;
                self.held = (self.held + samples.held()).saturating_sub(before);
            }
            Err(error) => {
                channel.left_out += 1;
                channel.why.get_or_insert(error);
            }
        }
        // Without a description the first message says which there are.
        let found = channel.metrics().saturating_sub(known);
        self.count(found)?;
        if self.held > MAX_HELD_TOGETHER {
            self.end_batches(take)?;
        }
        if self.batches > MAX_BATCHES { Err(ReadError::Batches) } else { Ok(()) }
    }

    fn lose(&mut self, message: &Message<'_>) {
        let Some(lost) = Lost::read(message) else { return };
        let bytes = lost.node.len() + lost.instance.len();
        if self.lost.len() >= MAX_LOST || self.lost_bytes + bytes > MAX_LOST_BYTES {
            self.lost_forgotten += 1;
            return;
        }
        self.lost_bytes += bytes;
        self.lost.push(lost);
    }

    fn end_batches<E>(&mut self, take: &mut Take<'_, E>) -> Result<(), ReadError<E>> {
        for samples in self.channels.values_mut().filter_map(|channel| channel.samples.as_mut()) {
            self.batches += samples.end_batch(take)?;
        }
        self.held = 0;
        Ok(())
    }

    fn finish<E>(mut self, take: &mut Take<'_, E>) -> Result<Rest, ReadError<E>> {
        self.end_batches(take)?;
        let channels = self.channels.into_values().filter(|channel| !channel.is_about());
        let left_out = channels.filter_map(|channel| {
            let Channel { topic, left_out: messages, why, .. } = channel;
            Some(LeftOut { topic, messages, why: why? })
        });
        let Self { lost, lost_forgotten, .. } = self;
        Ok(Rest { left_out: left_out.collect(), lost, lost_forgotten })
    }
}
