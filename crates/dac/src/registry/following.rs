//! The handlers that read each topic of this DAC to its end, also if another topic replaces it before they have seen it.

use super::{Inner, Registry};
use crate::instance::Instance;
use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

/// Replaced topics that wait for a follower. Beyond that the node must send again what a topic had.
const MOST_UNREAD: usize = 1_024;

/// A handler that reads the topic of each home instance to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follower {
    /// The archive of this DAC.
    Archive = 1,
    /// The copy outside of this host.
    Copy = 2,
    /// A database.
    Database = 4,
}

/// A set of followers.
#[derive(Debug, Default)]
pub(crate) struct Followers(AtomicU8);

impl Followers {
    pub fn add(&self, follower: Follower) {
        self.0.fetch_or(follower as u8, Ordering::AcqRel);
    }

    pub fn contains(&self, follower: Follower) -> bool {
        self.0.load(Ordering::Acquire) & follower as u8 != 0
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    fn contains_all(&self, others: &Self) -> bool {
        others.0.load(Ordering::Acquire) & !self.0.load(Ordering::Acquire) == 0
    }
}

impl Registry {
    /// Returns the instances whose home is this DAC, and before them those that another topic has replaced, or none, and that this
    /// follower has not [seen](Instance::follow).
    pub fn instances_to_follow(&self, by: Follower) -> Vec<Arc<Instance>> {
        let mut inner = self.lock();
        let Inner { followers, unread, instances, .. } = &mut *inner;
        followers.add(by);
        unread.retain(|instance| !instance.followers.contains_all(followers));
        let unread = unread.iter().filter(|instance| !instance.is_followed(by));
        let home = instances.values().filter(|instance| !instance.is_relayed());
        unread.chain(home).cloned().collect()
    }
}

impl Inner {
    /// Keeps a topic that was removed for the followers that have not seen it. Returns false if none has, and none ever will.
    pub(super) fn keep_unread(&mut self, instance: &Arc<Instance>) -> bool {
        let is_empty = instance.log.start() == instance.log.next();
        if is_empty || instance.followers.contains_all(&self.followers) {
            return true;
        }
        if self.unread.len() >= MOST_UNREAD {
            return !instance.followers.is_empty();
        }
        self.unread.push(instance.clone());
        true
    }
}
