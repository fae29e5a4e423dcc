//! Evicts offline nodes for nodes that connect: a limit is reached only by nodes that are connected.

use super::{Inner, changes::Entry};
use crate::{
    listener::counted,
    node::{Claim, Node},
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::Arc,
};

/// Evicted instances whose last sequence numbers are kept, so that samples that their node sends again are recognized; and nodes whose
/// owners are.
const KEPT: usize = 16_384;

/// Offline nodes and instances that were evicted for others, since the epoch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Evicted {
    /// Nodes.
    pub nodes: u64,
    /// Instances, including those of evicted nodes.
    pub instances: u64,
}

impl Inner {
    /// Evicts offline nodes: those that never sent a sample, or else one of the address that has the most of them.
    /// Returns false if all nodes are connected.
    pub(super) fn evict_oldest_node(&mut self) -> bool {
        self.evict_silent_nodes() || self.evict_offline_node()
    }

    /// Evicts an instance, or a node with its instances, for an instance that registers. Returns false if all
    /// instances belong to connected nodes.
    pub(super) fn evict_oldest_instance(&mut self) -> bool {
        let are_remembered = |nodes: Vec<&Node>| nodes.iter().any(|node| node.is_remembered);
        self.evict_silent_nodes()
            || (are_remembered(self.most_offline()) && self.evict_oldest())
            || self.evict_offline_node()
    }

    /// Evicts offline nodes that never sent a sample, a hundredth of all nodes at once: a flood of them must not cost a
    /// look at all nodes each.
    fn evict_silent_nodes(&mut self) -> bool {
        let is_candidate = |node: &&Node| !node.is_online() && !node.is_remembered;
        if !self.nodes.values().any(|node| is_candidate(&node)) {
            return false;
        }
        let has_sent = |ledger: &crate::Ledger| ledger.last_sequence > 0 || ledger.accounted() > 0;
        let sent = self.instances.values().filter(|instance| has_sent(&instance.ledger()));
        let sent: HashSet<Arc<str>> = sent.map(|instance| instance.node.clone()).collect();
        let silent = self.nodes.values().filter(is_candidate);
        let silent = silent.filter(|node| !sent.contains(node.identity.name.as_str()));
        let mut silent: Vec<_> = silent.map(|node| (node.since, node.identity.clone())).collect();
        silent.sort_unstable_by_key(|(since, _)| *since);
        silent.truncate(self.nodes.len() / 100 + 1);
        tracing::debug!(nodes = silent.len(), "offline nodes without samples evicted");
        silent.iter().for_each(|(_, identity)| self.remove_node(&identity.name));
        !silent.is_empty()
    }

    /// Evicts the node that left the longest ago, of the address that has most offline nodes.
    fn evict_offline_node(&mut self) -> bool {
        let oldest = self.most_offline().into_iter().min_by_key(|node| node.since);
        let Some(identity) = oldest.map(|node| node.identity.clone()) else { return false };
        tracing::debug!(node = %identity.name, "offline node evicted");
        self.remove_node(&identity.name);
        true
    }

    /// Returns the offline nodes of the address that has most of them. Nodes known only from the archive count as one
    /// address.
    fn most_offline(&self) -> Vec<&Node> {
        let mut by_address: HashMap<Option<IpAddr>, Vec<&Node>> = HashMap::new();
        for node in self.nodes.values().filter(|node| !node.is_online()) {
            by_address.entry(node.address.map(counted)).or_default().push(node);
        }
        by_address.into_values().max_by_key(Vec::len).unwrap_or_default()
    }

    /// Remembers who may resume the runs of a node, of [`KEPT`] nodes at most. A run that is derived from its secret needs no memory.
    pub(super) fn note_unlisted(&mut self, name: &str, claims: Vec<Claim>) {
        if !claims.is_empty() && self.unlisted.len() < KEPT {
            self.unlisted.insert(name.to_owned(), claims.into());
        }
    }

    /// Removes a node and its instances.
    fn remove_node(&mut self, name: &str) {
        let node = self.nodes.remove(name);
        self.evicted.nodes += 1;
        self.changes.remove(Entry::Node(name.into()));
        let its: Vec<_> =
            self.instances.values().filter(|instance| *instance.node == *name).cloned().collect();
        self.evicted.instances += its.len() as u64;
        let mut has_sent = false;
        for instance in its {
            let key = (instance.node.clone(), instance.name.clone());
            self.by_name.remove(&key);
            self.remove(&instance);
            // An offset must not identify two different samples, even if the node comes back.
            self.first_offset = self.first_offset.max(instance.log.next());
            let ledger = instance.ledger();
            let runs = ledger.known_runs();
            has_sent |= !runs.is_empty();
            if !runs.is_empty() && self.stored.len() < KEPT {
                self.stored.insert(key, runs.into());
            }
        }
        // Nobody can harm a run without samples: a flood of nodes must not use up the room.
        if let Some(node) = node.filter(|_| has_sent) {
            self.note_unlisted(name, node.claims());
        }
    }
}
