//! Nodes of other DACs, which the DAC relays: the way of their samples, and the receivers of their commands and questions.

mod past;

pub use past::{ForwardedQuestion, PastMessage, PastQuestion, PastStart, Question};

use crate::{request::ForwardedCommand, settings::LabelMap};
use oasis_channel::Failure;
use oasis_wire::quantity::{Epoch, TopicId};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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

/// State of a node while an upstream lists it.
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
    /// Its labels there.
    pub labels: Arc<LabelMap>,
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

/// Channels in which instances report the demand of their readers to their upstream.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// Topics whose readers want something else.
    pub wanted: mpsc::UnboundedSender<TopicId>,
    /// Questions about the past.
    pub questions: mpsc::Sender<ForwardedQuestion>,
}

/// Which upstreams are relayed, and why others are not, by their names.
#[derive(Debug, Default)]
pub struct UpstreamStates(Mutex<States>);

#[derive(Debug, Default)]
struct States {
    problems: BTreeMap<String, String>,
    relayed: BTreeSet<String>,
    /// Whether the DAC has nothing else to serve.
    are_all: bool,
}

impl UpstreamStates {
    /// Notes that the DAC serves nothing but upstreams: without any it does not work.
    pub fn set_all(&self) {
        self.lock().are_all = true;
    }

    /// Reports why an upstream is not relayed, or that there is nothing to say of it any more.
    pub fn set_problem(&self, upstream: &str, problem: Option<String>) {
        let mut states = self.lock();
        states.relayed.remove(upstream);
        states.set_problem(upstream, problem);
    }

    /// Reports that an upstream is relayed, and perhaps why not all of it is.
    pub fn set_relayed(&self, upstream: &str, problem: Option<String>) {
        let mut states = self.lock();
        states.relayed.insert(upstream.to_owned());
        states.set_problem(upstream, problem);
    }

    /// Returns all problems.
    pub fn problems(&self) -> Vec<String> {
        self.lock().problems.values().cloned().collect()
    }

    /// Returns why a relay is of no use: none of its upstreams is relayed.
    pub fn outage(&self) -> Option<String> {
        let states = self.lock();
        let is_outage = states.are_all && states.relayed.is_empty();
        let first = states.problems.values().next().filter(|_| is_outage)?;
        Some(format!("nothing is relayed: {first}"))
    }

    fn lock(&self) -> MutexGuard<'_, States> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl States {
    fn set_problem(&mut self, upstream: &str, problem: Option<String>) {
        match problem {
            Some(problem) => drop(self.problems.insert(upstream.to_owned(), problem)),
            None => drop(self.problems.remove(upstream)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_of_no_use_while_none_of_its_upstreams_is_relayed() {
        let states = UpstreamStates::default();
        let problem = || Some("it does not answer".to_owned());
        states.set_problem("hall-1", problem());
        assert_eq!(states.outage(), None, "a DAC has nodes of its own");
        states.set_all();
        assert_eq!(states.outage().as_deref(), Some("nothing is relayed: it does not answer"));
        states.set_relayed("hall-2", None);
        assert_eq!((states.outage(), states.problems().len()), (None, 1));
        states.set_relayed("hall-2", Some("one node is not relayed".into()));
        assert_eq!((states.outage(), states.problems().len()), (None, 2));
        states.set_problem("hall-2", None);
        assert!(states.outage().is_some());
    }
}
