//! Writes a `FileDescriptorSet` (`google/protobuf/descriptor.proto`) in the syntax `proto3`.

use super::wire_writer::{bytes, number};
use crate::message_types::{EnumNames, FieldKind, MessageField, MessageTypes};
use oasis_wire::schema::MetricType;

/// Numbers of fields from this one on, this many, are reserved.
const RESERVED: (u32, u32) = (19_000, 1_000);

/// The number of the field in this place.
pub fn field_number(at: usize) -> u32 {
    // A type has at most 65,536 members.
    let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
    if number < RESERVED.0 { number } else { number.saturating_add(RESERVED.1) }
}

/// Whether numbers of this type can be those of an enum: it has 32 bits.
pub fn can_be_enum(kind: &MetricType) -> bool {
    use MetricType::{Int8, Int16, Int32, Uint8, Uint16};
    matches!(kind, Int8 | Int16 | Int32 | Uint8 | Uint16)
}

/// Returns the descriptor of all messages and enums.
pub fn descriptor_set(types: &MessageTypes) -> Vec<u8> {
    let mut file = Vec::new();
    bytes(1, format!("{}.proto", types.full_name(0, "/")).as_bytes(), &mut file);
    bytes(2, types.package.as_bytes(), &mut file);
    for message in &types.all {
        let mut descriptor = Vec::new();
        bytes(1, message.name.as_bytes(), &mut descriptor);
        for (at, of) in message.fields.iter().enumerate() {
            bytes(2, &field(types, of, field_number(at)), &mut descriptor);
        }
        bytes(4, &descriptor, &mut file);
    }
    for of in &types.enums {
        bytes(5, &enumeration(of), &mut file);
    }
    bytes(12, b"proto3", &mut file);
    let mut set = Vec::new();
    bytes(1, &file, &mut set);
    set
}

fn field(types: &MessageTypes, of: &MessageField, at: u32) -> Vec<u8> {
    let mut field = Vec::new();
    bytes(1, of.name.as_bytes(), &mut field);
    number(3, at.into(), &mut field);
    let is_bytes = is_bytes(of);
    number(4, if of.is_repeated && !is_bytes { 3 } else { 1 }, &mut field);
    let (kind, type_name) = match (&of.kind, of.enumeration.and_then(|at| types.enums.get(at))) {
        (FieldKind::Message(at), _) => (11, Some(types.full_name(*at, "."))),
        (FieldKind::Scalar(scalar), Some(of)) if can_be_enum(scalar) => {
            (14, Some(format!("{}.{}", types.package, of.name)))
        }
        (FieldKind::Scalar(_), _) if is_bytes => (12, None),
        (FieldKind::Scalar(scalar), _) => (number_of(scalar), None),
    };
    number(5, kind, &mut field);
    if let Some(name) = type_name {
        bytes(6, format!(".{name}").as_bytes(), &mut field);
    }
    field
}

/// Whether a field is `bytes`: a vector of `uint8` without names.
fn is_bytes(of: &MessageField) -> bool {
    of.is_repeated && of.enumeration.is_none() && matches!(of.kind, FieldKind::Scalar(MetricType::Uint8))
}

/// The number of a type in the descriptor.
fn number_of(scalar: &MetricType) -> u64 {
    match scalar {
        MetricType::Real64 => 1,
        MetricType::Real32 => 2,
        MetricType::Uint64 => 4,
        MetricType::Boolean => 8,
        MetricType::Uint8 | MetricType::Uint16 | MetricType::Uint32 => 13,
        MetricType::Int8 | MetricType::Int16 | MetricType::Int32 => 17,
        MetricType::Int64 => 18,
        MetricType::Blob(_) => 12,
        // Vectors and structs are no scalars.
        MetricType::String | MetricType::Vector(_) | MetricType::Struct(_) => 9,
    }
}

/// The descriptor of an enum, whose first value is 0 as `proto3` demands.
fn enumeration(of: &EnumNames) -> Vec<u8> {
    let mut descriptor = Vec::new();
    bytes(1, of.name.as_bytes(), &mut descriptor);
    let mut value = |name: &str, at: i64| {
        let mut value = Vec::new();
        bytes(1, name.as_bytes(), &mut value);
        number(2, at as u64, &mut value);
        bytes(2, &value, &mut descriptor);
    };
    match of.values.iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => value(name, 0),
        None => value(&format!("{}_WITHOUT_NAME", of.name.to_uppercase()), 0),
    }
    for (name, at) in of.values.iter().filter(|(_, at)| *at != 0 && i32::try_from(*at).is_ok()) {
        value(name, *at);
    }
    descriptor
}
