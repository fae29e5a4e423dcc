//! Finds threads that died and calls that hang.
//!
//! A thread keeps a [`Pulse`] and marks each call that may block, such as a sync of a file, with [`Pulse::begin`]. Other threads ask [`Health`] for
//! [`Finding`]s, and wait for none of the watched ones. A [`Watchdog`] logs each finding once.
//!
//! ```
//! use oasis_health::Health;
//!
//! let health = Health::default();
//! let pulse = health.watch("archive");
//! let call = pulse.begin("sync a segment file");
//! assert!(health.findings().is_empty(), "it has just begun");
//! drop(call);
//! ```

mod watchdog;

pub use watchdog::Watchdog;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

/// A call that takes longer hangs.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The watched threads of a process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Mutex<Threads>>);

#[derive(Debug, Default)]
struct Threads {
    watched: Vec<(Arc<str>, Weak<Present>)>,
    /// Threads that panicked and were not started again.
    dead: BTreeMap<Arc<str>, Instant>,
}

/// The call that a thread is in, if there is one. Locked to copy it.
#[derive(Debug, Default)]
struct Present(Mutex<Option<CallBegun>>);

impl Present {
    fn lock(&self) -> MutexGuard<'_, Option<CallBegun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that has not returned yet.
#[derive(Debug, Clone, Copy)]
struct CallBegun {
    what: &'static str,
    at: Instant,
}

/// A thread that does not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub thread: Arc<str>,
    /// What is wrong.
    pub kind: FindingKind,
    /// For how long.
    pub lasts: Duration,
}

/// What is wrong with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// It panicked, and was not started again yet.
    Died,
    /// This call has not returned.
    Hangs(&'static str),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.lasts.as_secs();
        match self.kind {
            FindingKind::Died => write!(f, "thread {} died {seconds} s ago", self.thread),
            FindingKind::Hangs(what) => {
                write!(f, "thread {} hangs: {what} has not returned for {seconds} s", self.thread)
            }
        }
    }
}

impl Health {
    /// Watches the current thread, or a task, under a name until the pulse is dropped. If a panic drops it, the thread counts as dead until the name is
    /// watched again.
    pub fn watch(&self, name: &str) -> Pulse {
        let name = Arc::<str>::from(name);
        let call = Arc::new(Present::default());
        let mut threads = self.lock();
        threads.dead.remove(&name);
        threads.watched.retain(|(_, call)| call.strong_count() > 0);
        threads.watched.push((name.clone(), Arc::downgrade(&call)));
        drop(threads);
        Pulse { health: self.clone(), name, call }
    }

    /// Returns the threads that died, and those whose call takes longer than [`LIMIT`].
    pub fn findings(&self) -> Vec<Finding> {
        self.findings_at(Instant::now())
    }

    fn findings_at(&self, now: Instant) -> Vec<Finding> {
        let threads = self.lock();
        let dead = threads.dead.iter().map(|(thread, at)| Finding {
            thread: thread.clone(),
            kind: FindingKind::Died,
            lasts: now.saturating_duration_since(*at),
        });
        let hanging = threads.watched.iter().filter_map(|(thread, call)| {
            let call = (*call.upgrade()?.lock())?;
            let lasts = now.saturating_duration_since(call.at);
            let finding = Finding { thread: thread.clone(), kind: FindingKind::Hangs(call.what), lasts };
            (lasts > LIMIT).then_some(finding)
        });
        dead.chain(hanging).collect()
    }

    /// Returns the finding of one thread, if there is any.
    pub fn finding(&self, thread: &str) -> Option<Finding> {
        self.findings().into_iter().find(|finding| &*finding.thread == thread)
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A watched thread's own end.
#[derive(Debug)]
pub struct Pulse {
    health: Health,
    name: Arc<str>,
    call: Arc<Present>,
}

impl Pulse {
    /// Marks the begin of a call that may block. It ends when the result is dropped.
    pub fn begin(&self, what: &'static str) -> Call<'_> {
        *self.call.lock() = Some(CallBegun { what, at: Instant::now() });
        Call(self)
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        if thread::panicking() {
            self.health.lock().dead.insert(self.name.clone(), Instant::now());
        }
    }
}

/// A call that has begun.
#[derive(Debug)]
pub struct Call<'a>(&'a Pulse);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        *self.0.call.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_call_hangs_once_it_takes_longer_than_the_limit() {
        let health = Health::default();
        let pulse = health.watch("archive");
        let call = pulse.begin("sync");
        let later = |by| health.findings_at(Instant::now() + by);
        assert_eq!(later(Duration::from_secs(4)), []);
        let found = later(LIMIT + Duration::from_secs(1));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, FindingKind::Hangs("sync"));
        assert!(found[0].to_string().starts_with("thread archive hangs: sync has not returned for "));
        drop(call);
        assert_eq!(later(LIMIT * 2), []);
    }

    #[test]
    fn a_thread_that_panicked_is_dead_until_it_is_watched_again() {
        let health = Health::default();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _pulse = health.watch("archive");
            panic!("planted");
        }));
        assert!(panicked.is_err());
        assert_eq!(health.finding("archive").unwrap().kind, FindingKind::Died);
        let pulse = health.watch("archive");
        assert_eq!(health.finding("archive"), None);
        drop(pulse);
        assert_eq!(health.findings(), [], "a thread that ends by itself is no finding");
        assert!(health.lock().watched.iter().all(|(_, call)| call.strong_count() == 0));
    }
}
