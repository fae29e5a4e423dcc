//! The handler: its thread, and its state.

use crate::{
    RemoteWriteConfig,
    config::{REQUEST_TIMEOUT, Receiver},
    journal::{InstanceName, Journal},
    outcome::Sending,
    part::Part,
    round::{MAX_REQUEST_VALUES, Sources},
    source::{ArchiveAccess, SampleChoice},
    state::{Condition, NotSent, SharedState},
};
use oasis_dac::Dac;
use oasis_handler::{Context, Failure, Handler, StateMetrics, Stopping};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Timeout of the last requests at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends every sample to a server.
#[derive(Debug)]
pub struct RemoteWriteSender {
    config: RemoteWriteConfig,
    receiver: Receiver,
    shared: SharedState,
    /// Positions, kept while the handler is stopped. Locked by its thread only.
    journal: Mutex<Option<Journal>>,
}

/// State of the thread.
struct Rounds<'a> {
    handler: &'a RemoteWriteSender,
    dac: Arc<Dac>,
    access: ArchiveAccess,
    stopping: Stopping,
    journal: &'a mut Journal,
    sources: Sources,
}

/// The result of a round.
enum Round {
    /// There may be more.
    Full,
    /// All is sent.
    Done,
    /// The handler stops before the answer.
    Stopped,
}

impl RemoteWriteSender {
    /// Creates a handler that does not run yet.
    pub fn new(config: RemoteWriteConfig, receiver: Receiver) -> Self {
        let shared = SharedState::new(&config.url);
        Self { config, receiver, shared, journal: Mutex::default() }
    }
}

impl Handler for RemoteWriteSender {
    fn name(&self) -> &'static str {
        "remote_write"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let Context { dac, archive, stopping, .. } = context;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| Failure(format!("no runtime: {error}")))?;
        let mut kept = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let journal = match kept.take() {
            Some(journal) => journal,
            None => Journal::open(&self.config.state_file).map_err(|error| {
                Failure(format!(
                    "cannot use remote_write.state_file {}: {error}",
                    self.config.state_file.display()
                ))
            })?,
        };
        let journal = kept.insert(journal);
        let access = ArchiveAccess { archive, runtime };
        let mut rounds =
            Rounds { handler: self, dac, access, stopping, journal, sources: Sources::default() };
        rounds.run();
        Ok(())
    }

    fn state(&self) -> Value {
        json!(*self.shared.lock())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "requests",
                "failed_requests",
                "samples",
                "values",
                "refused_samples",
                "unconfirmed_samples",
                "not_sent{cause}",
                "ended_instances",
            ],
            gauges: &["behind", "instances", "omitted_instances"],
        }
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        let is_bad = matches!(state.reach.condition, Condition::Failing | Condition::Refused);
        is_bad.then(|| {
            format!("the server takes no samples: {}", state.reach.detail.clone().unwrap_or_default())
        })
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        let (lost, refused, omitted) =
            (state.not_sent.total(), state.refused_samples, state.omitted_instances);
        let unconfirmed = state.unconfirmed_samples;
        let refusal = state.last_refusal.as_deref().unwrap_or_default();
        let file = state.state_file_error.as_ref();
        [
            (lost > 0).then(|| format!("{lost} samples are not sent by remote write: {}", state.not_sent.describe())),
            (refused > 0).then(|| format!("{refused} samples were refused by the server: {refusal}")),
            (unconfirmed > 0).then(|| {
                format!("{unconfirmed} samples were sent again and refused, the server may have them: {refusal}")
            }),
            (omitted > 0).then(|| {
                format!("{omitted} instances are not sent: raise remote_write.max_instances, or name fewer instances")
            }),
            file.map(|why| format!("the positions of remote write cannot be written: {why}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A request that is under way ends first.
    fn stop_deadline(&self) -> Duration {
        REQUEST_TIMEOUT + SHUTDOWN_TIMEOUT
    }
}

impl Rounds<'_> {
    fn run(&mut self) {
        let interval = Duration::from_secs(self.handler.config.interval_seconds);
        let mut next = Instant::now();
        loop {
            match self.round() {
                Round::Stopped => return,
                Round::Full if !self.stopping.is_stopping() => continue,
                Round::Full | Round::Done => {}
            }
            next = (next + interval).max(Instant::now());
            if self.stopping.wait_for(next.saturating_duration_since(Instant::now())) {
                break;
            }
        }
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        while Instant::now() < deadline && matches!(self.round(), Round::Full) {}
    }

    /// Sends one request.
    fn round(&mut self) -> Round {
        let handler = self.handler;
        let followed = self.sources.follow(&self.dac, &handler.config, self.journal, &self.access);
        self.note_file(followed);
        let mut not_sent = NotSent::default();
        let in_doubt = self.sources.collect(SampleChoice::InDoubt, &self.access, &mut not_sent);
        let is_in_doubt = !in_doubt.is_empty();
        let mut parts = in_doubt;
        if parts.is_empty() {
            parts = self.sources.collect(SampleChoice::New, &self.access, &mut not_sent);
        }
        let is_full = is_in_doubt || parts.iter().map(Part::values).sum::<usize>() >= MAX_REQUEST_VALUES / 2;
        if !is_full {
            parts.extend(self.sources.collect_ends(&self.online()));
        }
        handler.shared.lock().not_sent.add(not_sent);
        self.measure();
        if parts.is_empty() {
            return Round::Done;
        }
        match self.send(parts, is_in_doubt) {
            false => Round::Stopped,
            true if is_full => Round::Full,
            true => Round::Done,
        }
    }

    /// Sends parts until they are answered. Returns false if the handler stops before that.
    fn send(&mut self, parts: Vec<Part>, is_in_doubt: bool) -> bool {
        let RemoteWriteSender { config, receiver, shared, .. } = self.handler;
        let (version, has_sequence) = (config.version, config.sequence);
        let sending = Sending { receiver, version, has_sequence, shared, stopping: &self.stopping };
        let names: Vec<InstanceName> =
            parts.iter().map(|part| (part.node.clone(), part.instance.clone())).collect();
        let request = parts.iter().map(|part| (part.node.clone(), part.instance.clone(), part.progress));
        let begun = self.journal.begin(request.collect());
        self.note_file(begun);
        if !sending.deliver(parts.clone(), is_in_doubt) {
            return false;
        }
        self.sources.note_sent(&parts);
        let answered = self.journal.answer(&names);
        self.note_file(answered);
        true
    }

    fn online(&self) -> HashSet<String> {
        let nodes = self.dac.registry.nodes();
        nodes.into_iter().filter(|node| node.is_online()).map(|node| node.identity.name.to_string()).collect()
    }

    fn note_file(&self, written: io::Result<()>) {
        if let Err(error) = written {
            tracing::warn!(%error, "cannot write the positions of remote write");
            self.handler.shared.lock().state_file_error = Some(error.to_string());
        }
    }

    /// Updates the figures.
    fn measure(&self) {
        let (instances, behind) = self.sources.figures();
        let mut state = self.handler.shared.lock();
        (state.instances, state.behind, state.omitted_instances) = (instances, behind, self.sources.omitted);
    }
}
