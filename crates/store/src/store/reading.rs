//! Reads segment files: the index entries of an instance, and the bytes of batches.

use super::{
    ReadError, Store, Unread,
    window::{Window, is_of},
};
use crate::{
    catalogue::Extent,
    group::StoredBatch,
    index::{self, Bookmark, Entry, FileIndex, SeriesIndex},
    newest::Newest,
    record::{self, FILE_HEADER, FileHeader, Kind, RECORD_HEADER, TRAILER},
    recovery::{self, Finding},
    segment_file,
    series::Series,
    walk::Walk,
};
use bytes::Bytes;
use oasis_wire::quantity::Offset;
use std::{
    fs::{self, File},
    io,
    ops::Range,
    os::unix::fs::FileExt,
    sync::{Arc, PoisonError, atomic::Ordering},
};

/// The index of a sealed file.
#[derive(Debug, Clone)]
pub struct StoredIndex {
    /// The nonce of the file: one that is written again has another.
    nonce: u64,
    /// The payload of the index record; empty if it is damaged.
    payload: Bytes,
}

/// Properties of a sealed file.
#[derive(Debug)]
pub struct StoredFile {
    /// Its header.
    pub header: FileHeader,
    /// Its size.
    pub length: u64,
    /// Batches and groups in its index; 0 if that is damaged.
    pub batches: u64,
}

/// The place of a reader in the index of a file.
#[derive(Debug)]
pub struct ReaderMark {
    nonce: u64,
    place: Bookmark,
}

/// Entries of a file that was written again since a reader has listed its batches.
#[derive(Debug, Default)]
struct FoundAgain {
    /// The batches and groups of the series in the file.
    entries: Option<Vec<Entry>>,
    /// Position of the group that was read last.
    position: u64,
    /// Its batches.
    batches: Vec<Bytes>,
}

/// Number of cached index records: readers access the same files repeatedly.
const MAX_CACHED_INDEXES: usize = 16;

impl Store {
    /// Returns at most `most` entries of a share, from the one that contains or follows this offset.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn entries(&self, extent: &Extent, from: Offset, most: usize) -> Result<Vec<Entry>, ReadError> {
        self.some_entries(extent, |entries| after(entries, from).iter().take(most).copied().collect())
    }

    /// As [`Store::entries`], for a reader that continues: `mark` is the bookmark of earlier calls for this share, with offsets before this one.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_entries(
        &self,
        extent: &Extent,
        from: Offset,
        most: usize,
        mark: &mut Option<ReaderMark>,
    ) -> Result<Vec<Entry>, ReadError> {
        let before = mark.take();
        if self.open_file(extent.segment).is_none() {
            let StoredIndex { nonce, payload } = self.index_of(extent.segment)?;
            // The file may have been written again.
            let mut place = before.filter(|before| before.nonce == nonce).map(|before| before.place);
            if let Ok(entries) = index::read_on(&payload, extent.number, (from, most), &mut place) {
                *mark = place.map(|place| ReaderMark { nonce, place });
                return Ok(entries);
            }
        }
        self.entries(extent, from, most)
    }

    /// Returns all entries of a share, and how many ranges of its samples have none: in a file with a damaged index, which is scanned instead, damaged
    /// batches are not found.
    ///
    /// # Errors
    /// If file or catalogue cannot be read.
    pub fn entries_and_lost(&self, extent: &Extent) -> Result<(Vec<Entry>, u64), ReadError> {
        let entries = self.entries(extent, Offset(0), usize::MAX)?;
        let has_index = self.open_file(extent.segment).is_some()
            || index::read(&self.index_of(extent.segment)?.payload, extent.number).is_ok();
        if has_index {
            return Ok((entries, 0));
        }
        let shares = self.catalogue().shares(extent.segment)?;
        let samples =
            shares.iter().find(|share| share.number == extent.number).map_or(0, |share| share.samples);
        let found: u64 = entries.iter().map(|entry| u64::from(entry.count)).sum();
        // Offsets that were never stored are missing between entries, too.
        let holes = if found < samples { holes(extent, &entries).clamp(1, samples - found) } else { 0 };
        Ok((entries, holes))
    }

    /// Returns the entries of a share, from the first with a sample at or after this time.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn entries_since(&self, extent: &Extent, time: u64) -> Result<Vec<Entry>, ReadError> {
        self.some_entries(extent, |entries| {
            entries.iter().skip_while(|entry| entry.max_time < time).copied().collect()
        })
    }

    /// Returns the last entry of a share with samples of these times, and whether one after it has samples that are not older than their end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn last_of_times(
        &self,
        extent: &Extent,
        times: Range<u64>,
    ) -> Result<(Option<Entry>, bool), ReadError> {
        let overlaps = |entry: &Entry| entry.max_time >= times.start && entry.min_time < times.end;
        let found = self.some_entries(extent, |entries| {
            let last = entries.iter().rposition(overlaps);
            let later = entries[last.map_or(0, |last| last + 1)..].iter();
            let later = later.filter(|entry| entry.max_time >= times.end).take(1);
            last.map(|last| &entries[last]).into_iter().chain(later).copied().collect()
        })?;
        match &found[..] {
            [last, later @ ..] if overlaps(last) => Ok((Some(*last), !later.is_empty())),
            later => Ok((None, !later.is_empty())),
        }
    }

    /// Returns the offset in a share where the samples from this sequence number on begin, and whether the share has the sample of that
    /// number, or one before it. None if all its samples are older.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn find_sequence(&self, extent: &Extent, sequence: u64) -> Result<Option<(Offset, bool)>, ReadError> {
        let found = self.some_entries(extent, |entries| {
            let at = entries.partition_point(|entry| entry.last_sequence < sequence);
            entries.iter().skip(at.saturating_sub(1)).take(2).copied().collect()
        })?;
        let Some(entry) = found.iter().find(|entry| entry.last_sequence >= sequence) else { return Ok(None) };
        let first = entry.last_sequence.saturating_sub(u64::from(entry.count).saturating_sub(1));
        if sequence >= first {
            return Ok(Some((Offset(entry.first.0.saturating_add(sequence - first)), true)));
        }
        // Start of the gap.
        let before = found.first().filter(|before| before.last_sequence < sequence);
        Ok(Some(before.map_or((entry.first, false), |before| (before.end(), true))))
    }

    /// Returns the entries of a share before `end` that may contain the newest samples, newest first.
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
            let wanted = entries.iter().rev().filter(|entry| entry.first < end);
            let wanted = wanted.filter(|entry| newest.overlaps((entry.min_time, entry.max_time)));
            let until_found = wanted.take_while(|entry| {
                let is_wanted = found < newest.missing();
                found += newest.certain(&entry.listed_before(end));
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
        if let Some(file) = self.open_file(extent.segment) {
            let index = file.index();
            return Ok(index.get(extent.number).map(|series| choose(&series.entries)).unwrap_or_default());
        }
        let StoredIndex { payload, .. } = self.index_of(extent.segment)?;
        match index::read(&payload, extent.number) {
            Ok(entries) => Ok(choose(&entries)),
            Err(_) => Ok(choose(&self.entries_by_walking(extent)?)),
        }
    }

    /// Returns the index of a sealed file.
    fn index_of(&self, segment: u64) -> io::Result<StoredIndex> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = indexes.iter().position(|(known, _)| *known == segment)
            && let Some(known) = indexes.remove(at)
        {
            indexes.push_back(known.clone());
            return Ok(known.1);
        }
        drop(indexes);
        let index = self.read_index(segment)?;
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if indexes.len() == MAX_CACHED_INDEXES {
            indexes.pop_front();
        }
        indexes.push_back((segment, index.clone()));
        Ok(index)
    }

    /// Reads the index of a sealed file, which need not be listed. The index has no names: `series` are those of the file, in its order.
    ///
    /// # Errors
    /// If the file cannot be read, or its index is damaged.
    pub fn sealed_index(&self, segment: u64, series: &[Arc<Series>]) -> io::Result<FileIndex> {
        let StoredIndex { payload, .. } = self.read_index(segment)?;
        let mut index = FileIndex::default();
        for (number, series) in (1..).zip(series) {
            let mut of_series = SeriesIndex::new(series.clone());
            let entries =
                index::read(&payload, number).map_err(|error| io::Error::other(error.to_string()))?;
            entries.into_iter().for_each(|entry| of_series.push(entry));
            index.series.push(of_series);
        }
        Ok(index)
    }

    /// Drops the index of a file that is written again.
    pub(crate) fn drop_index(&self, segment: u64) {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.retain(|(known, _)| *known != segment);
    }

    fn read_index(&self, segment: u64) -> io::Result<StoredIndex> {
        let (file, header) = self.open_sealed(segment)?;
        let length = file.metadata()?.len();
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, length.saturating_sub(TRAILER as u64))?;
        let position = record::parse_trailer(&trailer).filter(|position| *position < length);
        let index = |payload| StoredIndex { nonce: header.nonce, payload };
        let Some(position) = position else { return Ok(index(Bytes::new())) };
        let mut bytes = vec![0; usize::try_from(length - position).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, position)?;
        match record::parse(&bytes, header.nonce, position) {
            Ok((head, payload, _)) if head.kind == Kind::Index => Ok(index(Bytes::copy_from_slice(payload))),
            _ => Ok(index(Bytes::new())),
        }
    }

    /// Returns what a sealed file is.
    pub(crate) fn stored_file(&self, segment: u64) -> io::Result<StoredFile> {
        let (file, header) = self.open_sealed(segment)?;
        let index = self.read_index(segment)?;
        let batches = index::count(&index.payload).unwrap_or_default();
        Ok(StoredFile { header, length: file.metadata()?.len(), batches })
    }

    /// Finds the batches of a file with a damaged index.
    fn entries_by_walking(&self, extent: &Extent) -> Result<Vec<Entry>, ReadError> {
        self.counters.report(Finding {
            file: self.file_name(extent.segment),
            from: 0,
            to: 0,
            kind: "damaged",
            detail: "damaged index: the file is scanned instead".into(),
        });
        let bytes = fs::read(segment_file::path(&self.directory, extent.segment))?;
        let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
        let found = index::build(Walk::new(&bytes, &header));
        let mut of_series = found.index.series.into_iter().filter(|series| *series.series == *extent.series);
        Ok(of_series.next().map(|series| series.entries).unwrap_or_default())
    }

    /// Reads listed batches and groups of a share; each can fail on its own.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn batches(
        &self,
        extent: &Extent,
        entries: &[Entry],
    ) -> Result<Vec<Result<StoredBatch, Unread>>, ReadError> {
        self.file_reads.fetch_add(1, Ordering::Relaxed);
        let segment = extent.segment;
        let (file, header) = self.open_sealed(segment)?;
        let mut batches = Vec::with_capacity(entries.len());
        let mut window = Window::default();
        let mut again = FoundAgain::default();
        for (at, entry) in entries.iter().enumerate() {
            let batch = window.read(&file, (&header, extent.number), entry, &entries[at..]);
            let batch = match batch {
                Err(Unread::Damaged) if header.has_groups => {
                    self.find_again(extent, (&file, &header), entry, &mut again).ok_or(Unread::Damaged)
                }
                batch => batch,
            };
            if let Err(unread) = &batch {
                self.counters.report(Finding {
                    file: self.file_name(segment),
                    from: entry.position,
                    to: entry.position + RECORD_HEADER as u64,
                    kind: unread.cause().word(),
                    detail: format!("the record at this position {unread}"),
                });
            }
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Finds a batch that was listed before small batches of its file were grouped.
    fn find_again(
        &self,
        extent: &Extent,
        (file, header): (&File, &FileHeader),
        entry: &Entry,
        again: &mut FoundAgain,
    ) -> Option<StoredBatch> {
        if again.entries.is_none() {
            self.drop_index(extent.segment);
            let StoredIndex { nonce, payload } = self.index_of(extent.segment).ok()?;
            let listed = index::read(&payload, extent.number).ok()?;
            again.entries = Some(listed).filter(|_| nonce == header.nonce);
        }
        let listed = again.entries.as_ref()?;
        // The first batch of a file has the place of its group.
        let is_other = |now: &&Entry| (now.position, now.count) != (entry.position, entry.count);
        let now = after(listed, entry.first).first().filter(is_other)?;
        if again.position != now.position {
            let wanted = std::slice::from_ref(now);
            let group = Window::default().read(file, (header, extent.number), now, wanted).ok()?;
            (again.position, again.batches) = (now.position, group.arrived(&extent.series.probe_type).ok()?);
        }
        let batch = again.batches.iter().find(|batch| is_of(batch, entry));
        batch.cloned().map(StoredBatch::as_it_arrived)
    }

    /// Opens a file. One that cannot be opened, such as one of a later release, is a finding, unless retention has removed it.
    fn open_sealed(&self, segment: u64) -> io::Result<(File, FileHeader)> {
        let path = segment_file::path(&self.directory, segment);
        let opened = (|| {
            let file = File::open(&path)?;
            let mut header = [0; FILE_HEADER];
            file.read_exact_at(&mut header, 0)?;
            let header = FileHeader::parse(&header).map_err(io::Error::other)?;
            Ok((file, header))
        })();
        opened.inspect_err(|error: &io::Error| {
            if error.kind() != io::ErrorKind::NotFound {
                let detail = error.to_string();
                self.counters.report(Finding {
                    file: self.file_name(segment),
                    from: 0,
                    to: 0,
                    kind: "unreadable",
                    detail,
                });
            }
        })
    }

    fn file_name(&self, segment: u64) -> String {
        recovery::file_name(&segment_file::path(&self.directory, segment))
    }
}

/// Returns how many ranges of a share's offsets have no entry.
fn holes(extent: &Extent, entries: &[Entry]) -> u64 {
    let ends = std::iter::once(extent.first).chain(entries.iter().map(Entry::end));
    let starts = entries.iter().map(|entry| entry.first).chain(std::iter::once(extent.end));
    ends.zip(starts).filter(|(end, start)| start > end).count() as u64
}

/// Returns the entries that do not end before an offset: offsets of a series only grow.
fn after(entries: &[Entry], from: Offset) -> &[Entry] {
    &entries[entries.partition_point(|entry| entry.end() <= from)..]
}
