//! Statistics of the registry, apart from its structure: what changes all the time, once a second or less often.
//!
//! In a round the shard compares every node and instance with the round before. A client gets what has changed since the last round that it received. The
//! more bytes a round has the longer is the rest after it, so statistics take a bounded part of a connection.

use super::{connection::Connection, end::End, messages::Answer, picture::native, shard::Shard};
use crate::view::{self, OverheadView};
use bytes::Bytes;
use oasis_dac::{Instance, Node, Registry, now};
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::TopicId;
use serde::Serialize;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Time between two rounds.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of statistics for one client in a second.
const RATE: u64 = 256 * 1024;
/// Instances or nodes in one message.
const ROWS: usize = 1_000;

/// What changes of an instance while samples come: topic, received, missing, and when its newest batch arrived (0 before the first).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InstanceRow(u32, u64, u64, u64);

/// What changes of a node while it is connected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeRow {
    name: String,
    clock_offset_ns: Option<i64>,
    round_trip_ns: Option<u64>,
    overhead: Option<OverheadView>,
}

/// The message.
#[derive(Debug, Serialize)]
pub struct StatisticsView {
    dac_time: u64,
    nodes: Vec<NodeRow>,
    /// Each `[id, received, missing, arrived]`.
    instances: Vec<InstanceRow>,
}

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
    round: u64,
    nodes: HashMap<String, Tracked<NodeRow>>,
    instances: HashMap<TopicId, Tracked<InstanceRow>>,
    not_before: Option<Instant>,
    /// Whether any client reads statistics.
    is_due: bool,
}

impl Statistics {
    /// Returns when the next round is due.
    pub fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.is_due)
    }

    /// Compares everything with the round before.
    fn begin_round(&mut self, registry: &Registry) {
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
    fn after(&self, round: u64) -> Vec<Bytes> {
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

impl Shard {
    /// Sends statistics to clients that lag: a round, if it is time for one, otherwise the last one to new clients.
    pub(super) fn send_statistics(&mut self) {
        let now = Instant::now();
        let reader = |connection: &mut Connection| native(connection).and_then(|client| client.statistics);
        let readers: Vec<(usize, u64)> = self
            .connections
            .iter_mut()
            .filter_map(|(key, connection)| Some((key, reader(connection)?)))
            .collect();
        self.statistics.is_due = !readers.is_empty();
        if readers.is_empty() {
            return;
        }
        if self.statistics.not_before.is_none_or(|due| due <= now) {
            self.statistics.begin_round(&self.around.dac.registry);
            self.statistics.not_before = Some(now + PERIOD);
        }
        let round = self.statistics.round;
        let mut made: HashMap<u64, Vec<Bytes>> = HashMap::new();
        let mut longest = 0;
        for (key, since) in readers.into_iter().filter(|(_, since)| *since < round) {
            let messages = made.entry(since).or_insert_with(|| self.statistics.after(since)).clone();
            longest = longest.max(messages.iter().map(Bytes::len).sum());
            let said = self.send_rows(key, round, messages);
            self.settle(key, said);
        }
        let rest = Duration::from_nanos((longest as u64).saturating_mul(1_000_000_000 / RATE));
        let due = self.statistics.not_before.unwrap_or(now).max(now + rest);
        self.statistics.not_before = Some(due);
    }

    /// Sends statistics when it is time.
    pub(super) fn send_due_statistics(&mut self) {
        if self.statistics.due().is_some_and(|due| due <= Instant::now()) {
            self.send_statistics();
        }
    }

    /// Writes one round to a client that has taken everything before; another client gets it with the next round.
    fn send_rows(&mut self, key: usize, round: u64, messages: Vec<Bytes>) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return Ok(());
        };
        messages.into_iter().try_for_each(|message| connection.write_shared(message))?;
        if let Some(client) = native(connection) {
            client.statistics = Some(round);
        }
        Ok(())
    }
}
