//! The recorder: a handler that stores what a DAC receives.
//!
//! [`Archive`] is the recorder at work. Its thread reads each topic log with a position of its own, as every other reader does, and writes the batches to the segment files
//! of an [`oasis_store`]. A sample is *received* once the DAC's ledger counts it, and *stored* once a commit has synced it: stored samples survive `kill -9` and a
//! power cut. [`restore`] adds the stored nodes and instances to a DAC that starts.
//!
//! ```
//! use oasis_archive::{Archive, restore};
//! use oasis_dac::{Config, Dac};
//! use oasis_store::{ArchiveConfig, open};
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().display().to_string();
//! let dac = Dac::new(Config::default());
//! let writable = open(ArchiveConfig { directory, ..ArchiveConfig::default() })?;
//! restore(&writable, &dac.registry)?;
//! let archive = Archive::start(writable, dac)?;
//! tokio::runtime::Builder::new_current_thread().build()?.block_on(archive.stop())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod restore;
mod writer;

pub use restore::restore;
pub use writer::NotStored;

use oasis_dac::Dac;
use oasis_store::{
    Account, Annotations, Counters, History, TestRuns, WritableStore, opening::FolderLock, rolling::Roller,
    store::Store,
};
use oasis_wire::quantity::TopicId;
use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};
use tokio::sync::{mpsc, oneshot};
use writer::{Request, Writer};

/// Requests that wait for the archive's thread.
const REQUESTS: usize = 64;

/// An archive at work.
#[derive(Debug)]
pub struct Archive {
    store: Arc<Store>,
    requests: mpsc::Sender<Request>,
    thread: Mutex<Option<JoinHandle<()>>>,
    roller: Mutex<Option<Roller>>,
    /// Keeps other processes from writing to the folder.
    _lock: FolderLock,
}

impl Archive {
    /// Starts the thread that stores what the DAC receives.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn start(writable: WritableStore, dac: Arc<Dac>) -> io::Result<Self> {
        let WritableStore { store, config, next_number, lock } = writable;
        let (requests, from) = mpsc::channel(REQUESTS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let writer = Writer::new(dac, store.clone(), config.clone(), next_number);
        let thread = std::thread::Builder::new()
            .name("archive".into())
            .spawn(move || runtime.block_on(writer.run(from)))?;
        let roller = Roller::start(store.clone(), config)?;
        let (thread, roller) = (Mutex::new(Some(thread)), Mutex::new(Some(roller)));
        Ok(Self { store, requests, thread, roller, _lock: lock })
    }

    /// What is stored of an instance in this epoch; none before its first commit, or if no rule matches it.
    pub fn account(&self, topic: TopicId) -> Option<Account> {
        self.store.account(topic)
    }

    /// How the archive is.
    pub fn counters(&self) -> Counters {
        let counters = self.store.book.open().clone();
        let rollup_waiting = counters.segments.saturating_sub(self.store.rollups.settled());
        Counters { rollup_waiting, ..counters }
    }

    /// What is stored, to be read.
    pub fn history(&self) -> History {
        History(self.store.clone())
    }

    /// Its test runs.
    pub fn test_runs(&self) -> TestRuns {
        TestRuns(self.store.clone())
    }

    /// Its annotations.
    pub fn annotations(&self) -> Annotations {
        Annotations(self.store.clone())
    }

    /// Its folder.
    pub fn directory(&self) -> &Path {
        &self.store.directory
    }

    /// Stores all that was received before the call.
    ///
    /// # Errors
    /// If the disk is full or fails. What could not be stored is tried again later.
    pub async fn flush(&self) -> Result<(), NotStored> {
        self.ask(Request::Flush).await
    }

    /// Stores all that was received, and ends.
    ///
    /// # Errors
    /// As [`Archive::flush`].
    pub async fn stop(&self) -> Result<(), NotStored> {
        let stored = self.ask(Request::Stop).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has answered, so it is about to end.
            let _ = thread.join();
        }
        let roller = self.roller.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(roller) = roller {
            roller.stop();
        }
        stored
    }

    async fn ask(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<(), NotStored>>) -> Request,
    ) -> Result<(), NotStored> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(request(answer)).await.map_err(|_| NotStored::Ended)?;
        answered.await.map_err(|_| NotStored::Ended)?
    }
}

impl oasis_handler::Stored for Archive {
    fn history(&self) -> History {
        Self::history(self)
    }

    fn flush(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // A sample that could not be stored is not found, and its reader learns why.
        Box::pin(async { drop(Self::flush(self).await) })
    }
}
