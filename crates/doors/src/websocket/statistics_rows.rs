//! The rows of a message of statistics.

use crate::view::OverheadView;
use serde::Serialize;

/// What changes of an instance while samples come: topic, received, missing, and when its newest batch arrived (0 before the first).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InstanceRow(pub u32, pub u64, pub u64, pub u64);

/// What changes of a node while it is connected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeRow {
    pub name: String,
    pub clock_offset_ns: Option<i64>,
    pub round_trip_ns: Option<u64>,
    pub overhead: Option<OverheadView>,
}

/// The message.
#[derive(Debug, Serialize)]
pub struct StatisticsView {
    pub dac_time: u64,
    pub nodes: Vec<NodeRow>,
    /// Each `[id, received, missing, arrived]`.
    pub instances: Vec<InstanceRow>,
}
