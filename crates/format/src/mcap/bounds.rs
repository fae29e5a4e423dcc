//! How much of a file is held at once, whatever it says of itself.

use oasis_wire::schema::{Metric, MetricType};

/// Longest record, and longest chunk, packed or unpacked, in bytes.
pub const MAX_RECORD: usize = 256 * 1024 * 1024;
/// Bytes asked of a file at once: a record that only says it is long costs no more than what is there.
pub const READ: usize = 64 * 1024;
/// Bytes of all schemas and channels together.
pub const MAX_DESCRIPTIONS: usize = 64 * 1024 * 1024;
/// Metrics of all schemas and channels together, members of structs included: each costs a few hundred bytes.
pub const MAX_METRICS: usize = 1_000_000;
/// Longest message, and longest schema or channel, in bytes. JSON takes up to 16 times as much once it is parsed.
pub const MAX_MESSAGE: usize = 8 * 1024 * 1024;
/// Longest sample, in bytes: a batch must hold it.
pub const MAX_ROW: usize = 768 * 1024;
/// Most values of a sample: each takes a byte of it at least.
pub const MAX_ROW_VALUES: usize = MAX_ROW;
/// Most samples of a batch.
pub const MAX_SAMPLES: usize = 4_096;
/// Bytes held of a channel before they become a batch.
pub const MAX_HELD: usize = 256 * 1024;
/// Bytes for which a channel keeps its room when they have become a batch: there may be 65,536 channels.
pub const MAX_KEPT: usize = 1_024;
/// Bytes held of all channels together before they become batches.
pub const MAX_HELD_TOGETHER: usize = 64 * 1024 * 1024;
/// Most batches of a file: an archive remembers some 100 bytes of each until all of them are in it.
pub const MAX_BATCHES: usize = 8 * 1024 * 1024;

/// Most ranges of missing samples that are held: an archive keeps no more causes.
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
