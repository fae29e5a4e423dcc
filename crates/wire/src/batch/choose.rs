//! Chooses the encoding of a column.

use super::{
    column::{Encoding, Shape},
    delta,
    encode::Choice,
    plain, rice, xor,
};
use crate::varint::{self, zigzag};
use alloc::vec::Vec;

/// Appends integers, counted from `base`; `start` is where the batch begins in `out`.
pub fn put_integers(
    shape: Shape,
    values: &[u64],
    base: u64,
    choice: Choice,
    start: usize,
    out: &mut Vec<u8>,
) -> Encoding {
    if choice == Choice::Plain {
        plain::put(shape, values, start, out);
        return Encoding::Plain;
    }
    if values.iter().all(|&value| value == values[0]) {
        varint::put(zigzag(values[0].wrapping_sub(base)), out);
        return Encoding::Constant;
    }
    let plain_size = plain::size(shape, values.len());
    let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // If most values repeat, runs are smaller than a code for each value; sizes are compared only if it may be close.
    if changes * 4 <= values.len() {
        let from = out.len();
        delta::put(values, base, out);
        if out.len() - from <= plain_size {
            return Encoding::Delta;
        }
        out.truncate(from);
        plain::put(shape, values, start, out);
        return Encoding::Plain;
    }
    let plan = rice::plan(values, base);
    let delta_size = delta::size(values, base);
    if plain_size < plan.size.min(delta_size) {
        plain::put(shape, values, start, out);
        Encoding::Plain
    } else if delta_size <= plan.size {
        delta::put(values, base, out);
        Encoding::Delta
    } else {
        rice::put(values, base, plan, out);
        Encoding::Rice
    }
}

/// Appends the bits of reals.
pub fn put_reals(shape: Shape, values: &[u64], choice: Choice, start: usize, out: &mut Vec<u8>) -> Encoding {
    if choice == Choice::Smallest && xor::size(shape, values) < plain::size(shape, values.len()) {
        xor::put(shape, values, out);
        Encoding::Xor
    } else {
        plain::put(shape, values, start, out);
        Encoding::Plain
    }
}
