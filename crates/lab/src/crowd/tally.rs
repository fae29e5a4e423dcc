//! What a crowd has been sent.

use hdrhistogram::Histogram;
use std::time::Duration;

/// Beyond this an age says only that something went wrong, in nanoseconds.
const OLDEST: u64 = 60_000_000_000;

/// Counts, and ages if they are wanted.
#[derive(Debug, Default)]
pub struct Tally {
    /// Subscribers whose handshake is done.
    pub welcomed: usize,
    /// Messages, all subscribers together.
    pub messages: u64,
    /// Samples in them, where they say so.
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

    /// A sample of this age has come, in nanoseconds.
    pub fn age(&mut self, nanoseconds: u64) {
        if let Some(ages) = &mut self.ages {
            ages.saturating_record(nanoseconds);
        }
    }

    /// What the ages are.
    pub fn ages(&self) -> Option<Ages> {
        let ages = self.ages.as_ref()?;
        let at = |quantile| Duration::from_nanos(ages.value_at_quantile(quantile));
        Some(Ages { p50: at(0.5), p99: at(0.99), max: Duration::from_nanos(ages.max()) })
    }
}
