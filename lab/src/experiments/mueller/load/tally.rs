//! Results of the clients of a process.

use crate::experiments::fleet::Tally;
use anyhow::Context;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Longest time that is recorded as it is, in microseconds: an hour.
const MAX_TIME_MICROS: u64 = 3_600_000_000;
/// Digits of times.
const DIGITS: u8 = 3;
/// Upper bound of distinguished kinds of failures.
const MAX_KINDS: usize = 32;

/// Counts of all clients together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pings {
    /// Connections that were opened.
    pub opened: u64,
    /// Connections that could not be opened.
    pub refused: u64,
    /// Connections that ended before the end.
    pub lost: u64,
    /// Why connections were refused or lost.
    pub failures: BTreeMap<String, u64>,
    /// Pings that were sent.
    pub pings: u64,
    /// Answers by worker, of servers that tell its number.
    pub by_worker: BTreeMap<usize, u64>,
    /// Microseconds from ping to answer.
    #[serde(with = "times")]
    times: Histogram<u64>,
    /// Connections that are open.
    #[serde(skip)]
    pub open: u64,
    /// The longest time since it was taken, in milliseconds.
    #[serde(skip)]
    pub longest: f64,
}

impl Pings {
    /// Nothing yet.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self {
            opened: 0,
            refused: 0,
            lost: 0,
            failures: BTreeMap::new(),
            pings: 0,
            by_worker: BTreeMap::new(),
            times: Histogram::new_with_bounds(1, MAX_TIME_MICROS, DIGITS).context("a histogram")?,
            open: 0,
            longest: 0.0,
        })
    }

    /// Counts a connection that could not be opened.
    pub fn refused(&mut self, why: &anyhow::Error) {
        self.refused += 1;
        self.failed(format!("refused: {why:#}"), 1);
    }

    /// Counts a connection that ended too early.
    pub fn lost(&mut self, why: &anyhow::Error) {
        self.lost += 1;
        self.failed(format!("lost: {why:#}"), 1);
    }

    fn failed(&mut self, why: String, count: u64) {
        let is_known = self.failures.len() < MAX_KINDS || self.failures.contains_key(&why);
        *self.failures.entry(if is_known { why } else { "other".into() }).or_default() += count;
    }

    /// Counts an answer.
    pub fn answered(&mut self, worker: Option<usize>, time: Duration) {
        if let Some(worker) = worker {
            *self.by_worker.entry(worker).or_default() += 1;
        }
        self.longest = self.longest.max(time.as_secs_f64() * 1e3);
        self.times.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// All answers.
    pub fn answers(&self) -> u64 {
        self.times.len()
    }

    /// Connections that were refused or lost.
    pub fn errors(&self) -> u64 {
        self.refused + self.lost
    }

    /// Milliseconds that this percentage of the answers took at most; 0 without answers.
    pub fn quantile_ms(&self, percent: f64) -> f64 {
        self.times.value_at_quantile(percent / 100.0) as f64 / 1e3
    }
}

impl Tally for Pings {
    fn add(&mut self, other: &Self) {
        self.opened += other.opened;
        self.refused += other.refused;
        self.lost += other.lost;
        self.pings += other.pings;
        other.failures.iter().for_each(|(why, count)| self.failed(why.clone(), *count));
        for (worker, answers) in &other.by_worker {
            *self.by_worker.entry(*worker).or_default() += answers;
        }
        for value in other.times.iter_recorded() {
            self.times.saturating_record_n(value.value_iterated_to(), value.count_at_value());
        }
    }
}

/// Counts that all clients of a process share.
#[derive(Debug, Clone)]
pub struct Shared(Arc<Mutex<Pings>>);

impl Shared {
    /// Nothing yet.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Pings::new()?))))
    }

    /// Runs a function with exclusive access to the pings.
    pub fn with<T>(&self, of: impl FnOnce(&mut Pings) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes them.
    pub fn take(&self) -> anyhow::Result<Pings> {
        let none = Pings::new()?;
        Ok(self.with(|pings| std::mem::replace(pings, none)))
    }
}

/// A histogram as pairs of a value and its count.
mod times {
    use super::{DIGITS, Histogram, MAX_TIME_MICROS};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(times: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        let recorded = times.iter_recorded();
        serializer.collect_seq(recorded.map(|value| (value.value_iterated_to(), value.count_at_value())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
        let mut times = Histogram::new_with_bounds(1, MAX_TIME_MICROS, DIGITS).map_err(D::Error::custom)?;
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            times.record_n(value.min(MAX_TIME_MICROS), count).map_err(D::Error::custom)?;
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_count_answers_by_worker_and_time_them() {
        let mut sum = Pings::new().unwrap();
        for process in 0..2 {
            let mut pings = Pings::new().unwrap();
            for millis in 1..=100 {
                pings.answered((millis % 2 == process).then_some(3), Duration::from_millis(millis));
            }
            pings.lost(&anyhow::anyhow!("the server closed the connection"));
            let reported = serde_json::to_string(&pings).unwrap();
            sum.add(&serde_json::from_str(&reported).unwrap());
        }
        assert_eq!((sum.answers(), sum.by_worker.get(&3), sum.errors()), (200, Some(&100), 2));
        assert_eq!(sum.failures.values().collect::<Vec<_>>(), [&2]);
        let (median, longest) = (sum.quantile_ms(50.0), sum.quantile_ms(100.0));
        assert!((49.9..=50.1).contains(&median) && (100.0..=100.2).contains(&longest), "{median} {longest}");
    }

    #[test]
    fn kinds_of_failures_are_bounded() {
        let mut pings = Pings::new().unwrap();
        (0..100).for_each(|number| pings.lost(&anyhow::anyhow!("{number}")));
        assert_eq!((pings.failures.len(), pings.errors()), (MAX_KINDS + 1, 100));
    }
}
