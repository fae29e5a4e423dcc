//! Samples that a source took and the DAC refused.

/// The place where samples were lost before they arrived at a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceLoss {
    /// The network.
    Network,
    /// A buffer of this host, which the source did not read as fast.
    Overrun,
}

/// Samples that were taken, and that the DAC refused afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LostSamples {
    /// Their number.
    pub count: u64,
    /// The reason for the first; empty if there are none.
    pub reason: String,
}

impl LostSamples {
    /// Adds samples; the first reason stays.
    pub(crate) fn add(&mut self, count: u64, reason: String) {
        if self.count == 0 {
            self.reason = reason;
        }
        self.count += count;
    }
}
