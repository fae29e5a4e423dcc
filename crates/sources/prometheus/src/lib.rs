//! A source that takes the remote write of Prometheus, versions 1.0 and 2.0, and reads exporters itself.
//!
//! The source answers `/api/v1/write` on the address of the page. In the order of a request: `body` decompresses it, `message` splits it into series with
//! their labels and samples, `names` makes node and instance of the labels, `loops` finds series that this DAC has sent itself, `write` pushes the samples, `presence` finds nodes whose series have all ended.
//! `scrape` reads exporters at intervals, `exposition` their text, and `metric_family` their Protocol Buffers with `native_histogram`.
//! Sources: <https://prometheus.io/docs/specs/prw/remote_write_spec/>, <https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/>.
//! `docs/guides/receive-prometheus.md` is the guide.
//!
//! ```
//! use oasis_handler::ConfiguredHandler;
//! use oasis_prometheus::{Prometheus, PrometheusConfig};
//!
//! assert!(Prometheus::configured(PrometheusConfig::default())?.is_none(), "it is enabled by its section");
//! # Ok::<(), oasis_prometheus::BadConfig>(())
//! ```

mod body;
mod config;
mod exposition;
mod loops;
mod message;
mod metric_family;
mod names;
mod native_histogram;
mod presence;
mod scrape;
mod source;
mod target_log;
mod write;

#[cfg(test)]
mod tests;

pub use config::{BadConfig, PrometheusConfig};
pub use metric_family::{ExposedLabels, ExposedValue, TakeSample, each_sample};
pub use native_histogram::{Buckets, NativeHistogram};
pub use source::RemoteWriteSource;

use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, InletAnswer, InletRequest, StateMetrics};
use serde_json::Value;
use std::time::Duration;

/// Longest sleep of the thread; a request to stop wakes it at once.
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(3_600);

/// The section `[prometheus]`.
#[derive(Debug)]
pub enum Prometheus {}

impl ConfiguredHandler for Prometheus {
    type Config = PrometheusConfig;
    type Handler = source::RemoteWriteSource;
    type Error = BadConfig;

    fn configured(config: PrometheusConfig) -> Result<Option<Self::Handler>, BadConfig> {
        if !config.enabled {
            return config.check_off().map(|()| None);
        }
        config.check()?;
        Ok(Some(source::RemoteWriteSource::new(config)))
    }
}

impl Handler for source::RemoteWriteSource {
    fn name(&self) -> &'static str {
        "prometheus"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        self.open(context.dac.clone(), context.archive.clone());
        let config = self.config();
        let interval = Duration::from_secs_f64(config.scrape_interval);
        scrape::run(self, &config.scrape, interval, &context.stopping);
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
                "scrapes",
                "failed_scrapes",
                "samples",
                "lost_samples",
                "refused_samples",
                "looped_samples",
                "left_out_histograms",
                "left_out_exemplars",
                "ended_nodes",
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
