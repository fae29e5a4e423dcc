//! Grouping: writes a sealed segment file again with its small batches in [groups](crate::group), and replaces it by a rename. A process that is killed
//! leaves the one file or the other, and both read alike.

use crate::{
    catalogue::Segment,
    group,
    index::{self, Entry, FileIndex, SeriesIndex},
    record::{self, FILE_HEADER, FileHeader, Head, Kind, RECORD_HEADER, Start, TRAILER},
    segment_file,
    store::{ReadError, Store},
    walk::{Step, Walk},
};
use oasis_wire::batch::Header;
use std::{
    fs::{self, File},
    io::{self, Write},
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Largest batch that is grouped.
const MAX_GROUPED_BATCH_BYTES: usize = 1_024;
/// Most batches of a group: damage of its record loses all of them.
const MAX_GROUP_BATCHES: usize = 512;
/// Most bytes of the batches of a group, as they arrived: a reader that needs them has all of them in memory.
const MAX_GROUP_BYTES: usize = 128 * 1_024;
/// Longest time between two batches of a group, nanoseconds: after a clock was set, times of before and after are listed apart.
const MAX_BATCH_INTERVAL_NANOS: u64 = 24 * 3_600 * 1_000_000_000;
/// About the bytes that a small batch costs besides its samples: head of its record, header, columns, entry of the index.
const BATCH_OVERHEAD_BYTES: u64 = 100;
/// A file is written again if that saves one of this many bytes.
const MIN_SAVING_DIVISOR: u64 = 8;

/// The outcome for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// The file was replaced by one that is smaller by this many bytes.
    Saved(u64),
    /// The file stays as it is: it has groups already, too few small batches, or damage.
    Unchanged,
    /// The caller stopped it.
    Stopped,
}

impl Store {
    /// Writes a sealed file again with its small batches in groups, if that saves enough. `goes_on` is called after each piece of work.
    ///
    /// # Errors
    /// If file or catalogue cannot be read or written. The file is as before then, or replaced.
    pub fn group(&self, segment: &Segment, mut goes_on: impl FnMut() -> bool) -> Result<Grouping, ReadError> {
        let path = segment_file::path(&self.directory, segment.number);
        let part = part_of(&path);
        if !self.may_save(segment)? {
            return Ok(Grouping::Unchanged);
        }
        let bytes = fs::read(&path)?;
        let header = FileHeader::parse(&bytes).map_err(io::Error::other)?;
        let found = index::build(Walk::new(&bytes, &header));
        // Damaged files stay where they are: a user may still want to repair them.
        if header.has_groups || !found.is_sealed || !found.damage.is_empty() || found.orphans > 0 {
            return Ok(Grouping::Unchanged);
        }
        let nonce = Uuid::new_v4().as_u64_pair().0 ^ Uuid::new_v4().as_u64_pair().1;
        let header_now = FileHeader { nonce, has_groups: true, marks_syncs: true, ..header };
        let written = Rewriting::begin(&part, header_now, &found.index).and_then(|mut rewriting| {
            let is_whole = rewriting.copy(&bytes, &header, &mut goes_on)?;
            let length = if is_whole { Some(rewriting.seal()?) } else { None };
            Ok((rewriting.index, length))
        });
        let worth = segment.bytes - segment.bytes / MIN_SAVING_DIVISOR;
        match written {
            Ok((index, Some(length))) if length <= worth => {
                self.replace(segment, &part, &path, &index, length)
            }
            Ok((_, length)) => {
                fs::remove_file(&part)?;
                Ok(if length.is_some() { Grouping::Unchanged } else { Grouping::Stopped })
            }
            Err(error) => {
                // The first error is reported. The next start removes what this cannot.
                let _ = fs::remove_file(&part);
                Err(error.into())
            }
        }
    }

    /// Whether grouping is worth a try, by the index alone. Corrects what is listed of a file that was replaced just before the process ended.
    fn may_save(&self, segment: &Segment) -> Result<bool, ReadError> {
        let stored = self.stored_file(segment.number)?;
        if stored.header.has_groups && stored.length != segment.bytes {
            let bytes = fs::read(segment_file::path(&self.directory, segment.number))?;
            let index = index::build(Walk::new(&bytes, &stored.header)).index;
            self.list_sizes(segment.number, stored.length, &index)?;
        }
        let saved = stored.batches.saturating_mul(BATCH_OVERHEAD_BYTES);
        Ok(!stored.header.has_groups && saved >= segment.bytes / MIN_SAVING_DIVISOR)
    }

    /// Replaces a file, unless retention has evicted it meanwhile.
    fn replace(
        &self,
        segment: &Segment,
        part: &Path,
        path: &Path,
        index: &FileIndex,
        length: u64,
    ) -> Result<Grouping, ReadError> {
        // Retention removes a file from the list first, and then its name.
        let catalogue = self.catalogue();
        if !catalogue.is_listed(segment.number)? {
            drop(catalogue);
            fs::remove_file(part)?;
            return Ok(Grouping::Unchanged);
        }
        fs::rename(part, path)?;
        drop(catalogue);
        self.drop_index(segment.number);
        segment_file::sync_directory(&self.directory)?;
        self.list_sizes(segment.number, length, index)?;
        Ok(Grouping::Saved(segment.bytes.saturating_sub(length)))
    }

    /// Lists the sizes of a file that was replaced.
    fn list_sizes(&self, number: u64, length: u64, index: &FileIndex) -> Result<(), ReadError> {
        let before = self.catalogue().resize(number, length, &index.bytes_by_series(length))?;
        let mut counters = self.counters.lock();
        counters.segment_bytes = counters.segment_bytes.saturating_sub(before).saturating_add(length);
        drop(counters);
        self.resized.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

/// Whether a file has replaced a larger one of this size, and the process has ended before it listed that.
pub fn has_replaced(path: &Path, listed: u64) -> bool {
    let is_whole = || -> io::Result<bool> {
        let file = File::open(path)?;
        let (mut header, mut trailer) = ([0; FILE_HEADER], [0; TRAILER]);
        file.read_exact_at(&mut header, 0)?;
        let length = file.metadata()?.len();
        file.read_exact_at(&mut trailer, length.saturating_sub(TRAILER as u64))?;
        let header = FileHeader::parse(&header).map_err(io::Error::other)?;
        let Some(index) = record::parse_trailer(&trailer) else { return Ok(false) };
        let mut head = [0; RECORD_HEADER];
        file.read_exact_at(&mut head, index)?;
        let is_index =
            record::parse_head(&head, header.nonce, index).is_ok_and(|head| head.kind == Kind::Index);
        Ok(header.has_groups && is_index && length < listed)
    };
    is_whole().unwrap_or(false)
}

/// Returns the path at which a file is written again.
fn part_of(path: &Path) -> PathBuf {
    path.with_extension("oseg.part")
}

/// Removes files that an earlier process has begun to write again.
///
/// # Errors
/// If the folder cannot be read, or a file cannot be removed.
pub fn remove_parts(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_part = path.to_str().is_some_and(|name| name.ends_with(".oseg.part"));
        if is_part && segment_file::number(&path.with_extension("")).is_some() {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The file that is being written.
#[derive(Debug)]
struct Rewriting {
    file: io::BufWriter<File>,
    header: FileHeader,
    position: u64,
    index: FileIndex,
    /// By series: the batches of its next group.
    pending: Vec<Vec<PendingBatch>>,
    record: Vec<u8>,
}

/// A batch that waits for its group.
#[derive(Debug, Clone)]
struct PendingBatch {
    /// Its place in the file before.
    payload: Range<usize>,
    entry: Entry,
    state: u16,
    topic: u32,
}

impl Rewriting {
    fn begin(part: &Path, header: FileHeader, index: &FileIndex) -> io::Result<Self> {
        let mut file = io::BufWriter::new(File::create(part)?);
        file.write_all(&header.write())?;
        let series = index.series.iter().map(|series| SeriesIndex::new(series.series.clone())).collect();
        Ok(Self {
            file,
            header,
            position: FILE_HEADER as u64,
            index: FileIndex { series },
            pending: vec![Vec::new(); index.series.len()],
            record: Vec::new(),
        })
    }

    /// Copies all records of a file, its small batches in groups. Returns false if it was stopped.
    fn copy(
        &mut self,
        bytes: &[u8],
        header: &FileHeader,
        goes_on: &mut impl FnMut() -> bool,
    ) -> io::Result<bool> {
        let mut known = 0;
        for step in Walk::new(bytes, header) {
            let Step::Record { position, head, payload } = step else { return Err(changed()) };
            match head.kind {
                Kind::Batch => self.take(bytes, (position, &head, payload), goes_on)?,
                Kind::Index => break,
                kind => {
                    known += u32::from(kind == Kind::Series);
                    if kind == Kind::Series && head.number != known {
                        return Err(changed());
                    }
                    self.put((kind, head.number), (head.min_time, head.max_time), payload)?;
                }
            }
            if !goes_on() {
                return Ok(false);
            }
        }
        for number in 1..=known {
            self.end_group(bytes, number)?;
            if !goes_on() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes a batch: into the next group of its series, or as it is.
    fn take(
        &mut self,
        bytes: &[u8],
        (position, head, payload): (u64, &Head, &[u8]),
        goes_on: &mut impl FnMut() -> bool,
    ) -> io::Result<()> {
        let entry = index::entry(position, head, payload).ok_or_else(changed)?;
        let Header { state, topic, dropped_before, .. } = Header::parse(payload).map_err(|_| changed())?;
        let start = usize::try_from(position).map_err(io::Error::other)? + RECORD_HEADER;
        let next = PendingBatch { payload: start..start + payload.len(), entry, state, topic };
        let pending = self.pending_of(head.number)?;
        let follows = pending.last().is_some_and(|last| dropped_before == 0 && next.follows(last));
        let size: usize = pending.iter().map(|batch| batch.payload.len()).sum();
        if !follows || pending.len() >= MAX_GROUP_BATCHES || size + payload.len() > MAX_GROUP_BYTES {
            self.end_group(bytes, head.number)?;
            goes_on();
        }
        if payload.len() > MAX_GROUPED_BATCH_BYTES {
            self.end_group(bytes, head.number)?;
            return self.put_batch(bytes, head.number, &next);
        }
        self.pending_of(head.number)?.push(next);
        Ok(())
    }

    fn pending_of(&mut self, number: u32) -> io::Result<&mut Vec<PendingBatch>> {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| self.pending.get_mut(at)).ok_or_else(changed)
    }

    /// Writes the batches that wait: as a group, or as they are if that is not larger.
    fn end_group(&mut self, bytes: &[u8], number: u32) -> io::Result<()> {
        let batches = std::mem::take(self.pending_of(number)?);
        let (Some(first), Some(last)) = (batches.first(), batches.last()) else { return Ok(()) };
        let arrived: Vec<_> = batches.iter().filter_map(|batch| bytes.get(batch.payload.clone())).collect();
        let probe_type = self.index.get(number).ok_or_else(changed)?.series.probe_type.clone();
        let before: usize = arrived.iter().map(|batch| record::size_of(batch.len())).sum();
        let grouped = if batches.len() > 1 { group::write(&probe_type, &arrived) } else { None };
        let Some(payload) = grouped.filter(|payload| record::size_of(payload.len()) < before) else {
            return batches.iter().try_for_each(|batch| self.put_batch(bytes, number, batch));
        };
        let samples: u64 = batches.iter().map(|batch| u64::from(batch.entry.count)).sum();
        let entry = Entry {
            position: self.position,
            first: first.entry.first,
            count: u16::try_from(samples).map_err(io::Error::other)?,
            min_time: first.entry.min_time,
            max_time: last.entry.max_time,
            last_sequence: last.entry.last_sequence,
        };
        self.put((Kind::Group, number), (entry.min_time, entry.max_time), &payload)?;
        self.list(number, entry)
    }

    fn put_batch(&mut self, bytes: &[u8], number: u32, batch: &PendingBatch) -> io::Result<()> {
        let entry = Entry { position: self.position, ..batch.entry };
        let payload = bytes.get(batch.payload.clone()).ok_or_else(changed)?;
        self.put((Kind::Batch, number), (entry.min_time, entry.max_time), payload)?;
        self.list(number, entry)
    }

    fn list(&mut self, number: u32, entry: Entry) -> io::Result<()> {
        self.index.get_mut(number).ok_or_else(changed)?.push(entry);
        Ok(())
    }

    fn put(&mut self, what: (Kind, u32), times: (u64, u64), payload: &[u8]) -> io::Result<()> {
        self.record.clear();
        // The file gets its name once all of it is synced.
        let start = Start { nonce: self.header.nonce, position: self.position, follows_sync: true };
        record::put(&mut self.record, start, what, times, payload);
        self.file.write_all(&self.record)?;
        self.position += self.record.len() as u64;
        Ok(())
    }

    /// Writes the index, and syncs the file. Returns its size.
    fn seal(&mut self) -> io::Result<u64> {
        self.file.flush()?;
        segment_file::seal(self.file.get_ref(), &self.header, self.position, &self.index)
    }
}

impl PendingBatch {
    /// Whether a group with the batch before can contain it, too. Then its least and greatest times are those of its first and last batch.
    fn follows(&self, before: &Self) -> bool {
        let (next, last) = (&self.entry, &before.entry);
        let first_sequence = next.last_sequence.checked_sub(u64::from(next.count).saturating_sub(1));
        next.first == last.end()
            && first_sequence == last.last_sequence.checked_add(1)
            && (self.state, self.topic) == (before.state, before.topic)
            && (last.max_time..=last.max_time.saturating_add(MAX_BATCH_INTERVAL_NANOS))
                .contains(&next.min_time)
    }
}

/// The file is not as it was when it was scanned.
fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file has changed while it was read")
}

#[cfg(test)]
mod tests;
