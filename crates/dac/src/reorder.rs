//! Batches of one topic that arrived before their predecessors: a datagram may overtake another.
//!
//! Only bookkeeping of numbers and times of the steady clock; the session asks which batches are due.

use oasis_wire::quantity::Nanos;
use std::collections::{BTreeMap, btree_map::Entry};

/// Time that a batch waits for its predecessors, in nanoseconds.
const REORDER_TIMEOUT: u64 = 100_000_000;
/// Time after the node reported a batch as sent in which it may still arrive, in nanoseconds.
const MAX_LATENESS: u64 = 300_000_000;
/// Batches that may wait in one topic; with one more, the first stops waiting.
const MAX_WAITING: usize = 64;

/// The waiting batches of one topic.
#[derive(Debug, Default)]
pub struct Reorder {
    /// By first sequence number.
    waiting: BTreeMap<u64, WaitingBatch>,
    /// The last sequence number that the node reported as sent, and when.
    sent: Option<(u64, Nanos)>,
    /// Whether the batches that wait have waited long enough.
    is_impatient: bool,
}

/// A batch that waits for its predecessors.
#[derive(Debug)]
pub struct WaitingBatch {
    /// Sequence number of its first sample.
    pub first: u64,
    /// Samples that the node dropped before it.
    pub dropped_before: u64,
    /// When it arrived.
    pub since: Nanos,
    /// The batch.
    pub bytes: Vec<u8>,
}

impl WaitingBatch {
    /// Returns whether only samples that the node dropped are missing between `last` and this batch.
    pub fn follows(&self, last: u64) -> bool {
        self.first.saturating_sub(1).saturating_sub(last) <= self.dropped_before
    }
}

impl Reorder {
    /// Keeps a batch until its predecessors have arrived or [`Reorder::due`]. Returns false for a duplicate.
    pub fn keep(&mut self, batch: WaitingBatch) -> bool {
        match self.waiting.entry(batch.first) {
            Entry::Vacant(place) => {
                place.insert(batch);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Records up to which sequence number the node has sent.
    pub fn note_sent(&mut self, sent: u64, now: Nanos) {
        if self.sent.is_none_or(|(before, _)| sent > before) {
            self.sent = Some((sent, now));
        }
    }

    /// Ends the wait of all batches.
    pub fn stop_waiting(&mut self) {
        self.is_impatient = true;
    }

    /// Discards the first batch. Returns its bytes.
    pub fn discard_first(&mut self) -> usize {
        self.waiting.pop_first().map_or(0, |(_, batch)| batch.bytes.len())
    }

    /// Removes and returns the next batch if it follows the sample `last`, or repeats samples.
    pub fn next(&mut self, last: u64) -> Option<WaitingBatch> {
        let first = self.waiting.first_entry()?;
        first.get().follows(last).then(|| first.remove())
    }

    /// Returns the last lost sequence number if the samples after `last` did not arrive in time.
    pub fn lost(&mut self, last: u64, now: Nanos) -> Option<u64> {
        let late = |since: Nanos, patience| now.0.saturating_sub(since.0) >= patience;
        if let Some(first) = self.waiting.values().next() {
            let is_over =
                self.is_impatient || late(first.since, REORDER_TIMEOUT) || self.waiting.len() > MAX_WAITING;
            return is_over.then(|| first.first.saturating_sub(1).saturating_sub(first.dropped_before));
        }
        self.is_impatient = false;
        let (sent, since) = self.sent?;
        if sent <= last {
            self.sent = None;
            return None;
        }
        late(since, MAX_LATENESS).then(|| {
            self.sent = None;
            sent
        })
    }

    /// Returns when to call [`Reorder::lost`] again.
    pub fn due(&self) -> Option<Nanos> {
        let patience =
            if self.is_impatient || self.waiting.len() > MAX_WAITING { 0 } else { REORDER_TIMEOUT };
        let waiting = self.waiting.values().next().map(|first| first.since.0 + patience);
        let sent = self.sent.map(|(_, since)| since.0 + MAX_LATENESS);
        waiting.or(sent).map(Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(first: u64, dropped_before: u64, since: u64) -> WaitingBatch {
        WaitingBatch { first, dropped_before, since: Nanos(since), bytes: Vec::new() }
    }

    #[test]
    fn a_batch_that_was_overtaken_comes_first() {
        let mut reorder = Reorder::default();
        assert!(reorder.keep(batch(5, 0, 0)));
        assert!(!reorder.keep(batch(5, 0, 0)));
        reorder.keep(batch(3, 0, 0));
        assert!(reorder.next(1).is_none());
        assert_eq!(reorder.next(2).map(|batch| batch.first), Some(3));
        assert_eq!(reorder.next(4).map(|batch| batch.first), Some(5));
        assert_eq!(reorder.due(), None);
    }

    #[test]
    fn a_missing_batch_is_lost_except_for_samples_that_the_node_dropped() {
        let mut reorder = Reorder::default();
        reorder.keep(batch(10, 2, 7));
        assert_eq!(reorder.lost(3, Nanos(7 + REORDER_TIMEOUT - 1)), None);
        assert_eq!(reorder.due(), Some(Nanos(7 + REORDER_TIMEOUT)));
        assert_eq!(reorder.lost(3, Nanos(7 + REORDER_TIMEOUT)), Some(7));
        assert!(reorder.next(7).is_some());
    }

    #[test]
    fn a_missing_last_batch_is_lost_after_the_node_reported_it_as_sent() {
        let mut reorder = Reorder::default();
        reorder.note_sent(9, Nanos(0));
        assert_eq!(reorder.lost(5, Nanos(MAX_LATENESS - 1)), None);
        assert_eq!(reorder.lost(5, Nanos(MAX_LATENESS)), Some(9));
        reorder.note_sent(12, Nanos(MAX_LATENESS));
        assert_eq!(reorder.lost(12, Nanos(2 * MAX_LATENESS)), None);
        assert_eq!(reorder.due(), None);
    }

    #[test]
    fn stop_waiting_gives_up_only_the_predecessors_of_waiting_batches() {
        let mut reorder = Reorder::default();
        let now = 10 * MAX_LATENESS;
        reorder.note_sent(20, Nanos(now));
        reorder.keep(batch(10, 0, now));
        reorder.stop_waiting();
        assert_eq!(reorder.due(), Some(Nanos(now)));
        assert_eq!(reorder.lost(3, Nanos(now)), Some(9));
        assert!(reorder.next(9).is_some());
        assert_eq!(reorder.lost(10, Nanos(now)), None, "samples sent just now may still arrive");
    }

    #[test]
    fn the_number_of_waiting_batches_is_bounded() {
        let mut reorder = Reorder::default();
        assert!((0..=MAX_WAITING as u64).all(|number| reorder.keep(batch(10 + 2 * number, 0, 0))));
        assert_eq!(reorder.due(), Some(Nanos(0)));
        assert_eq!(reorder.lost(1, Nanos(0)), Some(9));
    }
}
