//! The topic log: per probe instance a bounded run of immutable segments that any number of readers share.
//!
//! One writer (the node's session) appends; readers hold nothing but a [`Cursor`](crate::Cursor). Memory is bounded per topic
//! and in total and does not grow with readers. A reader that comes too late learns exactly what it missed.

use crate::{
    newest,
    segment::{Packets, Segment},
    signal::Wake,
    texts::{Form, Texts},
};
use bytes::Bytes;
use oasis_wire::{
    quantity::{Epoch, Nanos, Offset},
    schema::ProbeType,
};
use std::{
    collections::VecDeque,
    ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use uuid::Uuid;

/// Part of a topic's memory that textual forms may take, as a divisor, besides what the segments take.
const TEXT_SHARE: usize = 8;

/// Memory that all topic logs of a DAC share.
#[derive(Debug)]
pub struct LogBudget {
    /// Most that one topic may hold.
    per_topic: usize,
    /// Most that all together should hold; beyond it each topic keeps to its equal share.
    total: usize,
    used: AtomicUsize,
    topics: AtomicUsize,
}

impl LogBudget {
    /// Bounds in bytes.
    pub fn new(per_topic: usize, total: usize) -> Arc<Self> {
        Arc::new(Self { per_topic, total, used: AtomicUsize::new(0), topics: AtomicUsize::new(0) })
    }

    /// Bytes held by all topic logs together.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// What a topic that holds `own` bytes may hold just now.
    ///
    /// While the total is exceeded each topic evicts down to an equal share, so the sum stays below `total` for topics
    /// that are written to, and below twice that if silent ones hold on to what they had.
    fn allowance(&self) -> usize {
        if self.used() <= self.total {
            return self.per_topic;
        }
        (self.total / self.topics.load(Ordering::Relaxed).max(1)).min(self.per_topic)
    }
}

/// One instance's log.
#[derive(Debug)]
pub struct TopicLog {
    epoch: Epoch,
    budget: Arc<LogBudget>,
    start: Offset,
    /// Guards the segments and their account. Held for a push or for cloning a few `Arc`s, never while encoding or doing I/O.
    held: Mutex<Held>,
    /// `held.next`, readable without the lock: idle readers look only at this.
    next: AtomicU64,
    /// Textual forms of the newest segments, outside of `held.bytes`.
    texts: Texts,
    /// Taken after `held` is released.
    readers: Mutex<Vec<Arc<dyn Wake>>>,
}

#[derive(Debug, Default)]
struct Held {
    segments: VecDeque<Arc<Segment>>,
    bytes: usize,
    next: u64,
    evicted: u64,
    /// The node's run that what is appended belongs to.
    run: Uuid,
}

/// What a log holds, for the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LogState {
    /// Offset of the oldest sample held (equals `next_offset` when empty).
    pub first_offset: Offset,
    /// Offset that the next sample will get.
    pub next_offset: Offset,
    /// Memory held, encodings included.
    pub bytes: usize,
    /// Segments held.
    pub segments: usize,
    /// Samples that retention has removed.
    pub evicted: u64,
}

/// What a reader gets.
#[derive(Debug)]
pub struct Read {
    /// Offsets that the reader wanted and the log no longer holds: from, to (exclusive).
    pub missed: Option<(Offset, Offset)>,
    /// Segments in order; the first may begin before the offset asked for.
    pub segments: Vec<Arc<Segment>>,
}

impl TopicLog {
    /// An empty log.
    pub fn new(epoch: Epoch, budget: Arc<LogBudget>) -> Self {
        Self::starting_at(epoch, budget, Offset(0))
    }

    /// An empty log that goes on where another one's offsets ended.
    pub fn starting_at(epoch: Epoch, budget: Arc<LogBudget>, Offset(next): Offset) -> Self {
        budget.topics.fetch_add(1, Ordering::Relaxed);
        let texts = Texts::new(budget.per_topic / TEXT_SHARE);
        let held = Mutex::new(Held { next, ..Held::default() });
        let start = Offset(next);
        Self { epoch, budget, start, held, next: AtomicU64::new(next), texts, readers: Mutex::default() }
    }

    /// The life of this log.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Offset of the first sample that it ever got, or will get.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// Offset that the next sample will get.
    pub fn next(&self) -> Offset {
        Offset(self.next.load(Ordering::Acquire))
    }

    /// Appends a batch of `count` samples and wakes the readers. `stamp` gets the offset before the bytes become immutable.
    /// Only the instance's session calls this: a topic has one writer.
    pub fn append(&self, batch: Vec<u8>, count: u16, stamp: impl FnOnce(&mut [u8], Offset)) {
        self.append_covering(batch, count, count.into(), stamp);
    }

    /// As [`TopicLog::append`], but the readers are not told: who has several batches at once calls [`TopicLog::raise_readers`] behind
    /// the last one, so that a reader takes all of them in one go.
    pub(crate) fn append_untold(&self, batch: Vec<u8>, count: u16, stamp: impl FnOnce(&mut [u8], Offset)) {
        self.push(batch, count, count.into(), stamp);
    }

    /// Appends a batch of `count` samples that stands for `span` offsets: its own, and those of samples thinned away before them.
    pub(crate) fn append_covering(
        &self,
        batch: Vec<u8>,
        count: u16,
        span: u64,
        stamp: impl FnOnce(&mut [u8], Offset),
    ) {
        self.push(batch, count, span, stamp);
        self.raise_readers();
    }

    fn push(&self, mut batch: Vec<u8>, count: u16, span: u64, stamp: impl FnOnce(&mut [u8], Offset)) {
        let mut held = self.held();
        let (first, end) = (Offset(held.next), Offset(held.next + span));
        stamp(&mut batch, Offset(end.0 - u64::from(count)));
        let segment = Segment::covering(Bytes::from(batch), first, end, count).of_run(held.run);
        let segment = Arc::new(segment);
        held.next = end.0;
        self.account(&mut held, &segment);
        held.segments.push_back(segment);
        self.evict(&mut held);
        self.next.store(held.next, Ordering::Release);
    }

    /// What is appended from here on belongs to this run of the node.
    pub(crate) fn begin_run(&self, run: Uuid) {
        self.held().run = run;
    }

    /// Has every reader look again.
    pub(crate) fn raise_readers(&self) {
        for reader in self.readers().iter() {
            reader.raise();
        }
    }

    /// At most `max` segments that a reader at `from` has not seen.
    pub fn read(&self, from: Offset, max: usize) -> Read {
        let held = self.held();
        let first = held.segments.front().map_or(Offset(held.next), |segment| segment.first());
        let missed = (from < first).then_some((from, first));
        let start = held.segments.partition_point(|segment| segment.end() <= from);
        Read { missed, segments: held.segments.range(start..).take(max).cloned().collect() }
    }

    /// The newest segment.
    pub fn latest(&self) -> Option<Arc<Segment>> {
        self.held().segments.back().cloned()
    }

    /// A segment's samples as EISA packets, made once and accounted for.
    pub fn eisa(&self, segment: &Segment, make: impl FnOnce(&[u8]) -> Packets) -> Packets {
        let packets = segment.eisa(make);
        self.account_again(segment);
        packets
    }

    /// The newest sample alone, encoded once and accounted for.
    pub fn newest(&self, probe_type: &ProbeType) -> Option<Arc<Segment>> {
        let segment = self.latest()?;
        if segment.count() == 1 {
            return Some(segment);
        }
        let newest = segment.newest(|segment| newest::of(segment, probe_type));
        self.account_again(&segment);
        Some(newest)
    }

    /// A segment's samples in a textual form, made once as long as it is among the newest.
    pub fn text(&self, segment: &Segment, form: Form, make: impl FnOnce(&[u8]) -> Bytes) -> Bytes {
        let (text, grown) = self.texts.get(segment.first(), form, || make(segment.batch()));
        // Wraps the right way when texts were dropped.
        self.budget.used.fetch_add(grown as usize, Ordering::Relaxed);
        text
    }

    fn account_again(&self, segment: &Segment) {
        let mut held = self.held();
        // One that has left the log meanwhile is its readers' own.
        if held.segments.front().is_some_and(|oldest| oldest.first() <= segment.first()) {
            self.account(&mut held, segment);
            self.evict(&mut held);
        }
    }

    /// Lets go of what arrived before this time, but for the newest segment.
    pub fn expire(&self, before: Nanos) {
        let mut held = self.held();
        while held.segments.len() > 1 && held.segments.front().is_some_and(|oldest| oldest.arrived() < before)
        {
            self.drop_oldest(&mut held);
        }
    }

    /// What is held.
    pub fn state(&self) -> LogState {
        let held = self.held();
        LogState {
            first_offset: held.segments.front().map_or(Offset(held.next), |segment| segment.first()),
            next_offset: Offset(held.next),
            bytes: held.bytes + self.texts.bytes(),
            segments: held.segments.len(),
            evicted: held.evicted,
        }
    }

    /// Has `reader` told of each append from now on.
    pub fn wake(&self, reader: Arc<dyn Wake>) {
        self.readers().push(reader);
    }

    /// Takes `reader` off again.
    pub fn forget(&self, reader: &Arc<dyn Wake>) {
        let mut readers = self.readers();
        // The same object is meant, whichever table of methods came with the pointer.
        if let Some(index) =
            readers.iter().position(|known| ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(reader)))
        {
            readers.swap_remove(index);
        }
    }

    /// Keeps the newest segment whatever it costs, so that there is always a latest sample.
    fn evict(&self, held: &mut Held) {
        while held.segments.len() > 1 && held.bytes > self.budget.allowance() {
            self.drop_oldest(held);
        }
    }

    fn drop_oldest(&self, held: &mut Held) {
        let Some(oldest) = held.segments.pop_front() else { return };
        let freed = oldest.accounted();
        held.bytes -= freed;
        held.evicted += oldest.end().0 - oldest.first().0;
        self.budget.used.fetch_sub(freed, Ordering::Relaxed);
    }

    fn account(&self, held: &mut Held, segment: &Segment) {
        let grown = segment.account();
        held.bytes += grown;
        self.budget.used.fetch_add(grown, Ordering::Relaxed);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Arc<dyn Wake>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TopicLog {
    fn drop(&mut self) {
        self.budget.topics.fetch_sub(1, Ordering::Relaxed);
        self.budget.used.fetch_sub(self.held().bytes + self.texts.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
