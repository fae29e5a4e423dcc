//! The handler: its thread, and its state.

use crate::{
    OffloadConfig,
    config::Location,
    destination::Destination,
    segment_copy::{CopyError, SegmentCopy},
    state::{Condition, SharedState},
};
use oasis_dac::now;
use oasis_handler::{Context, Failure, Handler, StateMetrics, StoredSamples};
use oasis_store::{History, catalogue::Segment, import_folder};
use oasis_thread_priority::{BACKGROUND, lower_priority};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// Time between two looks for sealed segments.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Pause after the first failure; each further one doubles it.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// Longest pause after a failure.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Longest request that a stop waits for.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Nanoseconds of a second.
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Copies sealed segments to a destination.
#[derive(Debug)]
pub struct SegmentOffload {
    config: OffloadConfig,
    location: Location,
    shared: SharedState,
}

/// State of the thread.
struct Rounds<'a> {
    handler: &'a SegmentOffload,
    context: &'a Context,
    archive: Arc<dyn StoredSamples>,
    destination: Destination,
    /// Segments of the archive that are safe.
    done: BTreeSet<u64>,
    /// Segments that were waiting at the last look.
    waiting: BTreeSet<u64>,
}

impl SegmentOffload {
    /// Creates a handler that does not run yet.
    pub fn new(config: OffloadConfig, location: Location) -> Self {
        let shared = SharedState::new(&config.url);
        Self { config, location, shared }
    }
}

impl Handler for SegmentOffload {
    fn name(&self) -> &'static str {
        "offload"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let Some(archive) = context.archive.clone() else {
            return Err(Failure("nothing to copy without an archive: set archive.directory".into()));
        };
        let destination = Destination::open(&self.location).map_err(|error| {
            let why = format!("cannot use offload.url: {error}");
            self.shared.note(Condition::Failing, Some(why.clone()));
            Failure(why)
        })?;
        lower_priority(BACKGROUND);
        let (done, waiting) = (BTreeSet::new(), BTreeSet::new());
        self.shared.lock().found_segments = 0;
        Rounds { handler: self, context: &context, archive, destination, done, waiting }.run();
        Ok(())
    }

    fn state(&self) -> Value {
        json!(*self.shared.lock())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            counters: &[
                "copied_segments",
                "samples",
                "objects",
                "object_bytes",
                "requests",
                "failed_requests",
                "replaced_objects",
                "left_out_samples",
                "evicted_segments",
            ],
            gauges: &["waiting_segments", "waiting_bytes", "lag_seconds", "found_segments"],
        }
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        (state.reach.condition == Condition::Failing)
            .then(|| format!("segments are not copied: {}", state.reach.detail.clone().unwrap_or_default()))
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        let (evicted, left_out) = (state.evicted_segments, state.left_out_samples);
        [
            (evicted > 0).then(|| {
                format!("{evicted} segments were evicted before they were copied: raise archive.retention, or repair the destination")
            }),
            (left_out > 0)
                .then(|| format!("{left_out} samples have times after 2262 and are only in the archive")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A request that is under way ends first.
    fn stop_deadline(&self) -> Duration {
        STOP_TIMEOUT
    }
}

impl Rounds<'_> {
    fn run(&mut self) {
        let mut backoff = FIRST_BACKOFF;
        loop {
            let copied = self.round();
            self.handler.shared.add_requests(&mut self.destination.counts);
            let pause = match copied {
                Ok(()) => {
                    self.handler.shared.note(Condition::Copying, None);
                    backoff = FIRST_BACKOFF;
                    SCAN_INTERVAL
                }
                Err(CopyError::Stopped) => return,
                Err(error) => {
                    self.handler.shared.note(Condition::Failing, Some(error.to_string()));
                    let pause = backoff;
                    backoff = (backoff * 2).min(MAX_BACKOFF);
                    pause
                }
            };
            if self.context.stopping.wait_for(pause) {
                return;
            }
        }
    }

    /// Copies all segments that are old enough. A segment that cannot be read delays no other; a destination that fails ends the round.
    fn round(&mut self) -> Result<(), CopyError> {
        let history = self.archive.history();
        let sealed = history.0.catalogue().segments().map_err(|error| CopyError::Archive(0, error.into()))?;
        self.note_evicted(&sealed);
        let waiting: Vec<&Segment> =
            sealed.iter().filter(|segment| !self.done.contains(&segment.number)).collect();
        self.waiting = waiting.iter().map(|segment| segment.number).collect();
        let newest =
            now().0.saturating_sub(self.handler.config.after_seconds.saturating_mul(NANOS_PER_SECOND));
        let mut unread = None;
        for (at, segment) in waiting.iter().enumerate() {
            if segment.sealed.0 > newest {
                continue;
            }
            self.measure(&waiting[at..]);
            match self.copy(&history, segment) {
                Ok(()) => {}
                // Retention may have evicted it.
                Err(error @ CopyError::Archive(..)) => {
                    let is_listed = history.0.catalogue().is_listed(segment.number).unwrap_or(true);
                    unread = unread.or(is_listed.then_some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let left: Vec<&Segment> =
            waiting.into_iter().filter(|segment| !self.done.contains(&segment.number)).collect();
        self.measure(&left);
        unread.map_or(Ok(()), Err)
    }

    fn copy(&mut self, history: &History, segment: &Segment) -> Result<(), CopyError> {
        // Files of an import are listed before they are committed.
        let importing = import_folder::epoch(&history.0.directory).ok().flatten();
        let is_stopping = || self.context.stopping.is_stopping();
        let copied = SegmentCopy::copy(history, &mut self.destination, &is_stopping, segment, importing);
        self.handler.shared.add_requests(&mut self.destination.counts);
        if let Some(copied) = copied? {
            self.done.insert(segment.number);
            self.handler.shared.add_segment(copied);
        }
        Ok(())
    }

    /// Counts segments that were waiting and are gone.
    fn note_evicted(&mut self, sealed: &[Segment]) {
        let listed: BTreeSet<u64> = sealed.iter().map(|segment| segment.number).collect();
        self.done.retain(|number| listed.contains(number));
        let gone =
            self.waiting.iter().filter(|number| !listed.contains(number) && !self.done.contains(number));
        self.handler.shared.lock().evicted_segments += gone.count() as u64;
    }

    /// Updates the figures.
    fn measure(&self, waiting: &[&Segment]) {
        let oldest = waiting.iter().map(|segment| segment.sealed.0).min();
        let mut state = self.handler.shared.lock();
        state.waiting_segments = waiting.len() as u64;
        state.waiting_bytes = waiting.iter().map(|segment| segment.bytes).sum();
        state.lag_seconds = oldest.map_or(0, |oldest| now().0.saturating_sub(oldest) / NANOS_PER_SECOND);
    }
}
