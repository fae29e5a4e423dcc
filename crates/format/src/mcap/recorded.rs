//! Whose samples a file has.

use oasis_channel::ProbeKind;
use oasis_wire::schema::ProbeType;
use std::sync::Arc;
use uuid::Uuid;

/// The instance that samples are of, as the file says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Node name, if OASIS has recorded them.
    pub node: Option<Arc<str>>,
    /// Instance name; a channel's topic if it is another program's.
    pub instance: Arc<str>,
    /// What decided when a sample was taken.
    pub kind: ProbeKind,
    /// The run that sequence numbers count in: the same whenever the file is read.
    pub run: Uuid,
    /// Their type.
    pub probe_type: Arc<ProbeType>,
}
