//! The schema of a probe type, which travels with registration.
//!
//! The JSON form of [`ProbeType`] is the contract between a node, the DAC and every tool; it is described in
//! `docs/reference/schema.md`. Nothing downstream needs to be recompiled for a new probe.

use crate::quantity::DemandRange;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use uuid::Uuid;

/// A concrete probe type of the PDL, flattened: the metrics of its bases come first, in declaration order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeType {
    /// Scoped PDL name, such as `OASIS::System::LinuxProcessorProbe`.
    pub name: String,
    /// The type's identity on the wire.
    pub uuid: Uuid,
    /// `major.minor` as written in the PDL; `1.0` without a version.
    pub version: String,
    /// `///` documentation, without the slashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// The rate policy, if its author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The metrics of one sample, in wire order.
    pub metrics: Vec<Metric>,
}

/// Choice of the sampling rate of a probe (the PDL attribute `rate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Its readers choose between these rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<DemandRange>,
}

/// One named value of a sample (or one member of a struct).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// PDL identifier.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MetricType,
    /// `///` documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// UCUM unit, such as `By` or `ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Behavior of the value over time: `counter`, `gauge`, `state` or `event`.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "kind")]
    pub behavior: Option<Behavior>,
    /// Display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The enum that an integer carries, or the elements of a vector of integers.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "enum")]
    pub enumeration: Option<EnumType>,
    /// Least value. This and the following apply to each element of a vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Values that raise a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<Threshold>,
    /// Values that raise an alarm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm: Option<Threshold>,
}

impl Metric {
    /// Creates a metric with only a name and a type.
    pub fn new(name: impl Into<String>, kind: MetricType) -> Self {
        Self {
            name: name.into(),
            kind,
            doc: None,
            unit: None,
            behavior: None,
            label: None,
            enumeration: None,
            min: None,
            max: None,
            warn: None,
            alarm: None,
        }
    }

    fn memory_bytes(&self) -> usize {
        let texts = [&self.doc, &self.unit, &self.label].map(|text| length(text.as_ref()));
        let enumerators = self.enumeration.iter().flat_map(|of| &of.values);
        let enumeration: usize = enumerators
            .map(|value| size_of::<Enumerator>() + value.name.len() + length(value.doc.as_ref()))
            .sum();
        let thresholds = [&self.warn, &self.alarm].into_iter().flatten();
        let values: usize = thresholds.map(|threshold| threshold.values.len() * size_of::<i64>()).sum();
        let own = size_of::<Self>() + self.name.len() + texts.iter().sum::<usize>();
        own + enumeration + values + self.kind.memory_bytes()
    }
}

fn length(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

/// Matches a value that is below, above or one of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Number>,
    /// More than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<Number>,
    /// One of these numbers of the enum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
}

/// A PDL `enum`. On the wire its values are integers, so that a reader that does not know it has numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnumType {
    /// Scoped PDL name.
    pub name: String,
    /// In declaration order, no two with the same number.
    pub values: Vec<Enumerator>,
}

/// One value of an enum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enumerator {
    /// PDL identifier.
    pub name: String,
    /// Its number on the wire, of at most 32 bits.
    pub value: i64,
    /// `///` documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
}

/// Behavior of a metric over time (the PDL attribute `kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// Only grows (until it wraps or its source restarts); usually shown as a rate.
    Counter,
    /// Goes up and down.
    Gauge,
    /// One of a few values that change seldom.
    State,
    /// Each sample reports an occurrence.
    Event,
}

/// The types of the PDL. In JSON: `"uint64"`, `{"vector": "real32"}`, `{"struct": {"name": …, "members": […]}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum MetricType {
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Real32,
    Real64,
    Boolean,
    /// UTF-8 text.
    String,
    /// Any number of elements of one type.
    Vector(alloc::boxed::Box<MetricType>),
    /// Members in order.
    Struct(StructType),
    /// A file as bytes, such as an image. Only a whole metric can be one.
    Blob(Blob),
}

/// The type of a metric that is a file: `{"blob": {"media_type": "image/jpeg", "max_bytes": 262144}}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Format of the file.
    pub media_type: MediaType,
    /// Largest value, in bytes: from 1 to [`MAX_BLOB_BYTES`]. A sample with more is refused.
    pub max_bytes: u32,
}

/// Formats of files that can be samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MediaType {
    /// JFIF or Exif.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// Portable Network Graphics.
    #[serde(rename = "image/png")]
    Png,
}

impl MediaType {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Jpeg, Self::Png];

    /// Returns the name in PDL and in the schema, as IANA registers it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the name within `image/`.
    pub const fn subtype(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
        }
    }
}

impl Blob {
    /// Returns whether a value of this many bytes is allowed.
    pub fn holds(&self, bytes: usize) -> bool {
        u32::try_from(bytes).is_ok_and(|bytes| bytes <= self.max_bytes)
    }
}

/// Bound of a blob whose declaration has none, in bytes.
pub const DEFAULT_BLOB_BYTES: u32 = 256 * 1024;

/// Largest bound of a blob, in bytes: a row of a node has at most 512 KiB, for the other metrics too, and a batch at most 1 MiB.
pub const MAX_BLOB_BYTES: u32 = 480 * 1024;

/// A PDL `struct`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StructType {
    /// Scoped PDL name.
    pub name: String,
    /// Members in declaration order.
    pub members: Vec<Metric>,
}

/// Errors of a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidType {
    /// Vectors and structs inside one another beyond [`MAX_DEPTH`].
    #[error("metric {0:?} nests vectors and structs deeper than {MAX_DEPTH}")]
    TooDeep(String),
    /// More metrics than a batch has columns, or too many members in total.
    #[error("{0} metrics and struct members: at most {MAX_MEMBERS} are allowed")]
    TooMany(usize),
    /// A vector of structs without members: any number of them would take no bytes.
    #[error("metric {0:?} is a vector of empty structs")]
    VectorOfNothing(String),
    /// A blob within a vector or a struct.
    #[error("metric {0:?} has a blob within a vector or a struct: declare it as a metric of its own")]
    NestedBlob(String),
    /// A blob without a bound, or with one beyond [`MAX_BLOB_BYTES`].
    #[error("metric {0:?} has blobs of up to {1} bytes: from 1 to {MAX_BLOB_BYTES} are allowed")]
    BlobBound(String, u32),
}

/// Deepest nesting of vectors and structs.
pub const MAX_DEPTH: usize = 16;

/// The columns that a table of samples has before those of the metrics (`docs/reference/tables.md`). A metric with one of these names, whatever
/// its case, becomes a column with a number, such as `time_2`.
pub const SAMPLE_COLUMNS: [&str; 9] =
    ["node", "instance", "run", "epoch", "offset", "sequence", "time", "time_ns", "state"];

/// The metric, a vector of text, that lists the columns of a sample that are absent: a recording or another protocol did not have them, or had them as
/// null. Columns of members are named `METRIC.MEMBER`. The metrics themselves have a placeholder then.
pub const ABSENT: &str = "oasis.absent";

/// Most metrics of a probe type, members of structs included.
pub const MAX_MEMBERS: usize = 65_534;

impl ProbeType {
    /// Returns the index of the metric [`ABSENT`]; `None` if all values of samples are there.
    pub fn absent_metric(&self) -> Option<usize> {
        self.metrics.iter().position(|metric| {
            let is_list = matches!(&metric.kind, MetricType::Vector(of) if **of == MetricType::String);
            metric.name == ABSENT && is_list
        })
    }

    /// Returns the rates between which its readers choose, if its author permits that.
    pub fn demand(&self) -> Option<DemandRange> {
        self.rate.and_then(|rate| rate.demand)
    }

    /// Returns the memory that it takes, in bytes: small JSON can have many times its size in memory.
    pub fn memory_bytes(&self) -> usize {
        let text = self.name.len() + self.version.len() + length(self.doc.as_ref());
        size_of::<Self>() + text + self.metrics.iter().map(Metric::memory_bytes).sum::<usize>()
    }

    /// Checks the properties that codecs rely on. A schema from outside must pass before it decodes anything.
    pub fn validate(&self) -> Result<(), InvalidType> {
        let mut members = self.metrics.len();
        for metric in &self.metrics {
            metric.kind.validate(&metric.name, 0, &mut members)?;
        }
        if members > MAX_MEMBERS { Err(InvalidType::TooMany(members)) } else { Ok(()) }
    }
}

impl MetricType {
    fn validate(&self, metric: &str, depth: usize, members: &mut usize) -> Result<(), InvalidType> {
        if depth > MAX_DEPTH {
            return Err(InvalidType::TooDeep(metric.into()));
        }
        match self {
            Self::Vector(element) if element.is_empty() => Err(InvalidType::VectorOfNothing(metric.into())),
            Self::Vector(element) => element.validate(metric, depth + 1, members),
            Self::Struct(of) => {
                *members += of.members.len();
                of.members.iter().try_for_each(|member| member.kind.validate(metric, depth + 1, members))
            }
            Self::Blob(_) if depth > 0 => Err(InvalidType::NestedBlob(metric.into())),
            Self::Blob(of) if of.max_bytes == 0 || of.max_bytes > MAX_BLOB_BYTES => {
                Err(InvalidType::BlobBound(metric.into(), of.max_bytes))
            }
            Self::Blob(_) => Ok(()),
            Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::Int64
            | Self::Uint8
            | Self::Uint16
            | Self::Uint32
            | Self::Uint64
            | Self::Real32
            | Self::Real64
            | Self::Boolean
            | Self::String => Ok(()),
        }
    }

    /// Bytes of memory besides its own.
    fn memory_bytes(&self) -> usize {
        match self {
            Self::Vector(element) => size_of::<Self>() + element.memory_bytes(),
            Self::Struct(of) => of.name.len() + of.members.iter().map(Metric::memory_bytes).sum::<usize>(),
            _ => 0,
        }
    }

    /// Returns the type of the elements of a vector.
    pub fn element(&self) -> Option<&Self> {
        if let Self::Vector(element) = self { Some(element) } else { None }
    }

    /// Whether its values are whole numbers.
    pub fn is_integer(&self) -> bool {
        self.primitive().is_some_and(|primitive| primitive.integers().is_some())
    }

    /// Whether a value takes no bytes at all.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Struct(of) if of.members.iter().all(|member| member.kind.is_empty()))
    }

    /// Bytes of one value in a plain column, or `None` for types that only have a row encoding.
    pub fn fixed_width(&self) -> Option<usize> {
        self.primitive()?.row().bytes
    }
}
