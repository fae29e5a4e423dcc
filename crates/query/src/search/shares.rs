//! The batches of all instances, in the order of their times.

use super::{Order, SearchQuery, Searched};
use bytes::Bytes;
use oasis_history::{Log, LogBatch};
use oasis_store::{
    History, ReadError, Series,
    catalogue::Extent,
    index::Entry,
    words::{Contents, PassingParts, WordIndex},
};
use oasis_wire::{
    batch,
    quantity::{Epoch, Offset},
    schema::ProbeType,
};
use std::{collections::BinaryHeap, ops::Range, sync::Arc};

/// Batches of a share that are read at once.
const READ_CHUNK_BATCHES: usize = 32;
/// Bytes of batches in memory beyond which they are read one by one.
const MAX_CHUNKED_BYTES: usize = 64 * 1024 * 1024;

/// Next batch of a search.
pub enum NextBatch {
    /// A batch, and which of its samples are to be searched.
    Batch(Arc<Series>, Bytes, Range<usize>),
    /// Batches that are damaged or cannot be read.
    Unreadable(u64),
    /// A share was opened.
    Nothing,
}

/// Shares of instances in segment files and topic logs, the next one first.
pub struct Shares<'a> {
    archive: Option<&'a History>,
    order: Order,
    times: Range<u64>,
    /// Ranked by the time of what comes next.
    heap: BinaryHeap<Share>,
    /// Bytes of batches that were read ahead.
    held: usize,
    /// Samples that word indexes ruled out, of the shares that came to their end.
    pub ruled_out: u64,
}

/// Batches of one series in one file, or in a topic log.
struct Share {
    rank: Rank,
    series: Arc<Series>,
    place: ShareState,
}

enum ShareState {
    /// In a file whose index was not read yet, and what batches must contain.
    Unopened(Extent, Contents),
    /// In a file.
    Opened(Opened),
    /// In a topic log: the next one last, each with the offset from which on it is not in the archive.
    Held(Vec<(Times, LogBatch, Offset)>),
}

/// Batches of a file.
struct Opened {
    extent: Extent,
    /// Batches to be read, the next one last.
    entries: Vec<Entry>,
    /// Batches that were read, the next one last.
    read: Vec<ReadBatch>,
    /// Samples that the word index ruled out.
    ruled_out: u64,
}

/// A batch; none if it is damaged or cannot be read.
type ReadBatch = (Entry, Option<Bytes>);

/// Least and greatest time of samples, possibly rounded outwards.
type Times = (u64, u64);

/// The greatest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u64);

impl Rank {
    fn of(order: Order, (least, greatest): Times) -> Self {
        match order {
            Order::Newest => Self(greatest),
            Order::Oldest => Self(!least),
        }
    }

    fn time(self, order: Order) -> u64 {
        match order {
            Order::Newest => self.0,
            Order::Oldest => !self.0,
        }
    }
}

impl<'a> Shares<'a> {
    /// Returns the shares of types to be searched with samples of the wanted time. `contents` returns what batches of a type must contain; none if the type is not searched.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn new(
        archive: Option<&'a History>,
        instances: &[Searched],
        wanted: &SearchQuery,
        mut contents: impl FnMut(&Arc<ProbeType>) -> Option<Contents>,
    ) -> Result<Self, ReadError> {
        let (order, times) = (wanted.order, wanted.times.clone());
        let mut shares = Self { archive, order, times, heap: BinaryHeap::new(), held: 0, ruled_out: 0 };
        for Searched { node, instance, log } in instances {
            let extents = match archive {
                Some(archive) => archive.0.extents(node, instance, 0)?,
                None => Vec::new(),
            };
            if let Some(log) = log.as_ref().filter(|log| contents(log.probe_type()).is_some()) {
                shares.add_log(&**log, stored_until(&extents, log.epoch()));
            }
            for extent in extents {
                if let Some(contents) = contents(&extent.series.probe_type) {
                    shares.add_extent(extent, contents);
                }
            }
        }
        Ok(shares)
    }

    fn add_extent(&mut self, extent: Extent, contents: Contents) {
        let times = (extent.min_time, extent.max_time);
        if self.is_wanted(times) {
            let (rank, series) = (Rank::of(self.order, times), extent.series.clone());
            self.heap.push(Share { rank, series, place: ShareState::Unopened(extent, contents) });
        }
    }

    /// Adds the batches of a topic log that the archive does not have.
    fn add_log(&mut self, log: &dyn Log, stored: Offset) {
        let from = stored.max(log.first());
        let batches = log.read(from, usize::MAX).batches.into_iter();
        let timed = batches.filter_map(|held| Some((batch::time_range(&held.batch).ok()?, held, from)));
        let mut held: Vec<_> = timed.filter(|(times, ..)| self.is_wanted(*times)).collect();
        held.sort_by_key(|(times, ..)| Rank::of(self.order, *times));
        if let Some((times, last, _)) = held.last() {
            let (rank, series) = (Rank::of(self.order, *times), last.series.clone());
            self.heap.push(Share { rank, series, place: ShareState::Held(held) });
        }
    }

    fn is_wanted(&self, (least, greatest): Times) -> bool {
        least < self.times.end && greatest >= self.times.start
    }

    /// The first time, in the order of the search, that what comes next can have.
    pub fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|share| share.rank.time(self.order))
    }

    /// Takes the next batch.
    ///
    /// # Errors
    /// If the catalogue cannot be read. What a file does not give is [`NextBatch::Unreadable`].
    pub fn take(&mut self) -> Result<NextBatch, ReadError> {
        let Some(Share { series, place, .. }) = self.heap.pop() else { return Ok(NextBatch::Nothing) };
        let (taken, place) = match place {
            ShareState::Unopened(extent, contents) => self.open(&extent, &contents)?,
            ShareState::Opened(opened) => self.read(&series, opened)?,
            ShareState::Held(mut held) => {
                (held.pop().map_or(NextBatch::Nothing, unstored), ShareState::Held(held))
            }
        };
        if let Some(times) = place.next_times() {
            // A file has one series, but the runs of a node follow each other in a log.
            let series = match &place {
                ShareState::Held(held) => held.last().map_or(series, |(_, last, _)| last.series.clone()),
                _ => series,
            };
            self.heap.push(Share { rank: Rank::of(self.order, times), series, place });
        } else if let ShareState::Opened(Opened { ruled_out, .. }) = place {
            self.ruled_out += ruled_out;
        }
        Ok(taken)
    }

    /// Reads the indexes of a share.
    fn open(&mut self, extent: &Extent, contents: &Contents) -> Result<(NextBatch, ShareState), ReadError> {
        let nothing = ShareState::Held(Vec::new());
        let Some(archive) = self.archive else { return Ok((NextBatch::Nothing, nothing)) };
        let words = Some(contents).filter(|contents| !contents.is_empty());
        let words = words
            .and_then(|contents| WordIndex::open(&archive.0.directory, extent.segment)?.passing(contents));
        let is_inside = self.times.contains(&extent.min_time) && self.times.contains(&extent.max_time);
        if is_inside && words.as_ref().is_some_and(PassingParts::is_empty) {
            self.ruled_out += extent.end.0.saturating_sub(extent.first.0);
            return Ok((NextBatch::Nothing, nothing));
        }
        let (mut entries, lost) = match archive.0.entries_and_lost(extent) {
            Ok(found) => found,
            Err(ReadError::Io(_)) => return Ok((NextBatch::Unreadable(1), nothing)),
            Err(error) => return Err(error),
        };
        // Batches written since the extents were listed are in the topic log, as it was read.
        entries.retain(|entry| entry.end() <= extent.end && self.is_wanted((entry.min_time, entry.max_time)));
        let mut ruled_out = 0;
        if let Some(words) = words {
            entries.retain(|entry| {
                let may_contain = words.may_contain(entry.position);
                ruled_out += if may_contain { 0 } else { u64::from(entry.count) };
                may_contain
            });
        }
        entries.sort_by_key(|entry| Rank::of(self.order, (entry.min_time, entry.max_time)));
        let opened = Opened { extent: extent.clone(), entries, read: Vec::new(), ruled_out };
        let taken = if lost > 0 { NextBatch::Unreadable(lost) } else { NextBatch::Nothing };
        Ok((taken, ShareState::Opened(opened)))
    }

    /// Takes a batch of an opened share; reads some at once if none was read ahead.
    fn read(
        &mut self,
        series: &Arc<Series>,
        mut opened: Opened,
    ) -> Result<(NextBatch, ShareState), ReadError> {
        if let (true, Some(archive)) = (opened.read.is_empty(), self.archive) {
            let some = if self.held < MAX_CHUNKED_BYTES { READ_CHUNK_BATCHES } else { 1 };
            let ranked = opened.entries.split_off(opened.entries.len().saturating_sub(some));
            opened.read = read_in_order(archive, &opened.extent, &ranked)?;
            let read = opened.read.iter().filter_map(|(_, batch)| batch.as_ref());
            self.held += read.map(Bytes::len).sum::<usize>();
        }
        let taken = match opened.read.pop() {
            Some((entry, Some(batch))) => {
                self.held = self.held.saturating_sub(batch.len());
                NextBatch::Batch(series.clone(), batch, 0..usize::from(entry.count))
            }
            Some((_, None)) => NextBatch::Unreadable(1),
            None => NextBatch::Nothing,
        };
        Ok((taken, ShareState::Opened(opened)))
    }
}

/// Returns the end of the stored samples of an epoch.
fn stored_until(extents: &[Extent], epoch: Epoch) -> Offset {
    let of_epoch = extents.iter().filter(|extent| extent.series.epoch == epoch);
    of_epoch.map(|extent| extent.end).max().unwrap_or(Offset(0))
}

/// Reads batches of a file in the order of their places, which costs one read for neighbors, and returns them as they were listed.
fn read_in_order(archive: &History, extent: &Extent, ranked: &[Entry]) -> Result<Vec<ReadBatch>, ReadError> {
    let mut order: Vec<_> = (0..ranked.len()).collect();
    order.sort_by_key(|&at| ranked[at].position);
    let entries: Vec<_> = order.iter().map(|&at| ranked[at]).collect();
    let batches = match archive.0.batches(extent, &entries) {
        Ok(batches) => batches.into_iter().map(|stored| Some(stored.ok()?.batch)).collect(),
        Err(ReadError::Io(_)) => vec![None; entries.len()],
        Err(error) => return Err(error),
    };
    let mut read: Vec<_> = ranked.iter().map(|entry| (*entry, None)).collect();
    for (at, batch) in order.into_iter().zip(batches) {
        read[at].1 = batch;
    }
    Ok(read)
}

/// The samples of a batch in a topic log that are not stored.
fn unstored((_, held, from): (Times, LogBatch, Offset)) -> NextBatch {
    let LogBatch { series, batch, offsets, .. } = held;
    let index =
        |offset: Offset| usize::try_from(offset.0.saturating_sub(offsets.start.0)).unwrap_or(usize::MAX);
    NextBatch::Batch(series, batch, index(from.max(offsets.start))..index(offsets.end))
}

impl ShareState {
    fn next_times(&self) -> Option<Times> {
        let of_entry = |entry: &Entry| (entry.min_time, entry.max_time);
        match self {
            Self::Unopened(extent, _) => Some((extent.min_time, extent.max_time)),
            Self::Opened(Opened { entries, read, .. }) => {
                read.last().map(|(entry, _)| entry).or(entries.last()).map(of_entry)
            }
            Self::Held(held) => held.last().map(|(times, ..)| *times),
        }
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Share {}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}
