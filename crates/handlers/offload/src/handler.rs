//! The handler: its thread, and its state.

use crate::{
    OffloadConfig,
    config::Location,
    destination::Destination,
    segment_copy::{CopyError, CopyOutcome, SegmentCopy},
    segment_ledger::{SegmentLedger, is_due},
    state::{Condition, SharedState},
};
use oasis_dac::now;
use oasis_handler::{Context, Failure, Handler, StateMetrics, StoredSamples};
use oasis_store::{History, ReadError, catalogue::Segment, import_folder};
use oasis_thread_priority::{BACKGROUND, lower_priority};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// Time between two looks for sealed segments.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Time after which segments are listed again between two copies.
const LIST_INTERVAL: Duration = Duration::from_millis(500);
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
    /// `None` until it can be opened.
    destination: Option<Destination>,
    segments: SegmentLedger,
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
        lower_priority(BACKGROUND);
        self.shared.lock().found_segments = 0;
        let segments = SegmentLedger::default();
        Rounds { handler: self, context: &context, archive, destination: None, segments }.run();
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
            gauges: &[
                "waiting_segments",
                "waiting_bytes",
                "lag_seconds",
                "found_segments",
                "refused_segments",
            ],
        }
    }

    fn problem(&self) -> Option<String> {
        let state = self.shared.lock();
        (state.reach.condition == Condition::Failing)
            .then(|| format!("segments are not copied: {}", state.reach.detail.clone().unwrap_or_default()))
    }

    fn warnings(&self) -> Vec<String> {
        let state = self.shared.lock();
        let (evicted, left_out, refused) =
            (state.evicted_segments, state.left_out_samples, state.refused_segments);
        [
            (evicted > 0).then(|| {
                format!("{evicted} segments were evicted before they were copied: the archive had no more room for them, or they could not be copied; raise bytes in archive.retention, or repair the destination")
            }),
            (left_out > 0)
                .then(|| format!("{left_out} samples have times after 2262 and are only in the archive")),
            (refused > 0).then(|| {
                let why = state.last_error.clone().unwrap_or_default();
                format!("{refused} segments cannot be copied and are tried again each hour: {why}")
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn copies_segments(&self) -> bool {
        true
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

    /// Copies all segments that are old enough. A segment that cannot be copied delays no other; a destination that fails ends the round.
    fn round(&mut self) -> Result<(), CopyError> {
        let history = self.archive.history();
        // Evictions count although the destination cannot be used.
        let (mut sealed, mut listed) = (self.list(&history)?, Instant::now());
        let mut destination = match self.destination.take() {
            Some(destination) => destination,
            None => Destination::open(&self.handler.location).map_err(CopyError::Unusable)?,
        };
        let (mut tried, mut first_error) = (BTreeSet::new(), None);
        let after = self.handler.config.after_seconds.saturating_mul(NANOS_PER_SECOND);
        let ended = loop {
            let is_next = |segment: &&Segment| {
                let number = segment.number;
                self.segments.is_waiting(number)
                    && !tried.contains(&number)
                    && !self.segments.is_refused(number, Instant::now())
                    && is_due(segment, now().0, after)
            };
            let Some(segment) = sealed.iter().find(is_next) else { break Ok(()) };
            tried.insert(segment.number);
            let copied = self.copy(&history, &mut destination, segment);
            self.handler.shared.add_requests(&mut destination.counts);
            match copied {
                Ok(()) => {}
                Err(error) if error.is_of_segment() => {
                    // Retention may have evicted it.
                    let is_listed = history.0.catalogue().is_listed(segment.number).unwrap_or(true);
                    first_error = first_error.or(is_listed.then_some(error));
                }
                Err(error) => break Err(error),
            }
            // A copy takes its time: others may be sealed or evicted meanwhile.
            if listed.elapsed() >= LIST_INTERVAL {
                match self.list(&history) {
                    Ok(found) => (sealed, listed) = (found, Instant::now()),
                    Err(error) => break Err(error),
                }
            }
        };
        self.destination = Some(destination);
        self.measure(&sealed);
        ended?;
        first_error.map_or(Ok(()), Err)
    }

    /// Lists sealed segments, and counts those that are gone.
    fn list(&mut self, history: &History) -> Result<Vec<Segment>, CopyError> {
        let sealed = history.0.catalogue().segments().map_err(|error| CopyError::Listing(error.into()))?;
        let evicted = self.segments.compare(&sealed);
        history.0.copies.set_safe(self.segments.evictable());
        self.handler.shared.lock().evicted_segments += evicted;
        self.measure(&sealed);
        Ok(sealed)
    }

    fn copy(
        &mut self,
        history: &History,
        destination: &mut Destination,
        segment: &Segment,
    ) -> Result<(), CopyError> {
        // Files of an import are listed before they are committed.
        let importing = import_folder::epoch(&history.0.directory)
            .map_err(|error| CopyError::Archive(segment.number, error.into()))?;
        let is_stopping = || self.context.stopping.is_stopping();
        let earlier = self.segments.attempts(segment.number);
        let copied = SegmentCopy::copy(history, destination, &is_stopping, (segment, earlier), importing);
        match copied {
            Ok(CopyOutcome::Complete(copied)) => {
                self.segments.complete(segment.number);
                history.0.copies.add_safe(segment.number);
                self.handler.shared.add_segment(copied);
            }
            Ok(CopyOutcome::Importing) => self.segments.import(segment.number),
            // The next list counts it.
            Ok(CopyOutcome::Evicted) => {}
            Err(error) => {
                match error {
                    CopyError::Archive(_, ReadError::Io(_)) => self.segments.fail_to_read(segment.number),
                    CopyError::Archive(..) => self.segments.fail(segment.number),
                    _ if error.is_of_segment() => self.segments.refuse(segment.number, Instant::now()),
                    _ => self.segments.fail(segment.number),
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Updates the figures.
    fn measure(&self, sealed: &[Segment]) {
        let waiting = || sealed.iter().filter(|segment| self.segments.is_waiting(segment.number));
        let oldest = waiting().map(|segment| segment.sealed.0).min();
        let mut state = self.handler.shared.lock();
        state.refused_segments = self.segments.refused();
        state.waiting_segments = waiting().count() as u64;
        state.waiting_bytes = waiting().map(|segment| segment.bytes).sum();
        state.lag_seconds = oldest.map_or(0, |oldest| now().0.saturating_sub(oldest) / NANOS_PER_SECOND);
    }
}
