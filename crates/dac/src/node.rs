//! A node as the DAC knows it.

use crate::{
    moment::Moment,
    run_owner::RunOwner,
    stored::{StoredInstance, StoredNode},
};
use oasis_channel::{DacMessage, Failure, NodeIdentity, Overhead, REPLAY_PREFIX, ResumeSecret};
use oasis_wire::quantity::Nanos;
use std::{net::IpAddr, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// A node heard within this time, in nanoseconds, is alive: no other node may take its name.
const ALIVE: u64 = 3_000_000_000;

/// A node as the DAC knows it, connected or not.
#[derive(Debug, Clone)]
pub struct Node {
    /// Name, identity and run.
    pub identity: Arc<NodeIdentity>,
    /// When it connected or disconnected.
    pub since: Nanos,
    /// When it last sent anything.
    pub last_heard: Nanos,
    /// The same by the steady clock.
    pub(crate) heard: Nanos,
    /// DAC clock minus node clock, in nanoseconds; none before the first measurement.
    pub clock_offset_ns: Option<i64>,
    /// Round trip of that measurement, in nanoseconds.
    pub round_trip_ns: Option<u64>,
    /// Cost of the instrumentation on its host; none before the first report.
    pub overhead: Option<Arc<Overhead>>,
    /// Whether it replays a recording.
    pub is_replay: bool,
    /// Whether it is known only from the archive and has not connected in this run of the DAC. Its process number is
    /// then 0, and unknown parts of its identity are nil or empty.
    pub is_remembered: bool,
    /// Its address when it connected; unknown for a node without a socket.
    pub(crate) address: Option<IpAddr>,
    pub(crate) link: Option<Link>,
    /// Who may resume the run. Unknown for programs that send no secret, and for archives of earlier versions.
    pub owner: Option<RunOwner>,
    /// Who had the name before, if that was another node that had fallen silent.
    displaced: Option<Displaced>,
}

/// A node whose name another one has taken.
#[derive(Debug, Clone)]
pub(crate) struct Displaced {
    run: Uuid,
    owner: RunOwner,
}

impl Node {
    /// Creates a node that has just connected.
    pub(crate) fn new(
        identity: NodeIdentity,
        secret: Option<ResumeSecret>,
        displaced: Option<Displaced>,
        link: Link,
        now: Moment,
    ) -> Self {
        Self {
            identity: Arc::new(identity),
            since: now.wall,
            last_heard: now.wall,
            heard: now.steady,
            clock_offset_ns: None,
            round_trip_ns: None,
            overhead: None,
            is_replay: false,
            is_remembered: false,
            address: link.address,
            link: Some(link),
            owner: secret.map(RunOwner::of),
            displaced,
        }
    }

    /// Creates the node of an archived instance, with what else the archive contains of it.
    pub(crate) fn remembered(stored: &StoredInstance, known: Option<&StoredNode>) -> Self {
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
            heard: Nanos(0),
            clock_offset_ns: None,
            round_trip_ns: None,
            overhead: None,
            is_replay: stored.node.starts_with(REPLAY_PREFIX),
            is_remembered: true,
            address: None,
            link: None,
            owner: known.filter(|node| node.run == Some(stored.run)).and_then(|node| node.owner),
            displaced: None,
        }
    }

    /// Decides whether a connection may have this node's name. Returns the node that loses the name to it, if any.
    ///
    /// # Errors
    /// `run_secret_wrong` for somebody else's run, `name_taken` for another run while this node is alive.
    pub(crate) fn give_way(
        &self,
        identity: &NodeIdentity,
        secret: Option<ResumeSecret>,
        now: Moment,
    ) -> Result<Option<Displaced>, Failure> {
        if self.identity.run == identity.run {
            return if self.is_owner(secret) {
                Ok(self.displaced.clone())
            } else {
                Err(wrong_secret(identity))
            };
        }
        let is_back = |before: &Displaced| {
            before.run == identity.run && secret.is_some_and(|secret| before.owner.knows(secret))
        };
        if self.displaced.as_ref().is_some_and(is_back) {
            // Once only: two nodes must not take the name from each other forever.
            return Ok(None);
        }
        if self.is_online() && now.steady.0.saturating_sub(self.heard.0) < ALIVE {
            let message = format!(
                "name {1:?} is in use by a connected node on {0}: give this node another name",
                self.identity.host, identity.name
            );
            return Err(Failure::new("name_taken", message));
        }
        // A new process of the same node replaces the one before for good.
        let is_another = self.is_online() && self.identity.uuid != identity.uuid;
        let displaced = || Some(Displaced { run: self.identity.run, owner: self.owner? });
        Ok(is_another.then(displaced).flatten())
    }

    fn is_owner(&self, secret: Option<ResumeSecret>) -> bool {
        match (self.owner, secret) {
            (Some(owner), Some(given)) => owner.knows(given),
            // The archive does not know: the first to come is believed.
            (None, _) if self.is_remembered => true,
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns whether its channel is open.
    pub fn is_online(&self) -> bool {
        self.link.is_some()
    }

    /// Records the node's estimate of its clock relative to the DAC's. Returns whether watchers should be notified:
    /// only if the change matters for a displayed age, not for each microsecond of drift.
    pub(crate) fn note_clock(&mut self, offset_ns: Option<i64>, round_trip_ns: Option<u64>) -> bool {
        let first = self.clock_offset_ns.is_none() && offset_ns.is_some();
        let moved =
            self.clock_offset_ns.zip(offset_ns).is_some_and(|(old, new)| old.abs_diff(new) > 1_000_000);
        if first || moved {
            (self.clock_offset_ns, self.round_trip_ns) = (offset_ns, round_trip_ns);
        }
        first || moved
    }

    /// Records the reported cost of instrumentation. Returns whether watchers should be notified.
    pub(crate) fn note_overhead(&mut self, overhead: Overhead) -> bool {
        let is_news = self.overhead.as_ref().is_none_or(|old| is_news(old, &overhead));
        if is_news {
            self.overhead = Some(Arc::new(overhead));
        }
        is_news
    }
}

/// The link to a connected node.
#[derive(Debug, Clone)]
pub struct Link {
    /// Number of the session that owns it: a session that was replaced must not mark its successor offline.
    pub session: u64,
    /// Address of the node, if it has one.
    pub address: Option<IpAddr>,
    /// Queue of messages to the node. Bounded; full means that the node does not read.
    pub outbound: mpsc::Sender<DacMessage>,
    /// Whether the node has registered.
    pub accepts_commands: bool,
}

fn wrong_secret(identity: &NodeIdentity) -> Failure {
    let message = format!(
        "run {} of node {:?} belongs to another process: start this node again, so that it begins a run of its own",
        identity.run, identity.name
    );
    Failure::new("run_secret_wrong", message)
}

/// Returns whether a change is large enough to act on: watchers need not see each second's noise.
fn is_news(old: &Overhead, new: &Overhead) -> bool {
    let moved = |old: f64, new: f64| (new - old).abs() > 0.001_f64.max(old * 0.2);
    old.budget != new.budget
        || old.lowered != new.lowered
        || moved(old.cpu, new.cpu)
        || moved(old.callbacks, new.callbacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn watchers_see_a_cost_that_changed_by_much_and_every_changed_rate() {
        let old = Overhead { cpu: 0.01, callbacks: 0.002, ..Overhead::default() };
        let with = |change: fn(&mut Overhead)| {
            let mut new = old.clone();
            change(&mut new);
            is_news(&old, &new)
        };
        assert!(!with(|new| new.cpu = 0.0115));
        assert!(with(|new| new.cpu = 0.0125));
        assert!(!with(|new| new.callbacks = 0.0029));
        assert!(with(|new| new.callbacks = 0.004));
        assert!(with(|new| new.budget = Some(0.1)));
        assert!(with(|new| new.lowered = BTreeMap::from([("processor".into(), 0.5)])));
    }
}
