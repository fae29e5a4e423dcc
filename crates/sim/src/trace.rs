//! Trace of a run: a hash of all events, and the last ones.

use std::collections::VecDeque;

/// Events kept for a report.
const MAX_REPORTED_EVENTS: usize = 60;
/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The trace of a run.
#[derive(Debug)]
pub struct Trace {
    hash: u64,
    steps: u64,
    last: VecDeque<String>,
    is_shown: bool,
}

impl Trace {
    /// Creates an empty trace, which is also printed if it `is_shown`.
    pub fn new(is_shown: bool) -> Self {
        Self { hash: OFFSET, steps: 0, last: VecDeque::new(), is_shown }
    }

    /// Adds an event at a time in nanoseconds.
    pub fn note(&mut self, now: u64, event: &str) {
        self.steps += 1;
        for byte in now.to_le_bytes().iter().chain(event.as_bytes()) {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
        let line = format!("{:>6} {:>13.6} {event}", self.steps, now as f64 / 1e9);
        if self.is_shown {
            println!("{line}");
        }
        if self.last.len() == MAX_REPORTED_EVENTS {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// Prints a detail that is no event of its own.
    pub fn detail(&self, now: u64, detail: impl FnOnce() -> String) {
        if self.is_shown {
            println!("       {:>13.6}   {}", now as f64 / 1e9, detail());
        }
    }

    /// Returns the hash of all events.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the number of events.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the last events.
    pub fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }
}
