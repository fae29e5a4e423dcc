//! Attachment of a node to a DAC: of several DACs that list it, one is its home.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A connection of a node, as its DAC knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attachment {
    /// The run of the node.
    #[schema(value_type = String)]
    pub run: Uuid,
    /// Number of the connection in this run.
    pub attach: u64,
}

impl Attachment {
    /// Whether the node made this connection after another one. Connections of different runs cannot be compared.
    pub fn is_after(&self, other: &Self) -> bool {
        self.run == other.run && self.attach > other.attach
    }

    /// Whether this open connection is later than one that has ended.
    pub fn follows(&self, ended: &Self) -> bool {
        self.run != ended.run || self.attach > ended.attach
    }
}

/// A node that has left a DAC, or that the DAC lists as connected, and that has made a later connection to another DAC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MovedNode {
    /// Its name.
    pub node: String,
    /// The later connection.
    #[serde(flatten)]
    pub to: Attachment,
    /// The name of the other DAC.
    #[serde(default)]
    pub dac: String,
}
