//! A series: the samples of one instance in one run of its node and one epoch of the DAC. Within it, offsets and sequence numbers both only grow.

use oasis_wire::{probe_kind::ProbeKind, quantity::Epoch, schema::ProbeType};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// The samples of one instance in one run of its node and one epoch of the DAC, and their type.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Node name.
    pub node: Arc<str>,
    /// Instance name.
    pub instance: Arc<str>,
    /// Trigger of the samples.
    pub kind: ProbeKind,
    /// The run of the sequence numbers.
    pub run: Uuid,
    /// The epoch of the offsets.
    pub epoch: Epoch,
    /// Their type.
    pub probe_type: Arc<ProbeType>,
}

/// A series as in its record in a segment file; the type has its own record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesRecord {
    node: Arc<str>,
    instance: Arc<str>,
    kind: ProbeKind,
    run: Uuid,
    epoch: Epoch,
    /// The file's number for its type.
    #[serde(rename = "type")]
    pub type_number: u32,
}

impl SeriesRecord {
    /// Returns the record of a series whose type has this number in the file.
    pub fn new(series: &Series, type_number: u32) -> Self {
        let Series { node, instance, kind, run, epoch, .. } = series.clone();
        Self { node, instance, kind, run, epoch, type_number }
    }

    /// The series, with its type.
    pub fn with_type(self, probe_type: Arc<ProbeType>) -> Series {
        let Self { node, instance, kind, run, epoch, .. } = self;
        Series { node, instance, kind, run, epoch, probe_type }
    }
}
