//! The task that feeds all derived streams of one base.

use super::{DerivedStreams, Key, feed::Feed, is_read, writer::DerivedBatch};
use crate::{Instance, Segment, Wake, signal::Signal};
use oasis_wire::{
    batch::{self, Batch},
    quantity::Offset,
};
use std::{
    mem,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};
use tokio::time::Instant;

/// Segments to read from the base at once.
const SEGMENTS_A_TURN: usize = 16;
/// Interval between two checks for readers.
const READER_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Streams that the task of a base takes over, and the signal that wakes it.
#[derive(Debug, Default)]
pub struct NewStreams {
    signal: Arc<Signal>,
    streams: Mutex<Vec<StreamFeed>>,
}

impl NewStreams {
    /// Adds a stream.
    pub fn push(&self, stream: StreamFeed) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        self.wake();
    }

    /// Wakes the task.
    pub fn wake(&self) {
        self.signal.raise();
    }

    /// Returns whether the task has taken all of them.
    pub fn is_empty(&self) -> bool {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> Vec<StreamFeed> {
        mem::take(&mut *self.streams.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One stream of a base.
#[derive(Debug)]
pub struct StreamFeed {
    key: Key,
    stream: Arc<Instance>,
    feed: Feed,
    /// Offset of the next sample of the base.
    next: Offset,
    period: Duration,
    /// When waiting samples are flushed, unless more arrive.
    silent_at: Instant,
    last_read: Instant,
}

impl StreamFeed {
    /// Creates a stream that begins at an offset of the base, with a period in nanoseconds.
    pub fn new(key: Key, stream: Arc<Instance>, feed: Feed, (next, period_ns): (Offset, u64)) -> Self {
        let (now, period) = (Instant::now(), Duration::from_nanos(period_ns));
        Self { key, stream, feed, next, period, silent_at: now + period, last_read: now }
    }

    fn add(&mut self, batch: Option<&Batch>, segment: &Segment) {
        if self.next >= segment.end() {
            return;
        }
        self.next = segment.end();
        self.silent_at = Instant::now() + self.period;
        // A malformed batch has no samples: its samples count as thinned out.
        if let Some(batch) = batch {
            let made = self.feed.batch(batch, segment.gaps_before().map_or(&[][..], |gaps| gaps));
            self.append(made);
        }
    }

    fn flush(&mut self) {
        let made = self.feed.flush();
        self.append(made);
    }

    fn append(&self, made: Vec<DerivedBatch>) {
        for DerivedBatch { batch, count, gaps_before, span, dac_time } in made {
            let gaps_before = (!gaps_before.is_empty()).then(|| gaps_before.into());
            let stamp = |batch: &mut [u8], offset: Offset| batch::stamp(batch, offset.0, dac_time);
            self.stream.log.append_covering((batch, gaps_before), count, span, stamp);
        }
    }
}

/// The task of one base.
pub struct BaseFeed {
    table: Arc<DerivedStreams>,
    base: Arc<Instance>,
    /// Offset of the next sample to read.
    next: Offset,
    waker: Arc<dyn Wake>,
    new_streams: Arc<NewStreams>,
    streams: Vec<StreamFeed>,
}

impl BaseFeed {
    /// Creates a task for these streams.
    pub fn new(table: Arc<DerivedStreams>, base: Arc<Instance>, new_streams: Arc<NewStreams>) -> Self {
        let waker: Arc<dyn Wake> = new_streams.signal.clone();
        // Registered first: no later append goes unnoticed.
        base.log.add_reader(waker.clone());
        let next = base.log.state().first_offset;
        Self { table, base, next, waker, new_streams, streams: Vec::new() }
    }

    /// Feeds the streams until none is left.
    pub async fn run(mut self) {
        let mut reader_check = tokio::time::interval(READER_CHECK_INTERVAL);
        loop {
            self.accept_new();
            while self.has_unread() {
                for segment in self.read() {
                    self.add(&segment);
                    tokio::task::yield_now().await;
                }
                tokio::task::yield_now().await;
                self.accept_new();
            }
            if self.base.is_retired() && !self.has_unread() {
                for stream in &mut self.streams {
                    stream.flush();
                    stream.stream.retire();
                }
            }
            let waiting = self.streams.iter().filter(|stream| stream.feed.is_waiting());
            let silent_at = waiting.map(|stream| stream.silent_at).min();
            tokio::select! {
                () = self.new_streams.signal.raised() => {}
                () = tokio::time::sleep_until(silent_at.unwrap_or_else(Instant::now)), if silent_at.is_some() => {
                    self.flush_silent();
                }
                _ = reader_check.tick() => {
                    if self.remove_unread() {
                        return;
                    }
                }
            }
        }
    }

    /// Takes over new streams, and drops those that the table has evicted.
    fn accept_new(&mut self) {
        self.streams.retain(|stream| Arc::strong_count(&stream.stream) > 1);
        let new = self.new_streams.take();
        if let Some(first) = new.iter().map(|stream| stream.next).min() {
            self.next = first.min(self.next);
            self.streams.extend(new);
        }
    }

    fn has_unread(&self) -> bool {
        self.next < self.base.log.next()
    }

    fn read(&mut self) -> Vec<Arc<Segment>> {
        let read = self.base.log.read(self.next, SEGMENTS_A_TURN);
        if let Some((_, to)) = read.missed {
            self.next = to;
            self.streams.iter_mut().for_each(|stream| stream.next = stream.next.max(to));
        }
        self.next = read.segments.last().map_or(self.next, |last| last.end());
        read.segments
    }

    /// Decodes a batch once, for all streams that have not had it.
    fn add(&mut self, segment: &Segment) {
        let batch = Batch::parse(segment.batch(), &self.base.probe_type).ok();
        self.table.decoded_batches.fetch_add(1, Ordering::Relaxed);
        self.streams.iter_mut().for_each(|stream| stream.add(batch.as_ref(), segment));
    }

    fn flush_silent(&mut self) {
        let now = Instant::now();
        let silent = self.streams.iter_mut().filter(|stream| stream.silent_at <= now);
        silent.filter(|stream| stream.feed.is_waiting()).for_each(StreamFeed::flush);
    }

    /// Removes streams that have had no reader for some time. Returns whether none is left: then the task has to end.
    fn remove_unread(&mut self) -> bool {
        let mut table = self.table.table();
        let linger = self.table.linger;
        self.streams.retain_mut(|feed| {
            if is_read(&feed.stream) {
                feed.last_read = Instant::now();
                return true;
            }
            let stays = feed.last_read.elapsed() < linger;
            // Another stream may have the key if this one was evicted from a full table.
            if !stays && table.streams.get(&feed.key).is_some_and(|there| Arc::ptr_eq(there, &feed.stream)) {
                table.streams.remove(&feed.key);
            }
            stays
        });
        let is_over = self.streams.is_empty() && self.new_streams.is_empty();
        if is_over {
            table.bases.remove(&self.base.topic);
        }
        is_over
    }
}

impl Drop for BaseFeed {
    fn drop(&mut self) {
        self.base.log.remove_reader(&self.waker);
    }
}
