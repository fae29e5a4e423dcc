//! The thread: follows instances and files (`follow`), evaluates what comes, commits it (`commits`), and gives it to readers (`outputs`).

mod commits;
mod follow;
mod homes;
mod joints;
mod outputs;

use commits::{Pending, RETRY};
use homes::Homes;
use joints::Joints;

use crate::{
    commands::{Limiter, Sender},
    config::RulesConfig,
    deadlines::Deadlines,
    files,
    output::Output,
    ruleset::RuleSet,
    source::{Begin, Found, Source, Surroundings},
    state::Shared,
    wake::Ready,
};
use oasis_alarms::{Alarms, JournalFilter};
use oasis_dac::{Dac, now};
use oasis_handler::{Context, Failure, Stopping, StoredSamples};
use oasis_health::Pulse;
use oasis_rules::RulesState;
use oasis_wire::{
    quantity::{Nanos, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// Period of the ticks of DAC time at which silence is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Interval of checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(5);
/// Rest after a round, in which more samples come: one wake for many.
const REST: Duration = Duration::from_millis(1);
/// About so many samples of one instance in a round.
const SAMPLES: u64 = 65_536;
/// Events in a round; beyond that the other instances wait for the next one.
const EVENTS: usize = 10_000;

/// Evaluates until it has to stop.
pub fn run(
    config: &RulesConfig,
    alarms: &Arc<Alarms>,
    rules: &Arc<RulesState>,
    shared: &Arc<Shared>,
    context: Context,
) -> Result<(), Failure> {
    let Context { dac, archive, stopping, pulse } = context;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure(format!("no runtime: {error}")))?;
    let sender =
        Sender::start(dac.clone()).map_err(|error| Failure(format!("no thread for commands: {error}")))?;
    let mut work = Work {
        config,
        alarms,
        rules,
        shared,
        dac,
        archive,
        pulse,
        runtime,
        set: RuleSet::default(),
        files: Vec::new(),
        types: Vec::new(),
        sources: BTreeMap::new(),
        joints: Joints::default(),
        ready: Arc::default(),
        waiting: BTreeSet::new(),
        deadlines: Deadlines::default(),
        seen: None,
        followed: Instant::now(),
        topics: Vec::new(),
        before: 0,
        pending: Pending::default(),
        has_facts: false,
        looked: None,
        kept: Instant::now(),
        is_loaded: false,
        begin: Begin::First,
        resumed: newest_event(alarms)?,
        limiter: Limiter::new(config.commands_per_minute),
        sender,
        output: None,
        homes: Homes::default(),
    };
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
    alarms: &'a Alarms,
    rules: &'a RulesState,
    shared: &'a Shared,
    dac: Arc<Dac>,
    archive: Option<Arc<dyn StoredSamples>>,
    pulse: Arc<Pulse>,
    /// Waits for the archive.
    runtime: tokio::runtime::Runtime,
    set: RuleSet,
    files: Vec<files::RuleFile>,
    types: Vec<Arc<ProbeType>>,
    sources: BTreeMap<TopicId, Source>,
    joints: Joints,
    ready: Arc<Ready>,
    /// Topics with samples that were not evaluated yet.
    waiting: BTreeSet<TopicId>,
    deadlines: Deadlines,
    /// The version of the registry whose instances are followed.
    seen: Option<u64>,
    /// When they were looked at last, and their topics.
    followed: Instant,
    topics: Vec<TopicId>,
    /// The newest DAC time of the DAC's life before this one.
    before: u64,
    pending: Pending,
    /// Whether the alarms know the rules.
    has_facts: bool,
    looked: Option<Instant>,
    kept: Instant,
    /// Whether all files were loaded once.
    is_loaded: bool,
    /// Where sources without a checkpoint begin.
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
            self.look();
            self.follow_instances();
            if !self.must_wait() {
                self.pending.retry = None;
                self.round(is_last);
                self.commit();
                self.end_moved_alarms();
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
            stopping.wait_for(TICK);
            return;
        }
        if stopping.wait_for(REST) || !self.waiting.is_empty() || self.joints.is_behind {
            return;
        }
        let wall = now().0;
        let to_deadline =
            self.deadlines.next().map(|deadline| Duration::from_nanos(deadline.saturating_sub(wall)));
        let most = to_deadline.unwrap_or(TICK).clamp(REST, TICK);
        self.ready.wait(most);
    }

    /// Evaluates what has come, and notices silence.
    fn round(&mut self, is_last: bool) {
        if !self.pending.is_empty() {
            return;
        }
        if self.has_facts {
            self.shared.lock().failure = None;
        }
        self.waiting.extend(self.ready.take());
        let now = now();
        let mut found = Found::default();
        for topic in std::mem::take(&mut self.waiting) {
            if found.events.len() >= EVENTS {
                self.waiting.insert(topic);
                continue;
            }
            let has_more = self.with_source(topic, now, &mut found, |source, around, flush, found| {
                source.advance(around, SAMPLES, flush, found)
            });
            if has_more == Some(true) {
                self.waiting.insert(topic);
            }
        }
        for topic in self.deadlines.due(now.0) {
            if found.events.len() < EVENTS {
                let before = std::mem::take(&mut found.has_silence);
                self.with_source(topic, now, &mut found, |source, around, flush, found| {
                    source.pass(around, now.0, flush, found)
                });
                // After a crash the sample that ends the silence must find it.
                if std::mem::replace(&mut found.has_silence, before) {
                    self.checkpoint(topic);
                }
            }
        }
        self.round_joints(now, is_last, &mut found);
        self.note(found);
        if is_last || self.kept.elapsed() >= CHECKPOINT {
            self.checkpoint_dirty();
        }
    }

    /// Lets a source do something, and notes its next deadline.
    fn with_source<T>(
        &mut self,
        topic: TopicId,
        now: Nanos,
        found: &mut Found,
        act: impl FnOnce(
            &mut Source,
            Surroundings<'_>,
            &dyn Fn(),
            &mut Found,
        ) -> Result<T, oasis_store::ReadError>,
    ) -> Option<T> {
        let source = self.sources.get_mut(&topic)?;
        let _reading = self.pulse.begin("read samples for rules");
        let (archive, runtime) = (self.archive.as_ref(), &self.runtime);
        let flush = || {
            if let Some(archive) = archive {
                runtime.block_on(archive.flush());
            }
        };
        let around = Surroundings { dac: &self.dac, set: &self.set, before: self.before, now };
        let acted = act(source, around, &flush, found);
        let deadline = source.deadline(&self.set);
        self.deadlines.set(topic, deadline);
        match acted {
            Ok(acted) => Some(acted),
            Err(error) => {
                self.shared.lock().failure = Some(format!("cannot read the archive: {error}"));
                self.waiting.insert(topic);
                self.pending.retry = Some(Instant::now() + RETRY);
                None
            }
        }
    }

    fn note(&mut self, mut found: Found) {
        if !found.derived.is_empty() {
            self.give_derived(std::mem::take(&mut found.derived));
        }
        // Stable: what one batch gives stays in the order of its samples.
        found.events.sort_by(|one, other| {
            (one.dac_time, &one.node, &one.instance).cmp(&(other.dac_time, &other.node, &other.instance))
        });
        self.pending.events.append(&mut found.events);
        let behind =
            self.waiting.iter().filter_map(|topic| self.sources.get(topic)).map(Source::behind).sum();
        let mut state = self.shared.lock();
        state.samples += found.samples;
        state.missing = state.missing.saturating_add(found.missing);
        state.unreadable += found.unreadable;
        state.behind = behind;
    }
}
