//! Encoded batches on their way to the DAC: kept until acknowledged, bounded, drops counted per instance.
//!
//! The bound drops the oldest batch that was not sent yet. What is sent and not acknowledged stays for the case that the
//! connection breaks; it is bounded too, because no more than half of the spool is ever under way.
//!
//! What is missing in front of a batch is known from the numbers alone: whatever lies between it and the batch before it was
//! dropped by the ring, kept back by the flight recorder or no row of its schema, as the batch itself says, else dropped here.
//!
//! A node with a file spool has the same queue: what the collector brings goes through the [`Intake`] to the file first, and the queue
//! holds the part of it that is under way or next.

use crate::{intake::Intake, outgoing::Outgoing};
use oasis_channel::Drops;
use oasis_wire::{batch, quantity::TopicId};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};

/// Samples that have a number and are in no batch, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missing {
    /// The ring dropped them.
    pub dropped_ring: u64,
    /// The flight recorder kept them back.
    pub kept_back: u64,
    /// Their rows did not fit the schema.
    pub invalid: u64,
}

/// One batch as the collector hands it over.
#[derive(Debug, Clone)]
pub struct Spooled {
    /// Index of the instance within the node.
    pub instance: usize,
    /// Its samples' numbers.
    pub first_sequence: u64,
    /// How many samples.
    pub count: u16,
    /// What is missing ahead of them.
    pub before: Missing,
    /// Shared with the thread that writes it to the socket.
    pub bytes: Arc<Vec<u8>>,
}

/// One batch in the spool.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Index of the instance within the node.
    pub instance: usize,
    /// Its samples' numbers.
    pub first_sequence: u64,
    /// How many samples.
    pub count: u16,
    /// What is missing of the instance since the run began, up to this batch.
    pub before: Missing,
    /// Shared with the thread that writes it to the socket.
    pub bytes: Arc<Vec<u8>>,
    /// Where the file spool has it, if it does.
    pub stored: Option<Stored>,
}

/// A place in the file spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Number of the segment within the run.
    pub segment: u64,
    /// Byte at which the batch's record begins.
    pub offset: u64,
}

impl Queued {
    /// Memory that it takes.
    pub fn cost(&self) -> usize {
        Outgoing::<Self>::cost(self.bytes.len())
    }

    /// Number of its last sample.
    pub fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }
}

/// What is known of one instance.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    topic: Option<TopicId>,
    /// What is missing ahead of what was pushed.
    before: Missing,
    /// Last number that came into the queue: a batch that the file has twice is taken once.
    admitted: u64,
    acknowledged: u64,
    /// Up to what left the spool: this connection's DAC has it.
    delivered: Place,
    /// Up to what was sent on this connection.
    sent: Place,
}

/// A place in the numbers of an instance, and what was dropped on the way to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Number of the last sample before it.
    pub sequence: u64,
    /// Dropped before it since the run began.
    pub dropped: Drops,
}

impl Place {
    /// Moves behind a batch; says how many samples were dropped in between.
    fn advance(&mut self, batch: &Queued) -> u64 {
        let hole = (batch.first_sequence - 1).saturating_sub(self.sequence);
        let mut left = hole;
        let mut explain = |told: &mut u64, before: u64| {
            let here = left.min(before.saturating_sub(*told));
            *told += here;
            left -= here;
        };
        explain(&mut self.dropped.ring, batch.before.dropped_ring);
        explain(&mut self.dropped.kept_back, batch.before.kept_back);
        explain(&mut self.dropped.invalid, batch.before.invalid);
        self.dropped.spool += left;
        self.sequence = batch.last_sequence();
        hole
    }
}

/// The queue.
#[derive(Debug)]
pub struct Spool {
    batches: Outgoing<Queued>,
    limit: usize,
    accounts: Vec<Account>,
    instances: HashMap<TopicId, usize>,
    /// What waits for the file, if there is one.
    intake: Option<Intake>,
}

impl Spool {
    /// At most `limit` bytes for `instances` instances.
    pub fn new(limit: usize, instances: usize) -> Self {
        Self {
            batches: Outgoing::default(),
            limit,
            accounts: vec![Account::default(); instances],
            instances: HashMap::new(),
            intake: None,
        }
    }

    /// As [`Spool::new`] for a node with a file spool: half of the bytes for what waits for the file, half for what is under way.
    pub fn before_a_file(limit: usize, instances: usize) -> Self {
        Self::behind(Intake::new(limit / 2), limit / 2, instances)
    }

    /// At most `limit` bytes behind what waits for the file.
    pub fn behind(intake: Intake, limit: usize, instances: usize) -> Self {
        Self { intake: Some(intake), ..Self::new(limit, instances) }
    }

    /// What an earlier process left in the file spool, delivered up to these places.
    pub fn left_behind(limit: usize, delivered: &[Place]) -> Self {
        let mut spool = Self::before_a_file(limit, delivered.len());
        for (account, &place) in spool.accounts.iter_mut().zip(delivered) {
            (account.delivered, account.sent) = (place, place);
            let Drops { ring, kept_back, invalid, spool: _ } = place.dropped;
            account.before = Missing { dropped_ring: ring, kept_back, invalid };
            account.admitted = place.sequence;
        }
        spool.set_behind(true);
        spool
    }

    /// Up to where an instance was sent on this connection or delivered before, and what was dropped ahead of that.
    pub fn sent(&self, instance: usize) -> Place {
        self.accounts[instance].sent
    }

    /// The DAC's topic for an instance, once registered.
    pub fn topic(&self, instance: usize) -> Option<TopicId> {
        self.accounts[instance].topic
    }

    /// Takes a batch from the collector.
    pub fn push(&mut self, batch: Spooled) {
        let Spooled { instance, first_sequence, count, before, bytes } = batch;
        let account = &mut self.accounts[instance];
        account.before.dropped_ring += before.dropped_ring;
        account.before.kept_back += before.kept_back;
        account.before.invalid += before.invalid;
        let batch = Queued { instance, first_sequence, count, before: account.before, bytes, stored: None };
        match &mut self.intake {
            Some(intake) => intake.push(batch),
            None => self.keep(batch),
        }
    }

    /// Queues a batch, at the cost of the oldest unsent ones if need be.
    pub fn keep(&mut self, batch: Queued) {
        self.admit(batch);
        while self.batches.bytes() > self.limit && self.batches.evict_unsent().is_some() {}
    }

    /// Queues a batch, whatever is there already: for one that there is [`Spool::room`] for.
    pub fn admit(&mut self, batch: Queued) {
        let account = &mut self.accounts[batch.instance];
        if batch.last_sequence() > account.admitted {
            account.admitted = batch.last_sequence();
            let length = batch.bytes.len();
            self.batches.push(batch, length);
        }
    }

    /// Bytes that can be admitted.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.batches.bytes())
    }

    /// Whether a batch can be admitted: at least one always can.
    pub fn has_room_for(&self, batch: &Queued) -> bool {
        self.batches.is_empty() || batch.cost() <= self.room()
    }

    /// Whether so much is gone that the file may be read again.
    pub fn wants_more(&self) -> bool {
        self.room() > self.limit / 2
    }

    /// Whether something waits for the file.
    pub fn has_intake(&self) -> bool {
        self.intake.as_ref().is_some_and(Intake::has_batches)
    }

    /// Whether there is a file and the spooler has not yet found a place for everything.
    pub fn is_unsettled(&self) -> bool {
        self.intake.as_ref().is_some_and(|intake| !intake.is_settled())
    }

    /// What waits for the file: the spooler settles when it has found places for it.
    pub fn take_intake(&mut self) -> Vec<Queued> {
        self.intake.as_mut().map(Intake::take).unwrap_or_default()
    }

    /// Places were found for what was taken, but for `rest`; `is_behind` tells whether some of it is in the file only.
    pub fn settle_intake(&mut self, rest: Vec<Queued>, is_behind: bool) {
        if let Some(intake) = &mut self.intake {
            intake.settle(rest.into_iter());
            intake.is_behind = is_behind;
        }
    }

    /// Whether the file has batches that this queue has not seen.
    pub fn is_behind(&self) -> bool {
        self.intake.as_ref().is_some_and(|intake| intake.is_behind)
    }

    /// See [`Spool::is_behind`].
    pub fn set_behind(&mut self, is_behind: bool) {
        if let Some(intake) = &mut self.intake {
            intake.is_behind = is_behind;
        }
    }

    /// The first segment of the file that something here is in.
    pub fn oldest_segment(&self) -> Option<u64> {
        self.batches.iter().find_map(|batch| Some(batch.stored?.segment))
    }

    /// Up to where the DAC has each instance's samples.
    pub fn delivered(&self) -> Vec<Place> {
        self.accounts.iter().map(|account| account.delivered).collect()
    }

    /// A new connection: the instances have these topics, and whatever the old connection carried may be lost.
    pub fn connected(&mut self, topics: impl Iterator<Item = (usize, TopicId)>) {
        self.instances.clear();
        for (instance, topic) in topics {
            let account = &mut self.accounts[instance];
            account.topic = Some(topic);
            account.sent = account.delivered;
            self.instances.insert(topic, instance);
        }
        self.batches.send_again();
    }

    /// Whether [`Spool::take`] would return anything.
    pub fn has_unsent(&self) -> bool {
        self.batches.has_unsent() && self.batches.sent_bytes() <= self.limit / 2
    }

    /// The next batches to write, at most `max`, with topic and drops written in, and whether the first of them tells of drops.
    /// No other one does: counters that are sent ahead of these batches mean that one gap.
    pub fn take(&mut self, max: usize, out: &mut Vec<Arc<Vec<u8>>>) -> bool {
        let mut tells_of_drops = false;
        while out.len() < max && self.has_unsent() {
            let Some(batch) = self.batches.next_unsent() else { break };
            let account = &mut self.accounts[batch.instance];
            let Some(topic) = account.topic else { break };
            let mut place = account.sent;
            let dropped = place.advance(batch);
            if dropped > 0 && !out.is_empty() {
                break;
            }
            tells_of_drops |= dropped > 0;
            account.sent = place;
            let bytes = Arc::make_mut(&mut batch.bytes);
            batch::stamp_by_node(bytes, topic.0, u32::try_from(dropped).unwrap_or(u32::MAX));
            out.push(batch.bytes.clone());
            self.batches.note_sent();
        }
        tells_of_drops
    }

    /// The DAC has everything of `topic` up to `sequence`.
    pub fn acknowledge(&mut self, topic: TopicId, sequence: u64) {
        if let Some(&instance) = self.instances.get(&topic) {
            let account = &mut self.accounts[instance];
            account.acknowledged = account.acknowledged.max(sequence);
        }
        // A connection keeps order and the DAC acknowledges all it has read, so the front is never stuck for long.
        let accounts = &mut self.accounts;
        while self.batches.has_sent()
            && let Some(front) = self
                .batches
                .take_acknowledged(|front| front.last_sequence() <= accounts[front.instance].acknowledged)
        {
            accounts[front.instance].delivered.advance(&front);
        }
    }

    /// Whether everything pushed has been acknowledged.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.intake.as_ref().is_none_or(Intake::is_empty)
    }
}

#[cfg(test)]
mod tests;
