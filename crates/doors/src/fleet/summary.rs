//! The members of a fleet with their figures, and what each reader lacks of them.
//!
//! A round measures all instances, a page at a time. A reader gets what changed since the last round that it has, in messages of at most 1,000 rows. One that
//! takes them slowly misses no change: its next message combines the rounds between.

use super::{
    message::{FleetMember, FleetType, FleetView},
    row::{Row, WrittenRow},
};
use bytes::Bytes;
use oasis_dac::{Instance, SchemaHash, now, settings::LabelMap};
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::TopicId;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Bound::{Excluded, Included, Unbounded},
    sync::Arc,
};

/// Rows in one message.
const MAX_ROWS: usize = 1_000;
/// Upper bound of the members that are scanned for one message: most may be unchanged.
const MAX_SCANNED_MEMBERS: usize = 8_000;
/// Upper bound of the messages that are kept for readers at the same position.
const MAX_CACHED_MESSAGES: usize = 64;
/// Former members that are remembered. A reader that has not received an earlier removal begins anew.
const MAX_REMOVALS: usize = 32_768;

/// Position of a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FleetReader {
    /// The round that it has; 0 before the first.
    since: u64,
    /// The round that it receives, and the last member that it has of that.
    walk: Option<(u64, Option<TopicId>)>,
}

/// A message for a reader.
#[derive(Debug, Clone)]
pub struct SummaryMessage {
    /// None if nothing changed.
    pub frame: Option<Bytes>,
    /// Whether the whole picture begins or continues with it.
    pub is_first_picture: bool,
    /// Position of the reader after it.
    pub next: FleetReader,
}

#[derive(Debug)]
struct Member {
    instance: Arc<Instance>,
    labels: LabelMap,
    row: Row,
    /// The rounds in which it came or got other labels, changed last, and was there last.
    joined: u64,
    changed: u64,
    seen: u64,
}

/// A former member.
#[derive(Debug)]
struct Removed {
    round: u64,
    topic: TopicId,
    /// Not the instance, whose log would stay in memory.
    node: Arc<str>,
    name: Arc<str>,
}

/// The state of a fleet.
#[derive(Debug)]
pub struct Summary {
    number: u64,
    /// Complete rounds.
    round: u64,
    members: BTreeMap<TopicId, Member>,
    removed: VecDeque<Removed>,
    /// Removals up to this round may be forgotten.
    forgotten: u64,
    made: HashMap<FleetReader, SummaryMessage>,
}

impl FleetReader {
    /// Whether there is a message for it, or may be one.
    pub fn lags(&self, round: u64) -> bool {
        self.walk.is_some() || self.since < round
    }
}

impl Summary {
    /// A fleet without members yet.
    pub fn new(number: u64) -> Self {
        Self {
            number,
            round: 0,
            members: BTreeMap::new(),
            removed: VecDeque::new(),
            forgotten: 0,
            made: HashMap::new(),
        }
    }

    /// Number of complete rounds.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Returns the figures that are known of these instances.
    pub fn known(&self, page: &[Arc<Instance>]) -> Vec<Option<Row>> {
        let row =
            |instance: &Arc<Instance>| self.members.get(&instance.topic).map(|member| member.row.clone());
        page.iter().map(row).collect()
    }

    /// Takes the figures of all instances of the fleet after a topic, up to another one; up to the end without it.
    pub fn take(
        &mut self,
        found: Vec<(Arc<Instance>, LabelMap, Row)>,
        (after, last): (Option<TopicId>, Option<TopicId>),
    ) {
        let round = self.round + 1;
        for (instance, labels, row) in found {
            match self.members.get_mut(&instance.topic) {
                Some(known) => {
                    known.seen = round;
                    if known.labels != labels {
                        (known.labels, known.joined, known.changed) = (labels, round, round);
                    }
                    if known.row != row {
                        (known.row, known.changed) = (row, round);
                    }
                }
                None => {
                    let (joined, changed, seen) = (round, round, round);
                    let topic = instance.topic;
                    self.members.insert(topic, Member { instance, labels, row, joined, changed, seen });
                }
            }
        }
        self.remove_unseen(after, last, round);
    }

    /// Removes members of a range that are not there any more.
    fn remove_unseen(&mut self, after: Option<TopicId>, last: Option<TopicId>, round: u64) {
        let range = (after.map_or(Unbounded, Excluded), last.map_or(Unbounded, Included));
        let gone = self.members.range(range).filter(|(_, member)| member.seen != round);
        let gone: Vec<TopicId> = gone.map(|(topic, _)| *topic).collect();
        for topic in gone {
            let Some(member) = self.members.remove(&topic) else { continue };
            if self.removed.len() == MAX_REMOVALS
                && let Some(oldest) = self.removed.pop_front()
            {
                self.forgotten = oldest.round;
            }
            let (node, name) = (member.instance.node.clone(), member.instance.name.clone());
            self.removed.push_back(Removed { round, topic, node, name });
        }
    }

    /// Ends a round, in which all instances were measured.
    pub fn end_round(&mut self) {
        self.round += 1;
        self.made.clear();
    }

    /// Returns the next message of a reader that sees everything; none if it has all. Readers at the same place share it.
    pub fn next(&mut self, reader: FleetReader) -> Option<SummaryMessage> {
        let reader = self.follow(reader)?;
        if let Some(made) = self.made.get(&reader) {
            return Some(made.clone());
        }
        if self.made.len() >= MAX_CACHED_MESSAGES {
            self.made.clear();
        }
        let piece = self.piece(reader, |_, _| true);
        self.made.insert(reader, piece.clone());
        Some(piece)
    }

    /// Returns the next message of a reader that sees some instances. It is not shared.
    pub fn next_visible(
        &self,
        reader: FleetReader,
        sees: impl Fn(&str, &str) -> bool,
    ) -> Option<SummaryMessage> {
        Some(self.piece(self.follow(reader)?, sees))
    }

    /// Moves a reader to the present round, if it has not received it.
    fn follow(&self, mut reader: FleetReader) -> Option<FleetReader> {
        if reader.since > 0 && reader.since < self.forgotten {
            reader = FleetReader::default();
        }
        if reader.walk.is_none() && reader.since < self.round {
            reader.walk = Some((self.round, None));
        }
        reader.walk.map(|_| reader)
    }

    fn piece(&self, reader: FleetReader, sees: impl Fn(&str, &str) -> bool) -> SummaryMessage {
        let (round, after) = reader.walk.unwrap_or((self.round, None));
        let since = reader.since;
        let dac_time = now().0;
        let (mut types, mut members, mut rows) = (Types::default(), Vec::new(), Vec::new());
        let mut last = None;
        let from = after.map_or(Unbounded, Excluded);
        for (looked, (topic, member)) in self.members.range((from, Unbounded)).enumerate() {
            if looked == MAX_SCANNED_MEMBERS || rows.len() == MAX_ROWS {
                break;
            }
            last = Some(*topic);
            let instance = &*member.instance;
            if member.changed <= since || !sees(&instance.node, &instance.name) {
                continue;
            }
            if member.joined > since {
                let type_index = types.index_of(instance);
                let (id, node, instance) = (topic.0, &*instance.node, &*instance.name);
                members.push(FleetMember { id, node, instance, type_index, labels: &member.labels });
            }
            rows.push(WrittenRow { topic: *topic, row: &member.row, now: dac_time });
        }
        let more = last.is_some_and(|last| self.members.range((Excluded(last), Unbounded)).next().is_some());
        let is_begin = after.is_none();
        // A new picture has nothing that could be removed from it.
        let removals = self.removed.iter().filter(|gone| is_begin && since > 0 && gone.round > since);
        let removed: Vec<_> =
            removals.filter(|gone| sees(&gone.node, &gone.name)).map(|gone| gone.topic).collect();
        let is_nothing = rows.is_empty() && removed.is_empty();
        // The first picture has an end, and a beginning, also if it is empty.
        let is_silent = is_nothing && since > 0 && (more || is_begin);
        let view = FleetView {
            op: "fleet_rows",
            fleet: self.number,
            from: since,
            reset: is_begin && since == 0,
            round,
            more,
            dac_time,
            types: types.list,
            members,
            removed,
            rows,
        };
        let next = if more {
            FleetReader { since, walk: Some((round, last)) }
        } else {
            FleetReader { since: round, walk: None }
        };
        SummaryMessage { frame: (!is_silent).then(|| written(&view)), is_first_picture: since == 0, next }
    }
}

/// The types of the members of a message.
#[derive(Debug, Default)]
struct Types<'a> {
    list: Vec<FleetType<'a>>,
    places: HashMap<SchemaHash, usize>,
}

impl<'a> Types<'a> {
    fn index_of(&mut self, instance: &'a Instance) -> usize {
        *self.places.entry(instance.schema_hash).or_insert_with(|| {
            let probe_type = &instance.probe_type;
            let (name, version) = (&*probe_type.name, &*probe_type.version);
            self.list.push(FleetType { name, version, schema: instance.schema_hash });
            self.list.len() - 1
        })
    }
}

fn written(view: &FleetView<'_>) -> Bytes {
    let mut out = Vec::new();
    // Text, numbers and lists: JSON cannot fail.
    let json = serde_json::to_vec(view).unwrap_or_default();
    frame::write_message(Opcode::Text, &json, &mut out);
    out.into()
}

#[cfg(test)]
mod tests;
