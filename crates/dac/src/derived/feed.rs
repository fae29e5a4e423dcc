//! From batches of the base stream to batches of a derived one: bytes in, bytes out.

use super::{
    envelope::{Envelope, envelope_of},
    max_hz::MaxHz,
    writer::{Kept, Made, Origin, Writer},
};
use oasis_wire::{
    batch::Batch,
    quantity::{Hertz, Offset, TopicId},
    schema::{InvalidType, ProbeType},
};
use std::sync::Arc;

/// How a stream is thinned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Thinned {
    /// `max_hz`
    MaxHz(Hertz),
    /// `envelope`
    Envelope(Hertz),
}

impl Thinned {
    /// The type of the samples that are left.
    pub fn probe_type(self, base: &Arc<ProbeType>) -> Arc<ProbeType> {
        match self {
            Self::MaxHz(_) => base.clone(),
            Self::Envelope(_) => Arc::new(envelope_of(base)),
        }
    }

    /// Nanoseconds from one sample to the next.
    pub fn period_ns(self) -> u64 {
        let (Self::MaxHz(hertz) | Self::Envelope(hertz)) = self;
        hertz.period_ns().max(1)
    }
}

#[derive(Debug)]
enum Way {
    MaxHz(MaxHz),
    Envelope(Envelope),
}

/// The state of one derived stream between two batches of its base.
#[derive(Debug)]
pub(super) struct Feed {
    base: Arc<ProbeType>,
    way: Way,
    writer: Writer,
    last_sequence: u64,
}

impl Feed {
    /// A stream of `topic` that accounts for every sample of the base from `start` on.
    pub fn new(
        thinned: Thinned,
        base: &Arc<ProbeType>,
        topic: TopicId,
        start: Offset,
    ) -> Result<Self, InvalidType> {
        let period_ns = thinned.period_ns();
        let way = match thinned {
            Thinned::MaxHz(_) => Way::MaxHz(MaxHz::new(period_ns)),
            Thinned::Envelope(_) => Way::Envelope(Envelope::new(period_ns, base)),
        };
        let writer = Writer::new(topic, &thinned.probe_type(base), start)?;
        Ok(Self { base: base.clone(), way, writer, last_sequence: 0 })
    }

    /// Takes a batch of the base. One whose columns break the rules has no samples: what it held counts as thinned away.
    pub fn batch(&mut self, bytes: &[u8]) -> Vec<Made> {
        let Ok(batch) = Batch::parse(bytes, &self.base) else { return Vec::new() };
        let header = batch.header();
        if header.first_sequence <= self.last_sequence {
            // The node has restarted: its last sample before that has no successor.
            self.way.flush(&mut self.writer);
        }
        let mut dropped = header.dropped_before.into();
        let origin = Origin::from(header);
        for sample in batch.samples() {
            self.last_sequence = sample.sequence;
            let kept = Kept {
                sequence: sample.sequence,
                offset: sample.offset,
                time: sample.time,
                values: sample.values,
                dropped: std::mem::take(&mut dropped),
                origin,
            };
            self.way.sample(kept, &mut self.writer);
        }
        self.writer.finish();
        self.writer.take()
    }

    /// Whether a sample waits for more to come, or for the end of its period.
    pub fn is_waiting(&self) -> bool {
        match &self.way {
            Way::MaxHz(way) => way.is_waiting(),
            Way::Envelope(way) => way.is_waiting(),
        }
    }

    /// Nothing more came within a period.
    pub fn flush(&mut self) -> Vec<Made> {
        self.way.flush(&mut self.writer);
        self.writer.finish();
        self.writer.take()
    }
}

impl Way {
    fn sample(&mut self, sample: Kept, to: &mut Writer) {
        match self {
            Self::MaxHz(way) => way.sample(sample, to),
            Self::Envelope(way) => way.sample(sample, to),
        }
    }

    fn flush(&mut self, to: &mut Writer) {
        match self {
            Self::MaxHz(way) => way.flush(to),
            Self::Envelope(way) => way.flush(to),
        }
    }
}
