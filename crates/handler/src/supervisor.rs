//! Starts and stops handlers, and lists them.

use crate::{
    Condition, Context, Document, Handler, Status, StoredSamples,
    life::{Backoff, Vitals, live},
    stopping::StopRequest,
};
use oasis_dac::Dac;
use std::{
    fmt, io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    time::Duration,
};

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
    /// It has not stopped in time.
    #[error("handler {name} has not stopped within {} s; stop stays requested", deadline.as_secs())]
    Slow {
        /// Its name.
        name: &'static str,
        /// How long it may take.
        deadline: Duration,
    },
}

/// All handlers of a DAC.
pub struct Supervisor {
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
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
        let entry = |handler| Entry { handler, vitals: Arc::default(), life: Mutex::new(None) };
        let entries = handlers.into_iter().map(entry).collect();
        Self { dac, archive, backoff: Backoff::default(), entries }
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
        self.stop_entry(self.find(name)?)
    }

    /// Asks all handlers to stop, then waits for each, for its deadline at most.
    pub fn stop_all(&self) {
        self.entries.iter().for_each(Entry::ask_to_stop);
        for entry in &self.entries {
            if let Err(error) = self.stop_entry(entry) {
                tracing::warn!(%error, "handler did not stop");
            }
        }
    }

    /// Lists all handlers.
    pub fn list(&self) -> Vec<Status> {
        self.entries.iter().map(Entry::status).collect()
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
        running.map(|entry| &entry.handler).find_map(|handler| handler.document(path, accept))
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
        let context = Context { dac: self.dac.clone(), archive: self.archive.clone(), stopping };
        let (handler, vitals, backoff) = (entry.handler.clone(), entry.vitals.clone(), self.backoff);
        {
            let mut signs = vitals.lock();
            (signs.condition, signs.detail, signs.restarts) = (Condition::Running, None, 0);
        }
        let started = std::thread::Builder::new().name(name.into()).spawn(move || {
            live(&handler, &context, &vitals, backoff);
            // Drop everything before `ending`, because a stop waits only for `ending`.
            drop((handler, context, vitals));
            drop(ending);
        });
        if let Err(error) = started {
            let mut signs = entry.vitals.lock();
            (signs.condition, signs.detail) = (Condition::Stopped, Some(error.to_string()));
            return Err(HandlerError::Thread { name, error });
        }
        *life = Some(Life { request, ended });
        Ok(())
    }

    fn stop_entry(&self, entry: &Entry) -> Result<(), HandlerError> {
        let mut life = entry.life.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = life.as_ref() else { return Ok(()) };
        running.ask_to_stop(&entry.vitals);
        match running.ended.recv_timeout(entry.handler.stop_deadline()) {
            Err(RecvTimeoutError::Timeout) => Err(entry.slow()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                *life = None;
                Ok(())
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

    fn status(&self) -> Status {
        let signs = self.vitals.lock().clone();
        Status {
            name: self.handler.name(),
            condition: signs.condition,
            detail: signs.detail,
            restarts: signs.restarts,
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
