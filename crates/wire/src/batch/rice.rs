//! `rice`: deltas from the mean step, Golomb-Rice coded. For times and for values that change a little with each sample.

use crate::{
    reader::{Malformed, Reader},
    varint::{self, unzigzag, zigzag},
};
use alloc::vec::Vec;

/// Largest parameter: leaves room for a quotient in 64 bits.
const MAX_K: u8 = 56;
/// Number of ones in a quotient that is followed by the whole residual.
const ESCAPE: u32 = 24;

/// The parameters of a coded column.
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
            // Ones, and the zero after them.
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
    let mut bits = BitReader { bytes: from.rest(), next: 0, word: 0, held: 0 };
    for _ in 1..count {
        value = value.wrapping_add(step).wrapping_add(unzigzag(bits.residual(k.into())));
        values.push(value);
    }
    bits.finish(from)?;
    Ok(values)
}

/// Reads bytes from their least significant bit, a word ahead. Reads zeros after the end; [`BitReader::finish`] checks for it once a column.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// The byte after those in `word`.
    next: usize,
    word: u64,
    /// Valid bits of `word`; the bits above them are valid too, or zero.
    held: u32,
}

impl BitReader<'_> {
    /// Minimum bits after a [`BitReader::fill`].
    const FILLED: u32 = 56;

    #[inline]
    fn residual(&mut self, k: u32) -> u64 {
        self.fill();
        let quotient = self.word.trailing_ones().min(ESCAPE);
        if quotient == ESCAPE {
            self.pass(ESCAPE);
            return self.get(64);
        }
        // The zero after the ones goes with them.
        let ones = quotient + 1;
        let low = if ones + k <= Self::FILLED {
            let low = self.word >> ones & ((1 << k) - 1);
            self.pass(ones + k);
            low
        } else {
            self.pass(ones);
            self.get(k)
        };
        u64::from(quotient) << k | low
    }

    #[inline]
    fn fill(&mut self) {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        let more = rest.first_chunk().map_or_else(|| Self::last(rest), |word| u64::from_le_bytes(*word));
        self.word |= more << self.held;
        // Advances by whole bytes only; bits of a partial byte are loaded again.
        self.next += ((63 - self.held) / 8) as usize;
        self.held |= Self::FILLED;
    }

    #[cold]
    fn last(rest: &[u8]) -> u64 {
        let mut word = [0; 8];
        word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    }

    /// At most [`BitReader::FILLED`] bits.
    #[inline]
    fn pass(&mut self, bits: u32) {
        self.word >>= bits;
        self.held -= bits;
    }

    /// At most 64 bits.
    #[cold]
    fn get(&mut self, length: u32) -> u64 {
        let (mut value, mut have) = (0, 0);
        while have < length {
            self.fill();
            let taken = (length - have).min(32);
            value |= (self.word & ((1 << taken) - 1)) << have;
            self.pass(taken);
            have += taken;
        }
        value
    }

    /// Skips the bytes that were read, if they exist and the rest of the last one is zero.
    fn finish(self, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let read = self.next - (self.held / 8) as usize;
        if let Some(missing) = read.checked_sub(self.bytes.len()).filter(|missing| *missing > 0) {
            return Err(Malformed::Truncated { at: from.at() + self.bytes.len(), needed: missing, left: 0 });
        }
        from.take(read)?;
        let left = self.word & ((1 << (self.held % 8)) - 1);
        if left == 0 { Ok(()) } else { Err(Malformed::Padding { at: from.at() - 1 }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Short and long residuals, and one that escapes.
    const VALUES: [u64; 7] = [5, 9, 12, 1 << 40, 1 << 62, 3, 7];

    fn written() -> Vec<u8> {
        let mut bytes = vec![];
        put(&VALUES, 0, Plan { step: 3, k: 37, size: 0 }, &mut bytes);
        bytes
    }

    #[test]
    fn bytes_after_a_column_are_not_read() {
        let mut bytes = written();
        let length = bytes.len();
        bytes.extend([0xff; 11]);
        for more in 0..=11 {
            let mut from = Reader::new(&bytes[..length + more], 0);
            assert_eq!(get(VALUES.len(), 0, &mut from).unwrap(), VALUES);
            assert_eq!(from.at(), length);
        }
    }

    #[test]
    fn a_truncated_column_is_reported_with_its_offset() {
        let bytes = written();
        for end in 0..bytes.len() {
            let error = get(VALUES.len(), 0, &mut Reader::new(&bytes[..end], 0)).unwrap_err();
            assert!(matches!(error, Malformed::Truncated { at, left: 0, .. } if at == end), "{end}: {error}");
        }
    }

    #[test]
    fn bits_left_over_are_zero() {
        // Three residuals of one bit each.
        let bytes = |last| [0, 0, 0, last];
        assert_eq!(get(4, 9, &mut Reader::new(&bytes(0), 0)).unwrap(), [9; 4]);
        for bit in 3..8 {
            let error = get(4, 9, &mut Reader::new(&bytes(1 << bit), 0)).unwrap_err();
            assert_eq!(error, Malformed::Padding { at: 3 });
        }
    }
}
