//! The state that writer and readers of an archive share: the catalogue, the open files, and the counters.

mod causes;
mod gathering;
mod open_files;
mod reading;
mod window;

pub use causes::NotStored;
pub use open_files::{OpenGap, OpenShare};
pub use reading::ReaderMark;
use reading::StoredIndex;
pub use window::Unread;

use crate::{
    account::{Account, SharedCounters},
    catalogue::{Catalogue, CatalogueError, ExpiredSamples, Extent, SealedFile, TimeRange},
    clock_watch::ClockWatch,
    folder_identity::{FolderGone, FolderIdentity},
    gap::Gap,
    index::Entry,
    plausible::TimeLimits,
    reach::{Reach, Reaches},
    reserve,
    rollups::Rollups,
    segment_copies::SegmentCopies,
    segment_file::OpenFile,
};
use oasis_rollup::points::PointsCache;
use oasis_wire::{
    batch,
    quantity::{Epoch, Offset, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    io,
    ops::Range,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, atomic::AtomicU64},
};
use uuid::Uuid;

/// An open archive.
#[derive(Debug)]
pub struct Store {
    /// Its folder.
    pub directory: PathBuf,
    /// Locked for one query.
    catalogue: Mutex<Catalogue>,
    /// Files that are not in the catalogue yet, by number. Locked before the catalogue.
    open: RwLock<BTreeMap<u64, Arc<OpenFile>>>,
    indexes: Mutex<VecDeque<(u64, StoredIndex)>>,
    /// By topic of this epoch.
    accounts: RwLock<HashMap<TopicId, Account>>,
    /// The roll-ups.
    pub rollups: Rollups,
    /// The cache of points of open files.
    pub recent: PointsCache,
    /// Number of segment files that were replaced by smaller ones.
    pub resized: AtomicU64,
    /// Number of segment files that were opened to read samples.
    pub file_reads: AtomicU64,
    /// Its condition.
    pub counters: SharedCounters,
    /// Whether the wall clock can be trusted.
    pub clock: ClockWatch,
    /// The folder that was opened; `None` if it was only opened to read.
    identity: Option<FolderIdentity>,
    /// Which times of samples are plausible.
    pub limits: TimeLimits,
    /// The segments with a copy elsewhere.
    pub copies: SegmentCopies,
}

/// Errors of reading an archive.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A segment file.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ReadError {
    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Catalogue(error) => error.is_disk_full(),
            Self::Io(error) => is_disk_full(error),
        }
    }
}

/// Whether the disk was full.
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl Store {
    /// Creates a store for a catalogue in this folder.
    pub fn new(
        directory: PathBuf,
        catalogue: Catalogue,
        clock: ClockWatch,
        identity: Option<FolderIdentity>,
    ) -> Self {
        Self {
            directory,
            catalogue: Mutex::new(catalogue),
            open: RwLock::default(),
            indexes: Mutex::default(),
            accounts: RwLock::default(),
            resized: AtomicU64::new(0),
            file_reads: AtomicU64::new(0),
            rollups: Rollups::default(),
            recent: PointsCache::default(),
            counters: SharedCounters::default(),
            clock,
            identity,
            limits: TimeLimits::default(),
            copies: SegmentCopies::default(),
        }
    }

    /// Locks the catalogue for one query.
    pub fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its path still names the folder that was opened.
    ///
    /// # Errors
    /// If it does not: nothing that is written has a name.
    pub fn check_named(&self) -> Result<(), FolderGone> {
        self.identity.as_ref().map_or(Ok(()), |identity| identity.check(&self.directory))
    }

    /// Whether its path names a folder that may be opened instead.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_reopening(&self) -> Result<(), FolderGone> {
        self.identity.as_ref().map_or(Ok(()), |identity| identity.check_reopening(&self.directory))
    }

    /// Returns the result of a change of the catalogue, unless the change has no name.
    ///
    /// # Errors
    /// If the change failed, or the folder is gone.
    pub fn lasting<T, E: From<CatalogueError>>(&self, changed: Result<T, E>) -> Result<T, E> {
        let changed = changed?;
        self.check_named().map_err(CatalogueError::from)?;
        Ok(changed)
    }

    /// Returns what retention has evicted of an instance, if anything.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn expired(&self, node: &str, instance: &str) -> Result<Option<ExpiredSamples>, CatalogueError> {
        self.catalogue().expired(node, instance)
    }

    /// Records the time at which the wall clock was last trusted, if that is due.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn record_trusted_time(&self) -> Result<(), CatalogueError> {
        if let Some(time) = self.clock.to_record() {
            self.catalogue().record_trusted_time(&time)?;
            self.clock.note_recorded(time);
        }
        Ok(())
    }

    /// Free bytes on its disk.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn free_bytes(&self) -> io::Result<u64> {
        reserve::free_bytes(&self.directory)
    }

    /// Lists a sealed file; readers find it in the catalogue from here on.
    ///
    /// # Errors
    /// If the catalogue fails; the file stays among the open ones.
    pub fn add_sealed(&self, sealed: &SealedFile<'_>) -> Result<(), CatalogueError> {
        self.catalogue().add(sealed)?;
        let mut counters = self.counters.lock();
        counters.segments += 1;
        counters.segment_bytes += sealed.bytes;
        drop(counters);
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&sealed.number);
        Ok(())
    }

    /// Returns the account of an instance in this epoch.
    pub fn account(&self, topic: TopicId) -> Option<Account> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).get(&topic).cloned()
    }

    /// Changes accounts.
    pub fn with_accounts(&self, change: impl FnOnce(&mut HashMap<TopicId, Account>)) {
        change(&mut self.accounts.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Node and name of all stored instances, in order.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn instances(&self) -> Result<Vec<(String, String)>, ReadError> {
        let mut names: BTreeSet<(String, String)> = BTreeSet::new();
        for file in self.open_from(0) {
            let index = file.index();
            let of_series = index.series.iter().map(|series| &series.series);
            names.extend(of_series.map(|series| (series.node.to_string(), series.instance.to_string())));
        }
        names.extend(self.catalogue().instances()?);
        Ok(names.into_iter().collect())
    }

    /// Returns the epochs of all stored samples, oldest first.
    pub fn epochs(&self) -> Result<Vec<Epoch>, ReadError> {
        // Open files first: one that is sealed meanwhile is then seen twice, and not never.
        let open: Vec<_> = self.open_from(0).iter().map(|file| file.header.epoch).collect();
        let mut epochs = self.catalogue().epochs()?;
        for epoch in open {
            if !epochs.contains(&epoch) {
                epochs.push(epoch);
            }
        }
        Ok(epochs)
    }

    /// Deletes rows of the catalogue that neither a segment file nor a roll-up needs.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn remove_unreferenced(&self) -> Result<(), CatalogueError> {
        let rolled = self.rollups.instances();
        self.catalogue().remove_unreferenced(&rolled)
    }

    /// Least and greatest plausible time of each instance, in samples or roll-ups, nanoseconds on its node's clock; all times if none is plausible.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn reaches(&self) -> Result<Reaches, ReadError> {
        let mut ranges = BTreeMap::new();
        let mut add = |names: (String, String), range: TimeRange| {
            ranges
                .entry(names)
                .and_modify(|known: &mut TimeRange| *known = known.and(range))
                .or_insert(range);
        };
        for OpenShare { series, times, plausible, .. } in self.open_shares() {
            let names = (series.node.to_string(), series.instance.to_string());
            add(names, TimeRange { all: times, plausible });
        }
        for (names, range) in self.catalogue().ranges()? {
            add(names, range);
        }
        for ((node, instance), range) in self.rollups.ranges(self.limits) {
            add((node.to_string(), instance.to_string()), range);
        }
        Ok(ranges.into_iter().map(|(names, range)| (names, range.reach())).collect())
    }

    /// As [`Store::reaches`], for one instance; `None` if it is not stored.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn reach_of(&self, node: &str, instance: &str) -> Result<Option<Reach>, ReadError> {
        let mut found = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let of_it = index.series.iter().filter(|of| {
                &*of.series.node == node && &*of.series.instance == instance && !of.entries.is_empty()
            });
            found.extend(of_it.map(|of| TimeRange { all: of.times, plausible: of.plausible }));
        }
        found.extend(self.catalogue().range_of(node, instance)?);
        found.extend(self.rollups.range_of(node, instance, self.limits));
        Ok(found.into_iter().reduce(TimeRange::and).map(TimeRange::reach))
    }

    /// All stored types, oldest first.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        // Open files first: a file that is sealed meanwhile is then seen twice instead of never.
        let open = self.open_from(0);
        let mut types: Vec<_> = self.catalogue().types()?.into_iter().map(Arc::new).collect();
        for file in open {
            for series in &file.index().series {
                if !types.contains(&series.series.probe_type) {
                    types.push(series.series.probe_type.clone());
                }
            }
        }
        Ok(types)
    }

    /// Node and name of all instances that have samples of this type, in order.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn instances_of(&self, probe_type: &ProbeType) -> Result<Vec<(String, String)>, ReadError> {
        let mut names: BTreeSet<(String, String)> = BTreeSet::new();
        for file in self.open_from(0) {
            let index = file.index();
            let of_type = index.series.iter().filter(|series| *series.series.probe_type == *probe_type);
            names.extend(
                of_type.map(|series| (series.series.node.to_string(), series.series.instance.to_string())),
            );
        }
        names.extend(self.catalogue().instances_of(probe_type)?);
        Ok(names.into_iter().collect())
    }

    /// The types of an instance between these times, oldest first.
    ///
    /// # Errors
    /// If the catalogue or an index cannot be read.
    pub fn types_between(
        &self,
        node: &str,
        instance: &str,
        times: &Range<u64>,
    ) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        let is_between = |min: u64, max: u64| min >= times.start && max < times.end;
        let mut types: Vec<Arc<ProbeType>> = Vec::new();
        for extent in self.extents(node, instance, 0)? {
            let is_beside = extent.max_time < times.start || extent.min_time >= times.end;
            if is_beside || types.contains(&extent.series.probe_type) {
                continue;
            }
            let has_any = || match self.entries_since(&extent, times.start) {
                Ok(entries) if entries.iter().any(|entry| is_between(entry.min_time, entry.max_time)) => {
                    Ok(true)
                }
                Ok(entries) => self.has_samples_in(&extent, &entries, times),
                // An unreadable file may have some.
                Err(ReadError::Io(_)) => Ok(true),
                Err(error) => Err(error),
            };
            if is_between(extent.min_time, extent.max_time) || has_any()? {
                types.push(extent.series.probe_type.clone());
            }
        }
        Ok(types)
    }

    /// Whether batches and groups that are only partly in a time have samples in it.
    fn has_samples_in(
        &self,
        extent: &Extent,
        entries: &[Entry],
        times: &Range<u64>,
    ) -> Result<bool, ReadError> {
        let is_partly = |entry: &&Entry| entry.min_time < times.end && entry.max_time >= times.start;
        let some: Vec<_> =
            entries.iter().filter(|entry| entry.count > 1).filter(is_partly).copied().collect();
        let read = self.batches(extent, &some)?.into_iter().filter_map(Result::ok);
        let mut sampled = read.filter_map(|stored| batch::times(&stored.batch).ok()).flatten();
        Ok(sampled.any(|time| times.contains(&time)))
    }

    /// An instance's shares of all files from `segment` on, oldest first.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn extents(&self, node: &str, instance: &str, segment: u64) -> Result<Vec<Extent>, ReadError> {
        // Open files first: a file that is sealed meanwhile is then seen twice instead of never.
        let open: Vec<_> = self.open_from(segment);
        let mut extents = self.catalogue().extents(node, instance, segment)?;
        let sealed = extents.len();
        for file in open {
            let number = file.header.number;
            if extents[..sealed].iter().any(|extent| extent.segment == number) {
                continue;
            }
            for (at, series) in (1..).zip(&file.index().series) {
                let is_wanted = *series.series.node == *node && *series.series.instance == *instance;
                if is_wanted {
                    extents.extend(open_files::extent(number, at, series));
                }
            }
        }
        // A file that could not be sealed or synced is older than some listed ones.
        extents.sort_by_key(|extent| (extent.segment, extent.number));
        Ok(extents)
    }

    /// Returns the first gap of an instance in this epoch that does not end before an offset, and the node's run that its samples belong to.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn next_gap(
        &self,
        node: &str,
        instance: &str,
        epoch: Epoch,
        at: Offset,
    ) -> Result<Option<(Gap, Uuid)>, ReadError> {
        let mut gaps = Vec::new();
        // Open files first: a file that is sealed meanwhile is then seen twice instead of never.
        for file in self.open_from(0) {
            let index = file.index();
            let series = index.series.iter().filter(|series| {
                *series.series.node == *node
                    && *series.series.instance == *instance
                    && series.series.epoch == epoch
            });
            let next = |gaps: &[Gap]| gaps.get(gaps.partition_point(|gap| gap.to <= at)).copied();
            gaps.extend(series.filter_map(|series| Some((next(&series.gaps)?, series.series.run))));
        }
        gaps.extend(self.catalogue().next_gap(node, instance, epoch, at)?);
        Ok(gaps.into_iter().min_by_key(|(gap, _)| gap.from))
    }
}
