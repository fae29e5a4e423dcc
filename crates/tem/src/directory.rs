//! The directory: who has which name, who is heard, and what changed.

use crate::{
    attachment::MovedNode,
    double::{Double, Doubles},
    heartbeat::{Heartbeat, HeartbeatError, NodeNames},
    limits::{FORGET_AFTER, LATE_AFTER, Limits},
    line::Beat,
    member::{Liveness, Member, Names},
    name::DacName,
    observed::ObservedTime,
    removals::{Removals, RemovedMember},
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};
use utoipa::ToSchema;

/// Interval of scans of all members.
const MEMBER_SCAN_INTERVAL: Duration = Duration::from_millis(100);

/// The DACs that send heartbeats.
#[derive(Debug)]
pub struct Directory {
    limits: Limits,
    time: ObservedTime,
    /// Observed time of the last scan of all members.
    looked: Duration,
    /// Number of the last change.
    revision: u64,
    members: BTreeMap<DacName, Member>,
    removals: Removals,
    /// Names of nodes of all members, and their bytes.
    names: (usize, usize),
    doubles: Doubles,
    counters: Counters,
}

/// Counts of refused or omitted items, since the directory exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Counters {
    /// Heartbeats that were accepted.
    pub accepted: u64,
    /// Heartbeats that came twice, or after a later one.
    pub old: u64,
    /// Heartbeats with impossible content.
    pub invalid: u64,
    /// Heartbeats under the name of another DAC that is live.
    pub name_taken: u64,
    /// Heartbeats of new DACs without room for them.
    pub full: u64,
    /// Late members that made room for others.
    pub evicted: u64,
    /// Members that were removed after a long silence.
    pub expired: u64,
    /// Names of nodes without room for them.
    pub names_left_out: u64,
}

/// Change by a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beaten {
    /// A new member.
    Joined,
    /// Another process has the name from now on: the former holder was late.
    TookOver,
    /// The member is known.
    Heard,
}

/// A heartbeat was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Change by the heartbeat.
    pub beaten: Beaten,
    /// Whether the next heartbeat must have the names of nodes.
    pub wants_names: bool,
    /// Nodes of the member that have come to others since the last heartbeat.
    pub moved: Vec<MovedNode>,
}

/// Why a heartbeat was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The heartbeat came twice, or after a later one.
    #[error("heartbeat {beat} of {name} came after a later one")]
    Old {
        /// The name.
        name: DacName,
        /// Its number.
        beat: u64,
    },
    /// Its content is impossible.
    #[error(transparent)]
    Invalid(#[from] HeartbeatError),
    /// Another DAC has the name and is live.
    #[error(
        "the name {name} belongs to the DAC at {holder}, which is live; the one at {refused} needs another name (--dac-name, tem.name)"
    )]
    NameTaken {
        /// The name.
        name: DacName,
        /// Doors of the holder.
        holder: String,
        /// Doors of the refused one.
        refused: String,
    },
    /// Nothing but its number came, and the rest is not known here.
    #[error("this TEM does not know the DAC {0} of this epoch: send a whole heartbeat")]
    Unknown(DacName),
    /// There is no room.
    #[error("this TEM has its {0} DACs, and all of them are live")]
    Full(usize),
}

/// Changes after a revision.
#[derive(Debug)]
pub struct Changes<'a> {
    /// Number of the last change: `after` of the next request.
    pub revision: u64,
    /// Whether `members` has all of them.
    pub complete: bool,
    /// Members, by name.
    pub members: Vec<&'a Member>,
    /// Members that were removed.
    pub removed: Vec<&'a DacName>,
}

impl Directory {
    /// An empty directory.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            time: ObservedTime::after(FORGET_AFTER),
            looked: Duration::ZERO,
            revision: 0,
            members: BTreeMap::new(),
            removals: Removals::new(limits.removals),
            names: (0, 0),
            doubles: Doubles::default(),
            counters: Counters::default(),
        }
    }

    /// Takes a heartbeat. `clock` is the steady clock of the caller.
    ///
    /// # Errors
    /// If it is refused; the directory then stays as it was.
    pub fn beat(
        &mut self,
        name: &DacName,
        heartbeat: Heartbeat,
        clock: Duration,
    ) -> Result<Accepted, Refusal> {
        self.advance(clock);
        let done = self.admit(name, heartbeat);
        self.count(done)
    }

    /// Takes a heartbeat of which only the number has changed, and perhaps the load.
    ///
    /// # Errors
    /// If it is refused; the directory then stays as it was.
    pub fn beat_again(
        &mut self,
        name: &DacName,
        epoch: Epoch,
        beat: Beat,
        clock: Duration,
    ) -> Result<Accepted, Refusal> {
        self.advance(clock);
        let done = self.admit_again(name, epoch, beat);
        self.count(done)
    }

    fn count(&mut self, done: Result<Accepted, Refusal>) -> Result<Accepted, Refusal> {
        let counter = match &done {
            Ok(_) => &mut self.counters.accepted,
            Err(Refusal::Old { .. }) => &mut self.counters.old,
            Err(Refusal::Invalid(_) | Refusal::Unknown(_)) => &mut self.counters.invalid,
            Err(Refusal::NameTaken { .. }) => &mut self.counters.name_taken,
            Err(Refusal::Full(_)) => &mut self.counters.full,
        };
        *counter += 1;
        done
    }

    fn admit_again(&mut self, name: &DacName, epoch: Epoch, beat: Beat) -> Result<Accepted, Refusal> {
        let Beat { beat, load } = beat;
        let now = self.time.passed();
        let known = self.members.get_mut(name).filter(|member| member.epoch == epoch);
        let Some(member) = known else {
            return Err(Refusal::Unknown(name.clone()));
        };
        if beat <= member.beat {
            return Err(Refusal::Old { name: name.clone(), beat });
        }
        let (state, names_revision) = ((member.health, load.unwrap_or(member.load)), member.names_revision);
        if member.move_on(beat, state, now) {
            self.touch(name);
        }
        let wants_names = names_revision.is_none_or(|revision| self.wants_names(name, revision));
        Ok(Accepted { beaten: Beaten::Heard, wants_names, moved: self.moved(name, false) })
    }

    fn admit(&mut self, name: &DacName, mut heartbeat: Heartbeat) -> Result<Accepted, Refusal> {
        heartbeat.check()?;
        let beaten = self.judge(name, &heartbeat)?;
        let names = heartbeat.names.take();
        if beaten == Beaten::Joined {
            self.make_room()?;
            self.members.insert(name.clone(), Member::new(name.clone(), &heartbeat));
        }
        let (now, mut is_new, has_names) = (self.time.passed(), beaten != Beaten::Heard, names.is_some());
        let Some(member) = self.members.get_mut(name) else { return Err(Refusal::Full(self.limits.members)) };
        if beaten == Beaten::TookOver {
            member.replace(heartbeat.epoch);
        }
        is_new |= member.hear(&heartbeat, now);
        if let Some(names) = names {
            is_new |= self.take_names(name, heartbeat.names_revision, names);
        }
        if is_new {
            self.touch(name);
        }
        let wants_names = self.wants_names(name, heartbeat.names_revision);
        Ok(Accepted { beaten, wants_names, moved: self.moved(name, has_names) })
    }

    /// Returns the nodes of a member, connected or not, that have made a later connection to a live one, as far as that has changed since this was
    /// called last, or all of them.
    fn moved(&mut self, name: &DacName, all: bool) -> Vec<MovedNode> {
        let revision = self.revision;
        let Some(member) = self.members.get_mut(name) else { return Vec::new() };
        let since = if all { 0 } else { member.compared };
        member.compared = revision;
        if since == revision {
            return Vec::new();
        }
        let Some(member) = self
            .members
            .get(name)
            .filter(|member| !member.attached().is_empty() || !member.names.left.is_empty())
        else {
            return Vec::new();
        };
        let is_news = |other: &&Member| {
            other.changed > since && other.name != *name && other.liveness == Liveness::Live
        };
        let others = self.members.values().filter(is_news);
        let nodes = others.flat_map(|other| other.attached().iter().map(move |of| (other, of)));
        let moved = nodes.filter(|(_, (node, to))| member.has_lost(node, to));
        let moved = moved.map(|(other, (node, &to))| MovedNode {
            node: node.clone(),
            to,
            dac: other.name.to_string(),
        });
        moved.collect()
    }

    /// Decides whose heartbeat this is.
    fn judge(&self, name: &DacName, heartbeat: &Heartbeat) -> Result<Beaten, Refusal> {
        let Heartbeat { epoch, beat, .. } = *heartbeat;
        let old = || Refusal::Old { name: name.clone(), beat };
        match self.members.get(name) {
            None if self.removals.is_old(name, epoch, beat) => Err(old()),
            None => Ok(Beaten::Joined),
            Some(member) if member.epoch == epoch && beat <= member.beat => Err(old()),
            Some(member) if member.epoch == epoch => Ok(Beaten::Heard),
            Some(member) if member.is_old(epoch, beat) => Err(old()),
            Some(member) if member.is_late(self.time.passed()) => Ok(Beaten::TookOver),
            Some(member) => Err(Refusal::NameTaken {
                name: name.clone(),
                holder: member.doors.clone(),
                refused: heartbeat.doors.clone(),
            }),
        }
    }

    /// Makes room for another member: the one that is late the longest goes.
    fn make_room(&mut self) -> Result<(), Refusal> {
        if self.members.len() < self.limits.members {
            return Ok(());
        }
        let now = self.time.passed();
        let others = self.members.values().filter(|member| member.is_late(now));
        let oldest = others.min_by_key(|member| member.heard).map(|member| member.name.clone());
        let oldest = oldest.ok_or(Refusal::Full(self.limits.members))?;
        self.counters.evicted += 1;
        self.remove(&oldest);
        Ok(())
    }

    /// Replaces the names of a member. Returns whether they are others than before.
    fn take_names(&mut self, name: &DacName, revision: u64, reported: NodeNames) -> bool {
        let Some(member) = self.members.get_mut(name) else { return false };
        let (count, bytes) = (self.names.0 - member.names.count(), self.names.1 - member.names.bytes());
        let room = self.limits.node_names.saturating_sub(count);
        let names = Names::fitting(reported, room, self.limits.node_name_bytes.saturating_sub(bytes));
        self.names = (count + names.count(), bytes + names.bytes());
        self.counters.names_left_out += names.cut;
        member.names_revision = Some(revision);
        let is_new = names != member.names;
        member.names = names;
        is_new
    }

    /// Whether names are unknown, or were left out and have room now.
    fn wants_names(&self, name: &DacName, revision: u64) -> bool {
        let has_room = self.names.0 < self.limits.node_names && self.names.1 < self.limits.node_name_bytes;
        self.members.get(name).is_some_and(|member| {
            member.names_revision != Some(revision) || (member.names.cut > 0 && has_room)
        })
    }

    /// Removes a member whose process ends. `beat` is greater than that of all its heartbeats, so that none of them brings it back.
    /// Returns whether it was there.
    pub fn leave(&mut self, name: &DacName, (epoch, beat): (Epoch, u64), clock: Duration) -> bool {
        self.advance(clock);
        let Some(member) = self.members.get_mut(name).filter(|member| member.epoch == epoch) else {
            return false;
        };
        member.beat = member.beat.max(beat);
        self.remove(name);
        true
    }

    /// Reads the clock: members become late, and later they are removed. To be called four times a second at least: time without a
    /// call counts only in part.
    pub fn advance(&mut self, clock: Duration) {
        self.time.advance(clock);
        let now = self.time.passed();
        if now.saturating_sub(self.looked) < MEMBER_SCAN_INTERVAL {
            return;
        }
        self.looked = now;
        let due = |member: &&Member| member.liveness == Liveness::Live && member.silence(now) >= LATE_AFTER;
        let late: Vec<DacName> =
            self.members.values().filter(due).map(|member| member.name.clone()).collect();
        for name in late {
            if let Some(member) = self.members.get_mut(&name) {
                member.liveness = Liveness::Late;
            }
            self.touch(&name);
        }
        let due = |member: &&Member| member.silence(now) >= FORGET_AFTER;
        let expired: Vec<DacName> =
            self.members.values().filter(due).map(|member| member.name.clone()).collect();
        self.counters.expired += expired.len() as u64;
        expired.iter().for_each(|name| self.remove(name));
        self.doubles.update(self.members.values(), self.revision, now);
    }

    fn touch(&mut self, name: &DacName) {
        self.revision += 1;
        if let Some(member) = self.members.get_mut(name) {
            member.changed = self.revision;
        }
    }

    fn remove(&mut self, name: &DacName) {
        let Some(member) = self.members.remove(name) else { return };
        self.revision += 1;
        self.names.0 -= member.names.count();
        self.names.1 -= member.names.bytes();
        let Member { name, epoch, beat, .. } = member;
        self.removals.push(self.revision, RemovedMember { name, epoch, beat });
    }

    /// Returns what changed after a revision; everything without one, or if the directory no longer remembers what was removed.
    pub fn changes(&self, after: Option<u64>) -> Changes<'_> {
        let after = after.filter(|after| *after <= self.revision);
        let removed = after.and_then(|after| Some((after, self.removals.after(after)?.collect::<Vec<_>>())));
        let revision = self.revision;
        match removed {
            Some((after, removed)) => {
                let members = self.members.values().filter(|member| member.changed > after).collect();
                // Whoever came back is in `members`.
                let is_gone = |name: &&DacName| !self.members.contains_key(*name);
                let removed = removed.into_iter().filter(is_gone).collect();
                Changes { revision, complete: false, members, removed }
            }
            None => {
                Changes { revision, complete: true, members: self.members().collect(), removed: Vec::new() }
            }
        }
    }

    /// All members, by name.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    /// The members that have a node: those to which it is connected first, and of both kinds the live ones first.
    pub fn holders(&self, node: &str) -> impl Iterator<Item = &Member> {
        let found = self.members.values().filter_map(|member| Some((member.has(node)?, member)));
        let mut found: Vec<(bool, &Member)> = found.collect();
        found.sort_by_key(|(is_online, member)| (!is_online, member.liveness));
        found.into_iter().map(|(_, member)| member)
    }

    /// Names that have stood for different nodes for [`DOUBLE_AFTER`](crate::DOUBLE_AFTER), by name.
    pub fn doubles(&self) -> impl Iterator<Item = Double> {
        self.doubles.lasting(self.time.passed())
    }

    /// Number of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The time that the directory has observed.
    pub fn now(&self) -> Duration {
        self.time.passed()
    }

    /// Returns the counts of refused or omitted items.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Names of nodes of all members, and their bytes.
    pub fn names(&self) -> (usize, usize) {
        self.names
    }
}
