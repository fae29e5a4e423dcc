//! Decodes a message to the row of a sample. Fields that it lacks have their default, as in every library.

use super::{
    layout::{Kind, LaidOut, Layout},
    wire::{BadWire, WireValue, fixed, next_field, varint},
};
use crate::input::bounds::MAX_ROW;
use oasis_wire::value::RowWriter;
use std::collections::HashMap;

/// A message that does not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// Truncated.
    #[error("{0}")]
    Wire(#[from] BadWire),
    /// A field has another form than its type.
    #[error("the field {0} has another form than its type")]
    Form(u32),
    /// Does not fit into a batch.
    #[error("a sample has more than {MAX_ROW} bytes")]
    Row,
}

impl Layout {
    /// Decodes a message into a row, which is cleared before. Returns the number of values without a metric.
    ///
    /// # Errors
    /// If the message does not match, or the row is too long.
    pub fn decode(&self, message: &[u8], row: &mut Vec<u8>) -> Result<u64, BadMessage> {
        row.clear();
        // Each value takes a byte at least.
        let mut bounds = Bounds { left: MAX_ROW, unstored: 0 };
        fields(&self.fields, &[message], row, &mut bounds)?;
        Ok(bounds.unstored)
    }
}

/// The values of a message.
struct Bounds {
    /// Values that may follow.
    left: usize,
    /// Values without a metric.
    unstored: u64,
}

/// Writes the fields of a message. Several parts are one message: a later field replaces an earlier one, and lists continue.
fn fields(of: &[LaidOut], parts: &[&[u8]], row: &mut Vec<u8>, bounds: &mut Bounds) -> Result<(), BadMessage> {
    let mut found: Vec<(u32, WireValue<'_>)> = Vec::new();
    for part in parts {
        let mut rest = *part;
        while let Some(field) = next_field(&mut rest)? {
            found.push(field);
        }
    }
    if of.iter().any(|field| field.oneof.is_some()) {
        keep_last_of_each_oneof(of, &mut found);
    }
    // The order of equal numbers counts.
    found.sort_by_key(|(number, _)| *number);
    for field in of {
        bounds.left = bounds.left.checked_sub(1).ok_or(BadMessage::Row)?;
        let start = found.partition_point(|(number, _)| *number < field.number);
        let values = found.get(start..).unwrap_or_default();
        let values =
            values.get(..values.partition_point(|(number, _)| *number == field.number)).unwrap_or_default();
        match (&field.kind, field.is_repeated) {
            (Kind::Recursive, _) => bounds.unstored += values.len() as u64,
            (kind, true) => repeated(field.number, kind, values, row, bounds)?,
            (Kind::Message(members), false) => {
                let parts = values.iter().map(|(number, value)| bytes(*number, *value));
                fields(members, &parts.collect::<Result<Vec<_>, _>>()?, row, bounds)?;
            }
            (kind, false) => match values.last() {
                Some((number, value)) => single(*number, kind, *value, row)?,
                None => row.extend_from_slice(&field.default),
            },
        }
        if row.len() > MAX_ROW {
            return Err(BadMessage::Row);
        }
    }
    Ok(())
}

/// A member that follows another one of its oneof replaces it.
fn keep_last_of_each_oneof(of: &[LaidOut], found: &mut Vec<(u32, WireValue<'_>)>) {
    let members = of.iter().filter_map(|field| Some((field.number, field.oneof?)));
    let oneofs: HashMap<u32, u64> = members.collect();
    let mut last = HashMap::new();
    for (number, _) in &*found {
        if let Some(oneof) = oneofs.get(number) {
            last.insert(*oneof, *number);
        }
    }
    found.retain(|(number, _)| oneofs.get(number).is_none_or(|oneof| last.get(oneof) == Some(number)));
}

fn repeated(
    number: u32,
    kind: &Kind,
    values: &[(u32, WireValue<'_>)],
    row: &mut Vec<u8>,
    bounds: &mut Bounds,
) -> Result<(), BadMessage> {
    let is_packable = !matches!(kind, Kind::Text | Kind::Bytes | Kind::Message(_) | Kind::Recursive);
    let (mut elements, mut count) = (Vec::new(), 0);
    for (_, value) in values {
        match value {
            WireValue::Bytes(packed) if is_packable => {
                let mut packed = *packed;
                while !packed.is_empty() {
                    let value = match kind {
                        Kind::Double | Kind::Fixed64 => WireValue::Fixed64(fixed(&mut packed)?),
                        Kind::Float | Kind::Fixed32 => WireValue::Fixed32(fixed(&mut packed)?),
                        _ => WireValue::Varint(varint(&mut packed)?),
                    };
                    single(number, kind, value, &mut elements)?;
                    count += 1;
                }
            }
            value => {
                match kind {
                    Kind::Message(members) => {
                        fields(members, &[bytes(number, *value)?], &mut elements, bounds)?
                    }
                    kind => single(number, kind, *value, &mut elements)?,
                }
                count += 1;
            }
        }
        if elements.len() + row.len() > MAX_ROW {
            return Err(BadMessage::Row);
        }
    }
    RowWriter::new(row).vector(count);
    row.extend_from_slice(&elements);
    Ok(())
}

fn bytes(number: u32, value: WireValue<'_>) -> Result<&[u8], BadMessage> {
    if let WireValue::Bytes(bytes) = value { Ok(bytes) } else { Err(BadMessage::Form(number)) }
}

fn single(number: u32, kind: &Kind, value: WireValue<'_>, row: &mut Vec<u8>) -> Result<(), BadMessage> {
    let zigzag = |value: u64| (value >> 1) as i64 ^ -((value & 1) as i64);
    let mut to = RowWriter::new(row);
    match (kind, value) {
        (Kind::Double | Kind::Fixed64, WireValue::Fixed64(bytes)) => to.packed(&bytes),
        (Kind::Float | Kind::Fixed32, WireValue::Fixed32(bytes)) => to.packed(&bytes),
        (Kind::Int(32), WireValue::Varint(value)) => to.i32(value as i32),
        (Kind::Int(_), WireValue::Varint(value)) => to.i64(value as i64),
        (Kind::Uint(32), WireValue::Varint(value)) => to.u32(value as u32),
        (Kind::Uint(_), WireValue::Varint(value)) => to.u64(value),
        (Kind::ZigZag(32), WireValue::Varint(value)) => to.i32(zigzag(value & u64::from(u32::MAX)) as i32),
        (Kind::ZigZag(_), WireValue::Varint(value)) => to.i64(zigzag(value)),
        (Kind::Boolean, WireValue::Varint(value)) => to.boolean(value != 0),
        (Kind::Text, WireValue::Bytes(text)) => to.string(&String::from_utf8_lossy(text)),
        (Kind::Bytes, WireValue::Bytes(bytes)) => {
            to.vector(bytes.len());
            to.packed(bytes);
        }
        _ => return Err(BadMessage::Form(number)),
    }
    Ok(())
}
