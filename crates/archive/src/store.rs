//! What the writer and the readers of an archive share: the catalogue, the files that are being written, and the books.

mod window;

pub use window::Unread;

use crate::{
    account::{Account, Book},
    catalogue::{Catalogue, CatalogueError, Extent, Sealed},
    index::{self, Entry, Gap, SeriesIndex},
    newest::Newest,
    points::Recent,
    record::{self, FILE_HEADER, FileHeader, Kind, RECORD_HEADER, TRAILER},
    recovery::{self, Finding},
    reserve,
    rollups::Rollups,
    segment_file::{self, OpenFile},
    series::Series,
    walk::Walk,
};
use bytes::Bytes;
use oasis_wire::{
    quantity::{Epoch, Offset, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fs::{self, File},
    io,
    ops::Range,
    os::unix::fs::FileExt,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};
use window::Window;

/// Index records kept in memory: readers of one file come again and again.
const INDEXES_KEPT: usize = 16;

/// An archive, opened.
#[derive(Debug)]
pub struct Store {
    /// Its folder.
    pub directory: PathBuf,
    /// Held for one question or answer.
    catalogue: Mutex<Catalogue>,
    /// Files that are not in the catalogue yet, by number. Taken before the catalogue.
    open: RwLock<BTreeMap<u64, Arc<OpenFile>>>,
    indexes: Mutex<VecDeque<(u64, Bytes)>>,
    /// By topic of this epoch.
    accounts: RwLock<HashMap<TopicId, Account>>,
    /// What is left of old samples.
    pub rollups: Rollups,
    /// What is left of the newest ones, for those who asked.
    pub recent: Recent,
    /// How often a segment file was opened to read samples.
    pub file_reads: AtomicU64,
    /// How it is.
    pub book: Book,
}

/// What a file that is being written has of a series.
#[derive(Debug)]
pub struct OpenShare {
    /// The file's number.
    pub segment: u64,
    /// Whose.
    pub series: Arc<Series>,
    /// Samples.
    pub samples: u64,
    /// Least and greatest time of them, nanoseconds.
    pub times: (u64, u64),
}

/// Why history cannot be read.
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
    /// Whether there would be room for what was refused on a larger disk.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            Self::Catalogue(error) => error.is_disk_full(),
            Self::Io(error) => is_disk_full(error),
        }
    }
}

/// Whether there would be room for what was refused on a larger disk.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl Store {
    /// Over a catalogue in this folder.
    pub fn new(directory: PathBuf, catalogue: Catalogue) -> Self {
        Self {
            directory,
            catalogue: Mutex::new(catalogue),
            open: RwLock::default(),
            indexes: Mutex::default(),
            accounts: RwLock::default(),
            file_reads: AtomicU64::new(0),
            rollups: Rollups::default(),
            recent: Recent::default(),
            book: Book::default(),
        }
    }

    /// The catalogue, for one question.
    pub fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are free on its disk.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn free_bytes(&self) -> io::Result<u64> {
        reserve::free_bytes(&self.directory)
    }

    /// Shows readers a file that is being written.
    pub fn add_open(&self, file: &Arc<OpenFile>) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(file.header.number, file.clone());
    }

    /// Forgets a file that was begun and has nothing in it.
    pub fn remove_open(&self, number: u64) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// Lists a sealed file; readers find it in the catalogue from here on.
    ///
    /// # Errors
    /// If the catalogue cannot take it; it stays among the open ones.
    pub fn add_sealed(&self, sealed: &Sealed<'_>) -> Result<(), CatalogueError> {
        self.catalogue().add(sealed)?;
        let mut book = self.book.open();
        book.segments += 1;
        book.segment_bytes += sealed.bytes;
        drop(book);
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&sealed.number);
        Ok(())
    }

    /// What is stored of an instance in this epoch.
    pub fn account(&self, topic: TopicId) -> Option<Account> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).get(&topic).cloned()
    }

    /// Changes accounts.
    pub fn with_accounts(&self, change: impl FnOnce(&mut HashMap<TopicId, Account>)) {
        change(&mut self.accounts.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Node and name of all instances of which anything is stored, in order.
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

    /// Has the catalogue forget what neither a segment file nor a roll-up has anything of.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn forget_gone(&self) -> Result<(), CatalogueError> {
        let rolled = self.rollups.instances();
        self.catalogue().forget_gone(&rolled)
    }

    /// All types of which anything is stored, those that were known first before others.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn types(&self) -> Result<Vec<Arc<ProbeType>>, ReadError> {
        // The open ones first: one that is sealed in between is then seen twice, and not never.
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

    /// The types of those batches of an instance that lie between these times, oldest first.
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
            if is_between(extent.min_time, extent.max_time)
                || self
                    .entries_since(&extent, times.start)?
                    .iter()
                    .any(|entry| is_between(entry.min_time, entry.max_time))
            {
                types.push(extent.series.probe_type.clone());
            }
        }
        Ok(types)
    }

    /// An instance's shares of all files from `segment` on, oldest first.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn extents(&self, node: &str, instance: &str, segment: u64) -> Result<Vec<Extent>, ReadError> {
        // The open ones first: one that is sealed in between is then seen twice, and not never.
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
                    extents.extend(open_extent(number, at, series));
                }
            }
        }
        // One that could not be sealed, or not synced, is older than some that are listed.
        extents.sort_by_key(|extent| (extent.segment, extent.number));
        Ok(extents)
    }

    /// The shares of files that are being written which have at least so many batches.
    pub fn busy_extents(&self, batches: usize) -> Vec<Extent> {
        let mut extents = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let busy = (1..).zip(&index.series).filter(|(_, series)| series.entries.len() >= batches);
            extents.extend(busy.filter_map(|(at, series)| open_extent(file.header.number, at, series)));
        }
        extents
    }

    /// What files that are being written have of each series.
    pub fn open_shares(&self) -> Vec<OpenShare> {
        let mut shares = Vec::new();
        for file in self.open_from(0) {
            let index = file.index();
            let with_samples = index.series.iter().filter(|series| !series.entries.is_empty());
            shares.extend(with_samples.map(|series| OpenShare {
                segment: file.header.number,
                series: series.series.clone(),
                samples: series.entries.iter().map(|entry| u64::from(entry.count)).sum(),
                times: series.times,
            }));
        }
        shares
    }

    /// The first of the gaps that were noted of an instance in this epoch which does not end before an offset.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn next_gap(
        &self,
        node: &str,
        instance: &str,
        epoch: Epoch,
        at: Offset,
    ) -> Result<Option<Gap>, ReadError> {
        let mut gaps = Vec::new();
        // The open ones first: one that is sealed in between is then seen twice, and not never.
        for file in self.open_from(0) {
            let index = file.index();
            let series = index.series.iter().filter(|series| {
                *series.series.node == *node
                    && *series.series.instance == *instance
                    && series.series.epoch == epoch
            });
            gaps.extend(series.flat_map(|series| &series.gaps));
        }
        gaps.extend(self.catalogue().gaps(node, instance, epoch)?);
        Ok(gaps.into_iter().filter(|gap| at < gap.to).min_by_key(|gap| gap.from))
    }

    fn open_from(&self, segment: u64) -> Vec<Arc<OpenFile>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.range(segment..).map(|(_, file)| file.clone()).collect()
    }

    /// Where the batches of a share lie, at most so many from the one on that has, or would have, the sample at this offset.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn entries(&self, extent: &Extent, from: Offset, most: usize) -> Result<Vec<Entry>, ReadError> {
        // Offsets of a series only grow.
        self.some_entries(extent, |entries| {
            let first = entries.partition_point(|entry| entry.end() <= from);
            entries[first..].iter().take(most).copied().collect()
        })
    }

    /// Where the batches of a share lie, from the first on that has a sample no older than this.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn entries_since(&self, extent: &Extent, time: u64) -> Result<Vec<Entry>, ReadError> {
        self.some_entries(extent, |entries| {
            entries.iter().skip_while(|entry| entry.max_time < time).copied().collect()
        })
    }

    /// Where the batches of a share lie that may have any of the newest samples which are still to be found, newest first, of those before `end`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn newest_entries(
        &self,
        extent: &Extent,
        newest: &Newest,
        end: Offset,
    ) -> Result<Vec<Entry>, ReadError> {
        self.some_entries(extent, |entries| {
            let mut found = 0;
            let wanted = entries.iter().rev().filter(|entry| entry.end() <= end);
            let wanted = wanted.filter(|entry| newest.overlaps(entry.listed().times));
            let until_found = wanted.take_while(|entry| {
                let is_wanted = found < newest.missing();
                found += newest.certain(&entry.listed());
                is_wanted
            });
            until_found.copied().collect()
        })
    }

    fn some_entries(
        &self,
        extent: &Extent,
        choose: impl FnOnce(&[Entry]) -> Vec<Entry>,
    ) -> Result<Vec<Entry>, ReadError> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner).get(&extent.segment).cloned();
        if let Some(file) = open {
            let index = file.index();
            return Ok(index.get(extent.number).map(|series| choose(&series.entries)).unwrap_or_default());
        }
        let payload = self.index_of(extent.segment)?;
        match index::read(&payload, extent.number) {
            Ok(entries) => Ok(choose(&entries)),
            Err(_) => Ok(choose(&self.entries_by_walking(extent)?)),
        }
    }

    /// The index record's payload of a sealed file; empty if it is damaged.
    fn index_of(&self, segment: u64) -> io::Result<Bytes> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = indexes.iter().position(|(known, _)| *known == segment)
            && let Some(known) = indexes.remove(at)
        {
            indexes.push_back(known.clone());
            return Ok(known.1);
        }
        drop(indexes);
        let payload = self.read_index(segment)?;
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if indexes.len() == INDEXES_KEPT {
            indexes.pop_front();
        }
        indexes.push_back((segment, payload.clone()));
        Ok(payload)
    }

    fn read_index(&self, segment: u64) -> io::Result<Bytes> {
        let (file, header) = self.open_sealed(segment)?;
        let length = file.metadata()?.len();
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, length.saturating_sub(TRAILER as u64))?;
        let position = record::parse_trailer(&trailer).filter(|position| *position < length);
        let Some(position) = position else { return Ok(Bytes::new()) };
        let mut bytes = vec![0; usize::try_from(length - position).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, position)?;
        match record::parse(&bytes, header.nonce, position) {
            Ok((head, payload, _)) if head.kind == Kind::Index => Ok(Bytes::copy_from_slice(payload)),
            _ => Ok(Bytes::new()),
        }
    }

    /// Finds the batches without the file's index, which is damaged.
    fn entries_by_walking(&self, extent: &Extent) -> Result<Vec<Entry>, ReadError> {
        self.book.find(Finding {
            file: self.file_name(extent.segment),
            from: 0,
            to: 0,
            kind: "damaged",
            detail: "its index is damaged: it is read from end to end instead".into(),
        });
        let bytes = fs::read(segment_file::path(&self.directory, extent.segment))?;
        let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
        let found = index::build(Walk::new(&bytes, &header));
        let mut of_series = found.index.series.into_iter().filter(|series| *series.series == *extent.series);
        Ok(of_series.next().map(|series| series.entries).unwrap_or_default())
    }

    /// The batches at these places of one file, or why one cannot be had.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn batches(&self, segment: u64, entries: &[Entry]) -> Result<Vec<Result<Bytes, Unread>>, ReadError> {
        self.file_reads.fetch_add(1, Ordering::Relaxed);
        let (file, header) = self.open_sealed(segment)?;
        let mut batches = Vec::with_capacity(entries.len());
        let mut window = Window::default();
        for (at, entry) in entries.iter().enumerate() {
            let batch = window.read(&file, &header, entry, &entries[at..]);
            if let Err(unread) = &batch {
                self.book.find(Finding {
                    file: self.file_name(segment),
                    from: entry.position,
                    to: entry.position + RECORD_HEADER as u64,
                    kind: unread.cause(),
                    detail: format!("the record that begins here {unread}"),
                });
            }
            batches.push(batch);
        }
        Ok(batches)
    }

    fn open_sealed(&self, segment: u64) -> io::Result<(File, FileHeader)> {
        let file = File::open(segment_file::path(&self.directory, segment))?;
        let mut header = [0; FILE_HEADER];
        file.read_exact_at(&mut header, 0)?;
        let header = FileHeader::parse(&header).map_err(io::Error::other)?;
        Ok((file, header))
    }

    fn file_name(&self, segment: u64) -> String {
        recovery::file_name(&segment_file::path(&self.directory, segment))
    }
}

/// A series' share of a file that is being written; none if nothing of it was committed yet.
fn open_extent(segment: u64, number: u32, series: &SeriesIndex) -> Option<Extent> {
    let (first, last) = (series.entries.first()?, series.entries.last()?);
    Some(Extent {
        segment,
        number,
        series: series.series.clone(),
        first: first.first,
        end: last.end(),
        min_time: series.times.0,
        max_time: series.times.1,
        last_sequence: last.last_sequence,
    })
}
