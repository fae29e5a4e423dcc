//! Messages of a DAC on its stream of heartbeats.

use crate::heartbeat::{Heartbeat, Load};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A message on a stream of heartbeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// Only the number has changed, and perhaps the load.
    Beat(Beat),
    /// Something else has changed too.
    Heartbeat(Box<Heartbeat>),
}

/// A heartbeat of which only the number has changed, and perhaps the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Beat {
    /// Its number.
    pub beat: u64,
    /// Load of the DAC, if that has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}
