//! A piece of a topic log: one native batch, immutable, with its other encodings made at most once.

use bytes::Bytes;
use oasis_wire::{
    batch::Header,
    quantity::{Nanos, Offset},
};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
};
use uuid::Uuid;

/// What a segment costs besides its bytes: itself, its place in the log, the allocations' own bookkeeping.
const OVERHEAD: usize = 240;

/// The same samples in another format, one piece a sample, shared by every reader of that format.
pub type Packets = Arc<[Bytes]>;

/// One batch as the node encoded it and the DAC stamped it.
#[derive(Debug)]
pub struct Segment {
    batch: Bytes,
    first: Offset,
    end: Offset,
    count: u16,
    /// The node's run that its sequence numbers count in.
    run: Uuid,
    /// Its last sample alone, once a reader that only wants the newest has asked for it.
    newest: OnceLock<Arc<Segment>>,
    /// EISA packets, once a 2012 client has asked for them.
    eisa: OnceLock<Packets>,
    /// The part of [`Segment::cost`] that the log's account contains. Only touched under the log's lock.
    accounted: AtomicUsize,
}

impl Segment {
    /// `batch` holds `count` samples from offset `first` on.
    pub fn new(batch: Bytes, first: Offset, count: u16) -> Self {
        Self::covering(batch, first, Offset(first.0 + u64::from(count)), count)
    }

    /// `batch` holds `count` samples that stand for all from `first` up to `end`: those in it and those thinned away before them.
    pub fn covering(batch: Bytes, first: Offset, end: Offset, count: u16) -> Self {
        let (newest, eisa) = (OnceLock::new(), OnceLock::new());
        Self { batch, first, end, count, run: Uuid::nil(), newest, eisa, accounted: AtomicUsize::new(0) }
    }

    /// As it is, of this run of the node.
    pub fn of_run(self, run: Uuid) -> Self {
        Self { run, ..self }
    }

    /// The node's run that its sequence numbers count in; nil in a derived stream.
    pub fn run(&self) -> Uuid {
        self.run
    }

    /// The native batch: the payload of a native WebSocket frame, as it is.
    pub fn batch(&self) -> &Bytes {
        &self.batch
    }

    /// When it arrived, on the DAC's clock.
    pub fn arrived(&self) -> Nanos {
        Nanos(Header::parse(&self.batch).map_or(0, |header| header.dac_time))
    }

    /// Offset of the first sample that it accounts for.
    pub fn first(&self) -> Offset {
        self.first
    }

    /// Offset behind the last sample.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Offset of the first sample in the batch.
    pub fn first_held(&self) -> Offset {
        Offset(self.end.0 - u64::from(self.count))
    }

    /// Samples that it accounts for without holding them.
    pub fn thinned(&self) -> u64 {
        self.first_held().0 - self.first.0
    }

    /// Samples in the batch.
    pub fn count(&self) -> u16 {
        self.count
    }

    /// The samples as EISA packets; `make` runs for the first reader only, the others wait for it.
    pub(crate) fn eisa(&self, make: impl FnOnce(&[u8]) -> Packets) -> Packets {
        self.eisa.get_or_init(|| make(&self.batch)).clone()
    }

    /// Its last sample alone; `make` runs for the first reader only.
    pub(crate) fn newest(&self, make: impl FnOnce(&Self) -> Self) -> Arc<Self> {
        self.newest.get_or_init(|| Arc::new(make(self))).clone()
    }

    /// Bytes of memory, all encodings made so far included.
    fn cost(&self) -> usize {
        let newest = self.newest.get().map_or(0, |newest| newest.cost());
        self.batch.len() + OVERHEAD + newest + self.eisa.get().map_or(0, packets_cost)
    }

    /// Brings the account up to date: returns by how much the cost has grown since the last call.
    pub(crate) fn account(&self) -> usize {
        let cost = self.cost();
        cost.saturating_sub(self.accounted.swap(cost, Ordering::Relaxed))
    }

    /// What the account contains of this segment.
    pub(crate) fn accounted(&self) -> usize {
        self.accounted.load(Ordering::Relaxed)
    }
}

fn packets_cost(packets: &Packets) -> usize {
    packets.iter().map(|packet| packet.len() + size_of::<Bytes>()).sum()
}
