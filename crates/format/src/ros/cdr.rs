//! Decodes a message to the row of a sample. Numbers of both byte orders; aligned as in CDR of version 1.

use super::{
    Layout,
    layout::{Elements, Kind, Size},
};
use crate::input::bounds::MAX_ROW;
use oasis_wire::{
    cdr::{ByteOrder, CdrReader},
    reader::Malformed,
    value::RowWriter,
};

/// Bytes in front of a message: two for its encoding, two for options.
const HEADER_BYTES: usize = 4;
/// Bytes that may follow the last field.
const PADDING: usize = 7;

/// A message that does not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCdr {
    /// Too short for its head.
    #[error("it has {0} bytes, and {HEADER_BYTES} are its header")]
    Short(usize),
    /// Another encoding.
    #[error("its encoding 0x{0:04x} is not supported: only plain CDR (0x0000 and 0x0001) is")]
    Encoding(u16),
    /// Truncated, or with wrong lengths.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// Too long.
    #[error("{0} bytes follow its last field")]
    Longer(usize),
    /// Does not fit into a batch.
    #[error("a sample has more than {MAX_ROW} bytes")]
    Row,
}

impl Layout {
    /// Decodes a message into a row, which is cleared before.
    ///
    /// # Errors
    /// If the message does not match, or the row is too long.
    pub fn decode(&self, message: &[u8], row: &mut Vec<u8>) -> Result<(), BadCdr> {
        row.clear();
        let (head, content) =
            message.split_first_chunk::<HEADER_BYTES>().ok_or(BadCdr::Short(message.len()))?;
        let order = match u16::from_be_bytes([head[0], head[1]]) {
            0 => ByteOrder::Big,
            1 => ByteOrder::Little,
            other => return Err(BadCdr::Encoding(other)),
        };
        let mut from = CdrReader::new(content, 0, order);
        // A message without fields has a byte that means nothing.
        message_fields(&self.fields, &mut from, row)?;
        match from.bytes.left() {
            0..=PADDING => Ok(()),
            left => Err(BadCdr::Longer(left)),
        }
    }
}

fn message_fields(fields: &[Kind], from: &mut CdrReader<'_>, row: &mut Vec<u8>) -> Result<(), BadCdr> {
    if fields.is_empty() {
        from.bytes.take(1)?;
    }
    fields.iter().try_for_each(|kind| value(kind, from, row))
}

fn value(kind: &Kind, from: &mut CdrReader<'_>, row: &mut Vec<u8>) -> Result<(), BadCdr> {
    if row.len() > MAX_ROW {
        return Err(BadCdr::Row);
    }
    match kind {
        Kind::Number(Size::One) => row.extend(from.number::<1>()?),
        Kind::Number(Size::Two) => row.extend(from.number::<2>()?),
        Kind::Number(Size::Four) => row.extend(from.number::<4>()?),
        Kind::Number(Size::Eight) => row.extend(from.number::<8>()?),
        Kind::Boolean => row.push(u8::from(from.number::<1>()? != [0])),
        Kind::Text => text(from, row)?,
        Kind::Message(fields) => message_fields(fields, from, row)?,
        Kind::Fixed(count, of) => elements(*count, of, from, row)?,
        Kind::Sequence(of) => elements(from.u32()?, of, from, row)?,
    }
    Ok(())
}

/// Each element takes a byte of the message at least, so that a wrong number ends at its end.
fn elements(
    count: u32,
    Elements { of, are_nothing }: &Elements,
    from: &mut CdrReader<'_>,
    row: &mut Vec<u8>,
) -> Result<(), BadCdr> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > from.bytes.left() {
        return Err(Malformed::Elements { at: from.bytes.at() }.into());
    }
    if !are_nothing {
        RowWriter::new(row).vector(count);
    }
    (0..count).try_for_each(|_| value(of, from, row))
}

/// A length with the NUL, the bytes, the NUL. ROS 2 does not say which encoding the bytes have.
fn text(from: &mut CdrReader<'_>, row: &mut Vec<u8>) -> Result<(), BadCdr> {
    let length = usize::try_from(from.u32()?).unwrap_or(usize::MAX);
    let bytes = from.bytes.take(length)?;
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    RowWriter::new(row).string(&String::from_utf8_lossy(bytes));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        reader::Reader,
        schema::Metric,
        value::{self, Value},
    };

    fn read(text: &str, message: &[u8]) -> Result<Vec<Value>, BadCdr> {
        let layout = Layout::read("a/msg/A", text.as_bytes()).unwrap();
        let mut row = Vec::new();
        layout.decode(message, &mut row)?;
        let mut from = Reader::new(&row, 0);
        let values = layout.metrics.iter().map(|Metric { kind, .. }| value::read(kind, &mut from).unwrap());
        let values = values.collect();
        assert_eq!(from.left(), 0);
        Ok(values)
    }

    #[test]
    fn numbers_are_aligned_in_both_byte_orders() {
        let text = "uint8 a\nfloat64 b\nint16 c\nuint32 d";
        let expected = [Value::Uint(1), Value::Real64(1.5), Value::Int(-2), Value::Uint(3)];
        let mut little = vec![0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        little.extend(1.5_f64.to_le_bytes());
        little.extend([0xfe, 0xff, 0, 0, 3, 0, 0, 0]);
        assert_eq!(read(text, &little).unwrap(), expected);
        let mut big = vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        big.extend(1.5_f64.to_be_bytes());
        big.extend([0xff, 0xfe, 0, 0, 0, 0, 0, 3]);
        assert_eq!(read(text, &big).unwrap(), expected);
    }

    #[test]
    fn empty_messages_are_a_byte_and_no_value() {
        let text = "Empty one\nEmpty[] many\nuint8 x\n===\nMSG: a/Empty\nint8 NONE=0\n";
        let message = [0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 7];
        assert_eq!(read(text, &message).unwrap(), [Value::Uint(7)]);
    }

    #[test]
    fn texts_may_be_empty_without_a_nul_or_not_utf_8() {
        let text = "string[] x";
        let message = [0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0];
        let texts = ["", "", "\u{fffd}"].map(|text| Value::String(text.into())).to_vec();
        assert_eq!(read(text, &message).unwrap(), [Value::Vector(texts)]);
    }

    #[test]
    fn what_does_not_match_is_refused() {
        let head = [0, 1, 0, 0];
        let with = |content: &[u8]| [&head, content].concat();
        assert_eq!(read("int8 x", &[0, 1]), Err(BadCdr::Short(2)));
        assert_eq!(read("int8 x", &[0, 7, 0, 0, 1]), Err(BadCdr::Encoding(7)));
        assert_eq!(read("int8 x", &with(&[0; 9])), Err(BadCdr::Longer(8)));
        assert!(matches!(read("int8 x", &head), Err(BadCdr::Malformed(Malformed::Truncated { .. }))));
        let huge = with(&[0xff; 8]);
        assert!(matches!(read("Empty[] x\n===\nMSG: a/Empty", &huge), Err(BadCdr::Malformed(_))));
        assert!(matches!(read("string x", &huge), Err(BadCdr::Malformed(_))));
        assert!(matches!(read("int8[4294967295] x", &huge), Err(BadCdr::Malformed(_))));
        let long = with(&[&1_000_000_u32.to_le_bytes()[..], &[1; 1_000_000]].concat());
        assert_eq!(read("uint8[] x", &long), Err(BadCdr::Row));
    }
}
