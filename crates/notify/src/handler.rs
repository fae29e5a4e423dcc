//! The handler: a courier for each destination, and what readers learn of them.

use crate::{
    clock::SystemClock,
    config::Configured,
    courier::{Condition, Courier, Progress},
    destination::SendError,
    notification::{Notification, prose::rough},
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock};
use oasis_alarms::{Alarms, AlarmsError, DestinationFigures};
use oasis_dac::now;
use oasis_handler::{Context, Failure, Handler, StateMetrics, Stopping};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    fmt,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};
use tokio::sync::Notify;
use uuid::Builder;

/// Tests a minute, of all destinations together.
const TESTS: NonZeroU32 = NonZeroU32::new(6).expect("not zero");

/// Longest time that a notification waits without a warning.
const MAX_LAG: Duration = Duration::from_secs(10);

/// Rules with unknown destinations that are warned of.
const MOST_UNKNOWN: usize = 16;

/// Notifies people of alarms.
pub struct NotifyHandler {
    alarms: Arc<Alarms>,
    dac: String,
    destinations: Vec<Entry>,
    tests: DefaultDirectRateLimiter,
}

struct Entry {
    configured: Configured,
    progress: Progress,
}

impl fmt::Debug for NotifyHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.destinations.iter().map(|entry| &entry.configured.name);
        f.debug_list().entries(names).finish()
    }
}

/// A destination, for readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DestinationState {
    /// Its name in the configuration.
    pub name: String,
    /// `alertmanager`, `webhook`, `otlp`, `mail` or `exec`
    pub kind: &'static str,
    /// Whether it takes messages.
    pub state: Condition,
    /// Notifications that wait.
    pub waiting: u64,
    /// Age of the oldest of them, in seconds; none if none waits.
    pub oldest_seconds: Option<u64>,
    /// Notifications that a newer state of the same alarm replaced before they were sent.
    pub coalesced: u64,
    /// Notifications that it has accepted.
    pub delivered: u64,
    /// Notifications that were given up or dropped.
    pub failed: u64,
    /// Why the last attempt failed; none after one that succeeded.
    pub last_error: Option<String>,
}

/// Why a destination was not tested, or the test failed.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No destination has this name.
    #[error("unknown destination {name:?}: configured are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// Too many tests.
    #[error("too many tests: try again in {} s", .0.as_secs() + 1)]
    Limited(Duration),
    /// The destination has not accepted it.
    #[error("{name} has not accepted the test: {error}")]
    Failed {
        /// Its name.
        name: String,
        /// Why.
        error: SendError,
    },
}

impl NotifyHandler {
    /// A handler of these destinations. From now on the alarms write messages for them.
    ///
    /// # Errors
    /// If the database of the alarms fails.
    pub fn new(
        destinations: Vec<Configured>,
        alarms: Arc<Alarms>,
        dac: impl Into<String>,
    ) -> Result<Self, AlarmsError> {
        let names: Vec<_> = destinations.iter().map(|one| one.name.clone()).collect();
        alarms.set_destinations(&names)?;
        let entry = |configured| Entry { configured, progress: Progress::default() };
        Ok(Self {
            alarms,
            dac: dac.into(),
            destinations: destinations.into_iter().map(entry).collect(),
            tests: RateLimiter::direct(Quota::per_minute(TESTS)),
        })
    }

    /// Lists the destinations.
    pub fn list(&self) -> Vec<DestinationState> {
        let figures = self.alarms.outbox_figures().destinations;
        let of = |entry: &Entry| {
            let Configured { name, kind, .. } = &entry.configured;
            let figures = figures.get(name).cloned().unwrap_or_default();
            let oldest = age_of_oldest(&figures);
            let DestinationFigures { waiting, coalesced, delivered, given_up, dropped, last_error, .. } =
                figures;
            let reach = entry.progress.now();
            DestinationState {
                name: name.clone(),
                kind,
                state: reach.condition,
                waiting,
                oldest_seconds: oldest.map(|age| age.as_secs()),
                coalesced,
                delivered,
                failed: given_up + dropped,
                last_error: reach.detail.or(last_error),
            }
        };
        self.destinations.iter().map(of).collect()
    }

    /// Sends a test and waits for the answer, some ten seconds at most.
    ///
    /// # Errors
    /// If there is no such destination, there were too many tests, or it has not accepted the test.
    pub fn test(&self, name: &str) -> Result<(), TestError> {
        let entry = self.destinations.iter().find(|entry| entry.configured.name == name);
        let entry = entry.ok_or_else(|| TestError::Unknown { name: name.into(), known: self.names() })?;
        let limited =
            |until: governor::NotUntil<_>| TestError::Limited(until.wait_time_from(self.tests.clock().now()));
        self.tests.check().map_err(limited)?;
        let key = Builder::from_random_bytes(fastrand::u128(..).to_be_bytes()).into_uuid().to_string();
        let notification = Notification::test(key, &self.dac, now().0);
        entry
            .configured
            .destination
            .test(&notification)
            .map_err(|error| TestError::Failed { name: name.into(), error })
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.destinations.iter().map(|entry| entry.configured.name.as_str()).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }

    /// Runs one courier until the end.
    fn deliver(&self, entry: &Entry, wake: &Receiver<()>, shared: &Shared) {
        let _guard = Guard(shared);
        let clock = SystemClock;
        let mut courier = Courier::new(&entry.configured, &entry.progress, &self.alarms, &self.dac, &clock);
        while !shared.is_ending() {
            let pause = courier.work(|| shared.is_ending());
            // A wake or the end of the pause: either way there may be work.
            let _ = wake.recv_timeout(pause);
        }
    }
}

/// State that the couriers share.
#[derive(Default)]
struct Shared {
    is_ending: AtomicBool,
    /// A courier has ended.
    ended: Notify,
}

impl Shared {
    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }
}

/// Reports the end of a courier, also by a panic.
struct Guard<'a>(&'a Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.ended.notify_one();
    }
}

impl Handler for NotifyHandler {
    fn name(&self) -> &'static str {
        "notify"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let shared = Shared::default();
        let failed = |error: std::io::Error| Failure(format!("cannot start threads: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed)?;
        thread::scope(|scope| {
            let mut wakes = Vec::new();
            for entry in &self.destinations {
                let (wake, woken) = sync_channel(1);
                wakes.push(wake);
                let shared = &shared;
                let name = format!("notify {}", entry.configured.name);
                let started = thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, move || self.deliver(entry, &woken, shared));
                if let Err(error) = started {
                    shared.is_ending.store(true, Ordering::Release);
                    return Err(failed(error));
                }
            }
            let result = runtime.block_on(self.wake_couriers(&wakes, &shared, &context.stopping));
            shared.is_ending.store(true, Ordering::Release);
            wakes.iter().for_each(wake);
            result
        })
    }

    fn state(&self) -> Value {
        json!({"destinations": self.list()})
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "destinations{name}.coalesced",
                "destinations{name}.delivered",
                "destinations{name}.failed",
            ],
            gauges: &["destinations{name}.waiting", "destinations{name}.oldest_seconds"],
        }
    }

    fn problem(&self) -> Option<String> {
        let failing = self.destinations.iter().filter_map(|entry| {
            let reach = entry.progress.now();
            let why = reach.detail.filter(|_| reach.condition == Condition::Failing)?;
            Some(format!("{} gets no notifications: {why}", entry.configured.name))
        });
        let failing: Vec<_> = failing.collect();
        (!failing.is_empty()).then(|| failing.join("; "))
    }

    fn warnings(&self) -> Vec<String> {
        let of = |entry: &Entry| {
            let name = entry.configured.name.clone();
            entry
                .configured
                .destination
                .warnings()
                .into_iter()
                .map(move |warning| format!("{name}: {warning}"))
        };
        let unknown = self.alarms.unknown_destinations().into_iter().take(MOST_UNKNOWN);
        let unknown = unknown.map(|(rule, name)| {
            format!(
                "the rule {rule} notifies {name:?}, and there is no such destination: add [notify.{name:?}]"
            )
        });
        self.destinations.iter().flat_map(of).chain(self.lags()).chain(unknown).collect()
    }

    /// An attempt that is under way ends first.
    fn stop_deadline(&self) -> Duration {
        crate::setting::TIMEOUT + Duration::from_secs(2)
    }
}

impl NotifyHandler {
    /// Destinations for which notifications wait too long.
    fn lags(&self) -> Vec<String> {
        let figures = self.alarms.outbox_figures().destinations;
        let of = |entry: &Entry| {
            let Configured { name, limits, .. } = &entry.configured;
            lag(name, limits.per_minute, figures.get(name)?)
        };
        self.destinations.iter().filter_map(of).collect()
    }

    async fn wake_couriers(
        &self,
        wakes: &[SyncSender<()>],
        shared: &Shared,
        stopping: &Stopping,
    ) -> Result<(), Failure> {
        let mut changes = self.alarms.watch();
        loop {
            tokio::select! {
                () = stopping.stopped() => return Ok(()),
                () = shared.ended.notified() => return Err(Failure("the thread of a destination ended".into())),
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Err(Failure("the alarms are gone".into()));
                    }
                    wakes.iter().for_each(wake);
                }
            }
        }
    }
}

/// A warning of a destination whose oldest notification waits too long.
fn lag(name: &str, per_minute: u32, figures: &DestinationFigures) -> Option<String> {
    let age = age_of_oldest(figures).filter(|age| *age >= MAX_LAG)?;
    Some(format!(
        "{name} lags: {} notifications wait, the oldest for {}; the most severe are sent first, and of each alarm the newest state \
         (at most {per_minute} a minute: notify.{name}.per_minute)",
        figures.waiting,
        rough(age)
    ))
}

/// Age of the oldest notification that waits.
fn age_of_oldest(figures: &DestinationFigures) -> Option<Duration> {
    Some(Duration::from_nanos(now().0.saturating_sub(figures.oldest?)))
}

/// Wakes a courier, unless it is about to look anyway.
fn wake(courier: &SyncSender<()>) {
    let _ = courier.try_send(());
}
