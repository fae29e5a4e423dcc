//! Aggregates the samples of segment files to points: for roll-ups, and for readers.

use super::{ReadError, Store, Unread};
use crate::{catalogue::Extent, index::Entry, series::Series};
use oasis_rollup::{
    cells::Level,
    points::{Arrival, Points, Reach},
};
use std::{io, sync::PoisonError, thread};

/// Batches read at once.
const READ_CHUNK_BATCHES: usize = 1_024;
/// Approximate number of samples that are processed before the thread yields: some tenths of a millisecond.
const YIELD_INTERVAL_SAMPLES: u64 = 4_096;
/// Number of batches from which on reading a file delays a request noticeably.
const MIN_BUSY_BATCHES: usize = 2_000;

impl Store {
    /// Aggregates the samples of busy open files in advance, so that requests are not delayed.
    ///
    /// # Errors
    /// If files cannot be read.
    pub fn put_together(&self) -> Result<(), ReadError> {
        for extent in self.busy_extents(MIN_BUSY_BATCHES) {
            let key = (extent.segment, extent.number);
            let share = match self.recent.get(key) {
                Some(share) => Some(share),
                None if self.recent.has_room() => {
                    self.recent.begin(key, self.reach_before(&extent.series, extent.segment))
                }
                None => None,
            };
            let Some(share) = share else { continue };
            loop {
                // Releases the lock after each piece: a request that waits for this share continues it.
                thread::yield_now();
                let mut recent = share.lock().unwrap_or_else(PoisonError::into_inner);
                let is_more = self.add_piece(&extent, &mut recent)?;
                if !self.recent.limit(key, &recent) || !is_more {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the position of an instance before a segment file.
    pub fn reach_before(&self, series: &Series, segment: u64) -> Option<Reach> {
        let extents = self.extents(&series.node, &series.instance, 0).ok()?;
        let stored = extents.iter().rfind(|extent| extent.segment < segment).map(|extent| extent.reach());
        stored.or_else(|| {
            let files = self.rollups.of_level(Level::Hour);
            let before = files.iter().filter(|file| file.directory.segments.last() < Some(&segment));
            let of_instance = before.flat_map(|file| &file.directory.series);
            let same =
                of_instance.filter(|one| *one.node == *series.node && *one.instance == *series.instance);
            same.map(|one| one.reach).next_back()
        })
    }

    /// Adds the new samples of a share to `points`.
    ///
    /// # Errors
    /// If files cannot be read.
    pub fn add_extent(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        for some in self.entries_after(points, extent, usize::MAX)?.chunks(READ_CHUNK_BATCHES) {
            self.add_entries(extent, some, points)?;
        }
        let all = extent.as_one();
        // Samples that are listed but not in the file are lost.
        if !points.has_passed(&all) {
            points.lose(&all, oasis_wire::loss::Cause::Damaged);
        }
        Ok(())
    }

    /// Adds the next batches of a share, [`YIELD_INTERVAL_SAMPLES`] samples. Returns whether there may be more.
    fn add_piece(&self, extent: &Extent, points: &mut Points) -> Result<bool, ReadError> {
        let entries = self.entries_after(points, extent, READ_CHUNK_BATCHES)?;
        let mut samples = 0;
        let some = entries.iter().take_while(|entry| {
            let is_wanted = samples < YIELD_INTERVAL_SAMPLES;
            samples += u64::from(entry.count);
            is_wanted
        });
        let some = some.count();
        self.add_entries(extent, &entries[..some], points)?;
        Ok(some < entries.len() || some == READ_CHUNK_BATCHES)
    }

    /// Returns at most `most` batches of a share that were not added yet.
    fn entries_after(&self, points: &Points, extent: &Extent, most: usize) -> Result<Vec<Entry>, ReadError> {
        let all = extent.as_one();
        let seen =
            points.reach().filter(|_| points.is_within(&all)).map_or(extent.first, |reach| reach.offset);
        match self.entries(extent, seen, most) {
            Err(ReadError::Io(error)) if is_gone(&error) => Ok(Vec::new()),
            other => other,
        }
    }

    fn add_entries(&self, extent: &Extent, entries: &[Entry], points: &mut Points) -> Result<(), ReadError> {
        let series = &extent.series;
        let mut reach = points.reach();
        let mut is_read = Vec::with_capacity(entries.len());
        for entry in entries {
            let arrival = entry.arrival(series);
            is_read.push(points.looks_at(reach, &arrival));
            reach = Some(Reach::after(&arrival));
        }
        let read = entries.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
        let read: Vec<_> = read.map(|(entry, _)| *entry).collect();
        let mut batches = match self.batches(extent, &read) {
            Err(ReadError::Io(error)) if is_gone(&error) => Vec::new(),
            batches => batches?,
        }
        .into_iter();
        for (entry, is_read) in entries.iter().zip(is_read) {
            let arrival = entry.arrival(series);
            if is_read {
                let batch = batches.next().unwrap_or(Err(Unread::Damaged));
                let batch = batch.as_ref().map(|stored| &*stored.batch).map_err(Unread::cause);
                points.add(&arrival, batch, extent.why(self));
            } else {
                points.pass(&arrival);
            }
        }
        Ok(())
    }
}

/// Whether a file was evicted meanwhile, or is truncated.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

impl Extent {
    /// Describes the whole share as one batch without gaps.
    pub fn as_one(&self) -> Arrival<'_> {
        Arrival {
            epoch: self.series.epoch,
            run: self.series.run,
            probe_type: &self.series.probe_type,
            first: self.first,
            times: (self.min_time, self.max_time),
            count: self.end.0.saturating_sub(self.first.0),
            last_sequence: self.last_sequence,
            gaps_before: &[],
        }
    }

    /// The position after its last sample.
    pub fn reach(&self) -> Reach {
        Reach::after(&self.as_one())
    }
}
