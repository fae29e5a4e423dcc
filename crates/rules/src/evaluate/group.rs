//! A rule that reads several inputs, for instances that belong together.
//!
//! A group is evaluated at each sample of its first input, with the values that the other inputs have at the time of
//! that sample. An evaluation waits until each other input has a newer sample, or until the DAC has received nothing
//! for it in [`JOIN_WAIT_NANOS`]. Samples come in the order of DAC time, topic and sequence number. Therefore the same samples
//! give the same events, however batches are cut and whenever they are read.
//!
//! Instances of one node share its clock. Times of several nodes are compared on the clock of the DAC: each sample is placed by the offset of its node's clock that
//! was measured last when it came. Measurements are samples too, and come in the same order.

mod clock;
mod other;
mod queue;
mod saved;

use super::{
    event::Event,
    instance::{Derived, State, step_rules},
    rows::{RESTART, Rows},
};
use crate::program::{Feed, Program, Source};
use clock::Timeline;
use queue::{Queue, Sample};

pub use clock::{CLOCK_VALIDITY_NANOS, Clock, ClockOffset};
pub use other::FeedState;
use other::Other;
pub use queue::QUEUE_BYTES;
use serde::{Deserialize, Serialize};

/// Time that an evaluation waits for newer samples of the other inputs, in nanoseconds of DAC time.
pub const JOIN_WAIT_NANOS: u64 = 2_000_000_000;

/// The states of a rule that reads several inputs, and of the rules that read what it derives.
#[derive(Debug)]
pub struct Group {
    rule: usize,
    states: Vec<(usize, State)>,
    /// Samples of the first input that wait.
    pending: Queue<PendingSample>,
    others: Vec<Other>,
    /// The clocks of all nodes, that of the first input before the others; none if there is only one node.
    clocks: Vec<Clock>,
    /// Corrected times of the first input.
    timeline: Timeline,
    /// The newest DAC time.
    dac_time: u64,
    /// The time of the newest sample of the first input.
    last_time: Option<u64>,
    /// The time of the newest sample that was evaluated, on the clock of its node and corrected.
    evaluated: Times,
    figures: GroupFigures,
}

/// Counters of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupFigures {
    /// Samples of other inputs that came after an evaluation to which they belong.
    pub late: u64,
    /// Samples that did not fit into its memory: they make values unknown.
    pub overflowed: u64,
    /// Samples whose time on the clock of the DAC is not known: they make values unknown.
    pub unaligned: u64,
}

/// The time of a sample: on the clock of its node, and on that of the DAC, if that is known.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Times {
    own: Option<u64>,
    corrected: Option<u64>,
}

/// Samples of the first input that were evaluated together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluated {
    /// The node's run, as the one who gave the samples says.
    pub run: u128,
    /// The sequence number of the first one.
    pub first: u64,
    /// Samples missing before it.
    pub missing: u64,
    /// Sequence number and time of the last one.
    pub last: (u64, u64),
    /// The events. Their DAC time is that of the batch, or the end of the wait, that let the samples be evaluated.
    pub events: Vec<Event>,
    /// Samples of derived instances.
    pub derived: Vec<Derived>,
}

/// A sample of the first input.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PendingSample {
    sample: Sample,
    /// Its time on the clock of the DAC, if that matters and is known.
    corrected: Option<u64>,
    sequence: u64,
    run: u128,
    /// When the DAC received it.
    dac_time: u64,
}

impl PendingSample {
    fn deadline(&self) -> u64 {
        self.dac_time.saturating_add(JOIN_WAIT_NANOS)
    }

    fn times(&self) -> Times {
        Times { own: Some(self.sample.time), corrected: self.corrected }
    }
}

impl Group {
    /// Creates the group of a rule, for an instance of its first input, by node and name; `None` if the rule reads one
    /// input only. The group needs the measurements of these [clocks](Program::clocks).
    pub fn for_instance(program: &Program, rule: usize, driver: (&str, &str)) -> Option<Self> {
        let mut group = Self::new(program, rule)?;
        let nodes = program.clocks(rule, driver);
        let first = program.rules.get(rule)?.input;
        for other in &mut group.others {
            let partner = program.partner(first, other.input, driver);
            let clock = partner.and_then(|(node, _)| nodes.iter().position(|known| *known == node));
            // Instances of the first node share its clock.
            other.clock = clock.filter(|clock| *clock > 0);
        }
        group.clocks = vec![Clock::default(); nodes.len()];
        Some(group)
    }

    /// Takes the clocks of all nodes as they are: no measurements exist.
    pub fn trust_clocks(&mut self) {
        self.clocks.fill(Clock::exact());
    }

    /// Takes a measurement of the clock of this number, which came at this DAC time.
    pub fn measure(
        &mut self,
        program: &Program,
        clock: usize,
        (dac_time, offset): (u64, ClockOffset),
        found: &mut Vec<Evaluated>,
    ) {
        self.enter(program, dac_time, found);
        if let Some(clock) = self.clocks.get_mut(clock) {
            clock.measure(dac_time, offset);
        }
    }

    /// Creates the group of a rule whose instances are of one node, before the first sample; `None` if the rule reads
    /// one input only.
    pub fn new(program: &Program, rule: usize) -> Option<Self> {
        let found = program.rules.get(rule).filter(|found| !found.feeds.is_empty())?;
        let of_group = program.rules.iter().enumerate().filter(|(at, _)| program.joined(*at) == Some(rule));
        let width = |input: usize| program.inputs.get(input).map_or(0, |input| input.columns.len());
        let other = |input: usize| Other::new(input, &found.feeds, width(input));
        Some(Self {
            rule,
            states: of_group.map(|(at, rule)| (at, State::new(rule))).collect(),
            pending: Queue::new(width(found.input)),
            others: found.others().into_iter().map(other).collect(),
            clocks: Vec::new(),
            timeline: Timeline::default(),
            dac_time: 0,
            last_time: None,
            evaluated: Times::default(),
            figures: GroupFigures::default(),
        })
    }

    /// The number of the rule.
    pub fn rule(&self) -> usize {
        self.rule
    }

    /// Returns its counters since it was created.
    pub fn figures(&self) -> GroupFigures {
        self.figures
    }

    /// The samples of the first input that wait for those of the others.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The DAC time at which samples are evaluated that wait now.
    pub fn deadline(&self) -> Option<u64> {
        self.pending.front().map(PendingSample::deadline)
    }

    /// Sets the state of an alarm that is known from elsewhere, so that it can be cleared.
    pub fn set_standing(&mut self, rule: usize, standing: super::Standing) {
        if let Some((_, state)) = self.states.iter_mut().find(|(at, _)| *at == rule) {
            state.set_standing(standing);
        }
    }

    /// Takes samples of the first input, of this run of the node, which came at this DAC time.
    pub fn push_driver(
        &mut self,
        program: &Program,
        (run, dac_time): (u128, u64),
        mut rows: Rows,
        found: &mut Vec<Evaluated>,
    ) {
        self.enter(program, dac_time, found);
        rows.mark_steps(self.last_time);
        self.last_time = rows.times.last().copied().or(self.last_time);
        for at in 0..rows.len() {
            if self.pending.is_full() {
                self.evaluate_ready(program, found);
            }
            if self.pending.is_full()
                && let Some(oldest) = self.pending.pop()
            {
                self.figures.overflowed += 1;
                self.evaluate(program, vec![oldest], (self.dac_time, false), found);
            }
            let (sample, sequence) = (Sample::of(&rows, at), rows.sequences[at]);
            let clock = self.clocks.first();
            let corrected = clock.and_then(|clock| clock.corrected(sample.time, dac_time));
            self.figures.unaligned += u64::from(clock.is_some() && corrected.is_none());
            let corrected = corrected.map(|corrected| self.timeline.place(corrected));
            self.pending.push(PendingSample { sample, corrected, sequence, run, dac_time });
        }
        self.evaluate_ready(program, found);
    }

    /// Takes samples of another input, which came at this DAC time.
    pub fn push_other(
        &mut self,
        program: &Program,
        input: usize,
        dac_time: u64,
        rows: &Rows,
        found: &mut Vec<Evaluated>,
    ) {
        self.enter(program, dac_time, found);
        let Some(which) = self.others.iter().position(|other| other.input == input) else { return };
        for at in 0..rows.len() {
            let mut sample = Sample::of(rows, at);
            let is_placed = self.place(which, dac_time, &mut sample);
            if !is_placed || self.others[which].has_passed(Some(sample.time)) {
                // Nothing will come any more that is older than this on the clock before.
                self.evaluate_all(program, found);
                self.others[which].restart();
                sample.missing = RESTART;
            } else if self.others[which].of(self.evaluated).is_some_and(|evaluated| sample.time <= evaluated)
            {
                self.figures.late += 1;
            }
            if !is_placed {
                self.others[which].is_lost = true;
                continue;
            }
            if std::mem::take(&mut self.others[which].is_lost) {
                sample.missing = RESTART;
            }
            if self.others[which].is_full() {
                self.evaluate_ready(program, found);
            }
            if self.others[which].is_full() {
                self.figures.overflowed += 1;
                self.others[which].take_oldest(feeds(program, self.rule));
            }
            self.others[which].push(sample);
        }
        self.evaluate_ready(program, found);
    }

    /// Gives a sample of another input its time on the clock that is compared. Returns false if that time is unknown.
    fn place(&mut self, which: usize, dac_time: u64, sample: &mut Sample) -> bool {
        let Some(other) = self.others.get_mut(which) else { return false };
        let Some(clock) = other.clock.and_then(|clock| self.clocks.get(clock)) else { return true };
        let corrected = clock.corrected(sample.time, dac_time);
        self.figures.unaligned += u64::from(corrected.is_none());
        let placed = corrected.map(|corrected| other.timeline.place(corrected));
        sample.time = placed.unwrap_or(sample.time);
        placed.is_some()
    }

    /// Evaluates samples that have waited, up to this DAC time, of which all samples have come.
    pub fn pass(&mut self, program: &Program, dac_time: u64, found: &mut Vec<Evaluated>) {
        while let Some(deadline) = self.deadline().filter(|deadline| *deadline <= dac_time) {
            self.dac_time = self.dac_time.max(deadline);
            let due = self.pending.pop_while(|first, next| {
                next.run == first.run && next.deadline() == deadline && first.deadline() == deadline
            });
            self.evaluate(program, due, (self.dac_time, true), found);
            self.evaluate_ready(program, found);
        }
    }

    fn enter(&mut self, program: &Program, dac_time: u64, found: &mut Vec<Evaluated>) {
        self.pass(program, dac_time.saturating_sub(1), found);
        self.dac_time = self.dac_time.max(dac_time);
    }

    /// Evaluates the samples that all other inputs have passed.
    fn evaluate_ready(&mut self, program: &Program, found: &mut Vec<Evaluated>) {
        loop {
            let others = &self.others;
            let is_ready =
                |asked: &PendingSample| others.iter().all(|other| other.has_passed(other.of(asked.times())));
            let ready = self.pending.pop_while(|first, next| next.run == first.run && is_ready(next));
            if ready.is_empty() {
                return;
            }
            self.evaluate(program, ready, (self.dac_time, true), found);
        }
    }

    /// Evaluates what waits, with what has come.
    fn evaluate_all(&mut self, program: &Program, found: &mut Vec<Evaluated>) {
        while !self.pending.is_empty() {
            let all = self.pending.pop_while(|first, next| next.run == first.run);
            self.evaluate(program, all, (self.dac_time, true), found);
        }
    }

    /// Evaluates samples of one run at a DAC time. Unless it is known what has come, values of other inputs are unknown.
    fn evaluate(
        &mut self,
        program: &Program,
        asked: Vec<PendingSample>,
        (dac_time, is_known): (u64, bool),
        found: &mut Vec<Evaluated>,
    ) {
        let (Some(first), Some(last)) = (asked.first(), asked.last()) else { return };
        let feeds = feeds(program, self.rule);
        let (run, missing) = (first.run, first.sample.missing);
        let (first, last) = (first.sequence, (last.sequence, last.sample.time));
        let mut joined = vec![vec![f64::NAN; asked.len()]; feeds.len()];
        if is_known {
            for (at, asked) in asked.iter().enumerate() {
                let mut set = |feed: usize, value: f64| joined[feed][at] = value;
                for other in &mut self.others {
                    if let Some(time) = other.of(asked.times()) {
                        other.values(feeds, time, &mut set);
                    }
                }
            }
        }
        self.evaluated = asked.last().map(PendingSample::times).unwrap_or_default();
        let mut rows = Rows { sequences: asked.iter().map(|one| one.sequence).collect(), ..Rows::default() };
        asked.iter().for_each(|one| one.sample.append_to(&mut rows));
        let mut derived = Vec::new();
        let mut events = step_rules(program, &mut self.states, dac_time, &rows, &joined, &mut derived);
        events.iter_mut().for_each(|event| event.dac_time = dac_time);
        found.push(Evaluated { run, first, missing, last, events, derived });
    }
}

fn feeds(program: &Program, rule: usize) -> &[Feed] {
    program
        .rules
        .get(rule)
        .filter(|rule| matches!(rule.source, Source::Input(_)))
        .map_or(&[], |rule| &rule.feeds)
}
