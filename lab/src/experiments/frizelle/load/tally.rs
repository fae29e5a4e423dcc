//! Counts of what clients see, for each emit.

use super::assertions::Event;
use crate::experiments::fleet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Upper bound of distinguished kinds of errors.
const MAX_KINDS: usize = 32;
/// Kind of the errors that are answers.
pub const ERROR_ANSWER: &str = "an answer that is an error";
/// Emits that are kept: ten minutes at a hundred a second.
const MAX_EMITS: usize = 60_000;

/// One emit, as the clients of one process saw it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// Requests that the server says it answered.
    pub total: u64,
    /// Answers that arrived.
    pub received: u64,
    /// The longest duration that an answer states, in milliseconds.
    pub duration: f64,
    /// From the emit to the last answer's arrival, in milliseconds.
    pub delivery: f64,
}

/// All counts of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Answers.
    pub responses: u64,
    /// Clients that had an answer.
    pub clients_served: u64,
    /// Errors by kind.
    pub errors: BTreeMap<String, u64>,
    /// Timeouts that the plan wants.
    pub expected_timeouts: u64,
    /// Timeouts that it does not want.
    pub unexpected_timeouts: u64,
    /// The highest number of connections that the server stated.
    pub connections_peak: u64,
    /// The longest duration since it was taken.
    #[serde(skip)]
    pub longest: f64,
    /// Emits by the time they began, in milliseconds since 1970.
    pub cycles: BTreeMap<i64, Cycle>,
}

impl Tally {
    /// An error.
    pub fn error(&mut self, kind: &str) {
        let kind = if self.errors.len() < MAX_KINDS || kind == ERROR_ANSWER || self.errors.contains_key(kind)
        {
            kind
        } else {
            "other"
        };
        *self.errors.entry(kind.to_owned()).or_default() += 1;
    }

    /// All answers that arrived, also those that are errors.
    pub fn answers(&self) -> u64 {
        self.responses + self.errors.get(ERROR_ANSWER).copied().unwrap_or_default()
    }

    /// All errors.
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum::<u64>() + self.unexpected_timeouts
    }

    /// An event that arrived now, on the server's clock.
    pub fn event(&mut self, event: &Event, now_ms: f64) {
        self.longest = self.longest.max(event.duration);
        if self.cycles.len() >= MAX_EMITS && !self.cycles.contains_key(&event.created) {
            return;
        }
        let cycle = self.cycles.entry(event.created).or_default();
        cycle.received += 1;
        cycle.total = cycle.total.max(event.total);
        cycle.duration = cycle.duration.max(event.duration);
        cycle.delivery = cycle.delivery.max(now_ms - event.created as f64);
    }

    /// Emits that began within this many milliseconds as one: the workers of a cluster emit on their own.
    pub fn merged_cycles(&self, within: i64) -> BTreeMap<i64, Cycle> {
        let mut merged: BTreeMap<i64, Cycle> = BTreeMap::new();
        for (created, cycle) in &self.cycles {
            match merged.last_entry().filter(|last| created - last.key() < within) {
                Some(mut last) => {
                    let later = (created - last.key()) as f64;
                    let sum = last.get_mut();
                    sum.received += cycle.received;
                    sum.total += cycle.total;
                    sum.duration = sum.duration.max(later + cycle.duration);
                    sum.delivery = sum.delivery.max(later + cycle.delivery);
                }
                None => drop(merged.insert(*created, *cycle)),
            }
        }
        merged
    }
}

impl fleet::Tally for Tally {
    fn add(&mut self, other: &Self) {
        self.responses += other.responses;
        self.clients_served += other.clients_served;
        self.expected_timeouts += other.expected_timeouts;
        self.unexpected_timeouts += other.unexpected_timeouts;
        self.connections_peak = self.connections_peak.max(other.connections_peak);
        for (kind, count) in &other.errors {
            *self.errors.entry(kind.clone()).or_default() += count;
        }
        for (created, cycle) in &other.cycles {
            let sum = self.cycles.entry(*created).or_default();
            sum.received += cycle.received;
            sum.total = sum.total.max(cycle.total);
            sum.duration = sum.duration.max(cycle.duration);
            sum.delivery = sum.delivery.max(cycle.delivery);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::Tally as _;

    fn tally(created: i64, total: u64, duration: f64) -> Tally {
        let mut tally = Tally::default();
        tally.event(&Event { created, duration, total }, created as f64 + 2.0 * duration);
        tally
    }

    #[test]
    fn processes_see_parts_of_one_emit() {
        let mut sum = tally(1_000, 2, 3.0);
        sum.add(&tally(1_000, 2, 5.0));
        let cycle = Cycle { total: 2, received: 2, duration: 5.0, delivery: 10.0 };
        assert_eq!(sum.cycles.into_iter().collect::<Vec<_>>(), [(1_000, cycle)]);
    }

    #[test]
    fn workers_of_a_cluster_emit_parts_of_one_cycle() {
        let mut sum = tally(1_000, 2, 3.0);
        sum.add(&tally(1_001, 4, 5.0));
        sum.add(&tally(2_000, 6, 1.0));
        let merged = sum.merged_cycles(500);
        assert_eq!(merged.keys().collect::<Vec<_>>(), [&1_000, &2_000]);
        assert_eq!(merged[&1_000], Cycle { total: 6, received: 2, duration: 6.0, delivery: 11.0 });
    }

    #[test]
    fn kinds_of_errors_are_bounded() {
        let mut tally = Tally::default();
        (0..100).for_each(|number| tally.error(&number.to_string()));
        assert_eq!((tally.errors.len(), tally.error_count()), (MAX_KINDS + 1, 100));
    }
}
