//! Encoded batches on their way to the DAC: kept until acknowledged, bounded, drops counted per instance.
//!
//! The bound drops the oldest batch that was not sent yet. What is sent and not acknowledged stays for the case that the
//! connection breaks; it is bounded too, because no more than half of the spool is ever under way.
//!
//! What is missing in front of a batch is known from the numbers alone: whatever lies between it and the batch before it was
//! dropped, by the ring as the batch itself says, else here.

use oasis_channel::Drops;
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
    /// How many the ring dropped ahead of them.
    pub dropped_ring: u32,
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

/// What is known of one instance.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    topic: Option<TopicId>,
    acknowledged: u64,
    /// Up to what left the spool: this connection's DAC has it.
    delivered: Place,
    /// Up to what was sent on this connection.
    sent: Place,
}

/// A place in the numbers of an instance, and what was dropped on the way to it.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    sequence: u64,
    dropped: Drops,
}

impl Place {
    /// Moves behind a batch; says how many samples were dropped in between.
    fn advance(&mut self, batch: &Spooled) -> u64 {
        let hole = (batch.first_sequence - 1).saturating_sub(self.sequence);
        let ring = hole.min(batch.dropped_ring.into());
        self.dropped.ring += ring;
        self.dropped.spool += hole - ring;
        self.sequence = batch.last_sequence();
        hole
    }
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

    /// Samples of an instance that were dropped ahead of what was sent on this connection.
    pub fn dropped(&self, instance: usize) -> Drops {
        self.accounts[instance].sent.dropped
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
            if let Some(next) =
                self.batches.iter_mut().skip(self.sent).find(|next| next.instance == oldest.instance)
            {
                next.dropped_ring = next.dropped_ring.saturating_add(oldest.dropped_ring);
            }
        }
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
        self.sent = 0;
        self.sent_bytes = 0;
    }

    /// Whether [`Spool::take`] would return anything.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.batches.len() && self.sent_bytes <= self.limit / 2
    }

    /// The next batches to write, at most `max`, with topic and drops written in, and whether the first of them tells of drops.
    /// No other one does: counters that are sent ahead of these batches mean that one gap.
    pub fn take(&mut self, max: usize, out: &mut Vec<Arc<Vec<u8>>>) -> bool {
        let mut tells_of_drops = false;
        while out.len() < max && self.has_unsent() {
            let batch = &mut self.batches[self.sent];
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
            self.accounts[front.instance].delivered.advance(&front);
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
            rate: None,
            metrics: Vec::new(),
        };
        let mut encoder = Encoder::new(&heartbeat).unwrap();
        (0..count).for_each(|time| encoder.push(time.into(), &[]).unwrap());
        let mut bytes = Vec::new();
        encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
        Spooled { instance, first_sequence, count, dropped_ring: 0, bytes: Arc::new(bytes) }
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
        let sent = take(&mut spool);
        assert_eq!(spool.dropped(0), Drops { ring: 0, spool: 3 });
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
    fn a_drop_behind_what_is_sent_again_is_told_where_it_happened() {
        let mut spool = spool_for(6);
        spool.connected(TOPICS.into_iter());
        spool.push(batch(0, 1, 1));
        assert_eq!(take(&mut spool).len(), 1);
        (2..=7).for_each(|sequence| spool.push(batch(0, sequence, 1))); // drops 2: 1 is under way
        spool.connected(TOPICS.into_iter());
        let told = |sent: Vec<Header>| -> Vec<_> {
            sent.iter().map(|header| (header.first_sequence, header.dropped_before)).collect()
        };
        assert_eq!(told(take(&mut spool)), [(1, 0)]);
        assert_eq!(spool.dropped(0), Drops::default());
        assert_eq!(told(take(&mut spool)), [(3, 1), (4, 0), (5, 0)]);
        assert_eq!(spool.dropped(0), Drops { ring: 0, spool: 1 });
    }

    #[test]
    fn what_the_ring_dropped_is_told_apart_from_what_was_dropped_here() {
        let mut spool = spool_for(2);
        spool.connected(TOPICS.into_iter());
        spool.push(Spooled { dropped_ring: 4, ..batch(0, 5, 1) });
        spool.push(batch(0, 6, 1));
        spool.push(Spooled { dropped_ring: 2, ..batch(0, 9, 1) }); // drops 5, which told of 4 in front of it
        assert_eq!(take(&mut spool)[0].dropped_before, 5);
        assert_eq!(spool.dropped(0), Drops { ring: 4, spool: 1 });
        assert_eq!(take(&mut spool)[0].dropped_before, 2);
        assert_eq!(spool.dropped(0), Drops { ring: 6, spool: 1 });
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
