//! Sealed segments that the handler knows: safe ones, waiting ones, and failed attempts.

use crate::series_shares::UnreadParts;
use oasis_store::catalogue::Segment;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// Attempts to read a segment after which parts of a segment that cannot be read are listed as gaps.
const MAX_FAILED_READS: u32 = 3;

/// Time between two attempts to copy a segment that no object or manifest can have.
const REFUSED_INTERVAL: Duration = Duration::from_secs(3_600);

/// Sealed segments of the archive, by their numbers. It has no more than the catalogue lists.
#[derive(Debug, Default)]
pub struct SegmentLedger {
    /// Safe ones.
    done: BTreeSet<u64>,
    /// Ones that were waiting at the last look.
    waiting: BTreeSet<u64>,
    /// Ones of an import that is not complete. A failed import removes them.
    importing: BTreeSet<u64>,
    /// Ones with failed attempts, and how many of these could not read the archive.
    failed: BTreeMap<u64, u32>,
    /// Ones that no object or manifest can have, with the time of the last attempt.
    refused: BTreeMap<u64, Instant>,
}

/// Outcome of the earlier attempts to copy a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierAttempts {
    /// One has failed: its objects may be there.
    pub has_failed: bool,
    /// Several could not read the archive: parts that cannot be read are gaps.
    pub unread: UnreadParts,
}

impl EarlierAttempts {
    /// Nothing is known.
    pub const NONE: Self = Self { has_failed: false, unread: UnreadParts::Fail };
}

impl SegmentLedger {
    /// Compares with the segments that the catalogue lists. Returns how many were evicted while they were waiting.
    pub fn compare(&mut self, sealed: &[Segment]) -> u64 {
        let listed: BTreeSet<u64> = sealed.iter().map(|segment| segment.number).collect();
        let gone = self.waiting.difference(&listed).filter(|number| !self.importing.contains(number));
        let evicted = gone.count() as u64;
        self.done.retain(|number| listed.contains(number));
        self.importing.retain(|number| listed.contains(number));
        self.failed.retain(|number, _| listed.contains(number));
        self.refused.retain(|number, _| listed.contains(number));
        self.waiting = listed.difference(&self.done).copied().collect();
        evicted
    }

    /// Whether a segment is not safe yet.
    pub fn is_waiting(&self, number: u64) -> bool {
        self.waiting.contains(&number)
    }

    /// Marks a segment as safe.
    pub fn complete(&mut self, number: u64) {
        self.waiting.remove(&number);
        self.importing.remove(&number);
        self.failed.remove(&number);
        self.refused.remove(&number);
        self.done.insert(number);
    }

    /// Returns the segments that retention may evict: safe ones, and those that cannot be copied.
    pub fn evictable(&self) -> BTreeSet<u64> {
        self.done.iter().chain(self.refused.keys()).copied().collect()
    }

    /// Marks a segment as one of an import that is not complete.
    pub fn import(&mut self, number: u64) {
        self.importing.insert(number);
    }

    /// Marks a segment as one with a failed attempt.
    pub fn fail(&mut self, number: u64) {
        self.failed.entry(number).or_default();
    }

    /// Counts an attempt that could not read the archive.
    pub fn fail_to_read(&mut self, number: u64) {
        let failed = self.failed.entry(number).or_default();
        *failed = failed.saturating_add(1);
    }

    /// Marks a segment as one that no object or manifest can have. Another attempt would read all of it again.
    pub fn refuse(&mut self, number: u64, now: Instant) {
        self.fail(number);
        self.refused.insert(number, now);
    }

    /// Whether the next attempt to copy a refused segment must wait.
    pub fn is_refused(&self, number: u64, now: Instant) -> bool {
        self.refused.get(&number).is_some_and(|last| now.saturating_duration_since(*last) < REFUSED_INTERVAL)
    }

    /// Returns how many segments are refused.
    pub fn refused(&self) -> u64 {
        self.refused.len() as u64
    }

    /// Returns what is known of earlier attempts.
    pub fn attempts(&self, number: u64) -> EarlierAttempts {
        let Some(unread) = self.failed.get(&number) else { return EarlierAttempts::NONE };
        let unread = if *unread >= MAX_FAILED_READS { UnreadParts::Skip } else { UnreadParts::Fail };
        EarlierAttempts { has_failed: true, unread }
    }
}

/// Whether a segment was sealed long enough ago. One of a later time was sealed while the clock was ahead: it does not wait for the clock.
pub fn is_due(segment: &Segment, now: u64, after: u64) -> bool {
    let sealed = segment.sealed.0;
    sealed > now || sealed.saturating_add(after) <= now
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::quantity::Nanos;

    fn segments(numbers: &[u64]) -> Vec<Segment> {
        numbers.iter().map(|number| segment(*number, 5)).collect()
    }

    fn segment(number: u64, sealed: u64) -> Segment {
        Segment {
            number,
            rule: "*".into(),
            sealed: Nanos(sealed),
            bytes: 9,
            samples: 1,
            min_time: 1,
            max_time: 1,
        }
    }

    #[test]
    fn only_segments_that_are_evicted_while_they_wait_count_and_once() {
        let mut ledger = SegmentLedger::default();
        assert_eq!(ledger.compare(&segments(&[1, 2, 3, 4])), 0);
        ledger.complete(1);
        ledger.import(3);
        assert!(!ledger.is_waiting(1) && ledger.is_waiting(2));
        // A safe one is evicted, one that waits, and one of an import that failed.
        assert_eq!(ledger.compare(&segments(&[4, 5])), 1);
        assert_eq!(ledger.compare(&segments(&[4, 5])), 0);
        // Nothing is copied: each further one counts.
        assert_eq!(ledger.compare(&segments(&[6])), 2);
    }

    #[test]
    fn failed_attempts_are_counted_until_a_segment_is_safe_or_gone() {
        let mut ledger = SegmentLedger::default();
        ledger.compare(&segments(&[1, 2]));
        assert_eq!(ledger.attempts(1), EarlierAttempts::NONE);
        for _ in 0..MAX_FAILED_READS {
            assert_eq!(ledger.attempts(1).unread, UnreadParts::Fail);
            ledger.fail_to_read(1);
            ledger.fail(2);
        }
        assert_eq!(ledger.attempts(1), EarlierAttempts { has_failed: true, unread: UnreadParts::Skip });
        assert_eq!(ledger.attempts(2), EarlierAttempts { has_failed: true, unread: UnreadParts::Fail });
        ledger.complete(1);
        ledger.compare(&segments(&[1]));
        assert_eq!([1, 2].map(|number| ledger.attempts(number)), [EarlierAttempts::NONE; 2]);
    }

    #[test]
    fn a_refused_segment_is_tried_again_after_an_hour() {
        let (mut ledger, now) = (SegmentLedger::default(), Instant::now());
        ledger.compare(&segments(&[1, 2]));
        ledger.refuse(1, now);
        assert_eq!(ledger.evictable(), BTreeSet::from([1]));
        assert!(ledger.is_refused(1, now) && !ledger.is_refused(2, now) && ledger.refused() == 1);
        assert!(!ledger.is_refused(1, now + REFUSED_INTERVAL));
        assert!(ledger.is_waiting(1));
        // Retention evicts it.
        assert_eq!(ledger.compare(&segments(&[2])), 1);
        assert_eq!(ledger.refused(), 0);
    }

    #[test]
    fn a_segment_that_was_sealed_while_the_clock_was_ahead_is_due() {
        assert!(!is_due(&segment(1, 100), 159, 60));
        assert!(is_due(&segment(1, 100), 160, 60));
        assert!(is_due(&segment(1, 161), 160, 60));
        assert!(!is_due(&segment(1, 100), 200, u64::MAX));
    }
}
