//! Times and bounds of a directory.

use std::time::Duration;

/// Time between two heartbeats of a DAC.
pub const HEARTBEAT: Duration = Duration::from_millis(500);
/// A member whose heartbeat number has not moved for this time is late: three heartbeats are missing.
pub const LATE_AFTER: Duration = Duration::from_millis(1_500);
/// A member that was silent for this time is removed.
pub const FORGET_AFTER: Duration = Duration::from_secs(300);
/// Two nodes of one name are reported after this time: a node that moves, or starts again elsewhere, is listed twice for a moment.
pub const DOUBLE_AFTER: Duration = Duration::from_secs(5);
/// Time between two looks for nodes of one name.
pub(crate) const DOUBLE_SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// Longest heartbeat as JSON, bytes.
pub const MAX_HEARTBEAT_BYTES: usize = 512 * 1024;
/// Longest address of doors or data channel, and longest name of a software, bytes.
pub(crate) const MAX_TEXT: usize = 256;
/// Longest name of a node, bytes: that of the data channel.
pub(crate) const MAX_NODE_NAME: usize = 1_024;

/// Upper bounds of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// DACs. Another one takes the place of the member that is late the longest, or is refused.
    pub members: usize,
    /// Names of nodes, of all members together. Further names are left out and counted.
    pub node_names: usize,
    /// Bytes of these names.
    pub node_name_bytes: usize,
    /// Removed members that are remembered. A reader of changes that has missed others receives the whole list.
    pub removals: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { members: 1_000, node_names: 10_000, node_name_bytes: 1024 * 1024, removals: 1_024 }
    }
}
