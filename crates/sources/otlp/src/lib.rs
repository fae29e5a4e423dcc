//! A source that takes metrics, logs and traces of OpenTelemetry over HTTP and gRPC, as Protocol Buffers and as JSON.
//!
//! The source answers `/v1/metrics`, `/v1/logs` and `/v1/traces` on the address of the page. In the order of a request: `json` turns JSON into
//! Protocol Buffers by the tables of `layout`, so that one decoder reads both; `walk` visits resources, scopes and items; `names` makes the names
//! of nodes and instances; `points`, `logs` and `spans` make samples of the types of `types`; `answer` says what was refused.
//! `docs/guides/receive-opentelemetry.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_otlp::{Otlp, OtlpConfig};
//!
//! assert!(Otlp::configured(OtlpConfig::default())?.is_none(), "it is enabled by its section");
//! # Ok::<(), oasis_otlp::BadConfig>(())
//! ```

mod answer;
mod attributes;
mod config;
mod json;
mod layout;
mod logs;
mod loops;
mod metrics;
mod names;
mod points;
mod series;
mod signal;
mod source;
mod spans;
mod types;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, OtlpConfig};
pub use source::OtlpSource;

use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, InletAnswer, InletRequest, StateMetrics};
use serde_json::Value;
use std::time::Duration;

/// Longest sleep of the thread; a request to stop wakes it at once.
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(3_600);

/// The section `[otlp]`.
#[derive(Debug)]
pub enum Otlp {}

impl ConfiguredHandler for Otlp {
    type Config = OtlpConfig;
    type Handler = source::OtlpSource;
    type Error = BadConfig;

    fn configured(config: OtlpConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if !config.enabled {
            return config.check_off().map(|()| None);
        }
        config.check()?;
        Ok(Some(OtlpSource::new(config)))
    }
}

impl Handler for source::OtlpSource {
    fn name(&self) -> &'static str {
        "otlp"
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
                "data_points",
                "log_records",
                "spans",
                "lost_items",
                "refused_items",
                "points_without_value",
                "looped_points",
                "rounded_values",
                "repeated_requests",
                "repeated_samples",
                "refused_requests",
            ],
            gauges: &["nodes", "instances"],
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings()
    }

    fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        self.receive(request)
    }
}
