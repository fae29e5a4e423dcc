//! The handlers that read each topic of this DAC to its end, also if another topic replaces it before they have seen it.

use super::{Inner, Registry};
use crate::{instance::Instance, ledger::DurableStore};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};
use uuid::Uuid;

/// Upper bound of the replaced topics that wait for a follower. Beyond that unread samples are lost here, and counted.
const MOST_REPLACED: usize = 1_024;
/// Most bytes of their types; their samples count for the memory of all logs.
const MOST_SCHEMA_BYTES: usize = 16 * 1024 * 1024;

/// A handler that reads the topic of each home instance to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follower {
    /// The archive of this DAC.
    Archive = 1,
    /// The copy outside of this host.
    Copy = 2,
    /// A database.
    Database = 4,
    /// Topics of DDS.
    Dds = 8,
    /// The rules.
    Rules = 16,
}

/// A set of followers.
#[derive(Debug, Default)]
pub(crate) struct Followers(AtomicU8);

impl Followers {
    pub fn add(&self, follower: Follower) {
        self.0.fetch_or(follower as u8, Ordering::AcqRel);
    }

    fn contains(&self, follower: Follower) -> bool {
        self.0.load(Ordering::Acquire) & follower as u8 != 0
    }

    fn contains_all(&self, others: &Self) -> bool {
        others.0.load(Ordering::Acquire) & !self.0.load(Ordering::Acquire) == 0
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

/// Up to which numbers of a run archive and copy have the samples of topics that others have replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptOfReplaced {
    pub stored: u64,
    pub copied: u64,
}

impl Registry {
    /// Returns the instances whose home is this DAC, and before them those that another topic has replaced, or none, and that this
    /// follower has not [read](Instance::end_following) to the end.
    pub fn instances_to_follow(&self, by: Follower) -> Vec<Arc<Instance>> {
        let mut inner = self.lock();
        let Inner { followers, replaced, instances, .. } = &mut *inner;
        followers.add(by);
        replaced.retain(|instance| !instance.read_by.contains_all(followers));
        let replaced = replaced.iter().filter(|instance| !instance.read_by.contains(by));
        let home = instances.values().filter(|instance| !instance.is_relayed());
        replaced.chain(home).cloned().collect()
    }

    /// Returns what archive and copy have of replaced topics of a node, by instance: only of those with samples of the run that one of
    /// them does not have yet.
    pub(crate) fn kept_of_replaced(&self, node: &str, run: Uuid) -> HashMap<Arc<str>, KeptOfReplaced> {
        let inner = self.lock();
        let mut kept = HashMap::new();
        for instance in inner.replaced.iter().filter(|instance| &*instance.node == node) {
            let ledger = instance.ledger();
            let before = |keeper| ledger.not_kept(keeper, run, instance.log.next()).unwrap_or(u64::MAX);
            let (stored, copied) = (before(DurableStore::Archive), before(DurableStore::Copy));
            let all = KeptOfReplaced { stored: u64::MAX, copied: u64::MAX };
            let least = kept.entry(instance.name.clone()).or_insert(all);
            *least = KeptOfReplaced { stored: least.stored.min(stored), copied: least.copied.min(copied) };
        }
        kept
    }
}

impl Inner {
    /// Keeps a topic that was removed for the followers that have not read it. Returns false if none has seen it, and none ever will.
    pub(super) fn keep_replaced(&mut self, instance: &Arc<Instance>) -> bool {
        let is_empty = instance.log.start() == instance.log.next();
        if is_empty || self.followers.is_empty() {
            return true;
        }
        let schemas: usize = self.replaced.iter().map(|kept| kept.schema_bytes).sum();
        if self.replaced.len() >= MOST_REPLACED || schemas + instance.schema_bytes > MOST_SCHEMA_BYTES {
            let is_followed = !instance.followed_by.is_empty();
            if !is_followed {
                let samples = instance.log.next().0 - instance.log.start().0;
                self.evicted.unread_samples += samples;
                tracing::debug!(node = %instance.node, instance = %instance.name, samples, "samples of a replaced topic were lost");
            }
            return is_followed;
        }
        self.replaced.push(instance.clone());
        true
    }
}

impl Instance {
    /// Records that a follower reads its topic from now on.
    pub fn follow(&self, by: Follower) {
        self.followed_by.add(by);
    }

    /// Records that a follower has read its replaced topic to the end, or never will read it.
    pub fn end_following(&self, by: Follower) {
        self.read_by.add(by);
    }
}
