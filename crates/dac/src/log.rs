//! The topic log: a bounded history of immutable segments for each probe instance, shared by any number of readers.
//!
//! One writer (the node's session) appends. A reader needs only a [`Cursor`](crate::Cursor). Memory is bounded for
//! each topic and in total, and does not grow with the number of readers. A reader that lags too far learns exactly
//! which samples it missed.

use crate::{
    encodings::{EncodingId, Encodings},
    moment, newest,
    segment::{Pieces, Segment},
    signal::Wake,
};
use bytes::Bytes;
use oasis_wire::{
    gap::Gap,
    quantity::{Epoch, Nanos, Offset},
    schema::ProbeType,
};
use std::{
    collections::VecDeque,
    ops::Range,
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use uuid::Uuid;

mod portable;

/// A native batch, and the gaps before its first sample.
pub(crate) type Appended = (Vec<u8>, Option<Arc<[Gap]>>);

/// Beginnings of runs that a log remembers.
const MOST_RUNS: usize = 64;

/// No offset beyond this one is skipped to, whatever an upstream reports: appended samples must still have numbers.
const LAST_SKIPPED: u64 = u64::MAX / 2;

/// Share of a topic's memory limit that [`Encodings`] may use in addition to the segments, as a divisor.
const ENCODING_SHARE: usize = 8;

/// Memory budget that all topic logs of a DAC share.
#[derive(Debug)]
pub struct LogBudget {
    /// Limit for one topic, in bytes.
    per_topic: usize,
    /// Limit for all topics together, in bytes; above it each topic shrinks to an equal share.
    total: usize,
    used: AtomicUsize,
    topics: AtomicUsize,
}

impl LogBudget {
    /// Creates a budget with these limits in bytes.
    pub fn new(per_topic: usize, total: usize) -> Arc<Self> {
        Arc::new(Self { per_topic, total, used: AtomicUsize::new(0), topics: AtomicUsize::new(0) })
    }

    /// Returns the bytes that all topic logs use together.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the current limit of one topic, in bytes.
    ///
    /// While the total is exceeded, each topic evicts down to an equal share, those that are being written at once and
    /// the others soon ([`TopicLog::shrink`]).
    fn allowance(&self) -> usize {
        if !self.is_exceeded() {
            return self.per_topic;
        }
        (self.total / self.topics.load(Ordering::Relaxed).max(1)).min(self.per_topic)
    }

    /// Returns whether all topics together use more than their limit.
    pub fn is_exceeded(&self) -> bool {
        self.used() > self.total
    }
}

/// The log of one instance.
#[derive(Debug)]
pub struct TopicLog {
    epoch: Epoch,
    budget: Arc<LogBudget>,
    start: Offset,
    /// Guards the segments and their account. Locked for a push or for cloning a few `Arc`s, never while encoding or
    /// during I/O.
    inner: Mutex<Inner>,
    /// A copy of `inner.next` that needs no lock: idle readers look only at this.
    next: AtomicU64,
    /// Encodings of the newest segments, not part of `inner.bytes`.
    encodings: Encodings,
    /// Locked only after `inner` is released.
    readers: Mutex<Vec<Arc<dyn Wake>>>,
}

#[derive(Debug, Default)]
struct Inner {
    segments: VecDeque<Arc<Segment>>,
    bytes: usize,
    next: u64,
    evicted: u64,
    /// Another log has taken its place.
    is_closed: bool,
    pause: Pause,
    /// The node's runs with the offsets of their first samples, oldest first; appended samples belong to the last one.
    runs: VecDeque<(Offset, Uuid)>,
}

/// Whether samples came to the upstream of a relay while there was no reader here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Pause {
    /// All samples are appended.
    #[default]
    None,
    /// Perhaps: nothing is appended, because there is no reader.
    Begun,
    /// Yes: they have one offset, which readers that resume miss.
    Skipped,
}

impl Inner {
    fn run(&self) -> Uuid {
        self.runs.back().map_or(Uuid::nil(), |(_, run)| *run)
    }
}

/// State of a log, for the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LogState {
    /// Offset of the oldest sample (equals `next_offset` when empty).
    pub first_offset: Offset,
    /// Offset of the next sample.
    pub next_offset: Offset,
    /// Bytes of memory in use, including encodings.
    pub bytes: usize,
    /// Number of segments.
    pub segments: usize,
    /// Number of samples that retention has evicted.
    pub evicted: u64,
}

/// Result of a read.
#[derive(Debug)]
pub struct Read {
    /// Offsets that the reader wanted and the log has evicted, or skipped: from, to (exclusive).
    pub missed: Option<(Offset, Offset)>,
    /// Segments in order; the first may begin before the requested offset.
    pub segments: Vec<Arc<Segment>>,
}

impl TopicLog {
    /// Creates an empty log.
    pub fn new(epoch: Epoch, budget: Arc<LogBudget>) -> Self {
        Self::starting_at(epoch, budget, Offset(0))
    }

    /// Creates an empty log whose offsets continue those of another log.
    pub fn starting_at(epoch: Epoch, budget: Arc<LogBudget>, Offset(next): Offset) -> Self {
        budget.topics.fetch_add(1, Ordering::Relaxed);
        let encodings = Encodings::new(budget.per_topic / ENCODING_SHARE);
        let inner = Mutex::new(Inner { next, ..Inner::default() });
        let start = Offset(next);
        Self { epoch, budget, start, inner, next: AtomicU64::new(next), encodings, readers: Mutex::default() }
    }

    /// Returns the epoch of this log.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the offset of the first sample ever appended, or to be appended.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// Returns the offset of the next sample.
    pub fn next(&self) -> Offset {
        Offset(self.next.load(Ordering::Acquire))
    }

    /// Appends a batch of `count` samples and wakes the readers. `stamp` receives the offset before the bytes become
    /// immutable. Only the instance's session calls this: a topic has one writer.
    pub fn append(&self, batch: Vec<u8>, count: u16, stamp: impl FnOnce(&mut [u8], Offset)) {
        self.append_covering((batch, None), count, count.into(), stamp);
    }

    /// Appends like [`TopicLog::append_without_wake`], unless the log is closed. Returns false then: it has no reader.
    pub(crate) fn append_if_open(
        &self,
        (batch, gaps_before): Appended,
        count: u16,
        stamp: impl FnOnce(&mut [u8], Offset),
    ) -> bool {
        let mut inner = self.lock();
        if inner.is_closed {
            return false;
        }
        self.push_to(&mut inner, (batch, gaps_before), count, count.into(), stamp);
        true
    }

    /// Ends what [`TopicLog::append_if_open`] appends.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Appends like [`TopicLog::append`], with the gaps before the batch, but does not wake the readers. A caller with several batches calls
    /// [`TopicLog::wake_readers`] after the last one, so that a reader takes all of them at once.
    pub(crate) fn append_without_wake(
        &self,
        batch: Appended,
        count: u16,
        stamp: impl FnOnce(&mut [u8], Offset),
    ) {
        self.push(batch, count, count.into(), stamp);
    }

    /// Appends a batch of `count` samples that accounts for `span` offsets: its own samples and those thinned out
    /// before them.
    pub(crate) fn append_covering(
        &self,
        batch: Appended,
        count: u16,
        span: u64,
        stamp: impl FnOnce(&mut [u8], Offset),
    ) {
        self.push(batch, count, span, stamp);
        self.wake_readers();
    }

    fn push(&self, batch: Appended, count: u16, span: u64, stamp: impl FnOnce(&mut [u8], Offset)) {
        self.push_to(&mut self.lock(), batch, count, span, stamp);
    }

    fn push_to(
        &self,
        inner: &mut Inner,
        (mut batch, gaps_before): Appended,
        count: u16,
        span: u64,
        stamp: impl FnOnce(&mut [u8], Offset),
    ) {
        let (first, end) = (Offset(inner.next), Offset(inner.next + span));
        stamp(&mut batch, Offset(end.0 - u64::from(count)));
        let segment = Segment::covering(Bytes::from(batch), first, end, count).of_run(inner.run());
        let segment = Arc::new(segment.after_gaps(gaps_before).arrived_at(moment::steady()));
        (inner.next, inner.pause) = (end.0, Pause::None);
        self.account(inner, &segment);
        inner.segments.push_back(segment);
        self.evict(inner);
        self.next.store(inner.next, Ordering::Release);
    }

    /// Sets the node's run for the samples appended from now on.
    pub(crate) fn begin_run(&self, run: Uuid) {
        let mut inner = self.lock();
        let start = Offset(inner.next);
        if let Some((_, last)) = inner.runs.back_mut()
            && last.is_nil()
        {
            // A relay received its samples before it knew the run.
            *last = run;
            return;
        }
        if inner.runs.back().is_some_and(|(last, _)| *last == start) {
            inner.runs.pop_back();
        }
        if inner.runs.is_empty() || inner.run() != run {
            inner.runs.push_back((start, run));
        }
        if inner.runs.len() > MOST_RUNS {
            inner.runs.pop_front();
        }
    }

    /// Splits offsets by the runs of the node that their samples belong to, also of evicted samples. The log remembers where the last 64 runs
    /// begin; older offsets are those of the oldest one.
    pub fn by_run(&self, offsets: Range<Offset>) -> Vec<(Uuid, Range<Offset>)> {
        let inner = self.lock();
        if inner.runs.is_empty() {
            return vec![(Uuid::nil(), offsets)];
        }
        let mut end = offsets.end;
        let mut parts = Vec::new();
        for (index, (first, run)) in inner.runs.iter().enumerate().rev() {
            let start = if index == 0 { offsets.start } else { offsets.start.max(*first) };
            if start < end {
                parts.push((*run, start..end));
                end = start;
            }
        }
        parts.reverse();
        parts
    }

    /// Gives the next `count` offsets to samples that this log will never have: readers receive what comes before, and
    /// then learn exactly how much they miss.
    pub(crate) fn skip(&self, count: u64) {
        self.skip_in(self.lock(), count);
    }

    fn skip_in(&self, mut inner: MutexGuard<'_, Inner>, count: u64) {
        let next = inner.next.saturating_add(count).min(LAST_SKIPPED).max(inner.next);
        inner.evicted += next - inner.next;
        inner.next = next;
        self.next.store(inner.next, Ordering::Release);
        drop(inner);
        self.wake_readers();
    }

    /// Notes that nothing is appended for a while: samples of that time are left out.
    pub(crate) fn pause(&self) {
        let mut inner = self.lock();
        if inner.pause == Pause::None {
            inner.pause = Pause::Begun;
        }
    }

    /// Returns whether nothing has been appended since [`TopicLog::pause`].
    pub(crate) fn is_paused(&self) -> bool {
        self.lock().pause != Pause::None
    }

    /// Gives an offset to the samples of a pause, once: readers that resume learn that they miss some, and sequence numbers show how many.
    pub(crate) fn skip_pause(&self) {
        let mut inner = self.lock();
        if inner.pause != Pause::Skipped {
            inner.pause = Pause::Skipped;
            self.skip_in(inner, 1);
        }
    }

    /// Wakes every reader.
    pub(crate) fn wake_readers(&self) {
        for reader in self.readers().iter() {
            reader.raise();
        }
    }

    /// Returns at most `max` segments with samples at or after `from`. They end where offsets were skipped: the next read
    /// reports those as missed.
    pub fn read(&self, from: Offset, max: usize) -> Read {
        let inner = self.lock();
        let start = inner.segments.partition_point(|segment| segment.end() <= from);
        let first = inner.segments.get(start).map_or(Offset(inner.next), |segment| segment.first());
        let missed = (from < first).then_some((from, first));
        let mut end = first;
        let follows = |segment: &&Arc<Segment>| segment.first() == std::mem::replace(&mut end, segment.end());
        let segments = inner.segments.range(start..).take(max).take_while(follows);
        Read { missed, segments: segments.cloned().collect() }
    }

    /// Returns the newest segment.
    pub fn latest(&self) -> Option<Arc<Segment>> {
        self.lock().segments.back().cloned()
    }

    /// Returns a segment's samples in another encoding, which is made once, kept with the segment and accounted for. There
    /// is one such slot: all callers must mean the same encoding.
    pub fn pieces(&self, segment: &Segment, make: impl FnOnce(&[u8]) -> Pieces) -> Pieces {
        let pieces = segment.pieces(make);
        self.account_again(segment);
        pieces
    }

    /// Returns only the newest sample, which is encoded once and accounted for.
    pub fn newest(&self, probe_type: &ProbeType) -> Option<Arc<Segment>> {
        let segment = self.latest()?;
        if segment.count() == 1 {
            return Some(segment);
        }
        let newest = segment.newest(|segment| newest::of(segment, probe_type));
        self.account_again(&segment);
        Some(newest)
    }

    /// Returns a segment's samples in an encoding of the caller, which is made once while the segment is among the
    /// newest, and accounted for.
    pub fn encoding(&self, segment: &Segment, id: EncodingId, make: impl FnOnce(&[u8]) -> Bytes) -> Bytes {
        let (encoded, grown) = self.encodings.get(segment.first(), id, || make(segment.batch()));
        // A negative change wraps correctly when encodings were evicted.
        self.budget.used.fetch_add(grown as usize, Ordering::Relaxed);
        encoded
    }

    fn account_again(&self, segment: &Segment) {
        let mut inner = self.lock();
        // A segment that has left the log meanwhile belongs to its readers alone.
        if inner.segments.front().is_some_and(|oldest| oldest.first() <= segment.first()) {
            self.account(&mut inner, segment);
            self.evict(&mut inner);
        }
    }

    /// Evicts samples that arrived before this time of the steady clock, except the newest segment.
    pub fn expire(&self, before: Nanos) {
        let mut inner = self.lock();
        while inner.segments.len() > 1
            && inner.segments.front().is_some_and(|oldest| oldest.arrived_steady() < before)
        {
            self.drop_oldest(&mut inner);
        }
    }

    /// Returns whether a reader that is at `next` has more than `segments` segments to read.
    pub fn has_more_than(&self, segments: usize, next: Offset) -> bool {
        let inner = self.lock();
        let last = inner.segments.len().checked_sub(segments + 1).and_then(|index| inner.segments.get(index));
        last.is_some_and(|segment| segment.end() > next)
    }

    /// Returns the state of the log.
    pub fn state(&self) -> LogState {
        let inner = self.lock();
        LogState {
            first_offset: inner.segments.front().map_or(Offset(inner.next), |segment| segment.first()),
            next_offset: Offset(inner.next),
            bytes: inner.bytes + self.encodings.bytes(),
            segments: inner.segments.len(),
            evicted: inner.evicted,
        }
    }

    /// Registers `reader`, which is woken after each append.
    pub fn add_reader(&self, reader: Arc<dyn Wake>) {
        self.readers().push(reader);
    }

    /// Returns how many readers an append wakes.
    #[cfg(test)]
    pub(crate) fn reader_count(&self) -> usize {
        self.readers().len()
    }

    /// Removes `reader`.
    pub fn remove_reader(&self, reader: &Arc<dyn Wake>) {
        let mut readers = self.readers();
        // Compare the object only: the pointers may have different vtables.
        if let Some(index) =
            readers.iter().position(|known| ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(reader)))
        {
            readers.swap_remove(index);
        }
    }

    /// Evicts down to an equal share if all topics together use more than their limit.
    pub(crate) fn shrink(&self) {
        self.evict(&mut self.lock());
    }

    /// Keeps the newest segment, so that there is a latest sample, unless all topics together exceed their limit and this
    /// segment its topic's share: otherwise many topics of one large segment each would have no bound.
    fn evict(&self, inner: &mut Inner) {
        while inner.bytes > self.budget.allowance() && (inner.segments.len() > 1 || self.budget.is_exceeded())
        {
            self.drop_oldest(inner);
        }
    }

    fn drop_oldest(&self, inner: &mut Inner) {
        let Some(oldest) = inner.segments.pop_front() else { return };
        let freed = oldest.accounted();
        inner.bytes -= freed;
        inner.evicted += oldest.end().0 - oldest.first().0;
        self.budget.used.fetch_sub(freed, Ordering::Relaxed);
    }

    fn account(&self, inner: &mut Inner, segment: &Segment) {
        let grown = segment.account();
        inner.bytes += grown;
        self.budget.used.fetch_add(grown, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Arc<dyn Wake>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TopicLog {
    fn drop(&mut self) {
        self.budget.topics.fetch_sub(1, Ordering::Relaxed);
        self.budget.used.fetch_sub(self.lock().bytes + self.encodings.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
