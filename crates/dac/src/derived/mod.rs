//! Derived streams: a topic thinned to so many samples a second, made once for all who ask for the same.
//!
//! A derived stream is an [`Instance`] with a log of its own, which a [`Cursor`] reads like any other. Its offsets are those of its
//! base: a batch in it covers the samples it holds and those thinned away before them. So a position means the same in both, survives
//! the derived stream's end, and what is missing is known to the sample. `dropped before` in a batch's header counts them with those the
//! node dropped.
//!
//! One task feeds each stream from the base's log and ends some time after the last reader has left.

mod envelope;
mod feed;
mod max_hz;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use feed::Thinned;

use crate::{Cursor, Delivery, From, Instance, LogBudget, Registry, TopicLog, signal::Signal};
use feed::Feed;
use oasis_wire::{
    batch,
    quantity::{Nanos, TopicId},
    schema::InvalidType,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};
use writer::Made;

/// Segments taken from the base before other tasks get their turn.
const SEGMENTS_A_TURN: usize = 16;
/// How often a feed looks whether anybody still reads.
const LOOK: Duration = Duration::from_millis(500);

/// Why a stream cannot be had in this delivery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeriveError {
    /// The bound is reached and all are in use.
    #[error(
        "{0} derived streams are in use, the limit (log.derived_streams): use a delivery that others use, or every"
    )]
    TooMany(usize),
    /// An envelope has up to three metrics for each; this is more than a batch can hold.
    #[error("the type is too wide for an envelope: {0}")]
    TooWide(InvalidType),
    /// The DAC was made outside of a tokio runtime, so there is nobody to feed a stream.
    #[error("derived streams need a DAC that runs in a tokio runtime")]
    NoRuntime,
}

impl DeriveError {
    /// One word for programs.
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
pub struct Derived {
    most: usize,
    linger: Duration,
    budget: Arc<LogBudget>,
    runtime: Option<Handle>,
    /// Guards who is there. Readers' counts are looked at under it, so that nobody opens what is just being removed.
    streams: Mutex<HashMap<Key, Arc<Instance>>>,
}

impl Derived {
    pub(crate) fn new(most: usize, linger: Duration, budget: Arc<LogBudget>) -> Arc<Self> {
        let runtime = Handle::try_current().ok();
        Arc::new(Self { most, linger, budget, runtime, streams: Mutex::default() })
    }

    /// The stream that has `base`'s samples in this delivery: the instance itself for `every` and `latest`, otherwise the derived one, which is made if
    /// nobody had it. It lasts as long as somebody holds it, and `log.derived_linger_ms` longer.
    ///
    /// # Errors
    /// [`DeriveError`] says which bound is in the way.
    pub fn open(
        self: &Arc<Self>,
        registry: &Registry,
        base: &Arc<Instance>,
        delivery: Delivery,
    ) -> Result<Arc<Instance>, DeriveError> {
        let thinned = match delivery {
            Delivery::Every | Delivery::Latest => return Ok(base.clone()),
            Delivery::MaxHz(hertz) => Thinned::MaxHz(hertz),
            Delivery::Envelope(hertz) => Thinned::Envelope(hertz),
        };
        let key = key(base, thinned);
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
        let topic = registry.next_topic();
        let feed = Feed::new(thinned, &base.probe_type, topic, start).map_err(DeriveError::TooWide)?;
        let log = TopicLog::starting_at(base.log.epoch(), self.budget.clone(), start);
        let stream =
            Arc::new(Instance::derived(base, topic, thinned.probe_type(&base.probe_type), log, delivery));
        streams.insert(key, stream.clone());
        let feeding = Feeding { table: self.clone(), key, stream: stream.clone(), feed };
        runtime.spawn(feeding.run(base.clone(), Duration::from_nanos(thinned.period_ns())));
        Ok(stream)
    }

    /// All of them, for the ledger.
    pub fn list(&self) -> Vec<Arc<Instance>> {
        self.streams().values().cloned().collect()
    }

    /// Lets go of samples that arrived before this time.
    pub(crate) fn expire(&self, before: Nanos) {
        self.streams().values().for_each(|stream| stream.log.expire(before));
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<Key, Arc<Instance>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(base: &Instance, thinned: Thinned) -> Key {
    match thinned {
        Thinned::MaxHz(hertz) => (base.topic, false, hertz.get().to_bits()),
        Thinned::Envelope(hertz) => (base.topic, true, hertz.get().to_bits()),
    }
}

/// Whether anybody but the table and the feed holds it.
fn is_read(stream: &Arc<Instance>) -> bool {
    Arc::strong_count(stream) > 2
}

/// The task behind one stream.
struct Feeding {
    table: Arc<Derived>,
    key: Key,
    stream: Arc<Instance>,
    feed: Feed,
}

impl Feeding {
    async fn run(mut self, base: Arc<Instance>, period: Duration) {
        let signal = Arc::<Signal>::default();
        let (mut cursor, _) = Cursor::new(base.clone(), From::Earliest, &signal);
        let mut last_read = Instant::now();
        let mut look = tokio::time::interval(LOOK);
        let mut silent_at = Instant::now() + period;
        loop {
            while cursor.is_behind() {
                for segment in cursor.read(SEGMENTS_A_TURN).segments {
                    let made = self.feed.batch(segment.batch());
                    self.append(made);
                }
                silent_at = Instant::now() + period;
                tokio::task::yield_now().await;
            }
            if base.retired() && !cursor.is_behind() {
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
                    } else if last_read.elapsed() >= self.table.linger && self.leave() {
                        return;
                    }
                }
            }
        }
    }

    fn append(&self, made: Vec<Made>) {
        for Made { batch, count, span, dac_time } in made {
            self.stream
                .log
                .append_covering(batch, count, span, |batch, offset| batch::stamp(batch, offset.0, dac_time));
        }
    }

    /// Takes the stream off the table, unless somebody has just come.
    fn leave(&self) -> bool {
        let mut streams = self.table.streams();
        let is_free = !is_read(&self.stream);
        // Another may have our place if we were pushed out of a full table.
        if is_free && streams.get(&self.key).is_some_and(|there| Arc::ptr_eq(there, &self.stream)) {
            streams.remove(&self.key);
        }
        is_free
    }
}
