//! One life of a handler: from a start to the stop, over failures and restarts, on its own thread.

use crate::{Condition, Context, Failure, Handler, Stopping};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Longest failure that is kept for people, in bytes.
const MAX_DETAIL: usize = 1_024;

/// Pauses between a failure and the next start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    /// After the first failure; each further one doubles it.
    pub first: Duration,
    /// Upper bound of the pause, also for a thread that fails again and again.
    pub most: Duration,
    /// A run of at least this length counts as recovered: the next pause is the first one again.
    pub recovered: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        Self { first: second / 2, most: second, recovered: minute }
    }
}

/// Condition, last failure and restarts, shared with readers. Locked for a few assignments.
#[derive(Debug, Default)]
pub(crate) struct Vitals(Mutex<Signs>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Signs {
    pub condition: Condition,
    pub detail: Option<String>,
    pub restarts: u64,
    /// Whether the system refused its thread.
    pub is_refused: bool,
}

impl Vitals {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Signs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, condition: Condition) {
        let mut signs = self.lock();
        // The request to stop stands until the thread has ended.
        if signs.condition != Condition::Stopping || condition == Condition::Stopped {
            signs.condition = condition;
        }
    }
}

/// Runs a handler until it is stopped or ends by itself.
pub(crate) fn live(handler: &Arc<dyn Handler>, context: &Context, vitals: &Vitals, backoff: Backoff) {
    let (name, stopping) = (handler.name(), &context.stopping);
    let mut pause = backoff.first;
    // Once at least: a handler that is stopped at once may have to store what came before.
    loop {
        vitals.set(Condition::Running);
        let started = Instant::now();
        let Err(failure) = run(&**handler, context.clone()) else { break };
        if stopping.is_stopping() {
            tracing::error!(handler = name, %failure, "handler failed while it stopped");
            vitals.lock().detail = Some(shorten(failure.0));
            break;
        }
        if started.elapsed() >= backoff.recovered {
            pause = backoff.first;
        }
        tracing::error!(handler = name, %failure, pause_ms = pause.as_millis() as u64, "handler failed, restarting");
        {
            let mut signs = vitals.lock();
            signs.detail = Some(shorten(failure.0));
            signs.restarts += 1;
        }
        vitals.set(Condition::BackingOff);
        if rest(stopping, pause) {
            break;
        }
        pause = (pause * 2).min(backoff.most);
    }
    vitals.set(Condition::Stopped);
}

fn rest(stopping: &Stopping, pause: Duration) -> bool {
    stopping.wait_for(pause)
}

/// A panic is a failure like any other.
fn run(handler: &dyn Handler, context: Context) -> Result<(), Failure> {
    match catch_unwind(AssertUnwindSafe(|| handler.run(context))) {
        Ok(ended) => ended,
        Err(panic) => Err(Failure(format!("panicked: {}", message_of(&*panic)))),
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

fn shorten(mut detail: String) -> String {
    if detail.len() > MAX_DETAIL {
        let end = (0..=MAX_DETAIL).rev().find(|&at| detail.is_char_boundary(at)).unwrap_or_default();
        detail.truncate(end);
    }
    detail
}
