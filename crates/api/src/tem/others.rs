//! Other TEMs: those that list the DAC of this process.

use oasis_tem::{Liveness, TemEntry};
use std::collections::BTreeMap;

/// Other TEMs of the settings: the address of the page of each, and why it is of no use.
#[derive(Debug, Default)]
pub struct Others {
    known: BTreeMap<String, Option<String>>,
}

impl Others {
    /// Says why a TEM of the settings is of no use, or that it is.
    pub fn set_problem(&mut self, address: &str, problem: Option<String>) {
        self.known.insert(address.to_owned(), problem);
    }

    /// Why TEMs are of no use.
    pub fn problems(&self) -> Vec<String> {
        self.known.values().flatten().cloned().collect()
    }

    /// All of them.
    pub fn list(&self) -> Vec<TemEntry> {
        let entry = |(address, problem): (&String, &Option<String>)| TemEntry {
            doors: address.clone(),
            state: if problem.is_none() { Liveness::Live } else { Liveness::Late },
            problem: problem.clone(),
        };
        self.known.iter().map(entry).collect()
    }
}
