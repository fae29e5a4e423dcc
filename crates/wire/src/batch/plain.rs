//! `plain`: values in their memory layout, aligned to their width within the batch.

use super::column::Shape;
use crate::reader::{Malformed, Reader};
use alloc::vec::Vec;

/// Appends the values; `start` is where the batch begins in `out`.
pub fn put(shape: Shape, values: &[u64], start: usize, out: &mut Vec<u8>) {
    let width = shape.width();
    let padding = (out.len() - start).next_multiple_of(width) - (out.len() - start);
    out.resize(out.len() + padding, 0);
    match width {
        8 => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
        _ => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()[..width])),
    }
}

/// Most bytes that [`put`] appends for this many values.
pub fn size(shape: Shape, values: usize) -> usize {
    values * shape.width()
}

/// Reads `count` values.
pub fn get(shape: Shape, count: usize, from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    from.align(shape.width())?;
    let at = from.at();
    let bytes = from.take(count * shape.width())?;
    let values: Vec<u64> = bytes.chunks_exact(shape.width()).map(|bytes| shape.widen(bytes)).collect();
    match values.iter().position(|&value| !shape.holds(value)) {
        Some(index) => Err(Malformed::Range { at: at + index * shape.width() }),
        None => Ok(values),
    }
}
