//! Pace of a shard's writes.
//!
//! A write costs nearly the same whether it carries one sample or fifty. So a shard rests after each round of writes, the longer the more the round
//! took: with few readers not noticeably, with many just long enough for the next round to carry more.

use std::time::{Duration, Instant};

/// Rest for each unit of work.
const REST_FACTOR: u32 = 3;
/// A shorter rest is skipped: it would save nothing, and the system would prolong it.
const MIN_REST: Duration = Duration::from_millis(1);

/// When the next round may begin.
#[derive(Debug)]
pub struct Pace {
    next: Instant,
    longest: Duration,
}

impl Pace {
    /// A rest is never longer than `longest`, which is part of the age of every sample that waits for it.
    pub fn new(longest: Duration, now: Instant) -> Self {
        Self { next: now, longest }
    }

    /// Returns the time until a round may begin.
    pub fn wait(&self, now: Instant) -> Duration {
        self.next.saturating_duration_since(now)
    }

    /// A round has ended.
    pub fn rest(&mut self, began: Instant, ended: Instant) {
        let rest = (ended.saturating_duration_since(began) * REST_FACTOR).min(self.longest);
        self.next = if rest < MIN_REST { ended } else { ended + rest };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_grows_with_the_round_up_to_its_bound() {
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        let mut pace = Pace::new(Duration::from_millis(16), start);
        assert_eq!(pace.wait(start), Duration::ZERO);
        pace.rest(at(0), at(5));
        assert_eq!(pace.wait(at(5)), Duration::ZERO);
        pace.rest(at(0), at(1_000));
        assert_eq!((pace.wait(at(1_000)), pace.wait(at(4_000))), (Duration::from_millis(3), Duration::ZERO));
        pace.rest(at(0), at(40_000));
        assert_eq!(pace.wait(at(40_000)), Duration::from_millis(16));
    }
}
