//! Puts the samples of segment files together as points: for roll-ups, and for readers.

use super::{ReadError, Store, Unread};
use crate::{
    catalogue::Extent,
    cells::Level,
    index::Entry,
    points::{Arrival, Points, Reach},
    series::Series,
};
use std::{io, sync::PoisonError, thread};

/// Batches read at once.
const READ: usize = 1_024;
/// Samples put together before others go first, about: some tenths of a millisecond.
const PIECE: u64 = 4_096;
/// Batches in a file from which on reading them all keeps somebody waiting.
const MANY: usize = 2_000;

impl Store {
    /// Puts the samples of busy open files together in advance, so that questions for them are answered without delay.
    ///
    /// # Errors
    /// If files cannot be read.
    pub fn put_together(&self) -> Result<(), ReadError> {
        for extent in self.busy_extents(MANY) {
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
                // A piece at a time, and the lock is free between pieces: a question that waits for this share continues it.
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

    /// How far an instance's samples went before a segment file.
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

    /// Takes into `points` the samples of a share that were not taken before.
    ///
    /// # Errors
    /// If files cannot be read.
    pub fn add_extent(&self, extent: &Extent, points: &mut Points) -> Result<(), ReadError> {
        for some in self.entries_behind(points, extent, usize::MAX)?.chunks(READ) {
            self.add_entries(extent, some, points)?;
        }
        let all = extent.as_one();
        // What the catalogue lists and the file has not is lost.
        if !points.has_passed(&all) {
            points.lose(&all, oasis_wire::loss::Cause::Damaged);
        }
        Ok(())
    }

    /// Takes in the batches of a share that come next, of [`PIECE`] samples. Answers whether there may be more.
    fn add_piece(&self, extent: &Extent, points: &mut Points) -> Result<bool, ReadError> {
        let entries = self.entries_behind(points, extent, READ)?;
        let mut samples = 0;
        let some = entries.iter().take_while(|entry| {
            let is_wanted = samples < PIECE;
            samples += u64::from(entry.count);
            is_wanted
        });
        let some = some.count();
        self.add_entries(extent, &entries[..some], points)?;
        Ok(some < entries.len() || some == READ)
    }

    /// The batches of a share that were not taken in yet, so many of them at most.
    fn entries_behind(&self, points: &Points, extent: &Extent, most: usize) -> Result<Vec<Entry>, ReadError> {
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
            let arrival = Arrival::of(series, entry);
            is_read.push(points.looks_at(reach, &arrival));
            reach = Some(Reach::behind(&arrival));
        }
        let read = entries.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
        let read: Vec<_> = read.map(|(entry, _)| *entry).collect();
        let mut batches = match self.batches(extent.segment, &read) {
            Err(ReadError::Io(error)) if is_gone(&error) => Vec::new(),
            batches => batches?,
        }
        .into_iter();
        for (entry, is_read) in entries.iter().zip(is_read) {
            let arrival = Arrival::of(series, entry);
            if is_read {
                let batch = batches.next().unwrap_or(Err(Unread::Damaged));
                points.add(&arrival, batch.as_deref().map_err(Unread::cause), extent.why(self));
            } else {
                points.pass(&arrival);
            }
        }
        Ok(())
    }
}

/// Whether a file is not there any more, as retention was faster, or ends too early.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

impl Extent {
    /// All of it, as if it were one batch without a hole.
    pub fn as_one(&self) -> Arrival<'_> {
        Arrival {
            epoch: self.series.epoch,
            run: self.series.run,
            probe_type: &self.series.probe_type,
            first: self.first,
            times: (self.min_time, self.max_time),
            count: self.end.0.saturating_sub(self.first.0),
            last_sequence: self.last_sequence,
        }
    }

    /// How far its samples go.
    pub fn reach(&self) -> Reach {
        Reach::behind(&self.as_one())
    }
}
