//! The newest batch of each instance, to be sent ahead of a backlog, and the batches that the DAC keeps until their turn.
//!
//! A batch that is sent ahead stays in the queue like any other. When its turn comes, a short message takes its place if the
//! DAC keeps it. At most half of what is sent goes ahead, so that the backlog ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Most memory of the batches that may go ahead, in bytes.
const LIMIT: usize = 1024 * 1024;
/// Most bytes that go ahead before others, also at the beginning of a connection.
const CREDIT: isize = 64 * 1024;
/// Most batches that the DAC is known to keep. It keeps fewer: 1 MiB of a node.
const MOST_KEPT: usize = 65_536;

/// A batch that may go ahead.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Sequence number of its first sample.
    pub first_sequence: u64,
    /// The batch, without a topic.
    pub bytes: Arc<Vec<u8>>,
}

/// Batches that go ahead, and those that the DAC keeps.
#[derive(Debug, Clone)]
pub struct Ahead {
    /// Whether this DAC takes no batches ahead. Unknown before the first connection.
    is_refused: bool,
    /// The newest batch of each instance, and its number in `turns`.
    newest: BTreeMap<usize, (u64, Candidate)>,
    /// These instances, in the order in which their batches go.
    turns: BTreeMap<u64, usize>,
    /// The last number in `turns` so far.
    last_turn: u64,
    /// Bytes of these batches.
    bytes: usize,
    /// First sequence numbers of the batches that the DAC keeps, by instance.
    kept: BTreeMap<usize, BTreeSet<u64>>,
    kept_count: usize,
    /// Bytes that may go ahead: as many as were sent in order. The last batch may exceed it.
    credit: isize,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            is_refused: false,
            newest: BTreeMap::new(),
            turns: BTreeMap::new(),
            last_turn: 0,
            bytes: 0,
            kept: BTreeMap::new(),
            kept_count: 0,
            credit: CREDIT,
        }
    }
}

impl Ahead {
    /// Begins a connection to a DAC, which keeps nothing yet.
    pub fn connected(&mut self, is_taken: bool) {
        self.is_refused = !is_taken;
        if self.is_refused {
            (self.newest, self.turns, self.bytes) = Default::default();
        }
        (self.kept, self.kept_count, self.credit) = (BTreeMap::new(), 0, CREDIT);
    }

    /// Offers the newest batch of an instance. An older one that has not gone ahead goes in its turn.
    pub fn offer(&mut self, instance: usize, candidate: Candidate) {
        if self.is_refused {
            return;
        }
        let turn = self.remove(instance).map_or(self.last_turn + 1, |(turn, _)| turn);
        self.last_turn = self.last_turn.max(turn);
        self.bytes += candidate.bytes.len();
        self.turns.insert(turn, instance);
        self.newest.insert(instance, (turn, candidate));
        while self.bytes > LIMIT && self.pop().is_some() {}
    }

    /// Returns whether a batch may go ahead now.
    pub fn is_due(&self) -> bool {
        self.credit > 0 && !self.turns.is_empty()
    }

    /// Takes the next batch to send ahead.
    pub fn next(&mut self) -> Option<(usize, Candidate)> {
        let (instance, candidate) = if self.credit > 0 { self.pop()? } else { return None };
        self.credit -= candidate.bytes.len() as isize;
        Some((instance, candidate))
    }

    fn pop(&mut self) -> Option<(usize, Candidate)> {
        let (_, &instance) = self.turns.first_key_value()?;
        self.remove(instance).map(|(_, candidate)| (instance, candidate))
    }

    fn remove(&mut self, instance: usize) -> Option<(u64, Candidate)> {
        let (turn, candidate) = self.newest.remove(&instance)?;
        self.turns.remove(&turn);
        self.bytes -= candidate.bytes.len();
        Some((turn, candidate))
    }

    /// Notes that bytes were sent in order: as many may go ahead.
    pub fn note_in_order(&mut self, bytes: usize) {
        self.credit = (self.credit + bytes as isize).min(CREDIT);
    }

    /// Notes that the DAC keeps a batch.
    pub fn note_kept(&mut self, instance: usize, first_sequence: u64) {
        if self.kept_count < MOST_KEPT && self.kept.entry(instance).or_default().insert(first_sequence) {
            self.kept_count += 1;
        }
    }

    /// Returns whether the DAC keeps a batch.
    pub fn is_kept(&self, instance: usize, first_sequence: u64) -> bool {
        self.kept.get(&instance).is_some_and(|kept| kept.contains(&first_sequence))
    }

    /// Forgets the batches of an instance up to one that begins with this sequence number.
    pub fn forget(&mut self, instance: usize, first_sequence: u64) {
        if self.newest.get(&instance).is_some_and(|(_, newest)| newest.first_sequence <= first_sequence) {
            self.remove(instance);
        }
        let Some(kept) = self.kept.get_mut(&instance) else { return };
        let later = kept.split_off(&first_sequence.saturating_add(1));
        self.kept_count -= kept.len();
        *kept = later;
        if kept.is_empty() {
            self.kept.remove(&instance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(ahead: &mut Ahead, instance: usize, first_sequence: u64, length: usize) {
        ahead.offer(instance, Candidate { first_sequence, bytes: Arc::new(vec![0; length]) });
    }

    fn next(ahead: &mut Ahead) -> Option<(usize, u64)> {
        ahead.next().map(|(instance, candidate)| (instance, candidate.first_sequence))
    }

    #[test]
    fn the_newest_batch_of_each_instance_goes_and_as_many_bytes_in_order_after_it() {
        let mut ahead = Ahead { credit: 1, ..Ahead::default() };
        offer(&mut ahead, 0, 1, 10);
        offer(&mut ahead, 1, 1, 10);
        offer(&mut ahead, 0, 2, 10);
        assert_eq!(next(&mut ahead), Some((0, 2)));
        assert!(!ahead.is_due() && next(&mut ahead).is_none());
        ahead.note_in_order(9);
        assert!(!ahead.is_due());
        ahead.note_in_order(1);
        offer(&mut ahead, 0, 3, 10);
        assert_eq!(next(&mut ahead), Some((1, 1)), "each instance has its turn");
        ahead.note_in_order(10);
        assert_eq!(next(&mut ahead), Some((0, 3)));
        ahead.note_in_order(1_000_000);
        assert!(!ahead.is_due());
        assert_eq!((ahead.bytes, ahead.credit), (0, CREDIT));
    }

    #[test]
    fn a_batch_whose_turn_came_does_not_go_ahead() {
        let mut ahead = Ahead::default();
        offer(&mut ahead, 0, 5, 10);
        ahead.forget(0, 4);
        assert!(ahead.is_due());
        ahead.forget(0, 5);
        assert!(!ahead.is_due() && ahead.turns.is_empty());
    }

    #[test]
    fn a_dac_keeps_batches_until_their_turn_or_the_end_of_the_connection() {
        let mut ahead = Ahead::default();
        [3, 5, 9].into_iter().for_each(|first| ahead.note_kept(0, first));
        assert!(ahead.is_kept(0, 5) && !ahead.is_kept(0, 4) && !ahead.is_kept(1, 5));
        ahead.forget(0, 5);
        assert!(!ahead.is_kept(0, 5) && ahead.is_kept(0, 9));
        assert_eq!(ahead.kept_count, 1);
        ahead.connected(true);
        assert!(!ahead.is_kept(0, 9));
        assert_eq!(ahead.kept_count, 0);
    }

    #[test]
    fn a_dac_that_takes_nothing_ahead_is_offered_nothing() {
        let mut ahead = Ahead::default();
        offer(&mut ahead, 0, 1, 10);
        ahead.connected(true);
        assert!(ahead.is_due(), "the newest sample from before the connection");
        ahead.connected(false);
        offer(&mut ahead, 0, 2, 10);
        assert!(!ahead.is_due());
    }

    #[test]
    fn the_batches_that_may_go_have_a_limit() {
        let mut ahead = Ahead::default();
        (0..40).for_each(|instance| offer(&mut ahead, instance, 1, 64 * 1024));
        assert_eq!((ahead.bytes, ahead.turns.len()), (LIMIT, 16));
        assert_eq!(next(&mut ahead), Some((24, 1)));
    }
}
