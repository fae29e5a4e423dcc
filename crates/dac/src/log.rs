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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EPOCH: Epoch = Epoch(1);

    fn log(per_topic: usize) -> TopicLog {
        TopicLog::new(EPOCH, LogBudget::new(per_topic, usize::MAX))
    }

    fn append(log: &TopicLog, count: u16) {
        log.append(vec![0; 8], count, |batch, offset| batch.copy_from_slice(&offset.0.to_le_bytes()));
    }

    /// What one more segment of [`append`] costs.
    fn segment_cost() -> usize {
        let log = log(usize::MAX);
        append(&log, 1);
        log.state().bytes
    }

    #[test]
    fn the_offset_is_stamped_before_the_bytes_become_immutable() {
        let log = log(usize::MAX);
        append(&log, 5);
        append(&log, 2);
        let read = log.read(Offset(0), 10);
        let stamped: Vec<u64> =
            read.segments.iter().map(|s| u64::from_le_bytes(s.batch()[..].try_into().unwrap())).collect();
        assert_eq!(stamped, [0, 5]);
        assert_eq!(log.next(), Offset(7));
    }

    #[test]
    fn a_reader_off_the_tail_learns_what_it_missed() {
        let log = log(2 * segment_cost());
        (0..5).for_each(|_| append(&log, 10));
        let read = log.read(Offset(7), 10);
        assert_eq!(read.missed, Some((Offset(7), Offset(30))));
        assert_eq!(read.segments.iter().map(|s| s.first().0).collect::<Vec<_>>(), [30, 40]);
        assert_eq!((log.state().evicted, log.state().segments), (30, 2));
    }

    #[test]
    fn a_reader_in_the_middle_of_a_segment_gets_that_segment() {
        let log = log(usize::MAX);
        append(&log, 10);
        append(&log, 10);
        let read = log.read(Offset(13), 10);
        assert_eq!((read.missed, read.segments.len(), read.segments[0].first()), (None, 1, Offset(10)));
    }

    #[test]
    fn what_is_too_old_goes_but_for_the_newest() {
        let log = log(usize::MAX);
        for arrived in [10, 20, 30] {
            // A header of two samples and one column, which is all that is looked at.
            let mut batch = vec![0; 48];
            (batch[0], batch[1], batch[44], batch[46]) = (1, 1, 2, 1);
            log.append(batch, 2, |batch, _| batch[32..40].copy_from_slice(&u64::to_le_bytes(arrived)));
        }
        log.expire(Nanos(20));
        assert_eq!((log.state().first_offset, log.state().evicted), (Offset(2), 2));
        log.expire(Nanos(1_000));
        assert_eq!((log.state().segments, log.state().first_offset), (1, Offset(4)));
    }

    #[test]
    fn the_newest_segment_stays_whatever_it_costs() {
        let log = log(0);
        append(&log, 1);
        append(&log, 1);
        assert_eq!((log.state().segments, log.state().first_offset), (1, Offset(1)));
    }

    #[test]
    fn encodings_are_made_once_and_count_as_memory_until_their_segment_goes() {
        let budget = LogBudget::new(usize::MAX, usize::MAX);
        let log = TopicLog::new(EPOCH, budget.clone());
        append(&log, 1);
        let segment = log.latest().unwrap();
        let made = std::cell::Cell::new(0);
        let make = |_: &[u8]| -> Packets {
            made.set(made.get() + 1);
            [Bytes::from_static(&[7; 136])].into()
        };
        let before = budget.used();
        log.eisa(&segment, make);
        log.eisa(&segment, make);
        assert_eq!((made.get(), budget.used() - before), (1, 136 + size_of::<Bytes>()));
        drop(log);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_segment_that_left_the_log_is_its_readers_own() {
        let log = log(segment_cost());
        append(&log, 1);
        let old = log.latest().unwrap();
        append(&log, 1);
        let before = log.state().bytes;
        log.eisa(&old, |_| [Bytes::from_static(&[7; 136])].into());
        assert_eq!(log.state().bytes, before);
    }

    #[test]
    fn beyond_the_total_each_topic_keeps_to_its_share() {
        let budget = LogBudget::new(usize::MAX, 20 * segment_cost());
        let logs = [TopicLog::new(EPOCH, budget.clone()), TopicLog::new(EPOCH, budget.clone())];
        (0..100).for_each(|_| logs.iter().for_each(|log| append(log, 1)));
        assert!(budget.used() <= 20 * segment_cost());
        assert!(logs.iter().all(|log| log.state().segments >= 9));
    }

    proptest! {
        /// The plain model: a list of all samples ever, of which the log holds a tail.
        #[test]
        fn a_reader_gets_every_sample_once_or_is_told_of_the_gap(
            steps in proptest::collection::vec((1_u16..20, 0_usize..4), 1..80),
            capacity in 1_usize..20,
        ) {
            let log = log(capacity * segment_cost());
            let (mut next, mut accounted) = (Offset(0), 0);
            for (count, reads) in steps {
                append(&log, count);
                for _ in 0..reads {
                    let read = log.read(next, 2);
                    if let Some((from, to)) = read.missed {
                        prop_assert_eq!(from, next);
                        accounted += to.0 - from.0;
                        next = to;
                    }
                    for segment in &read.segments {
                        prop_assert_eq!(segment.first(), next);
                        accounted += u64::from(segment.count());
                        next = segment.end();
                    }
                    prop_assert_eq!(accounted, next.0);
                }
                prop_assert!(log.state().segments <= capacity);
            }
        }
    }
}
