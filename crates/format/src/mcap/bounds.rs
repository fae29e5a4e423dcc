//! Bounds for reading a file, whatever its content.

use oasis_wire::schema::{Metric, MetricType};

/// Longest record, and longest chunk, packed or unpacked, in bytes.
pub const MAX_RECORD: usize = 256 * 1024 * 1024;
/// Bytes read at once: a record with a wrong length costs no more memory than the file has bytes.
pub const READ: usize = 64 * 1024;
/// Bytes of all schemas and channels together.
pub const MAX_DESCRIPTIONS: usize = 64 * 1024 * 1024;
/// Metrics of all schemas and channels together, members of structs included: each costs a few hundred bytes.
pub const MAX_METRICS: usize = 1_000_000;
/// Longest message, and longest schema or channel, in bytes. JSON takes up to 16 times as much once it is parsed.
pub const MAX_MESSAGE: usize = 8 * 1024 * 1024;
/// Longest sample, in bytes: it must fit into a batch.
pub const MAX_ROW: usize = 768 * 1024;
/// Most values of a sample: each takes at least a byte.
pub const MAX_ROW_VALUES: usize = MAX_ROW;
/// Most samples of a batch.
pub const MAX_SAMPLES: usize = 4_096;
/// Bytes collected of a channel before they become a batch.
pub const MAX_HELD: usize = 256 * 1024;
/// Bytes of memory that a channel keeps after a batch: there may be 65,536 channels.
pub const MAX_KEPT: usize = 1_024;
/// Bytes collected of all channels together before they become batches.
pub const MAX_HELD_TOGETHER: usize = 64 * 1024 * 1024;
/// Most batches of a file: an import keeps about 100 bytes of each until its commit.
pub const MAX_BATCHES: usize = 8 * 1024 * 1024;

/// Most ranges of missing samples: an archive stores no more causes.
pub const MAX_LOST: usize = 100_000;
/// Most bytes of their names and causes together.
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
            | MetricType::String => 0,
        }
    }
    of.iter().map(|metric| 1 + within(&metric.kind)).sum()
}
