//! `delta`: runs of equal values, and varint deltas. For counters that seldom change.

use crate::{
    reader::{Malformed, Reader},
    varint::{self, unzigzag, zigzag},
};
use alloc::vec::Vec;

/// The deltas that need no bytes of their own, by code.
const IMPLICIT_DELTAS: [u64; 4] = [0, 1, 2, (-1_i64) as u64];

/// Appends the values, counted from `base`. There is at least one.
pub fn put(values: &[u64], base: u64, out: &mut Vec<u8>) {
    tokens(values, base, |number| varint::put(number, out));
}

/// Bytes that [`put`] appends.
pub fn size(values: &[u64], base: u64) -> usize {
    let mut size = 0;
    tokens(values, base, |number| size += varint::length(number));
    size
}

#[inline(always)]
fn tokens(values: &[u64], base: u64, mut put: impl FnMut(u64)) {
    let mut before = values[0];
    put(zigzag(before.wrapping_sub(base)));
    let mut run = 0_u64;
    for &value in &values[1..] {
        let delta = value.wrapping_sub(before);
        before = value;
        match delta {
            0 => {
                run += 1;
                continue;
            }
            1 => put(run * 4 + 1),
            2 => put(run * 4 + 2),
            u64::MAX => put(run * 4 + 3),
            _ => {
                put(run * 4);
                put(zigzag(delta));
            }
        }
        run = 0;
    }
    if run > 0 {
        put(run * 4);
    }
}

/// Reads `count` values, at least one.
pub fn get(count: usize, base: u64, from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    let mut before = base.wrapping_add(unzigzag(from.varint()?));
    let mut values = Vec::with_capacity(count);
    values.push(before);
    while values.len() < count {
        let at = from.at();
        let token = from.varint()?;
        let run = usize::try_from(token / 4).unwrap_or(usize::MAX);
        if run > count - values.len() {
            return Err(Malformed::Run { at });
        }
        values.resize(values.len() + run, before);
        let code = (token % 4) as usize;
        if values.len() == count {
            // Nothing may follow the last run.
            if code != 0 {
                return Err(Malformed::Run { at });
            }
            break;
        }
        let delta = if code == 0 { unzigzag(from.varint()?) } else { IMPLICIT_DELTAS[code] };
        before = before.wrapping_add(delta);
        values.push(before);
    }
    Ok(values)
}
