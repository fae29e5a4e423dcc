//! Encodes a sample as a message of its descriptor.

use super::{
    descriptor_writer::{can_be_enum, field_number},
    wire_writer::{bytes, fixed32, fixed64, number, varint},
};
use crate::message_types::is_empty;
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};

/// The field with the elements of a vector within a vector.
const ELEMENTS: u32 = 1;

/// Replaces the content of `message` by a sample and the state of its probe.
pub fn encode(probe_type: &ProbeType, state: u16, values: &[Value], message: &mut Vec<u8>) {
    message.clear();
    let fields = members(&probe_type.metrics, values, message);
    if state != 0 {
        number(field_number(fields), state.into(), message);
    }
}

/// Appends members. Returns the number of their fields.
fn members(metrics: &[Metric], values: &[Value], to: &mut Vec<u8>) -> usize {
    let fields = metrics.iter().zip(values).filter(|(metric, _)| !is_empty(&metric.kind));
    let mut count = 0;
    for (at, (metric, value)) in fields.enumerate() {
        count = at + 1;
        let is_enum = metric.enumeration.is_some();
        match (&metric.kind, value) {
            (MetricType::Vector(element), Value::Vector(elements)) => {
                vector(field_number(at), element, is_enum, elements, to);
            }
            (kind, value) => single(field_number(at), kind, is_enum, value, to),
        }
    }
    count
}

/// Appends a field, unless its value is the default of its type.
fn single(field: u32, kind: &MetricType, is_enum: bool, value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Struct(_) | Value::Vector(_) => bytes(field, &message(kind, value), to),
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => bytes(field, text.as_bytes(), to),
        Value::Blob(content) if content.is_empty() => {}
        Value::Blob(content) => bytes(field, content, to),
        // The sign of -0.0 is no default.
        Value::Real32(real) if real.to_bits() == 0 => {}
        Value::Real32(real) => fixed32(field, real.to_le_bytes(), to),
        Value::Real64(real) if real.to_bits() == 0 => {}
        Value::Real64(real) => fixed64(field, real.to_le_bytes(), to),
        Value::Int(_) | Value::Uint(_) | Value::Boolean(_) => match integer(kind, is_enum, value) {
            0 => {}
            integer => number(field, integer, to),
        },
    }
}

fn vector(field: u32, element: &MetricType, is_enum: bool, elements: &[Value], to: &mut Vec<u8>) {
    if elements.is_empty() {
        return;
    }
    match element {
        MetricType::String => {
            for value in elements {
                let text = if let Value::String(text) = value { text.as_bytes() } else { &[] };
                bytes(field, text, to);
            }
        }
        MetricType::Vector(_) | MetricType::Struct(_) => {
            elements.iter().for_each(|value| bytes(field, &message(element, value), to));
        }
        MetricType::Int8
        | MetricType::Int16
        | MetricType::Int32
        | MetricType::Int64
        | MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean => bytes(field, &packed(element, is_enum, elements), to),
        // A blob is no element.
        MetricType::Blob(_) => {}
    }
}

/// A struct, or a vector within a vector.
fn message(kind: &MetricType, value: &Value) -> Vec<u8> {
    let mut message = Vec::new();
    match (kind, value) {
        (MetricType::Struct(of), Value::Struct(values)) => {
            members(&of.members, values, &mut message);
        }
        (MetricType::Vector(element), Value::Vector(elements)) => {
            vector(ELEMENTS, element, false, elements, &mut message);
        }
        // Samples match their type.
        _ => {}
    }
    message
}

fn packed(kind: &MetricType, is_enum: bool, elements: &[Value]) -> Vec<u8> {
    let mut packed = Vec::new();
    // The field is `bytes`.
    let has_bytes = *kind == MetricType::Uint8 && !is_enum;
    for value in elements {
        match value {
            Value::Real32(real) => packed.extend_from_slice(&real.to_le_bytes()),
            Value::Real64(real) => packed.extend_from_slice(&real.to_le_bytes()),
            Value::Uint(uint) if has_bytes => packed.push(*uint as u8),
            value => varint(integer(kind, is_enum, value), &mut packed),
        }
    }
    packed
}

/// The varint of an integer or a boolean: `sint64` for signed ones, `int32` for enums.
fn integer(kind: &MetricType, is_enum: bool, value: &Value) -> u64 {
    match value {
        Value::Int(int) if is_enum && can_be_enum(kind) => *int as u64,
        Value::Int(int) => (int << 1 ^ int >> 63) as u64,
        Value::Uint(uint) => *uint,
        Value::Boolean(boolean) => (*boolean).into(),
        _ => 0,
    }
}
