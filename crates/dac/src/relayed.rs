//! What the DAC knows of nodes of other DACs, which it relays: the way of their samples, and where their commands and questions go.

mod past;

pub use past::{ForwardedQuestion, PastMessage, PastQuestion, PastStart, Question};

use crate::request::ForwardedCommand;
use oasis_channel::Failure;
use oasis_wire::quantity::{Epoch, TopicId};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::mpsc;

/// DACs on the way of a sample; a node that came through more is refused.
pub const MOST_HOPS: usize = 8;

/// A DAC on the way of a relayed sample, and what the next one knows of its clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Its name, or its address if it has none.
    pub dac: String,
    /// Its life.
    pub epoch: Epoch,
    /// Clock of the next DAC minus its clock, nanoseconds; absent until measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// Round trip of that measurement, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<u64>,
}

/// What a node has while an upstream lists it.
#[derive(Debug, Clone)]
pub(crate) struct Relayed {
    /// Number of the upstream.
    pub upstream: u64,
    /// Whether it is connected there, and the upstream here.
    pub is_online: bool,
    /// The DACs on the way, the home of the node first.
    pub path: Arc<[Hop]>,
    /// Takes commands for it.
    pub commands: mpsc::Sender<ForwardedCommand>,
}

/// Why an upstream cannot list a node or an instance.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    /// The node is connected to this DAC, or known through another upstream that has the better claim.
    #[error("node {0:?} is known from elsewhere")]
    Elsewhere(String),
    /// This DAC is on the way of its samples already.
    #[error("samples of node {0:?} have come from this DAC: relaying them would never end")]
    Loop(String),
    /// Too many DACs are on the way.
    #[error("samples of node {0:?} pass more than {MOST_HOPS} DACs")]
    TooFar(String),
    /// The registry has no room.
    #[error("{}", .0.message)]
    Refused(Failure),
}

/// Where instances tell their upstream what their readers want.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// Topics whose readers want something else.
    pub wanted: mpsc::UnboundedSender<TopicId>,
    /// Questions about the past.
    pub questions: mpsc::Sender<ForwardedQuestion>,
}

/// Why upstreams are not reached, by their names.
#[derive(Debug, Default)]
pub struct UpstreamProblems(Mutex<BTreeMap<String, String>>);

impl UpstreamProblems {
    /// Reports why an upstream is not reached, or that it is.
    pub fn set_problem(&self, upstream: &str, problem: Option<String>) {
        let mut problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            Some(problem) => drop(problems.insert(upstream.to_owned(), problem)),
            None => drop(problems.remove(upstream)),
        }
    }

    /// Returns all problems.
    pub fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
