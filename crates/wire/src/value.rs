//! The values of one sample: the packed row that probes write, and values decoded by schema.

use crate::{
    absence::{self, ValuePath},
    reader::{Malformed, Reader},
    schema::{Blob, Metric, MetricType, ProbeType},
    varint,
};
use alloc::{string::String, vec::Vec};
use serde_json::{Map, Number};

/// Writes a packed row: the metrics in order, little-endian, without alignment (`docs/reference/native-batch.md`, "rows").
#[derive(Debug)]
pub struct RowWriter<'a>(&'a mut Vec<u8>);

macro_rules! fixed {
    ($($name:ident: $kind:ty),*) => {
        $(
            #[doc = concat!("Appends a `", stringify!($kind), "`.")]
            #[inline]
            pub fn $name(&mut self, value: $kind) {
                self.0.extend_from_slice(&value.to_le_bytes());
            }
        )*
    };
}

impl<'a> RowWriter<'a> {
    /// Appends to `row`.
    pub fn new(row: &'a mut Vec<u8>) -> Self {
        Self(row)
    }

    fixed!(u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f32: f32, f64: f64);

    /// Appends packed values.
    #[inline]
    pub fn packed(&mut self, values: &[u8]) {
        self.0.extend_from_slice(values);
    }

    /// Appends a boolean: one byte.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.0.push(value.into());
    }

    /// Appends text: its length in bytes, then UTF-8.
    #[inline]
    pub fn string(&mut self, value: &str) {
        varint::put(value.len() as u64, self.0);
        self.0.extend_from_slice(value.as_bytes());
    }

    /// Appends a blob: its length in bytes, then the bytes.
    #[inline]
    pub fn blob(&mut self, value: &[u8]) {
        varint::put(value.len() as u64, self.0);
        self.0.extend_from_slice(value);
    }

    /// Begins a vector; its elements follow.
    #[inline]
    pub fn vector(&mut self, elements: usize) {
        varint::put(elements as u64, self.0);
    }
}

/// A value of any PDL type.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Int(i64),
    Uint(u64),
    Real32(f32),
    Real64(f64),
    Boolean(bool),
    String(String),
    Vector(Vec<Value>),
    Struct(Vec<Value>),
    Blob(Vec<u8>),
}

/// Reads one packed value. Nesting was bounded when the schema was checked ([`ProbeType::validate`]).
pub fn read(kind: &MetricType, from: &mut Reader<'_>) -> Result<Value, Malformed> {
    Ok(match kind {
        MetricType::Int8 => Value::Int(i8::from_le_bytes(from.array()?).into()),
        MetricType::Int16 => Value::Int(i16::from_le_bytes(from.array()?).into()),
        MetricType::Int32 => Value::Int(i32::from_le_bytes(from.array()?).into()),
        MetricType::Int64 => Value::Int(i64::from_le_bytes(from.array()?)),
        MetricType::Uint8 => Value::Uint(u8::from_le_bytes(from.array()?).into()),
        MetricType::Uint16 => Value::Uint(u16::from_le_bytes(from.array()?).into()),
        MetricType::Uint32 => Value::Uint(u32::from_le_bytes(from.array()?).into()),
        MetricType::Uint64 => Value::Uint(u64::from_le_bytes(from.array()?)),
        MetricType::Real32 => Value::Real32(f32::from_le_bytes(from.array()?)),
        MetricType::Real64 => Value::Real64(f64::from_le_bytes(from.array()?)),
        MetricType::Boolean => Value::Boolean(from.boolean()?),
        MetricType::String => Value::String(from.text()?.into()),
        MetricType::Vector(element) => {
            let count = from.count()?;
            Value::Vector((0..count).map(|_| read(element, from)).collect::<Result<_, _>>()?)
        }
        MetricType::Struct(of) => {
            Value::Struct(of.members.iter().map(|member| read(&member.kind, from)).collect::<Result<_, _>>()?)
        }
        MetricType::Blob(of) => Value::Blob(from.blob(of.max_bytes)?.into()),
    })
}

/// Packs one value of this type. A value of another type, which readers never return, is packed as zero.
pub fn write(kind: &MetricType, value: &Value, to: &mut RowWriter<'_>) {
    let int = if let Value::Int(value) = value { *value } else { 0 };
    let uint = if let Value::Uint(value) = value { *value } else { 0 };
    match (kind, value) {
        (MetricType::Int8, _) => to.i8(int as i8),
        (MetricType::Int16, _) => to.i16(int as i16),
        (MetricType::Int32, _) => to.i32(int as i32),
        (MetricType::Int64, _) => to.i64(int),
        (MetricType::Uint8, _) => to.u8(uint as u8),
        (MetricType::Uint16, _) => to.u16(uint as u16),
        (MetricType::Uint32, _) => to.u32(uint as u32),
        (MetricType::Uint64, _) => to.u64(uint),
        (MetricType::Real32, value) => to.f32(if let Value::Real32(value) = value { *value } else { 0.0 }),
        (MetricType::Real64, value) => to.f64(if let Value::Real64(value) = value { *value } else { 0.0 }),
        (MetricType::Boolean, value) => to.boolean(*value == Value::Boolean(true)),
        (MetricType::String, value) => to.string(if let Value::String(text) = value { text } else { "" }),
        (MetricType::Vector(element), Value::Vector(elements)) => {
            to.vector(elements.len());
            elements.iter().for_each(|value| write(element, value, to));
        }
        (MetricType::Vector(_), _) => to.vector(0),
        (MetricType::Struct(of), value) => {
            let members: &[Value] = if let Value::Struct(members) = value { members } else { &[] };
            let missing = Value::Boolean(false);
            let values = members.iter().chain(core::iter::repeat(&missing));
            of.members.iter().zip(values).for_each(|(member, value)| write(&member.kind, value, to));
        }
        (MetricType::Blob(_), value) => to.blob(if let Value::Blob(bytes) = value { bytes } else { &[] }),
    }
}

/// Replaces the content of `row` by the packed row of a sample of this type, and keeps its memory.
pub fn write_row(probe_type: &ProbeType, values: &[Value], row: &mut Vec<u8>) {
    row.clear();
    let mut to = RowWriter::new(row);
    probe_type.metrics.iter().zip(values).for_each(|(metric, value)| write(&metric.kind, value, &mut to));
}

/// Checks and skips one packed value.
pub fn skip(kind: &MetricType, from: &mut Reader<'_>) -> Result<(), Malformed> {
    match kind {
        MetricType::Boolean => from.boolean().map(drop),
        MetricType::String => from.text().map(drop),
        MetricType::Vector(element) => (0..from.count()?).try_for_each(|_| skip(element, from)),
        MetricType::Struct(of) => of.members.iter().try_for_each(|member| skip(&member.kind, from)),
        MetricType::Blob(of) => from.blob(of.max_bytes).map(drop),
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Real32
        | MetricType::Real64 => from.take(kind.fixed_width().unwrap_or(0)).map(drop),
    }
}

/// A sample as JSON. NaN and the infinities, which JSON lacks, become strings; what the sample [lacks](crate::absence) is null.
pub fn to_json(probe_type: &ProbeType, values: &[Value]) -> Map<String, serde_json::Value> {
    let mut object = members_to_json(&probe_type.metrics, values);
    for place in absence::in_sample(probe_type, values) {
        make_null(&mut object, &probe_type.metrics, &place);
    }
    object
}

/// As [`value_to_json`], with null at these [places](crate::absence) within the value.
pub fn value_to_json_without(kind: &MetricType, value: &Value, places: &[ValuePath]) -> serde_json::Value {
    let mut json = value_to_json(kind, value);
    places.iter().for_each(|place| make_value_null(&mut json, kind, place));
    json
}

fn make_null(object: &mut Map<String, serde_json::Value>, members: &[Metric], place: &[usize]) {
    let Some((first, rest)) = place.split_first() else { return };
    let Some(member) = members.get(*first) else { return };
    if let Some(value) = object.get_mut(&member.name) {
        make_value_null(value, &member.kind, rest);
    }
}

fn make_value_null(value: &mut serde_json::Value, kind: &MetricType, place: &[usize]) {
    match (place.split_first(), value, kind) {
        (None, value, _) => *value = serde_json::Value::Null,
        (_, serde_json::Value::Object(object), MetricType::Struct(of)) => {
            make_null(object, &of.members, place)
        }
        (Some((index, rest)), serde_json::Value::Array(elements), MetricType::Vector(element)) => {
            if let Some(value) = elements.get_mut(*index) {
                make_value_null(value, element, rest);
            }
        }
        // Within something that is null already.
        _ => {}
    }
}

fn members_to_json(members: &[Metric], values: &[Value]) -> Map<String, serde_json::Value> {
    members
        .iter()
        .zip(values)
        .map(|(member, value)| (member.name.clone(), value_to_json(&member.kind, value)))
        .collect()
}

/// One value as JSON. NaN and the infinities, which JSON lacks, become strings.
pub fn value_to_json(kind: &MetricType, value: &Value) -> serde_json::Value {
    match (value, kind) {
        (Value::Int(value), _) => (*value).into(),
        (Value::Uint(value), _) => (*value).into(),
        // Through its shortest text, so that 0.1 stays 0.1.
        (Value::Real32(value), _) => {
            real_to_json(alloc::format!("{value}").parse().unwrap_or_else(|_| f64::from(*value)))
        }
        (Value::Real64(value), _) => real_to_json(*value),
        (Value::Boolean(value), _) => (*value).into(),
        (Value::String(value), _) => value.as_str().into(),
        (Value::Vector(elements), MetricType::Vector(element)) => {
            elements.iter().map(|value| value_to_json(element, value)).collect()
        }
        (Value::Struct(members), MetricType::Struct(of)) => members_to_json(&of.members, members).into(),
        (Value::Blob(bytes), MetricType::Blob(of)) => blob_to_json(*of, bytes.len()),
        (Value::Vector(_) | Value::Struct(_) | Value::Blob(_), _) => serde_json::Value::Null,
    }
}

/// A blob as JSON: its format and its size. Text of its bytes would take a third more than them, in each reader of every JSON door.
fn blob_to_json(of: Blob, bytes: usize) -> serde_json::Value {
    let members = [("media_type", of.media_type.name().into()), ("bytes", bytes.into())];
    members.into_iter().map(|(name, value): (&str, serde_json::Value)| (String::from(name), value)).collect()
}

fn real_to_json(value: f64) -> serde_json::Value {
    match (Number::from_f64(value), real_word(value)) {
        (Some(number), _) => number.into(),
        (None, word) => word.into(),
    }
}

/// The word for NaN and the infinities, which JSON lacks.
pub fn real_word(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_finite() => None,
        _ if value.is_nan() => Some("NaN"),
        _ if value > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}
