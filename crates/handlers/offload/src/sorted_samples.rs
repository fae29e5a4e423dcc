//! The samples of one instance in one hour, in the order of their times.

use crate::series_shares::{HourChoice, SeriesShare, UnreadParts, batches};
use oasis_format::Source;
use oasis_store::{History, ReadError, index::Entry};
use oasis_wire::{
    batch::{Batch, Header, Sample},
    loss::Cause,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
    io,
    ops::RangeInclusive,
    sync::Arc,
};

/// Nanoseconds of an hour.
pub const HOUR: u64 = 3_600_000_000_000;
/// Greatest time that a Parquet file can have, in nanoseconds since 1970.
pub const MAX_TIME: u64 = i64::MAX as u64;
/// Most samples that wait for earlier ones. Beyond it the least is next, whatever follows.
const MAX_PENDING_SAMPLES: usize = 150_000;
/// Most encoded bytes of batches with samples that wait for earlier ones.
const MAX_PENDING_BYTES: usize = 8 << 20;
/// Batches read at once.
const READ_CHUNK_BATCHES: usize = 32;
/// Samples of batches that are read at once.
const READ_CHUNK_SAMPLES: u64 = 65_536;

/// Samples of an instance in the order of time.
#[derive(Debug)]
pub struct SortedSamples<'a> {
    history: &'a History,
    choice: &'a HourChoice,
    unread: UnreadParts,
    shares: &'a [SeriesShare],
    sources: Vec<Arc<Source>>,
    /// Batches that are not read yet, by least time: their share, and they.
    entries: VecDeque<(usize, Entry)>,
    /// Batches that are read, with the least time of each.
    read: VecDeque<(u64, OpenBatch)>,
    open: BTreeMap<u32, OpenBatch>,
    opened: u32,
    pending: BinaryHeap<Reverse<PendingSample>>,
    pending_bytes: usize,
    /// Batches that cannot be decoded.
    pub unreadable: Vec<UnreadableBatch>,
    /// Samples whose times no object can have.
    pub beyond_times: u64,
}

/// A batch that cannot be decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadableBatch {
    /// Its series.
    pub source: Arc<Source>,
    /// Its sequence numbers.
    pub numbers: RangeInclusive<u64>,
    /// Why.
    pub cause: Cause,
}

#[derive(Debug)]
struct OpenBatch {
    share: usize,
    batch: Batch,
    bytes: usize,
    left: usize,
}

/// Time and sequence number, number of the open batch, and the place in it.
type PendingSample = (u64, u64, u32, u16);

impl<'a> SortedSamples<'a> {
    /// Creates a reader of the samples of an hour.
    pub fn new(
        history: &'a History,
        shares: &'a [SeriesShare],
        choice: &'a HourChoice,
        unread: UnreadParts,
    ) -> Self {
        let mut entries = Vec::new();
        for (at, share) in shares.iter().enumerate() {
            let wanted = share.entries.iter().filter(|entry| choice.overlaps(entry));
            entries.extend(wanted.map(|entry| (at, *entry)));
        }
        entries.sort_by_key(|(at, entry)| (entry.min_time, *at, entry.position));
        let source = |share: &SeriesShare| {
            let series = &share.extent.series;
            Arc::new(Source {
                node: series.node.clone(),
                instance: series.instance.clone(),
                kind: series.kind,
                run: series.run,
                epoch: series.epoch,
                probe_type: series.probe_type.clone(),
            })
        };
        Self {
            history,
            choice,
            unread,
            shares,
            sources: shares.iter().map(source).collect(),
            entries: entries.into(),
            read: VecDeque::new(),
            open: BTreeMap::new(),
            opened: 0,
            pending: BinaryHeap::new(),
            pending_bytes: 0,
            unreadable: Vec::new(),
            beyond_times: 0,
        }
    }

    /// Returns the next sample and the state of its probe; nothing at the end.
    ///
    /// # Errors
    /// If the file cannot be read now.
    pub fn next(&mut self) -> Result<Option<(Arc<Source>, u16, Sample)>, ReadError> {
        while !self.is_next_known() {
            self.open_batch()?;
        }
        let Some(Reverse((_, _, number, at))) = self.pending.pop() else { return Ok(None) };
        let Some(open) = self.open.get_mut(&number) else { return Ok(None) };
        let sample = open.batch.get(at.into());
        let (source, state) = (self.sources[open.share].clone(), open.batch.header().state);
        open.left -= 1;
        if open.left == 0 {
            self.pending_bytes = self.pending_bytes.saturating_sub(open.bytes);
            self.open.remove(&number);
        }
        Ok(sample.map(|sample| (source, state, sample)))
    }

    /// Whether no batch that follows has an earlier sample, or too many samples wait.
    fn is_next_known(&self) -> bool {
        let of_read = self.read.front().map(|(least, _)| *least);
        let Some(following) = of_read.or_else(|| self.entries.front().map(|(_, entry)| entry.min_time))
        else {
            return true;
        };
        let is_full = self.pending.len() >= MAX_PENDING_SAMPLES || self.pending_bytes >= MAX_PENDING_BYTES;
        self.pending.peek().is_some_and(|Reverse((time, ..))| *time < following || is_full)
    }

    /// Adds the samples of the next batch.
    fn open_batch(&mut self) -> Result<(), ReadError> {
        if self.read.is_empty() {
            self.read_chunk()?;
        }
        let Some((_, mut open)) = self.read.pop_front() else { return Ok(()) };
        let first = open.batch.header().first_sequence;
        self.opened = self.opened.wrapping_add(1);
        for (at, time) in (0_u16..).zip(open.batch.times()) {
            if !self.choice.has(*time) {
                continue;
            }
            if *time > MAX_TIME {
                self.beyond_times += 1;
                continue;
            }
            open.left += 1;
            let sequence = first.saturating_add(at.into());
            self.pending.push(Reverse((*time, sequence, self.opened, at)));
        }
        if open.left > 0 {
            self.pending_bytes += open.bytes;
            self.open.insert(self.opened, open);
        }
        Ok(())
    }

    /// Reads the next batches of one share.
    fn read_chunk(&mut self) -> Result<(), ReadError> {
        let Some((share, _)) = self.entries.front().copied() else { return Ok(()) };
        let mut samples = 0;
        let mut chunk = Vec::new();
        while let Some((of, entry)) = self.entries.front()
            && *of == share
            && chunk.len() < READ_CHUNK_BATCHES
            && (chunk.is_empty() || samples + u64::from(entry.count) <= READ_CHUNK_SAMPLES)
        {
            samples += u64::from(entry.count);
            chunk.push(*entry);
            self.entries.pop_front();
        }
        let extent = &self.shares[share].extent;
        for (entry, stored) in batches(self.history, &self.shares[share], &chunk, self.unread)? {
            let bytes = stored.batch;
            match Batch::parse(&bytes, &extent.series.probe_type) {
                Ok(batch) => {
                    let open = OpenBatch { share, batch, bytes: bytes.len(), left: 0 };
                    self.read.push_back((entry.min_time, open));
                }
                Err(_) => self.note_unreadable(share, &bytes)?,
            }
        }
        Ok(())
    }

    fn note_unreadable(&mut self, share: usize, bytes: &[u8]) -> Result<(), ReadError> {
        let header = Header::parse(bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let numbers = header.first_sequence..=header.last_sequence();
        let source = self.sources[share].clone();
        self.unreadable.push(UnreadableBatch { source, numbers, cause: Cause::Damaged });
        Ok(())
    }
}
