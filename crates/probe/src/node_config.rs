//! Configuration of a node.

use crate::realtime::RealTime;
use std::{path::PathBuf, time::Duration};
use uuid::Uuid;

/// Limits and options of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Most bytes of batches that wait for the DAC or for its acknowledgement; above it the oldest unsent ones are
    /// dropped and counted.
    pub spool_bytes: usize,
    /// Directory in which batches are also kept until they are safe at the DAC. They survive the process, and a DAC that is
    /// unreachable for longer than the memory lasts. Batches of an earlier process are sent first.
    pub spool_directory: Option<PathBuf>,
    /// Most bytes of these files, at least 1 MiB; above it the oldest are dropped and counted.
    pub spool_directory_bytes: u64,
    /// Most bytes of batches that are sent in a second, for a slow link. Batches that wait longer fill the spool, and samples get
    /// older: there is no limit by default.
    pub max_bytes_per_second: Option<u64>,
    /// Most samples in one batch, 1 to 65,535.
    pub batch_samples: usize,
    /// Most bytes of rows in one batch, at most 512 KiB: a datagram needs a small batch.
    pub batch_bytes: usize,
    /// Time that a sample of a busy stream waits for others; a sample of an idle stream is sent at once.
    pub linger: Duration,
    /// Identity across runs; derived from host and name if absent.
    pub uuid: Option<Uuid>,
    /// Whether probes whose type says `rate(demand, …)` follow the demand of readers; otherwise each keeps its
    /// initial rate.
    pub demand: bool,
    /// Scheduling of the thread that collects samples.
    pub real_time: RealTime,
    /// Limit for the node's threads as a share of one core, for example 0.02. Above it the rates of periodic probes
    /// are lowered, those of least [`Importance`](crate::Importance) first. Without a limit the cost is only
    /// reported.
    pub overhead_budget: Option<f64>,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            spool_bytes: 16 * 1024 * 1024,
            spool_directory: None,
            spool_directory_bytes: 256 * 1024 * 1024,
            max_bytes_per_second: None,
            batch_samples: 1_024,
            batch_bytes: 512 * 1024,
            linger: Duration::from_millis(10),
            uuid: None,
            demand: true,
            real_time: RealTime::default(),
            overhead_budget: None,
        }
    }
}
