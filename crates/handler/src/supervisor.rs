//! Starts and stops handlers, and lists them.

use crate::{
    Condition, Context, Document, Handler, HandlerMetric, HandlerMetrics, InletAnswer, InletRequest,
    MetricKind, ProbeCommands, Status, StoredSamples,
    life::{Backoff, Signs, Vitals, live},
    stopping::StopRequest,
};
use oasis_dac::Dac;
use oasis_health::Finding;
use oasis_thread_priority::use_usual_slices;
use std::{
    fmt, io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

/// Interval at which a stopping handler is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Why a handler cannot be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// No handler has this name.
    #[error("unknown handler {name:?}: configured are {known}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The system refused a thread.
    #[error("cannot start handler {name}: {error}")]
    Thread {
        /// Its name.
        name: &'static str,
        /// As the system reports it.
        error: io::Error,
    },
    /// A call of the handler has not returned for so long that its end is not awaited.
    #[error("handler not stopped, {0}; stop stays requested")]
    Hangs(Finding),
    /// The handler has not stopped in time.
    #[error("handler {name} has not stopped within {} s; stop stays requested", deadline.as_secs())]
    Slow {
        /// Its name.
        name: &'static str,
        /// Time that it had to stop.
        deadline: Duration,
    },
}

/// All handlers of a DAC.
pub struct Supervisor {
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
    commands: OnceLock<Arc<dyn ProbeCommands>>,
    backoff: Backoff,
    entries: Vec<Entry>,
}

struct Entry {
    handler: Arc<dyn Handler>,
    vitals: Arc<Vitals>,
    /// State of the present life. Locked while the handler is started or stopped, outside of all other locks.
    life: Mutex<Option<Life>>,
}

struct Life {
    request: StopRequest,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.handler.name())).finish()
    }
}

impl Supervisor {
    /// Handlers of this DAC; none runs yet.
    pub fn new(
        dac: Arc<Dac>,
        archive: Option<Arc<dyn StoredSamples>>,
        handlers: Vec<Arc<dyn Handler>>,
    ) -> Self {
        if let Some(archive) = &archive
            && handlers.iter().any(|handler| handler.copies_segments())
        {
            archive.history().0.copies.require();
        }
        let entry = |handler| Entry { handler, vitals: Arc::default(), life: Mutex::new(None) };
        let entries = handlers.into_iter().map(entry).collect();
        Self { dac, archive, commands: OnceLock::new(), backoff: Backoff::default(), entries }
    }

    /// Sets who sends the commands of handlers. Called before they start, and once.
    pub fn connect_commands(&self, commands: Arc<dyn ProbeCommands>) {
        if self.commands.set(commands).is_err() {
            tracing::error!("the commands of handlers were connected before");
        }
    }

    /// Starts all handlers. One that cannot be started is reported, and the others start.
    pub fn start_all(&self) {
        for entry in &self.entries {
            if let Err(error) = self.start_entry(entry) {
                tracing::error!(%error, "handler not started");
            }
        }
    }

    /// Starts a handler; nothing happens if it runs.
    ///
    /// # Errors
    /// If no handler has this name, it is still stopping, or the system refuses a thread.
    pub fn start(&self, name: &str) -> Result<(), HandlerError> {
        self.start_entry(self.find(name)?)
    }

    /// Stops a handler; nothing happens if it does not run. Blocks until it has stopped, for its deadline at most.
    ///
    /// # Errors
    /// If no handler has this name, or it does not stop in time.
    pub fn stop(&self, name: &str) -> Result<(), HandlerError> {
        self.stop_entry(self.find(name)?, Instant::now())
    }

    /// Asks all handlers to stop, then waits for each, for its deadline at most.
    pub fn stop_all(&self) {
        self.entries.iter().for_each(Entry::ask_to_stop);
        let asked = Instant::now();
        for entry in &self.entries {
            if let Err(error) = self.stop_entry(entry, asked) {
                tracing::warn!(%error, "handler did not stop");
            }
        }
    }

    /// Lists all handlers.
    pub fn list(&self) -> Vec<Status> {
        self.entries.iter().map(Entry::status).collect()
    }

    /// Returns the handlers that do not work although they should: by name, why.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        self.entries.iter().filter_map(|entry| Some((entry.handler.name(), entry.problem()?))).collect()
    }

    /// Returns the warnings of all handlers, with their names.
    pub fn warnings(&self) -> Vec<(&'static str, String)> {
        let of = |entry: &Entry| {
            let name = entry.handler.name();
            entry.handler.warnings().into_iter().map(move |warning| (name, warning)).collect::<Vec<_>>()
        };
        self.entries.iter().flat_map(of).collect()
    }

    /// Returns the metrics of all handlers: `up`, `restarts`, and those of their states.
    pub fn metrics(&self) -> HandlerMetrics {
        let mut found = HandlerMetrics::default();
        for entry in &self.entries {
            let Status { name: handler, condition, restarts, state, .. } = entry.status();
            let up = condition == Condition::Running && entry.handler.problem().is_none();
            let of_all =
                [("up", MetricKind::Gauge, u64::from(up)), ("restarts", MetricKind::Counter, restarts)];
            found.metrics.extend(of_all.map(|(name, kind, value)| {
                let (name, value) = (name.to_owned(), value.to_string());
                HandlerMetric { handler, name, kind, label: None, value }
            }));
            entry.handler.metrics().read(handler, &state, &mut found);
        }
        found
    }

    /// Lists one handler.
    ///
    /// # Errors
    /// If no handler has this name.
    pub fn status(&self, name: &str) -> Result<Status, HandlerError> {
        Ok(self.find(name)?.status())
    }

    /// The document that a running handler serves at this path.
    pub fn document(&self, path: &str, accept: &str) -> Option<Document> {
        let running = self.entries.iter().filter(|entry| entry.vitals.lock().condition == Condition::Running);
        running.map(|entry| &entry.handler).find_map(|handler| handler.document(path, accept, self))
    }

    /// The answer of a running handler to a request of another program; `None` if no running handler has its path.
    pub fn receive(&self, request: &InletRequest<'_>) -> Option<InletAnswer> {
        let running = self.entries.iter().filter(|entry| entry.vitals.lock().condition == Condition::Running);
        running.map(|entry| &entry.handler).find_map(|handler| handler.receive(request))
    }

    fn find(&self, name: &str) -> Result<&Entry, HandlerError> {
        self.entries.iter().find(|entry| entry.handler.name() == name).ok_or_else(|| {
            let names: Vec<_> = self.entries.iter().map(|entry| entry.handler.name()).collect();
            let known = if names.is_empty() { "none".into() } else { names.join(", ") };
            HandlerError::Unknown { name: name.into(), known }
        })
    }

    fn start_entry(&self, entry: &Entry) -> Result<(), HandlerError> {
        let name = entry.handler.name();
        let mut life = entry.life.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*life
            && !before.has_ended()
        {
            let is_stopping = entry.vitals.lock().condition == Condition::Stopping;
            return if is_stopping { Err(entry.slow()) } else { Ok(()) };
        }
        let (request, stopping) = StopRequest::new();
        let (ending, ended) = mpsc::channel::<()>();
        let pulse = Arc::new(self.dac.health.watch(name));
        let context = Context {
            dac: self.dac.clone(),
            archive: self.archive.clone(),
            commands: self.commands.get().cloned(),
            stopping,
            pulse,
        };
        let (handler, vitals, backoff) = (entry.handler.clone(), entry.vitals.clone(), self.backoff);
        {
            let mut signs = vitals.lock();
            *signs = Signs { condition: Condition::Running, ..Signs::default() };
        }
        let started = std::thread::Builder::new().name(name.into()).spawn(move || {
            // Readers of samples go first.
            use_usual_slices();
            live(&handler, &context, &vitals, backoff);
            // Drop everything before `ending`, because a stop waits only for `ending`.
            drop((handler, context, vitals));
            drop(ending);
        });
        if let Err(error) = started {
            let mut signs = entry.vitals.lock();
            *signs = Signs { detail: Some(error.to_string()), is_refused: true, ..Signs::default() };
            return Err(HandlerError::Thread { name, error });
        }
        *life = Some(Life { request, ended });
        Ok(())
    }

    /// Waits for a handler that was asked to stop at that time. Waits no longer for one whose call hangs.
    fn stop_entry(&self, entry: &Entry, asked: Instant) -> Result<(), HandlerError> {
        let mut life = entry.life.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = life.as_ref() else { return Ok(()) };
        running.ask_to_stop(&entry.vitals);
        let deadline = asked + entry.handler.stop_deadline();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match running.ended.recv_timeout(left.min(POLL_INTERVAL)) {
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(finding) = self.dac.health.finding(entry.handler.name()) {
                        return Err(HandlerError::Hangs(finding));
                    }
                    if left <= POLL_INTERVAL {
                        return Err(entry.slow());
                    }
                }
                Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                    *life = None;
                    return Ok(());
                }
            }
        }
    }
}

impl Entry {
    fn ask_to_stop(&self) {
        let life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        life.iter().for_each(|life| life.ask_to_stop(&self.vitals));
    }

    fn slow(&self) -> HandlerError {
        HandlerError::Slow { name: self.handler.name(), deadline: self.handler.stop_deadline() }
    }

    fn problem(&self) -> Option<String> {
        let Signs { condition, detail, is_refused, .. } = self.vitals.lock().clone();
        match condition {
            Condition::Running => self.handler.problem(),
            Condition::BackingOff => {
                Some(format!("restarting after a failure: {}", detail.unwrap_or_default()))
            }
            Condition::Stopped if is_refused => detail,
            // On request.
            Condition::Stopped | Condition::Stopping => None,
        }
    }

    fn status(&self) -> Status {
        let signs = self.vitals.lock().clone();
        let problem = self.handler.problem().filter(|_| signs.condition == Condition::Running);
        Status {
            name: self.handler.name(),
            condition: signs.condition,
            detail: signs.detail,
            restarts: signs.restarts,
            warnings: problem.into_iter().chain(self.handler.warnings()).collect(),
            state: self.handler.state(),
        }
    }
}

impl Life {
    fn has_ended(&self) -> bool {
        matches!(self.ended.try_recv(), Err(mpsc::TryRecvError::Disconnected))
    }

    fn ask_to_stop(&self, vitals: &Vitals) {
        let mut signs = vitals.lock();
        if signs.condition != Condition::Stopped {
            signs.condition = Condition::Stopping;
        }
        drop(signs);
        self.request.stop();
    }
}

#[cfg(test)]
mod tests;
