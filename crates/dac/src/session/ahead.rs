//! Batches that a node with a backlog sends ahead. The session keeps them until their turn, and nothing of them is
//! received before that.

use super::{
    NodeSession, foreign, hello_expected,
    samples::{check_run, jump},
};
use crate::{ahead::NO_OFFSET, instance::Instance, memory::HeldMemory, moment::Moment};
use oasis_channel::{DacMessage, Failure, Release};
use oasis_wire::{batch, quantity::TopicId};
use std::collections::{BTreeMap, HashMap};

/// Most memory of the batches that one session keeps. The node sends further ones again in their turn.
const MAX_BYTES: usize = 1024 * 1024;
/// Memory of a batch in addition to its bytes.
const BATCH_OVERHEAD_BYTES: usize = 96;

/// The kept batches of one session.
#[derive(Debug)]
pub struct AheadBatches {
    /// By first sequence number.
    topics: HashMap<TopicId, BTreeMap<u64, AheadBatch>>,
    bytes: usize,
    memory: HeldMemory,
    /// Batches kept since the last report to the node.
    untold: Vec<(TopicId, u64)>,
}

/// A batch, as the node sent it.
#[derive(Debug)]
struct AheadBatch {
    /// Sequence number of its last sample.
    last: u64,
    bytes: Vec<u8>,
}

impl AheadBatch {
    fn cost(&self) -> usize {
        self.bytes.len() + BATCH_OVERHEAD_BYTES
    }
}

impl AheadBatches {
    /// Creates an empty collection, whose memory counts here.
    pub fn new(memory: HeldMemory) -> Self {
        Self { topics: HashMap::new(), bytes: 0, memory, untold: Vec::new() }
    }

    /// Keeps a batch. Returns whether there was room.
    fn keep(&mut self, topic: TopicId, first: u64, batch: AheadBatch) -> bool {
        let cost = batch.cost();
        if self.bytes + cost > MAX_BYTES {
            return false;
        }
        if !self.memory.add(cost) {
            self.memory.set(self.bytes);
            return false;
        }
        self.bytes += cost;
        if let Some(before) = self.topics.entry(topic).or_default().insert(first, batch) {
            self.give_back(before.cost());
        }
        self.untold.push((topic, first));
        true
    }

    /// Takes consecutive batches between these sequence numbers. `None` if some of them are not here.
    fn take(&mut self, topic: TopicId, from: u64, to: u64) -> Option<Vec<Vec<u8>>> {
        let kept = self.topics.get_mut(&topic)?;
        let mut next = from;
        for (first, batch) in kept.range(from..=to.max(from)) {
            if *first != next {
                return None;
            }
            next = batch.last.checked_add(1)?;
        }
        if next == from || next.checked_sub(1) != Some(to) {
            return None;
        }
        let mut taken = kept.split_off(&from);
        kept.append(&mut taken.split_off(&next));
        if kept.is_empty() {
            self.topics.remove(&topic);
        }
        self.give_back(taken.values().map(AheadBatch::cost).sum());
        Some(taken.into_values().map(|batch| batch.bytes).collect())
    }

    /// Discards the batches of a topic up to this sequence number: these samples have arrived in their turn.
    pub fn discard(&mut self, topic: TopicId, last: u64) {
        let Some(kept) = self.topics.get_mut(&topic) else { return };
        let mut later = kept.split_off(&last.saturating_add(1));
        std::mem::swap(kept, &mut later);
        if kept.is_empty() {
            self.topics.remove(&topic);
        }
        self.give_back(later.values().map(AheadBatch::cost).sum());
    }

    /// Appends the message that says which batches are kept.
    pub fn append_kept(&mut self, out: &mut Vec<DacMessage>) {
        if !self.untold.is_empty() {
            out.push(DacMessage::KeptAhead { topics: std::mem::take(&mut self.untold) });
        }
    }

    fn give_back(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.memory.set(self.bytes);
    }
}

impl NodeSession {
    /// Handles a batch that was sent ahead: shows it to readers that ask for that, and keeps it if there is room.
    pub(super) fn ahead(&mut self, bytes: &[u8], now: Moment) -> Result<(), Failure> {
        let Some(node) = &self.node else { return Err(hello_expected()) };
        let invalid = |error: batch::BatchError| Failure::new("batch_invalid", error.to_string());
        let topic = TopicId(batch::Header::parse(bytes).map_err(invalid)?.topic);
        let Some(instance) = self.topics.get(&topic) else { return Err(foreign(topic)) };
        let header = batch::check(bytes, &instance.probe_type).map_err(invalid)?;
        let first = header.first_sequence;
        let last = {
            let ledger = instance.ledger();
            check_run(instance, &ledger, node.run)?;
            let last = first.checked_add(u64::from(header.count).saturating_sub(1));
            match last.filter(|_| first <= ledger.highest_plausible(now.wall)) {
                Some(last) if last > ledger.last_sequence => last,
                Some(_) => return Ok(()),
                None => return Err(jump(instance, first, ledger.last_sequence)),
            }
        };
        self.show(instance, bytes, last, now);
        if !self.ahead.keep(topic, first, AheadBatch { last, bytes: bytes.to_vec() }) {
            self.dac.admission.count_refused("ahead_not_kept");
        }
        Ok(())
    }

    fn show(&self, instance: &Instance, bytes: &[u8], last: u64, now: Moment) {
        let mut memory = self.dac.ahead_batches.hold();
        if !memory.set(bytes.len() + BATCH_OVERHEAD_BYTES) {
            return;
        }
        let mut batch = bytes.to_vec();
        batch::stamp(&mut batch, NO_OFFSET, now.wall.0);
        instance.ahead.show(batch, last, memory);
        instance.log.wake_readers();
    }

    /// Handles the turn of batches that were sent ahead, as if they came now.
    pub(super) fn release(&mut self, release: Release, now: Moment) -> Result<(), Failure> {
        let Release { topic, from_sequence, to_sequence, dropped_before } = release;
        if !self.topics.contains_key(&topic) {
            return Err(foreign(topic));
        }
        let Some(batches) = self.ahead.take(topic, from_sequence, to_sequence) else {
            let message = format!(
                "release of samples {from_sequence} to {to_sequence} of topic {topic}, but this DAC does not keep batches of just these: send them"
            );
            return Err(Failure::new("release_unknown", message));
        };
        let mut dropped = dropped_before;
        for mut bytes in batches {
            batch::stamp_by_node(&mut bytes, topic.0, std::mem::take(&mut dropped));
            self.batch(&bytes, now)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryAccount;

    const TOPIC: TopicId = TopicId(7);

    fn keep(ahead: &mut AheadBatches, first: u64, last: u64) -> bool {
        ahead.keep(TOPIC, first, AheadBatch { last, bytes: vec![0; 4] })
    }

    fn taken(ahead: &mut AheadBatches, from: u64, to: u64) -> Option<usize> {
        ahead.take(TOPIC, from, to).map(|batches| batches.len())
    }

    #[test]
    fn only_consecutive_batches_from_the_first_to_the_last_number_are_taken() {
        let account = MemoryAccount::new(10_000);
        let mut ahead = AheadBatches::new(account.hold());
        assert!(keep(&mut ahead, 5, 6) && keep(&mut ahead, 7, 7) && keep(&mut ahead, 9, 9));
        for (from, to) in [(5, 9), (5, 5), (6, 7), (4, 7), (8, 8), (7, 5), (5, u64::MAX), (0, 0)] {
            assert_eq!(taken(&mut ahead, from, to), None, "{from} to {to}");
        }
        assert_eq!(taken(&mut ahead, 5, 7), Some(2));
        assert_eq!(taken(&mut ahead, 5, 7), None);
        assert_eq!(account.used(), 100);
        assert_eq!(taken(&mut ahead, 9, 9), Some(1));
        assert_eq!((account.used(), ahead.topics.len()), (0, 0));
    }

    #[test]
    fn batches_that_came_in_their_turn_are_discarded() {
        let account = MemoryAccount::new(10_000);
        let mut ahead = AheadBatches::new(account.hold());
        assert!(keep(&mut ahead, 5, 6) && keep(&mut ahead, 5, 6) && keep(&mut ahead, 9, 9));
        ahead.discard(TOPIC, 8);
        assert_eq!(account.used(), 100);
        assert_eq!((taken(&mut ahead, 5, 6), taken(&mut ahead, 9, 9)), (None, Some(1)));
    }

    #[test]
    fn above_a_limit_nothing_is_kept() {
        let account = MemoryAccount::new(250);
        let mut ahead = AheadBatches::new(account.hold());
        assert!(keep(&mut ahead, 1, 1) && keep(&mut ahead, 2, 2) && !keep(&mut ahead, 3, 3));
        assert_eq!(account.used(), 200);
        let mut out = Vec::new();
        ahead.append_kept(&mut out);
        ahead.append_kept(&mut out);
        assert_eq!(out, [DacMessage::KeptAhead { topics: vec![(TOPIC, 1), (TOPIC, 2)] }]);
        let roomy = MemoryAccount::new(usize::MAX);
        let mut ahead = AheadBatches::new(roomy.hold());
        assert!(
            (1..=10_485).all(|number| keep(&mut ahead, number, number)) && !keep(&mut ahead, 20_000, 20_000)
        );
    }
}
