//! Converts the messages of a channel to samples.

use super::{
    bounds::{self, MAX_MESSAGE, MAX_ROW},
    record::{ChannelRecord, Message, Schema},
    restored::restore,
};
use crate::{
    input::{
        Lost, RecordedSeries, infer,
        json::{
            fields::{self, AbsentColumns, FieldCounts, FieldReport, RenamedColumn},
            no_metrics::NoMetrics,
            shape::{Shape, Typing, Unstored, WhyUnstored},
            unique::{self, BadJson},
            values::{self, Unfit},
        },
        names::without_controls,
        samples::{Head, Samples},
    },
    protobuf::{self, BadDescriptor, BadMessage},
    ros::{BadCdr, BadLayout, BadPacked, Layout},
    visible::shortened,
};
use oasis_wire::{
    loss::Cause,
    probe_kind::ProbeKind,
    schema::{InvalidType, Metric, ProbeType},
    value::{self, Value},
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

/// Messages as a schema describes them.
#[derive(Debug)]
pub struct Described {
    name: String,
    encoding: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The fields of a JSON Schema; none of another schema.
    Json(Shape),
    Ros(Result<Layout, BadLayout>),
    Ros1(Result<Layout, BadLayout>),
    Protobuf(Result<protobuf::Layout, BadDescriptor>),
}

impl Described {
    pub fn new(schema: &Schema<'_>) -> Self {
        let content = match schema.encoding {
            "ros2msg" => Content::Ros(Layout::read(schema.name, schema.data)),
            "ros2idl" | "omgidl" => Content::Ros(Layout::read_idl(schema.name, schema.data)),
            "ros1msg" => Content::Ros1(Layout::read_ros1(schema.name, schema.data)),
            "protobuf" => Content::Protobuf(protobuf::Layout::read(schema.name, schema.data)),
            "jsonschema" => Content::Json(Shape::of_schema(schema.data)),
            _ => Content::Json(Shape::object()),
        };
        Self { name: schema.name.to_owned(), encoding: schema.encoding.to_owned(), content }
    }

    /// The fields that it states of JSON messages.
    fn shape(&self) -> Shape {
        match &self.content {
            Content::Json(shape) => shape.clone(),
            Content::Ros(_) | Content::Ros1(_) | Content::Protobuf(_) => Shape::object(),
        }
    }

    /// Its share of the bound of metrics.
    pub fn size(&self) -> usize {
        match &self.content {
            Content::Json(shape) => shape.fields(),
            Content::Ros(layout) | Content::Ros1(layout) => layout.as_ref().map_or(0, |layout| layout.count),
            Content::Protobuf(layout) => layout.as_ref().map_or(0, |layout| layout.count),
        }
    }

    /// Decodes a message of this schema into a row. Returns the metrics of the row, the number of values without
    /// one, and their fields.
    fn decode(
        &self,
        encoding: Binary,
        data: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<(&[Metric], u64, &[String]), Unread> {
        let name = || shortened(&self.name);
        match (encoding, &self.content) {
            (Binary::Cdr, Content::Ros(layout)) => {
                let layout = layout.as_ref().map_err(|bad| Unread::Schema(name(), bad.clone()))?;
                layout.decode(data, row)?;
                Ok((&layout.metrics, 0, &[]))
            }
            (Binary::Ros1, Content::Ros1(layout)) => {
                let layout = layout.as_ref().map_err(|bad| Unread::Schema(name(), bad.clone()))?;
                layout.decode_packed(data, row)?;
                Ok((&layout.metrics, 0, &[]))
            }
            (Binary::Protobuf, Content::Protobuf(layout)) => {
                let layout = layout.as_ref().map_err(|bad| Unread::Descriptor(name(), bad.clone()))?;
                let unstored = layout.decode(data, row)?;
                Ok((&layout.metrics, unstored, &layout.unstored))
            }
            (Binary::Cdr | Binary::Ros1, _) => {
                Err(Unread::Schema(name(), BadLayout::Encoding(shortened(&self.encoding))))
            }
            (Binary::Protobuf, _) => Err(Unread::NoDescriptor(shortened(&self.encoding))),
        }
    }
}

/// An encoding of messages with a schema that describes their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Cdr,
    Ros1,
    Protobuf,
}

impl Binary {
    fn named(encoding: &str) -> Option<Self> {
        match encoding {
            "cdr" => Some(Self::Cdr),
            "ros1" => Some(Self::Ros1),
            "protobuf" => Some(Self::Protobuf),
            _ => None,
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
    #[error(
        "unsupported message encoding {0:?}: only JSON, Protocol Buffers and messages of ROS are supported"
    )]
    Encoding(String),
    /// CDR messages cannot be decoded.
    #[error("unsupported schema {0:?} of CDR messages: {1}")]
    Schema(String, BadLayout),
    /// Binary messages have no schema.
    #[error("CDR messages without a schema")]
    NoSchema,
    /// A message of ROS 1 does not match its schema.
    #[error("a message does not match the schema: {0}")]
    Packed(#[from] BadPacked),
    /// Protocol Buffers cannot be decoded.
    #[error("unsupported schema {0:?} of Protocol Buffers: {1}")]
    Descriptor(String, BadDescriptor),
    /// Protocol Buffers have another schema.
    #[error("Protocol Buffers with a schema in the encoding {0:?}: only protobuf is supported")]
    NoDescriptor(String),
    /// Not of its descriptor.
    #[error("a message does not match the schema: {0}")]
    Protobuf(#[from] BadMessage),
    /// Not of its schema.
    #[error("a message does not match the schema: {0}")]
    Cdr(#[from] BadCdr),
    /// Too long.
    #[error("a message has {0} bytes: at most {MAX_MESSAGE} are allowed")]
    Long(usize),
    /// Invalid in its encoding.
    #[error("invalid JSON: {0}")]
    Json(#[from] BadJson),
    /// Without values that could be metrics.
    #[error(transparent)]
    NoMetrics(#[from] NoMetrics),
    /// Invalid probe type of its channel.
    #[error("invalid probe type: {0}")]
    Type(#[from] InvalidType),
    /// Does not match its schema.
    #[error("a message does not match the schema: {0}")]
    Unfit(#[from] Unfit),
    /// Other fields than those of the probe type of its channel.
    #[error("a message does not have the fields of its probe type")]
    Fields,
    /// Does not fit into a batch.
    #[error("a sample has {0} bytes: at most {MAX_ROW} are allowed")]
    Row(usize),
}

/// A message that was read into a row.
#[derive(Debug)]
pub struct ReadSample {
    pub head: Head,
    /// The samples of damaged chunks before it.
    pub lost: Option<Lost>,
}

/// A channel while it is read.
#[derive(Debug)]
pub struct Channel {
    pub topic: String,
    /// Known from the channel record.
    from: From,
    /// The name of its instance, if another program recorded it.
    pub instance: Arc<str>,
    /// Number of channels before it with its topic.
    pub earlier: u64,
    /// `None` before the first readable message.
    pub samples: Option<Samples>,
    pub left_out: u64,
    /// Reason for the first skipped message.
    pub why: Option<Unread>,
    /// Values that differ from those of the messages.
    fields: FieldCounts,
    /// Number of values without a metric, and their fields.
    unstored: (u64, String),
    /// Number of messages in damaged chunks.
    pub lost: u64,
    /// Messages in damaged chunks since the last sample.
    hole: u64,
    has_hole: bool,
}

#[derive(Debug)]
enum From {
    /// `oasis export` wrote it, in JSON or with the schema of this number.
    Oasis { recorded: RecordedSeries, first_sequence: u64, binary: Option<(Binary, u16)> },
    /// JSON messages with the schema of this number; 0 for none.
    Json { schema: u16, content: JsonContent },
    /// Messages with the schema of this number.
    Binary { encoding: Binary, schema: u16 },
    /// Other messages.
    Other(String),
}

/// The form of the JSON messages of a channel, as far as they were read.
#[derive(Debug)]
enum JsonContent {
    /// Before the first message was surveyed.
    Unknown,
    /// While messages are surveyed.
    Surveyed(Shape),
    /// After all messages were surveyed.
    Typed { typing: Typing, absent: Option<AbsentColumns> },
}

impl Channel {
    pub fn new(channel: &ChannelRecord<'_>) -> Self {
        let from = match of_export(&channel.metadata) {
            Some((recorded, first_sequence)) => {
                let binary = Binary::named(channel.encoding).map(|encoding| (encoding, channel.schema));
                From::Oasis { recorded, first_sequence, binary }
            }
            None if channel.encoding == "json" => {
                From::Json { schema: channel.schema, content: JsonContent::Unknown }
            }
            None => match Binary::named(channel.encoding) {
                Some(encoding) => From::Binary { encoding, schema: channel.schema },
                None => From::Other(channel.encoding.to_owned()),
            },
        };
        Self {
            topic: channel.topic.to_owned(),
            from,
            instance: channel.topic.into(),
            earlier: 0,
            samples: None,
            left_out: 0,
            why: None,
            fields: FieldCounts::default(),
            unstored: (0, String::new()),
            lost: 0,
            hole: 0,
            has_hole: false,
        }
    }

    /// Whether another program recorded it.
    pub fn is_foreign(&self) -> bool {
        !matches!(self.from, From::Oasis { .. })
    }

    pub fn is_about(&self) -> bool {
        self.topic.starts_with(ABOUT)
    }

    /// The number of metrics of its samples, if known.
    pub fn metrics(&self) -> usize {
        let recorded = match (&self.from, &self.samples) {
            // The fields of JSON messages were counted when they were surveyed.
            (From::Json { .. }, _) => return 0,
            (_, Some(samples)) => &samples.recorded,
            (From::Oasis { recorded, .. }, None) => recorded,
            (From::Binary { .. } | From::Other(_), None) => return 0,
        };
        bounds::metrics(&recorded.probe_type.metrics)
    }

    /// Notes the fields of a message, before all messages are read. Returns what the new fields count towards
    /// the bound of metrics.
    pub fn survey(&mut self, message: &Message<'_>, schemas: &Schemas) -> usize {
        let is_about = self.is_about();
        let From::Json { schema, content } = &mut self.from else { return 0 };
        if is_about || message.data.len() > MAX_MESSAGE {
            return 0;
        }
        let mut found = 0;
        if matches!(content, JsonContent::Unknown) {
            let shape = schemas.get(schema).map_or_else(Shape::object, Described::shape);
            found += shape.fields();
            *content = JsonContent::Surveyed(shape);
        }
        // An invalid message is reported when it is read.
        if let (JsonContent::Surveyed(shape), Ok(message)) = (content, unique::parse(message.data)) {
            found += shape.add_message(&message);
        }
        found
    }

    /// Chooses the metrics, after all messages were surveyed.
    pub fn end_survey(&mut self) {
        let topic = &self.topic;
        if let From::Json { content, .. } = &mut self.from
            && let JsonContent::Surveyed(shape) = content
        {
            let typing = shape.typing();
            let absent = AbsentColumns::new(&infer::described(topic, typing.metrics.clone()));
            *content = JsonContent::Typed { typing, absent };
        }
    }

    /// Notes messages in a damaged chunk; `None` if their number is unknown.
    pub fn lose(&mut self, messages: Option<u64>) {
        self.has_hole = true;
        match messages {
            Some(messages) => {
                self.lost += messages;
                self.hole += messages;
            }
            // The numbers of the samples after it are unknown, so they are of another run.
            None if self.is_foreign() => (self.samples, self.hole) = (None, 0),
            None => {}
        }
    }

    /// Returns the range of numbers in damaged chunks before a sample, which becomes the last one.
    fn end_hole(&mut self, sequence: u64) -> Option<Lost> {
        let has_hole = std::mem::take(&mut self.has_hole);
        self.hole = 0;
        let samples = self.samples.as_mut()?;
        let first = samples.last_sequence.saturating_add(1);
        samples.last_sequence = sequence;
        (has_hole && first < sequence).then(|| Lost {
            node: samples.recorded.node.as_deref().map(str::to_owned),
            instance: samples.recorded.instance.to_string(),
            run: samples.recorded.run,
            numbers: first..=sequence - 1,
            cause: Cause::Damaged,
        })
    }

    /// The fields whose values are absent, rounded or not stored.
    pub fn field_reports(&mut self) -> Vec<FieldReport> {
        let mut reports = Vec::new();
        let probe_type = match &mut self.from {
            From::Oasis { recorded, .. } => recorded.probe_type.clone(),
            From::Json { content: JsonContent::Typed { typing, .. }, .. } => {
                let unstored = std::mem::take(&mut typing.unstored).into_iter();
                reports.extend(unstored.map(|field| fields::unstored(&self.topic, field)));
                Arc::new(infer::described(&self.topic, typing.metrics.clone()))
            }
            From::Binary { .. } if self.unstored.0 > 0 => {
                let (values, field) = std::mem::take(&mut self.unstored);
                let of = Unstored { field, values, why: WhyUnstored::Recursive };
                reports.push(fields::unstored(&self.topic, of));
                return reports;
            }
            From::Json { .. } | From::Binary { .. } | From::Other(_) => return reports,
        };
        reports.extend(self.fields.report(&self.topic, &probe_type));
        reports
    }

    /// The columns of another program's samples that have another name than their field.
    pub fn renamed_columns(&self) -> Vec<RenamedColumn> {
        let samples = self.samples.as_ref().filter(|_| self.is_foreign());
        samples.map_or_else(Vec::new, |samples| {
            fields::renamed_columns(&self.topic, &samples.recorded.probe_type)
        })
    }

    /// Reads a message into a row.
    pub fn sample(
        &mut self,
        message: &Message<'_>,
        schemas: &Schemas,
        row: &mut Vec<u8>,
    ) -> Result<ReadSample, Unread> {
        if self.is_about() {
            return Err(Unread::About);
        }
        if let From::Other(encoding) = &self.from {
            return Err(Unread::Encoding(encoding.clone()));
        }
        if message.data.len() > MAX_MESSAGE {
            return Err(Unread::Long(message.data.len()));
        }
        let schema = |number: &u16| schemas.get(number).ok_or(Unread::NoSchema);
        match &self.from {
            From::Binary { encoding, schema: number } => {
                self.binary(message, *encoding, schema(number)?, row)
            }
            From::Oasis { binary: Some((encoding, number)), .. } => {
                let (values, state) = self.restored(message, *encoding, schema(number)?, row)?;
                self.exported(message, &values, state, row)
            }
            _ => self.json(message, schemas, row),
        }
    }

    /// Decodes a binary message of an export.
    fn restored(
        &self,
        message: &Message<'_>,
        encoding: Binary,
        schema: &Described,
        row: &mut Vec<u8>,
    ) -> Result<(Vec<Value>, u16), Unread> {
        let From::Oasis { recorded, .. } = &self.from else { return Err(Unread::Fields) };
        let (metrics, _, _) = schema.decode(encoding, message.data, row)?;
        restore(&recorded.probe_type, metrics, row).ok_or(Unread::Fields)
    }

    /// Writes the row of an export's sample.
    fn exported(
        &mut self,
        message: &Message<'_>,
        values: &[Value],
        state: u16,
        row: &mut Vec<u8>,
    ) -> Result<ReadSample, Unread> {
        let samples = match self.samples.take() {
            Some(samples) => samples,
            None => self.begin(message, &Schemas::new())?,
        };
        let samples = self.samples.insert(samples);
        value::write_row(&samples.recorded.probe_type, values, row);
        if row.len() > MAX_ROW {
            return Err(Unread::Row(row.len()));
        }
        let sequence = samples.number(message.sequence);
        let lost = self.end_hole(sequence);
        Ok(ReadSample { head: Head { time: message.log_time, sequence, state }, lost })
    }

    fn json(
        &mut self,
        message: &Message<'_>,
        schemas: &Schemas,
        row: &mut Vec<u8>,
    ) -> Result<ReadSample, Unread> {
        let content = unique::parse(message.data)?;
        if !content.is_object() {
            values::sample(&[], message.data, &content)?;
        }
        let samples = match self.samples.take() {
            Some(samples) => samples,
            None => self.begin(message, schemas)?,
        };
        let samples = self.samples.insert(samples);
        let probe_type = samples.recorded.probe_type.clone();
        let (metrics, absent) = match &self.from {
            From::Json { content: JsonContent::Typed { absent: Some(absent), .. }, .. } => {
                (probe_type.metrics.split_last().map_or(&[][..], |(_, metrics)| metrics), Some(absent))
            }
            _ => (&probe_type.metrics[..], None),
        };
        let (mut values, differences) = values::sample(metrics, message.data, &content)?;
        values.extend(absent.map(|absent| absent.value(metrics, &differences.absent)));
        value::write_row(&probe_type, &values, row);
        if row.len() > MAX_ROW {
            return Err(Unread::Row(row.len()));
        }
        self.fields.add(&differences);
        let is_ours = matches!(self.from, From::Oasis { .. });
        let sequence = if is_ours { samples.number(message.sequence) } else { self.next_sequence() };
        let state = content.get("oasis.state").filter(|_| is_ours).and_then(Json::as_u64);
        let state = state.and_then(|state| u16::try_from(state).ok()).unwrap_or(0);
        let lost = self.end_hole(sequence);
        Ok(ReadSample { head: Head { time: message.log_time, sequence, state }, lost })
    }

    /// The number of the next sample of another program: messages in damaged chunks count.
    fn next_sequence(&self) -> u64 {
        let last = self.samples.as_ref().map_or(0, |samples| samples.last_sequence);
        last.saturating_add(self.hole).saturating_add(1)
    }

    fn binary(
        &mut self,
        message: &Message<'_>,
        encoding: Binary,
        schema: &Described,
        row: &mut Vec<u8>,
    ) -> Result<ReadSample, Unread> {
        let (metrics, unstored, fields) = schema.decode(encoding, message.data, row)?;
        if unstored > 0 {
            self.unstored.0 += unstored;
            self.unstored.1 = fields.join(", ");
        }
        if self.samples.is_none() {
            let probe_type = infer::described(&schema.name, metrics.to_vec());
            if probe_type.metrics.is_empty() {
                return Err(NoMetrics::Nothing.into());
            }
            probe_type.validate()?;
            self.samples = Some(Samples::new(self.foreign(message, probe_type), 0)?);
        }
        let sequence = self.next_sequence();
        let lost = self.end_hole(sequence);
        Ok(ReadSample { head: Head { time: message.log_time, sequence, state: 0 }, lost })
    }

    fn begin(&self, message: &Message<'_>, schemas: &Schemas) -> Result<Samples, Unread> {
        Ok(match &self.from {
            From::Oasis { recorded, first_sequence, .. } => {
                Samples::new(recorded.clone(), first_sequence.wrapping_sub(1))?
            }
            From::Json { content: JsonContent::Unknown | JsonContent::Surveyed(_), .. } => {
                return Err(NoMetrics::of(message.data).into());
            }
            From::Json { schema, content: JsonContent::Typed { typing, .. } } => {
                let name = schemas.get(schema).map_or(&self.topic, |described| &described.name);
                let probe_type = infer::described(name, typing.metrics.clone());
                if probe_type.metrics.is_empty() {
                    return Err(NoMetrics::of(message.data).into());
                }
                probe_type.validate()?;
                Samples::new(self.foreign(message, probe_type), 0)?
            }
            From::Binary { .. } => return Err(Unread::NoSchema),
            From::Other(encoding) => return Err(Unread::Encoding(encoding.clone())),
        })
    }

    /// The source of messages of another program, of which this is the first one.
    fn foreign(&self, message: &Message<'_>, probe_type: ProbeType) -> RecordedSeries {
        // Deterministic, so that a second import recognizes the samples; the numbers of the messages may all be 0.
        let mut identity = self.topic.clone().into_bytes();
        identity.extend_from_slice(&message.log_time.to_le_bytes());
        identity.extend_from_slice(message.data);
        if self.earlier > 0 {
            identity.extend_from_slice(&self.earlier.to_le_bytes());
        }
        RecordedSeries {
            node: None,
            instance: self.instance.clone(),
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
        node: Some(without_controls(get("node")?).into()),
        instance: without_controls(get("instance")?).into(),
        kind: serde_json::from_value(get("kind")?.into()).ok()?,
        run: get("run")?.parse().ok()?,
        probe_type: Arc::new(probe_type),
    };
    Some((recorded, get("first_sequence")?.parse().ok()?))
}
