//! Writes the wire format (<https://protobuf.dev/programming-guides/encoding/>).

/// Appends a number of at most ten bytes.
pub fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a field with a number.
pub fn number(field: u32, value: u64, to: &mut Vec<u8>) {
    varint(u64::from(field) << 3, to);
    varint(value, to);
}

/// Appends a field with bytes: a text, a message, or packed numbers.
pub fn bytes(field: u32, value: &[u8], to: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 2, to);
    varint(value.len() as u64, to);
    to.extend_from_slice(value);
}

/// Appends a field with 4 bytes.
pub fn fixed32(field: u32, value: [u8; 4], to: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 5, to);
    to.extend_from_slice(&value);
}

/// Appends a field with 8 bytes.
pub fn fixed64(field: u32, value: [u8; 8], to: &mut Vec<u8>) {
    varint(u64::from(field) << 3 | 1, to);
    to.extend_from_slice(&value);
}
