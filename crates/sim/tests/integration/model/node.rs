//! The node: its spool is the real one.

use super::{
    hashed::Hashed,
    home::{HomeDac, NodeCounters, Numbers},
    planted::Planted,
};
use oasis_channel::SafeWhen;
use oasis_probe::simulation::{MetDac, Missing, NewBatch, Spool};
use oasis_wire::{
    batch::{Encoder, Fields, Header},
    quantity::{Epoch, TopicId},
    schema::ProbeType,
};
use std::sync::Arc;
use uuid::Uuid;

#[derive(Debug, Clone, Hash)]
pub struct Node {
    spool: Hashed<Spool>,
    /// Numbers up to here are taken.
    pub taken: u64,
    /// Numbers that the ring has dropped.
    pub dropped: Numbers,
    /// Number of the last connection.
    pub attach: u64,
    /// The life of a DAC that it met last.
    met: Option<Epoch>,
}

impl Node {
    /// Takes this many samples; the ring drops the second one. All are taken first: to all others, one that waits in the spool is one that is
    /// not taken yet.
    pub fn new(samples: u64) -> Self {
        let mut node = Self {
            spool: Hashed::new(Spool::new(1 << 20, 1)),
            taken: 0,
            dropped: Numbers::default(),
            attach: 0,
            met: None,
        };
        for sample in 0..samples {
            node.take(u64::from(sample == 1));
        }
        node
    }

    /// Flushes the probe, after its ring has dropped `lost` samples.
    fn take(&mut self, lost: u64) {
        let first_sequence = self.taken + lost + 1;
        for number in self.taken + 1..first_sequence {
            self.dropped.insert(number);
        }
        self.taken = first_sequence;
        let before = Missing { ring_full: lost, ..Missing::default() };
        let bytes = Arc::new(batch(first_sequence));
        self.spool
            .change(|spool| spool.push(NewBatch { instance: 0, first_sequence, count: 1, before, bytes }));
    }

    /// Has no connection any more. Where the last one was does not matter: what was in transit is sent again.
    pub fn disconnected(&mut self) {
        let met = MetDac { is_new: false, safe_when: Some(SafeWhen::Stored), takes_ahead: false };
        self.spool.change(|spool| spool.connected([(0, TopicId(0))].into_iter(), met));
    }

    /// Hears that it is registered. Returns what it says first.
    pub fn registered(&mut self, home: &HomeDac, planted: Option<Planted>) -> NodeCounters {
        let before = self.met.replace(home.epoch());
        let is_new =
            before.is_some_and(|before| before != home.epoch()) && planted != Some(Planted::NotSentAgain);
        let met = MetDac { is_new, safe_when: Some(SafeWhen::Stored), takes_ahead: false };
        let topic = home.topic();
        self.spool.change(|spool| spool.connected([(0, topic)].into_iter(), met));
        self.counters()
    }

    fn counters(&self) -> NodeCounters {
        let sent = self.spool.sent(0);
        NodeCounters { taken: self.taken, sent: sent.sequence, ring_full: sent.dropped.ring_full }
    }

    pub fn has_unsent(&self) -> bool {
        self.spool.has_unsent()
    }

    /// Sends the next batch. Returns counters to send before it, and its number with the drops before it.
    pub fn ship(&mut self) -> Option<(Option<NodeCounters>, u64, u64)> {
        let shipment = self.spool.change(|spool| spool.take(1, |_| true));
        let header = Header::parse(shipment.batches.first()?).unwrap();
        let told = shipment.tells_of_drops.then(|| self.counters());
        Some((told, header.first_sequence, header.dropped_before.into()))
    }

    pub fn acknowledge(&mut self, topic: TopicId, sequence: u64) {
        self.spool.change(|spool| spool.acknowledge(topic, sequence));
    }

    pub fn safe(&mut self, topic: TopicId, sequence: u64) {
        self.spool.change(|spool| spool.safe(topic, sequence));
    }

    /// Numbers up to here have left the spool.
    pub fn released(&self) -> u64 {
        self.spool.released()[0].sequence
    }

    /// Whether this DAC owes nothing of what was sent to it.
    pub fn is_settled(&self) -> bool {
        self.spool.is_settled()
    }

    /// Whether everything is received and stored.
    pub fn is_finished(&self) -> bool {
        !self.spool.has_unsent() && self.spool.is_finished()
    }
}

/// A batch of one sample.
fn batch(first_sequence: u64) -> Vec<u8> {
    let beat = ProbeType {
        name: "Beat".into(),
        uuid: Uuid::nil(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: Vec::new(),
    };
    let mut encoder = Encoder::new(&beat).unwrap();
    encoder.push(0, &[]).unwrap();
    let mut bytes = Vec::new();
    encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
    bytes
}
