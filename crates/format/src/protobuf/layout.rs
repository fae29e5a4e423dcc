//! The fields of a message type, and the metrics that are made of them.

use super::{
    default_value,
    descriptor::{Field, Types},
    wire::BadWire,
};
use crate::{input::FieldBudget, visible::shortened};
use oasis_wire::schema::{EnumType, Enumerator, MAX_DEPTH, MAX_MEMBERS, Metric, MetricType, StructType};

/// `TYPE_ENUM` of `descriptor.proto`.
const ENUM: u64 = 14;
/// Longest declared default.
const MAX_DEFAULT_BYTES: usize = 64 << 10;
/// Fields without a metric that a report names.
const MAX_NAMED_FIELDS: usize = 10;

/// A descriptor that messages cannot be decoded with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDescriptor {
    /// Not a `FileDescriptorSet`.
    #[error("its FileDescriptorSet is {0}")]
    Wire(#[from] BadWire),
    /// A type that the set does not define.
    #[error("its FileDescriptorSet lacks the type {0:?}")]
    Undefined(String),
    /// Too many fields.
    #[error(
        "a message has more than {MAX_MEMBERS} fields, those of nested messages included, or too long names"
    )]
    Many,
    /// A declared default of another type.
    #[error("the field {0:?} has a default that is none of its type")]
    Default(String),
    /// A group, or a type of a later version.
    #[error("the field {0:?} has a type that is not supported")]
    Unsupported(String),
}

/// The fields of a message type.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub(super) fields: Vec<LaidOut>,
    /// Fields, those of nested messages included.
    pub count: usize,
    /// A metric for each field with a value.
    pub metrics: Vec<Metric>,
    /// Fields without a metric: messages within themselves, nested too deep, or without fields.
    pub unstored: Vec<String>,
}

/// A field with its number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LaidOut {
    pub number: u32,
    pub kind: Kind,
    pub is_repeated: bool,
    /// The packed value of a message without the field.
    pub default: Vec<u8>,
    /// The oneof of the field, of whose members a message has one.
    pub oneof: Option<u64>,
}

/// The encoding of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Double,
    Float,
    /// Signed, with the number of bits.
    Int(u8),
    Uint(u8),
    ZigZag(u8),
    /// Little-endian bytes, as in a row.
    Fixed32,
    Fixed64,
    Boolean,
    Text,
    Bytes,
    Message(Vec<LaidOut>),
    /// A message within itself, or nested too deep: no value.
    Recursive,
}

impl Layout {
    /// Reads a descriptor; `name` is that of the message type.
    ///
    /// # Errors
    /// If it is invalid, incomplete, or beyond a bound.
    pub fn read(name: &str, set: &[u8]) -> Result<Self, BadDescriptor> {
        let types = Types::read(set)?;
        let full = format!(".{}", name.trim_start_matches('.'));
        let mut reading =
            Reading { types: &types, budget: FieldBudget::new(), within: Vec::new(), unstored: Vec::new() };
        let (fields, metrics) = reading.message(&full, 0)?;
        Ok(Self { fields, count: reading.budget.used(), metrics, unstored: reading.unstored })
    }
}

struct Reading<'a> {
    types: &'a Types,
    budget: FieldBudget,
    /// The messages around a field.
    within: Vec<String>,
    unstored: Vec<String>,
}

impl Reading<'_> {
    fn message(&mut self, name: &str, depth: usize) -> Result<(Vec<LaidOut>, Vec<Metric>), BadDescriptor> {
        let types = self.types;
        let fields = types.messages.get(name).ok_or_else(|| BadDescriptor::Undefined(shortened(name)))?;
        if !self.budget.take_name(name) || !fields.iter().all(|field| self.budget.take_field(&field.name)) {
            return Err(BadDescriptor::Many);
        }
        self.within.push(name.to_owned());
        let (mut laid_out, mut metrics) = (Vec::new(), Vec::new());
        for field in fields {
            let (kind, of) = self.field(field, depth)?;
            if of.is_none() && self.unstored.len() < MAX_NAMED_FIELDS {
                self.unstored.push(shortened(&field.name));
            }
            if let Some(of) = of {
                let of = if field.is_repeated { MetricType::Vector(Box::new(of)) } else { of };
                metrics.push(Metric {
                    unit: unit(name, &field.name),
                    enumeration: self.enumeration(field)?,
                    ..Metric::new(field.name.as_str(), of)
                });
            }
            let enumerators = self.types.enums.get(&field.type_name).filter(|_| field.kind == ENUM);
            let default = default_value::packed(&kind, field, enumerators.map(Vec::as_slice));
            let default = default.ok_or_else(|| BadDescriptor::Default(shortened(&field.name)))?;
            if default.len() > MAX_DEFAULT_BYTES {
                return Err(BadDescriptor::Many);
            }
            let is_repeated = field.is_repeated;
            laid_out.push(LaidOut { number: field.number, kind, is_repeated, default, oneof: field.oneof });
        }
        self.within.pop();
        Ok((laid_out, metrics))
    }

    /// Returns encoding and type of one value; no type if it has no value.
    fn field(&mut self, field: &Field, depth: usize) -> Result<(Kind, Option<MetricType>), BadDescriptor> {
        let (kind, of) = match field.kind {
            1 => (Kind::Double, MetricType::Real64),
            2 => (Kind::Float, MetricType::Real32),
            3 => (Kind::Int(64), MetricType::Int64),
            4 => (Kind::Uint(64), MetricType::Uint64),
            5 | ENUM => (Kind::Int(32), MetricType::Int32),
            6 => (Kind::Fixed64, MetricType::Uint64),
            7 => (Kind::Fixed32, MetricType::Uint32),
            8 => (Kind::Boolean, MetricType::Boolean),
            9 => (Kind::Text, MetricType::String),
            11 => return self.nested(field, depth),
            12 => (Kind::Bytes, MetricType::Vector(Box::new(MetricType::Uint8))),
            13 => (Kind::Uint(32), MetricType::Uint32),
            15 => (Kind::Fixed32, MetricType::Int32),
            16 => (Kind::Fixed64, MetricType::Int64),
            17 => (Kind::ZigZag(32), MetricType::Int32),
            18 => (Kind::ZigZag(64), MetricType::Int64),
            _ => return Err(BadDescriptor::Unsupported(shortened(&field.name))),
        };
        Ok((kind, Some(of)))
    }

    fn nested(&mut self, field: &Field, depth: usize) -> Result<(Kind, Option<MetricType>), BadDescriptor> {
        let within = depth + 1 + usize::from(field.is_repeated);
        // Bytes in a message are a vector.
        if within >= MAX_DEPTH || self.within.contains(&field.type_name) {
            return Ok((Kind::Recursive, None));
        }
        let (fields, members) = self.message(&field.type_name, within)?;
        let name = field.type_name.trim_start_matches('.').replace('.', "::");
        let of = (!members.is_empty()).then_some(MetricType::Struct(StructType { name, members }));
        Ok((if of.is_some() { Kind::Message(fields) } else { Kind::Recursive }, of))
    }

    fn enumeration(&mut self, field: &Field) -> Result<Option<EnumType>, BadDescriptor> {
        let values = self.types.enums.get(&field.type_name).filter(|_| field.kind == ENUM);
        let Some(values) = values else { return Ok(None) };
        let mut known = std::collections::HashSet::new();
        let values = values.iter().filter(|(_, value)| known.insert(*value));
        let values =
            values.map(|(name, value)| Enumerator { name: name.clone(), value: (*value).into(), doc: None });
        let name = field.type_name.trim_start_matches('.').replace('.', "::");
        let of = EnumType { name, values: values.collect() };
        if self.budget.take_enum(&of) { Ok(Some(of)) } else { Err(BadDescriptor::Many) }
    }
}

/// The units of the types for times.
fn unit(message: &str, field: &str) -> Option<String> {
    match (message, field) {
        (".google.protobuf.Timestamp" | ".google.protobuf.Duration", "seconds") => Some("s".into()),
        (".google.protobuf.Timestamp" | ".google.protobuf.Duration", "nanos") => Some("ns".into()),
        _ => None,
    }
}
