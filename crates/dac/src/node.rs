//! A node as the DAC knows it.

use crate::registry::{Stored, StoredNode};
use oasis_channel::{DacMessage, NodeIdentity, Overhead, REPLAY_PREFIX};
use oasis_wire::quantity::Nanos;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A node as the DAC knows it, connected or not.
#[derive(Debug, Clone)]
pub struct Node {
    /// Who, and which life.
    pub identity: Arc<NodeIdentity>,
    /// When it connected or was lost.
    pub since: Nanos,
    /// When it last said anything.
    pub last_heard: Nanos,
    /// DAC clock minus node clock, in nanoseconds, once the node has measured it.
    pub clock_offset_ns: Option<i64>,
    /// Round trip of that measurement.
    pub round_trip_ns: Option<u64>,
    /// What the instrumentation costs its host, once the node has said so.
    pub overhead: Option<Arc<Overhead>>,
    /// Whether its samples were recorded before and are played back.
    pub is_replay: bool,
    /// Whether it is known from what is stored alone: it has not connected in this life of the DAC. Its process number is 0 then, and what nobody wrote
    /// down of its identity is nil or empty.
    pub is_remembered: bool,
    pub(crate) link: Option<Link>,
}

impl Node {
    /// A node that has just connected.
    pub(crate) fn new(identity: NodeIdentity, link: Link, now: Nanos) -> Self {
        Self {
            identity: Arc::new(identity),
            since: now,
            last_heard: now,
            clock_offset_ns: None,
            round_trip_ns: None,
            overhead: None,
            is_replay: false,
            is_remembered: false,
            link: Some(link),
        }
    }

    /// The node of an instance of which something is stored, and what else is known of it.
    pub(crate) fn remembered(stored: &Stored, known: Option<&StoredNode>) -> Self {
        let identity = NodeIdentity {
            name: stored.node.as_ref().into(),
            uuid: known.map(|node| node.uuid).unwrap_or_default(),
            run: stored.run,
            host: known.map(|node| node.host.clone()).unwrap_or_default(),
            software: known.map(|node| node.software.clone()).unwrap_or_default(),
            pid: 0,
        };
        let last = known.map_or(Nanos(stored.last_time), |node| node.last_seen);
        Self {
            identity: Arc::new(identity),
            since: last,
            last_heard: last,
            clock_offset_ns: None,
            round_trip_ns: None,
            overhead: None,
            is_replay: stored.node.starts_with(REPLAY_PREFIX),
            is_remembered: true,
            link: None,
        }
    }

    /// Whether its channel is open.
    pub fn online(&self) -> bool {
        self.link.is_some()
    }

    /// Takes its estimate of its clock against ours. Says whether readers should hear of it: if it matters for an age on a screen, not
    /// with each microsecond of drift.
    pub(crate) fn note_clock(&mut self, offset_ns: Option<i64>, round_trip_ns: Option<u64>) -> bool {
        let first = self.clock_offset_ns.is_none() && offset_ns.is_some();
        let moved =
            self.clock_offset_ns.zip(offset_ns).is_some_and(|(old, new)| old.abs_diff(new) > 1_000_000);
        if first || moved {
            (self.clock_offset_ns, self.round_trip_ns) = (offset_ns, round_trip_ns);
        }
        first || moved
    }

    /// Takes what it says its instrumentation costs. Says whether readers should hear of it.
    pub(crate) fn note_overhead(&mut self, overhead: Overhead) -> bool {
        let is_news = self.overhead.as_ref().is_none_or(|told| is_news(told, &overhead));
        if is_news {
            self.overhead = Some(Arc::new(overhead));
        }
        is_news
    }
}

/// The way to a connected node.
#[derive(Debug, Clone)]
pub struct Link {
    /// Number of the session that owns it: a session that was replaced must not take its successor offline.
    pub session: u64,
    /// To the node. Bounded; full means that the node does not read.
    pub outbound: mpsc::Sender<DacMessage>,
    /// Whether it has registered.
    pub takes_commands: bool,
}

/// Readers are told of what somebody would do something about, not of each second's noise.
fn is_news(told: &Overhead, is: &Overhead) -> bool {
    let moved = |told: f64, is: f64| (is - told).abs() > 0.001_f64.max(told * 0.2);
    told.budget != is.budget
        || told.lowered != is.lowered
        || moved(told.cpu, is.cpu)
        || moved(told.callbacks, is.callbacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn readers_hear_of_a_cost_that_moved_and_of_every_rate_that_did() {
        let told = Overhead { cpu: 0.01, callbacks: 0.002, ..Overhead::default() };
        let with = |change: fn(&mut Overhead)| {
            let mut is = told.clone();
            change(&mut is);
            is_news(&told, &is)
        };
        assert!(!with(|is| is.cpu = 0.0115));
        assert!(with(|is| is.cpu = 0.0125));
        assert!(!with(|is| is.callbacks = 0.0029));
        assert!(with(|is| is.callbacks = 0.004));
        assert!(with(|is| is.budget = Some(0.1)));
        assert!(with(|is| is.lowered = BTreeMap::from([("processor".into(), 0.5)])));
    }
}
