//! Counts of received messages.

use hdrhistogram::Histogram;
use std::time::Duration;

/// Greatest age that is recorded, in nanoseconds.
const OLDEST: u64 = 60_000_000_000;

/// Counts, and optionally ages.
#[derive(Debug, Default)]
pub struct Tally {
    /// Subscribers whose handshake is done.
    pub welcomed: usize,
    /// Messages, all subscribers together.
    pub messages: u64,
    /// Samples in them, if the messages have counts.
    pub samples: u64,
    ages: Option<Histogram<u64>>,
}

/// Ages of samples at their subscribers.
#[derive(Debug, Clone, Copy)]
pub struct Ages {
    /// Half of the samples are younger.
    pub p50: Duration,
    /// One in a hundred is older.
    pub p99: Duration,
    /// The oldest.
    pub max: Duration,
}

impl Tally {
    /// One that keeps ages, to three digits.
    pub fn with_ages() -> anyhow::Result<Self> {
        Ok(Self { ages: Some(Histogram::new_with_max(OLDEST, 3)?), ..Self::default() })
    }

    /// Records the age of a sample, in nanoseconds.
    pub fn age(&mut self, nanoseconds: u64) {
        if let Some(ages) = &mut self.ages {
            ages.saturating_record(nanoseconds);
        }
    }

    /// Returns the ages.
    pub fn ages(&self) -> Option<Ages> {
        let ages = self.ages.as_ref()?;
        let at = |quantile| Duration::from_nanos(ages.value_at_quantile(quantile));
        Some(Ages { p50: at(0.5), p99: at(0.99), max: Duration::from_nanos(ages.max()) })
    }
}
