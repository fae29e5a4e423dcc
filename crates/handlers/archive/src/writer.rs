//! The archive's thread: reads every topic log as any reader does, and commits received samples in rounds.
//!
//! No reader waits for it. If it lags, the topic logs evict batches that it has not read, and it notes the gap.

mod importing;
mod lanes;
mod lost;
mod retaining;
mod staging;
mod upkeep;

use crate::importing::ReadyImport;
use lanes::Lane;
use oasis_dac::{Dac, Follower, Instance, Signal, Wake, now};
use oasis_handler::Stopping;
use oasis_health::Pulse;
use oasis_store::{
    CatalogueError, FolderGone, SegmentNumbers,
    account::Condition,
    config::ArchiveConfig,
    gap::Gap,
    segment_file::SegmentFile,
    store::{Store, is_disk_full},
};
use oasis_wire::quantity::{Nanos, Offset};
use retaining::Retaining;
use std::{collections::VecDeque, fs, io, ops::RangeInclusive, path::Path, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use upkeep::{FullFile, LastProblem};
use uuid::Uuid;

/// Segments read from a topic log at once: the archive references them in addition to staged ones.
const MAX_READ_SEGMENTS: usize = 64;
/// Bytes staged in one round, about: a commit after a long wait must not take long itself.
const ROUND_BYTES: u64 = 16 * 1024 * 1024;
/// Delay before the archive retries a disk that has failed or is full.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Interval at which it checks the age of files, retention, nodes and commands.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);
/// Longest that the files of an import are listed, after which health reports that the thread hangs.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval between two signs of life: a thread can be gone without a panic.
const BEAT_INTERVAL: Duration = Duration::from_millis(500);

/// A request to the archive's thread.
#[derive(Debug)]
pub enum Request {
    /// Store everything received so far. The answer reports whether it is stored.
    Flush(oneshot::Sender<Result<(), NotStored>>),
    /// Make an import part of the archive.
    Import(Box<ReadyImport>),
}

impl Request {
    /// Answers that the archive stores nothing. The answer of a flush is given.
    pub fn refuse(self, flushed: Result<(), NotStored>) {
        // The caller may have stopped waiting.
        match self {
            Self::Flush(answer) => drop(answer.send(flushed)),
            Self::Import(ready) => {
                let why = flushed.err().unwrap_or(NotStored::Stopped);
                drop(ready.answer.send(Err(why.into())));
            }
        }
    }
}

/// Received samples could not be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStored {
    /// No room.
    #[error("the disk is full: {0}")]
    DiskFull(String),
    /// The disk fails.
    #[error("the disk fails: {0}")]
    DiskError(String),
    /// The path of the folder does not name it any more.
    #[error("the archive stores nothing now: {0}")]
    Gone(FolderGone),
    /// A call of the archive's thread has not returned for so long that its end is not awaited.
    #[error("the archive stores nothing now: {0}")]
    Hangs(String),
    /// The archive does not run.
    #[error("the archive is stopped: `oasis handlers start archive` starts it")]
    Stopped,
    /// The archive's thread still runs, or has failed.
    #[error("the archive's thread has not finished: the last samples may not be stored")]
    Unfinished,
}

impl From<io::Error> for NotStored {
    fn from(error: io::Error) -> Self {
        let detail = error.to_string();
        if is_disk_full(&error) { Self::DiskFull(detail) } else { Self::DiskError(detail) }
    }
}

impl From<CatalogueError> for NotStored {
    fn from(error: CatalogueError) -> Self {
        let detail = error.to_string();
        if error.is_disk_full() { Self::DiskFull(detail) } else { Self::DiskError(detail) }
    }
}

impl From<FolderGone> for NotStored {
    fn from(gone: FolderGone) -> Self {
        Self::Gone(gone)
    }
}

/// A topic log, and how far it was read.
#[derive(Debug)]
struct TopicProgress {
    instance: Arc<Instance>,
    lane: Lane,
    /// All samples before this offset are stored or reported missing.
    next: Offset,
    /// Gaps after that offset, while storing failed: counted, and in no file. Neighbors with one cause are merged.
    lost: Vec<Gap>,
    /// Events received while storing failed, in order.
    received: Vec<Came>,
    /// Run and number of the last sample that was stored.
    last: Option<(Uuid, u64)>,
    /// Gaps of its ledger that are in the catalogue, or too old to get there.
    losses_listed: u64,
    /// The run whose owner is in the catalogue.
    owner_listed: Option<Uuid>,
}

/// Samples of one run of a node that came while storing failed.
#[derive(Debug)]
struct Came {
    run: Uuid,
    /// Their sequence numbers.
    numbers: RangeInclusive<u64>,
    /// The offset after the last of them.
    end: Offset,
}

/// The thread's own.
#[derive(Debug)]
pub struct Writer {
    dac: Arc<Dac>,
    store: Arc<Store>,
    config: ArchiveConfig,
    signal: Arc<Signal>,
    registry: watch::Receiver<u64>,
    tracked: Vec<TopicProgress>,
    /// Index of the topic where a round begins. It rotates, so that no topic is always last.
    turn: usize,
    /// The file that is being written in each lane.
    files: Vec<Option<SegmentFile>>,
    retaining: Retaining,
    /// Tried again at each maintenance.
    unsealed: VecDeque<FullFile>,
    /// Numbers of segment files, which imports use too. They outlive a writer that has failed.
    numbers: Arc<SegmentNumbers>,
    /// Commands up to this number have ended and are in the catalogue.
    commands_listed: u64,
    /// When nodes were listed; `None` if some have connected or left since.
    nodes_listed: Option<Instant>,
    /// The last logged problem of sealing.
    sealing: LastProblem,
    /// The last logged problem of listing.
    listing: LastProblem,
    /// Instances with implausible times that were logged.
    implausible_logged: usize,
}

impl Writer {
    /// Reads the logs of `dac` into `store`.
    pub fn new(
        dac: Arc<Dac>,
        store: Arc<Store>,
        config: ArchiveConfig,
        numbers: Arc<SegmentNumbers>,
    ) -> Self {
        let mut registry = dac.registry.watch();
        registry.mark_changed();
        Self {
            files: Lane::all(config.retention.len()).map(|_| None).collect(),
            dac,
            store,
            config,
            signal: Arc::default(),
            registry,
            tracked: Vec::new(),
            turn: 0,
            retaining: Retaining::default(),
            unsealed: VecDeque::new(),
            numbers,
            commands_listed: 0,
            nodes_listed: None,
            sealing: LastProblem::default(),
            listing: LastProblem::default(),
            implausible_logged: 0,
        }
    }

    /// Stores what is received until it has to stop; then stores the rest, and seals all files.
    ///
    /// # Errors
    /// If the rest could not be stored, or as soon as the folder is gone.
    pub async fn run(
        &mut self,
        requests: &mut mpsc::Receiver<Request>,
        stopping: &Stopping,
        pulse: &Pulse,
    ) -> Result<(), NotStored> {
        let pause = Duration::from_millis(self.config.commit_ms);
        let mut maintenance = tokio::time::interval(MAINTENANCE_INTERVAL);
        maintenance.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut beats = tokio::time::interval(BEAT_INTERVAL);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // Before the first sample; if it fails, maintenance tries it again.
        let _ = self.read_usage();
        let signal = self.signal.clone();
        let mut due = Instant::now();
        let mut is_pending = true;
        loop {
            let request = tokio::select! {
                () = stopping.stopped() => return self.finish(requests, pulse),
                Some(request) = requests.recv() => match request {
                    Request::Flush(answer) => Some(answer),
                    Request::Import(ready) => {
                        let _call = pulse.begin_within("making an import part of the archive", IMPORT_TIMEOUT);
                        self.finish_import(*ready);
                        continue;
                    }
                },
                _ = beats.tick() => {
                    pulse.beat();
                    continue;
                }
                _ = maintenance.tick() => {
                    let _call = pulse.begin("maintaining the archive's files and catalogue");
                    self.check_named()?;
                    self.maintain();
                    continue;
                }
                () = signal.raised(), if !is_pending => {
                    is_pending = true;
                    continue;
                }
                changed = self.registry.changed(), if !is_pending => {
                    // Fails only without a DAC, and `self` has one.
                    is_pending = changed.is_ok();
                    self.registry.mark_changed();
                    continue;
                }
                () = tokio::time::sleep_until(due), if is_pending => None,
            };
            let stored = self.store_all(request.is_some(), pulse);
            is_pending = !matches!(stored, Ok(PendingWork::Nothing));
            due = Instant::now() + if stored.is_err() { RETRY_DELAY.max(pause) } else { pause };
            let stored = stored.map(drop);
            if let Some(answer) = request {
                // The caller may have stopped waiting.
                let _ = answer.send(stored.clone());
            }
            if matches!(stored, Err(NotStored::Gone(_))) {
                return stored;
            }
        }
    }

    /// Stores everything received so far, seals all files, and answers the requests that wait.
    pub(crate) fn finish(
        &mut self,
        requests: &mut mpsc::Receiver<Request>,
        pulse: &Pulse,
    ) -> Result<(), NotStored> {
        requests.close();
        let stored = self.store_all(true, pulse).map(drop);
        let _call = pulse.begin("ending the archive's files");
        if self.store.check_named().is_ok() {
            self.end();
        }
        while let Ok(request) = requests.try_recv() {
            request.refuse(stored.clone());
        }
        stored
    }

    /// Takes note that files were written again while it did not run.
    pub(crate) fn note_forgotten(&mut self) {
        self.retaining.read_again();
    }

    /// Lists the samples that were received while the archive was stopped, and are lost with the DAC's memory.
    pub fn list_received_while_stopped(&mut self) {
        if self.store.check_named().is_err() {
            return;
        }
        self.follow_instances();
        if let Err(error) = self.list_unstored() {
            tracing::warn!(%error, "the archive's catalogue is not up to date");
        }
    }

    /// Stores one round of samples. With a target, stores as many rounds as it takes to reach the newest sample at the start.
    pub(crate) fn store_all(&mut self, to_the_end: bool, pulse: &Pulse) -> Result<PendingWork, NotStored> {
        if self.registry.has_changed().unwrap_or(false) {
            self.registry.mark_unchanged();
            self.follow_instances();
        }
        let wanted: Vec<_> = self.tracked.iter().map(|tracked| tracked.instance.log.next()).collect();
        loop {
            let call = pulse.begin("writing and syncing samples");
            let result = self.round(&wanted);
            self.note(&result);
            match &result {
                // Counted when the folder is opened again.
                Err(NotStored::Gone(_)) => {}
                Err(_) => self.note_lost(),
                Ok(PendingWork::Nothing) => self.forget_lost(),
                Ok(PendingWork::Something) => {}
            }
            drop(call);
            match result {
                Ok(PendingWork::Something) if to_the_end => {}
                other => return other,
            }
        }
    }

    fn follow_instances(&mut self) {
        self.nodes_listed = None;
        let wake: Arc<dyn Wake> = self.signal.clone();
        // A replaced topic is read to its end first, because its ledger is removed with it.
        let is_told = self.list_losses();
        if let Err(error) = &is_told {
            tracing::warn!(%error, "the archive's catalogue is not up to date");
        }
        self.tracked.retain(|tracked| {
            let is_read = tracked.next >= tracked.instance.log.next();
            let is_over = tracked.instance.is_retired() && is_read && is_told.is_ok();
            if is_over {
                tracked.instance.end_following(Follower::Archive);
                tracked.instance.log.remove_reader(&wake);
            }
            !is_over
        });
        let known: std::collections::HashSet<_> =
            self.tracked.iter().map(|tracked| tracked.instance.topic).collect();
        for instance in self.dac.registry.instances_to_follow(Follower::Archive) {
            instance.follow(Follower::Archive);
            let rule = self.config.rule_for(&instance.node, &instance.name);
            if rule.is_none() {
                instance.end_following(Follower::Archive);
            }
            if let (Some(rule), false) = (rule, known.contains(&instance.topic)) {
                instance.log.add_reader(wake.clone());
                // Samples that an earlier run of this thread has stored stay stored.
                let account = self.store.account(instance.topic);
                let next = account.map_or(instance.log.start(), |account| account.stored_offset);
                let lane = self.lane_of(rule, &instance.node, &instance.name);
                let losses_listed = instance.ledger().gaps_before();
                self.tracked.push(TopicProgress {
                    instance,
                    lane,
                    next,
                    lost: Vec::new(),
                    received: Vec::new(),
                    last: None,
                    losses_listed,
                    owner_listed: None,
                });
            }
        }
    }

    /// Stages new samples, up to `wanted` of each topic, and commits them, lane by lane.
    fn round(&mut self, wanted: &[Offset]) -> Result<PendingWork, NotStored> {
        let began = std::time::Instant::now();
        self.store.check_named()?;
        self.check_room()?;
        let mut left = PendingWork::Nothing;
        let mut is_first = true;
        for lane in Lane::all(self.config.retention.len()) {
            if self.lagging(lane, wanted).next().is_none() {
                continue;
            }
            is_first = false;
            match self.round_of(lane, wanted)? {
                PendingWork::Something => left = PendingWork::Something,
                PendingWork::Nothing => {}
            }
            self.rotate(lane);
        }
        self.turn = self.turn.wrapping_add(1);
        if !is_first {
            let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let mut counters = self.store.counters.lock();
            counters.commits += 1;
            counters.commit_ns = took;
            counters.longest_commit_ns = counters.longest_commit_ns.max(took);
        }
        Ok(left)
    }

    /// Returns the topics of a lane that have samples before `wanted` to store, by index.
    fn lagging(&self, lane: Lane, wanted: &[Offset]) -> impl Iterator<Item = usize> {
        let topics = self.tracked.iter().zip(wanted).enumerate();
        let lags = move |(_, (tracked, wanted)): &(usize, (&TopicProgress, &Offset))| {
            tracked.lane == lane && tracked.next < **wanted
        };
        topics.filter(lags).map(|(at, _)| at)
    }

    /// Reports it if the folder is gone.
    fn check_named(&self) -> Result<(), NotStored> {
        let checked = self.store.check_named().map_err(NotStored::from);
        if let Err(gone) = &checked {
            self.note(&Err(gone.clone()));
        }
        checked
    }

    /// Stops following the topic logs.
    pub fn leave(&mut self) {
        let wake: Arc<dyn Wake> = self.signal.clone();
        self.tracked.drain(..).for_each(|tracked| tracked.instance.log.remove_reader(&wake));
    }

    fn check_room(&self) -> Result<(), NotStored> {
        let free = self.store.free_bytes()?;
        if free >= self.config.min_free_bytes {
            return Ok(());
        }
        let mebibytes = |bytes: u64| bytes as f64 / (1024.0 * 1024.0);
        let detail = format!(
            "{:.1} MiB are free, and {:.1} MiB are left to others (archive.min_free_bytes)",
            mebibytes(free),
            mebibytes(self.config.min_free_bytes)
        );
        Err(NotStored::DiskFull(detail))
    }

    fn round_of(&mut self, lane: Lane, wanted: &[Offset]) -> Result<PendingWork, NotStored> {
        // Listed before their neighbors are written: a gap in a file has its cause even if this process ends now.
        let lagging: Vec<_> = self.lagging(lane, wanted).collect();
        self.list_losses_of(&lagging)?;
        self.list_owners_of(&lagging)?;
        let slot = lane.slot();
        let mut file = match self.files[slot].take() {
            Some(file) => file,
            None => self.begin_file()?,
        };
        let condition = self.store.counters.lock().condition;
        let staged = self.stage(lane, wanted, &mut file, condition);
        let written = staged.and_then(|staged| file.finish_writing().map(|()| staged));
        let (progress, left) = match written {
            Ok(written) => written,
            Err(error) => {
                file.roll_back();
                self.files[slot] = Some(file);
                return Err(error.into());
            }
        };
        let before = file.samples;
        if let Err(error) = file.commit() {
            // The system may have dropped data that it could not write, so this file is not written again. The next start reads and ends it.
            file.roll_back();
            tracing::error!(file = %file.path().display(), %error, "the archive leaves a segment file that could not be synced");
            if file.samples == 0 {
                // Nothing in it was ever stored. A disk that fails for long would leave one such file each second.
                self.store.remove_open(file.open.header.number);
                remove(file.path())?;
            }
            return Err(error.into());
        }
        if let Err(gone) = self.check_stored(&file) {
            self.store.remove_open(file.open.header.number);
            return Err(gone);
        }
        self.account(&progress, file.samples - before);
        self.files[slot] = Some(file);
        Ok(left)
    }

    /// Whether what was synced has a name.
    fn check_stored(&self, file: &SegmentFile) -> Result<(), NotStored> {
        self.store.check_named()?;
        let removed = || NotStored::DiskError(FolderGone::SegmentRemoved.to_string());
        if file.is_named() { Ok(()) } else { Err(removed()) }
    }

    fn begin_file(&mut self) -> Result<SegmentFile, NotStored> {
        // Taken before the file is created: an import may begin one at the same time.
        let number = self.numbers.take();
        let file = SegmentFile::create(&self.store.directory, number, self.dac.epoch())?;
        self.store.add_open(&file.open);
        let created = file.created();
        let sealed =
            Nanos(created.0.saturating_add(self.config.segment_seconds.saturating_mul(1_000_000_000)));
        Ok(file.within(self.store.limits.around(created, sealed)))
    }

    fn note(&self, result: &Result<PendingWork, NotStored>) {
        let (condition, detail) = match result {
            Ok(_) => (Condition::Storing, None),
            Err(NotStored::DiskFull(detail)) => (Condition::DiskFull, Some(detail.clone())),
            Err(NotStored::Gone(gone)) => (Condition::Gone, Some(gone.to_string())),
            Err(error) => (Condition::DiskError, Some(error.to_string())),
        };
        // Logging may block on a stalled disk, and readers of the counters must not wait for it: first the counters, then the log.
        let has_changed = self.store.counters.lock().settle(condition, detail.clone(), now());
        match detail {
            _ if !has_changed => {}
            Some(detail) => tracing::error!(%detail, "the archive stores nothing for now; live data goes on"),
            // As loud as what it takes back.
            None => tracing::warn!("the archive stores again"),
        }
    }
}

/// State that a round leaves to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PendingWork {
    Nothing,
    Something,
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
