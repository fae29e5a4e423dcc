//! Samples that a recording says are missing.

use oasis_wire::loss::Cause;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Samples that are missing in the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Node name, if OASIS recorded it.
    pub node: Option<String>,
    /// Instance name.
    pub instance: String,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Their sequence numbers.
    pub numbers: RangeInclusive<u64>,
    /// The cause. An unknown word is [`Cause::Unexplained`].
    pub cause: Cause,
}
