//! The handler's state, for the API.

use oasis_handler::Reach;
use oasis_wire::loss::Cause;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Whether samples reach NATS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The server was not reached yet.
    #[default]
    Connecting,
    /// Samples are copied.
    Copying,
    /// The server is unreachable, or refuses; the handler retries.
    Failing,
}

/// State of the handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Whether samples reach NATS.
    #[serde(flatten)]
    pub reach: Reach<Condition>,
    /// Samples that JetStream has acknowledged.
    pub copied: u64,
    /// Messages that JetStream has acknowledged.
    pub messages: u64,
    /// Messages that were sent again because no acknowledgement came.
    pub retries: u64,
    /// Messages that wait for their acknowledgement.
    pub in_flight: usize,
    /// Bytes of these messages.
    pub in_flight_bytes: usize,
    /// Samples of the topic logs that are not sent yet.
    pub behind: u64,
    /// Samples that are not in the copy, by cause.
    pub lost: BTreeMap<Cause, u64>,
    /// The last of these losses.
    pub loss_detail: Option<String>,
    /// Losses of the connection.
    pub disconnects: u64,
}

/// The shared state. Locked for a few assignments.
#[derive(Debug, Default)]
pub struct SharedState(Mutex<State>);

#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "without a connection nothing happens"))]
impl SharedState {
    /// Locks the state for reading or counting.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts samples that are not in the copy.
    pub fn lose(&self, cause: Cause, samples: u64, detail: String) {
        let mut state = self.lock();
        let is_first = !state.lost.contains_key(&cause);
        *state.lost.entry(cause).or_default() += samples;
        state.loss_detail = Some(detail.clone());
        drop(state);
        if is_first {
            tracing::error!(cause = cause.word(), "samples are not copied to NATS: {detail}");
        }
    }

    /// Records the condition.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let is_new = self.lock().reach.note(condition, detail.clone());
        match detail {
            _ if !is_new => {}
            Some(detail) => {
                tracing::error!(%detail, "cannot copy samples to NATS: retrying, live data continues");
            }
            None => tracing::info!("samples are copied to NATS"),
        }
    }
}
