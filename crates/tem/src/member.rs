//! A DAC as the directory knows it.

use crate::{
    attachment::Attachment,
    heartbeat::{Health, Heartbeat, Load, NodeNames},
    kind::Kind,
    limits::LATE_AFTER,
    name::DacName,
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};
use utoipa::ToSchema;

/// Earlier holders of a name that are remembered.
const FORMER: usize = 4;

/// Whether a DAC is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Liveness {
    /// Its heartbeats arrive.
    Live,
    /// Three heartbeats or more are missing.
    Late,
}

/// A DAC as the directory knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub(crate) name: DacName,
    pub(crate) epoch: Epoch,
    pub(crate) beat: u64,
    pub(crate) kind: Kind,
    pub(crate) doors: String,
    pub(crate) channel: String,
    pub(crate) software: String,
    pub(crate) health: Health,
    pub(crate) load: Load,
    /// Revision of the names that it has; none before the first ones.
    pub(crate) names_revision: Option<u64>,
    pub(crate) names: Names,
    /// Observed time at which its number moved last.
    pub(crate) heard: Duration,
    pub(crate) liveness: Liveness,
    /// Revision of the directory that changed it last.
    pub(crate) changed: u64,
    /// Up to which change of others its nodes were looked for at them.
    pub(crate) compared: u64,
    /// Epochs that had the name before, each with its last heartbeat, oldest first.
    pub(crate) former: Vec<(Epoch, u64)>,
}

/// Names of nodes, sorted and each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    pub online: Vec<String>,
    pub offline: Vec<String>,
    /// Names that are missing, because DAC or directory had no room for them.
    pub left_out: u64,
    /// Number of these that the directory has left out.
    pub cut: u64,
    /// Connections of the connected nodes that are in the list.
    pub attached: BTreeMap<String, Attachment>,
    /// Last connections of the other nodes that are in the list.
    pub left: BTreeMap<String, Attachment>,
}

impl Names {
    /// Takes names as far as there is room, connected nodes first.
    pub fn fitting(reported: NodeNames, count: usize, bytes: usize) -> Self {
        let NodeNames { mut online, mut offline, left_out, mut attached, left: mut ended } = reported;
        online.sort_unstable();
        online.dedup();
        offline.sort_unstable();
        offline.dedup();
        offline.retain(|name| online.binary_search(name).is_err());
        let all = online.len() + offline.len();
        let mut left = (count, bytes);
        cut(&mut online, &mut left);
        cut(&mut offline, &mut left);
        let cut = (all - online.len() - offline.len()) as u64;
        attached.retain(|name, _| online.binary_search(name).is_ok());
        ended.retain(|name, _| offline.binary_search(name).is_ok());
        Self { online, offline, left_out: left_out.saturating_add(cut), cut, attached, left: ended }
    }

    pub fn count(&self) -> usize {
        self.online.len() + self.offline.len()
    }

    pub fn bytes(&self) -> usize {
        self.online.iter().chain(&self.offline).map(String::len).sum()
    }
}

/// Shortens a list to what is left of a count and of bytes.
fn cut(names: &mut Vec<String>, (count, bytes): &mut (usize, usize)) {
    let mut fits = |name: &String| {
        let room = count.checked_sub(1).zip(bytes.checked_sub(name.len()));
        if let Some(left) = room {
            (*count, *bytes) = left;
        }
        room.is_some()
    };
    let kept = names.iter().map_while(|name| fits(name).then_some(())).count();
    names.truncate(kept);
    names.shrink_to_fit();
}

impl Member {
    /// A member that has just been heard for the first time.
    pub(crate) fn new(name: DacName, heartbeat: &Heartbeat) -> Self {
        Self {
            name,
            epoch: heartbeat.epoch,
            beat: heartbeat.beat,
            kind: heartbeat.kind,
            doors: heartbeat.doors.clone(),
            channel: heartbeat.channel.clone(),
            software: heartbeat.software.clone(),
            health: heartbeat.health,
            load: heartbeat.load,
            names_revision: None,
            names: Names::default(),
            heard: Duration::ZERO,
            liveness: Liveness::Live,
            changed: 0,
            compared: 0,
            former: Vec::new(),
        }
    }

    /// Takes a heartbeat without its names. Returns whether it is something that readers of changes wait for.
    pub(crate) fn hear(&mut self, heartbeat: &Heartbeat, now: Duration) -> bool {
        let before = (self.kind, &*self.doors, &*self.channel, &*self.software, self.epoch);
        let Heartbeat { kind, doors, channel, software, epoch, .. } = heartbeat;
        let is_new = before != (*kind, &**doors, &**channel, &**software, *epoch);
        if is_new {
            self.kind = *kind;
            self.doors.clone_from(doors);
            self.channel.clone_from(channel);
            self.software.clone_from(software);
        }
        self.move_on(heartbeat.beat, (heartbeat.health, heartbeat.load), now) || is_new
    }

    /// Takes the number of a heartbeat, and what changes often. Returns whether it is something that readers of changes wait for.
    pub(crate) fn move_on(&mut self, beat: u64, (health, load): (Health, Load), now: Duration) -> bool {
        let is_new = (self.health, self.liveness) != (health, Liveness::Live);
        (self.health, self.liveness) = (health, Liveness::Live);
        (self.beat, self.load, self.heard) = (beat, load, now);
        is_new
    }

    /// Gives the name to another epoch.
    pub(crate) fn replace(&mut self, epoch: Epoch) {
        self.former.retain(|(former, _)| *former != epoch);
        self.former.push((self.epoch, self.beat));
        self.former.drain(..self.former.len().saturating_sub(FORMER));
        (self.epoch, self.names_revision) = (epoch, None);
    }

    /// Whether an earlier holder of the name sent this heartbeat before it lost it.
    pub(crate) fn is_old(&self, epoch: Epoch, beat: u64) -> bool {
        let former = self.former.iter().find(|(former, _)| *former == epoch);
        former.is_some_and(|(_, last)| beat <= *last)
    }

    /// Returns the time since it was heard.
    pub fn silence(&self, now: Duration) -> Duration {
        now.saturating_sub(self.heard)
    }

    /// Whether it is late, without waiting for the next scan of all members.
    pub(crate) fn is_late(&self, now: Duration) -> bool {
        self.silence(now) >= LATE_AFTER
    }

    /// Its name.
    pub fn name(&self) -> &DacName {
        &self.name
    }

    /// The life of its process.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Number of its last heartbeat.
    pub fn beat(&self) -> u64 {
        self.beat
    }

    /// Returns the kind of the member.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Address of page, API and doors.
    pub fn doors(&self) -> &str {
        &self.doors
    }

    /// Address of the data channel.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Name and version.
    pub fn software(&self) -> &str {
        &self.software
    }

    /// Whether it works, as it says.
    pub fn health(&self) -> Health {
        self.health
    }

    /// Returns the load of the member.
    pub fn load(&self) -> Load {
        self.load
    }

    /// Whether it is heard.
    pub fn liveness(&self) -> Liveness {
        self.liveness
    }

    /// Names of its connected nodes, sorted.
    pub fn online(&self) -> &[String] {
        &self.names.online
    }

    /// Names of its other nodes, sorted.
    pub fn offline(&self) -> &[String] {
        &self.names.offline
    }

    /// Connections of its connected nodes, as far as these count them.
    pub fn attached(&self) -> &BTreeMap<String, Attachment> {
        &self.names.attached
    }

    /// Whether a node of it is at another DAC, which has this connection.
    pub(crate) fn has_lost(&self, node: &str, to: &Attachment) -> bool {
        self.attached().get(node).is_some_and(|own| to.is_after(own))
            || self.names.left.get(node).is_some_and(|ended| to.follows(ended))
    }

    /// Names that are missing, because DAC or directory had no room for them.
    pub fn left_out(&self) -> u64 {
        self.names.left_out
    }

    /// Whether it has a node: `Some(true)` if that is connected.
    pub fn has(&self, node: &str) -> Option<bool> {
        let is_in = |names: &[String]| names.binary_search_by(|name| name.as_str().cmp(node)).is_ok();
        match (is_in(&self.names.online), is_in(&self.names.offline)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}
