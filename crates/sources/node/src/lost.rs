//! Samples that a source took and the DAC refused.

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
