//! Shards as the API shows them.

use crate::{shard_choice::ShardChoice, websocket::Rates};
use oasis_dac::ShardFigures;
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The threads that write to WebSockets.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShardsView {
    /// The choice: a number, `0` for one a core, or `auto`.
    #[schema(value_type = serde_json::Value)]
    pub choice: ShardChoice,
    /// Shards that take connections.
    pub shards: usize,
    /// Cores that the DAC may use.
    pub cores: usize,
    /// Most shards that can be chosen.
    pub most: usize,
    /// Each shard, also those that hand over their connections.
    pub threads: Vec<ShardView>,
}

/// One shard. Rates are of the last second.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShardView {
    /// Its number, as in the name of its thread.
    pub number: usize,
    /// `open`, or `leaving` while it hands over its connections.
    pub state: &'static str,
    /// Connections, those on their way to it included.
    pub connections: usize,
    /// Processor time as a share of one core.
    pub cpu: f64,
    /// Processor time since it started, in seconds.
    pub cpu_seconds: f64,
    /// Bytes that sockets have taken since it started.
    pub bytes: u64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Wakeups since it started.
    pub wakeups: u64,
    /// Wakeups a second.
    pub wakeups_per_second: f64,
    /// Mean time from a topic having samples to these being written, in milliseconds.
    pub lag_ms: f64,
    /// The longest such time, in milliseconds.
    pub longest_lag_ms: f64,
}

impl ShardView {
    /// A shard with these counters, and what it did in the last second.
    pub(crate) fn new(figures: ShardFigures, rates: Rates) -> Self {
        let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
        Self {
            number: figures.number,
            state: if figures.is_leaving { "leaving" } else { "open" },
            connections: figures.connections,
            cpu: rates.cpu,
            cpu_seconds: figures.cpu.as_secs_f64(),
            bytes: figures.bytes,
            bytes_per_second: rates.bytes,
            wakeups: figures.wakeups,
            wakeups_per_second: rates.wakeups,
            lag_ms: millis(rates.lag),
            longest_lag_ms: millis(figures.longest_lag),
        }
    }
}
