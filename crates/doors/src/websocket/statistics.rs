//! Statistics of the registry, apart from its structure: what changes all the time, once a second or less often.
//!
//! In a round the shard compares every node and instance with the round before, some in each turn, so that samples pass between them. After it, a client gets
//! what has changed since the last round that it received: at most 1,000 rows in a message, and the next message when it has taken the one before. The more
//! bytes a round has the longer is the rest after it, so statistics take a bounded part of a connection.

use super::{
    messages::Answer,
    statistics_rows::{InstanceRow, NodeRow, StatisticsView, WrittenRow},
};
use crate::view;
use bytes::Bytes;
use oasis_dac::{Instance, Node, Registry, now};
use oasis_http::permissions::Caller;
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::TopicId;
use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound::{Excluded, Included, Unbounded},
    sync::Arc,
    time::Instant,
};

/// Nodes or instances compared in one turn.
const COMPARE_BATCH: usize = 200;
/// Instances or nodes in one message.
const MAX_ROWS: usize = 1_000;
/// Upper bound of the nodes and instances that are scanned for one message: most may be unchanged.
const MAX_SCANNED: usize = 4_000;
/// Upper bound of the messages that are kept for clients at the same position.
const MAX_CACHED_MESSAGES: usize = 64;

/// A value, and the round in which it changed last.
#[derive(Debug)]
struct Tracked<T> {
    row: T,
    changed: u64,
    /// The round in which it was there last.
    seen: u64,
}

/// The last node or instance that a round, or a client, has; none of them at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StatisticsPosition {
    /// A node. Instances come after all nodes.
    Node(Option<String>),
    /// An instance.
    Instance(Option<TopicId>),
}

/// The beginning.
const BEGIN: StatisticsPosition = StatisticsPosition::Node(None);

/// Position of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatisticsReader {
    /// The round that it has received; 0 before the first.
    since: u64,
    /// The round that it receives, and what it has of that.
    walk: Option<(u64, StatisticsPosition)>,
    /// Bytes of it so far.
    bytes: usize,
    /// Whether it gets causes.
    has_causes: bool,
}

/// A part of what changed.
#[derive(Debug, Clone)]
pub(super) struct StatisticsMessage {
    /// None if nothing changed.
    pub frame: Option<Bytes>,
    /// Position at which the next one begins; none after the last.
    next: Option<StatisticsPosition>,
}

/// Statistics as the clients of a shard receive them.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Number of complete rounds.
    round: u64,
    nodes: BTreeMap<String, Tracked<NodeRow>>,
    instances: BTreeMap<TopicId, Tracked<InstanceRow>>,
    /// Position up to which the next round has compared, while it is under way.
    comparing: Option<StatisticsPosition>,
    /// Pieces of this round, by the round before them, their place, and whether they have causes.
    made: HashMap<(u64, StatisticsPosition, bool), StatisticsMessage>,
    /// When the next round may begin.
    pub(super) not_before: Option<Instant>,
    /// Whether any client reads statistics.
    pub(super) is_due: bool,
    /// Whether a client can get a piece at once.
    pub(super) is_busy: bool,
}

impl StatisticsReader {
    /// A client that has received nothing yet.
    pub fn new(has_causes: bool) -> Self {
        Self { has_causes, ..Self::default() }
    }

    /// The same client at another shard, which counts its own rounds.
    pub fn start_again(&self) -> Self {
        Self::new(self.has_causes)
    }

    /// Moves the client to a round, if it has not received it. Returns whether there is more to send.
    pub(super) fn follow(&mut self, round: u64) -> bool {
        if self.walk.is_none() && self.since < round {
            (self.walk, self.bytes) = (Some((round, BEGIN)), 0);
        }
        self.walk.is_some()
    }

    /// The client has got a piece. Returns the bytes of the round so far.
    pub(super) fn took(&mut self, piece: &StatisticsMessage) -> usize {
        self.bytes += piece.frame.as_ref().map_or(0, Bytes::len);
        if let Some((round, _)) = self.walk.take() {
            match &piece.next {
                Some(next) => self.walk = Some((round, next.clone())),
                None => self.since = round,
            }
        }
        self.bytes
    }
}

impl Statistics {
    /// Returns when there is something to do.
    pub fn due(&self) -> Option<Instant> {
        let is_busy = self.is_busy || self.comparing.is_some() || self.not_before.is_none();
        let due = if is_busy { Some(Instant::now()) } else { self.not_before };
        due.filter(|_| self.is_due)
    }

    /// Number of complete rounds.
    pub(super) fn round(&self) -> u64 {
        self.round
    }

    /// Whether some are compared, but not all.
    pub(super) fn is_comparing(&self) -> bool {
        self.comparing.is_some()
    }

    /// Compares some nodes or instances with the round before. Returns whether these were the last of the round.
    pub(super) fn compare_some(&mut self, registry: &Registry) -> bool {
        let round = self.round + 1;
        match self.comparing.take().unwrap_or(BEGIN) {
            StatisticsPosition::Node(after) => {
                let page = registry.nodes_after(after.as_deref(), COMPARE_BATCH);
                for node in &page {
                    update(&mut self.nodes, node.identity.name.clone(), node_row(node), round);
                }
                let last = page.last().filter(|_| page.len() == COMPARE_BATCH);
                let last = last.map(|node| node.identity.name.clone());
                let end = last.as_deref().map_or(Unbounded, Included);
                let begin = after.as_deref().map_or(Unbounded, Excluded);
                let gone = self.nodes.range::<str, _>((begin, end)).filter(|(_, known)| known.seen != round);
                let gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
                gone.iter().for_each(|name| drop(self.nodes.remove(name)));
                self.comparing =
                    Some(last.map_or(StatisticsPosition::Instance(None), |last| {
                        StatisticsPosition::Node(Some(last))
                    }));
                false
            }
            StatisticsPosition::Instance(after) => {
                let page = registry.instances_after(after, COMPARE_BATCH);
                for instance in &page {
                    let known = self.instances.get(&instance.topic).map(|tracked| &tracked.row);
                    let row = instance_row(instance, known);
                    update(&mut self.instances, instance.topic, row, round);
                }
                let last = page.last().filter(|_| page.len() == COMPARE_BATCH).map(|instance| instance.topic);
                let range = (after.map_or(Unbounded, Excluded), last.map_or(Unbounded, Included));
                let gone = self.instances.range(range).filter(|(_, known)| known.seen != round);
                let gone: Vec<TopicId> = gone.map(|(topic, _)| *topic).collect();
                for topic in &gone {
                    self.instances.remove(topic);
                }
                self.comparing = last.map(|last| StatisticsPosition::Instance(Some(last)));
                if self.comparing.is_none() {
                    self.round = round;
                    self.made.clear();
                }
                self.comparing.is_none()
            }
        }
    }

    /// Returns the next piece for a client, and whether it had to be made for it; none if the client has this round.
    pub(super) fn next(&mut self, reader: &StatisticsReader) -> Option<(StatisticsMessage, bool)> {
        let (_, place) = reader.walk.as_ref()?;
        let place = (reader.since, place.clone(), reader.has_causes);
        if let Some(made) = self.made.get(&place) {
            return Some((made.clone(), false));
        }
        if self.made.len() >= MAX_CACHED_MESSAGES {
            self.made.clear();
        }
        let piece = self.piece(reader, &place.1, &|_| true, &|_| true);
        self.made.insert(place, piece.clone());
        Some((piece, true))
    }

    /// Returns the next message of a client that may see a part of the registry. It is not shared.
    pub(super) fn next_visible(
        &self,
        reader: &StatisticsReader,
        caller: &Caller,
        registry: &Registry,
    ) -> Option<(StatisticsMessage, bool)> {
        let (_, place) = reader.walk.as_ref()?;
        let sees_node = |name: &str| caller.sees_node(name);
        let sees =
            |topic| registry.instance(topic).is_some_and(|found| caller.sees(&found.node, &found.name));
        Some((self.piece(reader, place, &sees_node, &sees), true))
    }

    /// Returns what changed after the last round of a reader, from a place on, of the nodes and instances that it sees.
    fn piece(
        &self,
        &StatisticsReader { since, has_causes, .. }: &StatisticsReader,
        from: &StatisticsPosition,
        sees_node: &dyn Fn(&str) -> bool,
        sees: &dyn Fn(TopicId) -> bool,
    ) -> StatisticsMessage {
        let (mut nodes, mut instances, mut next) = (Vec::new(), Vec::new(), Some(from.clone()));
        let mut looked = MAX_SCANNED;
        if let StatisticsPosition::Node(after) = from {
            let after = after.as_deref().map_or(Unbounded, Excluded);
            next = Some(StatisticsPosition::Instance(None));
            for (name, tracked) in self.nodes.range::<str, _>((after, Unbounded)) {
                nodes.extend((tracked.changed > since && sees_node(name)).then(|| tracked.row.clone()));
                looked -= 1;
                if looked == 0 || nodes.len() == MAX_ROWS {
                    next = Some(StatisticsPosition::Node(Some(name.clone())));
                    break;
                }
            }
        }
        if let Some(StatisticsPosition::Instance(after)) = next {
            next = None;
            for (topic, tracked) in self.instances.range((after.map_or(Unbounded, Excluded), Unbounded)) {
                let is_wanted = tracked.changed > since && sees(*topic);
                instances.extend(is_wanted.then(|| WrittenRow { row: tracked.row.clone(), has_causes }));
                looked = looked.saturating_sub(1);
                if looked == 0 || nodes.len() + instances.len() >= MAX_ROWS {
                    next = Some(StatisticsPosition::Instance(Some(*topic)));
                    break;
                }
            }
        }
        let has_rows = !(nodes.is_empty() && instances.is_empty());
        StatisticsMessage { frame: has_rows.then(|| written(nodes, instances)), next }
    }
}

fn written(nodes: Vec<NodeRow>, instances: Vec<WrittenRow>) -> Bytes {
    let view = StatisticsView { dac_time: now().0, nodes, instances };
    let mut out = Vec::new();
    frame::write_message(Opcode::Text, &Answer::Statistics(Box::new(view)).json(), &mut out);
    out.into()
}

fn update<K: Ord, T: PartialEq>(known: &mut BTreeMap<K, Tracked<T>>, key: K, row: T, round: u64) {
    match known.get_mut(&key) {
        Some(tracked) if tracked.row == row => tracked.seen = round,
        _ => drop(known.insert(key, Tracked { row, changed: round, seen: round })),
    }
}

fn node_row(node: &Node) -> NodeRow {
    NodeRow {
        name: node.identity.name.clone(),
        clock_offset_ns: node.clock_offset_ns,
        round_trip_ns: node.round_trip_ns,
        overhead: node.overhead.as_deref().map(view::overhead),
    }
}

fn instance_row(instance: &Instance, known: Option<&InstanceRow>) -> InstanceRow {
    let ledger = instance.ledger();
    let (received, missing) = (ledger.received, ledger.missing);
    let causes = match known.and_then(|known| known.causes.as_ref()) {
        Some(known) if **known == ledger.causes => Some(known.clone()),
        _ => (missing > 0).then(|| Arc::new(ledger.causes.clone())),
    };
    drop(ledger);
    let arrived = match known {
        Some(known) if known.received == received => known.arrived,
        _ => instance.arrived().0,
    };
    InstanceRow { topic: instance.topic.0, received, missing, arrived, causes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::websocket::picture::tests::registry_of;
    use serde_json::Value;

    fn rows(message: &Bytes) -> (usize, usize) {
        let text = message.iter().position(|&byte| byte == b'{').unwrap();
        let json: Value = serde_json::from_slice(&message[text..]).unwrap();
        let count = |key: &str| json[key].as_array().unwrap().len();
        (count("nodes"), count("instances"))
    }

    /// Compares all of a registry, and returns in how many turns.
    fn round(statistics: &mut Statistics, registry: &Registry) -> usize {
        (1..).find(|_| statistics.compare_some(registry)).unwrap()
    }

    /// The rows of the messages that a client gets.
    fn read(statistics: &mut Statistics, reader: &mut StatisticsReader) -> Vec<(usize, usize)> {
        let mut messages = Vec::new();
        while reader.follow(statistics.round()) {
            let (piece, _) = statistics.next(reader).unwrap();
            messages.extend(piece.frame.as_ref().map(rows));
            reader.took(&piece);
        }
        messages
    }

    #[test]
    fn a_round_takes_many_turns_and_its_messages_have_a_bounded_number_of_rows() {
        let dac = registry_of(300, 10);
        let (mut statistics, mut reader) = (Statistics::default(), StatisticsReader::default());
        assert!(read(&mut statistics, &mut reader).is_empty(), "nothing is known yet");
        assert!(round(&mut statistics, &dac.registry) >= 300 / COMPARE_BATCH + 3_000 / COMPARE_BATCH);
        let messages = read(&mut statistics, &mut reader);
        assert!(messages.iter().all(|(nodes, instances)| nodes + instances <= MAX_ROWS), "{messages:?}");
        let sum = messages.iter().fold((0, 0), |sum, rows| (sum.0 + rows.0, sum.1 + rows.1));
        assert_eq!(sum, (300, 3_000));
        // A round in which nothing changed has no message, but a new client gets everything.
        round(&mut statistics, &dac.registry);
        assert!(read(&mut statistics, &mut reader).is_empty());
        assert_eq!(read(&mut statistics, &mut StatisticsReader::default()), messages);
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let (many, few) = (registry_of(250, 2), registry_of(3, 2));
        let mut statistics = Statistics::default();
        round(&mut statistics, &many.registry);
        round(&mut statistics, &few.registry);
        assert_eq!((statistics.nodes.len(), statistics.instances.len()), (3, 6));
        assert_eq!(read(&mut statistics, &mut StatisticsReader::default()), [(3, 6)]);
    }
}
