//! The coordinator: follows instances and files (`follow`), evaluates what comes (`round`), commits it (`commits`), and gives it to readers (`outputs`).

mod clocks;
mod commits;
mod follow;
mod homes;
mod joints;
mod outputs;
mod round;

use clocks::Clocks;
use commits::Pending;
use homes::Homes;
use joints::Joints;
use round::Evaluators;

use crate::{
    bounds::RoundBounds,
    commands::{Limiter, Sender},
    config::RulesConfig,
    deadlines::Deadlines,
    files::Files,
    output::Output,
    ruleset::RuleSet,
    source::{Begin, Source},
    state::Shared,
    wake::Ready,
};
use oasis_alarms::{Alarms, JournalFilter, RelayedAlarms};
use oasis_dac::{Dac, now};
use oasis_handler::{Context, Failure, Stopping, StoredSamples};
use oasis_health::Pulse;
use oasis_rules::RulesState;
use oasis_wire::{quantity::TopicId, schema::ProbeType};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// Period of the ticks of DAC time at which silence is noticed.
const MAX_WAIT: Duration = Duration::from_millis(100);
/// Interval of checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);
/// Rest after a round, in which more samples come: one wake for many.
const ROUND_DELAY: Duration = Duration::from_millis(1);
/// Approximate bound of the samples of one join in a round.
const JOIN_SAMPLES: u64 = 65_536;

/// Evaluates until it has to stop.
pub fn run(
    (config, bounds): (&RulesConfig, RoundBounds),
    (alarms, relayed): (&Arc<Alarms>, Option<&RelayedAlarms>),
    rules: &Arc<RulesState>,
    shared: &Arc<Shared>,
    context: Context,
) -> Result<(), Failure> {
    let Context { dac, archive, stopping, pulse, .. } = context;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure(format!("no runtime: {error}")))?;
    let evaluators = round::start(config.evaluating_threads(), archive.as_ref());
    let evaluators = evaluators.map_err(|error| Failure(format!("no threads for rules: {error}")))?;
    let sender =
        Sender::start(dac.clone()).map_err(|error| Failure(format!("no thread for commands: {error}")))?;
    let mut work = Work {
        config,
        bounds,
        alarms,
        relayed,
        rules,
        shared,
        dac,
        archive,
        pulse,
        runtime,
        evaluators,
        set: Arc::default(),
        files: Files::default(),
        types: Vec::new(),
        sources: BTreeMap::new(),
        joints: Joints::default(),
        clocks: Clocks::default(),
        ready: Arc::default(),
        waiting: BTreeSet::new(),
        next_topic: None,
        behind: 0,
        counted: Instant::now(),
        deadlines: Deadlines::default(),
        seen: None,
        followed: Instant::now(),
        topics: Vec::new(),
        before: 0,
        pending: Pending::default(),
        has_facts: false,
        looked: None,
        kept: Instant::now(),
        removed: None,
        is_loaded: false,
        begin: Begin::First,
        resumed: newest_event(alarms)?,
        limiter: Limiter::new(config.commands_per_minute),
        sender,
        output: None,
        homes: Homes::default(),
    };
    shared.lock().threads = work.evaluators.len() + 1;
    work.connect();
    work.run(&stopping)
}

/// The DAC time of the newest event.
fn newest_event(alarms: &Alarms) -> Result<u64, Failure> {
    let newest = alarms.journal(&JournalFilter { most: 1, ..JournalFilter::default() });
    let newest = newest.map_err(|error| Failure(format!("cannot read the journal: {error}")))?;
    Ok(newest.entries.first().map_or(0, |entry| entry.dac_time))
}

struct Work<'a> {
    config: &'a RulesConfig,
    bounds: RoundBounds,
    alarms: &'a Alarms,
    /// Alarms of other DACs.
    relayed: Option<&'a RelayedAlarms>,
    rules: &'a RulesState,
    shared: &'a Shared,
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
    pulse: Arc<Pulse>,
    /// Waits for the archive.
    runtime: tokio::runtime::Runtime,
    evaluators: Evaluators,
    set: Arc<RuleSet>,
    files: Files,
    types: Vec<Arc<ProbeType>>,
    sources: BTreeMap<TopicId, Source>,
    joints: Joints,
    clocks: Clocks,
    ready: Arc<Ready>,
    /// Topics with samples that were not evaluated yet.
    waiting: BTreeSet<TopicId>,
    /// The one that the next round begins with, if the last one has left some out.
    next_topic: Option<TopicId>,
    /// Their samples in the logs, and when these were counted.
    behind: u64,
    counted: Instant,
    deadlines: Deadlines,
    /// The version of the registry whose instances are followed.
    seen: Option<u64>,
    /// Time at which the instances were polled last, and their topics.
    followed: Instant,
    topics: Vec<TopicId>,
    /// The newest DAC time of the DAC's life before this one.
    before: u64,
    pending: Pending,
    /// Whether the alarms know the rules.
    has_facts: bool,
    looked: Option<Instant>,
    kept: Instant,
    /// When checkpoints of instances that are gone were removed last.
    removed: Option<Instant>,
    /// Whether all files were loaded once.
    is_loaded: bool,
    /// Position at which sources without a checkpoint begin.
    begin: Begin,
    /// The DAC time of the newest event when the thread began.
    resumed: u64,
    limiter: Limiter,
    sender: Sender,
    output: Option<Output>,
    homes: Homes,
}

impl Work<'_> {
    fn run(&mut self, stopping: &Stopping) -> Result<(), Failure> {
        loop {
            let is_last = stopping.is_stopping();
            self.poll_files();
            self.publish_clocks();
            self.follow_instances();
            if is_last {
                // Nodes that have come just before get their home once the alarms know the rules.
                self.commit();
                self.seen = None;
                self.follow_instances();
                self.drain();
            }
            if !self.must_wait() {
                self.pending.retry = None;
                self.round(is_last);
                self.commit();
                self.end_moved_alarms();
                self.move_joint_alarms();
            }
            if is_last {
                return self.finish();
            }
            self.rest(stopping);
        }
    }

    /// A failed commit is tried again before anything else is evaluated: the events that wait are bounded.
    fn must_wait(&self) -> bool {
        self.pending.retry.is_some_and(|retry| Instant::now() < retry)
    }

    /// Commits what is left.
    fn finish(&mut self) -> Result<(), Failure> {
        self.pending.retry = None;
        self.commit();
        match self.shared.lock().failure.clone() {
            Some(failure) => Err(Failure(failure)),
            None => Ok(()),
        }
    }

    /// Sleeps until there is something to do.
    fn rest(&self, stopping: &Stopping) {
        if self.pending.retry.is_some() {
            stopping.wait_for(MAX_WAIT);
            return;
        }
        if !self.waiting.is_empty() || self.joints.is_behind || stopping.wait_for(ROUND_DELAY) {
            return;
        }
        let wall = now().0;
        let to_deadline =
            self.deadlines.next().map(|deadline| Duration::from_nanos(deadline.saturating_sub(wall)));
        let most = to_deadline.unwrap_or(MAX_WAIT).clamp(ROUND_DELAY, MAX_WAIT);
        self.ready.wait(most);
    }
}
