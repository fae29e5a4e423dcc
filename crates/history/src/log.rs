//! A topic log, as a reader needs it.

use crate::piece::end_before;
use bytes::Bytes;
use oasis_store::{History, Series};
use oasis_wire::{
    batch,
    gap::Gap,
    quantity::{Epoch, Offset, TopicId},
    schema::ProbeType,
};
use std::{ops::Range, sync::Arc};

/// The topic log of an instance: its newest samples, in memory.
pub trait Log: Send + Sync {
    /// Returns the topic, by which the archive keeps its account of the instance.
    fn topic(&self) -> TopicId;

    /// Returns the type of all samples in the log.
    fn probe_type(&self) -> &Arc<ProbeType>;

    /// Returns the epoch in which the offsets of the log count.
    fn epoch(&self) -> Epoch;

    /// Returns the offset of the first sample ever appended, or to be appended.
    fn start(&self) -> Offset;

    /// Returns the offset of the oldest sample in the log; that of the next sample if the log is empty.
    fn first(&self) -> Offset;

    /// Returns the offset of the next sample.
    fn next(&self) -> Offset;

    /// Returns at most `most` batches with samples at or after `from`.
    fn read(&self, from: Offset, most: usize) -> LogRead;
}

/// Result of a read from a topic log.
#[derive(Debug, Default)]
pub struct LogRead {
    /// Offsets from the requested one on that the log has evicted.
    pub evicted: Option<Range<Offset>>,
    /// Batches in order; the first may begin before the requested offset.
    pub batches: Vec<LogBatch>,
}

/// A batch in a topic log.
#[derive(Debug, Clone)]
pub struct LogBatch {
    /// The series of its samples.
    pub series: Arc<Series>,
    /// The native batch.
    pub batch: Bytes,
    /// Offset of its first sample, and after its last one.
    pub offsets: Range<Offset>,
    /// The gaps before its first sample.
    pub gaps_before: Option<Arc<[Gap]>>,
}

/// Returns whether the log has evicted samples that may not be stored yet.
pub(crate) fn is_ahead_of(log: &dyn Log, archive: &History) -> bool {
    let stored = archive.0.account(log.topic()).map(|account| account.stored_offset);
    log.first() > stored.unwrap_or(log.start())
}

/// Returns the offset of the first sample in the log that is not older than `time`, or of the next sample.
pub(crate) fn first_since(log: &dyn Log, time: u64) -> Offset {
    let batches = log.read(log.first(), usize::MAX).batches;
    for held in &batches {
        let is_recent = batch::time_range(&held.batch).is_ok_and(|(_, greatest)| greatest >= time);
        let times = if is_recent { batch::times(&held.batch).unwrap_or_default() } else { Vec::new() };
        if let Some(index) = times.iter().position(|&sample| sample >= time) {
            return Offset(held.offsets.start.0 + index as u64);
        }
    }
    batches.last().map_or(log.next(), |last| last.offsets.end)
}

/// Returns whether the log has samples of these times from `from` on.
pub(crate) fn has_some(log: &dyn Log, from: Offset, times: &Range<u64>) -> bool {
    log.read(from, usize::MAX).batches.iter().any(|held| overlaps(held, times))
}

/// The end of the wanted times in a log. Its search decodes the times of all batches, and runs again only if the log has grown.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    /// The end of the log at the last search.
    searched_to: Offset,
    end: Option<Offset>,
}

impl LogEnd {
    /// Returns the offset after the last sample of these times from `from` on, once a later sample is not older than their end.
    pub fn find(&mut self, log: &dyn Log, from: Offset, times: Range<u64>) -> Option<Offset> {
        let next = log.next();
        if self.end.is_none() && next > self.searched_to {
            self.searched_to = next;
            self.end = time_end(log, from, times);
        }
        self.end
    }
}

/// Returns the offset after the last sample of these times in the log from `from` on, if one after it is not older than their end. Then later ones are late.
fn time_end(log: &dyn Log, from: Offset, times: Range<u64>) -> Option<Offset> {
    let batches = log.read(from, usize::MAX).batches;
    let last = batches.iter().rposition(|held| overlaps(held, &times));
    let is_passed =
        |held: &LogBatch| batch::time_range(&held.batch).is_ok_and(|(_, greatest)| greatest >= times.end);
    let Some(last) = last else { return batches.iter().any(is_passed).then_some(from) };
    let (later, last) = (&batches[last + 1..], &batches[last]);
    let first = last.offsets.start;
    if later.iter().any(is_passed) {
        let wanted = batch::times(&last.batch).ok()?.iter().rposition(|time| *time < times.end)?;
        return Some(Offset(first.0 + wanted as u64 + 1));
    }
    end_before(&last.batch, first, from, times.end, [])
}

fn overlaps(held: &LogBatch, times: &Range<u64>) -> bool {
    batch::time_range(&held.batch).is_ok_and(|(least, greatest)| greatest >= times.start && least < times.end)
}
