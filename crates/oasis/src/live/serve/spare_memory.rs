//! Gives memory back to the system that the allocator keeps after many handshakes.
//!
//! A handshake needs some kilobytes for a moment. The allocator keeps them between the few bytes that each connection needs from then on: with
//! thousands of connections, a third of the memory of the process (docs/evidence/lab.md).

use oasis_dac::Dac;
use std::{sync::Arc, time::Duration};
use tokio::task;

/// Interval at which connections are counted.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Memory is given back after this many connections have come or gone.
const MIN_CONNECTION_CHANGE: usize = 1_000;

/// Polls the number of connections as long as the process runs.
pub async fn give_back(dac: Arc<Dac>) {
    let mut settled = TrimTrigger::default();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let connections = dac.shards.figures().iter().map(|shard| shard.connections).sum();
        if settled.is_trim_due(connections) && task::spawn_blocking(trim).await.is_err() {
            return;
        }
    }
}

/// Whether many connections have come or gone, and no more do.
#[derive(Debug, Default)]
struct TrimTrigger {
    /// Connections at the last look.
    last: usize,
    /// Connections when memory was given back.
    given: usize,
}

impl TrimTrigger {
    fn is_trim_due(&mut self, connections: usize) -> bool {
        // While they come, each of their handshakes needs the memory again.
        let is_quiet = connections.abs_diff(self.last) < MIN_CONNECTION_CHANGE / 10;
        self.last = connections;
        let is_due = is_quiet && connections.abs_diff(self.given) >= MIN_CONNECTION_CHANGE;
        if is_due {
            self.given = connections;
        }
        is_due
    }
}

/// Other allocators than that of glibc give memory back themselves.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: it takes a number and no memory of the caller, from any thread (malloc_trim(3)).
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_once_after_a_wave_of_connections() {
        let mut settled = TrimTrigger::default();
        let looks = [10, 900, 5_000, 19_000, 19_050, 19_050, 18_500, 18_500, 100, 100]
            .map(|now| settled.is_trim_due(now));
        assert_eq!(looks, [false, false, false, false, true, false, false, false, false, true]);
    }
}
