//! `max_hz=N`: the first sample of each period, at once; the last one too if nothing follows it.

use super::writer::{Kept, Writer};

/// Periods are counted on the node's clock from 1970, so that a stream made anew keeps the same samples.
#[derive(Debug)]
pub(super) struct MaxHz {
    period_ns: u64,
    /// The period that has had its sample.
    served: Option<u64>,
    /// The newest sample, if it was not kept.
    tail: Option<Kept>,
}

impl MaxHz {
    pub fn new(period_ns: u64) -> Self {
        Self { period_ns, served: None, tail: None }
    }

    pub fn sample(&mut self, mut sample: Kept, to: &mut Writer) {
        let period = sample.time / self.period_ns;
        if let Some(thinned) = self.tail.take() {
            sample.dropped = sample.dropped.saturating_add(thinned.dropped);
        }
        if self.served == Some(period) {
            self.tail = Some(sample);
        } else {
            self.served = Some(period);
            to.keep(&sample);
        }
    }

    /// Whether the newest sample waits for a successor.
    pub fn is_waiting(&self) -> bool {
        self.tail.is_some()
    }

    /// No successor came: the newest sample is kept after all, or a stream that falls silent would show an old value for ever.
    pub fn flush(&mut self, to: &mut Writer) {
        if let Some(tail) = self.tail.take() {
            to.keep(&tail);
        }
    }
}
