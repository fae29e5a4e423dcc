//! `xor`: runs of equal reals, and varint XORs of reals that differ. For measurements that keep their value or have few digits.

use super::column::Shape;
use crate::{
    reader::{Malformed, Reader},
    varint,
};
use alloc::vec::Vec;

/// Appends the bits.
pub fn put(shape: Shape, values: &[u64], out: &mut Vec<u8>) {
    tokens(shape, values, |number| varint::put(number, out));
}

/// Bytes that [`put`] appends.
pub fn size(shape: Shape, values: &[u64]) -> usize {
    let mut size = 0;
    tokens(shape, values, |number| size += varint::length(number));
    size
}

#[inline(always)]
fn tokens(shape: Shape, values: &[u64], mut put: impl FnMut(u64)) {
    let (mut before, mut run) = (0, 0);
    for &value in values {
        if value == before {
            run += 1;
            continue;
        }
        put(run);
        put(swap(shape, value ^ before));
        (before, run) = (value, 0);
    }
    if run > 0 {
        put(run);
    }
}

/// Reverses the bytes of the value's width: the differing bits are mostly high, and a varint is short if its high bits are 0.
#[inline]
fn swap(shape: Shape, bits: u64) -> u64 {
    bits.swap_bytes() >> (64 - 8 * shape.width())
}

/// Reads the bits of `count` values.
pub fn get(shape: Shape, count: usize, from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    let mut before = 0;
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let at = from.at();
        let run = usize::try_from(from.varint()?).unwrap_or(usize::MAX);
        if run > count - values.len() {
            return Err(Malformed::Run { at });
        }
        values.resize(values.len() + run, before);
        if values.len() == count {
            break;
        }
        let at = from.at();
        let swapped = from.varint()?;
        if shape.width() == 4 && swapped > u32::MAX.into() {
            return Err(Malformed::Range { at });
        }
        before ^= swap(shape, swapped);
        values.push(before);
    }
    Ok(values)
}
