//! MCAP files: those that `oasis export` has written come back as they were; of others, channels with JSON messages are read.

use super::{infer, json, of_recording};
use anyhow::{Context, anyhow, bail};
use mcap::{
    parse_record,
    records::{Channel, MessageHeader, Record},
    sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions},
};
use oasis_archive::{Import, Series};
use oasis_channel::ProbeKind;
use oasis_wire::{
    batch::{Encoder, Fields, MAX_VALUES},
    quantity::Epoch,
    schema::ProbeType,
    value,
};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::Read,
    path::Path,
    sync::Arc,
};
use uuid::Uuid;

/// Longest record, and chunk: memory is bounded whatever a file says of itself.
const MAX_RECORD: usize = 256 * 1024 * 1024;
/// Most samples of a batch.
const MAX_SAMPLES: usize = 4_096;
/// Bytes held of a channel before they become a batch.
const MAX_HELD: usize = 256 * 1024;
/// Longest sample: a batch must hold it.
const MAX_ROW: usize = 768 * 1024;

/// Reads a file from its beginning to its end.
pub fn read(path: &Path, prefix: &str, import: &mut Import) -> anyhow::Result<()> {
    let mut file = File::open(path)?;
    let options = LinearReaderOptions::default()
        .with_prevalidate_chunk_crcs(true)
        .with_validate_data_section_crc(true)
        .with_record_length_limit(MAX_RECORD);
    let mut reader = LinearReader::new_with_options(options);
    let mut recording = Recording::new(prefix);
    while let Some(event) = reader.next_event() {
        let damaged = || "the MCAP file is damaged or not whole (`mcap recover` of the MCAP command line saves what is good)";
        match event.with_context(damaged)? {
            LinearReadEvent::ReadRequest(wanted) => {
                let read = file.read(reader.insert(wanted))?;
                reader.notify_read(read);
            }
            LinearReadEvent::Record { data, opcode } => {
                let record = parse_record(opcode, data).with_context(damaged)?;
                recording.take(record, import)?;
            }
        }
    }
    recording.finish(import)
}

/// What was read so far.
struct Recording<'a> {
    prefix: &'a str,
    /// JSON Schemas by number; those of other encodings are none.
    schemas: HashMap<u16, (String, Option<Json>)>,
    channels: BTreeMap<u16, Reading>,
}

/// A channel.
struct Reading {
    topic: String,
    /// What is known without a message.
    from: From,
    samples: Option<Samples>,
    left_out: u64,
    /// Of the first message left out.
    why: Option<anyhow::Error>,
}

enum From {
    /// `oasis export` wrote it.
    Oasis { series: Box<Series>, first_sequence: u64 },
    /// Messages are JSON: of a schema with this number, if it is not 0.
    Json { schema: u16 },
    /// Messages are something else.
    Other(String),
}

impl<'a> Recording<'a> {
    fn new(prefix: &'a str) -> Self {
        Self { prefix, schemas: HashMap::new(), channels: BTreeMap::new() }
    }

    fn take(&mut self, record: Record<'_>, import: &mut Import) -> anyhow::Result<()> {
        match record {
            Record::Schema { header, data } => {
                let is_json = header.encoding == "jsonschema";
                let schema = is_json.then(|| serde_json::from_slice(&data).ok()).flatten();
                self.schemas.insert(header.id, (header.name, schema));
            }
            // They stand in the summary again.
            Record::Channel(channel) if !self.channels.contains_key(&channel.id) => {
                let reading = Reading::new(channel, self.prefix);
                self.channels.insert(reading.0, reading.1);
            }
            Record::Message { header, data } => self.message(&header, &data, import)?,
            _ => {}
        }
        Ok(())
    }

    fn message(&mut self, header: &MessageHeader, data: &[u8], import: &mut Import) -> anyhow::Result<()> {
        let Some(channel) = self.channels.get_mut(&header.channel_id) else {
            bail!(
                "the MCAP file is damaged: a message is of channel {}, which it does not have",
                header.channel_id
            );
        };
        match channel.sample(header, data, self.prefix, &self.schemas) {
            Ok((time, sequence, state)) => match &mut channel.samples {
                Some(samples) => samples.push(time, sequence, state, import),
                None => Ok(()),
            },
            Err(error) => {
                channel.left_out += 1;
                channel.why.get_or_insert(error);
                Ok(())
            }
        }
    }

    fn finish(self, import: &mut Import) -> anyhow::Result<()> {
        let mut taken = false;
        for (_, mut channel) in self.channels {
            if let Some(samples) = &mut channel.samples {
                samples.end_batch(import)?;
                taken = true;
            }
            // What an export says of itself is no probe's.
            if let (Some(why), false) = (&channel.why, channel.topic.starts_with("/oasis/")) {
                eprintln!("{}: {} messages are left out: {why:#}", channel.topic, channel.left_out);
            }
        }
        if taken { Ok(()) } else { bail!("none of its messages can be read: JSON messages can") }
    }
}

impl Reading {
    fn new(channel: Channel, prefix: &str) -> (u16, Self) {
        let from = match series_of(&channel.metadata, prefix) {
            Some((series, first_sequence)) => From::Oasis { series: Box::new(series), first_sequence },
            None if channel.message_encoding == "json" => From::Json { schema: channel.schema_id },
            None => From::Other(channel.message_encoding),
        };
        (channel.id, Self { topic: channel.topic, from, samples: None, left_out: 0, why: None })
    }

    /// Reads a message into the row of `samples`; answers its time, its sequence number and the state of its probe.
    fn sample(
        &mut self,
        header: &MessageHeader,
        data: &[u8],
        prefix: &str,
        schemas: &HashMap<u16, (String, Option<Json>)>,
    ) -> anyhow::Result<(u64, u64, u16)> {
        if self.topic.starts_with("/oasis/") {
            bail!("what the export says of itself");
        }
        if let From::Other(encoding) = &self.from {
            bail!("they are {encoding:?}, and JSON can be read");
        }
        let message: Json = serde_json::from_slice(data).context("one is no JSON")?;
        if self.samples.is_none() {
            let (series, before) = match &self.from {
                From::Oasis { series, first_sequence } => {
                    ((**series).clone(), first_sequence.wrapping_sub(1))
                }
                From::Json { schema } => (self.foreign(*schema, header, data, &message, prefix, schemas)?, 0),
                From::Other(_) => return Err(anyhow!("nothing to read")),
            };
            self.samples = Some(Samples::new(series, before)?);
        }
        let samples = self.samples.as_mut().context("made just now")?;
        let metrics = &samples.series.probe_type.metrics;
        let values = json::members(metrics, &message, "").context("one does not fit")?;
        value::write_row(&samples.series.probe_type, &values, &mut samples.row);
        if samples.row.len() > MAX_ROW {
            bail!("one has {} bytes, and samples have {MAX_ROW} at most", samples.row.len());
        }
        let is_ours = matches!(self.from, From::Oasis { .. });
        let sequence = if is_ours { samples.number(header.sequence) } else { samples.last_sequence + 1 };
        let state =
            message.get("oasis.state").and_then(Json::as_u64).and_then(|state| u16::try_from(state).ok());
        samples.last_sequence = sequence;
        Ok((header.log_time, sequence, state.filter(|_| is_ours).unwrap_or(0)))
    }

    fn foreign(
        &self,
        schema: u16,
        header: &MessageHeader,
        data: &[u8],
        message: &Json,
        prefix: &str,
        schemas: &HashMap<u16, (String, Option<Json>)>,
    ) -> anyhow::Result<Series> {
        let (name, schema) = schemas
            .get(&schema)
            .map_or((self.topic.as_str(), None), |(name, schema)| (name, schema.as_ref()));
        let probe_type =
            infer::probe_type(name, schema, message).context("they are no objects with values")?;
        // The same whenever the file is read, so that its samples are known again; messages' own numbers may all be 0.
        let mut identity = self.topic.clone().into_bytes();
        identity.extend_from_slice(&header.log_time.to_le_bytes());
        identity.extend_from_slice(data);
        let topic = self.topic.trim_start_matches('/');
        Ok(Series {
            node: prefix.into(),
            instance: if topic.is_empty() { "channel".into() } else { topic.into() },
            kind: ProbeKind::Pushed,
            run: Uuid::new_v5(&Uuid::NAMESPACE_OID, &identity),
            epoch: Epoch(0),
            probe_type: Arc::new(probe_type),
        })
    }
}

/// Whose samples a channel of an export has, and the number of the first one.
fn series_of(metadata: &BTreeMap<String, String>, prefix: &str) -> Option<(Series, u64)> {
    let get = |key: &str| metadata.get(key);
    let probe_type: ProbeType = serde_json::from_str(get("schema")?).ok()?;
    let series = Series {
        node: of_recording(prefix, get("node")?).into(),
        instance: get("instance")?.as_str().into(),
        kind: serde_json::from_value(get("kind")?.as_str().into()).ok()?,
        run: get("run")?.parse().ok()?,
        epoch: Epoch(0),
        probe_type: Arc::new(probe_type),
    };
    Some((series, get("first_sequence")?.parse().ok()?))
}

/// The samples of a channel that wait to become a batch.
struct Samples {
    series: Series,
    encoder: Encoder,
    most: usize,
    /// Of the sample at hand.
    row: Vec<u8>,
    last_sequence: u64,
    first: u64,
    next: u64,
    state: u16,
    time: u64,
}

impl Samples {
    fn new(series: Series, last_sequence: u64) -> anyhow::Result<Self> {
        let encoder = Encoder::new(&series.probe_type)?;
        let most = (MAX_VALUES / (series.probe_type.metrics.len() + 1)).clamp(1, MAX_SAMPLES);
        Ok(Self {
            series,
            encoder,
            most,
            row: Vec::new(),
            last_sequence,
            first: 0,
            next: 0,
            state: 0,
            time: 0,
        })
    }

    /// All of a number of which a message has the last 32 bits: the nearest to the one before.
    fn number(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.last_sequence as u32) as i32;
        self.last_sequence.wrapping_add_signed(ahead.into())
    }

    fn push(&mut self, time: u64, sequence: u64, state: u16, import: &mut Import) -> anyhow::Result<()> {
        let is_full =
            self.encoder.len() >= self.most || self.encoder.bytes_held() + self.row.len() > MAX_HELD;
        if is_full || sequence != self.next || state != self.state {
            self.end_batch(import)?;
        }
        if self.encoder.is_empty() {
            (self.first, self.state, self.time) = (sequence, state, time);
        }
        self.encoder.push(time, &self.row)?;
        self.next = sequence.wrapping_add(1);
        Ok(())
    }

    fn end_batch(&mut self, import: &mut Import) -> anyhow::Result<()> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        let fields = Fields {
            state: self.state,
            first_sequence: self.first,
            node_time: self.time,
            ..Fields::default()
        };
        let mut batch = Vec::new();
        self.encoder.finish(fields, &mut batch);
        Ok(import.add(&self.series, &batch)?)
    }
}
