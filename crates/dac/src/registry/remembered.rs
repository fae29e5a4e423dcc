//! Nodes and instances known from the archive of earlier runs of the DAC: offline until they connect.
//!
//! They are evicted for nodes that connect: an offline node never uses up a limit that a connected node needs.

use super::{Follower, Inner, Registry, changes::Entry};
use crate::node::{Node, archived_claims};
use oasis_channel::{InstanceState, RegisteredInstance};
use oasis_wire::{
    quantity::Offset,
    stored::{StoredInstance, StoredNode},
};
use std::collections::HashMap;

/// Result of [`Registry::restore`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestoreCounts {
    /// Restored instances.
    pub instances: usize,
    /// Instances that exceed a limit (`channel.max_nodes`, `channel.max_topics`, `channel.max_schema_bytes`).
    pub left_out: usize,
}

impl Registry {
    /// Restores the archived nodes and instances as offline: their history can be read, and samples that nodes send
    /// again are recognized. Above a limit, the instances with the oldest newest samples are left out. Call this
    /// before the first node connects.
    pub fn restore(&self, nodes: &[StoredNode], mut stored: Vec<StoredInstance>) -> RestoreCounts {
        let by_name = nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        stored.sort_by(|a, b| b.last_time.cmp(&a.last_time).then_with(|| a.instance.cmp(&b.instance)));
        let mut inner = self.lock();
        inner.followers.add(Follower::Archive);
        let mut remembered = RestoreCounts::default();
        for stored in stored {
            if self.restore_one(&mut inner, &by_name, &stored) {
                remembered.instances += 1;
            } else {
                remembered.left_out += 1;
            }
            if !stored.runs.is_empty() {
                let names = (stored.node, stored.instance);
                inner.stored.insert(names, stored.runs.into());
            }
        }
        for node in nodes {
            if !inner.nodes.contains_key(&node.name) {
                inner.note_unlisted(&node.name, archived_claims(node));
            }
        }
        drop(inner);
        self.notify_watchers();
        remembered
    }

    /// As [`Registry::restore`], for instances that were imported while this DAC runs. Known ones stay as they are.
    pub fn restore_imported(&self, nodes: &[StoredNode], mut stored: Vec<StoredInstance>) -> RestoreCounts {
        {
            let inner = self.lock();
            stored.retain(|stored| {
                !inner.by_name.contains_key(&(stored.node.clone(), stored.instance.clone()))
            });
        }
        self.restore(nodes, stored)
    }

    fn restore_one(
        &self,
        inner: &mut Inner,
        nodes: &HashMap<&str, &StoredNode>,
        stored: &StoredInstance,
    ) -> bool {
        let is_known = inner.nodes.contains_key(&*stored.node);
        if !is_known && inner.nodes.len() >= self.max_nodes {
            return false;
        }
        let schema_bytes = stored.probe_type.memory_bytes();
        if inner.instances.len() >= self.max_topics
            || inner.schema_bytes + schema_bytes > self.max_schema_bytes
        {
            return false;
        }
        let announced = RegisteredInstance {
            name: stored.instance.as_ref().into(),
            probe_type: stored.probe_type.uuid,
            kind: stored.kind,
            demand: None,
            declared: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let key = (stored.node.clone(), stored.instance.clone());
        let Ok(instance) = self.add(inner, key, announced, &stored.probe_type, Offset(0)) else {
            return false;
        };
        inner.remembered.push_front(instance.topic);
        if !is_known {
            let node = Node::remembered(stored, nodes.get(&*stored.node).copied());
            inner.add_node(node);
        }
        true
    }
}

impl Inner {
    /// Evicts the restored instance whose newest sample is the oldest, and its node with the last of its instances.
    /// Returns false if there is none: all others have connected in this run of the DAC.
    pub(super) fn evict_oldest(&mut self) -> bool {
        while let Some(topic) = self.remembered.pop_front() {
            let Some(instance) = self.instances.get(&topic).cloned() else { continue };
            if instance.ledger().run().is_some() {
                continue;
            }
            self.by_name.remove(&(instance.node.clone(), instance.name.clone()));
            self.remove(&instance);
            self.evicted.instances += 1;
            let is_last = self.instances_of(&instance.node).next().is_none();
            if is_last && self.nodes.get(&*instance.node).is_some_and(|node| node.is_remembered) {
                if let Some(node) = self.nodes.remove(&*instance.node) {
                    self.offline.remove(&node);
                    self.note_unlisted(&instance.node, node.claims());
                }
                self.evicted.nodes += 1;
                self.changes.remove(Entry::Node(instance.node.clone()));
            }
            return true;
        }
        false
    }
}
