//! Follows the registry of an upstream.

use crate::{
    Clock,
    messages::{InstanceEntry, Message, NodeEntry, NodeRow, RegistryDelta, Statistics},
};
use oasis_channel::{InstanceState, NodeIdentity, RegisteredInstance};
use oasis_dac::{Hop, Instance, RelayError, RelayedNode, Upstream, UpstreamLedger};
use oasis_wire::{
    quantity::{Epoch, Nanos},
    schema::ProbeType,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

mod rivals;

/// Version of the protocol.
const PROTOCOL: u32 = 1;
/// Nodes of an upstream: as many as a DAC has by default.
const MAX_NODES: usize = 10_000;
/// Instances of an upstream.
const MAX_INSTANCES: usize = 20_000;
/// Longest name of a node, an instance, a host, a program or a DAC, in bytes: longer ones are not kept.
const MAX_NAME_BYTES: usize = 1_024;
/// DACs of a path that is kept; of more than a few the node is refused.
const MAX_PATH_HOPS: usize = 16;
/// Digits of the hash of a schema.
const HASH_DIGITS: usize = 64;
/// Refused nodes that are logged.
const MAX_LOGGED_NODES: u64 = 20;
/// Memory of the schemas of an upstream, bytes.
const MAX_SCHEMA_BYTES: usize = 64 * 1024 * 1024;
/// Clocks drift by less between two measurements, nanoseconds.
const MAX_DRIFT_NANOS: u64 = 1_000_000;

/// A document that a mirror lacks, to be fetched over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The schema with this SHA-256.
    Schema(String),
    /// The ledger of an instance: more samples are missing than it explains.
    Ledger {
        /// Node name.
        node: String,
        /// Instance name.
        instance: String,
    },
}

/// Why an upstream cannot be mirrored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MirrorError {
    /// Another protocol.
    #[error("the upstream speaks version {0} of its protocol, and this relay version {PROTOCOL}")]
    Protocol(u32),
    /// The DAC itself.
    #[error("the upstream is this DAC itself: name another one (--upstream)")]
    Itself,
}

/// A node of the upstream.
#[derive(Debug)]
struct KnownNode {
    entry: NodeEntry,
    /// Measurements of it by the upstream.
    measured: (Option<i64>, Option<u64>),
    /// Why it is not listed here.
    refused: Option<RelayError>,
    /// Looks in a row that found another node of its name connected elsewhere.
    rivaled: u32,
}

/// An instance of the upstream.
#[derive(Debug)]
struct KnownInstance {
    entry: InstanceEntry,
    schema: String,
    /// None while its schema is not there, or its node is not listed here.
    listed: Option<Arc<Instance>>,
    /// More samples are missing than the ledger here explains: the upstream may not know either yet.
    lacks_causes: bool,
}

/// Entries that were known before a new picture began.
#[derive(Debug, Default)]
struct Unseen {
    nodes: BTreeSet<String>,
    /// By node and instance name.
    instances: BTreeSet<(String, String)>,
}

/// The registry of an upstream, as far as it is known.
#[derive(Debug)]
pub struct Mirror {
    upstream: Upstream,
    /// Name or address of the upstream.
    name: String,
    epoch: Option<Epoch>,
    clock: Clock,
    /// Offset and round trip of the measurement that nodes were listed with.
    listed_with: Option<(i64, u64)>,
    position: Option<String>,
    schemas: HashMap<String, Arc<ProbeType>>,
    schema_bytes: usize,
    /// Hashes of schemas that are not what they should be, or for which there is no room: they are not asked for again.
    refused_schemas: BTreeSet<String>,
    nodes: BTreeMap<String, KnownNode>,
    /// By topic at the upstream. An entry that changed comes after those that did not: a node may come after its instances.
    instances: BTreeMap<u32, KnownInstance>,
    /// The topics of each node's instances.
    topics: BTreeMap<String, BTreeSet<u32>>,
    /// Entries that a new picture has not had yet.
    unseen: Option<Unseen>,
    /// Topics that are gone, until all changes have come: another topic may have the same instance.
    removed: BTreeSet<u32>,
    /// The upstream was started again: nodes that it does not know yet may still come.
    is_new_life: bool,
    needs: BTreeSet<Need>,
    /// Nodes and instances beyond the bounds.
    left_out: u64,
    /// Different nodes that have one name, in a sentence.
    rivals: Option<String>,
}

impl Mirror {
    /// Creates the mirror of an upstream of this name.
    pub fn new(upstream: Upstream, name: impl Into<String>) -> Self {
        Self {
            upstream,
            name: name.into(),
            epoch: None,
            clock: Clock::default(),
            listed_with: None,
            position: None,
            schemas: HashMap::new(),
            schema_bytes: 0,
            refused_schemas: BTreeSet::new(),
            nodes: BTreeMap::new(),
            instances: BTreeMap::new(),
            topics: BTreeMap::new(),
            unseen: None,
            removed: BTreeSet::new(),
            is_new_life: false,
            needs: BTreeSet::new(),
            left_out: 0,
            rivals: None,
        }
    }

    /// Returns the request that begins to follow the registry, or continues after a reconnect.
    pub fn watch(&self) -> Value {
        let mut watch = json!({"op": "watch", "deltas": true, "statistics": true});
        if let Some(position) = &self.position {
            watch["resume"] = position.as_str().into();
        }
        watch
    }

    /// The next ping.
    pub fn ping(&mut self, now: Nanos) -> Value {
        self.clock.ping(now.0)
    }

    /// The upstream.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// This clock minus the upstream's, nanoseconds; 0 until it is measured.
    pub fn clock_offset(&self) -> i64 {
        self.clock.offset().map_or(0, |(offset, _)| offset)
    }

    /// Takes what is needed next, each once.
    pub fn take_need(&mut self) -> Option<Need> {
        self.needs.pop_first()
    }

    /// Returns the number of nodes and instances that were left out because of the bounds of an upstream.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Takes a message about the registry; others change nothing.
    ///
    /// # Errors
    /// If the upstream cannot be mirrored.
    pub fn take(&mut self, message: Message, now: Nanos) -> Result<(), MirrorError> {
        match message {
            Message::Welcome { protocol, epoch } => self.welcome(protocol, epoch)?,
            Message::RegistryDelta(delta) => self.delta(*delta),
            Message::Statistics(statistics) => self.statistics(*statistics),
            Message::Pong { client_time, dac_time } => {
                self.clock.pong(client_time, dac_time.0, now.0);
                self.note_drift();
            }
            _ => {}
        }
        Ok(())
    }

    fn welcome(&mut self, protocol: u32, epoch: Epoch) -> Result<(), MirrorError> {
        if protocol != PROTOCOL {
            return Err(MirrorError::Protocol(protocol));
        }
        if epoch == self.upstream.dac().epoch() {
            return Err(MirrorError::Itself);
        }
        if self.epoch.replace(epoch).is_some_and(|before| before != epoch) {
            // Another process, whose topics have other numbers.
            (self.position, self.unseen) = (None, None);
            self.removed.clear();
            self.instances.clear();
            self.topics.clear();
            self.refused_schemas.clear();
            self.is_new_life = true;
            self.nodes.values_mut().for_each(|node| node.entry.online = false);
        }
        self.clock = Clock::default();
        Ok(())
    }

    /// The connection is gone.
    pub fn lost(&mut self) {
        self.upstream.lost();
        for node in self.nodes.values_mut() {
            node.refused = None;
        }
        self.listed_with = None;
    }

    /// Whether the registry of this life of the upstream is known.
    pub fn is_known(&self) -> bool {
        self.position.is_some()
    }

    /// Lists all nodes: a connection is there again, or the clock of the upstream is known better.
    pub fn list_all(&mut self) {
        let names: Vec<_> = self.nodes.keys().cloned().collect();
        names.iter().for_each(|name| self.list(name));
    }

    fn delta(&mut self, delta: RegistryDelta) {
        if delta.from == 0 && self.unseen.is_none() {
            let instances = std::mem::take(&mut self.instances).into_values();
            self.unseen = Some(Unseen {
                nodes: self.nodes.keys().cloned().collect(),
                instances: instances.map(|known| (known.entry.node, known.entry.instance)).collect(),
            });
            self.topics.clear();
        }
        let known = delta.removed.instances.into_iter().filter(|topic| self.instances.contains_key(topic));
        self.removed.extend(known);
        delta.removed.nodes.iter().for_each(|name| self.remove_node(name));
        let types: Vec<String> = delta.types.into_iter().map(|known| known.schema).collect();
        delta.nodes.into_iter().for_each(|entry| self.node(entry));
        for entry in delta.instances {
            if let Some(schema) = types.get(entry.type_index) {
                self.instance(entry, schema.clone());
            }
        }
        self.position = Some(delta.position);
        if !delta.more {
            std::mem::take(&mut self.removed).into_iter().for_each(|topic| self.remove_instance(topic));
        }
        if !delta.more
            && let Some(unseen) = self.unseen.take()
            && !std::mem::take(&mut self.is_new_life)
        {
            unseen.nodes.iter().for_each(|name| self.remove_node(name));
            unseen.instances.iter().for_each(|(node, name)| self.upstream.remove(node, Some(name)));
        }
    }

    fn node(&mut self, entry: NodeEntry) {
        let name = entry.name.clone();
        if let Some(unseen) = &mut self.unseen {
            unseen.nodes.remove(&name);
        }
        let is_one_too_many = !self.nodes.contains_key(&name) && self.nodes.len() >= MAX_NODES;
        if is_one_too_many || is_too_long(&entry) {
            self.left_out += 1;
            return;
        }
        match self.nodes.get_mut(&name) {
            Some(known) => {
                if known.entry.run != entry.run {
                    known.measured = (None, None);
                }
                known.entry = entry;
            }
            None => {
                self.nodes.insert(
                    name.clone(),
                    KnownNode { entry, measured: (None, None), refused: None, rivaled: 0 },
                );
            }
        }
        self.list(&name);
    }

    /// Lists a node here, and its instances that are not.
    fn list(&mut self, name: &str) {
        let (offset, hop) = (self.clock.offset(), self.hop());
        let Some(known) = self.nodes.get_mut(name) else { return };
        let was_refused = known.refused.take();
        match self.upstream.node(relayed(&known.entry, hop, offset)) {
            Ok(()) => {
                self.note_measured(name);
                self.topics_of(name).into_iter().for_each(|topic| self.list_instance(topic));
            }
            Err(error) => {
                let is_usual = matches!(error, RelayError::Elsewhere(_) | RelayError::Loop(_));
                if was_refused.as_ref() != Some(&error) && !is_usual {
                    self.left_out += 1;
                    if self.left_out <= MAX_LOGGED_NODES {
                        tracing::warn!(upstream = %self.name, node = name, %error, "a node is not relayed");
                    }
                }
                known.refused = Some(error);
            }
        }
    }

    fn topics_of(&self, node: &str) -> Vec<u32> {
        let topics = self.topics.get(node).into_iter().flatten();
        topics.filter(|topic| !self.removed.contains(topic)).copied().collect()
    }

    fn hop(&self) -> Option<Hop> {
        let (clock_offset_ns, round_trip_ns) = self.clock.offset().unzip();
        Some(Hop { dac: self.name.clone(), epoch: self.epoch?, clock_offset_ns, round_trip_ns })
    }

    fn instance(&mut self, entry: InstanceEntry, schema: String) {
        let topic = entry.id;
        let is_one_too_many = !self.instances.contains_key(&topic) && self.instances.len() >= MAX_INSTANCES;
        let is_too_long =
            entry.node.len().max(entry.instance.len()) > MAX_NAME_BYTES || schema.len() > HASH_DIGITS;
        if is_one_too_many || is_too_long {
            self.left_out += 1;
            return;
        }
        if let Some(unseen) = &mut self.unseen {
            unseen.instances.remove(&(entry.node.clone(), entry.instance.clone()));
        }
        self.topics.entry(entry.node.clone()).or_default().insert(topic);
        if !self.schemas.contains_key(&schema) && !self.refused_schemas.contains(&schema) {
            self.needs.insert(Need::Schema(schema.clone()));
        }
        self.instances.insert(topic, KnownInstance { entry, schema, listed: None, lacks_causes: false });
        self.list_instance(topic);
    }

    fn list_instance(&mut self, topic: u32) {
        let Some(known) = self.instances.get_mut(&topic) else { return };
        let Some(probe_type) = self.schemas.get(&known.schema) else { return };
        let entry = &known.entry;
        let is_listed = self.nodes.get(&entry.node).is_some_and(|node| node.refused.is_none());
        if !is_listed {
            return;
        }
        let announced = RegisteredInstance {
            name: entry.instance.clone(),
            probe_type: probe_type.uuid,
            kind: entry.kind,
            demand: entry.demand.and_then(|demand| demand.range()),
            declared: None,
            state: InstanceState { hertz: entry.hertz, enabled: entry.enabled, recorder: entry.recorder },
        };
        match self.upstream.instance(&entry.node, announced, probe_type, entry.run) {
            Ok(instance) => {
                self.upstream.note_settings(&instance, entry.shown());
                known.listed = Some(instance);
            }
            Err(error) => {
                known.listed = None;
                let (node, instance) = (&entry.node, &entry.instance);
                tracing::debug!(upstream = %self.name, node, instance, %error, "an instance is not relayed");
            }
        }
    }

    fn remove_instance(&mut self, topic: u32) {
        let Some(known) = self.instances.remove(&topic) else { return };
        let InstanceEntry { node, instance, .. } = &known.entry;
        let Some(its) = self.topics.get_mut(node) else { return };
        its.remove(&topic);
        // Another topic may have its name: the node came back with another type.
        let names = its.iter().filter_map(|topic| self.instances.get(topic));
        let is_gone = !names.map(|known| &known.entry.instance).any(|name| name == instance);
        if its.is_empty() {
            self.topics.remove(node);
        }
        if is_gone {
            self.upstream.remove(node, Some(instance));
        }
    }

    fn remove_node(&mut self, name: &str) {
        let topics = self.topics.remove(name).unwrap_or_default();
        topics.iter().for_each(|topic| drop(self.instances.remove(topic)));
        if self.nodes.remove(name).is_none() {
            return;
        }
        self.upstream.remove(name, None);
    }

    fn statistics(&mut self, statistics: Statistics) {
        for NodeRow { name, clock_offset_ns, round_trip_ns, overhead } in statistics.nodes {
            let Some(known) = self.nodes.get_mut(&name) else { continue };
            known.measured = (clock_offset_ns, round_trip_ns);
            let measured = self.through(known_measured(&self.nodes, &name));
            self.upstream.note_node(&name, measured, overhead);
        }
        let offset = self.clock_offset();
        for (topic, received, missing, arrived) in statistics.instances {
            let Some(known) = self.instances.get_mut(&topic) else { continue };
            let Some(instance) = &known.listed else { continue };
            let arrived = if arrived == 0 { 0 } else { arrived.saturating_add_signed(offset) };
            known.lacks_causes = instance.note_relayed(received, missing, Nanos(arrived));
            if known.lacks_causes {
                self.needs.insert(known.ledger());
            }
        }
    }

    /// Adds the way from the upstream to here to what the upstream has measured.
    fn through(&self, (offset, round_trip): (Option<i64>, Option<u64>)) -> (Option<i64>, Option<u64>) {
        let (hop, hop_trip) = self.clock.offset().unzip();
        let sum = |(a, b): (i64, i64)| a.saturating_add(b);
        (offset.zip(hop).map(sum), round_trip.zip(hop_trip).map(|(a, b)| a.saturating_add(b)))
    }

    fn note_measured(&self, name: &str) {
        let measured = known_measured(&self.nodes, name);
        if measured.0.is_some() {
            self.upstream.note_node(name, self.through(measured), None);
        }
    }

    /// The upstream's clock is known, or much better than what nodes were listed with.
    fn note_drift(&mut self) {
        let Some((offset, round_trip)) = self.clock.offset() else { return };
        let is_good =
            |(before, trip): (i64, u64)| before.abs_diff(offset) <= MAX_DRIFT_NANOS && trip / 2 <= round_trip;
        if !self.listed_with.is_some_and(is_good) {
            self.listed_with = Some((offset, round_trip));
            self.list_all();
        }
    }

    /// A node that was known from elsewhere may be free now, and an upstream may have what it did not have. Called now and then.
    pub fn retry(&mut self) {
        for known in self.instances.values() {
            if known.lacks_causes {
                self.needs.insert(known.ledger());
            }
            if !self.schemas.contains_key(&known.schema) && !self.refused_schemas.contains(&known.schema) {
                self.needs.insert(Need::Schema(known.schema.clone()));
            }
        }
        // Another upstream may have taken it over, and lost it.
        let is_elsewhere = |known: &KnownNode| match known.refused {
            None => !self.upstream.lists(&known.entry.name),
            Some(RelayError::Elsewhere(_)) => true,
            Some(_) => false,
        };
        let online = self.nodes.iter().filter(|(_, known)| known.entry.online && is_elsewhere(known));
        let names: Vec<_> = online.map(|(name, _)| name.clone()).collect();
        names.iter().for_each(|name| self.list(name));
        self.look_for_rivals();
    }

    /// A schema has come. One with another hash is not what was asked for.
    pub fn schema(&mut self, hash: &str, schema: ProbeType) {
        let is_right = oasis_dac::SchemaHash::of(&schema).to_string() == hash;
        let bytes = self.schema_bytes.saturating_add(schema.memory_bytes());
        if !is_right || schema.validate().is_err() || bytes > MAX_SCHEMA_BYTES {
            tracing::warn!(upstream = %self.name, hash, "a schema is not what it should be, or one too many");
            self.left_out += 1;
            self.refused_schemas.insert(hash.into());
            return;
        }
        self.schema_bytes = bytes;
        self.schemas.insert(hash.into(), Arc::new(schema));
        let waiting: Vec<_> = self
            .instances
            .iter()
            .filter(|(_, known)| known.listed.is_none() && known.schema == hash)
            .map(|(topic, _)| *topic)
            .collect();
        waiting.into_iter().for_each(|topic| self.list_instance(topic));
    }

    /// A ledger has come.
    pub fn ledger(&mut self, node: &str, instance: &str, ledger: UpstreamLedger) {
        let Some(its) = self.topics.get(node) else { return };
        let is_it =
            |topic: &&u32| self.instances.get(topic).is_some_and(|known| known.entry.instance == instance);
        let Some(known) = its.iter().find(is_it).and_then(|topic| self.instances.get_mut(topic)) else {
            return;
        };
        if let Some(listed) = &known.listed {
            known.lacks_causes = listed.take_ledger(ledger);
        }
    }
}

impl KnownInstance {
    fn ledger(&self) -> Need {
        Need::Ledger { node: self.entry.node.clone(), instance: self.entry.instance.clone() }
    }
}

fn known_measured(nodes: &BTreeMap<String, KnownNode>, name: &str) -> (Option<i64>, Option<u64>) {
    nodes.get(name).map_or((None, None), |known| known.measured)
}

/// Whether a node would take more memory than its place has.
fn is_too_long(entry: &NodeEntry) -> bool {
    let own = [&entry.name, &entry.host, &entry.software];
    let mut texts = own.into_iter().chain(entry.path.iter().map(|hop| &hop.dac));
    entry.path.len() > MAX_PATH_HOPS || texts.any(|text| text.len() > MAX_NAME_BYTES)
}

/// A node as it is listed here.
fn relayed(entry: &NodeEntry, hop: Option<Hop>, offset: Option<(i64, u64)>) -> RelayedNode {
    let identity = NodeIdentity {
        name: entry.name.clone(),
        uuid: entry.uuid.unwrap_or_default(),
        run: entry.run,
        host: entry.host.clone(),
        software: entry.software.clone(),
        pid: entry.pid.unwrap_or_default(),
    };
    let offset = offset.map_or(0, |(offset, _)| offset);
    RelayedNode {
        identity,
        is_online: entry.online,
        attach: entry.attach,
        since: Nanos(entry.since.0.saturating_add_signed(offset)),
        is_replay: entry.replay,
        path: entry.path.iter().cloned().chain(hop).collect(),
        labels: entry.labels.clone(),
    }
}
