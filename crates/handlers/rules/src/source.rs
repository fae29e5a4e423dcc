//! One instance whose samples rules read: its place in log and archive, and the states of its rules.

use crate::{
    bounds::Budget,
    cause,
    checkpoint::{self, At},
    result,
    ruleset::{LoadedProgram, RuleSet},
    unit::{Unit, count_rules, units},
    wake::{Ready, TopicWake},
};
use oasis_alarms::{Checkpoint, CheckpointKey, RuleEvent};
use oasis_dac::{Dac, Delivery, DemandGuard, Instance, Wake, now};
use oasis_handler::{InstanceLog, StoredSamples};
use oasis_history::{Batch, HistoryPart, NextStep, Reader, Start};
use oasis_rules::{Derived, Event, Program, SavedState, Standing, program::Body};
use oasis_rules_history::{LastSample, restarted_at};
use oasis_store::ReadError;
use oasis_wire::{
    batch,
    loss::Cause,
    quantity::{Epoch, Nanos, Offset, Position},
};
use std::{collections::HashMap, sync::Arc};
use uuid::Uuid;

/// Bytes read at once, of an instance with few rules and of one with many.
const READ_BYTES: std::ops::RangeInclusive<usize> = 16 * 1024..=1024 * 1024;
/// Approximate bytes of a sample in a batch.
const SAMPLE_BYTES: u64 = 16;
/// Upper bound of the delay of a sample from another DAC, in nanoseconds: a relayed instance is silent that much later.
const RELAY_DELAY: u64 = 1_000_000_000;

/// An instance and its rules. While it lives, the log wakes the thread.
pub struct Source {
    pub instance: Arc<Instance>,
    reader: Reader,
    /// Position of the next sample.
    at: Position,
    last: LastSample,
    dac_time: u64,
    /// The life of the DAC of the last sample.
    epoch: Option<Epoch>,
    /// Why the samples before the next ones are missing, if the reader said so.
    gap: Option<Cause>,
    units: Vec<Unit>,
    /// The rules of all units in number; 1 at least.
    rules: u64,
    wake: Arc<TopicWake>,
    /// Lets the upstream of a relayed instance send its samples.
    demand: Option<DemandGuard>,
    /// Whether its states have changed since the last checkpoint.
    pub is_dirty: bool,
}

/// Position at which a new source begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At the first sample that this DAC received.
    First,
    /// At the next one.
    Next,
}

/// Output of an evaluation.
#[derive(Debug, Default)]
pub struct EvaluationOutput {
    /// Events with the topic, in the order of the samples.
    pub events: Vec<RuleEvent>,
    pub samples: u64,
    pub missing: u64,
    /// Batches that could not be decoded.
    pub unreadable: u64,
    /// Samples of derived instances: their source, the number of the program, that of the rule.
    pub derived: Vec<(Arc<Instance>, usize, Derived)>,
    /// Whether a silence began: the checkpoint must say so together with the event.
    pub has_silence: bool,
    /// Bytes of events and derived samples, about.
    pub bytes: usize,
}

impl EvaluationOutput {
    /// Adds an event.
    pub fn event(&mut self, event: RuleEvent) {
        let texts = [&event.rule, &event.node, &event.instance].into_iter().chain(&event.cause);
        self.bytes += size_of::<RuleEvent>() + texts.map(String::len).sum::<usize>();
        self.events.push(event);
    }

    /// Adds samples that the rules of a program have derived from an instance.
    pub fn derived(&mut self, source: &Arc<Instance>, program: usize, derived: Vec<Derived>) {
        let cells = |(_, rows): &Derived| rows.len() * (rows.columns.len() + 4);
        self.bytes += derived.iter().map(cells).sum::<usize>() * size_of::<u64>();
        self.derived.extend(derived.into_iter().map(|derived| (source.clone(), program, derived)));
    }

    /// Adds what another instance has found.
    pub fn append(&mut self, mut other: Self) {
        self.events.append(&mut other.events);
        self.derived.append(&mut other.derived);
        self.samples += other.samples;
        self.missing = self.missing.saturating_add(other.missing);
        self.unreadable += other.unreadable;
        self.has_silence |= other.has_silence;
        self.bytes += other.bytes;
    }
}

/// Context of an evaluation.
#[derive(Clone, Copy)]
pub struct EvaluationContext<'a> {
    pub dac: &'a Dac,
    pub set: &'a RuleSet,
    /// The newest DAC time of the DAC's life before this one.
    pub before: u64,
    pub now: Nanos,
}

/// Standing alarms by rule, node and instance.
pub type StandingAlarms = HashMap<(String, String, String), Standing>;

impl Source {
    /// Follows an instance from its checkpoint on.
    pub fn new(
        instance: Arc<Instance>,
        checkpoint: Option<&Checkpoint>,
        (set, standing): (&RuleSet, &StandingAlarms),
        archive: Option<&Arc<dyn StoredSamples>>,
        begin: Begin,
        ready: &Arc<Ready>,
    ) -> Self {
        let log = &instance.log;
        let offset = if begin == Begin::First { log.start() } else { log.next() };
        let first = Position { epoch: log.epoch(), offset };
        let restored = checkpoint.and_then(checkpoint::read);
        let last = LastSample::default();
        let anew = At { position: first, last, dac_time: 0, epoch: None, is_handed: false };
        let (at, states) = restored.unwrap_or((anew, Vec::new()));
        let wake = TopicWake::new(instance.topic, ready);
        let reader = reader(&instance, at.position, archive);
        log.add_reader(wake.clone());
        let At { position, last, dac_time, epoch, is_handed } = at;
        let mut source = Self {
            demand: demand(&instance),
            instance,
            reader,
            at: position,
            last,
            dac_time,
            epoch,
            gap: None,
            units: Vec::new(),
            rules: 1,
            wake,
            is_dirty: false,
        };
        source.load(set, &states, standing);
        if is_handed {
            source.take_over(set, standing);
        }
        // The instance may have samples already.
        source.wake.raise();
        source
    }

    /// Evaluates other rules from now on. The states of rules that are the same stay.
    pub fn reload(&mut self, before: &RuleSet, set: &RuleSet, standing: &StandingAlarms) {
        let states = self.states(before);
        self.load(set, &states, standing);
        self.is_dirty = true;
    }

    fn load(&mut self, set: &RuleSet, states: &[SavedState], standing: &StandingAlarms) {
        self.units = units(set, &self.instance);
        self.rules = count_rules(set, &self.units).max(1);
        let last_time = self.last.0.map(|(.., time)| time);
        for unit in &mut self.units {
            let Some(LoadedProgram { program, .. }) = set.programs.get(unit.program) else { continue };
            for rule in unit.evaluator.restore(program, states) {
                // Its state is unknown, but an alarm that stands can be cleared.
                let name = program.rules.get(rule).map(|rule| rule.name.clone()).unwrap_or_default();
                let (node, instance) = (self.instance.node.to_string(), self.instance.name.to_string());
                if let Some(standing) = standing.get(&(name, node, instance)) {
                    unit.evaluator.set_standing(rule, *standing);
                }
            }
            unit.evaluator.continue_after(last_time);
        }
    }

    /// Continues what another DAC has evaluated: the alarms are as that one left them, which may be later than the states of the rules.
    fn take_over(&mut self, set: &RuleSet, standing: &StandingAlarms) {
        self.gap = Some(Cause::OtherDac);
        let now = now().0;
        let (node, instance) = (self.instance.node.to_string(), self.instance.name.to_string());
        for unit in &mut self.units {
            let Some(LoadedProgram { program, .. }) = set.programs.get(unit.program) else { continue };
            for (number, rule) in program.rules.iter().enumerate() {
                let key = (rule.name.clone(), node.clone(), instance.clone());
                let left = standing.get(&key).copied().unwrap_or(Standing::Normal);
                if unit.evaluator.standing(number).is_some_and(|known| known != left) {
                    unit.evaluator.set_standing(number, left);
                }
            }
            // Nothing could come here before.
            unit.evaluator.restart(program, now);
        }
    }

    /// Continues with the topic that has replaced this one.
    pub fn move_to(
        &mut self,
        instance: Arc<Instance>,
        archive: Option<&Arc<dyn StoredSamples>>,
        ready: &Arc<Ready>,
    ) {
        let wake: Arc<dyn Wake> = self.wake.clone();
        self.instance.log.remove_reader(&wake);
        self.wake = TopicWake::new(instance.topic, ready);
        self.at.offset = self.at.offset.max(instance.log.start());
        self.reader = reader(&instance, self.at, archive);
        instance.log.add_reader(self.wake.clone());
        self.demand = demand(&instance);
        self.instance = instance;
        self.wake.raise();
    }

    /// Whether no rule reads it.
    pub fn is_idle(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether an input of a program reads it.
    pub fn is_read_by(&self, program: usize, input: usize) -> bool {
        self.units.iter().any(|unit| (unit.program, unit.input) == (program, input))
    }

    /// The rules that compute derived instances from it: numbers of program and rule.
    pub fn derived(&self, set: &RuleSet) -> Vec<(usize, usize)> {
        let of_unit = |unit: &Unit| {
            let rules = set.programs.get(unit.program).map_or(&[][..], |loaded| &loaded.program.rules);
            let (program, input) = (unit.program, unit.input);
            let is_of_it =
                |at: usize| set.programs.get(program).is_some_and(|of| of.program.joined(at).is_none());
            let derived = rules.iter().enumerate().filter(|(at, rule)| {
                rule.input == input && matches!(rule.body, Body::Derive(_)) && is_of_it(*at)
            });
            derived.map(|(at, _)| (program, at)).collect::<Vec<_>>()
        };
        self.units.iter().flat_map(of_unit).collect()
    }

    /// Lets its rules begin anew when it is followed again.
    pub fn forget_states(&mut self) {
        self.units.clear();
    }

    /// Whether it has read all of a retired topic.
    pub fn is_over(&self) -> bool {
        let log = &self.instance.log;
        self.instance.is_retired() && self.at.epoch == log.epoch() && self.at.offset >= log.next()
    }

    /// The number of samples in the log that were not evaluated yet.
    pub fn behind(&self) -> u64 {
        let log = &self.instance.log;
        let from = if self.at.epoch == log.epoch() { self.at.offset } else { log.state().first_offset };
        log.next().0.saturating_sub(from.0)
    }

    /// About how many evaluations wait: samples times rules, and one if there may be none.
    pub fn work(&self) -> u64 {
        // The archive may have any number of another life of the DAC.
        let samples =
            if self.at.epoch == self.instance.log.epoch() { self.behind().max(1) } else { u64::MAX };
        samples.saturating_mul(self.rules)
    }

    /// The tick of DAC time at which silence would be noticed first.
    pub fn deadline(&mut self, set: &RuleSet) -> Option<u64> {
        // The topic that has replaced it is not silent, or belongs to another DAC.
        if self.instance.is_retired() {
            return None;
        }
        let delay = self.delay();
        let deadlines = self
            .units
            .iter_mut()
            .filter_map(|unit| unit.evaluator.deadline(&set.programs.get(unit.program)?.program));
        deadlines.min().map(|deadline| deadline.saturating_add(delay))
    }

    /// Upper bound of the time that its samples are under way from the DAC that has received them, in nanoseconds.
    fn delay(&self) -> u64 {
        if self.demand.is_some() { RELAY_DELAY } else { 0 }
    }

    /// Evaluates the next samples, within a budget and at least one batch. Returns whether there may be more.
    ///
    /// # Errors
    /// If the archive cannot be read; the position stays.
    pub fn advance(
        &mut self,
        around: EvaluationContext<'_>,
        budget: Budget,
        flush: &dyn Fn(),
        found: &mut EvaluationOutput,
    ) -> Result<bool, ReadError> {
        self.wake.lower();
        let samples = found.samples.saturating_add(budget.evaluations / self.rules);
        let (events, bytes) = (found.events.len() + budget.events, found.bytes + budget.bytes);
        let is_full = |found: &EvaluationOutput| found.events.len() >= events || found.bytes >= bytes;
        let most = (budget.evaluations / self.rules).saturating_mul(SAMPLE_BYTES);
        let most = usize::try_from(most).unwrap_or(usize::MAX).clamp(*READ_BYTES.start(), *READ_BYTES.end());
        loop {
            let mut read = self.reader.read(most)?;
            while read.then == NextStep::Flush {
                flush();
                read = self.reader.read(most)?;
            }
            self.at = read.begin;
            let is_end = read.pieces.is_empty() && !matches!(read.then, NextStep::More);
            let mut pieces = read.pieces.into_iter();
            while let Some((piece, after)) = pieces.next() {
                self.piece(around, piece, found);
                self.at = after;
                self.is_dirty = true;
                if is_full(found) && pieces.len() > 0 {
                    self.reader.seek(after);
                    return Ok(true);
                }
            }
            if is_end {
                self.enter(around, self.instance.log.epoch(), around.now.0, found);
                return Ok(false);
            }
            if found.samples >= samples || is_full(found) {
                return Ok(true);
            }
        }
    }

    fn piece(&mut self, around: EvaluationContext<'_>, piece: HistoryPart, found: &mut EvaluationOutput) {
        match piece {
            HistoryPart::Samples(batch) => self.batch(around, batch, found),
            HistoryPart::Gap { cause, .. } => self.gap = Some(cause),
            HistoryPart::Epoch | HistoryPart::Type(_) => {}
        }
    }

    /// Notices silence up to this DAC time. Nothing that comes later can be of before. Returns true, and has not noticed it yet, if there may be more
    /// samples than the budget allows: they come first.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn pass(
        &mut self,
        around: EvaluationContext<'_>,
        dac_time: u64,
        budget: Budget,
        flush: &dyn Fn(),
        found: &mut EvaluationOutput,
    ) -> Result<bool, ReadError> {
        // In this order: what has come before that is in the log then.
        self.instance.ledger().complete(Nanos(dac_time));
        if self.advance(around, budget, flush, found)? {
            return Ok(true);
        }
        // In this order too: a node that goes to another DAC is listed there first.
        let is_elsewhere = |node: oasis_dac::Node| node.is_elsewhere();
        let has_moved = self.demand.is_none()
            && (self.instance.is_retired()
                || around.dac.registry.node(&self.instance.node).is_some_and(is_elsewhere));
        if !has_moved {
            self.notice(around, dac_time.saturating_sub(self.delay()), found);
        }
        Ok(false)
    }

    fn notice(&mut self, around: EvaluationContext<'_>, dac_time: u64, found: &mut EvaluationOutput) {
        for at in 0..self.units.len() {
            let Some(unit) = self.units.get_mut(at) else { continue };
            let (number, Some(loaded)) = (unit.program, around.set.programs.get(unit.program)) else {
                continue;
            };
            let events = unit.evaluator.pass(&loaded.program, dac_time);
            self.report(around, number, None, events, found);
        }
    }

    /// In another life of the DAC silence begins anew, after what there was in the one before.
    fn enter(
        &mut self,
        around: EvaluationContext<'_>,
        epoch: Epoch,
        dac_time: u64,
        found: &mut EvaluationOutput,
    ) {
        let before = self.epoch.replace(epoch);
        if before.is_none() || before == Some(epoch) {
            return;
        }
        let end = around.before.max(self.dac_time);
        self.notice(around, end, found);
        let start = restarted_at(epoch, end, dac_time);
        for unit in &mut self.units {
            if let Some(loaded) = around.set.programs.get(unit.program) {
                unit.evaluator.restart(&loaded.program, start);
            }
        }
        self.is_dirty = true;
    }

    fn batch(&mut self, around: EvaluationContext<'_>, batch: Batch, found: &mut EvaluationOutput) {
        let Batch { series, bytes, offsets, wanted, .. } = batch;
        let gap = self.gap.take();
        let Ok(decoded) = batch::Batch::parse(&bytes, &series.probe_type) else {
            found.unreadable += 1;
            return;
        };
        let index = |offset: Offset| offset.0.saturating_sub(offsets.start.0) as usize;
        let header = decoded.header();
        let (dac_time, run) = (header.dac_time, series.run);
        // After a crash of the DAC a node sends again what was not stored, but evaluated.
        let seen =
            self.last.0.filter(|(last, ..)| *last == run).map_or(0, |(_, last, _)| last.saturating_add(1));
        let again = usize::try_from(seen.saturating_sub(header.first_sequence)).unwrap_or(usize::MAX);
        let end = index(wanted.end);
        let range = index(wanted.start).max(again).min(end)..end;
        let first = header.first_sequence.saturating_add(range.start as u64);
        self.enter(around, series.epoch, dac_time, found);
        let missing = self.last.missing(run, first);
        let context = Context { run, first, missing, gap };
        found.samples += range.len() as u64;
        if self.last.0.is_some_and(|(last, ..)| last == run) {
            found.missing = found.missing.saturating_add(missing);
        }
        let mut last = self.last;
        for at in 0..self.units.len() {
            let Some(unit) = self.units.get_mut(at) else { continue };
            let (number, Some(loaded)) = (unit.program, around.set.programs.get(unit.program)) else {
                continue;
            };
            let Some(rows) = unit.rows(&loaded.program, &series.probe_type, &decoded, range.clone(), missing)
            else {
                continue;
            };
            last = LastSample::default();
            last.follow(run, &rows);
            let mut derived = Vec::new();
            let events = unit.evaluator.step(&loaded.program, dac_time, &rows, &mut derived);
            found.derived(&self.instance, number, derived);
            self.report(around, number, Some(context), events, found);
        }
        if last.0.is_some() {
            self.last = last;
        }
        self.dac_time = self.dac_time.max(dac_time);
    }

    /// Makes results of events.
    fn report(
        &self,
        around: EvaluationContext<'_>,
        program: usize,
        context: Option<Context>,
        events: Vec<Event>,
        found: &mut EvaluationOutput,
    ) {
        let Some(LoadedProgram { program, .. }) = around.set.programs.get(program) else { return };
        let run = context.map(|context| context.run);
        for (event, run, index) in self.last.identify(run, events) {
            found.has_silence |= event.sequence.is_none();
            if let Some(result) = self.result(around, program, (event, run, index), context) {
                found.event(result);
            }
        }
    }

    fn result(
        &self,
        around: EvaluationContext<'_>,
        program: &Program,
        (event, run, index): (Event, Option<Uuid>, u32),
        context: Option<Context>,
    ) -> Option<RuleEvent> {
        let rule = program.rules.get(event.rule)?;
        let cause = match (event.sequence, event.is_known, context) {
            (None, ..) => Some(cause::of_silence(around.dac, &self.instance, self.dac_time)),
            (Some(_), false, Some(Context { run, first, missing, gap })) if missing > 0 => {
                cause::of_missing(&self.instance, (run, first), self.last.0, missing, gap)
            }
            _ => None,
        };
        Some(result::of_event(rule, &self.instance, (event, run, index), cause, around.now))
    }

    /// Returns the checkpoint of its rules.
    pub fn checkpoint(&self, set: &RuleSet) -> Option<(CheckpointKey, Checkpoint)> {
        let (position, last, dac_time, epoch) = (self.at, self.last, self.dac_time, self.epoch);
        let at = At { position, last, dac_time, epoch, is_handed: false };
        Some((self.key(), checkpoint::write(at, self.states(set))?))
    }

    pub fn key(&self) -> CheckpointKey {
        checkpoint::key(&self.instance.node, &self.instance.name)
    }

    fn states(&self, set: &RuleSet) -> Vec<SavedState> {
        let states = self
            .units
            .iter()
            .filter_map(|unit| Some(unit.evaluator.save(&set.programs.get(unit.program)?.program)));
        states.flatten().collect()
    }
}

/// The samples whose events are reported.
#[derive(Debug, Clone, Copy)]
struct Context {
    run: Uuid,
    /// The number of the first one.
    first: u64,
    missing: u64,
    gap: Option<Cause>,
}

fn demand(instance: &Arc<Instance>) -> Option<DemandGuard> {
    instance.is_relayed().then(|| instance.register_demand(Delivery::Every))
}

fn reader(instance: &Arc<Instance>, at: Position, archive: Option<&Arc<dyn StoredSamples>>) -> Reader {
    Reader::new(&instance.node, &instance.name, Start::Position(at))
        .with_archive(archive.map(|archive| archive.history()))
        .with_log(Arc::new(InstanceLog(instance.clone())))
}

impl Drop for Source {
    fn drop(&mut self) {
        let wake: Arc<dyn Wake> = self.wake.clone();
        self.instance.log.remove_reader(&wake);
    }
}
