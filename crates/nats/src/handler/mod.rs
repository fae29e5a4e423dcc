//! A handler that copies samples to NATS JetStream as they arrive.
//!
//! The handler reads each topic log from its own position, like every reader, so nothing waits for it. Each batch is a message; a sample is *copied* once
//! JetStream
//! has acknowledged it and all before it of its instance. While NATS is unreachable it keeps only its positions, and counts what the logs evict meanwhile.
//! `docs/guides/copy-samples-to-nats.md` documents the guarantees.
//!
//! In the order of a sample: a `topic` reads the next batches of an instance, `publisher` sends messages until JetStream has them, and `running` repeats
//! this within bounds. Without the feature `client` there is no connection, and settings that ask for one are refused.
//!
//! ```
//! use oasis_handler::{ConfiguredHandler, Handler};
//! use oasis_nats::NatsConfig;
//! use oasis_nats::handler::NatsCopy;
//!
//! assert!(NatsCopy::configured(NatsConfig::default())?.is_none(), "no server is configured");
//! # Ok::<(), oasis_nats::BadTarget>(())
//! ```

#[cfg(feature = "client")]
mod publisher;
#[cfg(feature = "client")]
mod running;
mod state;
// Builds without a connection: its tests run without one too.
#[cfg(any(feature = "client", test))]
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "tests need less of it than a connection"))]
mod topic;

pub use state::{Condition, State};

use crate::{BadTarget, NatsConfig, Target};
use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, StateMetrics};
use serde_json::{Value, json};
use state::SharedState;
use std::sync::Arc;

/// Copies samples to NATS JetStream.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "without a connection there is nothing to copy to")
)]
pub struct NatsCopy {
    config: NatsConfig,
    target: Target,
    shared: Arc<SharedState>,
}

impl ConfiguredHandler for NatsCopy {
    type Config = NatsConfig;
    type Handler = Self;
    type Error = BadTarget;

    fn configured(config: NatsConfig) -> Result<Option<Self>, BadTarget> {
        let target = Target::new(&config)?.filter(|_| config.copy);
        Ok(target.map(|target| Self { config, target, shared: Arc::default() }))
    }
}

impl NatsCopy {
    /// Returns how many samples it has copied, and how it is.
    pub fn report(&self) -> State {
        self.shared.lock().clone()
    }
}

impl Handler for NatsCopy {
    fn name(&self) -> &'static str {
        "nats"
    }

    #[cfg(feature = "client")]
    fn run(&self, context: Context) -> Result<(), Failure> {
        running::run(&self.config, &self.target, &self.shared, context)
    }

    #[cfg(not(feature = "client"))]
    fn run(&self, _: Context) -> Result<(), Failure> {
        Err(Failure(BadTarget::NotBuilt.to_string()))
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        (state.reach.condition == Condition::Failing).then(|| state.reach.detail.clone().unwrap_or_default())
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        let lost: u64 = state.lost.values().sum();
        let sentence = |detail: &String| format!("{lost} samples are not in the copy: {detail}");
        (lost > 0).then(|| state.loss_detail.as_ref().map(sentence)).flatten().into_iter().collect()
    }

    fn state(&self) -> Value {
        json!(self.report())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &["copied", "messages", "retries", "lost{cause}", "disconnects"],
            gauges: &["in_flight", "in_flight_bytes", "behind"],
        }
    }
}
