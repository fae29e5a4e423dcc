//! Converts batches of the base stream to batches of a derived one: bytes in, bytes out.

use super::{
    envelope::{Envelope, envelope_of},
    max_hz::MaxHz,
    writer::{DerivedBatch, KeptSample, Origin, Writer},
};
use oasis_wire::{
    batch::Batch,
    gap::Gap,
    quantity::{Hertz, Offset, TopicId},
    schema::{InvalidType, ProbeType},
};
use std::sync::Arc;

/// Thinning of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Thinning {
    /// `max_hz`
    MaxHz(Hertz),
    /// `envelope`
    Envelope(Hertz),
}

impl Thinning {
    /// Returns the type of the derived samples.
    pub fn probe_type(self, base: &Arc<ProbeType>) -> Arc<ProbeType> {
        match self {
            Self::MaxHz(_) => base.clone(),
            Self::Envelope(_) => Arc::new(envelope_of(base)),
        }
    }

    /// Returns the nanoseconds from one sample to the next.
    pub fn period_ns(self) -> u64 {
        let (Self::MaxHz(hertz) | Self::Envelope(hertz)) = self;
        hertz.period_ns().max(1)
    }
}

#[derive(Debug)]
enum Method {
    MaxHz(MaxHz),
    Envelope(Envelope),
}

/// The state of one derived stream between two batches of its base.
#[derive(Debug)]
pub(super) struct Feed {
    method: Method,
    writer: Writer,
    last_sequence: u64,
}

impl Feed {
    /// Creates a stream of `topic` that accounts for every sample of the base from `start` on.
    pub fn new(
        thinning: Thinning,
        base: &Arc<ProbeType>,
        topic: TopicId,
        start: Offset,
    ) -> Result<Self, InvalidType> {
        let period_ns = thinning.period_ns();
        let method = match thinning {
            Thinning::MaxHz(_) => Method::MaxHz(MaxHz::new(period_ns)),
            Thinning::Envelope(_) => Method::Envelope(Envelope::new(period_ns, base)),
        };
        let writer = Writer::new(topic, &thinning.probe_type(base), start)?;
        Ok(Self { method, writer, last_sequence: 0 })
    }

    /// Processes a batch of the base, and the gaps before it.
    pub fn batch(&mut self, batch: &Batch, gaps_before: &[Gap]) -> Vec<DerivedBatch> {
        let header = batch.header();
        if header.first_sequence <= self.last_sequence {
            // The node has restarted: the last sample of its previous run has no successor.
            self.method.flush(&mut self.writer);
        }
        let (mut dropped, mut gaps) = (header.dropped_before.into(), gaps_before.to_vec());
        let origin = Origin::from(header);
        for sample in batch.samples() {
            self.last_sequence = sample.sequence;
            let kept = KeptSample {
                sequence: sample.sequence,
                offset: sample.offset,
                time: sample.time,
                values: sample.values,
                dropped: std::mem::take(&mut dropped),
                gaps: std::mem::take(&mut gaps),
                origin,
            };
            self.method.sample(kept, &mut self.writer);
        }
        self.writer.finish();
        self.writer.take()
    }

    /// Returns whether a sample waits for its successor, or for the end of its period.
    pub fn is_waiting(&self) -> bool {
        match &self.method {
            Method::MaxHz(way) => way.is_waiting(),
            Method::Envelope(way) => way.is_waiting(),
        }
    }

    /// Flushes the waiting samples: nothing arrived within a period.
    pub fn flush(&mut self) -> Vec<DerivedBatch> {
        self.method.flush(&mut self.writer);
        self.writer.finish();
        self.writer.take()
    }
}

impl Method {
    fn sample(&mut self, sample: KeptSample, to: &mut Writer) {
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
