//! The DAC (data acquisition and controller): receives samples, keeps the newest of them in memory, and sends
//! commands to nodes.
//!
//! In the order a sample passes: [`ingest`] reads frames from a node's socket. A [`session::NodeSession`] checks them
//! and asks the instance's [`ledger`](Ledger) whether they are new. The instance's [`TopicLog`] keeps them, and a
//! [`Cursor`] reads them. The [`Registry`] lists nodes and instances. The [`CommandBus`] carries commands in the
//! other direction.
//!
//! This crate knows nothing of how samples reach readers: that is the task of the doors.

mod admission;
pub mod commands;
pub mod config;
mod cursor;
pub mod datagrams;
mod delivery;
mod demand;
mod derived;
mod encodings;
pub mod ingest;
mod instance;
mod ledger;
mod log;
mod newest;
mod node;
mod registry;
mod reorder;
mod segment;
pub mod session;
mod signal;
mod steering;
mod turn;
mod wake_flag;

pub use admission::{Admission, AdmissionCounters};
pub use commands::{CommandBus, CommandError, ProbeRequest};
pub use cursor::{Cursor, StartAt};
pub use delivery::{Delivery, DeliveryError, Options, Overflow, OverflowError};
pub use demand::{Demand, DemandGuard, DemandState};
pub use derived::{DeriveError, Derived};
pub use encodings::EncodingId;
pub use instance::Instance;
pub use ledger::{Gap, Ledger, NodeCounters, Verdict};
pub use log::{LogBudget, LogState, Read, TopicLog};
pub use node::{Link, Node};
pub use registry::{Registry, RestoreCounts, StoredInstance, StoredNode};
pub use segment::{Pieces, Segment};
pub use signal::{Signal, Wake};
pub use turn::{Skipped, Turn};
pub use wake_flag::WakeFlag;

/// The atomics that `wake_flag` uses, so that its model can substitute others.
mod atomic {
    pub use std::sync::atomic::{AtomicBool, Ordering};
}

use config::{ChannelConfig, LogConfig};
use oasis_wire::quantity::{Epoch, Nanos};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};
use tokio::sync::{mpsc, watch};

/// Name and version, as peers see them.
pub const SOFTWARE: &str = concat!("oasis ", env!("CARGO_PKG_VERSION"));

/// Configuration of a DAC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `[log]`
    pub log: LogConfig,
    /// `[channel]`
    pub channel: ChannelConfig,
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
    /// Admission to the data channel, with its counters.
    pub admission: Admission,
    /// Routes of batches that arrive by UDP.
    pub datagrams: datagrams::Datagrams,
    /// Memory budget of all topic logs.
    pub budget: Arc<LogBudget>,
    /// Derived streams, with fewer samples than their base.
    pub derived: Arc<Derived>,
    epoch: Epoch,
    sessions: AtomicU64,
    /// True once the nodes are being released.
    releasing: watch::Sender<bool>,
}

impl Dac {
    /// Creates a DAC with a new epoch.
    pub fn new(config: Config) -> Arc<Self> {
        // The clock separates consecutive runs; the random part separates runs of a host whose clock was set back.
        let epoch = Epoch(now().0 ^ (uuid::Uuid::new_v4().as_u64_pair().0 & 0xffff));
        let budget = LogBudget::new(config.log.topic_bytes, config.log.total_bytes);
        let linger = Duration::from_millis(config.log.derived_linger_ms);
        let (steer, to_steer) = mpsc::unbounded_channel();
        let dac = Arc::new(Self {
            registry: Registry::new(epoch, &config.channel, budget.clone(), steer),
            commands: CommandBus::default(),
            admission: Admission::new(config.channel.max_connections),
            datagrams: datagrams::Datagrams::default(),
            derived: Derived::new(config.log.derived_streams, linger, budget.clone()),
            budget,
            epoch,
            sessions: AtomicU64::new(0),
            releasing: watch::Sender::new(false),
            config,
        });
        steering::start(&dac, to_steer);
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

    /// Evicts samples that are older than `log.topic_seconds`.
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

/// Returns the time of the DAC's clock.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}
