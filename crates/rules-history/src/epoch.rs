//! When a life of the DAC began.

use oasis_wire::quantity::Epoch;

/// An epoch is the time of the DAC's start, but for these bits.
const RANDOM_BITS: u64 = 0xffff;

/// The DAC time at which silence begins anew in an epoch: the start of the DAC. It is not before the end of the epoch before, nor after the first batch, also if
/// the epoch is no time or the clock was set.
pub fn restarted_at(epoch: Epoch, before: u64, first: u64) -> u64 {
    started_at(epoch).max(before).min(first)
}

/// When the DAC of an epoch was started, on its clock.
pub fn started_at(epoch: Epoch) -> u64 {
    epoch.0 & !RANDOM_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_begins_anew_at_the_start_of_the_dac() {
        let start = 1_700_000_000_000_000_000;
        assert_eq!(restarted_at(Epoch(start | 0x1234), start - 9, start + 70_000), start & !RANDOM_BITS);
        assert_eq!(restarted_at(Epoch(1), 50, 70), 50);
        assert_eq!(restarted_at(Epoch(u64::MAX), 50, 70), 70);
    }
}
