//! Samples of one instance in columns.

use std::ops::Range;

/// Number of missing samples if it is unknown: a node has restarted, a clock was set back, or nothing came before.
pub const RESTART: u64 = u64::MAX;

/// Samples of one instance, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Nanoseconds on the node's clock.
    pub times: Vec<u64>,
    /// Sequence numbers.
    pub sequences: Vec<u64>,
    /// Samples missing before each one.
    pub missing: Vec<u64>,
    /// The values of each column; what is no finite number is unknown.
    pub columns: Vec<Vec<f64>>,
    /// The place of each in the batch that it came with.
    pub origins: Vec<usize>,
}

impl Rows {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Some of them.
    fn part(&self, range: Range<usize>) -> Self {
        let of = |column: &Vec<u64>| column.get(range.clone()).unwrap_or_default().to_vec();
        let values = |column: &Vec<f64>| column.get(range.clone()).unwrap_or_default().to_vec();
        Self {
            times: of(&self.times),
            sequences: of(&self.sequences),
            missing: of(&self.missing),
            columns: self.columns.iter().map(values).collect(),
            origins: self.origins.get(range.clone()).unwrap_or_default().to_vec(),
        }
    }

    /// Returns all of them in parts of up to `most` samples.
    pub(super) fn parts(&self, most: usize) -> impl Iterator<Item = Self> + '_ {
        (0..self.len()).step_by(most).map(move |start| self.part(start..self.len().min(start + most)))
    }

    /// Marks samples that are older than those before them, which nothing can be compared with.
    pub(super) fn mark_steps(&mut self, last_time: Option<u64>) {
        let mut last = last_time.unwrap_or_default();
        for (time, missing) in self.times.iter().zip(&mut self.missing) {
            if *time < last {
                *missing = RESTART;
            }
            last = *time;
        }
    }
}

/// A number that is unknown if it is not finite.
pub fn known(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::NAN }
}
