//! Nodes and instances that are known from what an earlier life of the DAC has stored: offline, until they come back.
//!
//! They make room for those that connect: a limit never keeps a living node out because of one that is gone.

use super::{Held, Registry};
use crate::node::Node;
use oasis_channel::{InstanceState, ProbeKind, RegisteredInstance};
use oasis_wire::{
    quantity::{Nanos, Offset},
    schema::ProbeType,
};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// What an earlier life of the DAC has stored of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// The type that it had last.
    pub probe_type: Arc<ProbeType>,
    /// Who decided when a sample was taken.
    pub kind: ProbeKind,
    /// The node's run that the sequence number counts in.
    pub run: Uuid,
    /// Sequence number of the newest sample stored, 0 if none of this run is there any more.
    pub last_sequence: u64,
    /// Time of the newest sample stored, nanoseconds since 1970 on the node's clock; 0 if none is there any more.
    pub last_time: u64,
}

/// What is known of a node that was there in an earlier life of the DAC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNode {
    /// Its name.
    pub name: String,
    /// Its identity over its lives.
    pub uuid: Uuid,
    /// Host name.
    pub host: String,
    /// Name and version.
    pub software: String,
    /// When it was last there.
    pub last_seen: Nanos,
}

/// What became of what was to be remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Instances that are known now.
    pub instances: usize,
    /// Instances that the limits have no room for (`channel.max_nodes`, `channel.max_topics`, `channel.max_schema_bytes`).
    pub left_out: usize,
}

impl Registry {
    /// What an earlier life of the DAC has stored is here again, offline: its past can be read, and it is not new when nodes send it again. Of too many
    /// instances those are left out whose newest sample is the oldest. To be said before the first node comes.
    pub fn remember(&self, nodes: &[StoredNode], mut stored: Vec<Stored>) -> Remembered {
        let nodes = nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        stored.sort_by(|a, b| b.last_time.cmp(&a.last_time).then_with(|| a.instance.cmp(&b.instance)));
        let mut held = self.held();
        let mut remembered = Remembered::default();
        for stored in stored {
            if self.remember_one(&mut held, &nodes, &stored) {
                remembered.instances += 1;
            } else {
                remembered.left_out += 1;
            }
            if stored.last_sequence > 0 {
                let names = (stored.node, stored.instance);
                held.stored.insert(names, (stored.run, stored.last_sequence));
            }
        }
        drop(held);
        self.touch();
        remembered
    }

    fn remember_one(&self, held: &mut Held, nodes: &HashMap<&str, &StoredNode>, stored: &Stored) -> bool {
        let is_known = held.nodes.contains_key(&*stored.node);
        if !is_known && held.nodes.len() >= self.max_nodes {
            return false;
        }
        let schema_bytes = serde_json::to_string(&*stored.probe_type).map_or(0, |json| json.len());
        if held.instances.len() >= self.max_topics || held.schema_bytes + schema_bytes > self.max_schema_bytes
        {
            return false;
        }
        let announced = RegisteredInstance {
            name: stored.instance.as_ref().into(),
            probe_type: stored.probe_type.uuid,
            kind: stored.kind,
            demand: None,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        let key = (stored.node.clone(), stored.instance.clone());
        let Ok(instance) = self.add(held, key, announced, &stored.probe_type, Offset(0)) else {
            return false;
        };
        held.remembered.push_front(instance.topic);
        if !is_known {
            let node = Node::remembered(stored, nodes.get(&*stored.node).copied());
            held.nodes.insert(node.identity.name.clone(), node);
        }
        true
    }
}

impl Held {
    /// Forgets the remembered instance whose newest sample is the oldest, and its node with the last of them. False if there is none: all
    /// others have been here in this life of the DAC.
    pub(super) fn forget_oldest(&mut self) -> bool {
        while let Some(topic) = self.remembered.pop_front() {
            let Some(instance) = self.instances.get(&topic).cloned() else { continue };
            if instance.ledger().run().is_some() {
                continue;
            }
            self.by_name.remove(&(instance.node.clone(), instance.name.clone()));
            self.remove(&instance);
            let is_alone = !self.instances.values().any(|other| other.node == instance.node);
            if is_alone && self.nodes.get(&*instance.node).is_some_and(|node| node.is_remembered) {
                self.nodes.remove(&*instance.node);
            }
            return true;
        }
        false
    }

    /// Forgets the remembered node that was there the longest ago. False if there is none.
    pub(super) fn forget_oldest_node(&mut self) -> bool {
        let remembered = self.nodes.values().filter(|node| node.is_remembered);
        let oldest = remembered.min_by_key(|node| node.last_heard).map(|node| node.identity.name.clone());
        let Some(oldest) = oldest else { return false };
        self.nodes.remove(&oldest);
        let its: Vec<_> =
            self.instances.values().filter(|instance| *instance.node == *oldest).cloned().collect();
        for instance in its {
            self.by_name.remove(&(instance.node.clone(), instance.name.clone()));
            self.remove(&instance);
        }
        true
    }
}
