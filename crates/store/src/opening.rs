//! Opens the folder of an archive for writing: locks it, and reconciles catalogue and files.

use crate::{
    catalogue::{self, SealedFile},
    clock::{Clock, SystemClock, now},
    clock_watch::ClockWatch,
    config::ArchiveConfig,
    folder_identity::FolderIdentity,
    grouping,
    history::History,
    import_folder,
    open_error::OpenError,
    plausible::TimeLimits,
    record::{FILE_HEADER, NotASegment},
    recovery::{self, Unreadable},
    reserve, segment_file,
    segment_numbers::SegmentNumbers,
    store::{ReadError, Store},
};
use oasis_rollup::cells::Level;
use oasis_wire::quantity::Epoch;
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An archive opened for writing. It locks out other writers.
#[derive(Debug)]
pub struct WritableStore {
    /// The archive.
    pub store: Arc<Store>,
    /// Its bounds.
    pub config: ArchiveConfig,
    /// Numbers of new segment files.
    pub numbers: Arc<SegmentNumbers>,
    /// Locks out other writers.
    pub lock: FolderLock,
}

/// Locks out other writers of an archive folder until it is dropped.
#[derive(Debug)]
pub struct FolderLock(File);

/// Unlocks for all copies of the descriptor: closing alone leaves the lock to a child that is between `fork` and `exec`.
impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens or creates the folder of an archive, and recovers files after a crash.
///
/// # Errors
/// If the folder cannot be used, or belongs to another process.
pub fn open(config: ArchiveConfig) -> Result<WritableStore, OpenError> {
    open_with(config, Arc::new(SystemClock))
}

/// As [`open`], with another clock for retention by age.
///
/// # Errors
/// As [`open`].
pub fn open_with(config: ArchiveConfig, clock: Arc<dyn Clock>) -> Result<WritableStore, OpenError> {
    let directory = PathBuf::from(&config.directory);
    let failed = |error| OpenError::Directory { path: directory.clone(), error };
    if directory.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::NotADirectory, "it is a file: configure a folder")));
    }
    segment_file::make_directory(&directory).map_err(failed)?;
    let lock = lock(&directory)?;
    if reserve::release_if_needed(&directory, &config) {
        tracing::warn!(path = %directory.display(), "disk nearly full: archive starts in its reserved space");
    }
    open_locked(config, lock, clock).map_err(|error| reserve::explain(&directory, error))
}

/// Opens an archive again whose folder was gone, once its path names a folder. Does not create one.
///
/// # Errors
/// As [`open`], and while there is no folder.
pub fn open_again(gone: &Store, config: ArchiveConfig) -> Result<WritableStore, OpenError> {
    gone.check_reopening()?;
    open_with(config, gone.clock.clock())
}

fn open_locked(
    config: ArchiveConfig,
    lock: FolderLock,
    clock: Arc<dyn Clock>,
) -> Result<WritableStore, OpenError> {
    let directory = PathBuf::from(&config.directory);
    let failed = |error| OpenError::Directory { path: directory.clone(), error };
    let (catalogue, findings) = catalogue::open_or_make_again(&directory)?;
    let clock = ClockWatch::new(clock, catalogue.trusted_time()?);
    let identity = FolderIdentity::of(&directory, &lock.0).map_err(failed)?;
    let mut store = Store::new(directory.clone(), catalogue, clock, Some(identity));
    store.limits = TimeLimits::of(&config);
    let store = Arc::new(store);
    // A rebuilt catalogue does not know whether it had listed an import: keep its files.
    let unfinished =
        if findings.is_empty() { import_folder::epoch(&directory).map_err(failed)? } else { None };
    findings.into_iter().for_each(|finding| store.counters.report(finding));
    let last = recover_all(&store, &config, unfinished)?;
    import_folder::remove(&directory).map_err(failed)?;
    let opened = WritableStore { store, config, numbers: Arc::new(SegmentNumbers::new(last + 1)), lock };
    opened.settle_rules()?;
    if let Err(error) = opened.store.remove_unreferenced() {
        tracing::warn!(%error, "cannot remove obsolete rows from the catalogue");
    }
    reserve::keep(&opened.store.directory, &opened.config);
    Ok(opened)
}

fn lock(directory: &Path) -> Result<FolderLock, OpenError> {
    let failed = |error| OpenError::Directory { path: directory.to_owned(), error };
    let lock = File::options().create(true).append(true).open(directory.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(FolderLock(lock)),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(directory.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Reconciles catalogue and files; removes those of an unfinished import. Returns the greatest file number.
fn recover_all(store: &Store, config: &ArchiveConfig, unfinished: Option<Epoch>) -> Result<u64, OpenError> {
    let failed = |error| OpenError::Directory { path: store.directory.clone(), error };
    grouping::remove_parts(&store.directory).map_err(failed)?;
    let files = recovery::segment_files(&store.directory).map_err(failed)?;
    let listed = store.catalogue().segment_numbers()?;
    for number in &listed {
        if files.binary_search_by_key(number, |(number, _)| *number).is_err() {
            let path = segment_file::path(&store.directory, *number);
            let gone = Unreadable::Io(io::Error::new(io::ErrorKind::NotFound, "the file is gone"));
            store.counters.report(recovery::unreadable(&path, &gone));
            store.catalogue().remove(*number)?;
        }
    }
    for (number, path) in &files {
        if listed.contains(number) {
            continue;
        }
        match unfinished {
            // Unreadable files are reported below.
            Some(epoch) if import_folder::is_of(path, epoch).unwrap_or(false) => {
                fs::remove_file(path).map_err(failed)?;
            }
            _ => recover_one(store, config, path)?,
        }
    }
    if unfinished.is_some() {
        // They must be removed before the folder that names them.
        segment_file::sync_directory(&store.directory).map_err(failed)?;
    }
    for finding in store.rollups.open(&store.directory, true).map_err(failed)? {
        store.counters.report(finding);
    }
    let completed = store.complete_forgetting().map_err(|error| match error {
        ReadError::Catalogue(error) => error.into(),
        ReadError::Io(error) => failed(error),
    })?;
    if let Some((of, removed)) = completed {
        tracing::warn!(%of, samples = removed.holdings.samples, "completed what an interrupted process had begun to forget");
    }
    let segments = store.catalogue().segments()?;
    let mut counters = store.counters.lock();
    counters.segments = segments.len() as u64;
    counters.segment_bytes = segments.iter().map(|segment| segment.bytes).sum();
    counters.since = now();
    // Includes files that only roll-ups list: numbers are never reused.
    let rolled = Level::ROLLED.into_iter().filter_map(|level| store.rollups.covered(level).pop_last());
    let last = files.iter().map(|(number, _)| *number).chain(listed).chain(rolled).max();
    Ok(last.unwrap_or_default())
}

fn recover_one(store: &Store, config: &ArchiveConfig, path: &Path) -> Result<(), OpenError> {
    let recovered = match recovery::recover(path) {
        Ok(recovered) => recovered,
        Err(Unreadable::Header(NotASegment::Short(length))) => {
            // The process ended before the first commit: nothing was stored.
            debug_assert!(length < FILE_HEADER);
            return fs::remove_file(path)
                .map_err(|error| OpenError::Directory { path: path.to_owned(), error });
        }
        // Nodes would not learn that its samples are stored: they would send them again, and they would be stored
        // twice.
        Err(Unreadable::NotSealed(error)) => {
            return Err(OpenError::Directory { path: path.to_owned(), error });
        }
        Err(error) => {
            store.counters.report(recovery::unreadable(path, &error));
            return Ok(());
        }
    };
    let findings = recovered.findings(path);
    let first = recovered.found.index.series.first().map(|series| series.series.clone());
    let rule = first.and_then(|series| config.rule_for(&series.node, &series.instance));
    let number = recovered.header.number;
    let (created, sealed) = (recovered.header.created, segment_file::last_written(path));
    store.catalogue().add(&SealedFile {
        number,
        rule: rule.map_or("", |rule| &config.retention[rule].instances),
        created,
        sealed,
        bytes: recovered.bytes,
        index: &recovered.found.index,
        window: store.limits.around(created, sealed),
    })?;
    for finding in findings {
        store.catalogue().add_damage(number, &(finding.from..finding.to), finding.kind, now())?;
        store.counters.report(finding);
    }
    Ok(())
}

impl WritableStore {
    /// Assigns files of removed rules to the rules that apply now.
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

    /// Returns the stored samples for readers.
    pub fn history(&self) -> History {
        History(self.store.clone())
    }
}
