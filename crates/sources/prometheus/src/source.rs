//! The source while it runs: its nodes, its counters, and the answers to requests.

use crate::{
    PrometheusConfig,
    body::decompressed,
    message::{Message, Series, Version},
    names::Names,
    presence::Presence,
    scrape::ScrapedHistogram,
    write::{HistogramTypes, Writer, Written},
};
use oasis_dac::Dac;
use oasis_handler::{Acknowledge, InletAnswer, InletRequest, StoredSamples};
use oasis_source_node::{Repeats, SourceLimits, SourceNodes, wait_until_stored};
use serde_json::{Value, json};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The path of Prometheus's own receiver.
const PATH: &str = "/api/v1/write";
/// The remedy for series that come back.
const LOOP_REMEDY: &str = "let Prometheus send or serve no series with the labels node and instance back (write_relabel_configs), and do not scrape /metrics of this DAC for them";
const TEXT: &str = "text/plain; charset=utf-8";

/// Takes remote write.
#[derive(Debug)]
pub struct RemoteWriteSource {
    config: PrometheusConfig,
    /// Present while the source runs. Locked while the samples of a request are pushed.
    open: Mutex<Option<OpenSource>>,
    counters: Mutex<Counters>,
}

struct OpenSource {
    nodes: SourceNodes,
    presence: Presence,
    repeats: Repeats,
    histogram_types: HistogramTypes,
    archive: Option<Arc<dyn StoredSamples>>,
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSource").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// Counters since the start of the DAC.
#[derive(Debug, Default, Clone)]
struct Counters {
    requests: u64,
    scrapes: u64,
    failed_scrapes: u64,
    samples: u64,
    /// Samples that were taken, and that the DAC refused.
    lost_samples: u64,
    refused_samples: u64,
    /// Samples that the DAC has sent to Prometheus itself. They are not taken.
    looped_samples: u64,
    left_out_histograms: u64,
    left_out_exemplars: u64,
    /// Nodes that were taken offline because all their series had ended.
    ended_nodes: u64,
    repeated_requests: u64,
    repeated_samples: u64,
    refused_requests: u64,
    nodes: usize,
    series: usize,
    newest_refusal: Option<String>,
    newest_loop: Option<String>,
    newest_failure: Option<String>,
}

/// A refused request: its status, and the reason.
struct RequestError(u16, String);

impl RemoteWriteSource {
    /// Creates a source that is not open yet.
    pub fn new(config: PrometheusConfig) -> Self {
        Self { config, open: Mutex::default(), counters: Mutex::default() }
    }

    /// The settings.
    pub fn config(&self) -> &PrometheusConfig {
        &self.config
    }

    /// Takes requests from now on.
    pub fn open(&self, dac: Arc<Dac>, archive: Option<Arc<dyn StoredSamples>>) {
        let limits = SourceLimits {
            max_nodes: self.config.max_nodes,
            max_instances: self.config.max_series,
            ..SourceLimits::default()
        };
        let nodes = SourceNodes::new(dac, "oasis prometheus", limits).resuming(archive.clone());
        let (presence, repeats) = (Presence::default(), Repeats::default());
        *self.source() = Some(OpenSource {
            nodes,
            presence,
            repeats,
            histogram_types: HistogramTypes::default(),
            archive,
        });
    }

    /// Takes no requests any more; its nodes leave.
    pub fn close(&self) {
        *self.source() = None;
    }

    /// Returns the state of the handler.
    pub fn state(&self) -> Value {
        let counters = self.counters().clone();
        json!({
            "requests": counters.requests,
            "scrapes": counters.scrapes,
            "failed_scrapes": counters.failed_scrapes,
            "samples": counters.samples,
            "lost_samples": counters.lost_samples,
            "refused_samples": counters.refused_samples,
            "looped_samples": counters.looped_samples,
            "left_out_histograms": counters.left_out_histograms,
            "left_out_exemplars": counters.left_out_exemplars,
            "ended_nodes": counters.ended_nodes,
            "repeated_requests": counters.repeated_requests,
            "repeated_samples": counters.repeated_samples,
            "refused_requests": counters.refused_requests,
            "nodes": counters.nodes,
            "series": counters.series,
            "newest_refusal": counters.newest_refusal,
            "newest_loop": counters.newest_loop,
            "newest_failure": counters.newest_failure,
        })
    }

    /// Returns what was refused or left out.
    pub fn warnings(&self) -> Vec<String> {
        let counters = self.counters();
        let refusal = counters.newest_refusal.as_ref().map(|why| {
            let (samples, requests) = (counters.refused_samples, counters.refused_requests);
            format!("remote write: {samples} samples and {requests} requests refused, the newest: {why}")
        });
        let histograms = (counters.left_out_histograms > 0).then(|| {
            let count = counters.left_out_histograms;
            format!("remote write: {count} native histograms left out: scrape classic ones as well")
        });
        let failure = counters.newest_failure.as_ref().map(|why| {
            let (failed, all) = (counters.failed_scrapes, counters.scrapes);
            format!("{failed} of {all} scrapes failed, the newest: {why}")
        });
        let looped = counters.newest_loop.as_ref().map(|series| {
            let count = counters.looped_samples;
            format!(
                "{count} samples left out of instances that this DAC has itself, the newest: {series}; {LOOP_REMEDY}"
            )
        });
        refusal.into_iter().chain(looped).chain(histograms).chain(failure).collect()
    }

    /// Answers a request; `None` for other paths.
    pub fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        if request.path != PATH {
            return None;
        }
        self.counters().requests += 1;
        let answered = self.write(request);
        Some(answered.unwrap_or_else(|error| self.refuse(error)))
    }

    fn write(&self, request: &InletRequest<'_>) -> Result<InletAnswer, RequestError> {
        let version = Version::of((request.header)("content-type")).ok_or_else(|| {
            RequestError(415, "the content type is that of no version of remote write".into())
        })?;
        let body = decompressed((request.header)("content-encoding"), request.body)
            .map_err(|why| RequestError(why.status(), why.to_string()))?;
        let message = Message::new(version, &body).map_err(|why| RequestError(400, why.to_string()))?;
        let digest = Repeats::digest("", &body);
        let mut open = self.source();
        let Some(source) = &mut *open else {
            return Err(RequestError(503, "the handler prometheus stops: send the samples again".into()));
        };
        let archive = source.archive.clone();
        let written = if source.repeats.has(digest) {
            self.counters().repeated_requests += 1;
            Written::default()
        } else {
            let written = source.write(&self.config, request.may_write, message);
            let lost = source.nodes.flush();
            written.ended.iter().for_each(|node| source.nodes.disconnect(node));
            self.count(&written, &source.nodes, lost.count);
            if lost.count > 0 {
                let why = format!("{} samples are lost, send them again: {}", lost.count, lost.reason);
                return Err(RequestError(503, why));
            }
            if written.refused == 0 {
                source.repeats.remember(digest);
            }
            written
        };
        // Others push while this request waits.
        drop(open);
        if self.config.acknowledge == Acknowledge::Stored
            && let Some(archive) = archive
        {
            wait_until_stored(&*archive).map_err(|why| {
                RequestError(503, format!("the samples are received but not stored: {why}"))
            })?;
        }
        Ok(answer(version, &written))
    }

    /// Takes the samples of a scrape, of which some lines could not be read, or which failed.
    pub fn push_scrape<'m>(
        &self,
        series: impl Iterator<Item = Series<'m>>,
        histograms: &[ScrapedHistogram],
        (refused, refusal): (u64, Option<String>),
        failure: Option<String>,
    ) {
        let mut open = self.source();
        let Some(source) = &mut *open else { return };
        let (nodes, presence) = (&mut source.nodes, &mut source.presence);
        let (written, names) = (Written::default(), Names::default());
        let mut writer =
            Writer { config: &self.config, may_write: &|_, _| true, nodes, presence, written, names };
        series.for_each(|mut series| writer.push(&mut series));
        let (types, mut row) = (&mut source.histogram_types, Vec::new());
        histograms.iter().for_each(|histogram| writer.push_histogram(histogram, types, &mut row));
        let mut written = writer.written;
        if refused > 0 {
            written.refuse(refused, refusal.as_deref().unwrap_or("metrics of a scrape are no samples"));
        }
        let lost = source.nodes.flush();
        written.ended.iter().for_each(|node| source.nodes.disconnect(node));
        self.count(&written, &source.nodes, lost.count);
        let mut counters = self.counters();
        counters.scrapes += 1;
        if let Some(why) = failure {
            counters.failed_scrapes += 1;
            counters.newest_failure = Some(why);
        }
    }

    fn count(&self, written: &Written, nodes: &SourceNodes, lost: u64) {
        let mut counters = self.counters();
        counters.samples += written.taken.saturating_sub(lost);
        counters.lost_samples += lost;
        counters.refused_samples += written.refused;
        counters.looped_samples += written.looped;
        if let Some(series) = &written.newest_loop {
            if counters.newest_loop.is_none() {
                tracing::warn!(
                    series,
                    "samples of instances that this DAC has itself are left out (prometheus): {LOOP_REMEDY}"
                );
            }
            counters.newest_loop = Some(series.clone());
        }
        counters.left_out_histograms += written.histograms;
        counters.left_out_exemplars += written.exemplars;
        counters.ended_nodes += written.ended.len() as u64;
        counters.repeated_samples = nodes.repeated();
        (counters.nodes, counters.series) = (nodes.node_count(), nodes.instance_count());
        if written.reason.is_some() {
            counters.newest_refusal.clone_from(&written.reason);
        }
    }

    fn refuse(&self, RequestError(status, message): RequestError) -> InletAnswer {
        let mut counters = self.counters();
        counters.refused_requests += 1;
        counters.newest_refusal = Some(message.clone());
        InletAnswer::document(status, TEXT, message)
    }

    fn source(&self) -> MutexGuard<'_, Option<OpenSource>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSource {
    fn write(
        &mut self,
        config: &PrometheusConfig,
        may_write: &dyn Fn(&str, &str) -> bool,
        message: Message<'_>,
    ) -> Written {
        let (nodes, presence) = (&mut self.nodes, &mut self.presence);
        let (written, names) = (Written::default(), Names::default());
        let mut writer = Writer { config, may_write, nodes, presence, written, names };
        writer.write(message);
        writer.written
    }
}

/// Returns the answer to a request that was read. Prometheus sends a refused request again only after a status of 5xx.
fn answer(version: Version, written: &Written) -> InletAnswer {
    let mut answer = match &written.reason {
        None => InletAnswer::empty(204),
        Some(why) => {
            let status = if written.taken == 0 && written.forbidden == written.refused { 403 } else { 400 };
            let (taken, refused) = (written.taken, written.refused);
            InletAnswer::document(status, TEXT, format!("{taken} samples taken, {refused} refused: {why}"))
        }
    };
    if version == Version::V2 {
        answer.headers.push(("x-prometheus-remote-write-samples-written", written.taken.to_string()));
        answer.headers.push(("x-prometheus-remote-write-histograms-written", "0".into()));
        answer.headers.push(("x-prometheus-remote-write-exemplars-written", "0".into()));
    }
    answer
}
