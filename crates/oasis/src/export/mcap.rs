//! MCAP, for Foxglove, Lichtblick and PlotJuggler: a channel for each instance, in the order of the samples' times.
//!
//! Messages are JSON under a JSON Schema: the one encoding that all three read without a plugin, and that says everything a schema of ours does. `docs/archive.md` has what is where.

use super::{Format, json_schema};
use crate::target::Target;
use mcap::{
    Compression, WriteOptions, Writer,
    records::{MessageHeader, Metadata},
    write::NoSeek,
};
use oasis_archive::{Missing, Series};
use oasis_wire::{batch::Sample, value};
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
    sync::Arc,
};

/// Of these bytes a viewer reads at least as many to show one message.
const CHUNK: u64 = 1024 * 1024;
/// Where a viewer finds what is missing.
const MISSING: &str = "/oasis/missing";

/// A file to this.
pub struct Mcap<'a, W: Write> {
    out: Writer<NoSeek<&'a mut W>>,
    /// By node and instance.
    channels: HashMap<(Arc<str>, Arc<str>), Channel>,
    missing: Option<u16>,
}

/// The channel of an instance, while its series is the same.
struct Channel {
    series: Arc<Series>,
    id: u16,
}

impl<'a, W: Write> Mcap<'a, W> {
    pub fn new(out: &'a mut W) -> anyhow::Result<Self> {
        // Standard output is no file to go back in. Threads are not worth it: making JSON takes longer than compressing it.
        let options = WriteOptions::new()
            .compression(Some(Compression::Zstd))
            .compression_threads(0)
            .chunk_size(Some(CHUNK))
            .disable_seeking(true)
            .library(oasis_dac::SOFTWARE);
        let out = options.create(NoSeek::new(out))?;
        Ok(Self { out, channels: HashMap::new(), missing: None })
    }

    fn channel(&mut self, series: &Arc<Series>, sample: &Sample) -> anyhow::Result<u16> {
        let key = (series.node.clone(), series.instance.clone());
        if let Some(known) = self.channels.get(&key)
            && (Arc::ptr_eq(&known.series, series) || known.series == *series)
        {
            return Ok(known.id);
        }
        let probe_type = &series.probe_type;
        let schema = serde_json::to_vec(&json_schema::of(probe_type))?;
        let schema = self.out.add_schema(&probe_type.name, "jsonschema", &schema)?;
        let kind = serde_json::to_value(series.kind)?;
        let metadata = BTreeMap::from([
            ("node".to_owned(), series.node.to_string()),
            ("instance".to_owned(), series.instance.to_string()),
            ("kind".to_owned(), kind.as_str().unwrap_or_default().to_owned()),
            ("run".to_owned(), series.run.to_string()),
            ("epoch".to_owned(), series.epoch.to_string()),
            ("first_sequence".to_owned(), sample.sequence.to_string()),
            ("schema".to_owned(), serde_json::to_string(&**probe_type)?),
        ]);
        let topic = format!("{}/{}", series.node, series.instance);
        let id = self.out.add_channel(schema, &topic, "json", &metadata)?;
        self.channels.insert(key, Channel { series: series.clone(), id });
        Ok(id)
    }

    fn write(
        &mut self,
        channel_id: u16,
        sequence: u64,
        time: u64,
        message: &serde_json::Value,
    ) -> anyhow::Result<()> {
        // A message's number has 32 bits; the channel's `first_sequence` has the rest.
        let header =
            MessageHeader { channel_id, sequence: sequence as u32, log_time: time, publish_time: time };
        Ok(self.out.write_to_known_channel(&header, &serde_json::to_vec(message)?)?)
    }
}

impl<W: Write> Format for Mcap<'_, W> {
    fn sample(&mut self, series: &Arc<Series>, state: u16, sample: &Sample) -> anyhow::Result<()> {
        let channel = self.channel(series, sample)?;
        let mut metrics = value::to_json(&series.probe_type, &sample.values);
        if state != 0 {
            metrics.insert(json_schema::STATE.into(), state.into());
        }
        self.write(channel, sample.sequence, sample.time, &metrics.into())
    }

    fn missing(&mut self, of: &Target, missing: &Missing, time: u64) -> anyhow::Result<()> {
        let channel = match self.missing {
            Some(channel) => channel,
            None => {
                let (text, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
                let schema = json!({"type": "object", "title": "OASIS::Missing", "properties": {
                    "topic": text, "samples": integer, "cause": text, "node": text, "instance": text, "run": text,
                    "from_sequence": integer, "to_sequence": integer,
                }});
                let schema =
                    self.out.add_schema("OASIS::Missing", "jsonschema", schema.to_string().as_bytes())?;
                self.out.add_channel(schema, MISSING, "json", &BTreeMap::new())?
            }
        };
        self.missing = Some(channel);
        let Missing { run, count, cause, numbers } = missing;
        let topic = format!("{}/{}", of.node, of.instance);
        let mut message = json!({
            "topic": topic, "samples": count, "cause": cause, "node": of.node, "instance": of.instance, "run": run,
        });
        if let Some(numbers) = numbers {
            message["from_sequence"] = (*numbers.start()).into();
            message["to_sequence"] = (*numbers.end()).into();
        }
        self.write(channel, 0, time, &message)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let about = [("software", oasis_dac::SOFTWARE), ("clock", "each node's own, nanoseconds since 1970")];
        let metadata = about.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        self.out.write_metadata(&Metadata { name: "oasis".into(), metadata })?;
        self.out.finish()?;
        Ok(())
    }
}
