//! Contents of an archive, as nodes and instances, for a DAC that starts.
//!
//! `store::catalogue` has such types of its own, because neither room knows the other; `crates/handlers/archive` copies between them.

use crate::run_owner::RunOwner;
use oasis_channel::ProbeKind;
use oasis_wire::{quantity::Nanos, schema::ProbeType};
use std::sync::Arc;
use uuid::Uuid;

/// Contents of the archive for an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredInstance {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Its last type.
    pub probe_type: Arc<ProbeType>,
    /// Trigger of its samples.
    pub kind: ProbeKind,
    /// The node's last run.
    pub run: Uuid,
    /// The newest runs with archived samples, oldest first.
    pub runs: Vec<StoredRun>,
    /// Time of the newest archived sample, in nanoseconds since 1970 on the node's clock; 0 if none is left.
    pub last_time: u64,
}

/// Contents of the archive for an instance in one run of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRun {
    /// The run.
    pub run: Uuid,
    /// Sequence number of the newest sample that was received.
    pub last_sequence: u64,
    /// The last sequence number that was taken, as far as it is known; 0 if it is not.
    pub taken: u64,
}

/// Contents of the archive for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNode {
    /// Its name.
    pub name: String,
    /// Its identity across runs.
    pub uuid: Uuid,
    /// Host name.
    pub host: String,
    /// Name and version.
    pub software: String,
    /// When it was last connected.
    pub last_seen: Nanos,
    /// Its last run.
    pub run: Option<Uuid>,
    /// Owner that may resume that run.
    pub owner: Option<RunOwner>,
    /// Its runs before and who may resume them, oldest first.
    pub former: Vec<(Uuid, RunOwner)>,
}
