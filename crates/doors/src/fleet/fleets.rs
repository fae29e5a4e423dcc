//! All fleets of a DAC, and the thread that computes them.

use super::{
    measure::{AlarmsByInstance, Measure},
    selection::Selection,
    summary::{FleetReader, Summary, SummaryMessage},
};
use oasis_dac::Dac;
use oasis_thread_priority::use_usual_slices;
use std::{
    collections::HashMap,
    fmt::Debug,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Upper bound of the different fleets at the same time.
pub const MAX_FLEETS: usize = 32;
/// Instances that are measured at a time.
const PAGE_INSTANCES: usize = 200;
/// Rest after a round, for each unit of its work: the thread takes a fifth of a core for one fleet at most.
const REST_FACTOR: u32 = 4;
/// Interval at which the thread checks for fleets without readers.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Source of the standing alarms of instances.
pub trait StandingAlarms: Debug + Send + Sync {
    /// A number that changes with them.
    fn revision(&self) -> u64;
    /// Counts of standing alarms by severity, for each instance that has some, by node and instance.
    fn counts(&self) -> AlarmsByInstance;
}

/// Whether a reader may see an instance, by node and name.
pub type Sight<'a> = &'a dyn Fn(&str, &str) -> bool;

/// A fleet that has readers. It ends when the last reader drops it.
#[derive(Debug)]
pub struct Fleet {
    /// Its number.
    pub number: u64,
    selection: Selection,
    summary: Mutex<Summary>,
}

/// All fleets of a DAC.
#[derive(Debug)]
pub struct Fleets {
    dac: Arc<Dac>,
    fleets: Mutex<Book>,
    /// Interrupts the thread's rest when a fleet begins.
    bell: Condvar,
    has_thread: AtomicBool,
    alarms: OnceLock<Arc<dyn StandingAlarms>>,
}

#[derive(Debug, Default)]
struct Book {
    last_number: u64,
    known: HashMap<Selection, Arc<Fleet>>,
}

/// Why a fleet cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Others read too many.
    #[error(
        "{MAX_FLEETS} different fleets are read at this DAC: use one of their selections, or try again later"
    )]
    TooMany,
    /// The system has no thread for it.
    #[error("no thread for fleets: {0}: end other programs, or try again later")]
    Thread(#[from] io::Error),
}

impl Fleet {
    /// A fleet before its first round.
    pub(super) fn new(number: u64, selection: Selection) -> Self {
        Self { number, selection, summary: Mutex::new(Summary::new(number)) }
    }

    /// Number of the last complete round.
    pub fn round(&self) -> u64 {
        self.summary().round()
    }

    /// Returns the next message of a reader; none if it has all. `sees`: which instances it may read, unless it reads all.
    pub fn next(&self, reader: FleetReader, sees: Option<Sight<'_>>) -> Option<SummaryMessage> {
        let mut summary = self.summary();
        match sees {
            None => summary.next(reader),
            Some(sees) => summary.next_visible(reader, sees),
        }
    }

    pub(super) fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes a round, a page of instances at a time. Nothing is measured under the lock, so readers never wait for a long batch.
    pub(super) fn run_round(&self, dac: &Dac, measure: &mut Measure, alarms: &AlarmsByInstance) {
        measure.begin();
        let mut after = None;
        loop {
            let page = dac.registry.instances_after(after, PAGE_INSTANCES);
            let last = page.last().map(|instance| instance.topic).filter(|_| page.len() == PAGE_INSTANCES);
            let page = page.into_iter().filter(|instance| self.selection.contains(instance));
            let labeled = page.map(|instance| {
                let labels = dac.registry.all_labels(&instance);
                (instance, labels)
            });
            let (page, labels): (Vec<_>, Vec<_>) =
                labeled.filter(|(_, labels)| self.selection.passes(labels)).unzip();
            let known = self.summary().known(&page);
            let measured = page.into_iter().zip(labels).zip(known).map(|((instance, labels), known)| {
                let row = measure.row(dac, &instance, &self.selection, alarms, known.as_ref());
                (instance, labels, row)
            });
            let found = measured.collect();
            self.summary().take(found, (after, last));
            if last.is_none() {
                break;
            }
            after = last;
        }
        self.summary().end_round();
    }
}

impl Fleets {
    /// Without readers there is no thread.
    pub fn new(dac: Arc<Dac>) -> Self {
        Self {
            dac,
            fleets: Mutex::default(),
            bell: Condvar::new(),
            has_thread: AtomicBool::new(false),
            alarms: OnceLock::new(),
        }
    }

    /// Lets fleets show standing alarms. The first source stays.
    pub fn show_alarms(&self, source: Arc<dyn StandingAlarms>) {
        let _ = self.alarms.set(source);
    }

    /// Returns the fleet of a selection, which begins if it has no reader yet.
    ///
    /// # Errors
    /// If there are too many, or no thread.
    pub fn open(self: &Arc<Self>, selection: Selection) -> Result<Arc<Fleet>, FleetError> {
        let mut book = self.book();
        book.known.retain(|_, fleet| Arc::strong_count(fleet) > 1);
        let fleet = match book.known.get(&selection) {
            Some(fleet) => fleet.clone(),
            None if book.known.len() >= MAX_FLEETS => return Err(FleetError::TooMany),
            None => {
                book.last_number += 1;
                let fleet = Arc::new(Fleet::new(book.last_number, selection.clone()));
                book.known.insert(selection, fleet.clone());
                fleet
            }
        };
        drop(book);
        self.keep_running()?;
        self.bell.notify_all();
        Ok(fleet)
    }

    /// Starts the thread if there is none, for example because it panicked.
    ///
    /// # Errors
    /// If the system has no thread.
    pub fn keep_running(self: &Arc<Self>) -> io::Result<()> {
        if self.has_thread.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let running = Running(self.clone());
        let started = thread::Builder::new().name("oasis-fleets".into()).spawn(move || {
            use_usual_slices();
            running.0.run();
        });
        started.map(drop).inspect_err(|_| self.has_thread.store(false, Ordering::Release))
    }

    /// Computes rounds until no fleet has a reader.
    fn run(&self) {
        let pulse = self.dac.health.watch("oasis-fleets");
        let mut alarms = KnownAlarms::default();
        let mut scheduled: HashMap<u64, Schedule> = HashMap::new();
        while let Some((newest, fleets)) = self.present() {
            scheduled.retain(|number, _| fleets.iter().any(|fleet| fleet.number == *number));
            for fleet in &fleets {
                let now = Instant::now();
                let schedule = scheduled.entry(fleet.number).or_insert_with(|| Schedule::new(now));
                if schedule.due > now {
                    continue;
                }
                let _call = pulse.begin("summarizing a fleet");
                let alarms = alarms.present(self.alarms.get());
                fleet.run_round(&self.dac, &mut schedule.measure, alarms);
                schedule.due =
                    (now + fleet.selection.period).max(Instant::now() + now.elapsed() * REST_FACTOR);
            }
            drop(fleets);
            self.rest(newest, scheduled.values().map(|schedule| schedule.due).min());
        }
    }

    /// Returns the fleets that have readers, and the number of the newest one; none if there are none, and the thread ends.
    fn present(&self) -> Option<(u64, Vec<Arc<Fleet>>)> {
        let mut book = self.book();
        book.known.retain(|_, fleet| Arc::strong_count(fleet) > 1);
        if book.known.is_empty() {
            // Under the lock: a fleet that begins now finds no thread, and starts one.
            self.has_thread.store(false, Ordering::Release);
            return None;
        }
        Some((book.last_number, book.known.values().cloned().collect()))
    }

    /// Waits for the next round, or for a fleet after the newest one.
    fn rest(&self, newest: u64, due: Option<Instant>) {
        let wait = due
            .map_or(IDLE_CHECK_INTERVAL, |due| due.saturating_duration_since(Instant::now()))
            .min(IDLE_CHECK_INTERVAL);
        let book = self.book();
        // A bell that rang while a round was computed is not heard here.
        drop(self.bell.wait_timeout_while(book, wait, |book| book.last_number == newest));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.fleets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that the thread has ended, however it did.
struct Running(Arc<Fleets>);

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_thread.store(false, Ordering::Release);
        }
    }
}

/// State that the thread keeps of a fleet between two rounds.
#[derive(Debug)]
struct Schedule {
    due: Instant,
    measure: Measure,
}

impl Schedule {
    fn new(due: Instant) -> Self {
        Self { due, measure: Measure::default() }
    }
}

/// The standing alarms as of a revision.
#[derive(Debug, Default)]
struct KnownAlarms {
    revision: Option<u64>,
    counts: AlarmsByInstance,
}

impl KnownAlarms {
    /// Counts them again if they have changed.
    fn present(&mut self, source: Option<&Arc<dyn StandingAlarms>>) -> &AlarmsByInstance {
        if let Some(source) = source {
            let revision = Some(source.revision());
            if revision != self.revision {
                (self.revision, self.counts) = (revision, source.counts());
            }
        }
        &self.counts
    }
}
