//! A source that takes line protocol from Telegraf, and from clients of InfluxDB 1, 2 and 3.
//!
//! The source answers `/write`, `/api/v2/write` and `/api/v3/write_lp` on the address of the page, and the questions of clients before that:
//! `/ping`, `/health`, and `CREATE DATABASE` at `/query`. In the order of a request: `request` finds path and precision, `write` parses the points and pushes
//! them as samples, `answer` says what was refused in the words of each version.
//! `docs/guides/receive-line-protocol.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_influxdb::{Influxdb, InfluxdbConfig};
//!
//! assert!(Influxdb::configured(InfluxdbConfig::default())?.is_none(), "it is enabled by its section");
//! # Ok::<(), oasis_influxdb::BadConfig>(())
//! ```

mod answer;
mod config;
mod request;
mod source;
mod write;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, InfluxdbConfig};

use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, InletAnswer, InletRequest, StateMetrics};
use serde_json::Value;
use std::time::Duration;

/// Longest sleep of the thread; a request to stop wakes it at once.
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(3_600);

/// The section `[influxdb]`.
#[derive(Debug)]
pub enum Influxdb {}

impl ConfiguredHandler for Influxdb {
    type Config = InfluxdbConfig;
    type Handler = source::LineProtocolSource;
    type Error = BadConfig;

    fn configured(config: InfluxdbConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if !config.enabled {
            return Ok(None);
        }
        config.check()?;
        Ok(Some(source::LineProtocolSource::new(config)))
    }
}

impl Handler for source::LineProtocolSource {
    fn name(&self) -> &'static str {
        "influxdb"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        self.open(context.dac.clone(), context.archive.clone());
        while !context.stopping.wait_for(STOP_POLL_INTERVAL) {}
        self.close();
        Ok(())
    }

    fn state(&self) -> Value {
        self.state()
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "requests",
                "points",
                "lost_points",
                "refused_points",
                "left_out_fields",
                "replaced_texts",
                "rounded_values",
                "repeated_requests",
                "repeated_samples",
                "refused_requests",
            ],
            gauges: &["nodes", "series"],
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings()
    }

    fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        self.receive(request)
    }
}
