//! Who is there: nodes, their probe instances, and each instance's topic.

mod remembered;

pub use remembered::{Remembered, Stored, StoredNode};

use crate::{
    config::ChannelConfig,
    instance::Instance,
    log::{LogBudget, TopicLog},
    node::{Link, Node},
};
use oasis_channel::{Failure, InstanceState, NodeIdentity, Overhead, RegisteredInstance};
use oasis_wire::{
    quantity::{Epoch, Nanos, Offset, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// A peer that was heard within this time is alive: nobody else may take its name.
const ALIVE: u64 = 3_000_000_000;

/// All nodes and instances of a DAC.
#[derive(Debug)]
pub struct Registry {
    epoch: Epoch,
    max_nodes: usize,
    max_topics: usize,
    max_schema_bytes: usize,
    budget: Arc<LogBudget>,
    /// Guards nodes and instances. Never held across I/O; a ledger's lock may be taken inside it, never the other way round.
    held: Mutex<Held>,
    changed: watch::Sender<u64>,
    /// Takes topics whose rate is to be brought to what is asked for.
    steer: mpsc::UnboundedSender<TopicId>,
}

#[derive(Debug, Default)]
struct Held {
    nodes: BTreeMap<String, Node>,
    instances: BTreeMap<TopicId, Arc<Instance>>,
    by_name: HashMap<(Arc<str>, Arc<str>), TopicId>,
    last_topic: u32,
    schema_bytes: usize,
    /// What earlier lives have stored: run and last sequence number, by names. Each is looked at once.
    stored: HashMap<(Arc<str>, Arc<str>), (Uuid, u64)>,
    /// Topics of instances that were known from what is stored, the first to make room in front. Some may have registered since, or are gone.
    remembered: VecDeque<TopicId>,
}

impl Registry {
    pub(crate) fn new(
        epoch: Epoch,
        config: &ChannelConfig,
        budget: Arc<LogBudget>,
        steer: mpsc::UnboundedSender<TopicId>,
    ) -> Self {
        Self {
            epoch,
            max_nodes: config.max_nodes,
            max_topics: config.max_topics,
            max_schema_bytes: config.max_schema_bytes,
            budget,
            held: Mutex::default(),
            changed: watch::Sender::new(0),
            steer,
        }
    }

    /// Sees each change of nodes and instances (not of samples).
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// All nodes by name.
    pub fn nodes(&self) -> Vec<Node> {
        self.held().nodes.values().cloned().collect()
    }

    /// One node.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.held().nodes.get(name).cloned()
    }

    /// All instances by topic.
    pub fn instances(&self) -> Vec<Arc<Instance>> {
        self.held().instances.values().cloned().collect()
    }

    /// An instance by topic.
    pub fn instance(&self, topic: TopicId) -> Option<Arc<Instance>> {
        self.held().instances.get(&topic).cloned()
    }

    /// An instance by names.
    pub fn find(&self, node: &str, name: &str) -> Option<Arc<Instance>> {
        let held = self.held();
        let topic = held.by_name.get(&(Arc::from(node), Arc::from(name)))?;
        held.instances.get(topic).cloned()
    }

    /// A number that no topic of this epoch has.
    pub(crate) fn next_topic(&self) -> TopicId {
        let mut held = self.held();
        held.last_topic += 1;
        TopicId(held.last_topic)
    }

    /// A node has said hello. A connection that the same life of the node left behind is closed; a name that another living node has is refused.
    pub(crate) fn connect(&self, identity: NodeIdentity, link: Link, now: Nanos) -> Result<(), Failure> {
        let mut held = self.held();
        if let Some(known) = held.nodes.get(&identity.name) {
            let alive = known.online() && now.0.saturating_sub(known.last_heard.0) < ALIVE;
            if alive && known.identity.run != identity.run {
                let message = format!(
                    "a living node on {} has the name {:?}: give this one another",
                    known.identity.host, identity.name
                );
                return Err(Failure::new("name_taken", message));
            }
        } else if held.nodes.len() >= self.max_nodes && !held.forget_oldest_node() {
            let message = format!("the DAC knows {} nodes, its limit (channel.max_nodes)", self.max_nodes);
            return Err(Failure::new("too_many_nodes", message));
        }
        let node = Node::new(identity, link, now);
        held.nodes.insert(node.identity.name.clone(), node);
        drop(held);
        self.touch();
        Ok(())
    }

    /// A session has ended. Nothing happens if another one has taken the node over.
    pub(crate) fn disconnect(&self, node: &str, session: u64, now: Nanos) {
        let mut held = self.held();
        let Some(known) = held.nodes.get_mut(node) else { return };
        if known.link.as_ref().is_none_or(|link| link.session != session) {
            return;
        }
        known.link = None;
        known.since = now;
        drop(held);
        self.touch();
    }

    /// The node plays a recording back.
    pub(crate) fn replays(&self, node: &str) {
        if let Some(known) = self.held().nodes.get_mut(node) {
            known.is_replay = true;
        }
        self.touch();
    }

    /// The node has said something.
    pub(crate) fn heard(&self, node: &str, now: Nanos) {
        if let Some(known) = self.held().nodes.get_mut(node) {
            known.last_heard = now;
        }
    }

    /// The node's estimate of its clock against ours.
    pub(crate) fn clock(&self, node: &str, offset_ns: Option<i64>, round_trip_ns: Option<u64>) {
        let mut held = self.held();
        let Some(known) = held.nodes.get_mut(node) else { return };
        if known.note_clock(offset_ns, round_trip_ns) {
            drop(held);
            self.touch();
        }
    }

    /// What the node says its instrumentation costs.
    pub(crate) fn overhead(&self, node: &str, mut overhead: Overhead) {
        let mut held = self.held();
        let name = Arc::<str>::from(node);
        overhead
            .lowered
            .retain(|instance, _| held.by_name.contains_key(&(name.clone(), Arc::from(instance.as_str()))));
        let Some(known) = held.nodes.get_mut(node) else { return };
        if known.note_overhead(overhead) {
            drop(held);
            self.touch();
        }
    }

    /// Gives the instance its topic: the one it had if its type is the same, a new one otherwise.
    pub(crate) fn register(
        &self,
        node: &NodeIdentity,
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        now: Nanos,
    ) -> Result<Arc<Instance>, Failure> {
        let mut held = self.held();
        let key = (Arc::<str>::from(node.name.as_str()), Arc::<str>::from(announced.name.as_str()));
        let known = held.by_name.get(&key).and_then(|topic| held.instances.get(topic)).cloned();
        let instance = match known {
            Some(known) if known.probe_type == *probe_type && known.kind == announced.kind => {
                known.set_state(announced.state);
                // What commands have changed lasts as long as the node's run, its rate as much as who decides it.
                if known.ledger().run() != Some(node.run) {
                    known.demand.follow(announced.demand);
                }
                known
            }
            known => {
                if let Some(old) = &known {
                    held.remove(old);
                }
                // A position is asked for by names: its offset must not mean two samples.
                let start = known.map_or(Offset(0), |old| old.log.next());
                self.add(&mut held, key, announced, probe_type, start)?
            }
        };
        let stored = held.stored.remove(&(instance.node.clone(), instance.name.clone()));
        let mut ledger = instance.ledger();
        ledger.registered(node.run, now);
        if let Some((run, last_sequence)) = stored {
            ledger.resume(run, last_sequence);
        }
        drop(ledger);
        instance.log.begin_run(node.run);
        drop(held);
        self.touch();
        Ok(instance)
    }

    /// A command has changed the instance.
    pub(crate) fn changed(&self, instance: &Instance, state: InstanceState) {
        if instance.set_state(state) {
            self.touch();
        }
    }

    /// The node knows its topics: from now on it takes commands.
    pub(crate) fn registered(&self, node: &str, session: u64) {
        let mut held = self.held();
        let link = held.nodes.get_mut(node).and_then(|node| node.link.as_mut());
        if let Some(link) = link.filter(|link| link.session == session) {
            link.takes_commands = true;
        }
    }

    /// The way to a node, if it is connected and takes commands: before it knows its topics it would take one for a breach of the protocol.
    pub(crate) fn link(&self, node: &str) -> Option<Link> {
        let link = self.held().nodes.get(node)?.link.clone();
        link.filter(|link| link.takes_commands)
    }

    fn add(
        &self,
        held: &mut Held,
        key: (Arc<str>, Arc<str>),
        announced: RegisteredInstance,
        probe_type: &Arc<ProbeType>,
        start: Offset,
    ) -> Result<Arc<Instance>, Failure> {
        while held.instances.len() >= self.max_topics {
            if !held.forget_oldest() {
                let message =
                    format!("the DAC holds {} topics, its limit (channel.max_topics)", self.max_topics);
                return Err(Failure::new("too_many_topics", message));
            }
        }
        // Instances of one type share it, but any of them may come to be its last owner: each counts in full.
        let schema_bytes = serde_json::to_string(&**probe_type).map_or(0, |json| json.len());
        while held.schema_bytes + schema_bytes > self.max_schema_bytes {
            if !held.forget_oldest() {
                let message = format!(
                    "schemas take {} bytes, near the limit (channel.max_schema_bytes)",
                    held.schema_bytes
                );
                return Err(Failure::new("too_much_schema", message));
            }
        }
        held.schema_bytes += schema_bytes;
        held.last_topic += 1;
        let topic = TopicId(held.last_topic);
        let log = TopicLog::starting_at(self.epoch, self.budget.clone(), start);
        let steer = self.steer.clone();
        let instance = Instance::new(topic, &key, announced, probe_type.clone(), schema_bytes, log, steer);
        let instance = Arc::new(instance);
        held.by_name.insert(key, instance.topic);
        held.instances.insert(instance.topic, instance.clone());
        Ok(instance)
    }

    /// Has everybody who watches look again.
    pub(crate) fn touch(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Another topic takes its place, or none.
    fn remove(&mut self, instance: &Instance) {
        self.instances.remove(&instance.topic);
        self.schema_bytes -= instance.schema_bytes;
        instance.retire();
    }
}
