//! The message with a part of a fleet.

use super::row::WrittenRow;
use oasis_dac::SchemaHash;
use oasis_wire::quantity::TopicId;
use serde::Serialize;

/// What changed after the round `from`, up to `round`.
#[derive(Debug, Serialize)]
pub struct FleetView<'a> {
    pub op: &'static str,
    /// Number of the fleet.
    pub fleet: u64,
    /// 0 in all messages of a new picture.
    pub from: u64,
    /// Whether a new picture begins.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    pub round: u64,
    /// Whether further messages of this round follow.
    pub more: bool,
    pub dac_time: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<FleetType<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<FleetMember<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<TopicId>,
    pub rows: Vec<WrittenRow<'a>>,
}

/// A type of new members.
#[derive(Debug, Serialize)]
pub struct FleetType<'a> {
    #[serde(rename = "type")]
    pub name: &'a str,
    pub version: &'a str,
    /// SHA-256 of its schema.
    pub schema: SchemaHash,
}

/// A new member: `[id, node, instance, index of its type]`.
#[derive(Debug, Serialize)]
pub struct FleetMember<'a>(pub u32, pub &'a str, pub &'a str, pub usize);
