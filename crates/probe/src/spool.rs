//! Encoded batches on their way to the DAC: kept until they are safe there, bounded, drops counted for each instance.
//!
//! The DAC acknowledges twice. A batch that it has *received* is not sent again to this DAC. A batch that is *safe* leaves
//! the spool. Until then the batch is kept for the DAC's successor: whatever the old one did not store is sent again.
//! A DAC that does not say what is safe is trusted with what it has received.
//!
//! Above the bound, the oldest received batch leaves first, because only the end of its DAC could lose it; then the oldest
//! unsent batch is dropped. Batches in transit stay. They are bounded too, because at most half of the spool is in transit.
//!
//! The sequence numbers alone show what is missing before a batch: samples between it and the batch before it. The
//! batch says how many of them the ring dropped, the flight recorder kept back, or did not fit the schema. The spool
//! dropped the rest.
//!
//! While there is a backlog, the newest batch of each instance also goes [ahead](ahead) of it.
//!
//! A node with a file spool has the same queue. Batches from the collector pass through the [`Intake`] to the file
//! first; the queue contains those that are in transit or next. Received batches wait in the file alone, and are read
//! again for a new DAC.

mod ahead;
mod received_places;
mod shipment;

use crate::{intake::Intake, outgoing::Outgoing};
use ahead::{Ahead, Candidate};
use oasis_channel::{Drops, SafeWhen};
use oasis_wire::{batch, quantity::TopicId};
use received_places::ReceivedPlaces;
use serde::{Deserialize, Serialize};
pub use shipment::Shipment;
use std::{collections::HashMap, sync::Arc};

/// Unsent bytes of a backlog, unless the node has a byte budget.
const BACKLOG: usize = 64 * 1024;
/// Fewer unsent bytes are no backlog.
const SMALLEST_BACKLOG: usize = 1024;

/// Samples that have a sequence number but are in no batch, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missing {
    /// The ring dropped them.
    pub ring_full: u64,
    /// The flight recorder kept them back.
    pub kept_back: u64,
    /// Their rows did not fit the schema.
    pub invalid_row: u64,
    /// The node did not take them, because it was stopped.
    pub not_taken: u64,
    /// They were lost between a device and its gateway.
    pub network: u64,
}

impl From<Missing> for Drops {
    fn from(missing: Missing) -> Self {
        let Missing { ring_full, kept_back, invalid_row, not_taken, network } = missing;
        Self { ring_full, spool_full: 0, kept_back, invalid_row, not_taken, network }
    }
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

impl FilePlace {
    /// Position of the oldest batch of the run.
    pub const BEGIN: Self = Self { segment: 0, offset: 0 };
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
#[derive(Debug, Clone, Default)]
struct Account {
    topic: Option<TopicId>,
    /// Samples missing before the last batch.
    before: Missing,
    /// Last sequence number added to the queue: a batch that is in the file twice is queued once.
    admitted: u64,
    /// Last sequence number that this DAC has received.
    acknowledged: u64,
    /// Last sequence number that is safe.
    safe: u64,
    /// Up to the last sample that left the spool.
    released: SequencePosition,
    /// Up to the last sample that this DAC has received.
    received: SequencePosition,
    /// Up to the last sample sent on this connection, or received before.
    sent: SequencePosition,
    /// Ends of received batches that only the file has.
    in_file: ReceivedPlaces,
}

/// A position in the sequence numbers of an instance, and the drops before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequencePosition {
    /// Sequence number of the last sample before it.
    pub sequence: u64,
    /// Samples dropped before it since the run began.
    pub dropped: Drops,
}

impl SequencePosition {
    /// Advances past a batch. Returns the number of samples that were dropped before it.
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
        explain(&mut self.dropped.not_taken, batch.before.not_taken);
        explain(&mut self.dropped.network, batch.before.network);
        self.dropped.spool_full += left;
        self.sequence = batch.last_sequence();
        hole
    }
}

/// The queue.
#[derive(Debug, Clone)]
pub struct Spool {
    batches: Outgoing<QueuedBatch>,
    limit: usize,
    accounts: Vec<Account>,
    instances: HashMap<TopicId, usize>,
    /// Batches that wait for the file, if there is one.
    intake: Option<Intake>,
    /// Condition that makes samples safe at this DAC; `None` if they are as soon as they are received.
    safe_when: Option<SafeWhen>,
    /// Number of instances with received batches that only the file has.
    waiting_in_file: usize,
    /// Number of times that a new DAC made it necessary to read the file from its beginning.
    rewinds: u64,
    ahead: Ahead,
    /// With more unsent bytes than this there is a backlog.
    backlog_bytes: usize,
}

/// The DAC of a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetDac {
    /// Whether it is another one than before, and has received nothing.
    pub is_new: bool,
    /// Condition that makes samples safe there, if the DAC reports it.
    pub safe_when: Option<SafeWhen>,
    /// Whether it takes batches ahead.
    pub takes_ahead: bool,
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
            safe_when: None,
            waiting_in_file: 0,
            rewinds: 0,
            ahead: Ahead::default(),
            backlog_bytes: BACKLOG,
        }
    }

    /// Adapts it to a link with this budget of bytes a second: what takes a quarter of a second is a backlog.
    pub fn for_link(self, max_bytes_per_second: Option<u64>) -> Self {
        let quarter = max_bytes_per_second.and_then(|bytes| usize::try_from(bytes / 4).ok());
        let backlog_bytes = quarter.map_or(BACKLOG, |bytes| bytes.clamp(SMALLEST_BACKLOG, BACKLOG));
        Self { backlog_bytes, ..self }
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

    /// Creates a spool for the run of an earlier process, which released its samples up to these places.
    pub fn for_earlier_run(limit: usize, released: &[SequencePosition]) -> Self {
        let mut spool = Self::before_a_file(limit, released.len());
        for (account, &place) in spool.accounts.iter_mut().zip(released) {
            (account.released, account.received, account.sent) = (place, place, place);
            let Drops { ring_full, kept_back, invalid_row, not_taken, network, spool_full: _ } =
                place.dropped;
            account.before = Missing { ring_full, kept_back, invalid_row, not_taken, network };
            account.admitted = place.sequence;
        }
        spool.set_lagging(true);
        spool
    }

    /// Returns up to where an instance was sent on this connection or received before, and the drops before that.
    pub fn sent(&self, instance: usize) -> SequencePosition {
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
        account.before.not_taken += before.not_taken;
        account.before.network += before.network;
        let batch =
            QueuedBatch { instance, first_sequence, count, before: account.before, bytes, stored: None };
        if self.has_backlog() {
            let bytes = batch.bytes.clone();
            self.ahead.offer(instance, Candidate { first_sequence, bytes });
        }
        match &mut self.intake {
            Some(intake) => intake.push(batch),
            None => self.keep(batch),
        }
    }

    /// Queues a batch; evicts the oldest received ones, or drops the oldest unsent ones, if needed.
    pub fn keep(&mut self, batch: QueuedBatch) {
        self.admit(batch);
        while self.batches.bytes() > self.limit
            && (self.release_first(|_, _| true) || self.batches.evict_unsent().is_some())
        {}
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

    /// Returns the memory that the queued batches take.
    pub fn bytes(&self) -> usize {
        self.batches.bytes()
    }

    /// Returns the bytes that can be admitted.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.batches.bytes())
    }

    /// Returns whether a batch can be admitted: at least one always can.
    pub fn has_room_for(&self, batch: &QueuedBatch) -> bool {
        self.batches.is_empty() || batch.cost() <= self.room()
    }

    /// Returns whether enough was received to read the file again.
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

    /// Returns up to where each instance's samples have left the spool.
    pub fn released(&self) -> Vec<SequencePosition> {
        self.accounts.iter().map(|account| account.released).collect()
    }

    /// Returns how often [`Spool::connected`] required that the file be read from its beginning.
    pub fn rewinds(&self) -> u64 {
        self.rewinds
    }

    /// Handles a new connection: the instances have these topics, and batches in transit on the old connection may be
    /// lost. A new DAC receives everything that is not safe.
    pub fn connected(&mut self, topics: impl Iterator<Item = (usize, TopicId)>, dac: MetDac) {
        self.safe_when = dac.safe_when;
        self.ahead.connected(dac.takes_ahead);
        if dac.is_new {
            self.begin_again();
        }
        self.instances.clear();
        for (instance, topic) in topics {
            let account = &mut self.accounts[instance];
            account.topic = Some(topic);
            account.sent = account.received;
            self.instances.insert(topic, instance);
        }
        self.batches.send_again();
    }

    /// Makes room for instances that were added after the start.
    pub fn grow(&mut self, instances: usize) {
        self.accounts.resize(instances.max(self.accounts.len()), Account::default());
    }

    /// Handles the registration of instances that were added during the connection.
    pub fn added(&mut self, topics: impl Iterator<Item = (usize, TopicId)>) {
        for (instance, topic) in topics {
            let account = &mut self.accounts[instance];
            account.topic = Some(topic);
            self.instances.insert(topic, instance);
        }
    }

    /// Goes back to the oldest batch that is not safe.
    fn begin_again(&mut self) {
        let is_all_in_file = self.intake.is_some() && self.batches.iter().all(|batch| batch.stored.is_some());
        if is_all_in_file {
            self.batches.clear();
            self.set_lagging(true);
            self.rewinds += 1;
        } else {
            // While the file cannot be written, some batches are in memory alone. They cannot wait for older ones that only the
            // file has: those count as dropped.
            self.batches.send_all_again();
        }
        self.waiting_in_file = 0;
        for account in &mut self.accounts {
            (account.received, account.acknowledged) = (account.released, account.released.sequence);
            account.in_file = ReceivedPlaces::default();
            if is_all_in_file {
                account.admitted = account.released.sequence;
            }
        }
    }

    /// Returns whether [`Spool::take`] would return anything.
    pub fn has_unsent(&self) -> bool {
        self.batches.has_unsent() && self.batches.transit_bytes() <= self.limit / 2
    }

    /// Returns whether batches wait that will not be sent soon.
    fn has_backlog(&self) -> bool {
        self.is_lagging() || self.batches.unsent_bytes() > self.backlog_bytes
    }

    /// Returns whether [`Spool::take_ahead`] would return anything.
    pub fn has_ahead(&self) -> bool {
        self.ahead.is_due() && self.has_backlog()
    }

    /// Takes a batch to send before its turn. It stays in the spool.
    pub fn take_ahead(&mut self) -> Option<Vec<u8>> {
        if !self.has_backlog() {
            return None;
        }
        let (instance, candidate) = self.ahead.next()?;
        let topic = self.accounts[instance].topic?;
        let mut bytes = candidate.bytes.to_vec();
        batch::stamp_by_node(&mut bytes, topic.0, 0);
        Some(bytes)
    }

    /// Notes that the DAC keeps a batch that was sent ahead.
    pub fn kept_ahead(&mut self, topic: TopicId, first_sequence: u64) {
        if let Some(&instance) = self.instances.get(&topic) {
            self.ahead.note_kept(instance, first_sequence);
        }
    }

    /// Takes at most `max` batches to write, or fewer once `may_go_on` is false, which receives the bytes of each.
    pub fn take(&mut self, max: usize, mut may_go_on: impl FnMut(usize) -> bool) -> Shipment {
        self.note_received();
        let mut shipment = Shipment::default();
        while shipment.pieces() < max
            && let Some(bytes) = self.take_next(&mut shipment)
            && may_go_on(bytes)
        {}
        shipment
    }

    /// Adds the next batch to a shipment, unless it must wait for the next one. Returns its bytes.
    fn take_next(&mut self, shipment: &mut Shipment) -> Option<usize> {
        let batch = if self.has_unsent() { self.batches.next_unsent()? } else { return None };
        let account = &mut self.accounts[batch.instance];
        let topic = account.topic?;
        let mut place = account.sent;
        let dropped = place.advance(batch);
        let is_kept = self.ahead.is_kept(batch.instance, batch.first_sequence);
        if shipment.must_end_before(dropped, is_kept) {
            return None;
        }
        account.sent = place;
        let bytes = match is_kept {
            true => shipment.add_release(batch, topic, dropped),
            false => shipment.add_batch(batch, topic, dropped),
        };
        self.ahead.forget(batch.instance, batch.first_sequence);
        self.ahead.note_in_order(bytes);
        self.batches.note_sent();
        Some(bytes)
    }

    /// Handles an acknowledgement: the DAC has received everything of `topic` up to `sequence`.
    pub fn acknowledge(&mut self, topic: TopicId, sequence: u64) {
        if let Some(&instance) = self.instances.get(&topic) {
            let account = &mut self.accounts[instance];
            account.acknowledged = account.acknowledged.max(sequence);
            self.ahead.forget(instance, sequence);
        }
        self.note_received();
        self.release(topic);
    }

    /// Notes the batches that the DAC has received, from the oldest on: those in transit, and those that it acknowledged before they were
    /// read from the file again.
    fn note_received(&mut self) {
        // A connection keeps order and the DAC acknowledges all it has read, so the front is never stuck for long.
        while let Some(front) = self.batches.first_unreceived() {
            let instance = front.instance;
            let account = &mut self.accounts[instance];
            if front.last_sequence() > account.acknowledged {
                break;
            }
            account.received.advance(front);
            if account.sent.sequence < account.received.sequence {
                account.sent = account.received;
            }
            if self.safe_when.is_none() {
                account.released = account.received;
            } else if front.stored.is_some() {
                self.waiting_in_file += usize::from(account.in_file.is_empty());
                account.in_file.push(account.received);
            } else {
                self.batches.note_received();
                continue;
            }
            self.batches.take_acknowledged(|_| true);
            // The batch may be safe already: a lost datagram of another instance was before it in the queue.
            self.release_from_file(instance);
        }
        while self.release_first(|batch, account| batch.last_sequence() <= account.safe) {}
    }

    /// Handles the second acknowledgement: everything of `topic` up to `sequence` is safe, and so it was received. The first one may have been
    /// lost with an earlier connection.
    pub fn safe(&mut self, topic: TopicId, sequence: u64) {
        if let Some(&instance) = self.instances.get(&topic) {
            let account = &mut self.accounts[instance];
            account.safe = account.safe.max(sequence);
        }
        self.acknowledge(topic, sequence);
    }

    /// Removes batches that are received and safe.
    fn release(&mut self, topic: TopicId) {
        while self.release_first(|batch, account| batch.last_sequence() <= account.safe) {}
        if let Some(&instance) = self.instances.get(&topic) {
            self.release_from_file(instance);
        }
    }

    /// Releases the received batches of an instance that are in the file alone and safe.
    fn release_from_file(&mut self, instance: usize) {
        let account = &mut self.accounts[instance];
        if !account.in_file.is_empty()
            && let Some(place) = account.in_file.take_up_to(account.safe)
        {
            account.released = place;
            self.waiting_in_file -= usize::from(account.in_file.is_empty());
        }
    }

    /// Removes the oldest received batch if it may leave.
    fn release_first(&mut self, may_leave: impl FnOnce(&QueuedBatch, &Account) -> bool) -> bool {
        let accounts = &mut self.accounts;
        let first = self.batches.take_safe(|batch| may_leave(batch, &accounts[batch.instance]));
        let Some(batch) = first else { return false };
        let released = &mut accounts[batch.instance].released;
        // Later batches may have left before it, if they were in the file and it was not.
        if batch.last_sequence() > released.sequence {
            released.advance(&batch);
        }
        true
    }

    /// Returns whether the DAC has received everything.
    pub fn is_received(&self) -> bool {
        self.batches.is_received() && self.intake.as_ref().is_none_or(Intake::is_empty)
    }

    /// Returns whether this DAC owes no acknowledgement of a batch that was sent to it: each is received, and stored if
    /// the DAC stores.
    pub fn is_settled(&self) -> bool {
        let is_stored = !self.batches.has_sent() && self.waiting_in_file == 0;
        self.batches.transit_bytes() == 0 && (is_stored || !self.safe_when.is_some_and(SafeWhen::is_awaited))
    }

    /// Returns whether a node that ends has nothing to wait for: everything is received, and stored if the DAC stores.
    pub fn is_finished(&self) -> bool {
        let is_stored = self.batches.is_empty() && self.waiting_in_file == 0;
        self.is_received() && (is_stored || !self.safe_when.is_some_and(SafeWhen::is_awaited))
    }
}

#[cfg(test)]
mod tests;
