//! Members that are gone: readers of changes learn of them, and their late heartbeats do not bring them back.

use crate::name::DacName;
use oasis_wire::quantity::Epoch;
use std::collections::VecDeque;

/// The last members that were removed, oldest first.
#[derive(Debug)]
pub struct Removals {
    most: usize,
    gone: VecDeque<Removal>,
    /// Removals up to this revision are no longer remembered.
    forgotten: u64,
}

#[derive(Debug)]
struct Removal {
    revision: u64,
    gone: RemovedMember,
}

/// A member that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMember {
    pub name: DacName,
    pub epoch: Epoch,
    /// Its last heartbeat.
    pub beat: u64,
}

impl Removals {
    /// Creates a list of at most this many.
    pub fn new(most: usize) -> Self {
        Self { most, gone: VecDeque::new(), forgotten: 0 }
    }

    /// Adds a member that is removed in this revision.
    pub fn push(&mut self, revision: u64, gone: RemovedMember) {
        self.gone.push_back(Removal { revision, gone });
        while self.gone.len() > self.most {
            self.forgotten = self.gone.pop_front().map_or(self.forgotten, |removal| removal.revision);
        }
    }

    /// Returns whether this heartbeat was sent before its member was removed.
    pub fn is_old(&self, name: &DacName, epoch: Epoch, beat: u64) -> bool {
        let same = |removal: &&Removal| removal.gone.epoch == epoch && removal.gone.name == *name;
        self.gone.iter().rev().find(same).is_some_and(|removal| beat <= removal.gone.beat)
    }

    /// Returns the members that were removed after a revision; none if some of them are no longer remembered.
    pub fn after(&self, revision: u64) -> Option<impl Iterator<Item = &DacName>> {
        let later = self.gone.iter().filter(move |removal| removal.revision > revision);
        (revision >= self.forgotten).then(|| later.map(|removal| &removal.gone.name))
    }
}
