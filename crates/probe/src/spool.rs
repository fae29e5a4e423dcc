//! Encoded batches on their way to the DAC: kept until acknowledged, bounded, drops counted for each instance.
//!
//! Above the bound, the oldest unsent batch is dropped. Batches that are sent but not acknowledged are kept in case
//! the connection breaks. They are bounded too, because at most half of the spool is in transit.
//!
//! The sequence numbers alone show what is missing before a batch: samples between it and the batch before it. The
//! batch says how many of them the ring dropped, the flight recorder kept back, or did not fit the schema. The spool
//! dropped the rest.
//!
//! A node with a file spool has the same queue. Batches from the collector pass through the [`Intake`] to the file
//! first; the queue contains those that are in transit or next.

use crate::{intake::Intake, outgoing::Outgoing};
use oasis_channel::Drops;
use oasis_wire::{batch, quantity::TopicId};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};

/// Samples that have a sequence number but are in no batch, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missing {
    /// The ring dropped them.
    pub ring_full: u64,
    /// The flight recorder kept them back.
    pub kept_back: u64,
    /// Their rows did not fit the schema.
    pub invalid_row: u64,
}

/// A batch from the collector.
#[derive(Debug, Clone)]
pub struct NewBatch {
    /// Index of the instance within the node.
    pub instance: usize,
    /// Sequence number of its first sample.
    pub first_sequence: u64,
    /// Number of samples.
    pub count: u16,
    /// Samples missing before it.
    pub before: Missing,
    /// Shared with the thread that writes it to the socket.
    pub bytes: Arc<Vec<u8>>,
}

/// One batch in the spool.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedBatch {
    /// Index of the instance within the node.
    pub instance: usize,
    /// Sequence number of its first sample.
    pub first_sequence: u64,
    /// Number of samples.
    pub count: u16,
    /// Samples of the instance missing since the run began, up to this batch.
    pub before: Missing,
    /// Shared with the thread that writes it to the socket.
    pub bytes: Arc<Vec<u8>>,
    /// Its place in the file spool, if it is there.
    pub stored: Option<FilePlace>,
}

/// A place in the file spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePlace {
    /// Number of the segment within the run.
    pub segment: u64,
    /// Byte at which the batch's record begins.
    pub offset: u64,
}

impl QueuedBatch {
    /// Returns its memory in bytes.
    pub fn cost(&self) -> usize {
        Outgoing::<Self>::cost(self.bytes.len())
    }

    /// Returns the sequence number of its last sample.
    pub fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }
}

/// State of one instance.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    topic: Option<TopicId>,
    /// Samples missing before the last batch.
    before: Missing,
    /// Last sequence number added to the queue: a batch that is in the file twice is queued once.
    admitted: u64,
    acknowledged: u64,
    /// Up to the last sample that left the spool: this connection's DAC has it.
    delivered: Place,
    /// Up to the last sample sent on this connection.
    sent: Place,
}

/// A position in the sequence numbers of an instance, and the drops before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Sequence number of the last sample before it.
    pub sequence: u64,
    /// Samples dropped before it since the run began.
    pub dropped: Drops,
}

impl Place {
    /// Advances past a batch. Returns how many samples were dropped in between.
    fn advance(&mut self, batch: &QueuedBatch) -> u64 {
        let hole = (batch.first_sequence - 1).saturating_sub(self.sequence);
        let mut left = hole;
        let mut explain = |told: &mut u64, before: u64| {
            let here = left.min(before.saturating_sub(*told));
            *told += here;
            left -= here;
        };
        explain(&mut self.dropped.ring_full, batch.before.ring_full);
        explain(&mut self.dropped.kept_back, batch.before.kept_back);
        explain(&mut self.dropped.invalid_row, batch.before.invalid_row);
        self.dropped.spool_full += left;
        self.sequence = batch.last_sequence();
        hole
    }
}

/// The queue.
#[derive(Debug)]
pub struct Spool {
    batches: Outgoing<QueuedBatch>,
    limit: usize,
    accounts: Vec<Account>,
    instances: HashMap<TopicId, usize>,
    /// Batches that wait for the file, if there is one.
    intake: Option<Intake>,
}

impl Spool {
    /// Creates a spool of at most `limit` bytes for `instances` instances.
    pub fn new(limit: usize, instances: usize) -> Self {
        Self {
            batches: Outgoing::default(),
            limit,
            accounts: vec![Account::default(); instances],
            instances: HashMap::new(),
            intake: None,
        }
    }

    /// Creates a spool for a node with a file spool: half of the bytes for batches that wait for the file, half for
    /// the queue.
    pub fn before_a_file(limit: usize, instances: usize) -> Self {
        Self::with_intake(Intake::new(limit / 2), limit / 2, instances)
    }

    /// Creates a spool of at most `limit` bytes that is fed from `intake`.
    pub fn with_intake(intake: Intake, limit: usize, instances: usize) -> Self {
        Self { intake: Some(intake), ..Self::new(limit, instances) }
    }

    /// Creates a spool for the run of an earlier process, delivered up to these places.
    pub fn for_earlier_run(limit: usize, delivered: &[Place]) -> Self {
        let mut spool = Self::before_a_file(limit, delivered.len());
        for (account, &place) in spool.accounts.iter_mut().zip(delivered) {
            (account.delivered, account.sent) = (place, place);
            let Drops { ring_full, kept_back, invalid_row, spool_full: _ } = place.dropped;
            account.before = Missing { ring_full, kept_back, invalid_row };
            account.admitted = place.sequence;
        }
        spool.set_lagging(true);
        spool
    }

    /// Returns up to where an instance was sent on this connection or delivered before, and the drops before that.
    pub fn sent(&self, instance: usize) -> Place {
        self.accounts[instance].sent
    }

    /// Returns the DAC's topic of an instance, once registered.
    pub fn topic(&self, instance: usize) -> Option<TopicId> {
        self.accounts[instance].topic
    }

    /// Adds a batch from the collector.
    pub fn push(&mut self, batch: NewBatch) {
        let NewBatch { instance, first_sequence, count, before, bytes } = batch;
        let account = &mut self.accounts[instance];
        account.before.ring_full += before.ring_full;
        account.before.kept_back += before.kept_back;
        account.before.invalid_row += before.invalid_row;
        let batch =
            QueuedBatch { instance, first_sequence, count, before: account.before, bytes, stored: None };
        match &mut self.intake {
            Some(intake) => intake.push(batch),
            None => self.keep(batch),
        }
    }

    /// Queues a batch; drops the oldest unsent ones if needed.
    pub fn keep(&mut self, batch: QueuedBatch) {
        self.admit(batch);
        while self.batches.bytes() > self.limit && self.batches.evict_unsent().is_some() {}
    }

    /// Queues a batch without dropping others: only for one that [`Spool::room`] allows.
    pub fn admit(&mut self, batch: QueuedBatch) {
        let account = &mut self.accounts[batch.instance];
        if batch.last_sequence() > account.admitted {
            account.admitted = batch.last_sequence();
            let length = batch.bytes.len();
            self.batches.push(batch, length);
        }
    }

    /// Returns the bytes that can be admitted.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.batches.bytes())
    }

    /// Returns whether a batch can be admitted: at least one always can.
    pub fn has_room_for(&self, batch: &QueuedBatch) -> bool {
        self.batches.is_empty() || batch.cost() <= self.room()
    }

    /// Returns whether enough was delivered to read the file again.
    pub fn wants_more(&self) -> bool {
        self.room() > self.limit / 2
    }

    /// Returns whether batches wait for the file.
    pub fn has_intake(&self) -> bool {
        self.intake.as_ref().is_some_and(Intake::has_batches)
    }

    /// Returns whether there is a file and the spooler has not settled every batch.
    pub fn is_unsettled(&self) -> bool {
        self.intake.as_ref().is_some_and(|intake| !intake.is_settled())
    }

    /// Takes the batches that wait for the file; the spooler settles them.
    pub fn take_intake(&mut self) -> Vec<QueuedBatch> {
        self.intake.as_mut().map(Intake::take).unwrap_or_default()
    }

    /// Settles the taken batches, except `rest`. `is_lagging` tells whether some of them are only in the file.
    pub fn settle_intake(&mut self, rest: Vec<QueuedBatch>, is_lagging: bool) {
        if let Some(intake) = &mut self.intake {
            intake.settle(rest.into_iter());
            intake.is_lagging = is_lagging;
        }
    }

    /// Returns whether the file has batches that are not in this queue.
    pub fn is_lagging(&self) -> bool {
        self.intake.as_ref().is_some_and(|intake| intake.is_lagging)
    }

    /// Sets [`Spool::is_lagging`].
    pub fn set_lagging(&mut self, is_lagging: bool) {
        if let Some(intake) = &mut self.intake {
            intake.is_lagging = is_lagging;
        }
    }

    /// Returns the first segment of the file that a queued batch is in.
    pub fn oldest_segment(&self) -> Option<u64> {
        self.batches.iter().find_map(|batch| Some(batch.stored?.segment))
    }

    /// Returns up to where the DAC has each instance's samples.
    pub fn delivered(&self) -> Vec<Place> {
        self.accounts.iter().map(|account| account.delivered).collect()
    }

    /// Handles a new connection: the instances have these topics, and batches in transit on the old connection may be
    /// lost.
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

    /// Returns whether [`Spool::take`] would return anything.
    pub fn has_unsent(&self) -> bool {
        self.batches.has_unsent() && self.batches.sent_bytes() <= self.limit / 2
    }

    /// Takes at most `max` batches to write, with topic and drops filled in. Returns whether the first of them
    /// reports drops. No later one does: counters that are sent before these batches stand for that one gap.
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

    /// Handles an acknowledgement: the DAC has everything of `topic` up to `sequence`.
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

    /// Returns whether everything has been acknowledged.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.intake.as_ref().is_none_or(Intake::is_empty)
    }
}

#[cfg(test)]
mod tests;
