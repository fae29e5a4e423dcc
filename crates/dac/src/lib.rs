//! The DAC (data acquisition and controller): receives samples, keeps the newest of them in memory, and sends
//! commands to nodes.
//!
//! In the order a sample passes: [`ingest`] reads frames from a node's socket. A [`session::NodeSession`] checks them
//! and asks the instance's [`ledger`](Ledger) whether they are new. The instance's [`TopicLog`] keeps them, and a
//! [`Cursor`] reads them. The [`Registry`] lists nodes and instances. The [`CommandBus`] carries commands in the
//! other direction.
//!
//! This crate knows nothing of how samples reach readers: that is the task of the doors.
//!
//! ```
//! use oasis_channel::{InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame};
//! use oasis_dac::{Config, Cursor, Dac, StartAt, now, session::NodeSession};
//! use oasis_wire::{batch::{Batch, Encoder, Fields}, probe_kind::ProbeKind, schema::ProbeType, value::{RowWriter, Value}};
//! use std::sync::Arc;
//! use uuid::Uuid;
//!
//! let tank: ProbeType = serde_json::from_str(r#"{
//!     "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [{"name": "level", "type": "real64", "unit": "m"}]
//! }"#)?;
//!
//! // A node says hello and registers its tank. `ingest` reads such frames from a socket.
//! let dac = Dac::new(Config::default());
//! let mut session = NodeSession::new(dac.clone(), tokio::sync::mpsc::channel(1).0);
//! let node = NodeIdentity {
//!     name: "plant".into(), uuid: Uuid::nil(), run: Uuid::nil(), host: "host".into(), software: "example".into(), pid: 1,
//! };
//! let instance = RegisteredInstance {
//!     name: "tank".into(), probe_type: tank.uuid, kind: ProbeKind::Pushed, demand: None, declared: None,
//!     state: InstanceState { hertz: None, enabled: true, recorder: None },
//! };
//! let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false };
//! let register = NodeMessage::Register { types: vec![tank.clone()], instances: vec![instance] };
//! let mut answers = Vec::new();
//! for message in [hello, register] {
//!     session.handle(Frame::Control(&serde_json::to_vec(&message)?), now(), &mut answers)?;
//! }
//!
//! // Its first sample arrives,
//! let tank = dac.registry.find("plant", "tank").ok_or("it is registered")?;
//! let (mut row, mut batch) = (Vec::new(), Vec::new());
//! RowWriter::new(&mut row).f64(2.5);
//! let mut encoder = Encoder::new(&tank.probe_type)?;
//! encoder.push(now().0, &row)?;
//! let fields = Fields { topic: tank.topic.0, state: 0, first_sequence: 1, node_time: now().0, dropped_before: 0 };
//! encoder.finish(fields, &mut batch);
//! session.handle(Frame::Batch(&batch), now(), &mut answers)?;
//!
//! // and a reader finds it in the topic log.
//! let (mut cursor, _) = Cursor::new(tank.clone(), StartAt::Earliest, &Arc::default());
//! let read = cursor.read(64 * 1024);
//! let batch = Batch::parse(read.segments[0].batch(), &tank.probe_type)?;
//! assert_eq!(batch.samples().next().map(|sample| sample.values), Some(vec![Value::Real64(2.5)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod ahead;
mod audit;
mod backlog;
pub mod commands;
pub mod config;
mod cursor;
pub mod datagrams;
mod delivery;
mod demand;
mod derived;
mod draining;
mod encodings;
mod identity;
pub mod ingest;
mod instance;
mod keeping;
mod ledger;
pub mod listener;
mod log;
mod log_limit;
mod memory;
mod moment;
mod newest;
mod node;
mod own_nodes;
mod registry;
mod relayed;
mod reorder;
mod repeats;
mod request;
mod schema_hash;
mod segment;
pub mod session;
pub mod settings;
mod shard_meter;
mod signal;
mod standing;
mod steering;
mod turn;
mod upstream;
mod url_list;
mod wake_flag;

pub use admission::{Admission, AdmissionCounters, PeerLine};
pub use ahead::{Ahead, NO_OFFSET};
pub use audit::Audit;
pub use backlog::Backlog;
pub use commands::{Author, CommandBus};
pub use cursor::{Cursor, StartAt};
pub use delivery::{Delivery, DeliveryError, Options, Overflow, OverflowError};
pub use demand::{Demand, DemandGuard, DemandState, UpstreamDemand};
pub use derived::{DeriveError, DerivedStreams};
pub use draining::Draining;
pub use encodings::EncodingId;
pub use identity::{NodeGuard, RefusedNode, RefusedNodes};
pub use instance::Instance;
pub use keeping::{Keeping, Stores};
pub use ledger::{CameAfterAll, DurableStore, Gap, GapRoom, Ledger, NodeCounters, UpstreamLedger, Verdict};
pub use log::{LogBudget, LogState, Read, TopicLog};
pub use log_limit::{LeftOut, LogLimit};
pub use memory::{HeldMemory, MemoryAccount};
pub use moment::{Moment, now};
pub use node::{Link, MeasuredClock, Moved, Node};
pub use own_nodes::OwnNodes;
pub use registry::{
    Evicted, Follower, NodeHome, Registry, RegistryCursor, RegistryDelta, RestoreCounts, StillConnected,
};
pub use relayed::{
    ForwardedQuestion, Hop, MOST_HOPS, PastMessage, PastQuestion, PastStart, Question, RelayError,
    UpstreamStates,
};
pub use request::{CommandError, ForwardedCommand, NamedRequest};
pub use schema_hash::{SchemaHash, SchemaHashError};
pub use segment::{Pieces, Segment};
pub use shard_meter::{Seat, ShardFigures, ShardMeter, ShardMeters};
pub use signal::{Signal, Wake};
pub use standing::Standing;
pub use turn::{SkippedRange, Turn};
pub use upstream::{RelayedNode, Upstream, UpstreamEvents};
pub use wake_flag::WakeFlag;

/// The atomics that `wake_flag` uses, so that its model can substitute others.
mod atomic {
    pub use std::sync::atomic::{AtomicBool, Ordering};
}

use config::{ChannelConfig, LogConfig};
use listener::Gate;
use oasis_health::Health;
use oasis_wire::quantity::{Epoch, Nanos};
use settings::Settings;
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{mpsc, watch};

/// Name and version, as peers see them.
pub const SOFTWARE: &str = concat!("oasis ", env!("CARGO_PKG_VERSION"));

/// Configuration of a DAC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Limit for all memory that peers can cause, in bytes. Shares of it limit logs, schemas, messages and answers.
    pub memory_bytes: usize,
    /// `[log]`
    pub log: LogConfig,
    /// `[channel]`
    pub channel: ChannelConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self { memory_bytes: DEFAULT_MEMORY, log: LogConfig::default(), channel: ChannelConfig::default() }
    }
}

/// Default of `memory_bytes`: 2 GiB.
pub const DEFAULT_MEMORY: usize = 2 * 1024 * 1024 * 1024;

impl Config {
    /// Limit of all topic logs: at most half of the memory.
    fn log_bytes(&self) -> usize {
        self.log.total_bytes.min(self.memory_bytes / 2)
    }

    /// Limit of all schemas: at most an eighth of the memory.
    fn schema_bytes(&self) -> usize {
        self.channel.max_schema_bytes.min(self.memory_bytes / 8)
    }
}

/// One DAC: the state that sessions and doors share.
#[derive(Debug)]
pub struct Dac {
    /// Bounds and addresses.
    pub config: Config,
    /// Nodes and instances.
    pub registry: Registry,
    /// Commands to nodes.
    pub commands: CommandBus,
    /// Labels, and settings that are kept for the next runs of nodes.
    pub settings: Arc<Settings>,
    /// Admission to the data channel, with its counters.
    pub admission: Admission,
    /// Limits the connections of the data channel by address.
    pub(crate) gate: Gate,
    /// Names of the DAC's own nodes. Whoever makes one reserves its name before others can connect.
    pub own_nodes: OwnNodes,
    /// Nodes that were refused for what they claimed to be.
    pub refused_nodes: RefusedNodes,
    /// Routes of batches that arrive by UDP.
    pub datagrams: datagrams::Datagrams,
    /// Memory budget of all topic logs.
    pub budget: Arc<LogBudget>,
    /// Messages of nodes that are not complete yet: at most a sixteenth of the memory.
    pub(crate) partial_messages: Arc<MemoryAccount>,
    /// Batches that nodes sent ahead of their backlogs: at most a sixteenth of the memory.
    pub(crate) ahead_batches: Arc<MemoryAccount>,
    /// Answers of the doors that clients have not read yet: at most an eighth of the memory.
    pub answers: Arc<MemoryAccount>,
    /// Derived streams, with fewer samples than their base.
    pub derived: Arc<DerivedStreams>,
    /// Decides when samples are safe: the archive says here what it stores.
    pub keeping: Keeping,
    /// Why the DACs that this one relays are not reached.
    pub upstreams: UpstreamStates,
    /// Threads and tasks that are watched.
    pub health: Health,
    /// Activity of the threads that write to readers.
    pub shards: ShardMeters,
    /// Counters of clients, for the server. Empty until there is one.
    pub clients: OnceLock<Arc<Admission>>,
    epoch: Epoch,
    sessions: AtomicU64,
    /// True once the nodes are being released.
    releasing: watch::Sender<bool>,
    /// Asks nodes to leave before that.
    pub draining: Arc<Draining>,
}

impl Dac {
    /// Creates a DAC with a new epoch.
    pub fn new(config: Config) -> Arc<Self> {
        // The clock separates consecutive runs; the random part separates runs of a host whose clock was set back.
        let epoch = Epoch(now().0 ^ (uuid::Uuid::new_v4().as_u64_pair().0 & 0xffff));
        let budget = LogBudget::new(config.log.topic_bytes, config.log_bytes());
        let linger = Duration::from_millis(config.log.derived_linger_ms);
        let (steer, to_steer) = mpsc::unbounded_channel();
        let (registered, to_apply) = mpsc::unbounded_channel();
        let settings = Arc::new(Settings::new(registered));
        let dac = Arc::new(Self {
            registry: Registry::new(
                epoch,
                &config.channel,
                config.schema_bytes(),
                budget.clone(),
                steer,
                settings.clone(),
            ),
            commands: CommandBus::default(),
            settings,
            admission: Admission::new(config.channel.max_connections),
            gate: Gate::new("channel", config.channel.max_connections_per_address, config::USUAL_PER_ADDRESS),
            own_nodes: OwnNodes::default(),
            refused_nodes: RefusedNodes::default(),
            datagrams: datagrams::Datagrams::default(),
            derived: DerivedStreams::new(config.log.derived_streams, linger, budget.clone()),
            budget,
            partial_messages: MemoryAccount::new(config.memory_bytes / 16),
            ahead_batches: MemoryAccount::new(config.memory_bytes / 16),
            answers: MemoryAccount::new(config.memory_bytes / 8),
            keeping: Keeping::default(),
            upstreams: UpstreamStates::default(),
            health: Health::default(),
            shards: ShardMeters::default(),
            clients: OnceLock::new(),
            epoch,
            sessions: AtomicU64::new(0),
            releasing: watch::Sender::new(false),
            draining: Arc::default(),
            config,
        });
        steering::start(&dac, to_steer);
        settings::start_applying(&dac, to_apply);
        dac
    }

    /// Identifies this run of the DAC, and so its topic logs.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Stops accepting samples: closes the channels of all nodes and returns once each is closed. Nodes keep the
    /// samples that they have not delivered.
    pub async fn release_nodes(&self) {
        self.releasing.send_replace(true);
        self.admission.wait_until_empty().await;
    }

    /// Completes once the nodes are being released.
    pub(crate) async fn nodes_released(&self) {
        // Fails only if the sender is gone, but `self` owns it.
        let _ = self.releasing.subscribe().wait_for(|&releasing| releasing).await;
    }

    /// Returns whether the nodes are being released: the DAC ends.
    pub fn is_releasing(&self) -> bool {
        *self.releasing.borrow()
    }

    /// Evicts samples of all topics while these exceed `log.total_bytes` together.
    pub(crate) fn shrink_logs(&self) {
        if self.budget.is_exceeded() {
            self.registry.instances().iter().for_each(|instance| instance.log.shrink());
            self.derived.shrink();
        }
    }

    /// Evicts samples that arrived longer ago than `log.topic_seconds`, by the steady clock.
    pub(crate) fn expire(&self, now: Nanos) {
        let age = self.config.log.topic_seconds.saturating_mul(1_000_000_000);
        if age == 0 {
            return;
        }
        let before = Nanos(now.0.saturating_sub(age));
        self.registry.instances().iter().for_each(|instance| instance.log.expire(before));
        self.derived.expire(before);
    }

    fn next_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }
}
