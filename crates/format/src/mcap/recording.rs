//! Reads the records of a file.

use super::{
    bounds::{
        MAX_BATCHES, MAX_DESCRIPTIONS, MAX_HELD_TOGETHER, MAX_LOST, MAX_LOST_BYTES, MAX_MESSAGE, MAX_METRICS,
        MAX_RECORD, READ,
    },
    channel::{Channel, Described, Schemas, Unread},
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

/// Errors of reading a file. `E` is the error of the receiver of batches.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E> {
    /// Truncated or damaged.
    #[error(
        "MCAP file damaged or truncated (`mcap recover` of the MCAP command line saves the intact part): {0}"
    )]
    Damaged(McapError),
    /// An invalid record.
    #[error("MCAP file damaged: {0}")]
    Record(#[from] BadRecord),
    /// A message has no channel.
    #[error("MCAP file damaged: a message refers to channel {0}, which does not exist")]
    NoChannel(u16),
    /// A record or a chunk exceeds its bound.
    #[error(
        "record in the MCAP file too long ({0}): at most {MAX_RECORD} bytes, compressed or not. Write it again with smaller chunks (`mcap compress --chunk-size`), without long attachments (`mcap filter`)"
    )]
    Long(McapError),
    /// Unsupported compression.
    #[error("cannot read the chunks of the MCAP file: {0}. Write them again with zstd (`mcap compress`)")]
    Compression(McapError),
    /// Descriptions of channels exceed their bound.
    #[error(
        "schemas and channels of the MCAP file exceed {MAX_DESCRIPTIONS} bytes, or one of them {MAX_MESSAGE}: import a part of the topics at a time (`mcap filter`)"
    )]
    Descriptions,
    /// Metrics of channels exceed their bound.
    #[error(
        "channels of the MCAP file have more than {MAX_METRICS} metrics in total: import a part of the topics at a time (`mcap filter`)"
    )]
    Metrics,
    /// Too many batches.
    #[error(
        "samples of the MCAP file need more than {MAX_BATCHES} batches: import a part of its time span at a time (`mcap filter`, `oasis export --from --to`)"
    )]
    Batches,
    /// A sample does not match its schema.
    #[error("{0}")]
    Row(#[from] RowError),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The receiver failed.
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

/// Skipped messages of a channel.
#[derive(Debug)]
pub struct LeftOut {
    /// The channel's topic.
    pub topic: String,
    /// How many.
    pub messages: u64,
    /// The reason for the first.
    pub why: Unread,
}

/// The remaining content of a file.
#[derive(Debug, Default)]
pub struct Rest {
    /// Skipped messages, by channel.
    pub left_out: Vec<LeftOut>,
    /// Missing samples.
    pub lost: Vec<Lost>,
    /// Number of missing ranges beyond the bound.
    pub lost_forgotten: u64,
}

/// Reads a file sequentially; `take` receives its batches. Returns the remaining content.
///
/// # Errors
/// If the file cannot be read, is damaged or exceeds a bound, or if `take` fails. Earlier batches are only a part of the file.
pub fn read<E>(
    mut from: impl Read,
    mut take: impl FnMut(&super::RecordedSeries, &[u8]) -> Result<(), E>,
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
            // Ignores attachments, indexes, statistics.
            LinearReadEvent::Record { .. } => {}
        }
    }
    recording.finish(&mut take)
}

/// The state of reading a file.
#[derive(Default)]
struct Recording {
    schemas: Schemas,
    channels: BTreeMap<u16, Channel>,
    /// Bytes of schemas and channels.
    descriptions: usize,
    /// Metrics of all channels.
    metrics: usize,
    /// Collected bytes of all channels.
    held: usize,
    batches: usize,
    lost: Vec<Lost>,
    /// Bytes of names and causes of missing samples.
    lost_bytes: usize,
    lost_forgotten: u64,
    /// The row of the current sample.
    row: Vec<u8>,
}

impl Recording {
    fn schema<E>(&mut self, data: &[u8]) -> Result<(), ReadError<E>> {
        let schema = Schema::read(data)?;
        // Schemas and channels are repeated in each chunk that needs them, and in the summary.
        if self.schemas.contains_key(&schema.id) {
            return Ok(());
        }
        self.describe(data.len())?;
        let described = Described::new(&schema);
        self.count(described.size())?;
        self.schemas.insert(schema.id, described);
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
        // Without a schema, the first message determines the metrics.
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
