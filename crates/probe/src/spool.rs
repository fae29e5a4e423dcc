//! Encoded batches on their way to the DAC: kept until acknowledged, bounded, drops counted per instance.
//!
//! The bound drops the oldest batch that was not sent yet. What is sent and not acknowledged stays for the case that the
//! connection breaks; it is bounded too, because no more than half of the spool is ever under way.

use oasis_wire::{batch, quantity::TopicId};
use std::{collections::VecDeque, sync::Arc};

/// What a batch costs besides its bytes.
const OVERHEAD: usize = 96;

/// One batch in the spool.
#[derive(Debug, Clone)]
pub struct Spooled {
    /// Index of the instance within the node.
    pub instance: usize,
    /// Its samples' numbers.
    pub first_sequence: u64,
    /// How many samples.
    pub count: u16,
    /// Shared with the thread that writes it to the socket.
    pub bytes: Arc<Vec<u8>>,
}

impl Spooled {
    fn cost(&self) -> usize {
        self.bytes.len() + OVERHEAD
    }

    fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }
}

/// Drops of one instance.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    topic: Option<TopicId>,
    acknowledged: u64,
    /// Samples dropped in total.
    dropped: u64,
    /// Samples dropped that no sent batch tells of yet.
    untold: u32,
}

/// The queue.
#[derive(Debug)]
pub struct Spool {
    batches: VecDeque<Spooled>,
    /// The first `sent` batches have been written to the channel.
    sent: usize,
    sent_bytes: usize,
    bytes: usize,
    limit: usize,
    accounts: Vec<Account>,
}

impl Spool {
    /// At most `limit` bytes for `instances` instances.
    pub fn new(limit: usize, instances: usize) -> Self {
        Self {
            batches: VecDeque::new(),
            sent: 0,
            sent_bytes: 0,
            bytes: 0,
            limit,
            accounts: vec![Account::default(); instances],
        }
    }

    /// Samples of an instance that were dropped here.
    pub fn dropped(&self, instance: usize) -> u64 {
        self.accounts[instance].dropped
    }

    /// The DAC's topic for an instance, once registered.
    pub fn topic(&self, instance: usize) -> Option<TopicId> {
        self.accounts[instance].topic
    }

    /// Takes a batch, at the cost of the oldest unsent ones if need be.
    pub fn push(&mut self, batch: Spooled) {
        self.bytes += batch.cost();
        self.batches.push_back(batch);
        while self.bytes > self.limit && self.sent < self.batches.len() {
            let Some(oldest) = self.batches.remove(self.sent) else { break };
            self.bytes -= oldest.cost();
            let account = &mut self.accounts[oldest.instance];
            account.dropped += u64::from(oldest.count);
            account.untold =
                account.untold.saturating_add(u32::from(oldest.count)).saturating_add(told(&oldest.bytes));
        }
    }

    /// A new connection: the instances have these topics, and whatever the old connection carried may be lost.
    pub fn connected(&mut self, topics: impl Iterator<Item = (usize, TopicId)>) {
        for (instance, topic) in topics {
            self.accounts[instance].topic = Some(topic);
        }
        self.sent = 0;
        self.sent_bytes = 0;
    }

    /// Whether [`Spool::take`] would return anything.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.batches.len() && self.sent_bytes <= self.limit / 2
    }

    /// The next batches to write, at most `max`, with topic and drops written in, and whether one of them tells of drops.
    pub fn take(&mut self, max: usize, out: &mut Vec<Arc<Vec<u8>>>) -> bool {
        let mut tells_of_drops = false;
        while out.len() < max && self.has_unsent() {
            let batch = &mut self.batches[self.sent];
            let account = &mut self.accounts[batch.instance];
            let Some(topic) = account.topic else { break };
            let bytes = Arc::make_mut(&mut batch.bytes);
            let dropped = told(bytes).saturating_add(std::mem::take(&mut account.untold));
            batch::stamp_by_node(bytes, topic.0, dropped);
            tells_of_drops |= dropped > 0;
            out.push(batch.bytes.clone());
            self.sent += 1;
            self.sent_bytes += batch.cost();
        }
        tells_of_drops
    }

    /// The DAC has everything of `topic` up to `sequence`.
    pub fn acknowledge(&mut self, topic: TopicId, sequence: u64) {
        if let Some(account) = self.accounts.iter_mut().find(|account| account.topic == Some(topic)) {
            account.acknowledged = account.acknowledged.max(sequence);
        }
        // A connection keeps order and the DAC acknowledges all it has read, so the front is never stuck for long.
        while self.sent > 0
            && self
                .batches
                .front()
                .is_some_and(|front| front.last_sequence() <= self.accounts[front.instance].acknowledged)
        {
            let Some(front) = self.batches.pop_front() else { break };
            self.sent -= 1;
            self.sent_bytes -= front.cost();
            self.bytes -= front.cost();
        }
    }

    /// Whether everything pushed has been acknowledged.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

fn told(bytes: &[u8]) -> u32 {
    batch::Header::parse(bytes).map_or(0, |header| header.dropped_before)
}
