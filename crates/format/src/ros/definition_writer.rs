//! Writes the text of a schema in the encoding `ros2msg` (<https://mcap.dev/spec/registry#ros2msg>).

use crate::message_types::{FieldKind, MessageField, MessageTypes};
use oasis_wire::schema::MetricType;
use std::{collections::HashSet, fmt::Write};

/// The line between two messages.
const SEPARATOR: &str = "================================================================================";

/// Returns the definitions of all messages: that of a sample, then those that its fields name.
pub fn definition(types: &MessageTypes) -> String {
    let mut text = String::new();
    for (at, message) in types.all.iter().enumerate() {
        if at > 0 {
            let _ = writeln!(text, "{SEPARATOR}\nMSG: {}", types.full_name(at, "/"));
        }
        let mut named = HashSet::new();
        for field in &message.fields {
            // Viewers show the names of constants that precede a field.
            if let Some(at) = field.enumeration.filter(|at| named.insert(*at)) {
                constants(types, field, at, &mut text);
            }
            let brackets = if field.is_repeated { "[]" } else { "" };
            let _ = write!(text, "{}{brackets} {}", kind(types, &field.kind), field.name);
            let _ = match field.unit.as_deref().filter(|unit| !unit.contains(char::is_control)) {
                Some(unit) => writeln!(text, " # {unit}"),
                None => writeln!(text),
            };
        }
    }
    text
}

fn constants(types: &MessageTypes, field: &MessageField, at: usize, text: &mut String) {
    let (FieldKind::Scalar(scalar), Some(of)) = (&field.kind, types.enums.get(at)) else { return };
    for (name, value) in of.values.iter().filter(|(_, value)| fits(scalar, *value)) {
        let _ = writeln!(text, "{} {name}={value}", kind(types, &field.kind));
    }
}

fn kind(types: &MessageTypes, kind: &FieldKind) -> String {
    let scalar = match kind {
        FieldKind::Message(at) => return types.full_name(*at, "/"),
        FieldKind::Scalar(scalar) => scalar,
    };
    match scalar {
        MetricType::Int8 => "int8",
        MetricType::Int16 => "int16",
        MetricType::Int32 => "int32",
        MetricType::Int64 => "int64",
        MetricType::Uint8 => "uint8",
        MetricType::Uint16 => "uint16",
        MetricType::Uint32 => "uint32",
        MetricType::Uint64 => "uint64",
        MetricType::Real32 => "float32",
        MetricType::Real64 => "float64",
        MetricType::Boolean => "bool",
        MetricType::Blob(_) => "uint8[]",
        // Vectors and structs are no scalars.
        MetricType::String | MetricType::Vector(_) | MetricType::Struct(_) => "string",
    }
    .to_owned()
}

/// Whether a number is one of a type.
fn fits(kind: &MetricType, value: i64) -> bool {
    match kind {
        MetricType::Int8 => i8::try_from(value).is_ok(),
        MetricType::Int16 => i16::try_from(value).is_ok(),
        MetricType::Int32 => i32::try_from(value).is_ok(),
        MetricType::Uint8 => u8::try_from(value).is_ok(),
        MetricType::Uint16 => u16::try_from(value).is_ok(),
        MetricType::Uint32 => u32::try_from(value).is_ok(),
        MetricType::Uint64 => value >= 0,
        MetricType::Int64
        | MetricType::Real32
        | MetricType::Real64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Vector(_)
        | MetricType::Struct(_)
        | MetricType::Blob(_) => true,
    }
}
