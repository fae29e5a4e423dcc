//! The archive: what the topic logs held, on disk, as it arrived.
//!
//! It reads each topic log with a place of its own, as every other reader does, and writes the batches' bytes to append-only
//! segment files. A sample is *received* once the DAC's ledger counts it, and *stored* once a commit has synced it: stored samples
//! survive `kill -9` and a power cut. An SQLite catalogue beside the files says what is where, and can be made from them again.
//!
//! In the order of reading: [`record`] and [`walk`] are the file format, [`index`] where batches lie in a file; [`segment_file`]
//! writes one, [`recovery`] ends one that a crash has left, in the room that [`reserve`] has kept back if there is no other; [`writer`] is the thread that does it, [`store`] what it shares with
//! readers, [`past`] how they read sample by sample, [`newest`] how they find the newest ones, and [`points`] how they get a long time in few points; [`rollups`] are what is left of old samples. Its threads let others go first, by [`pace`]. `docs/guides/keep-samples-on-disk.md` has the format and the promises.
//! [`TestRuns`] and [`Annotations`] are what people add to it: names for times, and notes. [`check`] reads all of it, to see whether it is as it was written.

mod account;
mod annotations;
mod catalogue;
mod check;
mod config;
mod gap;
mod history;
mod holes;
mod import;
mod index;
mod newest;
mod pace;
mod past;
pub mod points;
mod ranges;
mod record;
mod recovery;
mod reserve;
mod retention;
mod rollups;
mod segment_file;
mod series;
mod sql;
mod store;
mod summary;
mod test_runs;
mod text;
mod walk;
mod writer;

pub use account::{Account, Condition, Counters};
pub use annotations::{Annotation, AnnotationError, AnnotationFilter, Annotations, Note, Place, Target};
pub use catalogue::CatalogueError;
pub use check::{Checked, Damage, Lost, Told, check};
pub use config::{ArchiveConfig, RetentionRule, matches};
pub use gap::{Gap, GapCause};
pub use history::History;
pub use holes::{Holes, Missing};
pub use import::{Import, ImportError, Imported, SourceError};
pub use newest::{Listed, Newest};
pub use past::{Past, Piece};
pub use recovery::Finding;
pub use rollups::Level;
pub use rusqlite::types::ValueRef as SqlValue;
pub use series::Series;
pub use sql::{Rows, Sql, SqlError, TableInfo, parse_time};
pub use store::{Reach, Reaches, ReadError};
pub use summary::{Intervals, MetricSummary, Summary};
pub use test_runs::{Description, TestRun, TestRunError, TestRunFilter, TestRuns};
pub use writer::NotStored;

use catalogue::Sealed;
use oasis_dac::{Dac, Registry, RestoreCounts, now};
use oasis_wire::quantity::{Epoch, TopicId};
use record::{FILE_HEADER, NotASegment};
use recovery::Unreadable;
use rollups::upkeep::Roller;
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};
use store::Store;
use tokio::sync::{mpsc, oneshot};
use writer::{Request, Writer};

/// Requests that wait for the archive's thread.
const REQUESTS: usize = 64;

/// Why an archive cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder.
    #[error("cannot use {path} as an archive (archive.directory): {error}", path = .path.display())]
    Directory {
        /// As configured.
        path: PathBuf,
        /// As the system says it.
        error: io::Error,
    },
    /// There is none.
    #[error("{path} is no archive: it has no catalogue.sqlite", path = .0.display())]
    Absent(PathBuf),
    /// Another process has it.
    #[error("another process has the archive {path} open: give each DAC a folder of its own (archive.directory), and stop the DAC to import (on a read-only or full disk a reader has it open, too)", path = .0.display())]
    Locked(PathBuf),
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Nothing fits on its disk any more.
    #[error("the disk of {path} is full, and an archive needs some room to be opened: make some, or start without it (archive.directory): {error}", path = .path.display())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// What could not be done.
        error: Box<OpenError>,
    },
}

/// An archive whose files were looked at, and which stores nothing yet.
#[derive(Debug)]
pub struct Opened {
    store: Arc<Store>,
    config: ArchiveConfig,
    next_number: u64,
    lock: File,
}

/// Opens an archive's folder, or makes one: recovers what an earlier life has left.
///
/// # Errors
/// If the folder cannot be used, or belongs to another process.
pub fn open(config: ArchiveConfig) -> Result<Opened, OpenError> {
    let directory = PathBuf::from(&config.directory);
    let failed = |error| OpenError::Directory { path: directory.clone(), error };
    if directory.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::NotADirectory, "it is a file: name a folder")));
    }
    fs::create_dir_all(&directory).map_err(failed)?;
    let lock = lock(&directory)?;
    if reserve::release_if_needed(&directory, &config) {
        tracing::warn!(path = %directory.display(), "the disk is all but full: the archive starts in the room that it has kept back");
    }
    open_locked(config, lock).map_err(|error| reserve::explain(&directory, error))
}

fn open_locked(config: ArchiveConfig, lock: File) -> Result<Opened, OpenError> {
    let directory = PathBuf::from(&config.directory);
    let failed = |error| OpenError::Directory { path: directory.clone(), error };
    let (catalogue, findings) = catalogue::open_or_make_again(&directory)?;
    let store = Arc::new(Store::new(directory.clone(), catalogue));
    // A catalogue that was made again does not know whether it had listed an import: what is there stays then.
    let unfinished =
        if findings.is_empty() { import::folder::epoch(&directory).map_err(failed)? } else { None };
    findings.into_iter().for_each(|finding| store.book.find(finding));
    let last = recover_all(&store, &config, unfinished)?;
    import::folder::remove(&directory).map_err(failed)?;
    let opened = Opened { store, config, next_number: last + 1, lock };
    opened.settle_rules()?;
    if let Err(error) = opened.store.forget_gone() {
        tracing::warn!(%error, "the archive's catalogue still has what files have nothing of any more");
    }
    reserve::keep(&opened.store.directory, &opened.config);
    Ok(opened)
}

fn lock(directory: &Path) -> Result<File, OpenError> {
    let failed = |error| OpenError::Directory { path: directory.to_owned(), error };
    let lock = File::options().create(true).append(true).open(directory.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(directory.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Brings catalogue and files together; those of an import that has not ended go. Answers the greatest number of a file.
fn recover_all(store: &Store, config: &ArchiveConfig, unfinished: Option<Epoch>) -> Result<u64, OpenError> {
    let failed = |error| OpenError::Directory { path: store.directory.clone(), error };
    let files = recovery::segment_files(&store.directory).map_err(failed)?;
    let listed = store.catalogue().segment_numbers()?;
    for number in &listed {
        if files.binary_search_by_key(number, |(number, _)| *number).is_err() {
            let path = segment_file::path(&store.directory, *number);
            let gone = Unreadable::Io(io::Error::new(io::ErrorKind::NotFound, "the file is gone"));
            store.book.find(recovery::unreadable(&path, &gone));
            store.catalogue().remove(*number)?;
        }
    }
    for (number, path) in &files {
        if listed.contains(number) {
            continue;
        }
        match unfinished {
            // What cannot be read is told below.
            Some(epoch) if import::folder::is_of(path, epoch).unwrap_or(false) => {
                fs::remove_file(path).map_err(failed)?;
            }
            _ => recover_one(store, config, path)?,
        }
    }
    if unfinished.is_some() {
        // They must not come back once the folder that names them is gone.
        segment_file::sync_directory(&store.directory).map_err(failed)?;
    }
    for finding in store.rollups.open(&store.directory, true).map_err(failed)? {
        store.book.find(finding);
    }
    let segments = store.catalogue().segments()?;
    let mut book = store.book.open();
    book.segments = segments.len() as u64;
    book.segment_bytes = segments.iter().map(|segment| segment.bytes).sum();
    book.since = now();
    // Those that only roll-ups know of count too: a number stands for its samples for good.
    let rolled = Level::ROLLED.into_iter().filter_map(|level| store.rollups.covered(level).pop_last());
    let last = files.iter().map(|(number, _)| *number).chain(listed).chain(rolled).max();
    Ok(last.unwrap_or_default())
}

fn recover_one(store: &Store, config: &ArchiveConfig, path: &Path) -> Result<(), OpenError> {
    let recovered = match recovery::recover(path) {
        Ok(recovered) => recovered,
        Err(Unreadable::Header(NotASegment::Short(length))) => {
            // It ended before its first commit, so nothing in it was ever stored.
            debug_assert!(length < FILE_HEADER);
            return fs::remove_file(path)
                .map_err(|error| OpenError::Directory { path: path.to_owned(), error });
        }
        Err(error) => {
            store.book.find(recovery::unreadable(path, &error));
            return Ok(());
        }
    };
    let findings = recovered.findings(path);
    let first = recovered.found.index.series.first().map(|series| series.series.clone());
    let rule = first.and_then(|series| config.rule_for(&series.node, &series.instance));
    let number = recovered.header.number;
    store.catalogue().add(&Sealed {
        number,
        rule: rule.map_or("", |rule| &config.retention[rule].instances),
        created: recovered.header.created,
        sealed: segment_file::last_written(path),
        bytes: recovered.bytes,
        index: &recovered.found.index,
    })?;
    for finding in findings {
        store.catalogue().add_damage(number, &(finding.from..finding.to), finding.kind, now())?;
        store.book.find(finding);
    }
    Ok(())
}

impl Opened {
    /// Files that were written under a rule that is no more come under the one that holds now.
    fn settle_rules(&self) -> Result<(), OpenError> {
        let mut catalogue = self.store.catalogue();
        for segment in catalogue.segments()? {
            if self.config.retention.iter().any(|rule| rule.instances == segment.rule) {
                continue;
            }
            let Some((node, instance)) = catalogue.first_instance(segment.number)? else { continue };
            if let Some(rule) = self.config.rule_for(&node, &instance) {
                catalogue.set_rule(segment.number, &self.config.retention[rule].instances)?;
            }
        }
        Ok(())
    }

    /// Has a DAC know the nodes and instances of which anything is stored, and how far. To be said before its first node comes.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn remind(&self, registry: &Registry) -> Result<RestoreCounts, OpenError> {
        let (nodes, mut stored) = {
            let catalogue = self.store.catalogue();
            (catalogue.nodes()?, catalogue.stored()?)
        };
        let rolled = self.store.rollups.instances();
        for stored in stored.iter_mut().filter(|stored| stored.last_time == 0) {
            let names = (stored.node.clone(), stored.instance.clone());
            stored.last_time = rolled.get(&names).copied().unwrap_or_default();
        }
        Ok(registry.restore(&nodes, stored))
    }

    /// What is stored, to be read.
    pub fn history(&self) -> History {
        History(self.store.clone())
    }

    /// Starts the thread that stores what the DAC receives.
    ///
    /// # Errors
    /// If there cannot be one more thread.
    pub fn start(self, dac: Arc<Dac>) -> io::Result<Archive> {
        let (requests, from) = mpsc::channel(REQUESTS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let writer = Writer::new(dac, self.store.clone(), self.config.clone(), self.next_number);
        let thread = std::thread::Builder::new()
            .name("archive".into())
            .spawn(move || runtime.block_on(writer.run(from)))?;
        let roller = Roller::start(self.store.clone(), self.config)?;
        let (thread, roller) = (Mutex::new(Some(thread)), Mutex::new(Some(roller)));
        Ok(Archive { store: self.store, requests, thread, roller, _lock: self.lock })
    }
}

/// An archive at work.
#[derive(Debug)]
pub struct Archive {
    store: Arc<Store>,
    requests: mpsc::Sender<Request>,
    thread: Mutex<Option<JoinHandle<()>>>,
    roller: Mutex<Option<Roller>>,
    /// Nobody else writes to the folder as long as it is held.
    _lock: File,
}

impl Archive {
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
