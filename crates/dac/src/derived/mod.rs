//! Derived streams: a topic with fewer samples a second, created once for all readers that ask for the same.
//!
//! A derived stream is an [`Instance`] with its own log, which a [`Cursor`] reads like any other. Its offsets are
//! those of its base: a batch accounts for its own samples and for those thinned out before them. So a position means
//! the same in both and survives the derived stream, and gaps are exact to the sample. `dropped before` in a batch's
//! header counts thinned-out samples and those that the node dropped.
//!
//! One task feeds each stream from the base's log. It ends some time after the last reader has left.

mod envelope;
mod feed;
mod max_hz;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use feed::Thinning;

use crate::{Cursor, Delivery, Instance, LogBudget, Registry, StartAt, TopicLog, signal::Signal};
use feed::Feed;
use oasis_wire::{
    batch,
    quantity::{Nanos, Offset, TopicId},
    schema::InvalidType,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};
use writer::DerivedBatch;

/// Segments to read from the base before other tasks may run.
const SEGMENTS_A_TURN: usize = 16;
/// How often a feed checks for readers.
const LOOK: Duration = Duration::from_millis(500);

/// Why a stream cannot be opened with this delivery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeriveError {
    /// The limit is reached and all streams are in use.
    #[error(
        "limit of derived streams reached: {0} are in use (log.derived_streams): use a delivery that other readers use, or every"
    )]
    TooMany(usize),
    /// An envelope has up to three metrics for each of the base, which is more than a batch allows.
    #[error("type has too many metrics for an envelope: {0}")]
    TooWide(InvalidType),
    /// The DAC was created outside of a tokio runtime, so no task can feed a stream.
    #[error("derived streams require a DAC that runs in a tokio runtime")]
    NoRuntime,
}

impl DeriveError {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooMany(_) => "too_many_derived",
            Self::TooWide(_) => "too_wide",
            Self::NoRuntime => "no_runtime",
        }
    }
}

/// Topic, kind of thinning, and the bits of its rate.
type Key = (TopicId, bool, u64);

/// All derived streams of a DAC.
#[derive(Debug)]
pub struct DerivedStreams {
    most: usize,
    linger: Duration,
    budget: Arc<LogBudget>,
    runtime: Option<Handle>,
    /// Guards the streams. Reader counts are checked under it, so that nobody opens a stream that is being removed.
    streams: Mutex<HashMap<Key, Arc<Instance>>>,
}

impl DerivedStreams {
    pub(crate) fn new(most: usize, linger: Duration, budget: Arc<LogBudget>) -> Arc<Self> {
        let runtime = Handle::try_current().ok();
        Arc::new(Self { most, linger, budget, runtime, streams: Mutex::default() })
    }

    /// Returns the stream of `base`'s samples in this delivery. That is the instance itself for `every` and `latest`,
    /// otherwise the derived one, which is created if needed. A derived stream stays as long as it is referenced, and
    /// `log.derived_linger_ms` longer.
    ///
    /// # Errors
    /// [`DeriveError`] says which limit was reached.
    pub fn open(
        self: &Arc<Self>,
        registry: &Registry,
        base: &Arc<Instance>,
        delivery: Delivery,
    ) -> Result<Arc<Instance>, DeriveError> {
        let thinning = match delivery {
            Delivery::Every | Delivery::Latest => return Ok(base.clone()),
            Delivery::MaxHz(hertz) => Thinning::MaxHz(hertz),
            Delivery::Envelope(hertz) => Thinning::Envelope(hertz),
        };
        let key = key(base, thinning);
        let mut streams = self.streams();
        if let Some(known) = streams.get(&key) {
            return Ok(known.clone());
        }
        if streams.len() >= self.most {
            streams.retain(|_, stream| is_read(stream));
        }
        if streams.len() >= self.most {
            return Err(DeriveError::TooMany(self.most));
        }
        let runtime =
            Handle::try_current().ok().or_else(|| self.runtime.clone()).ok_or(DeriveError::NoRuntime)?;
        let start = base.log.state().first_offset;
        let topic = registry.next_topic().ok_or(DeriveError::TooMany(self.most))?;
        let feed = Feed::new(thinning, &base.probe_type, topic, start).map_err(DeriveError::TooWide)?;
        let log = TopicLog::starting_at(base.log.epoch(), self.budget.clone(), start);
        let stream =
            Arc::new(Instance::derived(base, topic, thinning.probe_type(&base.probe_type), log, delivery));
        streams.insert(key, stream.clone());
        let task = FeedTask { table: self.clone(), key, stream: stream.clone(), feed };
        runtime.spawn(task.run(base.clone(), Duration::from_nanos(thinning.period_ns())));
        Ok(stream)
    }

    /// Returns all derived streams, for the ledger.
    pub fn list(&self) -> Vec<Arc<Instance>> {
        self.streams().values().cloned().collect()
    }

    /// Evicts samples that arrived before this time.
    pub(crate) fn expire(&self, before: Nanos) {
        self.streams().values().for_each(|stream| stream.log.expire(before));
    }

    /// Evicts samples while all topics together exceed their limit.
    pub(crate) fn shrink(&self) {
        self.streams().values().for_each(|stream| stream.log.shrink());
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<Key, Arc<Instance>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(base: &Instance, thinning: Thinning) -> Key {
    match thinning {
        Thinning::MaxHz(hertz) => (base.topic, false, hertz.get().to_bits()),
        Thinning::Envelope(hertz) => (base.topic, true, hertz.get().to_bits()),
    }
}

/// Returns whether it has readers: references besides those of the table and the feed.
fn is_read(stream: &Arc<Instance>) -> bool {
    Arc::strong_count(stream) > 2
}

/// The task that feeds one stream.
struct FeedTask {
    table: Arc<DerivedStreams>,
    key: Key,
    stream: Arc<Instance>,
    feed: Feed,
}

impl FeedTask {
    async fn run(mut self, base: Arc<Instance>, period: Duration) {
        let signal = Arc::<Signal>::default();
        let (mut cursor, _) = Cursor::new(base.clone(), StartAt::Earliest, &signal);
        let mut last_read = Instant::now();
        let mut look = tokio::time::interval(LOOK);
        let mut silent_at = Instant::now() + period;
        loop {
            while cursor.has_unread() {
                for segment in cursor.read(SEGMENTS_A_TURN).segments {
                    let gaps_before = segment.gaps_before().map_or(&[][..], |gaps| gaps);
                    let made = self.feed.batch(segment.batch(), gaps_before);
                    self.append(made);
                }
                silent_at = Instant::now() + period;
                tokio::task::yield_now().await;
            }
            if base.is_retired() && !cursor.has_unread() {
                let made = self.feed.flush();
                self.append(made);
                self.stream.retire();
            }
            tokio::select! {
                () = signal.raised() => {}
                () = tokio::time::sleep_until(silent_at), if self.feed.is_waiting() => {
                    let made = self.feed.flush();
                    self.append(made);
                }
                _ = look.tick() => {
                    if is_read(&self.stream) {
                        last_read = Instant::now();
                    } else if last_read.elapsed() >= self.table.linger && self.remove() {
                        return;
                    }
                }
            }
        }
    }

    fn append(&self, made: Vec<DerivedBatch>) {
        for DerivedBatch { batch, count, gaps_before, span, dac_time } in made {
            let gaps_before = (!gaps_before.is_empty()).then(|| gaps_before.into());
            let stamp = |batch: &mut [u8], offset: Offset| batch::stamp(batch, offset.0, dac_time);
            self.stream.log.append_covering((batch, gaps_before), count, span, stamp);
        }
    }

    /// Removes the stream from the table, unless a reader has just opened it.
    fn remove(&self) -> bool {
        let mut streams = self.table.streams();
        let is_free = !is_read(&self.stream);
        // Another stream may have the key if this one was evicted from a full table.
        if is_free && streams.get(&self.key).is_some_and(|there| Arc::ptr_eq(there, &self.stream)) {
            streams.remove(&self.key);
        }
        is_free
    }
}
