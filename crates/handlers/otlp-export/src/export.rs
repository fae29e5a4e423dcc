//! The handler: sends what is new at each interval, and counts.

use crate::{
    config::{BadConfig, OtlpExportConfig, Target},
    json::rejected,
    newest::Newest,
};
use oasis_dac::{Dac, now};
use oasis_handler::{ConfiguredHandler, Context, Failure, Handler, StateMetrics};
use oasis_http_client::logged_url;
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Timeout of a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends newest values to a collector.
#[derive(Debug)]
pub struct OtlpExport {
    config: OtlpExportConfig,
    target: Target,
    /// Locked for a few additions, and to clone it.
    figures: Mutex<Figures>,
}

/// Figures since the handler was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Figures {
    requests: u64,
    failed_requests: u64,
    /// Values that the collector has taken.
    points: u64,
    /// Values that a collector has not received: their request failed, or an earlier one. The handler sends each again, unless its series has a newer value.
    failed_points: u64,
    /// Values that the collector has rejected.
    rejected_points: u64,
    /// Series beyond the limit, of the last interval.
    omitted_series: u64,
    /// Why the last request failed; none after one that did not.
    last_error: Option<String>,
    /// Whether the last request had no answer: the log has one line for the beginning and one for the end.
    #[serde(skip)]
    is_failing: bool,
}

impl ConfiguredHandler for OtlpExport {
    type Config = OtlpExportConfig;
    type Handler = Self;
    type Error = BadConfig;

    fn configured(config: OtlpExportConfig) -> Result<Option<Self>, BadConfig> {
        if config.endpoint.is_empty() {
            return Ok(None);
        }
        let target = Target::new(&config)?;
        Ok(Some(Self { config, target, figures: Mutex::default() }))
    }
}

impl Handler for OtlpExport {
    fn name(&self) -> &'static str {
        "otlp_export"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let interval = Duration::from_secs(self.config.interval_seconds);
        let mut newest = Newest::new(self.config.interval_seconds);
        let mut next = Instant::now();
        loop {
            // An interval that is missed is not caught up.
            next = (next + interval).max(Instant::now());
            if context.stopping.wait_for(next.saturating_duration_since(Instant::now())) {
                return Ok(());
            }
            self.send(&context.dac, &mut newest, || context.stopping.is_stopping());
        }
    }

    fn state(&self) -> Value {
        json!(*self.figures())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &["requests", "failed_requests", "points", "failed_points", "rejected_points"],
            gauges: &["omitted_series"],
        }
    }

    fn problem(&self) -> Option<String> {
        self.figures().last_error.clone().map(|why| format!("the collector takes no values: {why}"))
    }

    fn warnings(&self) -> Vec<String> {
        let omitted = self.figures().omitted_series;
        let text = || format!("{omitted} series are not sent: otlp_export.max_series, or fewer instances");
        (omitted > 0).then(text).into_iter().collect()
    }

    /// A request that is under way ends first.
    fn stop_deadline(&self) -> Duration {
        REQUEST_TIMEOUT + Duration::from_secs(2)
    }
}

impl OtlpExport {
    fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what is new, in several requests if it is much.
    fn send(&self, dac: &Dac, newest: &mut Newest, is_stopping: impl Fn() -> bool) {
        let (batches, omitted) = newest.collect(dac, &self.config.instances, self.config.max_series);
        self.figures().omitted_series = omitted;
        let endpoint = logged_url(&self.config.endpoint);
        let mut batches = batches.into_iter();
        while let Some(batch) = batches.next() {
            if is_stopping() {
                return;
            }
            let points = batch.points();
            let sent = self.target.post(&batch.request(dac.epoch().began().0..now().0));
            let mut figures = self.figures();
            figures.requests += 1;
            match sent {
                Ok(answer) => {
                    if std::mem::take(&mut figures.is_failing) {
                        tracing::warn!(endpoint, "the collector takes values again");
                    }
                    let (count, why) = rejected(&answer, "rejectedDataPoints");
                    figures.points += points.saturating_sub(count);
                    figures.rejected_points += count;
                    figures.last_error = (count > 0).then(|| format!("{count} values rejected: {why}"));
                    newest.mark(&batch);
                }
                Err(error) => {
                    if !figures.is_failing {
                        figures.is_failing = true;
                        tracing::warn!(endpoint, %error, "the collector takes no values (otlp_export.endpoint), trying at the next interval");
                    }
                    figures.failed_requests += 1;
                    // The rest of the interval is not tried.
                    figures.failed_points += points + batches.map(|rest| rest.points()).sum::<u64>();
                    figures.last_error = Some(error);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
