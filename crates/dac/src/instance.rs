//! A probe instance: its identity, its topic's log and its ledger.

use crate::{
    Delivery,
    ahead::Ahead,
    demand::{Demand, DemandGuard},
    ledger::Ledger,
    log::TopicLog,
    registry::Followers,
    relayed::{ForwardedQuestion, Ways},
    schema_hash::SchemaHash,
    segment::Segment,
    settings::{LabelsAndSettings, Program},
};
use oasis_channel::{InstanceState, RegisteredInstance};
use oasis_wire::{
    batch::Header,
    probe_kind::ProbeKind,
    quantity::{Offset, PortablePosition, TopicId},
    schema::ProbeType,
    stored::StoredRun,
};
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::mpsc;

/// A probe instance: its type, its state, its log, its ledger.
#[derive(Debug)]
pub struct Instance {
    /// Its topic number in this epoch.
    pub topic: TopicId,
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub name: Arc<str>,
    /// Its type.
    pub probe_type: Arc<ProbeType>,
    /// Names its type's schema by content.
    pub schema_hash: SchemaHash,
    /// Size of its type's schema, in bytes.
    pub(crate) schema_bytes: usize,
    /// Trigger of a sample.
    pub kind: ProbeKind,
    /// Its samples.
    pub log: TopicLog,
    /// The newest samples, if the node has sent them ahead of a backlog.
    pub ahead: Ahead,
    state: Mutex<InstanceState>,
    /// Declaration of its program. Locked for bookkeeping only, inside no other lock of an instance.
    program: Mutex<Program>,
    /// Labels and settings of a relayed instance, as its upstream shows them.
    relayed_settings: Mutex<Arc<LabelsAndSettings>>,
    ledger: Mutex<Ledger>,
    /// Demand of its readers, including those of derived streams.
    pub demand: Arc<Demand>,
    retired: AtomicBool,
    /// Readers of its log.
    pub(crate) followed_by: Followers,
    /// Readers that have read its log to the end, after another topic has replaced it.
    pub(crate) read_by: Followers,
    /// Which samples of the base it contains; `every` for an instance without a base.
    pub delivery: Delivery,
    /// The instance that a derived stream is derived from.
    base: Option<Arc<Instance>>,
    /// The next sample of the topic that this one has replaced, while it had readers.
    continues: OnceLock<PortablePosition>,
    /// Receiver of questions about the past of a relayed instance.
    upstream: Mutex<Option<mpsc::Sender<ForwardedQuestion>>>,
}

impl Instance {
    /// Creates an instance with these names of node and instance.
    pub(crate) fn new(
        topic: TopicId,
        (node, name): &(Arc<str>, Arc<str>),
        announced: RegisteredInstance,
        (probe_type, schema_hash): (Arc<ProbeType>, SchemaHash),
        schema_bytes: usize,
        log: TopicLog,
        steer: mpsc::UnboundedSender<TopicId>,
    ) -> Self {
        let range = announced.demand.filter(|_| announced.kind == ProbeKind::Periodic);
        Self {
            topic,
            node: node.clone(),
            name: name.clone(),
            probe_type,
            schema_hash,
            schema_bytes,
            kind: announced.kind,
            log,
            ahead: Ahead::default(),
            program: Mutex::new(Program::of(&announced)),
            relayed_settings: Mutex::default(),
            state: Mutex::new(announced.state),
            ledger: Mutex::default(),
            demand: Demand::new(topic, range, steer),
            retired: AtomicBool::new(false),
            followed_by: Followers::default(),
            read_by: Followers::default(),
            delivery: Delivery::Every,
            base: None,
            continues: OnceLock::new(),
            upstream: Mutex::default(),
        }
    }

    /// Creates a stream derived from another instance: it has its own topic, type and log, and shares everything
    /// else.
    pub(crate) fn derived(
        base: &Arc<Instance>,
        topic: TopicId,
        probe_type: Arc<ProbeType>,
        log: TopicLog,
        delivery: Delivery,
    ) -> Self {
        Self {
            topic,
            node: base.node.clone(),
            name: base.name.clone(),
            schema_hash: SchemaHash::of(&probe_type),
            probe_type,
            schema_bytes: 0,
            kind: base.kind,
            log,
            ahead: Ahead::default(),
            program: Mutex::default(),
            relayed_settings: Mutex::default(),
            state: Mutex::new(base.state()),
            ledger: Mutex::default(),
            demand: base.demand.clone(),
            retired: AtomicBool::new(false),
            followed_by: Followers::default(),
            read_by: Followers::default(),
            delivery,
            base: Some(base.clone()),
            continues: OnceLock::new(),
            upstream: Mutex::default(),
        }
    }

    /// Returns the instance that the node registered: itself, unless it is a derived stream.
    pub fn source(&self) -> &Self {
        self.base.as_deref().unwrap_or(self)
    }

    /// Returns the rate, and whether the instance is enabled.
    pub fn state(&self) -> InstanceState {
        *self.source().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what its program has declared.
    pub(crate) fn program(&self) -> MutexGuard<'_, Program> {
        self.source().program.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns labels and settings of a relayed instance, as its upstream shows them.
    pub(crate) fn relayed_settings(&self) -> Arc<LabelsAndSettings> {
        self.relayed_settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets labels and settings of a relayed instance. Returns whether they have changed.
    pub(crate) fn set_relayed_settings(&self, shown: LabelsAndSettings) -> bool {
        let mut known = self.relayed_settings.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = **known != shown;
        if is_new {
            *known = Arc::new(shown);
        }
        is_new
    }

    /// Returns its loss ledger. Locked for bookkeeping only, never during I/O or with the log's lock.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.source().ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a reader with this delivery until the guard is dropped.
    pub fn register_demand(&self, delivery: Delivery) -> DemandGuard {
        self.demand.register(delivery)
    }

    /// Returns whether another topic has replaced it, because the node came back with another type under the same
    /// name.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Returns whether a reader at this offset has received everything: no sample will follow.
    pub fn ends_at(&self, next: Offset) -> bool {
        // In this order: a relay may append until the moment when it is retired.
        self.is_retired() && next >= self.log.next()
    }

    /// Returns the next sample that readers of the topic before this one wait for, if it had any.
    pub fn continues(&self) -> Option<PortablePosition> {
        self.continues.get().copied()
    }

    /// Returns whether it has readers, or readers will continue here with samples that the topic before it did not have. Call this
    /// before it is retired: its readers leave it at once.
    pub(crate) fn is_awaited(&self) -> bool {
        self.demand.has_readers() || (self.continues().is_some() && self.log.latest().is_none())
    }

    /// Lets it continue where a topic ends that it replaces, and that was [awaited](Instance::is_awaited): `known` is its last sample, if
    /// its log has none.
    pub(crate) fn continue_after(&self, replaced: &Self, known: Option<&StoredRun>) {
        let header = |segment: Arc<Segment>| Some((segment.run(), Header::parse(segment.batch()).ok()?));
        let newest = replaced.log.latest().and_then(header);
        let newest = newest.map(|(run, header)| (run, header.first_sequence + u64::from(header.count)));
        let newest = newest.map(|(run, sequence)| PortablePosition { run, sequence });
        let stored = |known: &StoredRun| PortablePosition {
            run: known.run,
            sequence: known.last_sequence.saturating_add(1),
        };
        if let Some(next) = newest.or(replaced.continues()).or(known.map(stored)) {
            // Only the one that creates the instance calls this.
            let _ = self.continues.set(next);
        }
    }

    /// Connects a relayed instance with its upstream.
    pub(crate) fn relay_by(&self, ways: &Ways) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = Some(ways.questions.clone());
        self.demand.relay_to(ways.wanted.clone());
    }

    /// Returns where questions about the past go; none if the instance is not relayed.
    pub(crate) fn upstream(&self) -> Option<mpsc::Sender<ForwardedQuestion>> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Retires the instance: no sample will follow.
    pub(crate) fn retire(&self) {
        self.log.close();
        if !self.retired.swap(true, Ordering::AcqRel) {
            self.log.wake_readers();
            self.demand.set_range(None);
        }
    }

    /// Sets the state. Returns whether it has changed.
    pub(crate) fn set_state(&self, state: InstanceState) -> bool {
        let mut current = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, state) != state
    }
}
