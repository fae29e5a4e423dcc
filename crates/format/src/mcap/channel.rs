//! Converts the messages of a channel to samples.

use super::{
    RecordedSeries,
    bounds::{self, MAX_MESSAGE, MAX_ROW},
    infer::{self, NoType},
    json::{self, Unfit},
    record::{ChannelRecord, Message, Schema},
    ros::{BadCdr, BadLayout, Layout},
    samples::{Head, Samples},
};
use oasis_channel::ProbeKind;
use oasis_wire::{
    schema::{InvalidType, Metric, ProbeType},
    value,
};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use uuid::Uuid;

/// Topics with metadata of an export, which are not of a probe.
const ABOUT: &str = "/oasis/";

/// Schemas by number.
pub type Schemas = HashMap<u16, Described>;

/// What a schema says of messages.
#[derive(Debug)]
pub struct Described {
    name: String,
    encoding: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The metrics of a JSON Schema; none of another schema.
    Json(Vec<Metric>),
    Ros(Result<Layout, BadLayout>),
}

impl Described {
    pub fn new(schema: &Schema<'_>) -> Self {
        let content = match schema.encoding {
            "ros2msg" => Content::Ros(Layout::read(schema.name, schema.data)),
            "jsonschema" => Content::Json(infer::metrics(schema.data)),
            _ => Content::Json(Vec::new()),
        };
        Self { name: schema.name.to_owned(), encoding: schema.encoding.to_owned(), content }
    }

    /// The metrics of a JSON message; empty if it does not say.
    fn metrics(&self) -> &[Metric] {
        match &self.content {
            Content::Json(metrics) => metrics,
            Content::Ros(_) => &[],
        }
    }

    /// What it counts towards the bound of metrics.
    pub fn size(&self) -> usize {
        match &self.content {
            Content::Json(metrics) => bounds::metrics(metrics),
            Content::Ros(layout) => layout.as_ref().map_or(0, |layout| layout.count),
        }
    }

    fn layout(&self) -> Result<&Layout, BadLayout> {
        match &self.content {
            Content::Ros(layout) => layout.as_ref().map_err(Clone::clone),
            Content::Json(_) => Err(BadLayout::Encoding(json::shortened(&self.encoding))),
        }
    }
}

/// Reasons to skip a message.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// Metadata of an export.
    #[error("the metadata of the export")]
    About,
    /// Unsupported encoding.
    #[error("unsupported message encoding {0:?}: only JSON and the CDR of ROS 2 are supported")]
    Encoding(String),
    /// CDR messages cannot be decoded.
    #[error("unsupported schema {0:?} of CDR messages: {1}")]
    Schema(String, BadLayout),
    /// CDR messages have no schema.
    #[error("CDR messages without a schema")]
    NoSchema,
    /// Not of its schema.
    #[error("a message does not match the schema: {0}")]
    Cdr(#[from] BadCdr),
    /// Too long.
    #[error("a message has {0} bytes: at most {MAX_MESSAGE} are allowed")]
    Long(usize),
    /// Invalid in its encoding.
    #[error("invalid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Without values that could be metrics.
    #[error("the messages have no values")]
    Nothing,
    /// Not of a form that could be samples.
    #[error(transparent)]
    Untyped(#[from] NoType),
    /// Invalid probe type of its channel.
    #[error("invalid probe type: {0}")]
    Type(#[from] InvalidType),
    /// Does not match its schema.
    #[error("a message does not match the schema: {0}")]
    Unfit(#[from] Unfit),
    /// Does not fit into a batch.
    #[error("a sample has {0} bytes: at most {MAX_ROW} are allowed")]
    Row(usize),
}

/// A channel while it is read.
#[derive(Debug)]
pub struct Channel {
    pub topic: String,
    /// Known from the channel record.
    from: From,
    /// `None` before the first readable message.
    pub samples: Option<Samples>,
    pub left_out: u64,
    /// Reason for the first skipped message.
    pub why: Option<Unread>,
}

#[derive(Debug)]
enum From {
    /// `oasis export` wrote it.
    Oasis { recorded: RecordedSeries, first_sequence: u64 },
    /// JSON messages with the schema of this number; 0 for none.
    Json { schema: u16 },
    /// CDR messages with the schema of this number.
    Cdr { schema: u16 },
    /// Other messages.
    Other(String),
}

impl Channel {
    pub fn new(channel: &ChannelRecord<'_>) -> Self {
        let from = match of_export(&channel.metadata) {
            Some((recorded, first_sequence)) => From::Oasis { recorded, first_sequence },
            None if channel.encoding == "json" => From::Json { schema: channel.schema },
            None if channel.encoding == "cdr" => From::Cdr { schema: channel.schema },
            None => From::Other(channel.encoding.to_owned()),
        };
        Self { topic: channel.topic.to_owned(), from, samples: None, left_out: 0, why: None }
    }

    pub fn is_about(&self) -> bool {
        self.topic.starts_with(ABOUT)
    }

    /// The number of metrics of its samples, if known.
    pub fn metrics(&self) -> usize {
        let recorded = match (&self.samples, &self.from) {
            (Some(samples), _) => &samples.recorded,
            (None, From::Oasis { recorded, .. }) => recorded,
            (None, _) => return 0,
        };
        bounds::metrics(&recorded.probe_type.metrics)
    }

    /// Reads a message into a row.
    pub fn sample(
        &mut self,
        message: &Message<'_>,
        schemas: &Schemas,
        row: &mut Vec<u8>,
    ) -> Result<(&mut Samples, Head), Unread> {
        if self.is_about() {
            return Err(Unread::About);
        }
        if let From::Other(encoding) = &self.from {
            return Err(Unread::Encoding(encoding.clone()));
        }
        if message.data.len() > MAX_MESSAGE {
            return Err(Unread::Long(message.data.len()));
        }
        if let From::Cdr { schema } = self.from {
            self.cdr(message, schemas.get(&schema).ok_or(Unread::NoSchema)?, row)
        } else {
            self.json(message, schemas, row)
        }
    }

    fn json(
        &mut self,
        message: &Message<'_>,
        schemas: &Schemas,
        row: &mut Vec<u8>,
    ) -> Result<(&mut Samples, Head), Unread> {
        let content: Json = serde_json::from_slice(message.data)?;
        let is_ours = matches!(self.from, From::Oasis { .. });
        let samples = match self.samples.take() {
            Some(samples) => samples,
            None => self.begin(message, &content, schemas)?,
        };
        let samples = self.samples.insert(samples);
        let probe_type = &samples.recorded.probe_type;
        let values = json::sample(&probe_type.metrics, &content)?;
        value::write_row(probe_type, &values, row);
        if row.len() > MAX_ROW {
            return Err(Unread::Row(row.len()));
        }
        let sequence =
            if is_ours { samples.number(message.sequence) } else { samples.last_sequence.saturating_add(1) };
        let state = content.get("oasis.state").filter(|_| is_ours).and_then(Json::as_u64);
        let state = state.and_then(|state| u16::try_from(state).ok()).unwrap_or(0);
        samples.last_sequence = sequence;
        Ok((samples, Head { time: message.log_time, sequence, state }))
    }

    fn cdr(
        &mut self,
        message: &Message<'_>,
        schema: &Described,
        row: &mut Vec<u8>,
    ) -> Result<(&mut Samples, Head), Unread> {
        let layout = schema.layout().map_err(|bad| Unread::Schema(json::shortened(&schema.name), bad))?;
        layout.decode(message.data, row)?;
        let samples = match self.samples.take() {
            Some(samples) => samples,
            None => {
                let probe_type = infer::described(&schema.name, layout.metrics.clone());
                if probe_type.metrics.is_empty() {
                    return Err(Unread::Nothing);
                }
                probe_type.validate()?;
                Samples::new(self.foreign(message, probe_type), 0)?
            }
        };
        let samples = self.samples.insert(samples);
        samples.last_sequence = samples.last_sequence.saturating_add(1);
        let head = Head { time: message.log_time, sequence: samples.last_sequence, state: 0 };
        Ok((samples, head))
    }

    fn begin(&self, message: &Message<'_>, content: &Json, schemas: &Schemas) -> Result<Samples, Unread> {
        Ok(match &self.from {
            From::Oasis { recorded, first_sequence } => {
                Samples::new(recorded.clone(), first_sequence.wrapping_sub(1))?
            }
            From::Json { schema } => {
                let (name, metrics) = match schemas.get(schema) {
                    Some(described) => (&described.name, described.metrics()),
                    None => (&self.topic, &[][..]),
                };
                let probe_type = infer::probe_type(name, metrics, content)?;
                Samples::new(self.foreign(message, probe_type), 0)?
            }
            From::Cdr { .. } => return Err(Unread::NoSchema),
            From::Other(encoding) => return Err(Unread::Encoding(encoding.clone())),
        })
    }

    /// The source of messages of another program, of which this is the first one.
    fn foreign(&self, message: &Message<'_>, probe_type: ProbeType) -> RecordedSeries {
        // Deterministic, so that a second import recognizes the samples; the numbers of the messages may all be 0.
        let mut identity = self.topic.clone().into_bytes();
        identity.extend_from_slice(&message.log_time.to_le_bytes());
        identity.extend_from_slice(message.data);
        let topic = self.topic.trim_start_matches('/');
        RecordedSeries {
            node: None,
            instance: if topic.is_empty() { "channel".into() } else { topic.into() },
            kind: ProbeKind::Pushed,
            run: Uuid::new_v5(&Uuid::NAMESPACE_OID, &identity),
            probe_type: Arc::new(probe_type),
        }
    }
}

/// Returns the source of a channel of an export, and its first sequence number.
fn of_export(metadata: &BTreeMap<&str, &str>) -> Option<(RecordedSeries, u64)> {
    let get = |key: &str| metadata.get(key).copied();
    let probe_type: ProbeType = serde_json::from_str(get("schema")?).ok()?;
    let recorded = RecordedSeries {
        node: Some(get("node")?.into()),
        instance: get("instance")?.into(),
        kind: serde_json::from_value(get("kind")?.into()).ok()?,
        run: get("run")?.parse().ok()?,
        probe_type: Arc::new(probe_type),
    };
    Some((recorded, get("first_sequence")?.parse().ok()?))
}
