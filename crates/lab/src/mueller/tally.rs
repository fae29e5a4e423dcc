//! What the clients of a measurement saw.

use anyhow::Context;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// Longest time that is recorded as it is, in microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;

/// Counts of all clients together.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Connections that were opened.
    pub opened: usize,
    /// Connections that could not be opened.
    pub refused: usize,
    /// Connections that ended before the end.
    pub lost: usize,
    /// Why the first of them was refused or lost.
    pub first_failure: Option<String>,
    /// Pings that were sent.
    pub pings: u64,
    /// Answers by worker; those of workers that do not tell their number are at the end.
    pub by_worker: BTreeMap<usize, u64>,
    /// Answers without the number of a worker.
    pub by_others: u64,
    /// Microseconds from ping to answer.
    times: Histogram<u64>,
}

/// The figures of a tally, as a load generator prints them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub opened: usize,
    pub refused: usize,
    pub lost: usize,
    pub first_failure: Option<String>,
    pub pings: u64,
    pub answers: u64,
    pub by_worker: BTreeMap<usize, u64>,
    /// Microseconds.
    pub p50: u64,
    pub p99: u64,
    pub longest: u64,
}

impl Tally {
    /// Nothing yet.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self {
            opened: 0,
            refused: 0,
            lost: 0,
            first_failure: None,
            pings: 0,
            by_worker: BTreeMap::new(),
            by_others: 0,
            times: Histogram::new_with_bounds(1, LONGEST, 3).context("a histogram")?,
        })
    }

    /// Counts a connection that could not be opened.
    pub fn refused(&mut self, why: &anyhow::Error) {
        self.refused += 1;
        self.first_failure.get_or_insert_with(|| format!("refused: {why:#}"));
    }

    /// Counts a connection that ended too early.
    pub fn lost(&mut self, why: &anyhow::Error) {
        self.lost += 1;
        self.first_failure.get_or_insert_with(|| format!("lost: {why:#}"));
    }

    /// Counts an answer.
    pub fn answered(&mut self, worker: Option<usize>, time: Duration) {
        match worker {
            Some(worker) => *self.by_worker.entry(worker).or_default() += 1,
            None => self.by_others += 1,
        }
        self.times.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// Its figures.
    pub fn summary(&self) -> Summary {
        Summary {
            opened: self.opened,
            refused: self.refused,
            lost: self.lost,
            first_failure: self.first_failure.clone(),
            pings: self.pings,
            answers: self.times.len(),
            by_worker: self.by_worker.clone(),
            p50: self.times.value_at_quantile(0.5),
            p99: self.times.value_at_quantile(0.99),
            longest: self.times.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_worker_and_timed() {
        let mut tally = Tally::new().unwrap();
        for millis in 1..=100 {
            tally.answered((millis % 2 == 0).then_some(3), Duration::from_millis(millis));
        }
        let Summary { answers, by_worker, p50, longest, .. } = tally.summary();
        assert_eq!((answers, by_worker.get(&3)), (100, Some(&50)));
        assert!((49_900..=50_100).contains(&p50) && longest >= 100_000, "{p50} {longest}");
    }
}
