//! The recorder: a handler that stores what a DAC receives.
//!
//! Each start of an [`Archive`] has its own thread. It reads each topic log with its own position, as every other reader does. It writes the batches to the
//! segment files of an [`oasis_store`]. A sample is *received* once the DAC's ledger counts it, and *stored* once a commit has synced it. Stored samples
//! survive `kill -9` and a power cut. [`restore`] adds the stored nodes and instances to a DAC that starts.
//!
//! ```
//! use oasis_archive::{Archive, restore};
//! use oasis_dac::{Config, Dac};
//! use oasis_handler::Supervisor;
//! use oasis_store::{ArchiveConfig, open};
//! use std::sync::Arc;
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let dac = Dac::new(Config::default());
//! let writable = open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
//! restore(&writable, &dac.registry)?;
//! let archive = Arc::new(Archive::new(writable));
//! let handlers = Supervisor::new(dac, Some(archive.clone()), vec![archive.clone()]);
//! handlers.start("archive")?;
//! // Until it is stopped: received samples are stored then.
//! handlers.stop("archive")?;
//! archive.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod importing;
mod reopening;
mod restore;
#[cfg(feature = "simulation")]
pub mod simulation;
mod writer;

pub use importing::{LiveImport, NotImported};
pub use restore::{restore, restore_imported};
pub use writer::NotStored;

use oasis_dac::{Dac, now};
use oasis_handler::{Context, Failure, Handler, StateMetrics, StoredSamples};
use oasis_health::{Finding, Health};
use oasis_store::{
    Account, Annotations, ArchiveConfig, ClockJump, Condition, Counters, Forgotten, History, Removed,
    SegmentNumbers, TestRuns, WritableStore, opening::FolderLock, rolling::Roller, store::Store,
};
use oasis_wire::quantity::TopicId;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::{Semaphore, mpsc, oneshot};
use writer::{Request, Writer};

/// Its name as a handler, and of its thread.
const NAME: &str = "archive";
/// The name of the thread that makes roll-ups.
const ROLL_UPS: &str = "roll-ups";
/// Interval at which the archive's thread is polled while a caller waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Requests that wait for the archive's thread.
const MAX_REQUESTS: usize = 64;
/// Timeout of storing the last samples. All topic logs together have 512 MiB.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// An archive that is written to. It can be stopped and started while it is read.
#[derive(Debug)]
pub struct Archive {
    /// Another one after the folder was gone. Locked to clone it.
    store: RwLock<Arc<Store>>,
    /// Its folder.
    directory: PathBuf,
    config: ArchiveConfig,
    numbers: Arc<SegmentNumbers>,
    /// Locked for a few assignments, and while the archive is closed.
    lives: Mutex<Lives>,
    /// Keeps other processes from writing to the folder; `None` while it is gone.
    lock: Mutex<Option<FolderLock>>,
    /// One import at a time.
    import_turn: Arc<Semaphore>,
}

/// Nothing was forgotten, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotForgotten {
    /// The handler runs.
    #[error("the archive runs: stop it first")]
    Running,
    /// Catalogue or files.
    #[error("the archive failed; its next start completes what has begun: {0}")]
    Failed(String),
}

/// State that one run of the thread leaves to the next one, and the way to reach the current one.
#[derive(Debug)]
struct Lives {
    /// `None` while no thread runs. Requests before the first run are queued.
    requests: Option<mpsc::Sender<Request>>,
    /// The receiving end, before the first run.
    waiting: Option<mpsc::Receiver<Request>>,
    /// `None` while a thread runs, and after one that has failed.
    writer: Option<Writer>,
    /// Result of the last run. `None` while a thread runs, and after one that has failed.
    ended: Option<Result<(), NotStored>>,
    /// Health of the thread, which watches its calls; `None` before the first run.
    health: Option<Health>,
}

impl Archive {
    /// Creates a handler that writes to this store.
    pub fn new(writable: WritableStore) -> Self {
        let WritableStore { store, config, numbers, lock } = writable;
        let (requests, waiting) = mpsc::channel(MAX_REQUESTS);
        let lives = Lives {
            requests: Some(requests),
            waiting: Some(waiting),
            writer: None,
            ended: Some(Ok(())),
            health: None,
        };
        let lives = Mutex::new(lives);
        let directory = store.directory.clone();
        let (store, lock) = (RwLock::new(store), Mutex::new(Some(lock)));
        let import_turn = Arc::new(Semaphore::new(1));
        Self { store, directory, config, numbers, lives, lock, import_turn }
    }

    fn store(&self) -> Arc<Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the account of an instance in this epoch; `None` before its first commit, or if no rule matches it.
    pub fn account(&self, topic: TopicId) -> Option<Account> {
        self.store().account(topic)
    }

    /// Returns the state of the archive.
    pub fn counters(&self) -> Counters {
        let store = self.store();
        let counters = store.counters.lock().clone();
        let rollup_waiting = counters.segments.saturating_sub(store.rollups.settled());
        Counters { rollup_waiting, clock_jump: store.clock.jump(), ..counters }
    }

    /// Trusts the wall clock as it is now, so that samples are evicted by age again. Returns its jump, if it had jumped.
    pub fn confirm_clock(&self) -> Option<ClockJump> {
        self.store().clock.confirm()
    }

    /// The stored samples, for readers.
    pub fn history(&self) -> History {
        History(self.store())
    }

    /// Its test runs.
    pub fn test_runs(&self) -> TestRuns {
        TestRuns(self.store())
    }

    /// Its annotations.
    pub fn annotations(&self) -> Annotations {
        Annotations(self.store())
    }

    /// Bytes of its disk that are left to others.
    pub fn min_free_bytes(&self) -> u64 {
        self.config.min_free_bytes
    }

    /// Its folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Stores everything that was received before the call.
    ///
    /// # Errors
    /// If the disk is full or fails: what could not be stored is tried again later. If the archive is stopped.
    pub async fn flush(&self) -> Result<(), NotStored> {
        let (answer, answered) = oneshot::channel();
        let requests = self.lives().requests.clone().ok_or(NotStored::Stopped)?;
        let stored = async {
            requests.send(Request::Flush(answer)).await.map_err(|_| NotStored::Stopped)?;
            answered.await.map_err(|_| NotStored::Stopped)?
        };
        tokio::select! {
            stored = stored => stored,
            finding = self.hangs() => Err(NotStored::Hangs(finding.to_string())),
        }
    }

    /// Completes once a call of the archive's thread hangs.
    async fn hangs(&self) -> Finding {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let health = self.lives().health.clone();
            if let Some(finding) = health.and_then(|health| health.finding(NAME)) {
                return finding;
            }
        }
    }

    /// Notes what was received while it was stopped, if it is. Call it when the DAC ends, after the handler has stopped. Reads and writes files.
    ///
    /// # Errors
    /// If the last samples before the stop could not be stored, or the thread has not finished.
    pub fn close(&self) -> Result<(), NotStored> {
        let mut lives = self.lives();
        if let Some(writer) = &mut lives.writer {
            writer.list_received_while_stopped();
        }
        lives.ended.clone().unwrap_or(Err(NotStored::Unfinished))
    }

    /// Forgets a node or an instance, whose topics of this epoch are gone. Only while the handler is stopped, because there must be no other writer; reads and
    /// writes files.
    ///
    /// # Errors
    /// If the handler runs, or catalogue or files cannot be read or written. The next start completes it.
    pub fn forget(&self, of: &Forgotten, topics: &[TopicId]) -> Result<Removed, NotForgotten> {
        let mut lives = self.lives();
        if lives.requests.is_some() && lives.waiting.is_none() {
            return Err(NotForgotten::Running);
        }
        let store = self.store();
        store.check_named().map_err(|gone| NotForgotten::Failed(gone.to_string()))?;
        let removed = store.forget(of).map_err(|error| NotForgotten::Failed(error.to_string()))?;
        store.with_accounts(|accounts| accounts.retain(|topic, _| !topics.contains(topic)));
        if let Some(writer) = &mut lives.writer {
            writer.note_forgotten();
        }
        Ok(removed)
    }

    fn lives(&self) -> MutexGuard<'_, Lives> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run of the thread: makes it reachable, and takes over the state that the last one has left.
    fn begin(&self, dac: &Arc<Dac>) -> (Life<'_>, Writer, mpsc::Receiver<Request>) {
        let mut lives = self.lives();
        let requests = lives.waiting.take().unwrap_or_else(|| {
            let (sender, receiver) = mpsc::channel(MAX_REQUESTS);
            lives.requests = Some(sender);
            receiver
        });
        let fresh = || Writer::new(dac.clone(), self.store(), self.config.clone(), self.numbers.clone());
        let writer = lives.writer.take().unwrap_or_else(fresh);
        lives.ended = None;
        let config = self.config.clone();
        // The archive stays registered while the thread restarts after a failure: until the operator stops it, samples
        // wait for it.
        dac.keeping
            .set_archive(Some(Arc::new(move |node, instance| config.rule_for(node, instance).is_some())));
        lives.health = Some(dac.health.clone());
        (Life(self), writer, requests)
    }
}

/// Marks the archive as stopped when the thread ends, even by a panic.
struct Life<'a>(&'a Archive);

impl Drop for Life<'_> {
    fn drop(&mut self) {
        self.0.lives().requests = None;
        self.0.store().counters.lock().settle(Condition::Stopped, None, now());
    }
}

impl Handler for Archive {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure(format!("no thread or runtime: {error}"));
        let (_life, mut writer, mut requests) = self.begin(&context.dac);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let ended = loop {
            let rolling = context.dac.health.watch(ROLL_UPS);
            let roller = Roller::start(self.store(), self.config.clone(), rolling).map_err(failed)?;
            let ended = runtime.block_on(writer.run(&mut requests, &context.stopping, &context.pulse));
            context.pulse.rest();
            drop(roller);
            let Err(NotStored::Gone(gone)) = &ended else { break ended };
            match runtime.block_on(self.wait_for_folder(&context, &mut requests, gone)) {
                Some(again) => std::mem::replace(&mut writer, again).leave(),
                None => break ended,
            }
        };
        context.dac.keeping.set_archive(None);
        let mut lives = self.lives();
        lives.writer = Some(writer);
        lives.ended = Some(ended.clone());
        drop(lives);
        ended.map_err(|error| Failure(format!("the last samples are not stored: {error}")))
    }

    fn state(&self) -> Value {
        let Counters { condition, stored, missing, commits, segments, segment_bytes, .. } = self.counters();
        json!({"condition": condition, "stored": stored, "missing": missing, "commits": commits, "segments": segments, "segment_bytes": segment_bytes})
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics { counters: &["stored", "missing", "commits"], gauges: &["segments", "segment_bytes"] }
    }

    fn problem(&self) -> Option<String> {
        let store = self.store();
        let counters = store.counters.lock();
        match counters.condition {
            Condition::DiskFull => {
                Some(format!("the disk is full: {}", counters.detail.as_deref().unwrap_or_default()))
            }
            Condition::DiskError | Condition::Gone => counters.detail.clone(),
            Condition::Storing | Condition::Stopped => store.clock.jump().map(|jump| jump.to_string()),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let store = self.store();
        let counters = store.counters.lock();
        let of_retention = counters.warnings.iter().map(|warning| warning.detail.clone());
        let unreadable = counters.findings.iter().filter(|finding| finding.is_of_a_whole_file());
        let unreadable =
            unreadable.map(|finding| format!("{} cannot be read: {}", finding.file, finding.detail));
        of_retention.chain(unreadable).collect()
    }

    fn stop_deadline(&self) -> Duration {
        STOP_TIMEOUT
    }
}

impl StoredSamples for Archive {
    fn history(&self) -> History {
        Self::history(self)
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + '_>> {
        Box::pin(async { Self::flush(self).await.map_err(|why| Failure(why.to_string())) })
    }
}
