//! Encoded batches on their way to the DAC: kept until acknowledged, bounded, drops counted per instance.
//!
//! The bound drops the oldest batch that was not sent yet. What is sent and not acknowledged stays for the case that the
//! connection breaks; it is bounded too, because no more than half of the spool is ever under way.

use oasis_wire::{batch, quantity::TopicId};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

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
    instances: HashMap<TopicId, usize>,
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
            instances: HashMap::new(),
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
        self.instances.clear();
        for (instance, topic) in topics {
            self.accounts[instance].topic = Some(topic);
            self.instances.insert(topic, instance);
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
        if let Some(&instance) = self.instances.get(&topic) {
            let account = &mut self.accounts[instance];
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

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        batch::{Encoder, Fields, Header},
        schema::ProbeType,
    };

    const TOPICS: [(usize, TopicId); 2] = [(0, TopicId(10)), (1, TopicId(11))];

    fn batch(instance: usize, first_sequence: u64, count: u16) -> Spooled {
        let heartbeat = ProbeType {
            name: "Beat".into(),
            uuid: uuid::Uuid::nil(),
            version: "1.0".into(),
            doc: None,
            metrics: Vec::new(),
        };
        let mut encoder = Encoder::new(&heartbeat).unwrap();
        (0..count).for_each(|time| encoder.push(time.into(), &[]).unwrap());
        let mut bytes = Vec::new();
        encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
        Spooled { instance, first_sequence, count, bytes: Arc::new(bytes) }
    }

    fn spool_for(batches: usize) -> Spool {
        Spool::new(batches * batch(0, 1, 1).cost(), 2)
    }

    fn take(spool: &mut Spool) -> Vec<Header> {
        let mut out = Vec::new();
        spool.take(100, &mut out);
        out.iter().map(|bytes| Header::parse(bytes).unwrap()).collect()
    }

    #[test]
    fn nothing_is_sent_before_the_topics_are_known() {
        let mut spool = spool_for(10);
        spool.push(batch(0, 1, 1));
        assert!(take(&mut spool).is_empty());
        spool.connected(TOPICS.into_iter());
        assert_eq!(take(&mut spool).iter().map(|header| header.topic).collect::<Vec<_>>(), [10]);
    }

    #[test]
    fn what_was_not_acknowledged_is_sent_again_with_the_new_topic() {
        let mut spool = spool_for(10);
        spool.connected(TOPICS.into_iter());
        spool.push(batch(0, 1, 1));
        spool.push(batch(0, 2, 1));
        assert_eq!(take(&mut spool).len(), 2);
        spool.acknowledge(TopicId(10), 1);
        spool.connected([(0, TopicId(77))].into_iter());
        let again = take(&mut spool);
        assert_eq!(
            again.iter().map(|header| (header.topic, header.first_sequence)).collect::<Vec<_>>(),
            [(77, 2)]
        );
        spool.acknowledge(TopicId(77), 2);
        assert!(spool.is_empty());
    }

    #[test]
    fn the_oldest_unsent_batch_makes_room_and_the_next_one_tells_of_it() {
        let mut spool = spool_for(2);
        (1..=5).for_each(|sequence| spool.push(batch(0, sequence, 1)));
        spool.connected(TOPICS.into_iter());
        assert_eq!(spool.dropped(0), 3);
        let sent = take(&mut spool);
        let told: Vec<_> = sent.iter().map(|header| (header.first_sequence, header.dropped_before)).collect();
        assert_eq!(told, [(4, 3), (5, 0)]);
    }

    #[test]
    fn a_drop_that_was_told_by_a_dropped_batch_is_told_again() {
        let mut spool = spool_for(1);
        spool.connected(TOPICS.into_iter());
        spool.push(batch(0, 1, 1));
        spool.push(batch(0, 2, 1)); // drops 1
        assert_eq!(take(&mut spool)[0].dropped_before, 1);
        spool.connected(TOPICS.into_iter()); // the connection broke: 2 is unsent again
        spool.push(batch(0, 3, 1)); // drops 2, which told of 1
        let sent = take(&mut spool);
        assert_eq!((sent[0].first_sequence, sent[0].dropped_before), (3, 2));
    }

    #[test]
    fn no_more_than_half_of_the_spool_is_under_way() {
        let mut spool = spool_for(10);
        spool.connected(TOPICS.into_iter());
        (1..=10).for_each(|sequence| spool.push(batch(0, sequence, 1)));
        assert_eq!(take(&mut spool).len(), 6); // the sixth passes the half, a seventh does not start
        assert!(!spool.has_unsent());
        spool.acknowledge(TopicId(10), 6);
        assert!(spool.has_unsent());
    }
}
