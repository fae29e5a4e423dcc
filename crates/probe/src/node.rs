//! The EI node: collects samples of the probes of one application context and sends them to a DAC.

use crate::{
    additions::Additions,
    announcement::Announcement,
    batch_builder::{BATCH_BYTES, BatchBuilder, Batching},
    bell::Bell,
    byte_budget::ByteBudget,
    collector,
    deadband::{ChangeFilter, Deadbands, Limits},
    file_spool::{Directory, Journal},
    flight_recorder::{FlightRecorder, MAX_RECORDER_BYTES},
    governor::Importance,
    instance::{Instance, Source},
    node_config::NodeConfig,
    node_error::NodeError,
    orders::{Order, OrderSender},
    outbox::Outbox,
    overflow::{MAX_RING_BYTES, RingConfig},
    process::{self, Process},
    realtime::RealTimeState,
    recorder::Recorder,
    replay,
    ring::{self, Drain, PushedProbe, RowProbe},
    schedule::Schedule,
    shipper::{self, CommandHandling, OnRefusal, Refusals},
    spool::Spool,
    spooler,
    state::ProbeState,
};
use oasis_channel::{Connector, Failure, NodeIdentity, RegisteredInstance, ResumeSecret};
use oasis_wire::{
    batch::Encoder, probe_kind::ProbeKind, quantity::Hertz, sample::Sample, schema::ProbeType,
    value::RowWriter,
};
use std::{
    io, mem,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// A probe that the node calls at a rate.
pub trait Probe: Send + 'static {
    /// The type that the PDL declares.
    type Sample: Sample;

    /// Takes a sample. An error is logged once; the node retries at the probe's rate.
    fn sample(&mut self) -> io::Result<Self::Sample>;

    /// Returns the state of the probe; called after each sample.
    fn state(&self) -> ProbeState {
        ProbeState::NORMAL
    }
}

/// The kind of a pushed probe.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PushedKind {
    /// Measurements: every flushed sample is kept.
    #[default]
    Pushed,
    /// Changes: a flushed sample is kept if a metric has changed by more than its deadband.
    OnChange(Deadbands),
    /// Events. They do not wait for others to share a batch.
    Event,
}

/// Smallest limit of a spool directory: some segments of some batches.
const SMALLEST_DIRECTORY: u64 = 1024 * 1024;
/// Time that a dropped node waits until its last samples are in a file.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// A node that has not started yet.
pub struct NodeBuilder {
    name: String,
    config: NodeConfig,
    types: Vec<ProbeType>,
    announced: Vec<RegisteredInstance>,
    instances: Vec<Instance>,
    bell: Bell,
    second_name: Option<String>,
    on_refusal: Option<OnRefusal>,
}

/// A running node. Dropping it discards unsent samples; with a spool directory, it waits until they are in a file.
/// [`Node::shutdown`] waits for the DAC.
///
/// A child of `fork` has none of its threads. There, it refuses probes with [`NodeError::Forked`], its probes take no
/// samples ([`PushedProbe::is_forked`]), and its end waits for nothing: the child starts a node of its own.
#[derive(Debug)]
pub struct Node {
    process: Process,
    orders: OrderSender,
    outbox: Arc<Outbox>,
    real_time: RealTimeState,
    additions: Additions,
    collector: Option<JoinHandle<()>>,
    shipper: Option<JoinHandle<()>>,
    spooler: Option<JoinHandle<()>>,
}

impl NodeBuilder {
    /// Creates a node without probes. `name` is unique among the nodes of a DAC.
    pub fn new(name: impl Into<String>, config: NodeConfig) -> Self {
        process::count_forks();
        Self {
            name: name.into(),
            config,
            types: Vec::new(),
            announced: Vec::new(),
            instances: Vec::new(),
            bell: Bell::default(),
            second_name: None,
            on_refusal: None,
        }
    }

    /// Sets the name that the node takes if another node has its first one. It suits a default name, such as that of a
    /// program. It is used if the DAC refuses the first one for four seconds, or until the node ends. A node
    /// with a spool directory keeps its first name, which is in its files.
    pub fn second_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.second_name = Some(name.into());
        self
    }

    /// Calls `report` on a thread of the node when a DAC refuses the node for another reason than before.
    pub fn on_refusal(&mut self, report: impl FnMut(&Failure) + Send + 'static) -> &mut Self {
        self.on_refusal = Some(Box::new(report));
        self
    }

    /// Adds a probe that the node calls at a rate.
    pub fn periodic<P: Probe>(
        &mut self,
        name: impl Into<String>,
        hertz: Hertz,
        probe: P,
    ) -> Result<&mut Self, NodeError> {
        self.periodic_rows(name, probe_type::<P::Sample>()?, hertz, None, rows(probe))
    }

    /// Adds a probe that the node calls at a rate. It keeps only samples in which a metric has changed by more than
    /// its deadband.
    pub fn periodic_on_change<P: Probe>(
        &mut self,
        name: impl Into<String>,
        hertz: Hertz,
        deadbands: Deadbands,
        probe: P,
    ) -> Result<&mut Self, NodeError> {
        self.periodic_rows(name, probe_type::<P::Sample>()?, hertz, Some(deadbands), rows(probe))
    }

    /// Adds a probe like [`NodeBuilder::periodic`], or [`NodeBuilder::periodic_on_change`] if there are deadbands.
    /// The probe type is known only at run time: `sample` writes the row.
    pub fn periodic_rows(
        &mut self,
        name: impl Into<String>,
        probe_type: ProbeType,
        hertz: Hertz,
        deadbands: Option<Deadbands>,
        sample: impl FnMut(&mut RowWriter<'_>) -> io::Result<ProbeState> + Send + 'static,
    ) -> Result<&mut Self, NodeError> {
        let name = name.into();
        let limits = limits(&name, &probe_type, deadbands.as_ref())?;
        let source = Source::Periodic {
            sample: Box::new(sample),
            hertz: Some(hertz),
            schedule: Schedule::new(hertz, Instant::now()),
            changes: limits.clone().map(|limits| ChangeFilter::new(limits, 0)),
            not_taken: 0,
        };
        let kind = if limits.is_some() { ProbeKind::OnChange } else { ProbeKind::Periodic };
        self.add(name, probe_type, source, kind, limits)?;
        Ok(self)
    }

    /// Adds a probe that the application flushes. `ring` is the ring between them: its size in bytes, or a
    /// [`RingConfig`].
    pub fn pushed<S: Sample>(
        &mut self,
        name: impl Into<String>,
        ring: impl Into<RingConfig>,
    ) -> Result<PushedProbe<S>, NodeError> {
        self.pushed_rows(name, probe_type::<S>()?, PushedKind::Pushed, ring).map(PushedProbe::new)
    }

    /// Adds a probe that the application flushes. It keeps only samples in which a metric has changed by more than
    /// its deadband.
    pub fn on_change<S: Sample>(
        &mut self,
        name: impl Into<String>,
        deadbands: Deadbands,
        ring: impl Into<RingConfig>,
    ) -> Result<PushedProbe<S>, NodeError> {
        self.pushed_rows(name, probe_type::<S>()?, PushedKind::OnChange(deadbands), ring)
            .map(PushedProbe::new)
    }

    /// Adds a probe that the application flushes on each event.
    pub fn event<S: Sample>(
        &mut self,
        name: impl Into<String>,
        ring: impl Into<RingConfig>,
    ) -> Result<PushedProbe<S>, NodeError> {
        self.pushed_rows(name, probe_type::<S>()?, PushedKind::Event, ring).map(PushedProbe::new)
    }

    /// Adds a probe like [`NodeBuilder::pushed`], [`NodeBuilder::on_change`] and [`NodeBuilder::event`], for a probe
    /// type known only at run time.
    pub fn pushed_rows(
        &mut self,
        name: impl Into<String>,
        probe_type: ProbeType,
        kind: PushedKind,
        ring: impl Into<RingConfig>,
    ) -> Result<RowProbe, NodeError> {
        let name = name.into();
        let pushed = Pushed::new(&name, &probe_type, kind, ring.into(), &self.bell)?;
        self.add(name, probe_type, Source::Pushed(pushed.drain), pushed.kind, pushed.limits)?;
        Ok(pushed.probe)
    }

    /// Returns the names of the instances, in the order they were added.
    pub fn instances(&self) -> impl Iterator<Item = &str> {
        self.announced.iter().map(|instance| instance.name.as_str())
    }

    /// Sets the importance of an added probe when rates must be lowered. The default, 0, is the lowest.
    pub fn importance(&mut self, instance: &str, importance: Importance) -> Result<&mut Self, NodeError> {
        let index = self.index(instance)?;
        self.instances[index].set_importance(importance);
        Ok(self)
    }

    /// Gives an added probe a flight recorder: only its samples around a trigger are sent.
    pub fn record(&mut self, instance: &str, recorder: &FlightRecorder) -> Result<&mut Self, NodeError> {
        let index = self.index(instance)?;
        if recorder.bytes > MAX_RECORDER_BYTES {
            return Err(NodeError::RecorderBytes { instance: instance.into(), bytes: recorder.bytes });
        }
        let announced = &mut self.announced[index];
        let probe_type = self.types.iter().find(|known| known.uuid == announced.probe_type);
        let invalid = |error| NodeError::Recorder { instance: instance.into(), error };
        if let Some(probe_type) = probe_type {
            self.instances[index].record(Recorder::new(probe_type, recorder).map_err(invalid)?);
        }
        announced.state = self.instances[index].progress().state;
        Ok(self)
    }

    /// Lets an added periodic probe sample as fast as the node can, until a command sets a rate. The collector thread then never rests.
    pub fn unlimited(&mut self, instance: &str) -> Result<&mut Self, NodeError> {
        let index = self.index(instance)?;
        let is_periodic = self.instances[index].unlimit(Instant::now());
        self.changed(index, is_periodic)
    }

    /// Lets an added periodic probe take this many samples; then it is disabled. [`Node::is_done`] returns whether all are.
    pub fn flushes(&mut self, instance: &str, count: u64) -> Result<&mut Self, NodeError> {
        let index = self.index(instance)?;
        let is_periodic = self.instances[index].stop_after(count);
        self.changed(index, is_periodic)
    }

    /// Starts an added probe disabled: it takes no samples until a command enables it.
    pub fn disabled(&mut self, instance: &str) -> Result<&mut Self, NodeError> {
        let index = self.index(instance)?;
        self.instances[index].disable();
        self.changed(index, true)
    }

    fn changed(&mut self, index: usize, is_possible: bool) -> Result<&mut Self, NodeError> {
        let announced = &mut self.announced[index];
        if !is_possible {
            return Err(NodeError::NotPeriodic { instance: announced.name.clone() });
        }
        announced.state = self.instances[index].progress().state;
        Ok(self)
    }

    fn index(&self, name: &str) -> Result<usize, NodeError> {
        let unknown = || NodeError::UnknownInstance { node: self.name.clone(), instance: name.into() };
        self.announced.iter().position(|instance| instance.name == name).ok_or_else(unknown)
    }

    /// Starts to sample and to connect.
    pub fn start(mut self, connector: impl Connector + 'static) -> Result<Node, NodeError> {
        if let Some(budget) =
            self.config.overhead_budget.filter(|&budget| !(budget > 0.0 && budget.is_finite()))
        {
            return Err(NodeError::Budget(budget));
        }
        NodeError::check_node_name(&self.name)?;
        self.second_name.iter().try_for_each(|name| NodeError::check_node_name(name))?;
        let process = Process::current();
        self.instances.iter().for_each(|instance| instance.set_home(process));
        let directory = self.directory()?;
        let secret = ResumeSecret::random();
        let identity = self.identity(&self.name, self.config.uuid, secret.run());
        let second = self.second_name.take().filter(|_| directory.is_none());
        let second = second.map(|name| self.identity(&name, None, secret.run()));
        let refusals = Refusals { second, report: self.on_refusal.take() };
        let progress: Vec<_> = self.instances.iter().map(Instance::progress).collect();
        self.announced.iter_mut().zip(&self.instances).for_each(|(announced, instance)| {
            announced.declared = Some(instance.declared());
        });
        let config = self.config;
        let spool_bytes = config.spool_bytes;
        let spool = match &directory {
            Some(_) => Spool::before_a_file(spool_bytes, progress.len()),
            None => Spool::new(spool_bytes, progress.len()),
        };
        let outbox = Outbox::new(spool.for_link(config.max_bytes_per_second), progress);
        let announcement = Arc::new(Announcement {
            identity,
            secret: Some(secret),
            types: self.types,
            instances: self.announced,
        });
        let additions = Additions::to(announcement.clone(), config.clone(), self.bell.clone());
        let bell = self.bell.clone();
        let (orders, inbox) = OrderSender::new(bell.clone());
        let (granted, state) = mpsc::channel();
        let collector = {
            let (instances, budget, outbox) = (self.instances, config.overhead_budget, outbox.clone());
            let (name, wish) = (self.name, config.real_time.clone());
            let may_sleep = !wish.is_polling();
            spawn("oasis-collector", move || {
                // Before any sample is taken; the caller waits for the result.
                let _ = granted.send(wish.apply(&name));
                collector::run(instances, (budget, may_sleep), &inbox, &bell, &outbox);
            })?
        };
        let real_time = state.recv().unwrap_or_default();
        let spooler = match &directory {
            Some(directory) => {
                let journal = Journal::begin(directory.clone(), announcement.clone());
                let outbox = outbox.clone();
                Some(spawn("oasis-spooler", move || spooler::run(&outbox, journal))?)
            }
            None => None,
        };
        let shipper = {
            let (orders, outbox) = (CommandHandling::Pass(orders.clone()), outbox.clone());
            let mut connector = connector;
            spawn("oasis-shipper", move || {
                if let Some(directory) = &directory {
                    replay::all(&mut connector, directory, &config, &outbox);
                }
                let budget = ByteBudget::new(config.max_bytes_per_second);
                shipper::run(&mut connector, &announcement, &orders, &outbox, (budget, refusals));
            })?
        };
        let (collector, shipper) = (Some(collector), Some(shipper));
        Ok(Node { process, orders, outbox, real_time, additions, collector, shipper, spooler })
    }

    fn directory(&self) -> Result<Option<Arc<Directory>>, NodeError> {
        let Some(path) = &self.config.spool_directory else { return Ok(None) };
        let limit = self.config.spool_directory_bytes.max(SMALLEST_DIRECTORY);
        Ok(Some(Arc::new(Directory::open(path, limit)?)))
    }

    fn add(
        &mut self,
        name: String,
        probe_type: ProbeType,
        source: Source,
        kind: ProbeKind,
        limits: Option<Arc<Limits>>,
    ) -> Result<(), NodeError> {
        NodeError::check_name("instance", &name)?;
        NodeError::check_new(&self.name, &name, &probe_type, (&self.announced, &self.types))?;
        let index = self.instances.len();
        let (instance, announced) =
            instance((index, name), &probe_type, (source, kind, limits), &self.config)?;
        self.announced.push(announced);
        self.instances.push(instance);
        if self.types.iter().all(|known| known.uuid != probe_type.uuid) {
            self.types.push(probe_type);
        }
        Ok(())
    }

    fn identity(&self, name: &str, uuid: Option<Uuid>, run: Uuid) -> NodeIdentity {
        let host = host_name();
        let derived = || Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("oasis node {host}/{name}").as_bytes());
        NodeIdentity {
            name: name.into(),
            uuid: uuid.unwrap_or_else(derived),
            run,
            software: concat!("oasis ", env!("CARGO_PKG_VERSION")).into(),
            pid: std::process::id(),
            host,
        }
    }
}

impl Node {
    /// Returns the result of [`NodeConfig::real_time`].
    pub fn real_time(&self) -> &RealTimeState {
        &self.real_time
    }

    /// Adds a probe as [`NodeBuilder::pushed`] does, while the node runs.
    ///
    /// # Errors
    /// As there; also if the node has another schema with the UUID of this type, or this process is a child of its own.
    pub fn pushed<S: Sample>(
        &self,
        name: impl Into<String>,
        ring: impl Into<RingConfig>,
    ) -> Result<PushedProbe<S>, NodeError> {
        self.pushed_rows(name, probe_type::<S>()?, PushedKind::Pushed, ring).map(PushedProbe::new)
    }

    /// Adds a probe as [`NodeBuilder::pushed_rows`] does, while the node runs. It never waits for a DAC: samples are kept
    /// until one has registered the instance.
    ///
    /// # Errors
    /// As [`Node::pushed`].
    pub fn pushed_rows(
        &self,
        name: impl Into<String>,
        probe_type: ProbeType,
        kind: PushedKind,
        ring: impl Into<RingConfig>,
    ) -> Result<RowProbe, NodeError> {
        // Before any lock, which another thread of the parent may have had.
        if self.is_forked() {
            return Err(NodeError::Forked(process::forked()));
        }
        let name = name.into();
        NodeError::check_name("instance", &name)?;
        let Additions { bell, config, .. } = &self.additions;
        let pushed = Pushed::new(&name, &probe_type, kind, ring.into(), bell)?;
        pushed.drain.shared.set_home(self.process);
        let source = (Source::Pushed(pushed.drain), pushed.kind, pushed.limits);
        let make =
            |index, probe_type: &ProbeType| instance((index, name.clone()), probe_type, source, config);
        self.additions.add(&name, probe_type, make, &self.outbox, &self.orders)?;
        Ok(pushed.probe)
    }

    /// Returns whether all probes are disabled, as they are after their [`NodeBuilder::flushes`].
    pub fn is_done(&self) -> bool {
        !self.is_forked()
            && self
                .outbox
                .wait(Duration::ZERO, |held| held.progress.iter().all(|known| !known.state.enabled))
                .1
    }

    /// Returns whether this process is a child of the node's, made by `fork`.
    pub fn is_forked(&self) -> bool {
        !self.process.is_current()
    }

    /// Returns why the DAC that answered last has refused the node, such as `name_taken`. None once a DAC has taken it,
    /// and before any has answered. In a child of the node's process: `forked`.
    pub fn refusal(&self) -> Option<Failure> {
        if self.is_forked() {
            return Some(process::forked());
        }
        self.outbox.with(|held| held.refused.clone())
    }

    /// Returns whether a DAC has taken the node since it started.
    pub fn was_taken(&self) -> bool {
        !self.is_forked() && self.outbox.with(|held| held.was_taken)
    }

    /// Takes the last samples, sends them, and waits up to two seconds until the DAC has them. Returns why the DAC has
    /// refused the node, if it has: then it has not received them. In a child of the node's process it returns `forked` at
    /// once, and changes nothing in the parent's node.
    pub fn shutdown(mut self) -> Option<Failure> {
        if self.is_forked() {
            return self.refusal();
        }
        self.stop_collecting();
        self.outbox.close();
        for thread in [self.shipper.take(), self.spooler.take()].into_iter().flatten() {
            let _ = thread.join();
        }
        self.refusal()
    }

    fn stop_collecting(&mut self) {
        self.orders.send(Order::Stop);
        if let Some(collector) = self.collector.take() {
            let _ = collector.join();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads do not exist here: they can be neither joined nor detached.
            let threads = [self.collector.take(), self.shipper.take(), self.spooler.take()];
            return mem::forget(threads);
        }
        self.stop_collecting();
        self.outbox.close();
        if self.spooler.is_some() {
            drop(self.outbox.wait(LAST_WRITE, |held| !held.spool.is_unsettled()));
        }
    }
}

/// A pushed probe with both sides of its ring.
struct Pushed {
    probe: RowProbe,
    drain: Drain,
    kind: ProbeKind,
    limits: Option<Arc<Limits>>,
}

impl Pushed {
    fn new(
        name: &str,
        probe_type: &ProbeType,
        kind: PushedKind,
        config: RingConfig,
        bell: &Bell,
    ) -> Result<Self, NodeError> {
        let (kind, deadbands) = match kind {
            PushedKind::Pushed => (ProbeKind::Pushed, None),
            PushedKind::OnChange(deadbands) => (ProbeKind::OnChange, Some(deadbands)),
            PushedKind::Event => (ProbeKind::Event, None),
        };
        let limits = limits(name, probe_type, deadbands.as_ref())?;
        let too_large = || NodeError::RingBytes { instance: name.into(), bytes: config.bytes };
        if config.bytes > MAX_RING_BYTES {
            return Err(too_large());
        }
        let (mut probe, drain) = ring::ring(config, limits.clone()).map_err(|_| too_large())?;
        probe.set_bell(bell.clone());
        Ok(Self { probe, drain, kind, limits })
    }
}

/// Creates an instance with this index and name, and how it is registered.
fn instance(
    (index, name): (usize, String),
    probe_type: &ProbeType,
    (source, kind, limits): (Source, ProbeKind, Option<Arc<Limits>>),
    config: &NodeConfig,
) -> Result<(Instance, RegisteredInstance), NodeError> {
    let encoder = Encoder::new(probe_type)
        .map_err(|error| NodeError::Schema { name: probe_type.name.clone(), problem: error.to_string() })?;
    let batching = Batching {
        samples: config.batch_samples.clamp(1, u16::MAX.into()),
        bytes: config.batch_bytes.clamp(1, BATCH_BYTES),
        linger: if kind == ProbeKind::Event { Duration::ZERO } else { config.linger },
    };
    let filling = BatchBuilder::new(index, name.clone(), encoder, batching, Instant::now());
    let mut instance = Instance::new(index, name.clone(), source, limits, filling);
    instance.set_importance(Importance::default());
    let follows = config.demand && kind == ProbeKind::Periodic;
    let announced = RegisteredInstance {
        name,
        probe_type: probe_type.uuid,
        kind,
        demand: probe_type.demand().filter(|_| follows),
        declared: None,
        state: instance.progress().state,
    };
    Ok((instance, announced))
}

/// Wraps a probe as a callback that writes rows.
fn rows<P: Probe>(mut probe: P) -> impl FnMut(&mut RowWriter<'_>) -> io::Result<ProbeState> + Send + 'static {
    move |row| {
        probe.sample()?.write(row);
        Ok(probe.state())
    }
}

/// Creates the deadbands of a probe on change.
fn limits(
    instance: &str,
    probe_type: &ProbeType,
    deadbands: Option<&Deadbands>,
) -> Result<Option<Arc<Limits>>, NodeError> {
    let limits = deadbands.map(|deadbands| Limits::new(probe_type, deadbands)).transpose();
    limits.map_err(|error| NodeError::Deadband { instance: instance.into(), error })
}

fn probe_type<S: Sample>() -> Result<ProbeType, NodeError> {
    serde_json::from_str(S::SCHEMA)
        .map_err(|error| NodeError::Schema { name: S::NAME.into(), problem: error.to_string() })
}

/// Returns the host's name as the kernel knows it.
pub fn host_name() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = kernel.map(|name| name.trim().to_owned()).or_else(|| std::env::var("HOSTNAME").ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".into())
}

pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(run)
}
