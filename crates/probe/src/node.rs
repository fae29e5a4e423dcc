//! The EI node: gathers the probes of one application context and keeps them connected to a DAC.

use crate::{
    collector::{self, Order},
    instance::{Batching, Instance, Source},
    outbox::Outbox,
    ring::{self, PushedProbe, RowProbe},
    schedule::Schedule,
    shipper::{self, Announcement},
};
use oasis_channel::{Connector, InstanceState, NodeIdentity, ProbeKind, RegisteredInstance};
use oasis_wire::{batch::Encoder, quantity::Hertz, sample::Sample, schema::ProbeType, value::RowWriter};
use std::{
    io,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// A probe that the node calls at a rate.
pub trait Probe: Send + 'static {
    /// The type the PDL declares.
    type Sample: Sample;

    /// Measures. An error is reported once; the node tries again at the probe's rate.
    fn sample(&mut self) -> io::Result<Self::Sample>;
}

/// Bounds of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Most bytes of batches that wait for the DAC or for its acknowledgement; beyond it the oldest unsent are dropped and counted.
    pub spool_bytes: usize,
    /// Most samples in one batch, 1 to 65,535.
    pub batch_samples: usize,
    /// How long a sample of a busy stream waits for others; an idle stream's sample leaves at once.
    pub linger: Duration,
    /// Identity over lives; derived from host and name when absent.
    pub uuid: Option<Uuid>,
    /// Whether probes whose type says `rate(demand, …)` leave their rate to those who read them; otherwise each keeps the rate it was added with.
    pub demand: bool,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            spool_bytes: 16 * 1024 * 1024,
            batch_samples: 1_024,
            linger: Duration::from_millis(10),
            uuid: None,
            demand: true,
        }
    }
}

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Two instances of one name.
    #[error("two instances of node {node:?} are named {instance:?}: names are unique within a node")]
    DuplicateInstance {
        /// The node.
        node: String,
        /// The name.
        instance: String,
    },
    /// Generated code that does not fit this library.
    #[error("the schema of probe type {name} cannot be used: {problem}")]
    Schema {
        /// PDL name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The operating system gave no thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

/// A node that has not started yet.
pub struct NodeBuilder {
    name: String,
    config: NodeConfig,
    types: Vec<ProbeType>,
    announced: Vec<RegisteredInstance>,
    instances: Vec<Instance>,
}

/// A running node. Dropping it ends it without waiting for what is unsent; [`Node::shutdown`] waits.
#[derive(Debug)]
pub struct Node {
    orders: mpsc::Sender<Order>,
    outbox: Arc<Outbox>,
    collector: Option<JoinHandle<()>>,
    shipper: Option<JoinHandle<()>>,
}

impl NodeBuilder {
    /// A node without probes. `name` is unique among the nodes of a DAC.
    pub fn new(name: impl Into<String>, config: NodeConfig) -> Self {
        Self { name: name.into(), config, types: Vec::new(), announced: Vec::new(), instances: Vec::new() }
    }

    /// Adds a probe that the node calls.
    pub fn periodic<P: Probe>(
        &mut self,
        name: impl Into<String>,
        hertz: Hertz,
        mut probe: P,
    ) -> Result<&mut Self, NodeError> {
        let sample = move |row: &mut RowWriter<'_>| probe.sample().map(|sample| sample.write(row));
        self.periodic_rows(name, probe_type::<P::Sample>()?, hertz, sample)
    }

    /// As [`NodeBuilder::periodic`], for a probe type known only at run time: `sample` writes the row.
    pub fn periodic_rows(
        &mut self,
        name: impl Into<String>,
        probe_type: ProbeType,
        hertz: Hertz,
        sample: impl FnMut(&mut RowWriter<'_>) -> io::Result<()> + Send + 'static,
    ) -> Result<&mut Self, NodeError> {
        let source = Source::Periodic {
            sample: Box::new(sample),
            hertz,
            schedule: Schedule::new(hertz, Instant::now()),
        };
        self.add(name.into(), probe_type, source, ProbeKind::Periodic)?;
        Ok(self)
    }

    /// Adds a probe that the application flushes, with a ring of `ring_bytes` between them.
    pub fn pushed<S: Sample>(
        &mut self,
        name: impl Into<String>,
        ring_bytes: usize,
    ) -> Result<PushedProbe<S>, NodeError> {
        self.pushed_rows(name, probe_type::<S>()?, ring_bytes).map(PushedProbe::new)
    }

    /// As [`NodeBuilder::pushed`], for a probe type known only at run time.
    pub fn pushed_rows(
        &mut self,
        name: impl Into<String>,
        probe_type: ProbeType,
        ring_bytes: usize,
    ) -> Result<RowProbe, NodeError> {
        let (probe, drain) = ring::ring(ring_bytes);
        self.add(name.into(), probe_type, Source::Pushed(drain), ProbeKind::Pushed)?;
        Ok(probe)
    }

    /// Starts sampling, and connecting.
    pub fn start(self, connector: impl Connector + 'static) -> Result<Node, NodeError> {
        let identity = self.identity();
        let outbox =
            Outbox::new(self.config.spool_bytes, self.instances.iter().map(Instance::progress).collect());
        let announcement = Arc::new(Announcement { identity, types: self.types, instances: self.announced });
        let (orders, inbox) = mpsc::channel();
        let collector = {
            let (instances, outbox) = (self.instances, outbox.clone());
            spawn("oasis-collector", move || collector::run(instances, &inbox, &outbox))?
        };
        let shipper = {
            let (orders, outbox) = (orders.clone(), outbox.clone());
            spawn("oasis-shipper", move || {
                shipper::run(Box::new(connector), &announcement, &orders, &outbox)
            })?
        };
        Ok(Node { orders, outbox, collector: Some(collector), shipper: Some(shipper) })
    }

    fn add(
        &mut self,
        name: String,
        probe_type: ProbeType,
        source: Source,
        kind: ProbeKind,
    ) -> Result<(), NodeError> {
        if self.announced.iter().any(|instance| instance.name == name) {
            return Err(NodeError::DuplicateInstance { node: self.name.clone(), instance: name });
        }
        let encoder = Encoder::new(&probe_type).map_err(|error| NodeError::Schema {
            name: probe_type.name.clone(),
            problem: error.to_string(),
        })?;
        let batching = Batching {
            samples: self.config.batch_samples.clamp(1, u16::MAX.into()),
            bytes: 512 * 1024,
            linger: self.config.linger,
        };
        let instance =
            Instance::new(self.instances.len(), name.clone(), source, encoder, batching, Instant::now());
        let InstanceState { hertz, enabled } = instance.progress().state;
        let follows = self.config.demand && kind == ProbeKind::Periodic;
        self.announced.push(RegisteredInstance {
            name,
            probe_type: probe_type.uuid,
            kind,
            demand: probe_type.demand().filter(|_| follows),
            state: InstanceState { hertz, enabled },
        });
        self.instances.push(instance);
        if self.types.iter().all(|known| known.uuid != probe_type.uuid) {
            self.types.push(probe_type);
        }
        Ok(())
    }

    fn identity(&self) -> NodeIdentity {
        let host = host_name();
        let derived =
            || Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("oasis node {host}/{}", self.name).as_bytes());
        NodeIdentity {
            name: self.name.clone(),
            uuid: self.config.uuid.unwrap_or_else(derived),
            run: Uuid::new_v4(),
            software: concat!("oasis ", env!("CARGO_PKG_VERSION")).into(),
            pid: std::process::id(),
            host,
        }
    }
}

impl Node {
    /// Takes the last samples, sends them, and waits up to two seconds for the DAC to have them.
    pub fn shutdown(mut self) {
        self.stop_collecting();
        self.outbox.with(|held| held.closing = true);
        if let Some(shipper) = self.shipper.take() {
            let _ = shipper.join();
        }
    }

    fn stop_collecting(&mut self) {
        let _ = self.orders.send(Order::Stop);
        if let Some(collector) = self.collector.take() {
            let _ = collector.join();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop_collecting();
        self.outbox.with(|held| held.closing = true);
    }
}

fn probe_type<S: Sample>() -> Result<ProbeType, NodeError> {
    serde_json::from_str(S::SCHEMA)
        .map_err(|error| NodeError::Schema { name: S::NAME.into(), problem: error.to_string() })
}

/// The host's name as the kernel knows it.
pub fn host_name() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = kernel.map(|name| name.trim().to_owned()).or_else(|| std::env::var("HOSTNAME").ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".into())
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(run)
}
