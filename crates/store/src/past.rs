//! An instance's past, batch by batch, in the order in which it was received: over files, runs and epochs.

use crate::{
    catalogue::{ExpiredSamples, Extent},
    group::StoredBatch,
    index::Entry,
    newest::Newest,
    series::Series,
    store::{NotStored, ReadError, ReaderMark, Store, Unread},
};
use bytes::Bytes;
use oasis_wire::{
    batch::{self, Header},
    loss::Cause,
    quantity::{Epoch, Offset, PortablePosition, Position},
};
use std::{io, ops::Range, sync::Arc};
use uuid::Uuid;

/// Batches read at once.
const READ_CHUNK_BATCHES: usize = 64;
/// Places of batches looked up at once, and kept until they are read. Some 25 KiB.
const MAX_KEPT_ENTRIES: usize = 512;

/// A piece of the past.
#[derive(Debug, Clone)]
pub enum PastItem {
    /// Offsets restart: the DAC was started again.
    Epoch(Arc<Series>),
    /// Samples.
    Samples {
        /// Their series, with their type.
        series: Arc<Series>,
        /// The native batch, as it arrived unless groups are wanted.
        batch: Bytes,
        /// Offset of its first sample, and after its last one.
        offsets: Range<Offset>,
        /// Offsets of the wanted samples.
        wanted: Range<Offset>,
    },
    /// Missing offsets.
    Gap {
        /// The epoch of the offsets.
        epoch: Epoch,
        /// The offsets.
        offsets: Range<Offset>,
        /// Their cause.
        cause: Cause,
        /// The node's run that their samples belong to, if it is known.
        run: Option<Uuid>,
    },
}

/// A position in an instance's past.
#[derive(Debug)]
pub struct Past {
    store: Arc<Store>,
    node: Arc<str>,
    instance: Arc<str>,
    /// The next sample wanted.
    at: Position,
    /// Number of a file: earlier files contain no wanted samples.
    segment: u64,
    /// The wanted times: the place begins at the first sample of them and ends after the last one, whatever comes between.
    times: (u64, Option<u64>),
    /// Takes samples by their times, whatever their order: no batch without a sample of these times is read.
    by_time: Option<Range<u64>>,
    /// Samples of the wanted times are known to follow the stored ones.
    more_follow: bool,
    /// The end of the times in the last file that has some of them.
    end: Option<TimeEnd>,
    is_over: bool,
    ahead: Option<Ahead>,
    /// Samples that retention evicted before the first stored one, until they are reported.
    expired: Option<ExpiredSamples>,
    /// Whether a group is read as one batch.
    takes_groups: bool,
}

/// The end of the wanted times in an extent.
#[derive(Debug, Clone, Copy)]
struct TimeEnd {
    segment: u64,
    number: u32,
    /// The end of the extent when this was found: a file that is open grows.
    extent_end: Offset,
    /// Offset after the last batch with samples of these times.
    offset: Offset,
    /// Whether a sample after that batch is not older than the end of the times.
    is_passed: bool,
}

/// Positions of the next batches of an extent.
#[derive(Debug)]
struct Ahead {
    segment: u64,
    number: u32,
    entries: Arc<[Entry]>,
    /// The position after them in the file's index, if it is sealed.
    mark: Option<ReaderMark>,
}

impl Ahead {
    /// Returns the entries from an offset on, if there are any.
    fn entries_after(&self, from: Offset) -> Option<Range<usize>> {
        let first = self.entries.partition_point(|entry| entry.end() <= from);
        (first < self.entries.len()).then_some(first..self.entries.len())
    }
}

impl Past {
    /// Starts at the first sample of these times, or with what retention has evicted before it.
    pub fn from_time(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        time: u64,
        until: Option<u64>,
    ) -> Result<Option<Self>, ReadError> {
        let mut found = Self::from_stored_time(store, node, instance, (time, until))?;
        if found.is_none() && until.is_some() {
            // Without samples of these times, the place is that of the first one that is not older: it is over there.
            found = Self::from_stored_time(store, node, instance, (time, None))?;
            found.iter_mut().for_each(|past| past.times = (time, until));
        }
        let expired = store.expired(node, instance)?.filter(|expired| overlaps((time, until), expired.times));
        let Some(expired) = expired else {
            if let (0, Some(past)) = (time, &mut found) {
                past.include_unstored_start()?;
            }
            return Ok(found);
        };
        let extents = store.extents(node, instance, 0)?;
        // Files of pinned times, or of small instances, stay: then what is stored begins before what was evicted.
        let begins_before = |extent: &Extent| match extent.series.epoch == expired.epoch {
            true => extent.first <= expired.offsets.start,
            false => extents.iter().any(|other| other.series.epoch == expired.epoch),
        };
        if extents.first().is_some_and(begins_before) {
            return Ok(found);
        }
        let first = extents.into_iter().next();
        let begin =
            first.as_ref().map(|extent| Position { epoch: extent.series.epoch, offset: extent.first });
        // Samples that are stored and not wanted come between.
        if found.as_ref().map(Self::position) != begin {
            return Ok(found);
        }
        let at = Position { epoch: expired.epoch, offset: expired.offsets.start };
        let segment = first.map_or(0, |extent| extent.segment);
        let mut past = Self::new(store, node, instance, at, segment, (time, until));
        past.expired = Some(expired);
        Ok(Some(past))
    }

    /// Moves the start of the whole history to what was received before the first stored sample, and could not be stored.
    fn include_unstored_start(&mut self) -> Result<(), ReadError> {
        let Position { epoch, offset } = self.at;
        let first = self.store.next_gap(&self.node, &self.instance, epoch, Offset(0))?;
        if let Some((gap, _)) = first.filter(|(gap, _)| gap.from < offset) {
            self.at.offset = gap.from;
        }
        Ok(())
    }

    fn from_stored_time(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        wanted: (u64, Option<u64>),
    ) -> Result<Option<Self>, ReadError> {
        for extent in store.extents(node, instance, 0)? {
            if !overlaps(wanted, (extent.min_time, extent.max_time)) {
                continue;
            }
            let entries = match store.entries_since(&extent, wanted.0) {
                // The read reports the gap later.
                Err(ReadError::Io(_)) => {
                    let at = Position { epoch: extent.series.epoch, offset: extent.first };
                    return Ok(Some(Self::new(store, node, instance, at, extent.segment, wanted)));
                }
                other => other?,
            };
            for entry in entries {
                if !overlaps(wanted, (entry.min_time, entry.max_time)) {
                    continue;
                }
                let batch = batches(store, &extent, std::slice::from_ref(&entry))?.pop().and_then(Result::ok);
                // An unreadable batch counts as wanted: the read reports the gap.
                let times = batch.and_then(|stored| batch::times(&stored.batch).ok());
                let index = match times {
                    Some(times) => times.iter().position(|&sample| overlaps(wanted, (sample, sample))),
                    None => Some(0),
                };
                if let Some(index) = index {
                    let offset = Offset(entry.first.0 + index as u64);
                    let at = Position { epoch: extent.series.epoch, offset };
                    return Ok(Some(Self::new(store, node, instance, at, extent.segment, wanted)));
                }
            }
        }
        Ok(None)
    }

    /// Starts at the oldest of the newest samples that are still wanted and were received before `before`.
    pub fn from_newest(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        newest: &mut Newest,
        before: Position,
    ) -> Result<Option<Self>, ReadError> {
        let mut found = None;
        for extent in store.extents(node, instance, 0)?.into_iter().rev() {
            if newest.is_found() {
                break;
            }
            if !newest.overlaps((extent.min_time, extent.max_time)) {
                continue;
            }
            let end = if extent.series.epoch == before.epoch { before.offset } else { Offset(u64::MAX) };
            let entries = match store.newest_entries(&extent, newest, end) {
                // Skipped; the read reports the gap later.
                Err(ReadError::Io(_)) => continue,
                other => other?,
            };
            for entry in entries {
                let listed = entry.listed_before(end);
                let read = || batches(store, &extent, std::slice::from_ref(&entry)).ok()?.pop()?.ok();
                let offset = newest.take(&listed, || {
                    let mut times = batch::times(&read()?.batch).ok()?;
                    times.truncate(usize::try_from(listed.count).unwrap_or(usize::MAX));
                    Some(times)
                });
                let Some(offset) = offset else { continue };
                found = Some((Position { epoch: extent.series.epoch, offset }, extent.segment));
            }
        }
        let times = (0, newest.until());
        Ok(found.map(|(at, segment)| Self::new(store, node, instance, at, segment, times)))
    }

    /// From a position on.
    pub fn at_position(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        at: Position,
        until: Option<u64>,
    ) -> Result<Option<Self>, ReadError> {
        let extents = store.extents(node, instance, 0)?;
        let of_epoch = extents.iter().filter(|extent| extent.series.epoch == at.epoch);
        // The last one that begins before it, or the first of the epoch.
        let first = of_epoch.clone().map(|extent| extent.segment).min();
        let before = of_epoch.filter(|extent| extent.first <= at.offset).map(|extent| extent.segment).max();
        let segment = before.or(first);
        Ok(segment.map(|segment| Self::new(store, node, instance, at, segment, (0, until))))
    }

    /// From the sample of a run with this sequence number on, whatever its offset is. None if the stored samples of the run begin later,
    /// or there are none.
    pub fn at_portable(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        wanted: PortablePosition,
        until: Option<u64>,
    ) -> Result<Option<Self>, ReadError> {
        let mut extents = store.extents(node, instance, 0)?;
        extents.retain(|extent| extent.series.run == wanted.run);
        // Numbers of a run only grow: a few indexes are read, however many files there are.
        let (mut older, mut end, mut found) = (0, extents.len(), None);
        while older < end {
            let middle = older.midpoint(end);
            match store.find_sequence(&extents[middle], wanted.sequence)? {
                None => older = middle + 1,
                Some(offset) => (end, found) = (middle, Some((middle, offset))),
            }
        }
        let place = match found {
            Some((number, (offset, true))) => Some((number, offset)),
            _ => older.checked_sub(1).map(|last| (last, extents[last].end)),
        };
        Ok(place.map(|(number, offset)| {
            let Extent { series, segment, .. } = &extents[number];
            let at = Position { epoch: series.epoch, offset };
            Self::new(store, node, instance, at, *segment, (0, until))
        }))
    }

    fn new(
        store: &Arc<Store>,
        node: &str,
        instance: &str,
        at: Position,
        segment: u64,
        times: (u64, Option<u64>),
    ) -> Self {
        let (store, node, instance) = (store.clone(), node.into(), instance.into());
        Self {
            store,
            node,
            instance,
            at,
            segment,
            times,
            by_time: None,
            more_follow: false,
            end: None,
            is_over: false,
            ahead: None,
            expired: None,
            takes_groups: false,
        }
    }

    /// Reads small batches that were grouped as one batch, which costs less. Its DAC time and node time are those of the first one.
    #[must_use]
    pub fn with_groups(self) -> Self {
        Self { takes_groups: true, ..self }
    }

    /// Reads each batch that has a sample of these times, wherever it is: clocks are set back, and samples arrive late. Other batches are passed over
    /// without a gap, and a batch that is read has samples of other times too.
    #[must_use]
    pub fn by_time(self, from: u64, until: Option<u64>) -> Self {
        Self { by_time: Some(from..until.unwrap_or(u64::MAX)), times: (0, None), ..self }
    }

    /// Whether a batch or an extent with these least and greatest times has wanted samples. No end is after all times.
    fn is_of_time(&self, (least, greatest): (u64, u64)) -> bool {
        self.by_time
            .as_ref()
            .is_none_or(|times| greatest >= times.start && (least < times.end || times.end == u64::MAX))
    }

    /// Position after the last sample that is stored now.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn stored_end(&self) -> Result<Option<Position>, ReadError> {
        let last = self.store.extents(&self.node, &self.instance, self.segment)?.pop();
        Ok(last.map(|extent| Position { epoch: extent.series.epoch, offset: extent.end }))
    }

    /// Says whether samples of the wanted times follow what is stored, in a topic log: then the past does not end before them.
    pub fn set_more_follow(&mut self, more_follow: bool) {
        self.more_follow = more_follow;
    }

    /// The next sample wanted.
    pub fn position(&self) -> Position {
        self.at
    }

    /// Whether the last stored sample of the wanted times was read, and one after it is not older than their end.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads the next pieces, of about this many bytes; none at the end of the stored samples. Reads files: do not call it on a thread that must not block.
    ///
    /// # Errors
    /// If catalogue or files cannot be read.
    pub fn read(&mut self, bytes: usize) -> Result<Vec<PastItem>, ReadError> {
        let mut pieces = Vec::new();
        let mut left = bytes;
        // Samples that were stored since the read before may be of these times.
        self.is_over = false;
        if let Some(expired) = self.expired.take() {
            self.report_expired(expired, &mut pieces)?;
        }
        while left > 0 && !self.is_over {
            let Some((extent, end)) = self.next_extent()? else { break };
            if self.is_over_before(&extent, end) {
                self.is_over = true;
                break;
            }
            if extent.series.epoch != self.at.epoch {
                self.at = Position { epoch: extent.series.epoch, offset: Offset(0) };
                pieces.push(PastItem::Epoch(extent.series.clone()));
            }
            self.segment = extent.segment;
            left = left.saturating_sub(self.read_extent(&extent, end, left, &mut pieces)?);
        }
        if self.is_over {
            self.report_last_gap(&mut pieces)?;
        }
        Ok(pieces)
    }

    /// Reports what is missing between the last wanted sample and the next stored one: it may be of the wanted times.
    fn report_last_gap(&mut self, pieces: &mut Vec<PastItem>) -> Result<(), ReadError> {
        let Some((extent, _)) = self.next_extent()? else { return Ok(()) };
        if extent.series.epoch != self.at.epoch {
            return Ok(());
        }
        let next = match self.look_ahead(&extent) {
            Ok((entries, unread)) => entries.get(unread.start).map_or(extent.end, |entry| entry.first),
            Err(ReadError::Io(_)) => extent.first,
            Err(error) => return Err(error),
        };
        self.report_gap(&extent, next, pieces);
        Ok(())
    }

    /// Reports what retention has evicted before the first stored sample.
    fn report_expired(
        &mut self,
        expired: ExpiredSamples,
        pieces: &mut Vec<PastItem>,
    ) -> Result<(), ReadError> {
        let ExpiredSamples { epoch, offsets, .. } = expired;
        let stored = self.store.extents(&self.node, &self.instance, self.segment)?;
        if stored.iter().any(|extent| extent.series.epoch == epoch) {
            // The gap before the next stored sample of this epoch includes it.
            return Ok(());
        }
        self.at.offset = offsets.end;
        // The next stored sample is of another epoch, in this file or a later one.
        self.segment = self.segment.saturating_sub(1);
        pieces.push(PastItem::Gap { epoch, offsets, cause: Cause::ArchiveRetention, run: None });
        Ok(())
    }

    /// Returns the next extent, and the end of the wanted times in it if no later extent has some of them.
    fn next_extent(&mut self) -> Result<Option<(Extent, Option<TimeEnd>)>, ReadError> {
        let extents = self.store.extents(&self.node, &self.instance, self.segment)?;
        // A file contains one epoch, and file numbers increase with their creation.
        let last_of_epoch = extents.iter().filter(|extent| extent.series.epoch == self.at.epoch);
        let last_of_epoch = last_of_epoch.map(|extent| extent.segment).max().unwrap_or(self.segment);
        let is_unread = |extent: &Extent| match extent.series.epoch == self.at.epoch {
            true => extent.end > self.at.offset,
            false => extent.segment > last_of_epoch,
        };
        let mut unread = extents
            .into_iter()
            .filter(|extent| self.is_of_time((extent.min_time, extent.max_time)) && is_unread(extent));
        let Some(next) = unread.next() else { return Ok(None) };
        let Some(until) = self.times.1.filter(|_| !self.more_follow) else { return Ok(Some((next, None))) };
        let (mut goes_on, mut is_passed) = (false, false);
        for extent in unread {
            goes_on |= overlaps(self.times, (extent.min_time, extent.max_time));
            is_passed |= extent.max_time >= until;
        }
        let end = if goes_on { None } else { self.time_end(&next, until, is_passed)? };
        Ok(Some((next, end)))
    }

    /// Finds where the wanted times end in an extent. Later ones have none of them.
    fn time_end(
        &mut self,
        extent: &Extent,
        until: u64,
        is_passed: bool,
    ) -> Result<Option<TimeEnd>, ReadError> {
        let is_known = |end: &TimeEnd| {
            (end.segment, end.number, end.extent_end) == (extent.segment, extent.number, extent.end)
        };
        if let Some(end) = self.end.filter(is_known) {
            return Ok(Some(TimeEnd { is_passed: end.is_passed || is_passed, ..end }));
        }
        let (last, later) = match self.store.last_of_times(extent, self.times.0..until) {
            // The read reports the gap.
            Err(ReadError::Io(_)) => return Ok(None),
            other => other?,
        };
        self.end = Some(TimeEnd {
            segment: extent.segment,
            number: extent.number,
            extent_end: extent.end,
            offset: last.map_or(extent.first, |last| last.end()),
            is_passed: later,
        });
        Ok(self.end.map(|end| TimeEnd { is_passed: later || is_passed, ..end }))
    }

    /// Whether everything wanted was read before an extent, or before the rest of one.
    fn is_over_before(&self, extent: &Extent, end: Option<TimeEnd>) -> bool {
        let next = if extent.series.epoch == self.at.epoch { self.at.offset } else { extent.first };
        end.is_some_and(|end| end.is_passed && next.max(extent.first) >= end.offset)
    }

    /// Returns the positions of batches of an extent, and the range of the next wanted ones.
    fn look_ahead(&mut self, extent: &Extent) -> Result<(Arc<[Entry]>, Range<usize>), ReadError> {
        let from = self.at.offset;
        let of_share = |ahead: &Ahead| (ahead.segment, ahead.number) == (extent.segment, extent.number);
        let before = self.ahead.take().filter(of_share);
        if let Some((ahead, wanted)) =
            before.as_ref().and_then(|ahead| Some((ahead, ahead.entries_after(from)?)))
        {
            let entries = ahead.entries.clone();
            self.ahead = before;
            return Ok((entries, wanted));
        }
        let mut mark = before.and_then(|ahead| ahead.mark);
        let entries: Arc<[Entry]> =
            self.store.next_entries(extent, from, MAX_KEPT_ENTRIES, &mut mark)?.into();
        let all = 0..entries.len();
        let (segment, number) = (extent.segment, extent.number);
        self.ahead = Some(Ahead { segment, number, entries: entries.clone(), mark });
        Ok((entries, all))
    }

    /// Reads from an extent. Returns the approximate number of bytes.
    fn read_extent(
        &mut self,
        extent: &Extent,
        end: Option<TimeEnd>,
        bytes: usize,
        pieces: &mut Vec<PastItem>,
    ) -> Result<usize, ReadError> {
        let (entries, wanted) = match self.look_ahead(extent) {
            Err(ReadError::Io(error)) => {
                self.skip(
                    extent,
                    extent.end,
                    pieces,
                    (cause_of(&self.store, extent, error), Some(extent.series.run)),
                );
                return Ok(1);
            }
            other => other?,
        };
        let entries = &entries[wanted];
        let mut read = 0;
        for some in entries.chunks(READ_CHUNK_BATCHES) {
            let of_time: Vec<Entry> = some
                .iter()
                .filter(|entry| self.is_of_time((entry.min_time, entry.max_time)))
                .copied()
                .collect();
            for (entry, batch) in of_time.iter().zip(batches(&self.store, extent, &of_time)?) {
                let end = end.filter(|end| end.offset <= entry.end());
                read += self.take(extent, entry, (batch, end), pieces);
                if self.is_over || read >= bytes {
                    return Ok(read);
                }
            }
            if let (Some(last), true) = (some.last(), self.by_time.is_some()) {
                self.at.offset = self.at.offset.max(last.end());
            }
        }
        // Samples that the catalogue lists and the file does not contain are lost.
        if entries.is_empty() {
            self.skip(extent, extent.end, pieces, (Cause::Damaged, Some(extent.series.run)));
        }
        Ok(read.max(1))
    }

    /// Takes a listed batch, or the batches of a group. Returns the approximate number of bytes.
    fn take(
        &mut self,
        extent: &Extent,
        entry: &Entry,
        (stored, end): (Result<StoredBatch, Cause>, Option<TimeEnd>),
        pieces: &mut Vec<PastItem>,
    ) -> usize {
        self.report_gap(extent, entry.first, pieces);
        self.is_over = end.is_some_and(|end| end.is_passed);
        let batches = stored.and_then(|stored| {
            if self.takes_groups {
                return Ok(vec![stored.batch]);
            }
            stored.arrived(&extent.series.probe_type).map_err(|_| Cause::Unreadable)
        });
        let batches = match batches {
            Ok(batches) => batches,
            Err(cause) => {
                self.skip(extent, entry.end(), pieces, (cause, Some(extent.series.run)));
                return 1;
            }
        };
        let end = if end.is_some() { self.end_within(entry, &batches) } else { entry.end() };
        let (mut read, mut next) = (0, entry.first);
        for batch in batches {
            let count = Header::parse(&batch).map_or(entry.count, |head| head.count);
            let offsets = next..Offset(next.0.saturating_add(count.into()));
            next = offsets.end;
            let wanted = self.at.offset..end.min(offsets.end);
            if wanted.start < wanted.end {
                read += batch.len();
                self.at.offset = wanted.end;
                pieces.push(PastItem::Samples { series: extent.series.clone(), batch, offsets, wanted });
            }
        }
        read.max(1)
    }

    /// Returns the offset after the last wanted sample of a listed batch, or of the batches of a group, after which no wanted ones follow.
    fn end_within(&mut self, entry: &Entry, batches: &[Bytes]) -> Offset {
        let Some(until) = self.times.1.filter(|until| entry.max_time >= *until) else { return entry.end() };
        self.is_over = true;
        let times = batches.iter().flat_map(|batch| batch::times(batch).unwrap_or_default());
        let last = times.enumerate().filter(|(_, time)| *time < until).last();
        let end = last.map_or(entry.first, |(index, _)| Offset(entry.first.0 + index as u64 + 1));
        end.max(self.at.offset)
    }

    /// Reports missing offsets before `to`.
    fn report_gap(&mut self, extent: &Extent, to: Offset, pieces: &mut Vec<PastItem>) {
        if self.by_time.is_some() {
            self.at.offset = self.at.offset.max(to);
            return;
        }
        while self.at.offset < to {
            let NotStored { end, cause, run } =
                self.store.not_stored(&extent.series, self.at.offset, extent.first);
            self.skip(extent, end.min(to), pieces, (cause, run));
        }
    }

    fn skip(
        &mut self,
        extent: &Extent,
        to: Offset,
        pieces: &mut Vec<PastItem>,
        (cause, run): (Cause, Option<Uuid>),
    ) {
        let offsets = self.at.offset..to;
        pieces.push(PastItem::Gap { epoch: extent.series.epoch, offsets, cause, run });
        self.at.offset = to;
    }
}

/// Whether a batch or an extent with these least and greatest times may have samples of the wanted ones.
fn overlaps((from, until): (u64, Option<u64>), (least, greatest): (u64, u64)) -> bool {
    greatest >= from && until.is_none_or(|until| least < until)
}

/// Reads batches of an extent, each or its error: an unreadable file affects only its own batches.
fn batches(
    store: &Store,
    extent: &Extent,
    entries: &[Entry],
) -> Result<Vec<Result<StoredBatch, Cause>>, ReadError> {
    match store.batches(extent, entries) {
        Ok(batches) => Ok(batches.into_iter().map(|batch| batch.map_err(|unread| unread.cause())).collect()),
        Err(ReadError::Io(error)) => {
            let cause = cause_of(store, extent, error);
            Ok(entries.iter().map(|_| Err(cause)).collect())
        }
        Err(error) => Err(error),
    }
}

/// Returns the cause for an unreadable file.
fn cause_of(store: &Store, extent: &Extent, error: io::Error) -> Cause {
    // Retention may have removed it meanwhile.
    if error.kind() == io::ErrorKind::NotFound {
        return store.cause_of_missing_file(&extent.series, extent.first);
    }
    tracing::warn!(segment = extent.segment, %error, "a segment file cannot be read");
    Unread::from(error).cause()
}
