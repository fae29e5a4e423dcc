//! The handler's state, for the API.

use oasis_handler::Reach;
use oasis_http_client::logged_url;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Whether samples reach the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// No request was answered yet.
    #[default]
    Connecting,
    /// Samples are sent.
    Sending,
    /// The server is unreachable, or cannot take samples at present; the handler retries.
    Failing,
    /// The server has refused the last request for good.
    Refused,
}

/// Samples that are not sent, by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NotSent(BTreeMap<&'static str, u64>);

impl NotSent {
    /// Counts samples.
    pub fn count(&mut self, cause: &'static str, samples: u64) {
        if samples > 0 {
            *self.0.entry(cause).or_default() += samples;
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        other.0.into_iter().for_each(|(cause, samples)| self.count(cause, samples));
    }

    /// Returns the sum.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the causes with their counts, as a text.
    pub fn describe(&self) -> String {
        let counts: Vec<String> = self.0.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        counts.join(", ")
    }
}

/// State of the handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SenderState {
    /// Whether samples reach the server.
    #[serde(flatten)]
    pub reach: Reach<Condition>,
    /// Requests that were answered.
    pub requests: u64,
    /// Requests without an answer, and answers after which a request is sent again.
    pub failed_requests: u64,
    /// Samples that the server has taken.
    pub samples: u64,
    /// Values of all series that the server has taken.
    pub values: u64,
    /// Samples that the server has refused.
    pub refused_samples: u64,
    /// Refused samples of requests that were sent again because their answer was unknown: the server may have taken them before.
    pub unconfirmed_samples: u64,
    /// Samples that were not sent, by cause.
    pub not_sent: NotSent,
    /// Instances whose series have ended because their node went offline.
    pub ended_instances: u64,
    /// Samples of the topic logs that are not sent yet.
    pub behind: u64,
    /// Instances that are sent.
    pub instances: u64,
    /// Instances beyond the limit.
    pub omitted_instances: u64,
    /// The last refusal.
    pub last_refusal: Option<String>,
    /// Why the file of positions cannot be written.
    pub state_file_error: Option<String>,
}

/// The shared state. Locked for a few assignments.
#[derive(Debug)]
pub struct SharedState {
    /// The address of the server, for the log.
    url: String,
    state: Mutex<SenderState>,
}

impl SharedState {
    /// Creates the state of a handler that has sent nothing.
    pub fn new(url: &str) -> Self {
        Self { url: logged_url(url).to_owned(), state: Mutex::default() }
    }

    /// Locks the state for reading or counting.
    pub fn lock(&self) -> MutexGuard<'_, SenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the condition.
    pub fn note(&self, condition: Condition, detail: Option<String>) {
        let mut state = self.lock();
        let before = state.reach.condition;
        let is_new = state.reach.note(condition, detail.clone());
        drop(state);
        let url = &self.url;
        match detail {
            _ if !is_new => {}
            Some(detail) => {
                tracing::warn!(url, %detail, "remote write fails (remote_write.url): live data continues");
            }
            None if before == Condition::Connecting => {
                tracing::info!(url, "samples are sent by remote write");
            }
            None => tracing::warn!(url, "samples are sent by remote write again"),
        }
    }
}
