//! The layer: turns an event into a log record, and a closed span into a span record.

use crate::{
    fields::{Fields, Record},
    thread,
};
use oasis_ei_node::{
    LogLevel, Outcome,
    log::{LogRecord, Logger},
    span::{SpanRecord, Spans},
};
use oasis_probe::{NodeBuilder, NodeError, now_ns};
use std::{cell::RefCell, time::Instant};
use tracing::{
    Event, Level, Metadata, Subscriber,
    span::{Attributes, Id, Record as Values},
};
use tracing_log::NormalizeEvent;
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, Scope, SpanRef},
};

/// Crates of this project that run in a watched program.
const OWN: [&str; 6] =
    ["oasis_channel", "oasis_ei_node", "oasis_probe", "oasis_probes", "oasis_tracing", "oasis_wire"];

/// Filter and instances of the records that become samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Instance of events; none to ignore events.
    pub log: Option<String>,
    /// Instance of spans; none to ignore spans.
    pub spans: Option<String>,
    /// Size of each ring in bytes: a record needs its texts and some 70 bytes.
    pub ring_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { log: Some("log".into()), spans: Some("spans".into()), ring_bytes: 256 * 1024 }
    }
}

/// A layer of `tracing-subscriber` over the probes of a node. Choose levels with `with_filter`, as for any layer.
#[derive(Debug)]
pub struct OasisLayer {
    log: Option<Logger>,
    spans: Option<Spans>,
}

/// State of a span until it closes.
#[derive(Debug)]
struct Work {
    fields: Fields,
    began: Instant,
    /// Number of threads in it, and since when at least one is.
    threads: u32,
    entered: Instant,
    busy: u64,
    outcome: Outcome,
}

impl OasisLayer {
    /// Creates a layer with events as instance `log` and spans as instance `spans`.
    ///
    /// # Errors
    /// If the node has an instance of one of these names.
    pub fn new(node: &mut NodeBuilder) -> Result<Self, NodeError> {
        Self::with_config(node, &Config::default())
    }

    /// Creates a layer with this configuration.
    ///
    /// # Errors
    /// If the node has an instance of one of these names.
    pub fn with_config(node: &mut NodeBuilder, config: &Config) -> Result<Self, NodeError> {
        let Config { log, spans, ring_bytes } = config;
        let log = log.as_ref().map(|name| Logger::new(node, name, *ring_bytes)).transpose()?;
        let spans = spans.as_ref().map(|name| Spans::new(node, name, *ring_bytes)).transpose()?;
        Ok(Self { log, spans })
    }

    fn wants_spans_of(&self, metadata: &Metadata<'_>) -> bool {
        self.spans.as_ref().is_some_and(Spans::is_enabled) && !is_own(metadata)
    }
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for OasisLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|span| self.wants_spans_of(span.metadata())) else { return };
        let mut work = Work::begin();
        attributes.record(&mut work.fields);
        span.extensions_mut().insert(work);
    }

    fn on_record(&self, id: &Id, values: &Values<'_>, context: Context<'_, S>) {
        // Formatted before the span is locked: a value may log while it is formatted.
        let mut later = Fields::default();
        values.record(&mut later);
        with_work(context.span(id), |work| work.fields.update(later));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        with_work(context.span(id), Work::enter);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        with_work(context.span(id), Work::exit);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let (Some(spans), Some(span)) = (&self.spans, context.span(&id)) else { return };
        let Some(work) = span.extensions_mut().remove::<Work>() else { return };
        let parent = span.parent().map_or(0, |parent| parent.id().into_u64());
        thread::with_name(|thread| {
            let record = SpanRecord {
                name: span.name(),
                target: span.metadata().target(),
                duration: nanoseconds_since(work.began),
                busy: work.busy,
                outcome: work.outcome,
                thread,
                id: id.into_u64(),
                parent,
                cut: work.fields.cut(),
            };
            spans.ended(now_ns(), &record, work.fields.iter());
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let normalized = event.normalized_metadata();
        let metadata = normalized.as_ref().unwrap_or(event.metadata());
        if is_own(metadata) {
            return;
        }
        if *metadata.level() == Level::ERROR {
            with_work(context.event_span(event), |work| work.outcome = Outcome::Error);
        }
        if let Some(log) = self.log.as_ref().filter(|log| log.is_enabled()) {
            let time = now_ns();
            with_scratch(|scratch| {
                event.record(&mut scratch.record);
                scratch.put_spans(context.event_scope(event));
                scratch.log(log, time, metadata);
            });
        }
    }
}

impl Work {
    fn begin() -> Self {
        let now = Instant::now();
        let fields = Fields::default();
        Self { fields, began: now, threads: 0, entered: now, busy: 0, outcome: Outcome::Ok }
    }

    fn enter(&mut self) {
        self.threads += 1;
        if self.threads == 1 {
            self.entered = Instant::now();
        }
    }

    fn exit(&mut self) {
        self.threads = self.threads.saturating_sub(1);
        if self.threads == 0 {
            self.busy += nanoseconds_since(self.entered);
        }
    }
}

/// Buffers for the texts of one event.
#[derive(Debug, Default)]
struct Scratch {
    record: Record,
    spans: String,
}

thread_local! {
    static SCRATCH: RefCell<Option<Box<Scratch>>> = const { RefCell::new(None) };
}

/// Lends the thread's own buffers. A value that logs while it is formatted finds them in use, and gets new ones.
fn with_scratch(with: impl FnOnce(&mut Scratch)) {
    let mut scratch = SCRATCH.try_with(RefCell::take).ok().flatten().unwrap_or_default();
    scratch.record.clear();
    scratch.spans.clear();
    with(&mut scratch);
    let _ = SCRATCH.try_with(|kept| kept.replace(Some(scratch)));
}

impl Scratch {
    fn put_spans<'a, S: LookupSpan<'a>>(&mut self, scope: Option<Scope<'a, S>>) {
        for span in scope.into_iter().flat_map(Scope::from_root) {
            if !self.spans.is_empty() {
                self.spans.push(':');
            }
            self.spans.push_str(span.name());
        }
    }

    fn log(&self, log: &Logger, time: u64, metadata: &Metadata<'_>) {
        thread::with_name(|thread| {
            let record = LogRecord {
                level: level(metadata.level()),
                target: metadata.target(),
                message: self.record.message.as_str(),
                file: metadata.file().unwrap_or_default(),
                line: metadata.line().unwrap_or_default(),
                thread,
                span: &self.spans,
                cut: self.record.cut(),
            };
            log.log(time, &record, self.record.fields.iter());
        });
    }
}

fn with_work<'a, S: LookupSpan<'a>>(span: Option<SpanRef<'a, S>>, with: impl FnOnce(&mut Work)) {
    if let Some(span) = span
        && let Some(work) = span.extensions_mut().get_mut::<Work>()
    {
        with(work);
    }
}

fn is_own(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    target.starts_with("oasis_") && target.split("::").next().is_some_and(|root| OWN.contains(&root))
}

fn level(level: &Level) -> LogLevel {
    match *level {
        Level::TRACE => LogLevel::Trace,
        Level::DEBUG => LogLevel::Debug,
        Level::INFO => LogLevel::Info,
        Level::WARN => LogLevel::Warn,
        Level::ERROR => LogLevel::Error,
    }
}

fn nanoseconds_since(then: Instant) -> u64 {
    u64::try_from(then.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
