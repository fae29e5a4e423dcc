//! True history of each sample, as far as the simulation knows.

use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// End of a run of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The node has delivered everything.
    Delivered,
    /// The node ended on purpose, and could not deliver everything.
    Left,
    /// The node was killed.
    Killed,
    /// Its host lost its power.
    PowerCut,
}

/// A run of a node: one life of its process.
#[derive(Debug, Clone)]
pub struct Run {
    /// Number of the node.
    pub node: usize,
    /// Its run.
    pub run: Uuid,
    /// Samples that each instance has taken.
    pub instances: Vec<TakenSamples>,
    /// End of the run; none while it lives.
    pub end: Option<End>,
}

/// The samples of one instance in one run.
#[derive(Debug, Clone, Default)]
pub struct TakenSamples {
    /// Sequence number of the last one.
    pub last: u64,
    /// Numbers that the ring dropped.
    pub dropped: BTreeSet<u64>,
    /// Up to this number they were given to the spool.
    pub spooled: u64,
    /// Up to this number they were in the file spool when the process was killed.
    pub in_file: u64,
    /// Up to this number the archive had stored them, or the ledger had declared them lost.
    pub settled: u64,
    /// Numbers that the archive had stored.
    pub stored: BTreeSet<u64>,
}

impl TakenSamples {
    /// Notes that everything after a number, up to another, is stored, except some.
    pub fn store(&mut self, after: u64, up_to: u64, is_lost: impl Fn(u64) -> bool) {
        let new = self.settled.max(after) + 1..=up_to.min(self.last);
        self.stored.extend(new.filter(|number| !is_lost(*number)));
        self.settled = self.settled.max(up_to.min(self.last));
    }
}

/// All runs.
#[derive(Debug, Default)]
pub struct Oracle {
    /// Gaps whose causes could not be listed in time, as the counters of the archives say: a ledger keeps the latest gaps only.
    pub causes_forgotten: u64,
    /// In the order in which they began.
    pub runs: Vec<Run>,
    places: BTreeMap<Uuid, usize>,
}

impl Oracle {
    /// Notes that a run begins.
    pub fn begin(&mut self, node: usize, run: Uuid, instances: usize) {
        self.places.insert(run, self.runs.len());
        self.runs.push(Run { node, run, instances: vec![TakenSamples::default(); instances], end: None });
    }

    /// Returns a run; none for one of a liar.
    pub fn run(&mut self, run: Uuid) -> Option<&mut Run> {
        self.runs.get_mut(*self.places.get(&run)?)
    }
}
