//! The connection of a node to its DAC.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A connection of a node to its DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeConnection {
    /// The run of the node.
    pub run: Uuid,
    /// Number of the connection in the run, if the node counts them.
    pub attach: Option<u64>,
    /// When it came, nanoseconds on the clock of the DAC.
    pub since: u64,
}

impl NodeConnection {
    /// Whether it is a later connection than another one: by the node's own count, and by the time for different runs.
    pub fn is_after(&self, other: &Self) -> bool {
        match self.attach.zip(other.attach).filter(|_| self.run == other.run) {
            Some((own, other)) => own > other,
            None => self.since > other.since,
        }
    }
}
