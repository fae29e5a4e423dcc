//! The nodes, their probe instances, and each instance's topic.

mod changes;
mod delta;
mod eviction;
mod following;
mod forgetting;
mod offline;
mod pages;
mod relayed;
mod remembered;
mod schemas;

pub use delta::{RegistryCursor, RegistryDelta};
pub use eviction::Evicted;
pub use following::Follower;
pub(crate) use following::{Followers, KeptOfReplaced};
pub use forgetting::StillConnected;
pub use relayed::NodeHome;
pub use remembered::RestoreCounts;

use crate::{
    config::ChannelConfig,
    instance::Instance,
    ledger::GapRoom,
    log::{LogBudget, TopicLog},
    memory::MemoryAccount,
    moment::Moment,
    node::{Claim, Former, Link, MeasuredClock, Moved, Node, Rival, check_derived},
    schema_hash::SchemaHashes,
    settings::Settings,
};
use changes::{ChangeLog, Entry};
use oasis_channel::{Failure, InstanceState, NodeIdentity, Overhead, RegisteredInstance, ResumeSecret};
use oasis_wire::{
    quantity::{Epoch, Nanos, Offset, TopicId},
    schema::ProbeType,
    stored::StoredRun,
};
use offline::Offline;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// All nodes and instances of a DAC.
#[derive(Debug)]
pub struct Registry {
    epoch: Epoch,
    max_nodes: usize,
    max_topics: usize,
    /// Memory of the types that sessions have registered, besides those of instances.
    session_schemas: Arc<MemoryAccount>,
    max_schema_bytes: usize,
    budget: Arc<LogBudget>,
    /// Guards nodes and instances. Never locked during I/O. A ledger may be locked inside it, never the other way
    /// round.
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    /// Receives topics whose rate must be adjusted to demand.
    steer: mpsc::UnboundedSender<TopicId>,
    /// Room for the gaps of all ledgers.
    gaps: GapRoom,
    /// Labels, and settings that are kept.
    pub(crate) settings: Arc<Settings>,
}

/// The names of a node and of one of its instances.
type Names = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct Inner {
    nodes: BTreeMap<String, Node>,
    offline: Offline,
    /// Nodes that were evicted, or of which the archive has no samples: who may resume their runs.
    unlisted: HashMap<String, Box<[Claim]>>,
    instances: BTreeMap<TopicId, Arc<Instance>>,
    by_name: BTreeMap<Names, TopicId>,
    last_topic: u32,
    schema_bytes: usize,
    schema_hashes: SchemaHashes,
    /// The order of changes, for readers that have an earlier state.
    changes: ChangeLog,
    /// First offset of a new instance: after those of every evicted one.
    first_offset: Offset,
    /// Samples that earlier runs of the DAC stored, or evicted instances had: the node's runs with their last sequence
    /// numbers, oldest first, by names. Each entry is used once.
    stored: HashMap<Names, Box<[StoredRun]>>,
    /// Topics of instances known only from the archive; the first is evicted first. Some may have registered since,
    /// or are gone.
    remembered: VecDeque<TopicId>,
    evicted: Evicted,
    /// Followers of the instances.
    followers: Followers,
    /// Topics that are gone from the list, and that a follower has not read to the end, oldest first.
    replaced: Vec<Arc<Instance>>,
}

impl Registry {
    pub(crate) fn new(
        epoch: Epoch,
        config: &ChannelConfig,
        max_schema_bytes: usize,
        budget: Arc<LogBudget>,
        steer: mpsc::UnboundedSender<TopicId>,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            epoch,
            settings,
            max_nodes: config.max_nodes,
            max_topics: config.max_topics,
            session_schemas: MemoryAccount::new(max_schema_bytes),
            max_schema_bytes,
            budget,
            inner: Mutex::default(),
            changed: watch::Sender::new(0),
            steer,
            gaps: GapRoom::new(max_schema_bytes / 8),
        }
    }

    /// Returns a version that changes with nodes and instances (not with samples).
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Returns the present version.
    pub fn version(&self) -> u64 {
        *self.changed.borrow()
    }

    /// Returns all nodes by name.
    pub fn nodes(&self) -> Vec<Node> {
        self.lock().nodes.values().cloned().collect()
    }

    /// Returns how many offline nodes and instances were evicted in this epoch.
    pub fn evicted(&self) -> Evicted {
        self.lock().evicted
    }

    /// Returns a node by name.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.lock().nodes.get(name).cloned()
    }

    /// Returns the measured clocks of connected nodes, in the order of their names.
    pub fn clocks(&self) -> Vec<(String, MeasuredClock)> {
        let inner = self.lock();
        let online = inner.nodes.iter().filter(|(_, node)| node.is_online());
        online.filter_map(|(name, node)| Some((name.clone(), node.clock?))).collect()
    }

    /// Returns the measured clock of a node, if it is connected.
    pub fn clock(&self, node: &str) -> Option<MeasuredClock> {
        self.lock().nodes.get(node).filter(|node| node.is_online())?.clock
    }

    /// Returns the nodes that are connected here and `is_wanted`, each with run and number of its connection and when that came.
    pub fn connected_here(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(String, Uuid, Option<u64>, Nanos)> {
        let inner = self.lock();
        let here = |node: &&Node| node.link.is_some() && is_wanted(&node.identity.name);
        let connection =
            |node: &Node| (node.identity.name.clone(), node.identity.run, node.attach, node.since);
        inner.nodes.values().filter(here).map(connection).collect()
    }

    /// Returns all instances by topic.
    pub fn instances(&self) -> Vec<Arc<Instance>> {
        self.lock().instances.values().cloned().collect()
    }

    /// Returns the instances whose home is this DAC: those that it does not relay.
    pub fn home_instances(&self) -> Vec<Arc<Instance>> {
        let mut instances = self.instances();
        instances.retain(|instance| !instance.is_relayed());
        instances
    }

    /// Returns an instance by topic.
    pub fn instance(&self, topic: TopicId) -> Option<Arc<Instance>> {
        self.lock().instances.get(&topic).cloned()
    }

    /// Returns an instance by names.
    pub fn find(&self, node: &str, name: &str) -> Option<Arc<Instance>> {
        let inner = self.lock();
        let topic = inner.by_name.get(&(Arc::from(node), Arc::from(name)))?;
        inner.instances.get(topic).cloned()
    }

    /// Returns the runs of an instance that have samples here, with their last numbers: those that the archive had when the DAC started, and those that
    /// the DAC has received since.
    pub fn known_runs(&self, node: &str, name: &str) -> Vec<StoredRun> {
        let inner = self.lock();
        let names = (Arc::from(node), Arc::from(name));
        let mut runs = inner.stored.get(&names).map(|runs| runs.to_vec()).unwrap_or_default();
        let instance = inner.by_name.get(&names).and_then(|topic| inner.instances.get(topic)).cloned();
        drop(inner);
        runs.extend(instance.into_iter().flat_map(|instance| instance.ledger().known_runs()));
        runs
    }

    /// Returns a topic number that is unique in this epoch, or `None` once all are used up.
    pub(crate) fn next_topic(&self) -> Option<TopicId> {
        self.lock().next_topic()
    }

    /// Connects a node that has said hello. Closes an older connection of the same run of the node. Refuses a name
    /// that another living node has, and a run without its secret.
    pub(crate) fn connect(
        &self,
        identity: NodeIdentity,
        secret: Option<ResumeSecret>,
        link: Link,
        now: Moment,
    ) -> Result<(), Failure> {
        check_derived(&identity, secret)?;
        let mut inner = self.lock();
        let is_new = !inner.nodes.contains_key(&identity.name);
        let former = match inner.nodes.get_mut(&identity.name) {
            Some(known) if known.relayed.is_none() => known.give_way(&identity, secret, &link, now)?,
            known => {
                // The node may have been connected to another DAC until now.
                known.map_or(Ok(()), |known| known.check_attach(&identity, &link))?;
                let claims = inner.unlisted.get(&identity.name).map_or(&[][..], |claims| claims);
                Former::of_unlisted(claims, &identity, secret)?
            }
        };
        if is_new && inner.nodes.len() >= self.max_nodes && !inner.evict_oldest_node() {
            let message =
                format!("node limit reached: the DAC knows {} nodes (channel.max_nodes)", self.max_nodes);
            return Err(Failure::new("too_many_nodes", message));
        }
        inner.unlisted.remove(&identity.name);
        inner.add_node(Node::new(identity, secret, former, link, now));
        drop(inner);
        self.notify_watchers();
        Ok(())
    }

    /// Handles the end of a session. Does nothing if another session has replaced it.
    pub(crate) fn disconnect(&self, node: &str, session: u64, now: Nanos) {
        if self.lock().take_offline(node, session, now) {
            self.notify_watchers();
        }
    }

    /// Handles the news that a node has made a later connection to another DAC: one that is not heard here any more is offline, and its
    /// connection closes.
    pub fn note_moved(&self, node: &str, to: &Moved<'_>, now: Moment) {
        let mut inner = self.lock();
        let Some(session) = inner.nodes.get_mut(node).and_then(|node| node.moved(to, now)) else { return };
        if !session.is_some_and(|session| inner.take_offline(node, session, now.wall)) {
            inner.changes.change(Entry::Node(node.into()));
        }
        drop(inner);
        self.notify_watchers();
    }

    /// Returns whether a node is at another DAC, as far as this one knows.
    pub(crate) fn has_moved(&self, node: &str) -> bool {
        self.lock().nodes.get(node).is_some_and(|node| node.moved_to.is_some())
    }

    /// Marks the node as a replay of a recording.
    pub(crate) fn mark_replay(&self, node: &str) {
        let mut inner = self.lock();
        let Some(known) = inner.nodes.get_mut(node) else { return };
        known.is_replay = true;
        inner.changes.change(Entry::Node(node.into()));
        drop(inner);
        self.notify_watchers();
    }

    /// Records that the node has sent something. Returns another process with its key, once that is certain.
    pub(crate) fn note_heard(&self, node: &str, now: Moment) -> Option<Rival> {
        self.lock().nodes.get_mut(node)?.note_heard(now)
    }

    /// Records the node's estimate of its clock relative to the DAC's.
    pub(crate) fn note_clock(&self, node: &str, offset_ns: Option<i64>, round_trip_ns: Option<u64>) {
        let mut inner = self.lock();
        let Some(known) = inner.nodes.get_mut(node) else { return };
        if known.note_clock(offset_ns, round_trip_ns) {
            drop(inner);
            self.notify_watchers();
        }
    }

    /// Records the reported cost of the node's instrumentation.
    pub(crate) fn note_overhead(&self, node: &str, mut overhead: Overhead) {
        let mut inner = self.lock();
        let name = Arc::<str>::from(node);
        overhead
            .lowered
            .retain(|instance, _| inner.by_name.contains_key(&(name.clone(), Arc::from(instance.as_str()))));
        let Some(known) = inner.nodes.get_mut(node) else { return };
        if known.note_overhead(overhead) {
            drop(inner);
            self.notify_watchers();
        }
    }

    /// Assigns the instance its topic: the previous one if its type is unchanged, otherwise a new one. Refuses a session that another
    /// connection of the node has replaced, here or at another DAC.
    pub(crate) fn register(
        &self,
        (node, session): (&NodeIdentity, u64),
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        now: Nanos,
    ) -> Result<Arc<Instance>, Failure> {
        let mut inner = self.lock();
        let link = inner.nodes.get(&node.name).and_then(|known| known.link.as_ref());
        if link.is_none_or(|link| link.session != session) {
            let message = format!("node {:?} has made a later connection", node.name);
            return Err(Failure::new("node_moved", message));
        }
        let key = (Arc::<str>::from(node.name.as_str()), Arc::<str>::from(announced.name.as_str()));
        let known = inner.by_name.get(&key).and_then(|topic| inner.instances.get(topic)).cloned();
        let instance = match known {
            Some(known)
                if known.probe_type == *probe_type && known.kind == announced.kind && !known.is_relayed() =>
            {
                let is_new_run = known.ledger().run() != Some(node.run);
                let has_changed = known.set_state(announced.state);
                known.program().registered(&announced, is_new_run);
                // Changes by commands last for the node's run; so do changes of demand.
                if is_new_run {
                    known.demand.set_range(announced.demand);
                }
                if is_new_run || has_changed {
                    inner.changes.change((&*known).into());
                }
                known
            }
            known => {
                let awaited = known.clone().filter(|old| old.is_awaited());
                if let Some(old) = &known {
                    inner.remove(old);
                    if !old.is_relayed() {
                        inner.keep_replaced(old);
                    }
                }
                // A client resumes by names: an offset must not identify two different samples.
                let start = known.as_ref().map_or(inner.first_offset, |old| old.log.next());
                let added = self.add(&mut inner, key, announced, probe_type, start)?;
                if let Some(old) = known.filter(|old| !old.is_relayed()) {
                    let mut former = old.ledger().clone();
                    former.registered(node.run, now);
                    added.ledger().replace(former);
                }
                awaited.iter().for_each(|old| added.continue_after(old, None));
                added
            }
        };
        let stored = inner.stored.remove(&(instance.node.clone(), instance.name.clone()));
        let mut ledger = instance.ledger();
        if let Some(runs) = stored {
            ledger.restore_runs(&runs);
        }
        ledger.registered(node.run, now);
        drop(ledger);
        instance.log.begin_run(node.run);
        drop(inner);
        self.notify_watchers();
        Ok(instance)
    }

    /// Records that a command has changed the instance.
    pub(crate) fn update_state(&self, instance: &Instance, state: InstanceState) {
        if instance.set_state(state) {
            self.instance_changed(instance);
        }
    }

    /// Records that the node knows its topics: from now on it accepts commands.
    pub(crate) fn accept_commands(&self, node: &str, session: u64) {
        let mut inner = self.lock();
        let link = inner.nodes.get_mut(node).and_then(|node| node.link.as_mut());
        if let Some(link) = link.filter(|link| link.session == session) {
            link.accepts_commands = true;
        }
    }

    /// Returns the link to a node if it is connected and accepts commands. A node that does not know its topics yet
    /// would take a command for a protocol error.
    pub(crate) fn link(&self, node: &str) -> Option<Link> {
        let link = self.lock().nodes.get(node)?.link.clone();
        link.filter(|link| link.accepts_commands)
    }

    fn add(
        &self,
        inner: &mut Inner,
        key: Names,
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        start: Offset,
    ) -> Result<Arc<Instance>, Failure> {
        while inner.instances.len() >= self.max_topics {
            if !inner.evict_oldest_instance() {
                let message = format!(
                    "topic limit reached: the DAC has {} topics (channel.max_topics)",
                    self.max_topics
                );
                return Err(Failure::new("too_many_topics", message));
            }
        }
        // Instances share the schema of a type, but any of them may become its last owner: each counts in full.
        let schema_bytes = probe_type.memory_bytes();
        self.make_room_for_schema(inner, schema_bytes)?;
        let Some(topic) = inner.next_topic() else {
            let message = "all topic numbers of this run of the DAC are used up: start the DAC again";
            return Err(Failure::new("too_many_topics", message));
        };
        inner.schema_bytes += schema_bytes;
        let log = TopicLog::starting_at(self.epoch, self.budget.clone(), start);
        let steer = self.steer.clone();
        let probe_type = (probe_type.clone(), inner.schema_hashes.of(probe_type));
        let instance = Instance::new(topic, &key, announced, probe_type, schema_bytes, log, steer);
        instance.ledger().share(self.gaps.clone());
        let instance = Arc::new(instance);
        inner.by_name.insert(key, instance.topic);
        inner.changes.change((&*instance).into());
        inner.instances.insert(instance.topic, instance.clone());
        self.gaps.divide(inner.instances.len());
        Ok(instance)
    }

    /// Notifies all watchers.
    pub(crate) fn notify_watchers(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Numbers are never used twice in an epoch: a reader would take one topic for another.
    fn next_topic(&mut self) -> Option<TopicId> {
        self.last_topic = self.last_topic.checked_add(1)?;
        Some(TopicId(self.last_topic))
    }

    /// Adds a node, or replaces the one that has its name.
    fn add_node(&mut self, node: Node) {
        let name = node.identity.name.clone();
        self.changes.change(Entry::Node(name.as_str().into()));
        if let Some(former) = self.nodes.get(&name) {
            self.offline.remove(former);
        }
        if !node.is_online() {
            self.offline.add(&node, false);
        }
        self.nodes.insert(name, node);
    }

    /// Notes that a session of a node has ended. Returns false if another session has replaced it.
    fn take_offline(&mut self, name: &str, session: u64, now: Nanos) -> bool {
        let has_sent = self.instances_of(name).any(|instance| instance.ledger().has_samples());
        let Some(node) = self.nodes.get_mut(name) else { return false };
        if node.link.as_ref().is_none_or(|link| link.session != session) {
            return false;
        }
        node.link = None;
        node.since = now;
        self.offline.add(node, has_sent);
        self.changes.change(Entry::Node(name.into()));
        true
    }

    fn instances_of(&self, node: &str) -> impl Iterator<Item = &Arc<Instance>> {
        let first = (Arc::<str>::from(node), Arc::from(""));
        let its = self.by_name.range(first.clone()..).take_while(move |((node, _), _)| *node == first.0);
        its.filter_map(|(_, topic)| self.instances.get(topic))
    }

    /// Removes an instance. Another topic replaces it, or none.
    fn remove(&mut self, instance: &Instance) {
        self.instances.remove(&instance.topic);
        self.changes.remove(instance.into());
        self.schema_bytes -= instance.schema_bytes;
        instance.retire();
    }
}
