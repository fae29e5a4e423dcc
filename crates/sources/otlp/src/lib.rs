//! A source that takes metrics, logs and traces of OpenTelemetry over HTTP and gRPC, as Protocol Buffers and as JSON.
//!
//! The source answers `/v1/metrics`, `/v1/logs` and `/v1/traces` on the address of the page. In the order of a request: `json` turns JSON into
//! Protocol Buffers by the tables of `layout`, so that one decoder reads both; `walk` visits resources, scopes and items; `names` makes the names
//! of nodes and instances; `points`, `logs` and `spans` make samples of the types of `types`; `answer` says what was refused.
//! `docs/guides/receive-opentelemetry.md` is the guide. Without the feature `source`, settings that enable it are refused.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_otlp::{Otlp, OtlpConfig};
//!
//! assert!(Otlp::configured(OtlpConfig::default())?.is_none(), "it is enabled by its section");
//! # Ok::<(), oasis_otlp::BadConfig>(())
//! ```

#[cfg(feature = "source")]
mod answer;
#[cfg(feature = "source")]
mod attributes;
mod config;
#[cfg(feature = "source")]
mod json;
#[cfg(feature = "source")]
mod layout;
#[cfg(feature = "source")]
mod logs;
#[cfg(feature = "source")]
mod metrics;
#[cfg(feature = "source")]
mod names;
#[cfg(feature = "source")]
mod points;
#[cfg(feature = "source")]
mod series;
#[cfg(feature = "source")]
mod signal;
#[cfg(feature = "source")]
mod source;
#[cfg(feature = "source")]
mod spans;
#[cfg(feature = "source")]
mod types;
#[cfg(feature = "source")]
mod walk;
#[cfg(feature = "source")]
mod writer;

#[cfg(test)]
#[cfg(feature = "source")]
mod tests;

pub use config::{BadConfig, OtlpConfig};
#[cfg(feature = "source")]
pub use source::OtlpSource;

use oasis_handler::ConfiguredHandler;
#[cfg(feature = "source")]
use oasis_handler::{Context, Failure, Handler, InletAnswer, InletRequest, StateMetrics};
#[cfg(feature = "source")]
use serde_json::Value;
#[cfg(feature = "source")]
use std::time::Duration;

/// Longest sleep of the thread; a request to stop wakes it at once.
#[cfg(feature = "source")]
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(3_600);

/// The section `[otlp]`.
#[derive(Debug)]
pub enum Otlp {}

impl ConfiguredHandler for Otlp {
    type Config = OtlpConfig;
    #[cfg(feature = "source")]
    type Handler = source::OtlpSource;
    #[cfg(not(feature = "source"))]
    type Handler = oasis_handler::Unbuilt;
    type Error = BadConfig;

    fn configured(config: OtlpConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if !config.enabled {
            return config.check_off().map(|()| None);
        }
        config.check()?;
        #[cfg(feature = "source")]
        return Ok(Some(OtlpSource::new(config)));
        #[cfg(not(feature = "source"))]
        Err(BadConfig::NotBuilt)
    }
}

#[cfg(feature = "source")]
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
