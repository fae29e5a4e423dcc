//! The source of samples, and gaps.

use oasis_wire::{loss::Cause, probe_kind::ProbeKind, quantity::Epoch, schema::ProbeType};
use std::{ops::RangeInclusive, sync::Arc};
use uuid::Uuid;

/// One instance in one run of its node and one epoch of its DAC.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Whether it is periodic or pushed.
    pub kind: ProbeKind,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// The epoch of the offsets.
    pub epoch: Epoch,
    /// The type of its samples.
    pub probe_type: Arc<ProbeType>,
}

/// Samples of an instance that are missing.
#[derive(Debug, Clone)]
pub struct Gap<'a> {
    /// Node name.
    pub node: &'a str,
    /// Instance name.
    pub instance: &'a str,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// Number of samples.
    pub count: u64,
    /// Their sequence numbers, if they are known.
    pub numbers: Option<RangeInclusive<u64>>,
    /// The cause.
    pub cause: Cause,
    /// Time of the sample before them, or after them if there is none; nanoseconds since 1970.
    pub time: u64,
}
