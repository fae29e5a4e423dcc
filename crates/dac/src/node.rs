//! A node as the DAC knows it.

use crate::{
    identity::check_key,
    moment::Moment,
    relayed::{Hop, Relayed},
    settings::LabelMap,
    standing::Standing,
};
use oasis_channel::{DacMessage, Failure, NodeIdentity, Overhead, REPLAY_PREFIX, ResumeSecret};
use oasis_tls::{NodeCertificate, Peer};
use oasis_wire::{
    quantity::Nanos,
    stored::{RunOwner, StoredInstance, StoredNode},
};
use std::{net::IpAddr, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Ended runs of a name whose owners are remembered.
const MAX_CLAIMS: usize = 16;
/// A node heard within this time, in nanoseconds, is alive: no other node may take its name.
const ALIVE_NANOS: u64 = 3_000_000_000;
/// A node that pings twice a second, and was not heard for this time, may be at another DAC.
const SILENT_NANOS: u64 = 1_200_000_000;

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
    /// The newest measurement, also if it hardly differs from the one that watchers know.
    pub(crate) clock: Option<MeasuredClock>,
    /// Cost of the instrumentation on its host; none before the first report.
    pub overhead: Option<Arc<Overhead>>,
    /// Whether it replays a recording.
    pub is_replay: bool,
    /// Whether it is known only from the archive and has not connected in this run of the DAC. Its process number is
    /// then 0, and unknown parts of its identity are nil or empty.
    pub is_remembered: bool,
    /// Number of its last connection in its run, if it counts them: the DAC with the highest number is its home.
    pub attach: Option<u64>,
    /// Its address when it connected; unknown for a node without a socket.
    pub(crate) address: Option<IpAddr>,
    /// Identity when it connected; anonymous if the archive remembers it.
    pub(crate) peer: Arc<Peer>,
    pub(crate) link: Option<Link>,
    /// Owner that may resume the run. Unknown for programs that send no secret, and for archives of earlier versions.
    pub owner: Option<RunOwner>,
    /// The DAC to which it is connected, as a TEM has said.
    pub(crate) moved_to: Option<Arc<str>>,
    former: Former,
    /// A holder of the same key on the same host that was refused while this node was alive.
    rival: Option<Rival>,
    /// State of a node that is connected to another DAC.
    pub(crate) relayed: Option<Relayed>,
}

/// A connection with the key of a connected node, from the same host and as the same node: the node after a restart, or a second process. Which of both,
/// the connected node shows: one that has ended is silent from then on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rival {
    /// From where it came.
    pub address: Option<IpAddr>,
    /// When it was refused first, by the steady clock.
    since: Nanos,
}

/// The connection that had a node's name before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Former {
    /// Another node that had fallen silent: it may take the name back.
    displaced: Option<Claim>,
    /// The last ended runs, oldest first. Their samples may still come, from their owners alone.
    ended: Vec<Claim>,
}

impl Former {
    /// Returns who had a name before, for a connection that takes it.
    fn of(claims: Vec<Claim>, identity: &NodeIdentity) -> Self {
        let mut ended = claims;
        ended.retain(|claim| claim.run != identity.run);
        ended.drain(..ended.len().saturating_sub(MAX_CLAIMS));
        Self { displaced: None, ended }
    }

    /// Decides whether a connection may have a name that no known node has, and that had these runs before.
    ///
    /// # Errors
    /// `run_secret_wrong` for the run of another owner.
    pub(crate) fn of_unlisted(
        claims: &[Claim],
        identity: &NodeIdentity,
        secret: Option<ResumeSecret>,
    ) -> Result<Self, Failure> {
        check_claims(claims, identity, secret)?;
        Ok(Self::of(claims.to_vec(), identity))
    }
}

/// A run and who may resume it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    run: Uuid,
    owner: RunOwner,
}

impl Claim {
    fn knows(&self, secret: Option<ResumeSecret>) -> bool {
        secret.is_some_and(|secret| secret.is_of(&self.owner))
    }
}

impl Node {
    /// Creates a node that has just connected.
    pub(crate) fn new(
        identity: NodeIdentity,
        secret: Option<ResumeSecret>,
        former: Former,
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
            clock: None,
            overhead: None,
            is_replay: false,
            is_remembered: false,
            attach: link.attach,
            address: link.address,
            peer: link.peer.clone(),
            link: Some(link),
            owner: secret.map(|secret| secret.owner()),
            moved_to: None,
            former,
            rival: None,
            relayed: None,
        }
    }

    /// Creates a node of another DAC.
    pub(crate) fn relayed(
        identity: NodeIdentity,
        attach: Option<u64>,
        since: Nanos,
        is_replay: bool,
        relayed: Relayed,
    ) -> Self {
        Self {
            identity: Arc::new(identity),
            attach,
            since,
            last_heard: since,
            heard: Nanos(0),
            clock_offset_ns: None,
            round_trip_ns: None,
            clock: None,
            overhead: None,
            is_replay,
            is_remembered: false,
            address: None,
            peer: Arc::new(Peer::Anonymous),
            link: None,
            owner: None,
            former: Former::default(),
            rival: None,
            moved_to: None,
            relayed: Some(relayed),
        }
    }

    /// Keeps what is measured all the time of the same run.
    pub(crate) fn keep_statistics_of(&mut self, known: &Self) {
        if self.identity.run == known.identity.run {
            (self.clock_offset_ns, self.round_trip_ns) = (known.clock_offset_ns, known.round_trip_ns);
            self.clock = known.clock;
            self.overhead.clone_from(&known.overhead);
        }
    }

    /// Creates the node of an archived instance, with what else the archive contains of it.
    pub(crate) fn remembered(stored: &StoredInstance, known: Option<&StoredNode>) -> Self {
        let identity = NodeIdentity {
            name: stored.node.as_ref().into(),
            uuid: known.map(|node| node.uuid).unwrap_or_default(),
            run: known.and_then(|node| node.run).unwrap_or(stored.run),
            host: known.map(|node| node.host.clone()).unwrap_or_default(),
            software: known.map(|node| node.software.clone()).unwrap_or_default(),
            pid: 0,
        };
        let last = known.map_or(Nanos(stored.last_time), |node| node.last_seen);
        let ended = known.map(|node| former_claims(node).collect()).unwrap_or_default();
        Self {
            identity: Arc::new(identity),
            since: last,
            last_heard: last,
            heard: Nanos(0),
            clock_offset_ns: None,
            round_trip_ns: None,
            clock: None,
            overhead: None,
            is_replay: stored.node.starts_with(REPLAY_PREFIX),
            is_remembered: true,
            attach: None,
            address: None,
            peer: Arc::new(Peer::Anonymous),
            link: None,
            owner: known.and_then(|node| node.owner),
            moved_to: None,
            former: Former { displaced: None, ended },
            rival: None,
            relayed: None,
        }
    }

    /// Decides whether a connection may have this node's name. Returns who had it before.
    ///
    /// # Errors
    /// `key_wrong` for another key than the node's, `run_secret_wrong` for the run of another owner, `node_moved` for an earlier connection of the
    /// run,
    /// `name_taken` for another run while this node is alive, `key_in_use` if that one is on another host, or another node, with the node's key.
    pub(crate) fn give_way(
        &mut self,
        identity: &NodeIdentity,
        secret: Option<ResumeSecret>,
        link: &Link,
        now: Moment,
    ) -> Result<Former, Failure> {
        let is_alive = self.is_online() && now.steady.0.saturating_sub(self.heard.0) < ALIVE_NANOS;
        check_key(&self.peer, &link.peer, is_alive, &identity.name)?;
        if self.identity.run == identity.run {
            if !self.is_owner(secret) {
                return Err(wrong_secret(identity));
            }
            self.check_attach(identity, link)?;
            return Ok(self.former.clone());
        }
        check_claims(&self.former.ended, identity, secret)?;
        let is_back = |before: &Claim| before.run == identity.run && before.knows(secret);
        if self.former.displaced.as_ref().is_some_and(is_back) {
            // Once only: two nodes must not take the name from each other forever.
            return Ok(self.former_of(identity, None));
        }
        if is_alive && self.is_second_holder(identity, link) {
            let message = format!(
                "the key of node {1:?} is in use by a connected node on {0}: if it was copied, revoke it there (oasis node revoke) and enroll the node again; if the node has moved, stop the other one",
                self.identity.host, identity.name
            );
            return Err(Failure::new("key_in_use", message));
        }
        if is_alive {
            if has_key_of(&self.peer, &link.peer) {
                self.rival.get_or_insert(Rival { address: link.address, since: now.steady });
            }
            let message = format!(
                "name {1:?} is in use by a connected node on {0}: stop that one, or give this node another name",
                self.identity.host, identity.name
            );
            return Err(Failure::new("name_taken", message));
        }
        // A new process of the same node replaces the one before for good.
        let is_another = self.is_online() && self.identity.uuid != identity.uuid;
        Ok(self.former_of(identity, self.claim().filter(|_| is_another)))
    }

    /// Checks that a connection is later than the known one of its run.
    ///
    /// # Errors
    /// `node_moved` if it is not.
    pub(crate) fn check_attach(&self, identity: &NodeIdentity, link: &Link) -> Result<(), Failure> {
        if self.standing().refuses(identity.run, link.attach) {
            let message = format!("node {:?} has made a later connection", identity.name);
            return Err(Failure::new("node_moved", message));
        }
        Ok(())
    }

    /// Returns what decides between this node and another connection with its name.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            run: self.identity.run,
            attach: self.attach,
            is_online: self.is_online(),
            since: self.since,
            upstream: self.relayed.as_ref().map(|relayed| relayed.upstream),
            hops: self.path().len(),
        }
    }

    /// Whether a connection has shown the key of this node from another host, or as another node.
    fn is_second_holder(&self, identity: &NodeIdentity, link: &Link) -> bool {
        has_key_of(&self.peer, &link.peer)
            && (self.address != link.address || self.identity.uuid != identity.uuid)
    }

    /// Decides whether the node has left for a later connection to another DAC. Returns the session that is over, if there is one; none at all if nothing has
    /// changed. A node that is heard has not left, whoever says so; one that is offline has, unless its run has made a later connection here.
    pub(crate) fn moved(&mut self, to: &Moved<'_>, now: Moment) -> Option<Option<u64>> {
        let is_same_run = self.identity.run == to.run;
        let is_silent = now.steady.0.saturating_sub(self.heard.0) >= SILENT_NANOS;
        let is_stale = match self.is_online() {
            true => is_same_run && is_silent && self.attach.is_some_and(|own| own < to.attach),
            false => !is_same_run || self.attach.is_none_or(|own| own < to.attach),
        };
        if !is_stale || self.relayed.is_some() || self.moved_to.as_deref() == Some(to.dac) {
            return None;
        }
        self.moved_to = Some(to.dac.into());
        Some(self.link.as_ref().map(|link| link.session))
    }

    /// Records that the node has sent something. Returns a rival that cannot be this node after a restart, because this node is
    /// heard 3 s after the rival was refused. Each rival is returned once.
    pub(crate) fn note_heard(&mut self, now: Moment) -> Option<Rival> {
        (self.last_heard, self.heard) = (now.wall, now.steady);
        self.rival.take_if(|rival| now.steady.0.saturating_sub(rival.since.0) >= ALIVE_NANOS)
    }

    fn claim(&self) -> Option<Claim> {
        Some(Claim { run: self.identity.run, owner: self.owner? })
    }

    /// Returns who had the name before, for a connection that takes it over.
    fn former_of(&self, identity: &NodeIdentity, displaced: Option<Claim>) -> Former {
        Former { displaced, ..Former::of(self.claims(), identity) }
    }

    /// Returns the runs of this name whose samples may still come, with their owners, oldest first.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        self.former.ended.iter().copied().chain(self.claim()).collect()
    }

    fn is_owner(&self, secret: Option<ResumeSecret>) -> bool {
        match (self.owner, secret) {
            (Some(owner), Some(given)) => given.is_of(&owner),
            // The archive does not know: the first to come is believed.
            (None, _) if self.is_remembered => true,
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns the earlier runs of this name whose samples may still come, with their owners, oldest first.
    pub fn former_runs(&self) -> impl Iterator<Item = (Uuid, RunOwner)> {
        self.former.ended.iter().map(|claim| (claim.run, claim.owner))
    }

    /// Returns whether its channel is open, here or at the DAC that it is connected to.
    pub fn is_online(&self) -> bool {
        self.link.is_some() || self.relayed.as_ref().is_some_and(|relayed| relayed.is_online)
    }

    /// Returns the DACs between the node and this one, its home first; none if it is connected here.
    pub fn path(&self) -> &[Hop] {
        self.relayed.as_ref().map_or(&[], |relayed| &relayed.path)
    }

    /// Returns the labels of a relayed node, as its upstream shows them.
    pub(crate) fn relayed_labels(&self) -> Option<&Arc<LabelMap>> {
        self.relayed.as_ref().map(|relayed| &relayed.labels)
    }

    /// Whether it is at another DAC, as far as this one knows.
    pub fn is_elsewhere(&self) -> bool {
        self.home_elsewhere().is_some()
    }

    /// The name of the DAC that it is at, if that is another one.
    pub fn home_elsewhere(&self) -> Option<&str> {
        let moved_to = || self.moved_to.as_deref().filter(|_| !self.is_online());
        self.path().first().map(|hop| &*hop.dac).or_else(moved_to)
    }

    /// Returns the certificate that it connected with, if the DAC requires one.
    pub fn certificate(&self) -> Option<&NodeCertificate> {
        match &*self.peer {
            Peer::Node(certificate) => Some(certificate),
            Peer::Anonymous | Peer::Itself => None,
        }
    }

    /// Records the node's estimate of its clock relative to the DAC's. Returns whether watchers should be notified:
    /// only if the change matters for a displayed age, not for each microsecond of drift.
    pub(crate) fn note_clock(&mut self, offset_ns: Option<i64>, round_trip_ns: Option<u64>) -> bool {
        self.clock = offset_ns.map(|offset_ns| MeasuredClock { offset_ns, round_trip_ns });
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

/// A node's measurements of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredClock {
    /// DAC clock minus node clock, in nanoseconds.
    pub offset_ns: i64,
    /// Round trip of the measurement, in nanoseconds: the offset can be wrong by half of it.
    pub round_trip_ns: Option<u64>,
}

/// A connection of a node to another DAC, as a TEM lists it.
#[derive(Debug, Clone, Copy)]
pub struct Moved<'a> {
    /// The run of the node.
    pub run: Uuid,
    /// Number of the connection in the run.
    pub attach: u64,
    /// The name of the DAC.
    pub dac: &'a str,
}

/// The link to a connected node.
#[derive(Debug, Clone)]
pub struct Link {
    /// Number of the session that owns it: a session that was replaced must not mark its successor offline.
    pub session: u64,
    /// Number of the connection in the node's run, if the node counts them.
    pub attach: Option<u64>,
    /// Address of the node, if it has one.
    pub address: Option<IpAddr>,
    /// Identity, by its certificate.
    pub peer: Arc<Peer>,
    /// Queue of messages to the node. Bounded; full means that the node does not read.
    pub outbound: mpsc::Sender<DacMessage>,
    /// Whether the node has registered.
    pub accepts_commands: bool,
}

/// Returns the runs of a node that the archive knows, with their owners, oldest first.
pub(crate) fn archived_claims(node: &StoredNode) -> Vec<Claim> {
    let last = node.run.zip(node.owner).map(|(run, owner)| Claim { run, owner });
    former_claims(node).chain(last).collect()
}

fn former_claims(node: &StoredNode) -> impl Iterator<Item = Claim> {
    node.former.iter().map(|&(run, owner)| Claim { run, owner })
}

/// Checks that a run derived from a secret is claimed with this secret. Then the owner need not be known.
///
/// # Errors
/// `run_secret_wrong` without it.
pub(crate) fn check_derived(identity: &NodeIdentity, secret: Option<ResumeSecret>) -> Result<(), Failure> {
    let is_proven = secret.is_some_and(|secret| secret.run() == identity.run);
    if ResumeSecret::is_derived(identity.run) && !is_proven { Err(wrong_secret(identity)) } else { Ok(()) }
}

/// Whether both have shown a certificate of the same key.
fn has_key_of(own: &Peer, shown: &Peer) -> bool {
    matches!((own, shown), (Peer::Node(own), Peer::Node(shown)) if own.key == shown.key)
}

fn check_claims(
    claims: &[Claim],
    identity: &NodeIdentity,
    secret: Option<ResumeSecret>,
) -> Result<(), Failure> {
    let claim = claims.iter().find(|claim| claim.run == identity.run);
    if claim.is_some_and(|claim| !claim.knows(secret)) { Err(wrong_secret(identity)) } else { Ok(()) }
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
