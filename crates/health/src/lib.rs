//! Finds threads that died, calls that hang, and threads that give no sign.
//!
//! A thread keeps a [`Pulse`] and marks each call that may block, such as a sync of a file, with [`Pulse::begin`]. One that wakes regularly says so with
//! [`Pulse::beat`]: then it is noticed too if it is gone without a panic. Other threads ask [`Health`] for
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
/// A thread that beats is silent if it does not for this long: it beats four times as often at least.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);

/// The watched threads of a process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Mutex<Threads>>);

#[derive(Debug, Default)]
struct Threads {
    watched: Vec<(Arc<str>, Weak<Vitals>)>,
    /// Threads that panicked and were not started again.
    dead: BTreeMap<Arc<str>, Instant>,
}

/// Signs of a thread. Locked to copy them.
#[derive(Debug, Default)]
struct Vitals(Mutex<Signs>);

#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    /// The call that it is in, if there is one.
    call: Option<CallBegun>,
    /// When it beat last; `None` if it does not beat now.
    beat: Option<Instant>,
}

impl Signs {
    fn finding(self, now: Instant) -> Option<(FindingKind, Duration)> {
        if let Some(call) = self.call {
            let lasts = now.saturating_duration_since(call.at);
            return (lasts > call.limit).then_some((FindingKind::Hangs(call.what), lasts));
        }
        let lasts = now.saturating_duration_since(self.beat?);
        (lasts > SILENCE_TIMEOUT).then_some((FindingKind::Silent, lasts))
    }
}

impl Vitals {
    fn lock(&self) -> MutexGuard<'_, Signs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that has not returned yet.
#[derive(Debug, Clone, Copy)]
struct CallBegun {
    what: &'static str,
    at: Instant,
    limit: Duration,
}

/// A thread that does not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub thread: Arc<str>,
    /// Problem of the thread.
    pub kind: FindingKind,
    /// For how long.
    pub lasts: Duration,
}

/// Problem of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// The thread panicked, and was not started again yet.
    Died,
    /// This call has not returned.
    Hangs(&'static str),
    /// The thread has given no sign, and is in no call.
    Silent,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.lasts.as_secs();
        match self.kind {
            FindingKind::Died => write!(f, "thread {} died {seconds} s ago", self.thread),
            FindingKind::Silent => write!(f, "thread {} has given no sign for {seconds} s", self.thread),
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
        let vitals = Arc::new(Vitals::default());
        let mut threads = self.lock();
        threads.dead.remove(&name);
        threads.watched.retain(|(_, vitals)| vitals.strong_count() > 0);
        threads.watched.push((name.clone(), Arc::downgrade(&vitals)));
        drop(threads);
        Pulse { health: self.clone(), name, vitals }
    }

    /// Returns the threads that died, those whose call takes longer than its limit, and those that are silent.
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
        let stuck = threads.watched.iter().filter_map(|(thread, vitals)| {
            let signs = *vitals.upgrade()?.lock();
            let (kind, lasts) = signs.finding(now)?;
            Some(Finding { thread: thread.clone(), kind, lasts })
        });
        dead.chain(stuck).collect()
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
    vitals: Arc<Vitals>,
}

impl Pulse {
    /// Marks the begin of a call that may block. It ends when the result is dropped, and hangs after [`LIMIT`].
    pub fn begin(&self, what: &'static str) -> Call<'_> {
        self.begin_within(what, LIMIT)
    }

    /// As [`Pulse::begin`], for work that may take longer than other calls.
    pub fn begin_within(&self, what: &'static str, limit: Duration) -> Call<'_> {
        self.vitals.lock().call = Some(CallBegun { what, at: Instant::now(), limit });
        Call(self)
    }

    /// Gives a sign. From then on the thread is silent if it gives none for [`SILENCE_TIMEOUT`], until it rests.
    pub fn beat(&self) {
        self.vitals.lock().beat = Some(Instant::now());
    }

    /// Says that it gives no signs from now on.
    pub fn rest(&self) {
        self.vitals.lock().beat = None;
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
        let mut signs = self.0.vitals.lock();
        signs.call = None;
        // A call that has ended is a sign too.
        signs.beat = signs.beat.map(|_| Instant::now());
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
        assert!(health.lock().watched.iter().all(|(_, vitals)| vitals.strong_count() == 0));
    }

    #[test]
    fn a_thread_that_beats_is_silent_if_it_stops_outside_of_a_call_and_does_not_rest() {
        let health = Health::default();
        let pulse = health.watch("archive");
        let later = || health.findings_at(Instant::now() + SILENCE_TIMEOUT + Duration::from_secs(1));
        assert_eq!(later(), [], "it has never beaten");
        pulse.beat();
        assert_eq!(health.findings(), []);
        assert_eq!(later()[0].kind, FindingKind::Silent);
        let call = pulse.begin("sync");
        assert_eq!(later(), [], "a call has its own limit");
        drop(call);
        assert!(later()[0].to_string().starts_with("thread archive has given no sign for "));
        // As if the thread were gone, with all that it has.
        std::mem::forget(pulse);
        assert_eq!(later()[0].kind, FindingKind::Silent);
    }

    #[test]
    fn a_thread_that_rests_is_not_silent() {
        let health = Health::default();
        let pulse = health.watch("archive");
        pulse.beat();
        pulse.rest();
        assert_eq!(health.findings_at(Instant::now() + SILENCE_TIMEOUT * 2), []);
    }
}
