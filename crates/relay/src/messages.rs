//! Messages of `oasis.v1` as a client reads them: only what a relay needs, and nothing that a later version adds is an error.

use oasis_channel::{InstanceState, Overhead, RecorderSpan};
use oasis_dac::{
    Hop,
    settings::{LabelMap, LabelsAndSettings, SettingState},
};
use oasis_wire::{
    gap::Gap,
    probe_kind::ProbeKind,
    quantity::{DemandRange, Epoch, Hertz, Nanos, Offset},
    schema::ProbeType,
};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// A message of the upstream.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Message {
    /// The first one.
    Welcome {
        /// Version of the protocol.
        protocol: u32,
        /// The life of the upstream.
        epoch: Epoch,
    },
    /// Changes of the registry.
    RegistryDelta(Box<RegistryDelta>),
    /// Values that change all the time.
    Statistics(Box<Statistics>),
    /// A subscription begins.
    Subscribed {
        /// The request.
        id: i64,
        /// Number of the topic at the upstream.
        topic: u32,
        /// Epoch of the offset.
        epoch: Epoch,
        /// Offset of the next sample.
        offset: Offset,
        /// Its type.
        instance: SubscribedInstance,
    },
    /// Samples that do not come.
    Gap {
        /// The topic.
        topic: u32,
        /// Number of samples; absent if it is unknown.
        count: Option<u64>,
        /// The offset of the first.
        from: Option<Offset>,
        /// The offset after them.
        to: Option<Offset>,
        /// Why, as a word.
        cause: String,
    },
    /// Samples that are missing directly before the next batch.
    GapsBefore {
        /// The topic.
        topic: u32,
        /// The gaps, in order.
        gaps: Vec<Gap>,
    },
    /// Offsets count in this epoch from now on.
    Epoch {
        /// The topic.
        topic: u32,
        /// The epoch.
        epoch: Epoch,
        /// Offset of the next sample.
        offset: Offset,
    },
    /// The batches that follow have another type.
    TypeChanged {
        /// The topic.
        topic: u32,
        /// The type.
        schema: Box<ProbeType>,
    },
    /// No batch of the topic follows.
    Unsubscribed {
        /// The topic.
        topic: u32,
        /// Why, as a word; absent if it was asked for.
        cause: Option<String>,
    },
    /// The past, as points.
    Points(Box<serde_json::value::Value>),
    /// A command was carried out.
    Result {
        /// The request.
        id: i64,
        /// The state after it.
        #[serde(flatten)]
        state: InstanceState,
    },
    /// Answer to a ping.
    Pong {
        /// Time that the ping had.
        client_time: f64,
        /// Time of the upstream.
        dac_time: Nanos,
    },
    /// A request failed.
    Error {
        /// The request, if it had a number.
        id: Option<i64>,
        /// A word for programs.
        code: String,
        /// For people.
        message: String,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// Nodes and instances that changed.
#[derive(Debug, Deserialize)]
pub struct RegistryDelta {
    /// 0 begins a new picture.
    pub from: u64,
    /// Position to continue at, as it was received.
    pub position: String,
    /// Whether the picture is incomplete.
    pub more: bool,
    /// The types of `instances`.
    pub types: Vec<TypeName>,
    /// Nodes.
    pub nodes: Vec<NodeEntry>,
    /// Instances.
    pub instances: Vec<InstanceEntry>,
    /// Removed entries.
    pub removed: Removed,
}

/// A probe type.
#[derive(Debug, Deserialize)]
pub struct TypeName {
    /// SHA-256 of its schema.
    pub schema: String,
}

/// A node.
#[derive(Debug, Clone, Deserialize)]
pub struct NodeEntry {
    pub name: String,
    pub uuid: Option<Uuid>,
    pub run: Uuid,
    pub host: String,
    pub software: String,
    pub pid: Option<u32>,
    pub online: bool,
    pub since: Nanos,
    pub replay: bool,
    pub attach: Option<u64>,
    #[serde(default)]
    pub path: Vec<Hop>,
    #[serde(default)]
    pub labels: LabelMap,
}

/// An instance.
#[derive(Debug, Clone, Deserialize)]
pub struct InstanceEntry {
    pub id: u32,
    pub node: String,
    pub instance: String,
    #[serde(rename = "type")]
    pub type_index: usize,
    pub kind: ProbeKind,
    pub enabled: bool,
    pub hertz: Option<Hertz>,
    pub demand: Option<DemandEntry>,
    pub recorder: Option<RecorderSpan>,
    pub run: Option<Uuid>,
    #[serde(default)]
    pub labels: LabelMap,
    /// Settings; unknown ones are not shown.
    #[serde(default)]
    pub settings: Vec<Value>,
}

impl InstanceEntry {
    /// Returns its labels and settings.
    pub fn shown(&self) -> LabelsAndSettings {
        let settings =
            self.settings.iter().filter_map(|state| SettingState::deserialize(state).ok()).collect();
        LabelsAndSettings { labels: self.labels.clone(), settings }
    }
}

/// Rates on demand.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct DemandEntry {
    min: Hertz,
    max: Hertz,
}

impl DemandEntry {
    /// The range, if it is one.
    pub fn range(self) -> Option<DemandRange> {
        DemandRange::new(self.min, self.max).ok()
    }
}

/// Names of nodes and topics of instances that are gone.
#[derive(Debug, Deserialize)]
pub struct Removed {
    pub nodes: Vec<String>,
    pub instances: Vec<u32>,
}

/// Values that change all the time.
#[derive(Debug, Deserialize)]
pub struct Statistics {
    pub nodes: Vec<NodeRow>,
    /// Topic, received, missing, and when the newest batch arrived.
    pub instances: Vec<(u32, u64, u64, u64)>,
}

/// Statistics of a node.
#[derive(Debug, Deserialize)]
pub struct NodeRow {
    pub name: String,
    pub clock_offset_ns: Option<i64>,
    pub round_trip_ns: Option<u64>,
    pub overhead: Option<Overhead>,
}

/// A subscribed instance.
#[derive(Debug, Deserialize)]
pub struct SubscribedInstance {
    pub node: String,
    pub instance: String,
    pub schema: Box<ProbeType>,
}
