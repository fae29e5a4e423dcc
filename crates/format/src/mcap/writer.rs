//! Writes MCAP for Foxglove, Lichtblick and PlotJuggler: a channel for each instance, in the order of the samples' times.
//!
//! Messages are JSON with a JSON Schema by default: the only encoding that can express the whole schema. `encoding` has the others.
//! `docs/reference/mcap.md` documents the content.

use super::{
    encoding::{self, EncodedSchema},
    lost,
};
use crate::{Gap, MessageEncoding, SampleWriter, Source, WriteError};
use mcap::{
    Compression, WriteOptions, Writer,
    records::{MessageHeader, Metadata},
    write::NoSeek,
};
use oasis_wire::batch::Sample;
use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
    sync::Arc,
};

/// Bytes of a chunk. A viewer reads at least one chunk to show a message.
const CHUNK: u64 = 1024 * 1024;
/// The program and its version.
const SOFTWARE: &str = concat!("oasis ", env!("CARGO_PKG_VERSION"));

/// Writes an MCAP file.
pub struct McapWriter<W: Write> {
    out: Writer<NoSeek<W>>,
    encoding: MessageEncoding,
    message: Vec<u8>,
    /// By node and instance.
    channels: HashMap<(Arc<str>, Arc<str>), Channel>,
    /// The channel of gaps, after the first gap.
    gaps: Option<u16>,
}

/// The current channel of an instance.
struct Channel {
    source: Arc<Source>,
    id: u16,
}

impl<W: Write> McapWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If the output fails.
    pub fn new(out: W, encoding: MessageEncoding) -> Result<Self, WriteError> {
        // Standard output cannot seek. No threads: encoding JSON takes longer than compression.
        let options = WriteOptions::new()
            .compression(Some(Compression::Zstd))
            .compression_threads(0)
            .chunk_size(Some(CHUNK))
            .disable_seeking(true)
            .library(SOFTWARE);
        let out = options.create(NoSeek::new(out))?;
        Ok(Self { out, encoding, message: Vec::new(), channels: HashMap::new(), gaps: None })
    }

    fn channel(&mut self, source: &Arc<Source>, sample: &Sample) -> Result<u16, WriteError> {
        let key = (source.node.clone(), source.instance.clone());
        if let Some(known) = self.channels.get(&key)
            && (Arc::ptr_eq(&known.source, source) || known.source == *source)
        {
            return Ok(known.id);
        }
        let probe_type = &source.probe_type;
        let schema = EncodedSchema::of(probe_type, self.encoding)?;
        let schema = self.out.add_schema(&schema.name, schema.encoding, &schema.data)?;
        let kind = serde_json::to_value(source.kind)?;
        let metadata = BTreeMap::from([
            ("node".to_owned(), source.node.to_string()),
            ("instance".to_owned(), source.instance.to_string()),
            ("kind".to_owned(), kind.as_str().unwrap_or_default().to_owned()),
            ("run".to_owned(), source.run.to_string()),
            ("epoch".to_owned(), source.epoch.to_string()),
            ("first_sequence".to_owned(), sample.sequence.to_string()),
            ("schema".to_owned(), serde_json::to_string(&**probe_type)?),
        ]);
        let topic = format!("{}/{}", source.node, source.instance);
        let id = self.out.add_channel(schema, &topic, self.encoding.name(), &metadata)?;
        self.channels.insert(key, Channel { source: source.clone(), id });
        Ok(id)
    }

    fn gap_channel(&mut self) -> Result<u16, WriteError> {
        if let Some(channel) = self.gaps {
            return Ok(channel);
        }
        let schema = serde_json::to_vec(&lost::schema())?;
        let schema = self.out.add_schema(lost::SCHEMA_NAME, "jsonschema", &schema)?;
        let channel = self.out.add_channel(schema, lost::TOPIC, "json", &BTreeMap::new())?;
        self.gaps = Some(channel);
        Ok(channel)
    }

    fn write(&mut self, channel_id: u16, sequence: u64, time: u64, message: &[u8]) -> Result<(), WriteError> {
        // A message's number has 32 bits; the channel's `first_sequence` has the rest.
        let header =
            MessageHeader { channel_id, sequence: sequence as u32, log_time: time, publish_time: time };
        Ok(self.out.write_to_known_channel(&header, message)?)
    }
}

impl<W: Write> SampleWriter for McapWriter<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        let channel = self.channel(source, sample)?;
        let mut message = std::mem::take(&mut self.message);
        encoding::encode(self.encoding, &source.probe_type, state, &sample.values, &mut message)?;
        self.write(channel, sample.sequence, sample.time, &message)?;
        self.message = message;
        Ok(())
    }

    fn gap(&mut self, gap: &Gap<'_>) -> Result<(), WriteError> {
        let channel = self.gap_channel()?;
        self.write(channel, 0, gap.time, &lost::message(gap)?)
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        let about = [("software", SOFTWARE), ("clock", "each node's own, nanoseconds since 1970")];
        let metadata = about.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        self.out.write_metadata(&Metadata { name: "oasis".into(), metadata })?;
        self.out.finish()?;
        Ok(())
    }
}
