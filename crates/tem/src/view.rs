//! A directory as it is sent.

use crate::{
    attachment::Attachment,
    directory::Counters,
    heartbeat::{Health, Load},
    kind::Kind,
    member::{Liveness, Member},
    name::DacName,
};
use oasis_wire::quantity::Epoch;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};
use utoipa::ToSchema;

/// The DACs that a TEM knows.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TemView {
    /// Position to continue from: `after` of the next request.
    pub position: String,
    /// Whether `dacs` has all of them. Otherwise it has those that changed, and `removed` those that are gone.
    pub complete: bool,
    /// DACs, by name unless another order was requested.
    pub dacs: Vec<DacView>,
    /// Names of DACs that were removed.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub removed: Vec<DacName>,
    /// The TEMs that this DAC reports to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tems: Vec<TemEntry>,
    /// Counts of refused or omitted items; absent for callers that may not read everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
}

/// Another TEM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TemEntry {
    /// Address of its page.
    pub doors: String,
    /// `live` if it answers, or else `late`.
    pub state: Liveness,
    /// Why it does not answer; absent for callers that may not read everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A DAC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DacView {
    /// Its name.
    #[schema(value_type = String)]
    pub name: DacName,
    /// The life of its process.
    #[schema(value_type = String)]
    pub epoch: Epoch,
    /// Kind of the member: a `relay` has no nodes of its own.
    #[serde(default)]
    pub kind: Kind,
    /// Address of page, API and doors.
    pub doors: String,
    /// Address of the data channel.
    pub channel: String,
    /// Name and version.
    pub software: String,
    /// `live`, or `late` after 1.5 s without a heartbeat.
    pub state: Liveness,
    /// Time since its last heartbeat, milliseconds.
    pub silent_ms: u64,
    /// Whether it works, as it says.
    pub health: Health,
    /// Load of the DAC; absent for callers that may not read everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Its connected nodes that the caller may read.
    pub nodes: Vec<String>,
    /// Connections of these nodes, if they count them: of several DACs with a run, the one with the highest `attach` is its home.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attached: BTreeMap<String, Attachment>,
    /// Its other nodes that the caller may read.
    pub offline_nodes: Vec<String>,
    /// Names of nodes that the lists lack, because they have a bound.
    pub left_out: u64,
    /// Whether this DAC has answered: its host is that of the request.
    #[serde(default)]
    pub is_tem: bool,
}

impl DacView {
    /// A member with all that is known of it.
    pub fn new(member: &Member, now: Duration) -> Self {
        Self {
            name: member.name().clone(),
            epoch: member.epoch(),
            kind: member.kind(),
            doors: member.doors().into(),
            channel: member.channel().into(),
            software: member.software().into(),
            state: member.liveness(),
            silent_ms: u64::try_from(member.silence(now).as_millis()).unwrap_or(u64::MAX),
            health: member.health(),
            load: Some(member.load()),
            nodes: member.online().to_vec(),
            attached: member.attached().clone(),
            offline_nodes: member.offline().to_vec(),
            left_out: member.left_out(),
            is_tem: false,
        }
    }
}
