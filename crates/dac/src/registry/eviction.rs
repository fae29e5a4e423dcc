//! Evicts offline nodes for nodes that connect: a limit is reached only by nodes that are connected.

use super::{Inner, changes::Entry};
use crate::{instance::Instance, node::Claim};
use serde::Serialize;
use std::sync::Arc;

/// Evicted instances whose last sequence numbers are kept, so that samples that their node sends again are recognized; and nodes whose
/// owners are.
const MAX_REMEMBERED: usize = 16_384;

/// Offline nodes and instances that were evicted for others, since the epoch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Evicted {
    /// Nodes.
    pub nodes: u64,
    /// Instances, including those of evicted nodes.
    pub instances: u64,
    /// Samples of topics that were replaced, or evicted, before a handler had read them.
    pub unread_samples: u64,
}

impl Inner {
    /// Evicts an offline node: one that never sent a sample, or else one of the address that has the most of them.
    /// Returns false if all nodes are connected.
    pub(super) fn evict_oldest_node(&mut self) -> bool {
        let first = self.offline.first_silent().or_else(|| self.offline.first_of_most());
        let Some(name) = first else { return false };
        tracing::debug!(node = %name, "offline node evicted");
        self.remove_node(&name);
        true
    }

    /// Evicts an instance, or a node with its instances, for an instance that registers. Returns false if all
    /// instances belong to connected nodes.
    pub(super) fn evict_oldest_instance(&mut self) -> bool {
        let spares_nodes = self.offline.first_silent().is_none() && self.offline.are_most_remembered();
        (spares_nodes && self.evict_oldest()) || self.evict_oldest_node()
    }

    /// Remembers who may resume the runs of a node, of [`MAX_REMEMBERED`] nodes at most. A run that is derived from its secret needs no memory.
    pub(super) fn note_unlisted(&mut self, name: &str, claims: Vec<Claim>) {
        if !claims.is_empty() && self.unlisted.len() < MAX_REMEMBERED {
            self.unlisted.insert(name.to_owned(), claims.into());
        }
    }

    /// Remembers the runs of an instance that is removed, of [`MAX_REMEMBERED`] instances at most: samples that its node sends again are recognized.
    /// Returns whether there are any.
    pub(super) fn keep_runs(&mut self, instance: &Arc<Instance>) -> bool {
        let is_kept = self.keep_replaced(instance);
        let ledger = instance.ledger();
        // Samples that no reader will read are as good as not received.
        let runs = if is_kept { ledger.known_runs() } else { ledger.runs_before() };
        drop(ledger);
        let has_runs = !runs.is_empty();
        if has_runs && self.stored.len() < MAX_REMEMBERED {
            self.stored.insert((instance.node.clone(), instance.name.clone()), runs.into());
        }
        has_runs
    }

    /// Removes a node and its instances.
    fn remove_node(&mut self, name: &str) {
        let node = self.nodes.remove(name);
        node.iter().for_each(|node| self.offline.remove(node));
        self.evicted.nodes += 1;
        self.changes.remove(Entry::Node(name.into()));
        let its: Vec<_> = self.instances_of(name).cloned().collect();
        self.evicted.instances += its.len() as u64;
        let mut has_sent = false;
        for instance in its {
            let key = (instance.node.clone(), instance.name.clone());
            self.by_name.remove(&key);
            self.remove(&instance);
            // An offset must not identify two different samples, even if the node comes back.
            self.first_offset = self.first_offset.max(instance.log.next());
            has_sent |= self.keep_runs(&instance);
        }
        // A run without samples cannot be harmed: a flood of nodes must not use up the room.
        if let Some(node) = node.filter(|_| has_sent) {
            self.note_unlisted(name, node.claims());
        }
    }
}
