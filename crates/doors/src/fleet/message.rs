//! The message with a part of a fleet.

use super::row::WrittenRow;
use oasis_dac::{SchemaHash, settings::LabelMap};
use oasis_wire::quantity::TopicId;
use serde::{Serialize, Serializer};

/// Changes after the round `from`, up to `round`.
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

/// A new member, or one with other labels: `[id, node, instance, index of its type]`, and its labels if it has some.
#[derive(Debug)]
pub struct FleetMember<'a> {
    pub id: u32,
    pub node: &'a str,
    pub instance: &'a str,
    pub type_index: usize,
    pub labels: &'a LabelMap,
}

impl Serialize for FleetMember<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, node, instance, type_index, labels } = self;
        if labels.is_empty() {
            (id, node, instance, type_index).serialize(serializer)
        } else {
            (id, node, instance, type_index, labels).serialize(serializer)
        }
    }
}
