//! Bounds for reading an MCAP file, whatever its content.

pub use crate::input::bounds::{MAX_BATCHES, MAX_HELD_TOGETHER, MAX_LOST, MAX_MESSAGE, MAX_METRICS, MAX_ROW};
use oasis_wire::schema::{Metric, MetricType};

/// Longest record, and longest chunk, packed or unpacked, in bytes.
pub const MAX_RECORD: usize = 256 * 1024 * 1024;
/// Bytes read at once: a record with a wrong length costs no more memory than the file has bytes.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;
/// Bytes of all schemas and channels together.
pub const MAX_DESCRIPTIONS: usize = 64 * 1024 * 1024;

/// Most bytes of names and causes of missing samples together.
pub const MAX_LOST_BYTES: usize = 64 * 1024 * 1024;

/// Metrics and all members of structs within them.
pub fn metrics(of: &[Metric]) -> usize {
    fn within(kind: &MetricType) -> usize {
        match kind {
            MetricType::Vector(element) => within(element),
            MetricType::Struct(of) => metrics(&of.members),
            MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Real32
            | MetricType::Real64
            | MetricType::Boolean
            | MetricType::String
            | MetricType::Blob(_) => 0,
        }
    }
    of.iter().map(|metric| 1 + within(&metric.kind)).sum()
}
