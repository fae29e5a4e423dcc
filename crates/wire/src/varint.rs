//! LEB128 and zigzag.

use alloc::vec::Vec;

/// Appends `value`, seven bits a byte, least significant first.
#[inline]
pub fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that [`put`] would append.
#[inline]
pub const fn length(value: u64) -> usize {
    // Seven bits a byte, and one byte for 0.
    (63 - (value | 1).leading_zeros() as usize) / 7 + 1
}

/// Folds signs: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
pub const fn zigzag(value: u64) -> u64 {
    (value << 1) ^ ((value as i64) >> 63) as u64
}

/// Undoes [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}
