//! Bounds for reading any file, whatever its content.

/// Longest sample, in bytes: it must fit into a batch.
pub const MAX_ROW: usize = 768 * 1024;
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
/// Metrics of all schemas and channels together, members of structs included: each costs a few hundred bytes.
pub const MAX_METRICS: usize = 1_000_000;
/// Longest message, and longest schema or channel, in bytes. JSON takes up to 16 times as much once it is parsed.
pub const MAX_MESSAGE: usize = 8 * 1024 * 1024;
