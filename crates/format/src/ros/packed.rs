//! Decodes a message of ROS 1 to the row of a sample: little-endian, without alignment.

use super::{
    Layout,
    layout::{Elements, Kind},
};
use crate::input::bounds::MAX_ROW;
use oasis_wire::value::RowWriter;

/// A message that does not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPacked {
    /// Truncated, or with wrong lengths.
    #[error("it is shorter than its definition")]
    Short,
    /// Too long.
    #[error("{0} bytes follow its last field")]
    Longer(usize),
    /// Does not fit into a batch.
    #[error("a sample has more than {MAX_ROW} bytes")]
    Row,
}

impl Layout {
    /// Decodes a message of ROS 1 into a row, which is cleared before.
    ///
    /// # Errors
    /// If the message does not match, or the row is too long.
    pub fn decode_packed(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadPacked> {
        row.clear();
        let mut rest = message;
        self.fields.members.iter().try_for_each(|member| value(&member.kind, &mut rest, row))?;
        if rest.is_empty() { Ok(()) } else { Err(BadPacked::Longer(rest.len())) }
    }
}

fn take<'a>(from: &mut &'a [u8], bytes: usize) -> Result<&'a [u8], BadPacked> {
    let (taken, rest) = from.split_at_checked(bytes).ok_or(BadPacked::Short)?;
    *from = rest;
    Ok(taken)
}

fn length(from: &mut &[u8]) -> Result<usize, BadPacked> {
    let (bytes, rest) = from.split_first_chunk().ok_or(BadPacked::Short)?;
    *from = rest;
    usize::try_from(u32::from_le_bytes(*bytes)).map_err(|_| BadPacked::Short)
}

fn value(kind: &Kind, from: &mut &[u8], row: &mut Vec<u8>) -> Result<(), BadPacked> {
    if row.len() > MAX_ROW {
        return Err(BadPacked::Row);
    }
    match kind {
        Kind::Number(size) | Kind::Real(size) | Kind::Enum(size) => {
            row.extend_from_slice(take(from, size.bytes())?)
        }
        Kind::Boolean => row.push(u8::from(take(from, 1)? != [0])),
        // Definitions of ROS 1 have no wide text.
        Kind::Text | Kind::WideText => {
            let bytes = length(from)?;
            RowWriter::new(row).string(&String::from_utf8_lossy(take(from, bytes)?));
        }
        Kind::Message(fields) => {
            fields.members.iter().try_for_each(|member| value(&member.kind, from, row))?;
        }
        // Definitions of ROS 1 have no unions.
        Kind::Union(_) => return Err(BadPacked::Short),
        Kind::Fixed(count, of) => elements(usize::try_from(*count).unwrap_or(usize::MAX), of, from, row)?,
        Kind::Sequence(of) => {
            let count = length(from)?;
            elements(count, of, from, row)?;
        }
    }
    Ok(())
}

/// Elements with a value take a byte at least, so that a wrong number ends at the end of the message.
fn elements(
    count: usize,
    Elements { of, are_nothing }: &Elements,
    from: &mut &[u8],
    row: &mut Vec<u8>,
) -> Result<(), BadPacked> {
    if *are_nothing {
        // Messages without fields take no bytes.
        return Ok(());
    }
    if count > from.len() {
        return Err(BadPacked::Short);
    }
    RowWriter::new(row).vector(count);
    if let Kind::Number(size) | Kind::Real(size) = **of {
        row.extend_from_slice(take(from, count.saturating_mul(size.bytes()))?);
        return Ok(());
    }
    (0..count).try_for_each(|_| value(of, from, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        reader::Reader,
        value::{self, Value},
    };

    fn read(text: &str, message: &[u8]) -> Result<Vec<Value>, BadPacked> {
        let layout = Layout::read_ros1("a/A", text.as_bytes()).unwrap();
        let mut row = Vec::new();
        layout.decode_packed(message, &mut row)?;
        let mut from = Reader::new(&row, 0);
        Ok(layout.metrics.iter().map(|metric| value::read(&metric.kind, &mut from).unwrap()).collect())
    }

    #[test]
    fn fields_follow_each_other_without_gaps() {
        let text = "Empty[] none\nuint8 a\nfloat64 b\nstring c\ntime t\nbyte d\nint16[2] e\nEmpty f\n===\nMSG: a/Empty\n";
        let mut message = vec![3, 0, 0, 0, 1];
        message.extend(1.5_f64.to_le_bytes());
        message.extend([2, 0, 0, 0, b'x', 0xff, 7, 0, 0, 0, 9, 0, 0, 0, 0xff, 1, 0, 0xfe, 0xff]);
        let expected = [
            Value::Uint(1),
            Value::Real64(1.5),
            Value::String("x\u{fffd}".into()),
            Value::Struct(vec![Value::Uint(7), Value::Uint(9)]),
            Value::Int(-1),
            Value::Vector(vec![Value::Int(1), Value::Int(-2)]),
        ];
        assert_eq!(read(text, &message).unwrap(), expected);
    }

    #[test]
    fn wrong_lengths_are_refused() {
        assert_eq!(read("int32 x", &[1, 2]), Err(BadPacked::Short));
        assert_eq!(read("int8 x", &[1, 2]), Err(BadPacked::Longer(1)));
        assert_eq!(read("string x", &[255; 8]), Err(BadPacked::Short));
        assert_eq!(read("float64[] x", &[9, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), Err(BadPacked::Short));
        assert_eq!(read("string[4294967295] x", &[0; 8]), Err(BadPacked::Short));
        let long = [&1_000_000_u32.to_le_bytes()[..], &[0; 4_000_000]].concat();
        assert_eq!(read("string[] x", &long), Err(BadPacked::Row));
    }
}
