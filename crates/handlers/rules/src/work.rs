//! The thread: follows instances and files, evaluates what comes, and commits it.

use crate::{
    commands::{Limiter, Sender},
    config::RulesConfig,
    files,
    output::Output,
    ruleset::RuleSet,
    source::{Begin, Found, Source, StandingAlarms, Surroundings, is_read},
    state::Shared,
    wake::Ready,
};
use oasis_alarms::{Alarms, Checkpoint, CheckpointKey, Filter, JournalFilter, Round, RuleEvent, RuleFacts};
use oasis_dac::{Dac, Follower, Instance, now};
use oasis_handler::{Context, Failure, Stopping, StoredSamples};
use oasis_health::Pulse;
use oasis_rules::{Derived, RulesState, Standing};
use oasis_rules_history::{Past, newest_dac_time_of};
use oasis_wire::{
    quantity::{Nanos, TopicId},
    schema::ProbeType,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// Period of the ticks of DAC time at which silence is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Interval of looks at the files, and of shelves that end.
const LOOK: Duration = Duration::from_secs(1);
/// Interval of checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(5);
/// Pause before a commit is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Rest after a round, in which more samples come: one wake for many.
const REST: Duration = Duration::from_millis(1);
/// About so many samples of one instance in a round.
const SAMPLES: u64 = 65_536;
/// Events in a round; beyond that the other instances wait for the next one.
const EVENTS: usize = 10_000;
/// Bytes of checkpoints in a round.
const CHECKPOINT_BYTES: usize = 64 * 1024 * 1024;
/// Most instances.
const MAX_INSTANCES: usize = 20_000;

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
        ready: Arc::default(),
        waiting: BTreeSet::new(),
        deadlines: Deadlines::default(),
        seen: None,
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
    ready: Arc<Ready>,
    /// Topics with samples that were not evaluated yet.
    waiting: BTreeSet<TopicId>,
    deadlines: Deadlines,
    /// The version of the registry whose instances are followed.
    seen: Option<u64>,
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
}

/// The ticks of DAC time at which silence of a topic would be noticed.
#[derive(Debug, Default)]
struct Deadlines {
    ordered: BTreeSet<(u64, TopicId)>,
    of_topic: BTreeMap<TopicId, u64>,
}

impl Deadlines {
    fn set(&mut self, topic: TopicId, deadline: Option<u64>) {
        let before = match deadline {
            Some(deadline) => self.of_topic.insert(topic, deadline),
            None => self.of_topic.remove(&topic),
        };
        if before != deadline {
            if let Some(before) = before {
                self.ordered.remove(&(before, topic));
            }
            self.ordered.extend(deadline.map(|deadline| (deadline, topic)));
        }
    }

    fn next(&self) -> Option<u64> {
        self.ordered.first().map(|(deadline, _)| *deadline)
    }

    fn due(&self, dac_time: u64) -> Vec<TopicId> {
        self.ordered
            .iter()
            .take_while(|(deadline, _)| *deadline <= dac_time)
            .map(|(_, topic)| *topic)
            .collect()
    }
}

/// What was evaluated, and is not committed yet.
#[derive(Debug, Default)]
struct Pending {
    events: Vec<RuleEvent>,
    checkpoints: Vec<(CheckpointKey, Checkpoint)>,
    retry: Option<Instant>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.checkpoints.is_empty()
    }
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
        if stopping.wait_for(REST) || !self.waiting.is_empty() {
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

    /// Connects the node of derived instances and results, if that has not been done.
    fn connect(&mut self) {
        if self.output.is_some() || self.config.node.is_empty() {
            return;
        }
        let connected = Output::connect(self.dac.clone(), &self.config.node, self.archive.is_some());
        self.shared.lock().no_output = connected.as_ref().err().map(|failure| failure.message.clone());
        self.output = connected.ok();
        self.register_output();
    }

    /// Makes derived instances and results known to readers.
    fn register_output(&mut self) {
        let Some(output) = &mut self.output else { return };
        let history = self.archive.as_ref().map(|archive| archive.history());
        let node = &*self.config.node;
        let newest = |instance: &str| {
            let reach = history.as_ref().and_then(|history| history.reach_of(node, instance).ok().flatten());
            reach.map_or(0, |(_, newest)| newest)
        };
        let registered = output.register(&self.set, self.sources.values(), newest);
        let mut state = self.shared.lock();
        state.no_output = registered.err().map(|failure| failure.message);
        state.outputs_left_out = output.left_out;
    }

    /// Gives samples of derived instances to their readers.
    fn give_derived(&mut self, derived: Vec<(Arc<Instance>, usize, Derived)>) {
        let Some(output) = &mut self.output else { return };
        for (source, program, (rule, rows)) in derived {
            let rules = self.set.programs.get(program).map_or(&[][..], |loaded| &loaded.program.rules);
            if let Some(rule) = rules.get(rule) {
                output.derived(&rule.name, &source, &rows);
            }
        }
        output.flush();
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

    fn checkpoint(&mut self, topic: TopicId) {
        if let Some(source) = self.sources.get_mut(&topic) {
            source.is_dirty = false;
            let checkpoint = source.checkpoint(&self.set);
            self.pending.checkpoints.retain(|(key, _)| *key != source.key());
            self.pending.checkpoints.extend(checkpoint);
        }
    }

    /// Keeps the states that have changed, within the bytes of a round.
    fn checkpoint_dirty(&mut self) {
        let dirty: Vec<_> =
            self.sources.iter().filter(|(_, source)| source.is_dirty).map(|(topic, _)| *topic).collect();
        for topic in dirty {
            let bytes: usize = self.pending.checkpoints.last().map_or(0, |(_, kept)| kept.state.len());
            let total = self.pending.checkpoints.len().saturating_mul(bytes);
            if total > CHECKPOINT_BYTES {
                return;
            }
            self.checkpoint(topic);
        }
        self.kept = Instant::now();
    }

    /// Commits what is pending. After a failure it stays, and the next round waits for it.
    fn commit(&mut self) {
        if !self.has_facts {
            self.tell_alarms();
        }
        if self.pending.is_empty() || !self.has_facts {
            return;
        }
        let newest = self.pending.events.iter().map(|event| event.dac_time).max();
        let (events, checkpoints) = (self.pending.events.clone(), self.pending.checkpoints.clone());
        let committing = self.pulse.begin("commit events of rules");
        let committed = self.alarms.commit(Round { now: now(), events, checkpoints });
        drop(committing);
        match committed {
            Ok(committed) => {
                let Pending { events, .. } = std::mem::take(&mut self.pending);
                self.act(events, committed.duplicates > 0);
                let mut state = self.shared.lock();
                state.failure = None;
                state.events += committed.events as u64;
                state.known_events += committed.duplicates as u64;
                state.refused_checkpoints += committed.refused_checkpoints as u64;
                state.commits += 1;
                if let Some(newest) = newest {
                    state.latency_ns = now().0.saturating_sub(newest);
                }
            }
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Gives new events to the readers of results, and commands probes after those that are not too old.
    fn act(&mut self, mut events: Vec<RuleEvent>, has_known: bool) {
        // After a crash events are found again that have been acted on.
        events.retain(|event| !has_known || event.dac_time > self.resumed);
        if let Some(output) = self.output.as_mut().filter(|_| !events.is_empty()) {
            events.iter().for_each(|event| output.result(event));
            output.flush();
        }
        if !self.set.has_actions() {
            return;
        }
        let time = Instant::now();
        let instances = self.dac.registry.home_instances();
        let own = &*self.config.node;
        let others = || {
            let names = instances.iter().map(|instance| (&*instance.node, &*instance.name));
            names.filter(|(node, _)| *node != own).collect()
        };
        for event in events.iter().filter(|event| !event.late) {
            for order in self.limiter.orders(event, self.set.actions(&event.rule), others, time) {
                let is_taken = self.sender.send(order);
                let counts = &mut self.limiter.counts;
                *(if is_taken { &mut counts.sent } else { &mut counts.dropped }) += 1;
            }
        }
        self.shared.lock().commands = self.limiter.counts;
    }

    fn fail(&mut self, why: &str) {
        let mut state = self.shared.lock();
        if state.failure.is_none() {
            tracing::error!(error = why, "rules cannot commit their events, retrying");
        }
        state.failure = Some(format!("cannot commit events: {why}"));
        drop(state);
        self.pending.retry = Some(Instant::now() + RETRY);
    }

    /// Says to the alarms which rules there are.
    fn tell_alarms(&mut self) {
        let mut facts = self.set.facts();
        facts.extend(self.unknown_rules());
        match self.alarms.set_rules(&facts) {
            Ok(()) => self.has_facts = true,
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Alarms that stand and do not end, although their rules are not known: those of a file with errors, and of limits whose type no node has registered yet
    /// (`Plant::Pump.temperature high`).
    fn unknown_rules(&self) -> Vec<RuleFacts> {
        let known: HashSet<String> = self.set.facts().into_iter().map(|facts| facts.name).collect();
        let filter = Filter { is_standing: true, ..Filter::default() };
        let mut facts = BTreeMap::new();
        for alarm in self.alarms.list(&filter).alarms {
            let name = alarm.key.rule;
            let is_known = |of: &str| self.types.iter().any(|known| known.name == of);
            let may_be_there = match name.split_once('.') {
                Some((of, _)) => self.config.pdl_limits && !is_known(of),
                None => self.set.lacks_rules,
            };
            if may_be_there && !known.contains(&name) {
                let (severity, latch) = (alarm.severity, false);
                let known = RuleFacts { name: name.clone(), severity, latch, message: None, notify: None };
                facts.insert(name, known);
            }
        }
        facts.into_values().collect()
    }

    /// Looks at the files once a second, and when the API asks for it.
    fn look(&mut self) {
        let is_asked = self.rules.take_reload();
        if !is_asked && self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return;
        }
        let is_first = self.looked.replace(Instant::now()).is_none();
        if let Err(error) = self.alarms.tick(now()) {
            self.fail(&error.to_string());
        }
        self.connect();
        if let Some(output) = &mut self.output {
            output.flush();
        }
        let reading = self.pulse.begin("read files of rules");
        let files = files::read(self.config);
        drop(reading);
        if is_first || files != self.files {
            self.files = files;
            self.types = self.known_types();
            // A rule that somebody adds has not seen what came before.
            self.begin = if self.is_loaded { Begin::Next } else { Begin::First };
            self.compile();
            self.is_loaded |= !self.set.lacks_rules;
            self.begin = Begin::First;
        } else if is_asked {
            self.publish();
        }
    }

    /// The types of all instances that rules may read; of several versions the newest comes last.
    fn known_types(&self) -> Vec<Arc<ProbeType>> {
        let mut types: Vec<Arc<ProbeType>> = Vec::new();
        for instance in self.dac.registry.home_instances() {
            if self.is_own(&instance) {
                continue;
            }
            types.retain(|known| *known != instance.probe_type);
            types.push(instance.probe_type.clone());
        }
        types
    }

    /// Rules do not read their own results.
    fn is_own(&self, instance: &Instance) -> bool {
        *instance.node == *self.config.node
    }

    fn compile(&mut self) {
        let set = RuleSet::compile(&self.set, &self.files, &self.types, self.config.pdl_limits);
        let before = std::mem::replace(&mut self.set, set);
        self.has_facts = false;
        let rules = self.set.names();
        self.limiter.retain(|rule| rules.contains(rule));
        let standing = self.standing();
        for (topic, source) in &mut self.sources {
            source.reload(&before, &self.set, &standing);
            self.deadlines.set(*topic, source.deadline(&self.set));
        }
        self.seen = None;
        self.follow_instances();
        self.publish();
        for refused in self.set.refused() {
            tracing::warn!("{refused}");
        }
        let mut state = self.shared.lock();
        (state.rules, state.refused) = (self.set.count(), self.set.refused());
        state.limits_left_out = self.set.limits_left_out;
    }

    fn publish(&self) {
        let count =
            |program, input| self.sources.values().filter(|source| source.is_read_by(program, input)).count();
        self.rules.publish(self.set.loaded(count));
    }

    /// Alarms that stand.
    fn standing(&self) -> StandingAlarms {
        let filter = Filter { is_standing: true, ..Filter::default() };
        let alarms = self.alarms.list(&filter).alarms.into_iter();
        let active = alarms.filter(|alarm| alarm.state != Standing::Normal);
        active.map(|alarm| ((alarm.key.rule, alarm.key.node, alarm.key.instance), alarm.state)).collect()
    }

    /// Begins with instances that rules read, and ends with those that are gone.
    fn follow_instances(&mut self) {
        let version = self.dac.registry.version();
        if self.seen.replace(version) == Some(version) {
            return;
        }
        let types = self.known_types();
        if types != self.types {
            self.types = types;
            return self.compile();
        }
        let instances = self.dac.registry.instances_to_follow(Follower::Rules);
        let known: HashSet<TopicId> = instances.iter().map(|instance| instance.topic).collect();
        let gone = |(topic, source): (&TopicId, &mut Source)| {
            source.is_idle() || (!known.contains(topic) && source.is_over())
        };
        let gone: Vec<TopicId> = self
            .sources
            .iter_mut()
            .filter_map(|(topic, source)| gone((topic, source)).then_some(*topic))
            .collect();
        let standing = self.standing();
        let before = self.sources.len();
        self.find_life_before(&instances);
        let mut left_out = 0;
        for instance in instances {
            instance.follow(Follower::Rules);
            instance.end_following(Follower::Rules);
            if self.sources.contains_key(&instance.topic)
                || self.is_own(&instance)
                || !is_read(&self.set, &instance)
            {
                continue;
            }
            match self.sources.len() < MAX_INSTANCES {
                true => self.begin(instance, &standing),
                false => left_out += 1,
            }
        }
        for topic in gone {
            self.end(topic);
        }
        let mut state = self.shared.lock();
        (state.instances, state.instances_left_out) = (self.sources.len(), left_out);
        drop(state);
        if self.sources.len() != before {
            self.publish();
        }
        self.register_output();
    }

    /// Follows an instance, from where its topic before ended, or from its checkpoint.
    fn begin(&mut self, instance: Arc<Instance>, standing: &StandingAlarms) {
        let is_before =
            |source: &Source| source.instance.node == instance.node && source.instance.name == instance.name;
        let topic = instance.topic;
        let before = self.sources.iter().find(|(_, source)| is_before(source)).map(|(topic, _)| *topic);
        let mut is_new = false;
        let source = match before.and_then(|before| Some((before, self.sources.get(&before)?.is_over()))) {
            // A retired topic is read to its end first.
            Some((_, false)) => {
                self.seen = None;
                return;
            }
            Some((before, true)) => {
                self.deadlines.set(before, None);
                let Some(mut source) = self.sources.remove(&before) else { return };
                source.move_to(instance, self.archive.as_ref(), &self.ready);
                source.reload(&self.set, &self.set, standing);
                source
            }
            None => {
                let key = crate::checkpoint::key(&instance.node, &instance.name);
                let checkpoint = match self.alarms.checkpoint(&key) {
                    Ok(checkpoint) => checkpoint,
                    Err(error) => {
                        self.seen = None;
                        return self.fail(&error.to_string());
                    }
                };
                is_new = checkpoint.is_none();
                let rules = (&self.set, standing);
                let archive = self.archive.as_ref();
                Source::new(instance, checkpoint.as_ref(), rules, archive, self.begin, &self.ready)
            }
        };
        self.sources.insert(topic, source);
        let deadline = self.sources.get_mut(&topic).and_then(|source| source.deadline(&self.set));
        self.deadlines.set(topic, deadline);
        if is_new {
            // After a crash the evaluation begins here again.
            self.checkpoint(topic);
        }
    }

    fn end(&mut self, topic: TopicId) {
        self.checkpoint(topic);
        self.deadlines.set(topic, None);
        self.waiting.remove(&topic);
        self.sources.remove(&topic);
    }

    /// Finds how far the DAC's life before this one went. Only the archive has samples of it.
    fn find_life_before(&mut self, instances: &[Arc<Instance>]) {
        let asks = self.set.programs.iter().any(|loaded| loaded.program.asks_for_silence());
        let Some(archive) = self.archive.as_ref().filter(|_| asks && self.before == 0) else { return };
        let past = Past::of_archive(archive.history());
        let read = instances.iter().filter(|instance| self.is_own(instance) || is_read(&self.set, instance));
        let names = read.map(|instance| (&*instance.node, &*instance.name));
        match newest_dac_time_of(&past, names) {
            Ok(newest) => self.before = newest.max(1),
            Err(error) => tracing::warn!(%error, "rules cannot read how far the archive goes"),
        }
    }
}
