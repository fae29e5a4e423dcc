//! A segment of a topic log: one immutable native batch. One other encoding of it is made at most once.

use bytes::Bytes;
use oasis_wire::{
    batch::Header,
    gap::Gap,
    quantity::{Nanos, Offset},
};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
};
use uuid::Uuid;

/// Memory of a segment besides its bytes: itself, its slot in the log, and the allocators' own bookkeeping.
const SEGMENT_OVERHEAD_BYTES: usize = 256;

/// The same samples in another encoding, in pieces, shared by every reader of that encoding.
pub type Pieces = Arc<[Bytes]>;

/// One batch as the node encoded it and the DAC stamped it.
#[derive(Debug)]
pub struct Segment {
    batch: Bytes,
    first: Offset,
    end: Offset,
    count: u16,
    /// The node's run that its sequence numbers belong to.
    run: Uuid,
    /// Samples that are missing directly before its first one, with their causes.
    gaps_before: Option<Arc<[Gap]>>,
    /// Only its last sample, once a reader that wants only the newest has asked for it.
    newest: OnceLock<Arc<Segment>>,
    /// Another encoding, once a reader has asked for it.
    pieces: OnceLock<Pieces>,
    /// When it arrived, by the steady clock.
    arrived_steady: Nanos,
    /// The part of [`Segment::cost`] that the log has accounted for. Only accessed under the log's lock.
    accounted: AtomicUsize,
}

impl Segment {
    /// Creates a segment of `count` samples, starting at offset `first`.
    pub fn new(batch: Bytes, first: Offset, count: u16) -> Self {
        Self::covering(batch, first, Offset(first.0 + u64::from(count)), count)
    }

    /// Creates a segment of `count` samples that accounts for all offsets from `first` to `end` (exclusive): its own
    /// samples and those thinned out before them.
    pub fn covering(batch: Bytes, first: Offset, end: Offset, count: u16) -> Self {
        let (newest, pieces) = (OnceLock::new(), OnceLock::new());
        Self {
            batch,
            first,
            end,
            count,
            run: Uuid::nil(),
            gaps_before: None,
            newest,
            pieces,
            arrived_steady: Nanos(0),
            accounted: AtomicUsize::new(0),
        }
    }

    /// Sets the node's run.
    pub fn of_run(self, run: Uuid) -> Self {
        Self { run, ..self }
    }

    /// Sets which samples are missing directly before its first one.
    pub fn after_gaps(self, gaps_before: Option<Arc<[Gap]>>) -> Self {
        Self { gaps_before, ..self }
    }

    /// Sets when it arrived, by the steady clock.
    pub(crate) fn arrived_at(self, arrived_steady: Nanos) -> Self {
        Self { arrived_steady, ..self }
    }

    /// Returns when it arrived, by the steady clock.
    pub(crate) fn arrived_steady(&self) -> Nanos {
        self.arrived_steady
    }

    /// Returns the node's run that its sequence numbers belong to; nil in a derived stream.
    pub fn run(&self) -> Uuid {
        self.run
    }

    /// Returns the samples that are missing directly before its first one, with their causes; `None` for most segments. Concerns readers that have
    /// everything before.
    pub fn gaps_before(&self) -> Option<&Arc<[Gap]>> {
        self.gaps_before.as_ref()
    }

    /// Returns the native batch: exactly the payload of a native WebSocket frame.
    pub fn batch(&self) -> &Bytes {
        &self.batch
    }

    /// Returns the time of arrival on the DAC's clock.
    pub fn arrived(&self) -> Nanos {
        Nanos(Header::parse(&self.batch).map_or(0, |header| header.dac_time))
    }

    /// Returns the offset of the first sample that it accounts for.
    pub fn first(&self) -> Offset {
        self.first
    }

    /// Returns the offset after the last sample.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Returns the offset of the first sample in the batch.
    pub fn first_held(&self) -> Offset {
        Offset(self.end.0 - u64::from(self.count))
    }

    /// Returns how many samples it accounts for without containing them.
    pub fn thinned(&self) -> u64 {
        self.first_held().0 - self.first.0
    }

    /// Returns the number of samples in the batch.
    pub fn count(&self) -> u16 {
        self.count
    }

    /// Returns the samples in another encoding. `make` runs for the first reader only; the others wait for it.
    pub(crate) fn pieces(&self, make: impl FnOnce(&[u8]) -> Pieces) -> Pieces {
        self.pieces.get_or_init(|| make(&self.batch)).clone()
    }

    /// Returns only its last sample. `make` runs for the first reader only.
    pub(crate) fn newest(&self, make: impl FnOnce(&Self) -> Self) -> Arc<Self> {
        self.newest.get_or_init(|| Arc::new(make(self))).clone()
    }

    /// Returns the bytes of memory in use, including all encodings made so far.
    fn cost(&self) -> usize {
        let newest = self.newest.get().map_or(0, |newest| newest.cost());
        let gaps = self.gaps_before.as_ref().map_or(0, |gaps| size_of_val(&**gaps));
        self.batch.len() + SEGMENT_OVERHEAD_BYTES + gaps + newest + self.pieces.get().map_or(0, pieces_cost)
    }

    /// Updates the account: returns by how many bytes the cost has grown since the last call.
    pub(crate) fn account(&self) -> usize {
        let cost = self.cost();
        cost.saturating_sub(self.accounted.swap(cost, Ordering::Relaxed))
    }

    /// Returns the bytes that are accounted for.
    pub(crate) fn accounted(&self) -> usize {
        self.accounted.load(Ordering::Relaxed)
    }
}

fn pieces_cost(pieces: &Pieces) -> usize {
    pieces.iter().map(|piece| piece.len() + size_of::<Bytes>()).sum()
}
