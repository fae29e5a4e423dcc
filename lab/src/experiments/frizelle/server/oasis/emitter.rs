//! The event manager, and its emitters.

use super::{
    super::{
        answer::{Emit, Stamp},
        calls::log,
    },
    mailbox::Mailbox,
};
use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until},
};

/// All events by name.
#[derive(Debug, Default)]
pub struct Events {
    emitters: Mutex<HashMap<String, Emitter>>,
}

#[derive(Debug, Default)]
struct Emitter {
    list: Arc<List>,
    task: Option<JoinHandle<()>>,
}

/// Requests that are registered for an event.
#[derive(Debug, Default)]
struct List {
    /// Locked for a push, or as long as it takes to take all of it.
    waiting: Mutex<Vec<Registered>>,
}

#[derive(Debug, Clone)]
struct Registered {
    mailbox: Arc<Mailbox>,
    is_comet: bool,
}

impl Events {
    /// Creates the event, or changes its interval.
    pub fn set(&self, name: &str, interval: Duration) {
        let mut emitters = self.emitters.lock().unwrap_or_else(PoisonError::into_inner);
        let emitter = emitters.entry(name.to_owned()).or_default();
        let task = tokio::spawn(emitter.list.clone().emit_each(name.to_owned(), interval));
        if let Some(earlier) = emitter.task.replace(task) {
            earlier.abort();
        }
    }

    /// Stops all events; requests stay registered.
    pub fn clear(&self) {
        let mut emitters = self.emitters.lock().unwrap_or_else(PoisonError::into_inner);
        for task in emitters.values_mut().filter_map(|emitter| emitter.task.take()) {
            task.abort();
        }
    }

    /// Registers a request with its events.
    pub fn register(&self, names: &[String], mailbox: &Arc<Mailbox>, is_comet: bool) {
        let mut emitters = self.emitters.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            let list = emitters.entry(name.clone()).or_default().list.clone();
            list.add([Registered { mailbox: mailbox.clone(), is_comet }]);
        }
    }
}

impl List {
    /// The next emit begins an interval after this one, or when this one ends if it takes longer.
    async fn emit_each(self: Arc<Self>, name: String, interval: Duration) {
        let mut next = Instant::now() + interval;
        loop {
            sleep_until(next).await;
            next = Instant::now() + interval;
            self.emit(&name);
        }
    }

    fn emit(&self, name: &str) {
        let created = Stamp::now();
        let mut requests = mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let total = requests.len();
        let emit = Arc::new(Emit { name: name.to_owned(), created, total });
        let mut place = 0;
        requests.retain(|request| {
            place += 1;
            request.mailbox.put((emit.clone(), place)) && request.is_comet
        });
        self.add(requests);
        log(|| format!("emitted {name} to {total}"));
    }

    fn add(&self, requests: impl IntoIterator<Item = Registered>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend(requests);
    }
}
