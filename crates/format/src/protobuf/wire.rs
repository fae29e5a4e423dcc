//! The wire format (<https://protobuf.dev/programming-guides/encoding/>): fields with a number and a value.

/// Bytes that end early, or are of no known form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("truncated, or no Protocol Buffers")]
pub struct BadWire;

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireValue<'a> {
    /// `int32`, `uint64`, `sint64`, `bool`, an enum.
    Varint(u64),
    /// `fixed64`, `sfixed64`, `double`.
    Fixed64([u8; 8]),
    /// `fixed32`, `sfixed32`, `float`.
    Fixed32([u8; 4]),
    /// `string`, `bytes`, a message, a packed list.
    Bytes(&'a [u8]),
}

/// Takes the next field; `None` at the end.
///
/// # Errors
/// If it ends early, or is of no known form.
pub fn next_field<'a>(from: &mut &'a [u8]) -> Result<Option<(u32, WireValue<'a>)>, BadWire> {
    if from.is_empty() {
        return Ok(None);
    }
    let tag = varint(from)?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0).ok_or(BadWire)?;
    let value = match tag & 7 {
        0 => WireValue::Varint(varint(from)?),
        1 => WireValue::Fixed64(fixed(from)?),
        2 => {
            let length = usize::try_from(varint(from)?).map_err(|_| BadWire)?;
            let (bytes, rest) = from.split_at_checked(length).ok_or(BadWire)?;
            *from = rest;
            WireValue::Bytes(bytes)
        }
        5 => WireValue::Fixed32(fixed(from)?),
        // Groups belong to proto2 and are deprecated.
        _ => return Err(BadWire),
    };
    Ok(Some((number, value)))
}

/// Takes a number of at most ten bytes.
///
/// # Errors
/// If it ends early, or is longer.
pub fn varint(from: &mut &[u8]) -> Result<u64, BadWire> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (byte, rest) = from.split_first().ok_or(BadWire)?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(BadWire);
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(BadWire)
}

/// Takes `N` bytes.
///
/// # Errors
/// If there are fewer.
pub fn fixed<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], BadWire> {
    let (bytes, rest) = from.split_first_chunk().ok_or(BadWire)?;
    *from = rest;
    Ok(*bytes)
}
