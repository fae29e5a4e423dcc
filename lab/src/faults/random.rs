//! Random parameters of a scenario, the same for the same seed.

use std::{ops::Range, time::Duration};

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of one scenario: scenarios of one run differ, and each can be repeated alone.
    pub fn new(seed: u64, scenario: &str) -> Self {
        // FNV-1a.
        let name = scenario.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(seed ^ name)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of this range, which must not be empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.number() % (range.end - range.start)
    }

    /// Milliseconds of this range.
    pub fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_numbers_and_scenarios_differ() {
        let numbers = |seed, scenario| {
            let mut random = Random::new(seed, scenario);
            (0..8).map(|_| random.within(10..1_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1, "kill-dac"), numbers(1, "kill-dac"));
        assert_ne!(numbers(1, "kill-dac"), numbers(2, "kill-dac"));
        assert_ne!(numbers(1, "kill-dac"), numbers(1, "kill-node"));
        assert!(numbers(7, "x").iter().all(|number| (10..1_000).contains(number)));
    }
}
