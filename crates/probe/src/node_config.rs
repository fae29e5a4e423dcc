//! What a node may be told.

use crate::realtime::RealTime;
use std::{path::PathBuf, time::Duration};
use uuid::Uuid;

/// Bounds of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Most bytes of batches that wait for the DAC or for its acknowledgement; beyond it the oldest unsent are dropped and counted.
    pub spool_bytes: usize,
    /// Keeps batches in files of this directory as well until the DAC has them: they survive the process, and a DAC that is away longer than memory lasts.
    /// What an earlier process left there is sent first.
    pub spool_directory: Option<PathBuf>,
    /// Most bytes of these files, 1 MiB at least; beyond it the oldest are dropped and counted.
    pub spool_directory_bytes: u64,
    /// Most samples in one batch, 1 to 65,535.
    pub batch_samples: usize,
    /// Most bytes of rows in one batch, 512 KiB at most: what goes as datagrams has to be small.
    pub batch_bytes: usize,
    /// How long a sample of a busy stream waits for others; an idle stream's sample leaves at once.
    pub linger: Duration,
    /// Identity over lives; derived from host and name when absent.
    pub uuid: Option<Uuid>,
    /// Whether probes whose type says `rate(demand, …)` leave their rate to those who read them; otherwise each keeps the rate it was added with.
    pub demand: bool,
    /// How the thread that collects samples is to run.
    pub real_time: RealTime,
    /// What the node's threads may take of a core, such as 0.02; beyond it the rates of periodic probes are lowered, those of least [`Importance`](crate::Importance) first.
    /// Without it the cost is only told.
    pub overhead_budget: Option<f64>,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            spool_bytes: 16 * 1024 * 1024,
            spool_directory: None,
            spool_directory_bytes: 256 * 1024 * 1024,
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
