//! A handler that serves `/metrics`: the DAC's health and counters, and the newest values of probe instances, for Prometheus and compatible scrapers.
//!
//! The handler keeps no state and reads only on a scrape: the registry, the ledgers and the newest sample of each
//! topic log. `exposition` writes the text formats (OpenMetrics 1.0 and Prometheus' 0.0.4), `collect` collects the values.
//! `docs/guides/scrape-with-prometheus.md` is the guide.
//!
//! ```
//! use oasis_handler::{ConfiguredHandler, Supervisor};
//! use oasis_openmetrics::{OpenMetrics, OpenMetricsConfig};
//! use std::sync::Arc;
//!
//! let dac = oasis_dac::Dac::new(oasis_dac::Config::default());
//! let handler = OpenMetrics::configured(OpenMetricsConfig::default())?.expect("enabled by default");
//! let supervisor = Supervisor::new(dac, None, vec![Arc::new(handler)]);
//! supervisor.start_all();
//! while supervisor.document("/metrics", "").is_none() {}
//! let metrics = supervisor.document("/metrics", "application/openmetrics-text").expect("it runs");
//! assert!(metrics.body.ends_with(b"# EOF\n"));
//! supervisor.stop_all();
//! # Ok::<(), oasis_openmetrics::BadPattern>(())
//! ```

mod collect;
mod exposition;
mod families;

pub use exposition::Kind;
pub use families::{Families, Family};

use exposition::Exposition;
use oasis_dac::Dac;
use oasis_handler::{
    ConfiguredHandler, Context, Document, Failure, Handler, StateMetrics, StoredSamples, Supervisor,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};
use std::{fmt, sync::Arc, time::Duration};

/// Longest sleep of the thread; a request to stop wakes it at once.
const IDLE_WAIT: Duration = Duration::from_secs(3_600);

/// The settings of the handler (`[openmetrics]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenMetricsConfig {
    /// Whether `/metrics` is served, on the address of the page.
    pub enabled: bool,
    /// Instances whose newest values are served, as `NODE/INSTANCE`; a `*` stands for any text. Empty for the DAC's own counters only.
    pub instances: Vec<String>,
    /// Most series in one answer: a value of an instance is one. Further values are omitted and counted.
    pub max_series: usize,
}

impl Default for OpenMetricsConfig {
    fn default() -> Self {
        Self { enabled: true, instances: vec!["*".into()], max_series: 20_000 }
    }
}

/// A pattern that can match no instance.
#[derive(Debug, thiserror::Error)]
#[error(
    "openmetrics.instances: {0:?} matches no instance: write NODE/INSTANCE, such as \"{0}/*\" or \"*/{0}\""
)]
pub struct BadPattern(String);

/// Sources of a scrape.
#[derive(Clone)]
struct Source {
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

/// Serves `/metrics`.
#[derive(Debug)]
pub struct OpenMetrics {
    config: OpenMetricsConfig,
    /// DAC and archive while it runs. Locked to clone the pointers.
    source: Mutex<Option<Source>>,
    scrapes: AtomicU64,
    /// Series that the last scrape omitted.
    omitted: AtomicU64,
    /// Values of the last scrape whose series another metric of their instance has.
    duplicates: AtomicU64,
}

impl ConfiguredHandler for OpenMetrics {
    type Config = OpenMetricsConfig;
    type Handler = Self;
    type Error = BadPattern;

    fn configured(config: OpenMetricsConfig) -> Result<Option<Self>, BadPattern> {
        if let Some(bad) = config.instances.iter().find(|pattern| !pattern.contains(['/', '*'])) {
            return Err(BadPattern(bad.clone()));
        }
        let handler = Self {
            config,
            source: Mutex::default(),
            scrapes: AtomicU64::new(0),
            omitted: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
        };
        Ok(Some(handler).filter(|handler| handler.config.enabled))
    }
}

impl OpenMetrics {
    fn set_source(&self, source: Option<Source>) {
        *self.source.lock().unwrap_or_else(PoisonError::into_inner) = source;
    }
}

impl Handler for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        self.set_source(Some(Source { dac: context.dac, archive: context.archive }));
        while !context.stopping.wait_for(IDLE_WAIT) {}
        self.set_source(None);
        Ok(())
    }

    fn state(&self) -> Value {
        json!({
            "scrapes": self.scrapes.load(Ordering::Relaxed),
            "omitted": self.omitted.load(Ordering::Relaxed),
            "duplicates": self.duplicates.load(Ordering::Relaxed),
        })
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics { counters: &["scrapes"], gauges: &["omitted", "duplicates"] }
    }

    fn document(&self, path: &str, accept: &str, all: &Supervisor) -> Option<Document> {
        if path != "/metrics" {
            return None;
        }
        let Source { dac, archive } = self.source.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let mut exposition = Exposition::accepted(accept, self.config.max_series);
        // Series of instances come last: they can be more than the limit.
        collect::handlers(&all.metrics(), &mut exposition);
        collect::dac(&dac, &mut exposition);
        collect::shards(&dac.shards.figures(), &mut exposition);
        if let Some(archive) = archive {
            collect::archive(&archive.history(), &mut exposition);
        }
        collect::newest_values(&dac, &self.config.instances, &mut exposition);
        self.scrapes.fetch_add(1, Ordering::Relaxed);
        self.omitted.store(exposition.omitted(), Ordering::Relaxed);
        self.duplicates.store(exposition.duplicates(), Ordering::Relaxed);
        Some(exposition.finish())
    }
}

#[cfg(test)]
mod tests;
