//! The thread that makes roll-ups and word indexes, merges small roll-up files, and evicts old ones. It runs at low priority.

mod batches;
mod indexing;
mod making;
#[cfg(test)]
mod tests;

use crate::{
    catalogue::Segment,
    config::ArchiveConfig,
    grouping::Grouping,
    rollups::RollupFile,
    segment_file,
    store::{ReadError, Store},
};
use indexing::Indexing;
use making::Source;
pub(crate) use making::{batch_at, record_at};
#[cfg(test)]
use oasis_health::Health;
use oasis_health::Pulse;
use oasis_rollup::cells::Level;
use oasis_thread_priority::{BACKGROUND, lower_priority};
use std::{
    collections::BTreeSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Interval between searches for sealed files.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between retries after a full disk.
const FULL_DISK_RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// Pause after a file with batches that are too large could not be made again.
const REMAKE_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Number of files of about the same size that are merged.
const MERGED_FILES: usize = 16;
/// Files beyond this size are not merged.
const MERGED_BYTES: u64 = 4 * 1024 * 1024;

/// Time for the roll-ups of a file, after which health reports that the thread hangs.
const ROLL_UP_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest that grouping works before it rests.
const MAX_WORK_TIME: Duration = Duration::from_millis(5);
/// Length of the rest as a multiple of the work before it: grouping takes a quarter of a core.
const REST_FACTOR: u32 = 3;

/// A handle of the thread. Dropping it stops the thread, also while its owner panics: two of them would make each roll-up twice.
#[derive(Debug)]
pub struct Roller {
    /// `None` once it was stopped.
    thread: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// Makes all roll-ups that are missing, once.
#[cfg(test)]
pub(crate) fn roll_all(store: Arc<Store>, config: ArchiveConfig) {
    let now = Instant::now();
    let mut work = Work::new(store, config, Arc::default(), now);
    work.round(&Health::default().watch("roll-ups")).expect("a good archive");
}

impl Roller {
    /// Starts it.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(store: Arc<Store>, config: ArchiveConfig, pulse: Pulse) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let now = Instant::now();
        let work = Work::new(store, config, is_over.clone(), now);
        let thread = thread::Builder::new().name("roll-ups".into()).spawn(move || work.run(&pulse))?;
        Ok(Self { thread: Some(thread), is_over })
    }
}

impl Drop for Roller {
    /// Waits for the thread. The next start continues its work.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

struct Work {
    store: Arc<Store>,
    config: ArchiveConfig,
    is_over: Arc<AtomicBool>,
    /// Time of the next retry after a full disk.
    looks_for_room: Instant,
    /// When files with batches that are too large are made again.
    remakes: Instant,
    /// Sealed files that were grouped, or stay as they are.
    grouped: BTreeSet<u64>,
    indexing: Indexing,
}

/// The share of a core that grouping takes.
struct Share(Instant);

impl Share {
    fn begin() -> Self {
        Self(Instant::now())
    }

    /// Rests if it has worked for long enough.
    fn rest(&mut self) {
        let worked = self.0.elapsed();
        if worked >= MAX_WORK_TIME {
            // Returns at once when the thread has to end.
            thread::park_timeout(worked * REST_FACTOR);
            self.0 = Instant::now();
        }
    }
}

impl Work {
    fn new(store: Arc<Store>, config: ArchiveConfig, is_over: Arc<AtomicBool>, now: Instant) -> Self {
        let (grouped, indexing) = (BTreeSet::new(), Indexing::default());
        Self { store, config, is_over, looks_for_room: now, remakes: now, grouped, indexing }
    }

    fn run(mut self, pulse: &Pulse) {
        lower_priority(BACKGROUND);
        while !self.is_over.load(Ordering::Relaxed) {
            let turn = catch_unwind(AssertUnwindSafe(|| {
                if let Err(error) = self.round(pulse) {
                    tracing::warn!(%error, "cannot make roll-ups now: retrying later");
                }
                thread::park_timeout(SCAN_INTERVAL);
            }));
            if turn.is_err() {
                // The panic's own message is in the log already.
                tracing::error!("making roll-ups failed: retrying");
            }
        }
    }

    fn round(&mut self, pulse: &Pulse) -> Result<(), ReadError> {
        if self.store.check_named().is_err() {
            // The path may name a folder of others; the archive's thread reports it.
            return Ok(());
        }
        let segments = self.store.catalogue().segments()?;
        self.remake_oversized(&segments);
        self.store.rollups.keep(&segments.iter().map(|segment| segment.number).collect());
        let mut has_room = self.finds_room();
        let covered = Level::ROLLED.map(|level| (level, self.store.rollups.covered(level)));
        for segment in segments {
            let missing = covered.iter().filter(|(_, covered)| !covered.contains(&segment.number));
            let missing: Vec<_> = missing.map(|(level, _)| *level).collect();
            if self.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            let is_again = has_room && self.store.rollups.waits_for_room(segment.number);
            if !missing.is_empty() && (is_again || !self.store.rollups.has_tried(segment.number)) {
                let _call = pulse.begin_within("making the roll-ups of a segment file", ROLL_UP_TIMEOUT);
                has_room &= self.roll(&segment, &missing);
            }
            self.store.rollups.note_tried(segment.number);
        }
        let _call =
            pulse.begin_within("merging roll-ups, grouping batches and indexing words", ROLL_UP_TIMEOUT);
        // Evict first: on a full disk a merge needs the space.
        self.retain();
        for level in Level::ROLLED {
            self.merge(level)?;
        }
        self.store.put_together()?;
        self.group_next()?;
        // A file that is grouped later would lose its index.
        let settled = |number| !self.config.group_batches || self.grouped.contains(&number);
        self.indexing.round(&self.store, &self.config, &self.is_over, settled)?;
        let mut counters = self.store.counters.lock();
        (counters.rollup_files, counters.rollup_bytes) = self.store.rollups.size();
        (counters.word_indexes, counters.word_index_bytes) = self.indexing.size();
        Ok(())
    }

    /// Makes roll-ups of earlier releases again whose batches are larger than readers accept: from their own cells, or from the samples if they are damaged.
    fn remake_oversized(&mut self, segments: &[Segment]) {
        if Instant::now() < self.remakes {
            return;
        }
        let all = Level::ROLLED.into_iter().flat_map(|level| self.store.rollups.of_level(level));
        let oversized: Vec<_> = all.filter(|file| file.is_oversized()).collect();
        for (at, old) in (1..).zip(&oversized) {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let (path, files) = (old.path().display(), oversized.len());
            tracing::warn!(file = %path, at, files, "making a roll-up again: its batches are too large for readers");
            match making::again(old).map(|draft| draft.finish(&self.store.directory)) {
                Ok(Ok(new)) => self.store.rollups.replace(new, std::slice::from_ref(old)),
                Ok(Err(error)) => {
                    tracing::warn!(file = %path, %error, "cannot make a roll-up again: retrying in a minute");
                    self.remakes = Instant::now() + REMAKE_RETRY_DELAY;
                    return;
                }
                Err(finding) => {
                    self.store.counters.report(finding);
                    let is_left = |number| segments.iter().any(|segment| segment.number == number);
                    if old.directory.segments.iter().copied().all(is_left) {
                        self.store.rollups.forget(std::slice::from_ref(old));
                    } else {
                        self.remakes = Instant::now() + REMAKE_RETRY_DELAY;
                    }
                }
            }
        }
    }

    /// Whether to retry after a full disk now. The configured free space must be available.
    fn finds_room(&mut self) -> bool {
        if self.store.rollups.waiting_for_room() == 0 || Instant::now() < self.looks_for_room {
            return false;
        }
        self.looks_for_room = Instant::now() + FULL_DISK_RETRY_INTERVAL;
        self.store.free_bytes().is_ok_and(|free| free >= self.config.min_free_bytes)
    }

    /// Makes the missing roll-ups of a segment file. Tries once in a process, and again while the disk is full. Returns whether
    /// there was room.
    fn roll(&self, segment: &Segment, levels: &[Level]) -> bool {
        let path = segment_file::path(&self.store.directory, segment.number);
        let source = Source { number: segment.number, path: &path, sealed: segment.sealed };
        let made = making::of_segment(source, levels, &self.store);
        let made = made.and_then(|drafts| {
            drafts.into_iter().try_for_each(|draft| {
                self.store.rollups.replace(draft.finish(&self.store.directory)?, &[]);
                Ok(())
            })
        });
        self.store.recent.end_file(segment.number);
        let has_room = !matches!(&made, Err(error) if error.is_disk_full());
        let has_waited = self.store.rollups.waits_for_room(segment.number);
        self.store.rollups.note_room(segment.number, has_room);
        match made {
            Ok(()) => self.store.counters.lock().rolled_segments += 1,
            Err(error) if has_room => {
                self.store.counters.lock().rollup_failures += 1;
                tracing::warn!(file = %path.display(), %error, "cannot make roll-ups of a segment file");
            }
            Err(_) if has_waited => {}
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "no room for roll-ups of a segment file: retrying when there is");
            }
        }
        has_room
    }

    /// Puts the small batches of the next sealed file together, once its roll-ups are made: those read the file as it was sealed.
    fn group_next(&mut self) -> Result<(), ReadError> {
        if !self.config.group_batches {
            return Ok(());
        }
        let segments = self.store.catalogue().segments()?;
        self.grouped.retain(|number| segments.iter().any(|segment| segment.number == *number));
        for segment in segments {
            let is_next =
                self.store.rollups.has_tried(segment.number) && !self.grouped.contains(&segment.number);
            if !is_next || self.is_over.load(Ordering::Relaxed) {
                continue;
            }
            let free = self.store.free_bytes()?;
            if free < self.config.min_free_bytes.saturating_add(segment.bytes) {
                return Ok(());
            }
            self.grouped.insert(segment.number);
            if self.group(&segment) {
                // Roll-ups come first again.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Groups a file. Returns whether it was replaced.
    fn group(&self, segment: &Segment) -> bool {
        let mut share = Share::begin();
        let goes_on = || {
            share.rest();
            !self.is_over.load(Ordering::Relaxed)
        };
        match self.store.group(segment, goes_on) {
            Ok(Grouping::Saved(bytes)) => {
                let mut counters = self.store.counters.lock();
                counters.grouped_segments += 1;
                counters.grouped_saved_bytes += bytes;
                true
            }
            Ok(Grouping::Unchanged | Grouping::Stopped) => false,
            // Retention has evicted it.
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => {
                self.store.counters.lock().grouping_failures += 1;
                tracing::warn!(segment = segment.number, %error, "cannot put the small batches of a segment file together: it stays as it is");
                false
            }
        }
    }

    /// Merges the oldest small files of about the same size, if there are enough.
    fn merge(&self, level: Level) -> Result<(), ReadError> {
        let files = self.store.rollups.of_level(level);
        let small = |file: &&Arc<RollupFile>| file.bytes <= MERGED_BYTES && !file.is_damaged();
        let tier = |file: &RollupFile| file.directory.segments.len().ilog(MERGED_FILES);
        let mut tiers: Vec<_> = files.iter().filter(small).map(|file| tier(file)).collect();
        tiers.sort_unstable();
        tiers.dedup();
        for wanted in tiers {
            let of_tier = files.iter().filter(small).filter(|file| tier(file) == wanted);
            let some: Vec<_> = of_tier.take(MERGED_FILES).cloned().collect();
            if some.len() == MERGED_FILES {
                match making::of_rollups(&some, level) {
                    Ok(merged) => {
                        self.store.rollups.replace(merged.finish(&self.store.directory)?, &some);
                    }
                    Err(finding) => self.store.counters.report(finding),
                }
            }
        }
        Ok(())
    }

    /// Evicts files that are too old, and the oldest of the finest level while there are too many bytes.
    fn retain(&self) {
        let (days, most) = (self.config.rollup_days, self.config.rollup_bytes);
        let now = if days > 0 { self.store.clock.trusted() } else { None };
        let oldest =
            now.map_or(0, |now| now.0.saturating_sub(days.saturating_mul(24 * 3_600 * 1_000_000_000)));
        let mut going = Vec::new();
        let mut bytes = self.store.rollups.size().1;
        for level in Level::ROLLED {
            for file in self.store.rollups.of_level(level) {
                if file.directory.sealed < oldest || (most > 0 && bytes > most) {
                    bytes = bytes.saturating_sub(file.bytes);
                    going.push(file);
                }
            }
        }
        self.store.rollups.forget(&going);
    }
}
