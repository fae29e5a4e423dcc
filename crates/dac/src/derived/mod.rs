//! Derived streams: a topic with fewer samples a second, created once for all readers that ask for the same.
//!
//! A derived stream is an [`Instance`] with its own log, which a [`Cursor`] reads like any other. Its offsets are
//! those of its base: a batch accounts for its own samples and for those thinned out before them. So a position means
//! the same in both and survives the derived stream, and gaps are exact to the sample. `dropped before` in a batch's
//! header counts thinned-out samples and those that the node dropped.
//!
//! One task a base feeds all streams of it: it reads and decodes each batch once. All tasks run on a thread of their
//! own with a lower priority, so they do not delay the threads that receive and send samples. A stream ends some time
//! after its last reader has left.

mod base_feed;
mod envelope;
mod feed;
mod feed_thread;
mod max_hz;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use feed::Thinning;

use crate::{Delivery, Instance, LogBudget, Registry, TopicLog};
use base_feed::{BaseFeed, NewStreams, StreamFeed};
use feed::Feed;
use feed_thread::FeedThread;
use oasis_wire::{
    quantity::{Nanos, TopicId},
    schema::InvalidType,
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

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
    /// The system has no thread for the tasks that feed streams.
    #[error("cannot start the thread that feeds derived streams: {0}")]
    NoThread(String),
}

impl DeriveError {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooMany(_) => "too_many_derived",
            Self::TooWide(_) => "too_wide",
            Self::NoThread(_) => "no_thread",
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
    /// Batches of bases that were decoded.
    decoded_batches: AtomicU64,
    /// Reader counts are checked under its lock: no reader opens a stream that is being removed.
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    streams: HashMap<Key, Arc<Instance>>,
    /// The task of each base that has streams.
    bases: HashMap<TopicId, Arc<NewStreams>>,
    /// Started with the first stream.
    thread: Option<FeedThread>,
}

impl DerivedStreams {
    pub(crate) fn new(most: usize, linger: Duration, budget: Arc<LogBudget>) -> Arc<Self> {
        Arc::new(Self { most, linger, budget, decoded_batches: AtomicU64::new(0), table: Mutex::default() })
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
        let mut table = self.table();
        if let Some(known) = table.streams.get(&key) {
            return Ok(known.clone());
        }
        if table.streams.len() >= self.most {
            table.evict_unread();
        }
        if table.streams.len() >= self.most {
            return Err(DeriveError::TooMany(self.most));
        }
        let start = base.log.state().first_offset;
        let topic = registry.next_topic().ok_or(DeriveError::TooMany(self.most))?;
        let feed = Feed::new(thinning, &base.probe_type, topic, start).map_err(DeriveError::TooWide)?;
        let log = TopicLog::starting_at(base.log.epoch(), self.budget.clone(), start);
        let stream =
            Arc::new(Instance::derived(base, topic, thinning.probe_type(&base.probe_type), log, delivery));
        let new = StreamFeed::new(key, stream.clone(), feed, (start, thinning.period_ns()));
        match table.bases.get(&base.topic) {
            Some(known) => known.push(new),
            None => {
                let handle = table.thread()?;
                let new_streams = Arc::new(NewStreams::default());
                new_streams.push(new);
                handle.spawn(BaseFeed::new(self.clone(), base.clone(), new_streams.clone()).run());
                table.bases.insert(base.topic, new_streams);
            }
        }
        table.streams.insert(key, stream.clone());
        Ok(stream)
    }

    /// Returns all derived streams, for the ledger.
    pub fn list(&self) -> Vec<Arc<Instance>> {
        self.table().streams.values().cloned().collect()
    }

    /// Returns the number of batches that were decoded for derived streams: each batch once, however many streams
    /// read it.
    pub fn decoded_batches(&self) -> u64 {
        self.decoded_batches.load(Ordering::Relaxed)
    }

    /// Evicts samples that arrived before this time.
    pub(crate) fn expire(&self, before: Nanos) {
        self.table().streams.values().for_each(|stream| stream.log.expire(before));
    }

    /// Evicts samples while all topics together exceed their limit.
    pub(crate) fn shrink(&self) {
        self.table().streams.values().for_each(|stream| stream.log.shrink());
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Removes streams without readers, and lets their tasks notice it.
    fn evict_unread(&mut self) {
        self.streams.retain(|_, stream| is_read(stream));
        self.bases.values().for_each(|base| base.wake());
    }

    fn thread(&mut self) -> Result<tokio::runtime::Handle, DeriveError> {
        if self.thread.is_none() {
            let started = FeedThread::start().map_err(|error| DeriveError::NoThread(error.to_string()))?;
            self.thread = Some(started);
        }
        let handle = self.thread.as_ref().map(FeedThread::handle);
        handle.ok_or_else(|| DeriveError::NoThread("it has ended".into()))
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
