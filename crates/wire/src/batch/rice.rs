//! `rice`: deltas from the mean step, Golomb-Rice coded. For times, and for whatever moves a little with each sample.

use crate::{
    reader::{Malformed, Reader},
    varint::{self, unzigzag, zigzag},
};
use alloc::vec::Vec;

/// Largest parameter: leaves room for a quotient in 64 bits.
const MAX_K: u8 = 56;
/// A quotient of so many ones is followed by the whole residual.
const ESCAPE: u32 = 24;

/// How a column would be coded.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    step: u64,
    k: u8,
    /// Bytes it takes.
    pub size: usize,
}

/// Chooses step and parameter for the values, of which there are at least two.
pub fn plan(values: &[u64], base: u64) -> Plan {
    let deltas = values.len() as i64 - 1;
    let step = ((values[values.len() - 1].wrapping_sub(values[0]) as i64) / deltas) as u64;
    let residuals = || values.windows(2).map(|pair| zigzag(pair[1].wrapping_sub(pair[0]).wrapping_sub(step)));
    let sum: u64 = residuals().fold(0, u64::saturating_add);
    // The best parameter of a geometric distribution is about log2(mean * ln 2).
    let mean = sum / deltas as u64;
    let k = (64 - (mean - mean / 4).leading_zeros()).saturating_sub(1).min(MAX_K.into()) as u8;
    let bits: usize = residuals().map(|residual| bits(residual, k)).sum();
    let head = varint::length(zigzag(values[0].wrapping_sub(base))) + varint::length(zigzag(step)) + 1;
    Plan { step, k, size: head + bits.div_ceil(8) }
}

fn bits(residual: u64, k: u8) -> usize {
    let quotient = residual >> k;
    if quotient < u64::from(ESCAPE) { quotient as usize + 1 + usize::from(k) } else { ESCAPE as usize + 64 }
}

/// Appends the values as planned.
pub fn put(values: &[u64], base: u64, plan: Plan, out: &mut Vec<u8>) {
    let Plan { step, k, .. } = plan;
    varint::put(zigzag(values[0].wrapping_sub(base)), out);
    varint::put(zigzag(step), out);
    out.push(k);
    let mut bits = BitWriter { out, pending: 0, length: 0 };
    for pair in values.windows(2) {
        let residual = zigzag(pair[1].wrapping_sub(pair[0]).wrapping_sub(step));
        let quotient = residual >> k;
        if quotient < u64::from(ESCAPE) {
            // Ones, and the zero behind them.
            bits.put((1 << quotient) - 1, quotient as u32 + 1);
            bits.put_long(residual & ((1 << k) - 1), k.into());
        } else {
            bits.put((1 << ESCAPE) - 1, ESCAPE);
            bits.put_long(residual, 64);
        }
    }
    bits.finish();
}

/// Fills bytes from their least significant bit.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u64,
    /// Bits pending, under 32 between calls.
    length: u32,
}

impl BitWriter<'_> {
    /// At most 32 bits.
    #[inline]
    fn put(&mut self, value: u64, length: u32) {
        self.pending |= value << self.length;
        self.length += length;
        if self.length >= 32 {
            self.out.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.length -= 32;
        }
    }

    #[inline]
    fn put_long(&mut self, value: u64, length: u32) {
        if length <= 32 {
            self.put(value, length);
        } else {
            self.put(value & 0xffff_ffff, 32);
            self.put(value >> 32, length - 32);
        }
    }

    fn finish(self) {
        let bytes = self.length.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

/// Reads `count` values, at least one.
pub fn get(count: usize, base: u64, from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    let mut value = base.wrapping_add(unzigzag(from.varint()?));
    let mut values = Vec::with_capacity(count);
    values.push(value);
    if count == 1 {
        return Ok(values);
    }
    let step = unzigzag(from.varint()?);
    let at = from.at();
    let [k] = from.array()?;
    if k > MAX_K {
        return Err(Malformed::RiceParameter { at });
    }
    let mut bits = BitReader { from, byte: 0, left: 0 };
    for _ in 1..count {
        let mut quotient = 0;
        while quotient < ESCAPE && bits.bit()? == 1 {
            quotient += 1;
        }
        let residual =
            if quotient < ESCAPE { u64::from(quotient) << k | bits.get(k.into())? } else { bits.get(64)? };
        value = value.wrapping_add(step).wrapping_add(unzigzag(residual));
        values.push(value);
    }
    if bits.byte == 0 { Ok(values) } else { Err(Malformed::Padding { at: from.at() - 1 }) }
}

struct BitReader<'a, 'b> {
    from: &'a mut Reader<'b>,
    byte: u8,
    left: u32,
}

impl BitReader<'_, '_> {
    fn bit(&mut self) -> Result<u64, Malformed> {
        self.get(1)
    }

    fn get(&mut self, length: u32) -> Result<u64, Malformed> {
        let (mut value, mut have) = (0, 0);
        while have < length {
            if self.left == 0 {
                [self.byte] = self.from.array()?;
                self.left = 8;
            }
            let taken = self.left.min(length - have);
            let low = u64::from(self.byte) & ((1 << taken) - 1);
            value |= low << have;
            self.byte = (u32::from(self.byte) >> taken) as u8;
            self.left -= taken;
            have += taken;
        }
        Ok(value)
    }
}
