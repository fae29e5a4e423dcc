//! The handler's state, for the API.

use oasis_handler::Reach;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Whether samples reach DDS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The handler has not joined the domain yet.
    #[default]
    Joining,
    /// Samples are published.
    Publishing,
    /// The system refuses sockets or threads; the handler retries.
    Failing,
}

/// Why samples were not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The topic log evicted them: subscribers did not acknowledge earlier ones in time.
    Lag,
    /// Another type of the same name, with other metrics, has the topic.
    OtherType,
    /// There are too many topics.
    TooManyTopics,
    /// The batch cannot be read, or DDS refused the sample.
    Refused,
}

/// Samples that were not published.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "participant"), allow(dead_code, reason = "without DDS nothing happens"))]
pub struct NotPublished {
    pub cause: Loss,
    pub samples: u64,
    pub detail: String,
}

/// State of the handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Whether samples reach DDS.
    #[serde(flatten)]
    pub reach: Reach<Condition>,
    /// Its domain.
    pub domain: u16,
    /// Subscribers of each topic.
    pub topics: BTreeMap<String, usize>,
    /// Samples that were published.
    pub published: u64,
    /// Samples of the topic logs that are not published yet.
    pub behind: u64,
    /// Bytes that are kept for subscribers, at most.
    pub kept_bytes: usize,
    /// Samples that were not published although there was a subscriber, by cause.
    pub lost: BTreeMap<Loss, u64>,
    /// The last of these losses.
    pub loss_detail: Option<String>,
    /// The last subscriber that asked for what a topic does not offer.
    pub incompatible: Option<String>,
}

/// The shared state. Locked for a few assignments.
#[derive(Debug, Default)]
pub struct SharedState(Mutex<State>);

#[cfg_attr(not(feature = "participant"), allow(dead_code, reason = "without DDS nothing happens"))]
impl SharedState {
    /// Locks the state for reading or counting.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts samples that were not published.
    pub fn lose(&self, NotPublished { cause, samples, detail }: NotPublished) {
        let mut state = self.lock();
        let is_first = !state.lost.contains_key(&cause);
        *state.lost.entry(cause).or_default() += samples;
        state.loss_detail = Some(detail.clone());
        drop(state);
        if is_first {
            tracing::error!(?cause, "samples are not published on DDS: {detail}");
        }
    }

    /// Records the condition.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let is_new = self.lock().reach.note(condition, detail.clone());
        match detail {
            _ if !is_new => {}
            Some(detail) => {
                tracing::error!(%detail, "cannot publish on DDS: retrying, live data continues");
            }
            None => tracing::info!("samples are published on DDS"),
        }
    }
}
