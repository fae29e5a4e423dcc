//! A source that takes line protocol from Telegraf, and from clients of InfluxDB 1, 2 and 3.
//!
//! The source answers `/write`, `/api/v2/write` and `/api/v3/write_lp` on the address of the page, and the questions of clients before that:
//! `/ping`, `/health`, and `CREATE DATABASE` at `/query`. In the order of a request: `request` finds path and precision, `write` parses the points and pushes
//! them as samples, `answer` says what was refused in the words of each version.
//! `docs/guides/receive-line-protocol.md` is the guide. Without the feature `source`, settings that enable it are refused.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_influxdb::{Influxdb, InfluxdbConfig};
//!
//! assert!(Influxdb::configured(InfluxdbConfig::default())?.is_none(), "it is enabled by its section");
//! # Ok::<(), oasis_influxdb::BadConfig>(())
//! ```

#[cfg(feature = "source")]
mod answer;
mod config;
#[cfg(feature = "source")]
mod request;
#[cfg(feature = "source")]
mod source;
#[cfg(feature = "source")]
mod write;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use config::{BadConfig, InfluxdbConfig};

use oasis_handler::{ConfiguredHandler, Context, Failure, Handler};
#[cfg(feature = "source")]
use oasis_handler::{InletAnswer, InletRequest};
use serde_json::Value;
#[cfg(feature = "source")]
use std::time::Duration;

/// Longest sleep of the thread; a request to stop wakes it at once.
#[cfg(feature = "source")]
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(3_600);

/// Takes line protocol.
#[derive(Debug)]
pub struct Influxdb {
    #[cfg(feature = "source")]
    source: source::LineProtocolSource,
}

impl ConfiguredHandler for Influxdb {
    type Config = InfluxdbConfig;
    type Error = BadConfig;

    fn configured(config: InfluxdbConfig) -> Result<Option<Self>, BadConfig> {
        if !config.enabled {
            return Ok(None);
        }
        config.check()?;
        #[cfg(feature = "source")]
        return Ok(Some(Self { source: source::LineProtocolSource::new(config) }));
        #[cfg(not(feature = "source"))]
        Err(BadConfig::NotBuilt)
    }
}

#[cfg(feature = "source")]
impl Handler for Influxdb {
    fn name(&self) -> &'static str {
        "influxdb"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        self.source.open(context.dac.clone(), context.archive.clone());
        while !context.stopping.wait_for(STOP_POLL_INTERVAL) {}
        self.source.close();
        Ok(())
    }

    fn state(&self) -> Value {
        self.source.state()
    }

    fn warnings(&self) -> Vec<String> {
        self.source.warnings()
    }

    fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        self.source.receive(request)
    }
}

#[cfg(not(feature = "source"))]
impl Handler for Influxdb {
    fn name(&self) -> &'static str {
        "influxdb"
    }

    fn run(&self, _: Context) -> Result<(), Failure> {
        Err(Failure(BadConfig::NotBuilt.to_string()))
    }

    fn state(&self) -> Value {
        Value::Null
    }
}
