//! Members that are gone: readers of changes learn of them, and their late heartbeats do not bring them back.

use crate::{name::DacName, seal::Signature};
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
    /// Whether it has ended in order: peers learn of that.
    has_left: bool,
}

/// A member that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMember {
    pub name: DacName,
    pub epoch: Epoch,
    /// Its last heartbeat.
    pub beat: u64,
    /// Its signature under that it leaves.
    pub signature: Option<Signature>,
}

impl Removals {
    /// Creates a list of at most this many.
    pub fn new(most: usize) -> Self {
        Self { most, gone: VecDeque::new(), forgotten: 0 }
    }

    /// Adds a member that is removed in this revision.
    pub fn push(&mut self, revision: u64, gone: RemovedMember, has_left: bool) {
        self.gone.push_back(Removal { revision, gone, has_left });
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

    /// Returns those of them that have ended in order, as far as they are remembered.
    pub fn left_after(&self, revision: u64) -> impl Iterator<Item = &RemovedMember> {
        let later = self.gone.iter().filter(move |removal| removal.revision > revision && removal.has_left);
        later.map(|removal| &removal.gone)
    }
}
