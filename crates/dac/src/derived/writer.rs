//! Batches of the samples that a derived stream keeps, and the count of those it does not.

use oasis_wire::{
    batch::{Encoder, Fields, Header, MAX_BATCH, MAX_VALUES},
    gap::Gap,
    quantity::{Offset, TopicId},
    schema::{InvalidType, ProbeType},
    value::{self, Value},
};

/// Most bytes collected for one batch.
const BATCH_BYTES: usize = MAX_BATCH / 4;

/// A sample that is kept, with its numbers in the base stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptSample {
    pub sequence: u64,
    pub offset: u64,
    pub time: u64,
    pub values: Vec<Value>,
    /// Samples that the node dropped between the last accounted sample and this one.
    pub dropped: u64,
    /// The gaps between them, with their causes.
    pub gaps: Vec<Gap>,
    pub origin: Origin,
}

impl KeptSample {
    /// Stands for an earlier sample, which is thinned out: what is missing before that is missing before this one.
    pub fn replace(&mut self, thinned: &mut Self) {
        self.dropped = self.dropped.saturating_add(thinned.dropped);
        let mut gaps = std::mem::take(&mut thinned.gaps);
        self.gaps.drain(..).for_each(|gap| gap.add_to(&mut gaps));
        self.gaps = gaps;
    }
}

/// The batch header's fields that apply to the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub state: u16,
    pub node_time: u64,
    pub dac_time: u64,
}

impl From<&Header> for Origin {
    fn from(header: &Header) -> Self {
        Self { state: header.state, node_time: header.node_time, dac_time: header.dac_time }
    }
}

/// A batch of the derived stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DerivedBatch {
    pub batch: Vec<u8>,
    pub count: u16,
    /// Gaps before it, without samples thinned out.
    pub gaps_before: Vec<Gap>,
    /// Samples of the base that it accounts for: its own and those thinned out before them.
    pub span: u64,
    /// When the base's samples arrived.
    pub dac_time: u64,
}

#[derive(Debug)]
pub(super) struct Writer {
    topic: TopicId,
    kinds: ProbeType,
    encoder: Encoder,
    max_samples: usize,
    /// Every sample of the base before this offset is in a batch, or accounted for by one.
    accounted: u64,
    /// Samples dropped by the node before a batch that could not be encoded.
    dropped: u64,
    /// The gaps before it.
    gaps: Vec<Gap>,
    open: Option<Open>,
    row: Vec<u8>,
    made: Vec<DerivedBatch>,
}

/// The open batch.
#[derive(Debug, Clone)]
struct Open {
    first_sequence: u64,
    dropped_before: u64,
    gaps_before: Vec<Gap>,
    next_sequence: u64,
    end: u64,
    origin: Origin,
}

impl Writer {
    pub fn new(topic: TopicId, probe_type: &ProbeType, start: Offset) -> Result<Self, InvalidType> {
        Ok(Self {
            topic,
            encoder: Encoder::new(probe_type)?,
            max_samples: (MAX_VALUES / (probe_type.metrics.len() + 1)).clamp(1, u16::MAX.into()),
            kinds: probe_type.clone(),
            accounted: start.0,
            dropped: 0,
            gaps: Vec::new(),
            open: None,
            row: Vec::new(),
            made: Vec::new(),
        })
    }

    /// Adds a sample to the open batch if it follows the last one there, otherwise to a new batch: sequence numbers
    /// within a batch are consecutive.
    pub fn keep(&mut self, kept: &KeptSample) {
        let full = self.encoder.len() >= self.max_samples || self.encoder.bytes_held() > BATCH_BYTES;
        let follows = self.open.as_ref().is_some_and(|open| {
            (open.end, open.next_sequence, open.origin) == (kept.offset, kept.sequence, kept.origin)
        });
        if full || !follows {
            self.finish();
        }
        value::write_row(&self.kinds, &kept.values, &mut self.row);
        // A row encoded with its own schema fits. If it did not, the sample would count as thinned out.
        if self.encoder.push(kept.time, &self.row).is_err() {
            return;
        }
        let thinned = kept.offset.saturating_sub(self.accounted);
        let dropped = std::mem::take(&mut self.dropped).saturating_add(kept.dropped);
        let mut gaps_before = std::mem::take(&mut self.gaps);
        kept.gaps.iter().for_each(|gap| gap.add_to(&mut gaps_before));
        let open = self.open.get_or_insert(Open {
            first_sequence: kept.sequence,
            dropped_before: thinned.saturating_add(dropped),
            gaps_before,
            next_sequence: kept.sequence,
            end: kept.offset,
            origin: kept.origin,
        });
        open.next_sequence = kept.sequence.wrapping_add(1);
        open.end = kept.offset + 1;
    }

    /// Finishes the open batch.
    pub fn finish(&mut self) {
        let Some(open) = self.open.take() else { return };
        let count = self.encoder.len() as u16; // `max_samples` keeps it in range
        let mut batch = Vec::new();
        let fields = Fields {
            topic: self.topic.0,
            state: open.origin.state,
            first_sequence: open.first_sequence,
            node_time: open.origin.node_time,
            dropped_before: u32::try_from(open.dropped_before).unwrap_or(u32::MAX),
        };
        self.encoder.finish(fields, &mut batch);
        if batch.len() > MAX_BATCH {
            // Three times the metrics of a very wide type: no reader could decode it, so it counts as thinned out.
            let thinned = open.end - u64::from(count) - self.accounted;
            self.dropped = self.dropped.saturating_add(open.dropped_before - thinned);
            self.gaps = open.gaps_before;
            return;
        }
        let span = open.end - std::mem::replace(&mut self.accounted, open.end);
        let Open { gaps_before, origin, .. } = open;
        self.made.push(DerivedBatch { batch, count, gaps_before, span, dac_time: origin.dac_time });
    }

    /// Returns the batches finished since the last call.
    pub fn take(&mut self) -> Vec<DerivedBatch> {
        std::mem::take(&mut self.made)
    }
}
