//! The data acquisition and controller: takes samples in, keeps the newest of them, and passes commands back.
//!
//! In the order a sample passes: [`ingest`] reads frames from a node's socket, a [`session::NodeSession`] checks them and asks the
//! instance's [`ledger`](Ledger) whether they are new, the instance's [`TopicLog`] keeps them, and a [`Cursor`] reads them out
//! again. The [`Registry`] knows who is there; the [`CommandBus`] goes the other way.
//!
//! It must not know how readers are written to: that is the doors' business.

mod admission;
pub mod commands;
pub mod config;
mod cursor;
pub mod datagrams;
mod delivery;
mod demand;
mod derived;
pub mod ingest;
mod instance;
mod ledger;
mod log;
mod newest;
mod node;
mod raised;
mod registry;
mod reorder;
mod segment;
pub mod session;
mod signal;
mod steering;
mod texts;
mod turn;

pub use admission::{Admission, AdmissionCounters};
pub use commands::{CommandBus, CommandError, Wish};
pub use cursor::{Cursor, From};
pub use delivery::{Delivery, NotADelivery, NotAnOverflow, Options, Overflow};
pub use demand::{Asking, Demand, Followed};
pub use derived::{DeriveError, Derived};
pub use instance::Instance;
pub use ledger::{Cause, Gap, Ledger, NodeCounters, Verdict};
pub use log::{LogBudget, LogState, Read, TopicLog};
pub use node::{Link, Node};
pub use raised::Raised;
pub use registry::{Registry, Remembered, Stored, StoredNode};
pub use segment::{Packets, Segment};
pub use signal::{Signal, Wake};
pub use texts::Form;
pub use turn::{SkipCause, Skipped, Turn};

/// What `raised` stands on, so that its model can put something else there.
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

/// Name and version, as peers see it.
pub const SOFTWARE: &str = concat!("oasis ", env!("CARGO_PKG_VERSION"));

/// Bounds and addresses of a DAC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `[log]`
    pub log: LogConfig,
    /// `[channel]`
    pub channel: ChannelConfig,
}

/// One DAC: what its sessions and doors share.
#[derive(Debug)]
pub struct Dac {
    /// Bounds.
    pub config: Config,
    /// Nodes and instances.
    pub registry: Registry,
    /// Commands to nodes.
    pub commands: CommandBus,
    /// Counters of the data channel.
    pub admission: Admission,
    /// Batches that come by UDP.
    pub datagrams: datagrams::Datagrams,
    /// Memory of all topic logs.
    pub budget: Arc<LogBudget>,
    /// Streams thinned for their readers.
    pub derived: Arc<Derived>,
    epoch: Epoch,
    sessions: AtomicU64,
    /// Whether nodes are let go.
    ending: watch::Sender<bool>,
}

impl Dac {
    /// A DAC with a new epoch.
    pub fn new(config: Config) -> Arc<Self> {
        // The clock tells lives apart that follow each other, the random part those of a host whose clock was set back.
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
            ending: watch::Sender::new(false),
            config,
        });
        steering::start(&dac, to_steer);
        dac
    }

    /// The life of this DAC's topic logs.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Takes no more samples: closes the channels of all nodes, and returns when each is closed. What they have not delivered they keep.
    pub async fn release_nodes(&self) {
        self.ending.send_replace(true);
        self.admission.wait_until_empty().await;
    }

    /// Completes once nodes are let go.
    pub(crate) async fn ended(&self) {
        // An error would mean that there is no `Dac` left, and here is one.
        let _ = self.ending.subscribe().wait_for(|&ending| ending).await;
    }

    /// Lets go of samples that are older than `log.topic_seconds`.
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

/// The DAC's clock.
pub fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}
