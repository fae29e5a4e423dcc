//! The values of the signals of a frame.

use super::{MessageDescription, Selection, Signal, SignalForm};
use crate::input::Cell;

/// Multiplexors that select each other.
const MAX_MULTIPLEXOR_DEPTH: usize = 16;

impl Signal {
    /// Returns the raw bits; `None` if the frame is too short.
    pub fn raw(&self, data: &[u8]) -> Option<u64> {
        let mut raw = 0_u64;
        if self.is_little_endian {
            for bit in (0..self.bits).rev() {
                raw = raw << 1 | bit_of(data, self.start.checked_add(bit)?)?;
            }
        } else {
            // The start is the most significant bit; bits of a byte count down, then those of the next byte follow.
            let (mut byte, mut bit) = (self.start / 8, self.start % 8);
            for _ in 0..self.bits {
                raw = raw << 1 | bit_of(data, byte.checked_mul(8)? + bit)?;
                (byte, bit) = if bit == 0 { (byte + 1, 7) } else { (byte, bit - 1) };
            }
        }
        Some(raw)
    }

    /// Returns the bytes that a frame needs to have all of its bits.
    pub fn least_bytes(&self) -> usize {
        let last = if self.is_little_endian {
            self.start.saturating_add(self.bits - 1) / 8
        } else {
            // Bits count down in the first byte, and fill those after it.
            let in_first = self.start % 8 + 1;
            self.start / 8 + self.bits.saturating_sub(in_first).div_ceil(8)
        };
        usize::try_from(last).map_or(usize::MAX, |last| last + 1)
    }

    /// Returns the values of the least and the greatest raw ones, from which the type of all values follows.
    pub fn extremes(&self) -> [Cell<'static>; 2] {
        let all = u64::MAX >> (64 - self.bits);
        match self.form {
            SignalForm::Integer if self.is_signed => [self.value(1 << (self.bits - 1)), self.value(all >> 1)],
            SignalForm::Integer => [self.value(0), self.value(all)],
            SignalForm::Real32 | SignalForm::Real64 => [self.value(0); 2],
        }
    }

    /// Whether values are whole numbers.
    pub fn is_whole(&self) -> bool {
        let is_exact = |number: f64| number.fract() == 0.0 && number.abs() < 2_f64.powi(53);
        self.form == SignalForm::Integer && is_exact(self.factor) && is_exact(self.offset)
    }

    /// Whether values are the raw ones, so that names of raw values name them.
    pub fn is_unscaled(&self) -> bool {
        self.form == SignalForm::Integer && self.factor == 1.0 && self.offset == 0.0
    }

    /// Returns the physical value.
    pub fn value(&self, raw: u64) -> Cell<'static> {
        let shift = 64 - self.bits;
        let whole = match self.form {
            SignalForm::Real32 => return self.scaled(f32::from_bits(raw as u32).into()),
            SignalForm::Real64 => return self.scaled(f64::from_bits(raw)),
            SignalForm::Integer if self.is_signed => i128::from(((raw << shift) as i64) >> shift),
            SignalForm::Integer => i128::from(raw),
        };
        if !self.is_whole() {
            return self.scaled(whole as f64);
        }
        let value = whole * self.factor as i128 + self.offset as i128;
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(int), _) => Cell::Int(int),
            (_, Ok(uint)) => Cell::Uint(uint),
            _ => Cell::Real(value as f64),
        }
    }

    fn scaled(&self, raw: f64) -> Cell<'static> {
        Cell::Real(raw * self.factor + self.offset)
    }
}

fn bit_of(data: &[u8], bit: u32) -> Option<u64> {
    let byte = data.get(usize::try_from(bit / 8).ok()?)?;
    Some(u64::from(byte >> (bit % 8) & 1))
}

impl MessageDescription {
    /// Returns the value of a signal; absent if its multiplexor selects others, or the frame is too short.
    pub fn value(&self, signal: &Signal, data: &[u8]) -> Cell<'static> {
        if !self.is_selected(signal, data, 0) {
            return Cell::Absent;
        }
        signal.raw(data).map_or(Cell::Absent, |raw| signal.value(raw))
    }

    fn is_selected(&self, signal: &Signal, data: &[u8], depth: usize) -> bool {
        let Some(Selection { multiplexor, ranges }) = &signal.selected_by else { return true };
        let is_multiplexor = |of: &&Signal| match multiplexor {
            Some(name) => of.name == *name,
            None => of.is_multiplexor && of.selected_by.is_none(),
        };
        let Some(multiplexor) = self.signals.iter().find(is_multiplexor) else { return false };
        let raw = multiplexor.raw(data);
        depth < MAX_MULTIPLEXOR_DEPTH
            && raw.is_some_and(|raw| ranges.iter().any(|(from, to)| (*from..=*to).contains(&raw)))
            && self.is_selected(multiplexor, data, depth + 1)
    }
}
