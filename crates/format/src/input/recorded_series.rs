//! The source of samples in a file.

use oasis_wire::{probe_kind::ProbeKind, schema::ProbeType};
use std::sync::Arc;
use uuid::Uuid;

/// The instance of samples, according to the file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSeries {
    /// Node name, if OASIS recorded them.
    pub node: Option<Arc<str>>,
    /// Instance name; the topic of a channel of another program.
    pub instance: Arc<str>,
    /// Whether it was periodic or pushed.
    pub kind: ProbeKind,
    /// The run of the sequence numbers: the same whenever the file is read.
    pub run: Uuid,
    /// Their type.
    pub probe_type: Arc<ProbeType>,
}
