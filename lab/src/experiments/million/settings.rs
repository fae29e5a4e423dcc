//! The variables, as one cell sets them.

use crate::experiment::Cell;
use anyhow::ensure;
use std::time::Duration;

/// New watchers a second that two cores take, about.
const RATE: usize = 1_500;
/// WebSockets of one relay at most: each has a port of the address of its clients.
const PORTS: usize = 50_000;

/// The values of all variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `WATCHERS`: clients, all together.
    pub watchers: usize,
    /// `SOCKETS`: clients of one relay at most.
    pub sockets: usize,
    /// `LOG`: memory of a relay's topic logs, MiB.
    pub log_mib: usize,
    /// `SHARDS`: threads of a relay.
    pub shards: usize,
    /// `SAMPLES`: sent to all.
    pub samples: u32,
}

impl Settings {
    /// The values of a cell.
    pub fn of(cell: &Cell) -> anyhow::Result<Self> {
        let sockets = cell.count("SOCKETS")?;
        ensure!((1..=PORTS).contains(&sockets), "SOCKETS={sockets}: 1 to {PORTS}");
        Ok(Self {
            watchers: cell.count("WATCHERS")?.max(1),
            sockets,
            log_mib: cell.count("LOG")?.max(1),
            shards: cell.count("SHARDS")?.max(1),
            samples: u32::try_from(cell.whole("SAMPLES")?)?.max(1),
        })
    }

    /// Watchers of each relay.
    pub fn parts(&self) -> Vec<usize> {
        let relays = self.watchers.div_ceil(self.sockets);
        (0..relays).map(|relay| self.sockets.min(self.watchers - relay * self.sockets)).collect()
    }

    /// Returns the approximate duration of a cell.
    pub fn length(&self) -> Duration {
        Duration::from_secs((self.watchers / RATE) as u64)
    }
}
