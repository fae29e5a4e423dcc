//! Statistics of the registry, apart from its structure: what changes all the time, once a second or less often.
//!
//! In a round the shard compares every node and instance with the round before. A client gets what has changed since the last round that it received. The
//! more bytes a round has the longer is the rest after it, so statistics take a bounded part of a connection.

use super::{
    messages::Answer,
    statistics_rows::{InstanceRow, NodeRow, StatisticsView},
};
use crate::view;
use bytes::Bytes;
use oasis_dac::{Instance, Node, Registry, now};
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::TopicId;
use std::{collections::HashMap, time::Instant};

/// Instances or nodes in one message.
const ROWS: usize = 1_000;

/// A value, and the round in which it changed last.
#[derive(Debug)]
struct Tracked<T> {
    row: T,
    changed: u64,
    /// The round in which it was there last.
    seen: u64,
}

/// Statistics as the clients of a shard receive them.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Number of rounds.
    pub(super) round: u64,
    nodes: HashMap<String, Tracked<NodeRow>>,
    instances: HashMap<TopicId, Tracked<InstanceRow>>,
    /// When the next round may be sent.
    pub(super) not_before: Option<Instant>,
    /// Whether any client reads statistics.
    pub(super) is_due: bool,
}

impl Statistics {
    /// Returns when the next round is due.
    pub fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.is_due)
    }

    /// Compares everything with the round before.
    pub(super) fn begin_round(&mut self, registry: &Registry) {
        self.round += 1;
        let round = self.round;
        for node in registry.nodes() {
            update(&mut self.nodes, node.identity.name.clone(), node_row(&node), round);
        }
        for instance in registry.instances() {
            let known = self.instances.get(&instance.topic).map(|tracked| tracked.row);
            update(&mut self.instances, instance.topic, instance_row(&instance, known), round);
        }
        self.nodes.retain(|_, tracked| tracked.seen == round);
        self.instances.retain(|_, tracked| tracked.seen == round);
    }

    /// Returns what changed after a round, as messages.
    pub(super) fn after(&self, round: u64) -> Vec<Bytes> {
        let mut nodes = changed(self.nodes.values(), round);
        let mut instances = changed(self.instances.values(), round);
        let mut messages = Vec::new();
        while !(nodes.is_empty() && instances.is_empty()) {
            let nodes = nodes.split_off(nodes.len().saturating_sub(ROWS));
            let instances = instances.split_off(instances.len().saturating_sub(ROWS));
            let view = StatisticsView { dac_time: now().0, nodes, instances };
            let mut out = Vec::new();
            frame::write_message(Opcode::Text, &Answer::Statistics(Box::new(view)).json(), &mut out);
            messages.push(out.into());
        }
        messages
    }
}

fn update<K: std::hash::Hash + Eq, T: PartialEq>(
    known: &mut HashMap<K, Tracked<T>>,
    key: K,
    row: T,
    round: u64,
) {
    match known.get_mut(&key) {
        Some(tracked) if tracked.row == row => tracked.seen = round,
        _ => drop(known.insert(key, Tracked { row, changed: round, seen: round })),
    }
}

fn changed<'a, T: Clone + 'a>(known: impl Iterator<Item = &'a Tracked<T>>, round: u64) -> Vec<T> {
    known.filter(|tracked| tracked.changed > round).map(|tracked| tracked.row.clone()).collect()
}

fn node_row(node: &Node) -> NodeRow {
    NodeRow {
        name: node.identity.name.clone(),
        clock_offset_ns: node.clock_offset_ns,
        round_trip_ns: node.round_trip_ns,
        overhead: node.overhead.as_deref().map(view::overhead),
    }
}

fn instance_row(instance: &Instance, known: Option<InstanceRow>) -> InstanceRow {
    let ledger = instance.ledger();
    let (received, missing) = (ledger.received, ledger.missing);
    drop(ledger);
    let arrived = match known {
        Some(InstanceRow(_, before, _, arrived)) if before == received => arrived,
        _ => instance.log.latest().map_or(0, |segment| segment.arrived().0),
    };
    InstanceRow(instance.topic.0, received, missing, arrived)
}
