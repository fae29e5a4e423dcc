//! Nodes and instances as an archive has them: a DAC that starts restores them.

use crate::{probe_kind::ProbeKind, quantity::Nanos, schema::ProbeType};
use alloc::{string::String, sync::Arc, vec::Vec};
use core::fmt;
use uuid::Uuid;

/// An instance with stored data.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredInstance {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// The type of its newest samples.
    pub probe_type: Arc<ProbeType>,
    /// Trigger of its samples.
    pub kind: ProbeKind,
    /// The newest run.
    pub run: Uuid,
    /// The newest runs with stored samples, oldest first. The archive returns a bounded number.
    pub runs: Vec<StoredRun>,
    /// Time of the newest stored sample, nanoseconds since 1970 on the node's clock; 0 if none is left.
    pub last_time: u64,
}

/// Stored samples of an instance in one run of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRun {
    /// The run.
    pub run: Uuid,
    /// Sequence number of the newest stored sample.
    pub last_sequence: u64,
    /// The last sequence number that was declared lost with the end of the run; 0 if none was.
    pub taken: u64,
}

/// A node, as last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNode {
    /// Its name.
    pub name: String,
    /// Its identity across runs.
    pub uuid: Uuid,
    /// Host name.
    pub host: String,
    /// Name and version of its software.
    pub software: String,
    /// When it was last seen, on the DAC's clock.
    pub last_seen: Nanos,
    /// Its last run, if it is known.
    pub run: Option<Uuid>,
    /// Owner that may resume that run, if it is known.
    pub owner: Option<RunOwner>,
    /// Its earlier runs whose samples may still come, oldest first.
    pub former: Vec<FormerRun>,
}

/// A run, and the owner that may resume it.
pub type FormerRun = (Uuid, RunOwner);

/// The SHA-256 of a run's secret, by which a DAC recognizes the owner. The secret has 122 random bits, and cannot be derived from memory or archive of the DAC.
///
/// `ResumeSecret` in `oasis-channel` compares it with a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RunOwner([u8; 32]);

impl RunOwner {
    /// Returns the owner with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes, for the archive.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RunOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunOwner(hidden)")
    }
}
