//! Report of a TEM to another one: changes in its directory since the last report.

use crate::{
    directory::Directory,
    heartbeat::{Health, Heartbeat, Load, NodeNames},
    limits::{MAX_WANTS, REPORT_ROOM},
    member::Member,
    name::DacName,
    removals::RemovedMember,
    seal::{Seal, Signature},
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// Changes in the directory of a TEM since the report before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// The life of the TEM's process.
    #[schema(value_type = String)]
    pub tem: Epoch,
    /// Address of its page; empty if it has none that others could open.
    #[serde(default)]
    pub doors: String,
    /// Up to where this report goes.
    pub place: ChangePosition,
    /// Whether it left out some changes, because it has a bound: the next one has them.
    #[serde(default)]
    pub more: bool,
    /// DACs that changed, and those that were asked for.
    #[serde(default)]
    pub members: Vec<Record>,
    /// Heartbeats of the other DACs.
    #[serde(default)]
    pub pulses: Vec<Pulse>,
    /// DACs that have ended.
    #[serde(default)]
    pub left: Vec<EndedDac>,
    /// Up to where the sender has the reports of the receiver; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<ChangePosition>,
    /// DACs that the next report of the receiver must have.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub wants: Vec<DacName>,
}

/// A position in the changes of a TEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangePosition {
    /// The life of its process: places of another one count for nothing.
    #[schema(value_type = String)]
    pub tem: Epoch,
    /// Changes so far.
    pub revision: u64,
    /// Heartbeats so far.
    pub pulses: u64,
}

/// A DAC as a TEM knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    /// Its name.
    #[schema(value_type = String)]
    pub name: DacName,
    /// Time since its number has moved, milliseconds, by the steady clocks of all TEMs on the way: it only makes the DAC late earlier.
    pub silent_ms: u64,
    /// Its last heartbeat, with names.
    pub heartbeat: Heartbeat,
}

/// A heartbeat without what rarely changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pulse {
    /// Name of the DAC.
    #[schema(value_type = String)]
    pub name: DacName,
    /// The life of its process.
    #[schema(value_type = String)]
    pub epoch: Epoch,
    /// Number of the heartbeat.
    pub beat: u64,
    /// As in a [`Record`].
    pub silent_ms: u64,
    /// Signature of the DAC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub signature: Option<Signature>,
    /// Whether it works.
    pub health: Health,
    /// Load of the DAC.
    #[serde(default)]
    pub load: Load,
    /// State of its names, as far as the sender has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_revision: Option<u64>,
}

/// A DAC that has ended in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndedDac {
    /// Its name.
    #[schema(value_type = String)]
    pub name: DacName,
    /// The life of its process.
    #[schema(value_type = String)]
    pub epoch: Epoch,
    /// A number greater than that of all its heartbeats.
    pub beat: u64,
    /// Its signature under that it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub signature: Option<Signature>,
}

impl Directory {
    /// Makes a report of what changed after a place, and of members that are asked for.
    pub fn report(
        &self,
        (tem, doors): (Epoch, &str),
        after: Option<ChangePosition>,
        wants: &[DacName],
    ) -> Report {
        // A place of another process, or of a later one, says nothing here.
        let after = after.filter(|place| place.tem == tem && place.revision <= self.revision);
        let start = ChangePosition { tem, revision: 0, pulses: 0 };
        let from = after.unwrap_or(start);
        let now = self.time.passed();
        let known = || self.members.values().filter(|member| !is_unspecified(&member.doors));
        let mut changed: Vec<&Member> = known().filter(|member| member.changed > from.revision).collect();
        changed.sort_unstable_by_key(|member| member.changed);
        let (mut room, mut members, mut reached) = (REPORT_ROOM, Vec::new(), None);
        for member in &changed {
            let Some(left) = room.checked_sub(weight(member)).or(members.is_empty().then_some(0)) else {
                break;
            };
            (room, reached) = (left, Some(member.changed));
            members.push(Record::new(member, now));
        }
        let more = members.len() < changed.len();
        for wanted in wants.iter().take(MAX_WANTS).filter_map(|name| self.members.get(name)) {
            let is_there =
                wanted.changed > from.revision && reached.is_some_and(|last| wanted.changed <= last);
            let Some(left) = room.checked_sub(weight(wanted)) else { break };
            if !is_there {
                room = left;
                members.push(Record::new(wanted, now));
            }
        }
        let is_quiet = |member: &&Member| member.changed <= from.revision;
        let moved = |member: &&Member| member.moved > from.pulses;
        let pulses: Vec<Pulse> = match more {
            true => Vec::new(),
            false => known().filter(is_quiet).filter(moved).map(|member| Pulse::new(member, now)).collect(),
        };
        // A process that has just started has nothing to remove.
        let left = after.map(|place| self.removals.left_after(place.revision).map(EndedDac::new).collect());
        let place = match more {
            true => ChangePosition { revision: reached.unwrap_or(from.revision), ..from },
            false => ChangePosition { tem, revision: self.revision, pulses: self.pulses },
        };
        Report {
            tem,
            doors: doors.into(),
            place,
            more,
            members,
            pulses,
            left: left.unwrap_or_default(),
            known: None,
            wants: Vec::new(),
        }
    }
}

/// Whether an address means every host: the DAC of this process listens there, and others cannot open it.
fn is_unspecified(doors: &str) -> bool {
    let host = doors.split_once("://").map_or(doors, |(_, rest)| rest);
    host.starts_with("0.0.0.0:") || host.starts_with("[::]:")
}

/// About how many bytes a member takes in a report.
fn weight(member: &Member) -> usize {
    let texts =
        member.doors.len() + member.channel.len() + member.software.len() + member.name.as_str().len();
    let attached: usize = member.names.attached.keys().map(|name| name.len() + 100).sum();
    // JSON writes some letters with six.
    600 + 2 * (texts + member.names.bytes() + 4 * member.names.count() + attached)
}

fn silent_ms(member: &Member, now: Duration) -> u64 {
    u64::try_from(member.silence(now).as_millis()).unwrap_or(u64::MAX)
}

impl Record {
    fn new(member: &Member, now: Duration) -> Self {
        let names = NodeNames {
            online: member.names.online.clone(),
            offline: member.names.offline.clone(),
            left_out: member.names.left_out,
            attached: member.names.attached.clone(),
            // Peers list them, and need not know where they were.
            left: Default::default(),
        };
        let heartbeat = Heartbeat {
            epoch: member.epoch,
            beat: member.beat,
            kind: member.kind,
            doors: member.doors.clone(),
            channel: member.channel.clone(),
            software: member.software.clone(),
            health: member.health,
            load: member.load,
            names_revision: member.names_revision.unwrap_or_default(),
            names: member.names_revision.map(|_| names),
            seal: member.key.zip(member.signature).map(|(key, signature)| Seal { key, signature }),
        };
        Self { name: member.name.clone(), silent_ms: silent_ms(member, now), heartbeat }
    }
}

impl Pulse {
    fn new(member: &Member, now: Duration) -> Self {
        Self {
            name: member.name.clone(),
            epoch: member.epoch,
            beat: member.beat,
            silent_ms: silent_ms(member, now),
            signature: member.signature,
            health: member.health,
            load: member.load,
            names_revision: member.names_revision,
        }
    }
}

impl EndedDac {
    fn new(gone: &RemovedMember) -> Self {
        let RemovedMember { name, epoch, beat, signature } = gone.clone();
        Self { name, epoch, beat, signature }
    }
}
