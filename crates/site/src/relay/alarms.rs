//! The alarms of an upstream: its stream of events, and questions about them.
//!
//! One thread for each upstream reads the stream as long as the upstream is connected. A request ends after [`STREAM_TIMEOUT`], and the next one resumes after the last
//! event, so that a host that is silent holds the thread up no longer than that.

use super::way::UpstreamServer;
use anyhow::{Context, anyhow};
use oasis_alarms::{
    AlarmHop, AlarmQuestion, RelayedAlarms, UpstreamAlarms, UpstreamRefusal, UpstreamRequest,
};
use oasis_client::{Api, ClientError};
use oasis_dac::{Dac, now};
use oasis_wire::quantity::Epoch;
use std::{
    io::{BufRead, Read},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, mpsc};
use ureq::http::Method;

/// Time of one request for events. The upstream says something every 15 s.
const STREAM_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause after a request that has ended at once, and longest wait for a connection.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Pause if the upstream has no alarms.
const NO_ALARMS_RETRY_DELAY: Duration = Duration::from_secs(10);
/// Most bytes of a line: a page of the list has 200 alarms.
const MAX_LINE_BYTES: u64 = 8 << 20;
/// Questions to one upstream at the same time; others wait.
const MAX_CONCURRENT_QUESTIONS: usize = 8;

/// The alarms of an upstream, and questions to it. The thread ends when this is dropped.
pub struct AlarmLink {
    shared: Arc<Shared>,
    /// Actions and questions about the journal.
    pub questions: mpsc::Receiver<AlarmQuestion>,
}

/// The state that link and thread share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Locked for as long as an event is taken.
struct State {
    alarms: UpstreamAlarms,
    /// The upstream while it is connected.
    target: Option<Target>,
    /// The id of the last event, and the life of the DAC that sent it.
    last: Option<(String, Epoch)>,
    is_over: bool,
}

#[derive(Debug, Clone)]
struct Target {
    way: UpstreamServer,
    hop: AlarmHop,
    own: Epoch,
}

/// The upstream is connected as long as this lives.
pub struct Connected(Arc<Shared>);

impl AlarmLink {
    /// Starts the thread.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(alarms: &Arc<RelayedAlarms>, dac: &Arc<Dac>, name: &str) -> std::io::Result<Self> {
        let (upstream, questions) = alarms.upstream(name);
        let state = State { alarms: upstream, target: None, last: None, is_over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let reader = Reader {
            shared: shared.clone(),
            all: alarms.clone(),
            dac: dac.clone(),
            name: name.to_owned(),
            warned: None,
        };
        thread::Builder::new().name("relay-alarms".into()).spawn(move || reader.run())?;
        Ok(Self { shared, questions })
    }

    /// Reads the alarms of the upstream from now on.
    pub fn connected(&self, way: &UpstreamServer, name: &str, epoch: Epoch, own: Epoch) -> Connected {
        let hop = AlarmHop { dac: name.to_owned(), epoch };
        self.shared.lock().target = Some(Target { way: way.clone(), hop, own });
        self.shared.changed.notify_all();
        Connected(self.shared.clone())
    }
}

impl Drop for AlarmLink {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.target = None;
        state.alarms.set_connected(false);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes an event, unless the upstream has gone meanwhile.
    fn take(&mut self, target: &Target, event: &Event) -> anyhow::Result<()> {
        if self.target.as_ref().is_none_or(|now| now.hop != target.hop) {
            return Err(anyhow!("the upstream is not connected"));
        }
        let Event { name, id, data } = event;
        if self.alarms.take(name, data, (&target.hop, target.own), now())? && !id.is_empty() {
            self.last = Some((id.clone(), target.hop.epoch));
        }
        Ok(())
    }
}

/// An event of the stream.
#[derive(Debug, Default)]
struct Event {
    name: String,
    id: String,
    data: String,
}

/// The thread.
struct Reader {
    shared: Arc<Shared>,
    all: Arc<RelayedAlarms>,
    dac: Arc<Dac>,
    name: String,
    /// The last problem that was logged.
    warned: Option<String>,
}

impl Reader {
    fn run(mut self) {
        while let Some(target) = self.wait_for_target() {
            let begin = Instant::now();
            let ended = self.read(&target);
            let pause = match &ended {
                Err(error) if is_none(error) => {
                    self.shared.lock().alarms.clear(now());
                    NO_ALARMS_RETRY_DELAY
                }
                _ if begin.elapsed() < RETRY_DELAY => RETRY_DELAY,
                _ => Duration::ZERO,
            };
            self.note(ended.err().filter(|error| !is_none(error)), begin);
            self.rest(pause);
        }
    }

    /// Waits until the upstream is connected; none if its alarms are not wanted any more.
    fn wait_for_target(&self) -> Option<Target> {
        let mut state = self.shared.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(target) = &state.target {
                return Some(target.clone());
            }
            let waited = self.shared.changed.wait_timeout(state, RETRY_DELAY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn rest(&self, pause: Duration) {
        let state = self.shared.lock();
        if !pause.is_zero() && !state.is_over {
            drop(self.shared.changed.wait_timeout(state, pause));
        }
    }

    /// Reads one request's events.
    fn read(&self, target: &Target) -> anyhow::Result<()> {
        let last = {
            let mut state = self.shared.lock();
            state.alarms.begin();
            let last = state.last.take_if(|(_, epoch)| *epoch != target.hop.epoch).is_none();
            state.last.clone().filter(|_| last).map(|(id, _)| id)
        };
        let api = target.way.api_within(STREAM_TIMEOUT)?;
        let mut stream = api.open_after("/alarms/events", last.as_deref())?;
        let mut event = Event::default();
        let mut is_first = true;
        loop {
            let mut line = String::new();
            // The read ends with an error when its time is up.
            let read = stream.by_ref().take(MAX_LINE_BYTES).read_line(&mut line);
            if !matches!(read, Ok(read) if read > 0) {
                return Ok(());
            }
            if !line.ends_with('\n') {
                return Err(anyhow!("it has sent an event without an end"));
            }
            let line = line.trim_end_matches(['\r', '\n']);
            let mut state = self.shared.lock();
            if state.target.is_none() {
                return Ok(());
            }
            if std::mem::take(&mut is_first) && last.is_some() {
                state.alarms.set_connected(true);
            }
            match line.split_once(": ") {
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("id", id)) => id.clone_into(&mut event.id),
                Some(("data", data)) => data.clone_into(&mut event.data),
                _ if line.is_empty() => {
                    if !event.data.is_empty() {
                        state.take(target, &event)?;
                        state.alarms.set_connected(true);
                    }
                    event = Event::default();
                }
                _ => {}
            }
            drop(state);
            self.report_incomplete();
        }
    }

    fn report_incomplete(&self) {
        let is_incomplete = self.all.incomplete().contains(&self.name);
        let problem = format!("{} has more alarms than a relay keeps: some are not shown", self.name);
        self.dac.upstreams.set_problem(&format!("alarms of {}", self.name), is_incomplete.then_some(problem));
    }

    /// Each reason is logged once.
    fn note(&mut self, error: Option<anyhow::Error>, begin: Instant) {
        let reason = error.map(|error| format!("{error:#}"));
        if reason.is_none() && begin.elapsed() < RETRY_DELAY {
            return;
        }
        if let Some(reason) = reason.as_ref().filter(|_| reason != self.warned) {
            tracing::warn!(upstream = %self.name, "its alarms are not relayed: {reason}; trying again");
        }
        self.warned = reason;
    }
}

/// Whether an upstream has no alarms, or does not show them.
fn is_none(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<ClientError>().and_then(ClientError::refusal);
    refusal.is_some_and(|refused| matches!(refused.status, 403 | 404))
}

/// Asks the upstream about alarms.
#[derive(Debug, Clone)]
pub struct AlarmForwarder {
    way: UpstreamServer,
    turns: Arc<Semaphore>,
}

impl AlarmForwarder {
    /// Creates one.
    pub fn new(way: UpstreamServer) -> Self {
        Self { way, turns: Arc::new(Semaphore::new(MAX_CONCURRENT_QUESTIONS)) }
    }

    /// Forwards a question in a task.
    pub fn forward(&self, question: AlarmQuestion) {
        let asker = self.clone();
        tokio::spawn(async move {
            let Ok(_turn) = asker.turns.acquire().await else { return };
            let AlarmQuestion { ask, answer } = question;
            // Whoever asked may have given up: then nothing is done.
            if answer.is_closed() {
                return;
            }
            let way = asker.way.clone();
            let asked = tokio::task::spawn_blocking(move || way.api().and_then(|api| asked(&api, &ask)));
            let answered = match asked.await {
                Ok(Ok(answered)) => Ok(answered),
                Ok(Err(error)) => Err(refusal(&error)),
                Err(error) => Err(refusal(&error.into())),
            };
            // Fails only if the receiver is gone.
            let _ = answer.send(answered);
        });
    }
}

fn asked(api: &Api, ask: &UpstreamRequest) -> anyhow::Result<serde_json::Value> {
    match ask {
        UpstreamRequest::Act(body) => {
            api.send(Method::POST, "/alarms/actions", Some(body)).context("an action")
        }
        UpstreamRequest::Journal(query) => {
            let query: Vec<(&str, &str)> =
                query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            api.get("/alarms/journal", &query).context("the journal")
        }
    }
}

fn refusal(error: &anyhow::Error) -> UpstreamRefusal {
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<ClientError>()?.refusal());
    match refused {
        Some(refused) => UpstreamRefusal {
            status: Some(refused.status),
            code: refused.code.clone(),
            detail: refused.detail.clone(),
        },
        None => {
            UpstreamRefusal { status: None, code: "upstream_failed".into(), detail: format!("{error:#}") }
        }
    }
}
