//! Batches of one topic that came before others which may still come: a datagram may be overtaken.
//!
//! Pure bookkeeping over numbers and times; the session asks it what is due.

use oasis_wire::quantity::Nanos;
use std::collections::{BTreeMap, btree_map::Entry};

/// How long a batch waits for those before it.
const PATIENCE: u64 = 100_000_000;
/// How long after the node said that it has sent something that something may still come.
const LATEST: u64 = 300_000_000;
/// Batches that wait in one topic: with one more the first of them waits no longer.
const MAX_WAITING: usize = 64;

/// What waits in one topic.
#[derive(Debug, Default)]
pub struct Reorder {
    /// By first sequence number.
    waiting: BTreeMap<u64, Waiting>,
    /// What the node says it has sent, and when it said so.
    sent: Option<(u64, Nanos)>,
}

/// One batch.
#[derive(Debug)]
pub struct Waiting {
    /// Number of its first sample.
    pub first: u64,
    /// How many the node dropped before it.
    pub dropped_before: u64,
    /// When it came.
    pub since: Nanos,
    /// The batch.
    pub bytes: Vec<u8>,
}

impl Waiting {
    /// Whether nothing is missing between it and the sample `last` but what the node dropped.
    pub fn follows(&self, last: u64) -> bool {
        self.first.saturating_sub(1).saturating_sub(last) <= self.dropped_before
    }
}

impl Reorder {
    /// Keeps a batch until those before it are there or [`Reorder::due`]; says whether it was not there already.
    pub fn keep(&mut self, batch: Waiting) -> bool {
        match self.waiting.entry(batch.first) {
            Entry::Vacant(place) => {
                place.insert(batch);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// The node has said up to where it has sent.
    pub fn sent(&mut self, sent: u64, now: Nanos) {
        if self.sent.is_none_or(|(before, _)| sent > before) {
            self.sent = Some((sent, now));
        }
    }

    /// What waits has waited long enough.
    pub fn hurry(&mut self) {
        self.waiting.values_mut().for_each(|waiting| waiting.since = Nanos(0));
    }

    /// The next batch, if it follows the sample `last`, or is in the topic already.
    pub fn next(&mut self, last: u64) -> Option<Waiting> {
        let first = self.waiting.first_entry()?;
        first.get().follows(last).then(|| first.remove())
    }

    /// If what is missing behind the sample `last` has not come in time: up to which number it is lost.
    pub fn lost(&mut self, last: u64, now: Nanos) -> Option<u64> {
        let late = |since: Nanos, patience| now.0.saturating_sub(since.0) >= patience;
        if let Some(first) = self.waiting.values().next() {
            let is_over = late(first.since, PATIENCE) || self.waiting.len() > MAX_WAITING;
            return is_over.then(|| first.first.saturating_sub(1).saturating_sub(first.dropped_before));
        }
        let (sent, since) = self.sent?;
        if sent <= last {
            self.sent = None;
            return None;
        }
        late(since, LATEST).then(|| {
            self.sent = None;
            sent
        })
    }

    /// When to ask [`Reorder::lost`] again.
    pub fn due(&self) -> Option<Nanos> {
        let patience = if self.waiting.len() > MAX_WAITING { 0 } else { PATIENCE };
        let waiting = self.waiting.values().next().map(|first| first.since.0 + patience);
        let sent = self.sent.map(|(_, since)| since.0 + LATEST);
        waiting.or(sent).map(Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(first: u64, dropped_before: u64, since: u64) -> Waiting {
        Waiting { first, dropped_before, since: Nanos(since), bytes: Vec::new() }
    }

    #[test]
    fn what_was_overtaken_comes_first() {
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
    fn a_batch_that_does_not_come_is_lost_up_to_what_the_node_dropped_itself() {
        let mut reorder = Reorder::default();
        reorder.keep(batch(10, 2, 7));
        assert_eq!(reorder.lost(3, Nanos(7 + PATIENCE - 1)), None);
        assert_eq!(reorder.due(), Some(Nanos(7 + PATIENCE)));
        assert_eq!(reorder.lost(3, Nanos(7 + PATIENCE)), Some(7));
        assert!(reorder.next(7).is_some());
    }

    #[test]
    fn the_last_batch_is_missed_because_the_node_says_it_has_sent_it() {
        let mut reorder = Reorder::default();
        reorder.sent(9, Nanos(0));
        assert_eq!(reorder.lost(5, Nanos(LATEST - 1)), None);
        assert_eq!(reorder.lost(5, Nanos(LATEST)), Some(9));
        reorder.sent(12, Nanos(LATEST));
        assert_eq!(reorder.lost(12, Nanos(2 * LATEST)), None);
        assert_eq!(reorder.due(), None);
    }

    #[test]
    fn who_hurries_gives_up_what_is_waited_for_and_nothing_else() {
        let mut reorder = Reorder::default();
        let now = 10 * LATEST;
        reorder.sent(20, Nanos(now));
        reorder.keep(batch(10, 0, now));
        reorder.hurry();
        assert_eq!(reorder.due(), Some(Nanos(PATIENCE)));
        assert_eq!(reorder.lost(3, Nanos(now)), Some(9));
        assert!(reorder.next(9).is_some());
        assert_eq!(reorder.lost(10, Nanos(now)), None, "what was sent just now may still come");
    }

    #[test]
    fn no_more_than_so_many_wait() {
        let mut reorder = Reorder::default();
        assert!((0..=MAX_WAITING as u64).all(|number| reorder.keep(batch(10 + 2 * number, 0, 0))));
        assert_eq!(reorder.due(), Some(Nanos(0)));
        assert_eq!(reorder.lost(1, Nanos(0)), Some(9));
    }
}
