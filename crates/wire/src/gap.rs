//! A gap: consecutive sequence numbers that never reached the topic log, and why.

use crate::loss::{Cause, lenient};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Gaps kept one by one before a batch; of more, those of one cause are counted together.
const MAX_GAPS: usize = 32;

/// Missing samples between two batches, of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// First sequence number missing.
    pub from_sequence: u64,
    /// Last one missing.
    pub to_sequence: u64,
    /// Number of samples: fewer than the numbers between if gaps were counted together.
    pub count: u64,
    /// Why.
    #[serde(deserialize_with = "lenient")]
    pub cause: Cause,
    /// The node's run that the sequence numbers belong to.
    pub run: Uuid,
}

impl Gap {
    /// Whether its numbers are in order and its count fits them: another DAC may send anything.
    pub fn is_valid(&self) -> bool {
        let numbers = self.to_sequence.checked_sub(self.from_sequence);
        numbers.is_some_and(|more| (1..=more.saturating_add(1)).contains(&self.count))
    }

    /// Adds it to the gaps before a batch, which have a bounded number.
    pub fn add_to(self, gaps: &mut Vec<Self>) {
        let is_like = |known: &&mut Self| (known.cause, known.run) == (self.cause, self.run);
        let follows = |known: &&mut Self| known.to_sequence.checked_add(1) == Some(self.from_sequence);
        if let Some(last) = gaps.last_mut().filter(is_like).filter(follows) {
            return last.include(&self);
        }
        if gaps.len() < MAX_GAPS {
            return gaps.push(self);
        }
        let same = |known: &Self| (known.cause, known.run) == (self.cause, self.run);
        let place = gaps.iter().rposition(same);
        let place = place.or_else(|| gaps.iter().rposition(|known| known.cause == self.cause));
        match place.and_then(|place| gaps.get_mut(place)) {
            Some(known) => known.include(&self),
            // There are fewer causes than places, but for runs.
            None => gaps.push(self),
        }
    }

    fn include(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        if self.run == other.run {
            self.from_sequence = self.from_sequence.min(other.from_sequence);
            self.to_sequence = self.to_sequence.max(other.to_sequence);
        } else {
            // Numbers of another run say nothing here; a range that the count does not fit would be refused.
            let last = self.from_sequence.saturating_add(self.count.saturating_sub(1));
            self.to_sequence = self.to_sequence.max(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(from: u64, to: u64, cause: Cause) -> Gap {
        Gap { from_sequence: from, to_sequence: to, count: to - from + 1, cause, run: Uuid::nil() }
    }

    #[test]
    fn neighbors_of_one_cause_are_one_gap() {
        let mut gaps = Vec::new();
        for (from, to, cause) in [(1, 2, Cause::RingFull), (3, 3, Cause::RingFull), (4, 4, Cause::SpoolFull)]
        {
            gap(from, to, cause).add_to(&mut gaps);
        }
        assert_eq!(gaps, [gap(1, 3, Cause::RingFull), gap(4, 4, Cause::SpoolFull)]);
    }

    #[test]
    fn many_gaps_are_counted_by_cause_and_none_is_forgotten() {
        let mut gaps = Vec::new();
        for at in 0..1_000 {
            let cause = if at % 3 == 0 { Cause::KeptBack } else { Cause::RingFull };
            gap(10 * at, 10 * at + 4, cause).add_to(&mut gaps);
        }
        gap(20_000, 20_000, Cause::Network).add_to(&mut gaps);
        assert_eq!(gaps.len(), MAX_GAPS + 1, "one more for a cause that is new");
        let count =
            |cause| -> u64 { gaps.iter().filter(|gap| gap.cause == cause).map(|gap| gap.count).sum() };
        assert_eq!([Cause::KeptBack, Cause::RingFull, Cause::Network].map(count), [334 * 5, 666 * 5, 1]);
    }

    #[test]
    fn gaps_of_many_runs_stay_valid_when_they_are_counted_together() {
        let mut gaps = Vec::new();
        for run in 0..200 {
            Gap { run: Uuid::from_u128(run), ..gap(1, 3, Cause::NodeRestart) }.add_to(&mut gaps);
        }
        assert_eq!(gaps.len(), MAX_GAPS);
        assert_eq!(gaps.iter().map(|gap| gap.count).sum::<u64>(), 600);
        assert!(gaps.iter().all(Gap::is_valid), "{gaps:?}");
    }

    #[test]
    fn a_cause_of_a_later_release_is_unexplained() {
        let json = r#"{"from_sequence":4,"to_sequence":5,"count":2,"cause":"eclipse","run":"00000000-0000-0000-0000-000000000000"}"#;
        assert_eq!(serde_json::from_str::<Gap>(json).unwrap(), gap(4, 5, Cause::Unexplained));
    }

    #[test]
    fn numbers_in_disorder_and_counts_beyond_them_are_invalid() {
        let valid = gap(4, 6, Cause::RingFull);
        assert!(valid.is_valid() && Gap { count: 1, ..valid }.is_valid());
        assert!(gap(0, u64::MAX - 1, Cause::RingFull).is_valid());
        for count in [0, 4, u64::MAX] {
            assert!(!Gap { count, ..valid }.is_valid(), "{count}");
        }
        assert!(!Gap { to_sequence: 3, ..valid }.is_valid());
    }
}
