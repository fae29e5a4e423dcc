//! Versions of the protocol.

use serde::{Deserialize, Serialize};

/// A version of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtocolVersion {
    /// 3.1.1
    #[serde(rename = "3.1.1")]
    V3,
    /// 5
    #[default]
    #[serde(rename = "5")]
    V5,
}
