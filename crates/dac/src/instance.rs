//! A probe instance: what the DAC knows of it, its topic's log and its ledger.

use crate::{
    Delivery,
    demand::{Asking, Demand},
    ledger::Ledger,
    log::TopicLog,
};
use oasis_channel::{InstanceState, ProbeKind, RegisteredInstance};
use oasis_wire::{quantity::TopicId, schema::ProbeType};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::mpsc;

/// A probe instance: its type, its state, its log, its ledger.
#[derive(Debug)]
pub struct Instance {
    /// Its number for this epoch.
    pub topic: TopicId,
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub name: Arc<str>,
    /// Its type.
    pub probe_type: Arc<ProbeType>,
    /// Bytes of its type's schema.
    pub(crate) schema_bytes: usize,
    /// Who decides when a sample is taken.
    pub kind: ProbeKind,
    /// Its samples.
    pub log: TopicLog,
    state: Mutex<InstanceState>,
    ledger: Mutex<Ledger>,
    /// What its readers ask for, those of streams derived from it included.
    pub demand: Arc<Demand>,
    retired: AtomicBool,
    /// Which samples of the base these are; `every` where there is none.
    pub delivery: Delivery,
    /// Whose samples it has, if it is a derived stream.
    base: Option<Arc<Instance>>,
}

impl Instance {
    /// An instance under these names of node and instance.
    pub(crate) fn new(
        topic: TopicId,
        (node, name): &(Arc<str>, Arc<str>),
        announced: RegisteredInstance,
        probe_type: Arc<ProbeType>,
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
            schema_bytes,
            kind: announced.kind,
            log,
            state: Mutex::new(announced.state),
            ledger: Mutex::default(),
            demand: Demand::new(topic, range, steer),
            retired: AtomicBool::new(false),
            delivery: Delivery::Every,
            base: None,
        }
    }

    /// A stream derived from another instance: its own topic, type and log, everything else from there.
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
            probe_type,
            schema_bytes: 0,
            kind: base.kind,
            log,
            state: Mutex::new(base.state()),
            ledger: Mutex::default(),
            demand: base.demand.clone(),
            retired: AtomicBool::new(false),
            delivery,
            base: Some(base.clone()),
        }
    }

    /// The instance that the node registered: itself, unless it is a derived stream.
    pub fn source(&self) -> &Self {
        self.base.as_deref().unwrap_or(self)
    }

    /// Rate and whether it runs.
    pub fn state(&self) -> InstanceState {
        *self.source().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its loss ledger. Held for bookkeeping only, never across I/O or the log's lock.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.source().ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a reader with this delivery, as long as what is returned lives.
    pub fn ask(&self, delivery: Delivery) -> Asking {
        self.demand.ask(delivery)
    }

    /// Whether another topic has taken its place, because the node came back with another type under the same name.
    pub fn retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// No sample will follow.
    pub(crate) fn retire(&self) {
        if !self.retired.swap(true, Ordering::AcqRel) {
            self.log.raise_readers();
            self.demand.follow(None);
        }
    }

    /// Takes a state; says whether it is another one.
    pub(crate) fn set_state(&self, state: InstanceState) -> bool {
        let mut held = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, state) != state
    }
}
