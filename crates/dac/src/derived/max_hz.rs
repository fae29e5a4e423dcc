//! `max_hz=N`: the first sample of each period, at once; also the last one if nothing follows it.

use super::writer::{KeptSample, Writer};

/// Counts periods on the node's clock from 1970, so that a stream that is created again keeps the same samples.
#[derive(Debug)]
pub(super) struct MaxHz {
    period_ns: u64,
    /// The period whose sample was already kept.
    served: Option<u64>,
    /// The newest sample, unless it was kept.
    tail: Option<KeptSample>,
}

impl MaxHz {
    pub fn new(period_ns: u64) -> Self {
        Self { period_ns, served: None, tail: None }
    }

    pub fn sample(&mut self, mut sample: KeptSample, to: &mut Writer) {
        let period = sample.time / self.period_ns;
        if let Some(mut thinned) = self.tail.take() {
            sample.replace(&mut thinned);
        }
        if self.served == Some(period) {
            self.tail = Some(sample);
        } else {
            self.served = Some(period);
            to.keep(&sample);
        }
    }

    /// Returns whether the newest sample waits for a successor.
    pub fn is_waiting(&self) -> bool {
        self.tail.is_some()
    }

    /// Keeps the newest sample, because no successor arrived: otherwise a silent stream would show an old value
    /// forever.
    pub fn flush(&mut self, to: &mut Writer) {
        if let Some(tail) = self.tail.take() {
            to.keep(&tail);
        }
    }
}
