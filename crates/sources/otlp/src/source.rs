//! The source while it runs: its nodes, its counters, and the answers to requests.

use crate::{
    OtlpConfig,
    answer::{self, Form},
    json,
    logs::LogReader,
    metrics::MetricReader,
    series::SeriesTable,
    signal::Signal,
    spans::SpanReader,
    walk::walk,
    writer::{Writer, Written},
};
use oasis_dac::{Dac, now};
use oasis_ei_node::{LogProbe, SpanProbe};
use oasis_format::protobuf::BadWire;
use oasis_handler::{Acknowledge, InletAnswer, InletRequest, StoredSamples};
use oasis_source_node::{
    BodyError, MAX_BODY_BYTES, Repeats, SourceLimits, SourceNodes, decoded, wait_until_stored,
};
use oasis_wire::{sample::Sample, schema::ProbeType};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Takes OTLP.
#[derive(Debug)]
pub struct OtlpSource {
    config: OtlpConfig,
    /// Present while the source runs. Locked while the items of a request are pushed.
    open: Mutex<Option<OpenSource>>,
    counters: Mutex<Counters>,
}

struct OpenSource {
    nodes: SourceNodes,
    series: SeriesTable,
    log_type: Arc<ProbeType>,
    span_type: Arc<ProbeType>,
    repeats: Repeats,
    archive: Option<Arc<dyn StoredSamples>>,
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSource").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

/// The remedy for data points that come back.
const LOOP_REMEDY: &str = "let the Collector send nothing back to the DAC that it comes from (otlp_export)";

/// Counters since the start of the DAC.
#[derive(Debug, Default, Clone)]
struct Counters {
    requests: u64,
    data_points: u64,
    log_records: u64,
    spans: u64,
    /// Items that were taken, and that the DAC refused.
    lost_items: u64,
    refused_items: u64,
    points_without_value: u64,
    /// Data points that this DAC has sent itself; they are not taken.
    looped_points: u64,
    newest_loop: Option<String>,
    rounded_values: u64,
    repeated_requests: u64,
    repeated_samples: u64,
    refused_requests: u64,
    nodes: usize,
    instances: usize,
    newest_refusal: Option<String>,
}

/// A refused request: its status, and the reason.
struct RequestError(u16, String);

impl OtlpSource {
    /// Creates a source that is not open yet.
    pub fn new(config: OtlpConfig) -> Self {
        Self { config, open: Mutex::default(), counters: Mutex::default() }
    }

    /// Takes requests from now on.
    pub fn open(&self, dac: Arc<Dac>, archive: Option<Arc<dyn StoredSamples>>) {
        let limits = SourceLimits {
            max_nodes: self.config.max_nodes,
            max_instances: self.config.max_series,
            ..SourceLimits::default()
        };
        let (Some(log_type), Some(span_type)) = (type_of::<LogProbe>(), type_of::<SpanProbe>()) else {
            return;
        };
        let nodes = SourceNodes::new(dac, "oasis otlp", limits).resuming(archive.clone());
        let (series, repeats) = (SeriesTable::default(), Repeats::default());
        *self.source() = Some(OpenSource { nodes, series, log_type, span_type, repeats, archive });
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
            "data_points": counters.data_points,
            "log_records": counters.log_records,
            "spans": counters.spans,
            "lost_items": counters.lost_items,
            "refused_items": counters.refused_items,
            "points_without_value": counters.points_without_value,
            "looped_points": counters.looped_points,
            "rounded_values": counters.rounded_values,
            "repeated_requests": counters.repeated_requests,
            "repeated_samples": counters.repeated_samples,
            "refused_requests": counters.refused_requests,
            "nodes": counters.nodes,
            "instances": counters.instances,
            "newest_refusal": counters.newest_refusal,
        })
    }

    /// Returns the refusals.
    pub fn warnings(&self) -> Vec<String> {
        let counters = self.counters();
        let refusal = counters.newest_refusal.as_ref();
        let warning = |why: &String| {
            let (items, requests) = (counters.refused_items, counters.refused_requests);
            format!("OTLP: {items} items and {requests} requests refused, the newest: {why}")
        };
        let looped = counters.newest_loop.as_ref().map(|instance| {
            let count = counters.looped_points;
            format!("{count} data points left out of instances that this DAC has itself, the newest: {instance:?}; {LOOP_REMEDY}")
        });
        refusal.map(warning).into_iter().chain(looped).collect()
    }

    /// Answers a request; `None` for other paths.
    pub fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        let signal = Signal::of_path(request.path)?;
        self.counters().requests += 1;
        let Some(form) = Form::of((request.header)("content-type")) else {
            let message = "the content type is neither application/x-protobuf nor application/json";
            return Some(self.refuse(Form::Json, RequestError(415, message.into())));
        };
        Some(match self.export(request, signal, form) {
            Ok(written) => exported(form, signal, &written),
            Err(error) => self.refuse(form, error),
        })
    }

    fn export(
        &self,
        request: &InletRequest<'_>,
        signal: Signal,
        form: Form,
    ) -> Result<Written, RequestError> {
        let body = decoded((request.header)("content-encoding"), request.body).map_err(|why| {
            RequestError(if why == BodyError::TooLong { 413 } else { 400 }, why.to_string())
        })?;
        let message: Cow<'_, [u8]> = match form {
            Form::Protobuf => Cow::Borrowed(&*body),
            Form::Json => json::to_protobuf(&body, signal.layout(), MAX_BODY_BYTES)
                .map_err(|why| RequestError(400, format!("the body is no JSON of OTLP: {why}")))?
                .into(),
        };
        // The same bytes in another form are another request.
        let digest = Repeats::digest(&format!("{} {form:?}", request.path), &body);
        let mut open = self.source();
        let Some(source) = &mut *open else {
            return Err(RequestError(503, "the handler otlp stops: send the data again".into()));
        };
        let archive = source.archive.clone();
        let written = if source.repeats.has(digest) {
            self.counters().repeated_requests += 1;
            Written::default()
        } else {
            let (written, read) = source.write(&self.config, request.may_write, signal, &message);
            let lost = source.nodes.flush();
            self.count(signal, &written, &source.nodes, lost.count);
            if lost.count > 0 {
                source.series.clear();
                let message = format!("{} items are lost, send them again: {}", lost.count, lost.reason);
                return Err(RequestError(503, message));
            }
            read.map_err(|why| {
                RequestError(400, format!("the body is {why}; {} items taken", written.taken))
            })?;
            if written.refused == 0 && written.untimed == 0 {
                source.repeats.remember(digest);
            }
            written
        };
        // Others push while this request waits.
        drop(open);
        if self.config.acknowledge == Acknowledge::Stored
            && let Some(archive) = archive
        {
            wait_until_stored(&*archive)
                .map_err(|why| RequestError(503, format!("the data is received but not stored: {why}")))?;
        }
        Ok(written)
    }

    fn count(&self, signal: Signal, written: &Written, nodes: &SourceNodes, lost: u64) {
        let mut counters = self.counters();
        let taken = match signal {
            Signal::Metrics => &mut counters.data_points,
            Signal::Logs => &mut counters.log_records,
            Signal::Traces => &mut counters.spans,
        };
        *taken += written.taken.saturating_sub(lost);
        counters.lost_items += lost;
        counters.refused_items += written.refused;
        counters.points_without_value += written.without_value;
        counters.looped_points += written.looped;
        if written.newest_loop.is_some() {
            counters.newest_loop.clone_from(&written.newest_loop);
        }
        counters.rounded_values += written.rounded;
        counters.repeated_samples = nodes.repeated();
        (counters.nodes, counters.instances) = (nodes.node_count(), nodes.instance_count());
        if written.reason.is_some() {
            counters.newest_refusal.clone_from(&written.reason);
        }
    }

    fn refuse(&self, form: Form, RequestError(status, message): RequestError) -> InletAnswer {
        let mut counters = self.counters();
        counters.refused_requests += 1;
        counters.newest_refusal = Some(message.clone());
        answer::error(form, status, &message)
    }

    fn source(&self) -> MutexGuard<'_, Option<OpenSource>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSource {
    /// Pushes all items of a message, up to its malformed part.
    fn write(
        &mut self,
        config: &OtlpConfig,
        may_write: &dyn Fn(&str, &str) -> bool,
        signal: Signal,
        message: &[u8],
    ) -> (Written, Result<(), BadWire>) {
        let mut writer = Writer::new(config, may_write, now().0, &mut self.nodes);
        let row = Vec::new();
        let read = match signal {
            Signal::Metrics => walk(message, &mut MetricReader::new(&mut writer, &mut self.series)),
            Signal::Logs => {
                walk(message, &mut LogReader { writer: &mut writer, probe_type: &self.log_type, row })
            }
            Signal::Traces => {
                walk(message, &mut SpanReader { writer: &mut writer, probe_type: &self.span_type, row })
            }
        };
        (writer.written, read)
    }
}

/// Returns the answer to a request that was read to its end.
fn exported(form: Form, signal: Signal, written: &Written) -> InletAnswer {
    let Some(reason) = &written.reason else { return answer::exported(form, signal, 0, None) };
    let (taken, refused, items) = (written.taken, written.refused, signal.items());
    let message = format!("{taken} {items} taken, {refused} refused, the first: {reason}");
    if taken == 0 && written.forbidden == refused {
        return answer::error(form, 403, &message);
    }
    answer::exported(form, signal, refused, Some(&message))
}

fn type_of<S: Sample>() -> Option<Arc<ProbeType>> {
    serde_json::from_str(S::SCHEMA).ok().map(Arc::new)
}
