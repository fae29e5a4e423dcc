//! All rules of one instance of an input.

use super::{
    alarm::{self, AlarmState},
    derive::Deriver,
    engine::EVALUATION_CHUNK_SAMPLES,
    event::{Event, Standing},
    expression::{Evaluation, Witness},
    kleene::Kleene,
    obligation::{self, Demand, Tracker},
    rows::Rows,
    silence::Silence,
    window::{Memory, SavedMemory},
};
use crate::program::{Alarm, Body, Check, Condition, Derive, Program, Raise, Rule, Slot, Source, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The state of one rule for one instance.
#[derive(Debug, Clone)]
pub struct State {
    memories: Vec<Memory>,
    progress: Progress,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Progress {
    Alarm(AlarmState),
    Silence(Silence),
    Tracker(Tracker),
    Deriver(Deriver),
}

impl State {
    pub fn new(rule: &Rule) -> Self {
        let progress = match &rule.body {
            Body::Alarm(Alarm { raise: Raise::Silent(_), .. }) => Progress::Silence(Silence::new()),
            Body::Alarm(_) => Progress::Alarm(AlarmState::new()),
            Body::Event(_) | Body::Check(_) => Progress::Tracker(Tracker::default()),
            Body::Derive(derive) => Progress::Deriver(Deriver::new(derive.fields.len())),
        };
        Self { memories: rule.slots.iter().map(|slot| Memory::new(*slot)).collect(), progress }
    }
}

/// The saved part of a state.
#[derive(Serialize, Deserialize)]
struct StateContent {
    memories: Vec<SavedMemory>,
    progress: Progress,
}

impl State {
    pub fn save(&self) -> Option<Vec<u8>> {
        let memories = self.memories.iter().map(Memory::save).collect();
        seal(&StateContent { memories, progress: self.progress.clone() })
    }

    /// `None` if it is damaged, not of this rule, or exceeds its bounds.
    pub fn restore(rule: &Rule, bytes: &[u8]) -> Option<Self> {
        let StateContent { memories, progress } = open(bytes)?;
        let is_of_it = match (&progress, &rule.body) {
            (Progress::Silence(_), Body::Alarm(Alarm { raise: Raise::Silent(_), .. })) => true,
            (Progress::Alarm(_), Body::Alarm(Alarm { raise: Raise::Condition(_), .. })) => true,
            (Progress::Tracker(tracker), Body::Event(_) | Body::Check(_)) => tracker.is_bounded(),
            (Progress::Deriver(deriver), Body::Derive(derive)) => deriver.has_values(derive.fields.len()),
            _ => false,
        };
        let memories = restore_memories(&rule.slots, memories)?;
        is_of_it.then_some(Self { memories, progress })
    }
}

/// Length of the checksum of a state that is kept.
const CHECKSUM_BYTES: usize = 8;

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    Sha256::digest(bytes).first_chunk().copied().unwrap_or_default()
}

/// Bytes with a checksum.
pub fn seal(kept: &impl Serialize) -> Option<Vec<u8>> {
    let bytes = postcard::to_allocvec(kept).ok()?;
    Some([&checksum(&bytes)[..], &bytes].concat())
}

/// `None` if it is damaged, or has more than that.
pub fn open<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (sum, bytes) = bytes.split_first_chunk::<CHECKSUM_BYTES>()?;
    if *sum != checksum(bytes) {
        return None;
    }
    let (kept, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(kept)
}

/// `None` if they are not of these slots, or exceed their bounds.
pub fn restore_memories(slots: &[Slot], kept: Vec<SavedMemory>) -> Option<Vec<Memory>> {
    let is_of_them = kept.len() == slots.len();
    let memories = slots.iter().zip(kept).map(|(slot, kept)| Memory::restore(*slot, kept));
    let mut memories = memories.collect::<Option<Vec<_>>>().filter(|_| is_of_them)?;
    memories.shrink_to_fit();
    Some(memories)
}

/// The state of a rule for an instance, in a form to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedState {
    /// The name of the rule.
    pub rule: String,
    /// Its [fingerprint](Program::fingerprint): a state belongs to no other rule.
    pub fingerprint: [u8; 16],
    /// The state.
    pub state: Vec<u8>,
}

/// Samples of a derived instance, and the number of its rule.
pub type Derived = (usize, Rows);

/// The states of the rules that read one instance, evaluated on its own. The same samples give the same events as in an
/// [`Engine`](super::Engine) of many.
#[derive(Debug)]
pub struct Instance {
    /// By number of the rule, in their order.
    states: Vec<(usize, State)>,
    last_time: Option<u64>,
}

/// Events with the place of their samples in the batch.
type SampleEvents = Vec<(usize, Event)>;

impl Instance {
    /// Creates the state of an instance of an input, before the first sample.
    pub fn new(program: &Program, input: usize) -> Self {
        let of_input = program.rules.iter().enumerate().filter(|(_, rule)| rule.input == input);
        let rules = of_input.filter(|(at, _)| program.joined(*at).is_none());
        let mut states: Vec<_> = rules.map(|(at, rule)| (at, State::new(rule))).collect();
        // `Rule::memory_bytes` counts no more.
        states.shrink_to_fit();
        Self { states, last_time: None }
    }

    /// Whether a rule reads it.
    pub fn is_idle(&self) -> bool {
        self.states.is_empty()
    }

    /// The time of the last sample, nanoseconds on the node's clock.
    pub fn last_time(&self) -> Option<u64> {
        self.last_time
    }

    /// Continues after a sample of this time, which another instance of the rules took.
    pub fn continue_after(&mut self, last_time: Option<u64>) {
        self.last_time = last_time;
    }

    /// The states of all rules.
    pub fn save(&self, program: &Program) -> Vec<SavedState> {
        let saved = self.states.iter().filter_map(|(at, state)| {
            let (rule, fingerprint) = (program.rules.get(*at)?.name.clone(), program.fingerprint(*at)?);
            Some(SavedState { rule, fingerprint, state: state.save()? })
        });
        saved.collect()
    }

    /// Takes the states that belong to its rules. Returns the numbers of the other rules, which begin anew.
    pub fn restore(&mut self, program: &Program, saved: &[SavedState]) -> Vec<usize> {
        let mut anew = Vec::new();
        for (at, state) in &mut self.states {
            let restored = program.rules.get(*at).and_then(|rule| {
                let fingerprint = program.fingerprint(*at)?;
                let of_rule =
                    |saved: &&SavedState| saved.rule == rule.name && saved.fingerprint == fingerprint;
                State::restore(rule, &saved.iter().find(of_rule)?.state)
            });
            match restored {
                Some(restored) => *state = restored,
                None => anew.push(*at),
            }
        }
        anew
    }

    /// Sets the state of an alarm that is known from elsewhere, so that it can be cleared.
    pub fn set_standing(&mut self, rule: usize, standing: Standing) {
        if let Some((_, state)) = self.states.iter_mut().find(|(at, _)| *at == rule) {
            state.set_standing(standing);
        }
    }

    /// The state of an alarm; none of another rule.
    pub fn standing(&self, rule: usize) -> Option<Standing> {
        self.states.iter().find(|(at, _)| *at == rule)?.1.known_standing()
    }

    /// Takes the next samples, which came at this DAC time; silence before it is noticed first. Gives the samples of derived instances to `derived`.
    pub fn step(
        &mut self,
        program: &Program,
        dac_time: u64,
        rows: &Rows,
        derived: &mut Vec<Derived>,
    ) -> Vec<Event> {
        let mut events = self.pass(program, dac_time.saturating_sub(1));
        for part in rows.parts(EVALUATION_CHUNK_SAMPLES) {
            let found = self.batch(program, dac_time, part, derived);
            events.extend(found.into_iter().map(|event| Event { dac_time, ..event }));
        }
        events
    }

    /// Notices silence up to this DAC time, of which all samples have come.
    pub fn pass(&mut self, program: &Program, dac_time: u64) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(deadline) = self.deadline(program).filter(|deadline| *deadline <= dac_time) {
            let found = self.frontier(program, deadline);
            events.extend(found.into_iter().map(|event| Event { dac_time: deadline, ..event }));
        }
        events
    }

    /// Takes samples that came at this DAC time. Returns the events in the order of the samples.
    pub(super) fn batch(
        &mut self,
        program: &Program,
        dac_time: u64,
        mut rows: Rows,
        all_derived: &mut Vec<Derived>,
    ) -> Vec<Event> {
        rows.mark_steps(self.last_time);
        self.last_time = rows.times.last().copied().or(self.last_time);
        step_rules(program, &mut self.states, dac_time, &rows, &[], all_derived)
    }

    /// Notices silence up to this DAC time.
    pub(super) fn frontier(&mut self, program: &Program, dac_time: u64) -> Vec<Event> {
        let noticed = self.states.iter_mut().filter_map(|(at, state)| {
            let (silence, duration) = silence(state, program.rules.get(*at)?)?;
            Some(Event { rule: *at, ..silence.frontier(dac_time, duration)? })
        });
        noticed.collect()
    }

    /// Lets silence begin anew at this DAC time.
    pub fn restart(&mut self, program: &Program, dac_time: u64) {
        for (at, state) in &mut self.states {
            if let Some((silence, _)) = program.rules.get(*at).and_then(|rule| silence(state, rule)) {
                silence.restart(dac_time);
            }
        }
    }

    /// The first DAC time at which silence would be noticed.
    pub fn deadline(&mut self, program: &Program) -> Option<u64> {
        let deadlines = self.states.iter_mut().filter_map(|(at, state)| {
            let (silence, duration) = silence(state, program.rules.get(*at)?)?;
            silence.deadline(duration)
        });
        deadlines.min()
    }
}

/// Lets rules take samples, derived instances before their readers. Returns the events in the order of the samples.
pub fn step_rules(
    program: &Program,
    states: &mut [(usize, State)],
    dac_time: u64,
    rows: &Rows,
    joined: &[Vec<f64>],
    all_derived: &mut Vec<Derived>,
) -> Vec<Event> {
    let mut found = SampleEvents::new();
    let mut derived: HashMap<usize, Rows> = HashMap::new();
    for (at, state) in states {
        let Some(rule) = program.rules.get(*at) else { continue };
        let (rows, joined) = match rule.source {
            Source::Input(_) => (rows, joined),
            Source::Derived(source) => match derived.get(&source) {
                Some(rows) => (rows, &[][..]),
                None => continue,
            },
        };
        if rows.is_empty() {
            continue;
        }
        let mut report = |row: usize, event: Event| {
            let origin = rows.origins.get(row).copied().unwrap_or_default();
            found.push((origin, Event { rule: *at, ..event }));
        };
        if let Some(samples) = state.step(&rule.body, dac_time, (rows, joined), &mut report) {
            derived.insert(*at, samples);
        }
    }
    all_derived.extend(derived.into_iter().filter(|(_, rows)| !rows.is_empty()));
    found.sort_by_key(|(origin, _)| *origin);
    found.into_iter().map(|(_, event)| event).collect()
}

fn silence<'s>(state: &'s mut State, rule: &Rule) -> Option<(&'s mut Silence, u64)> {
    match (&mut state.progress, &rule.body) {
        (Progress::Silence(silence), Body::Alarm(Alarm { raise: Raise::Silent(duration), .. })) => {
            Some((silence, *duration))
        }
        _ => None,
    }
}

impl State {
    /// The state of an alarm; none of another rule.
    fn known_standing(&self) -> Option<Standing> {
        match &self.progress {
            Progress::Alarm(alarm) => Some(alarm.known_standing()),
            Progress::Silence(silence) => Some(silence.known_standing()),
            Progress::Tracker(_) | Progress::Deriver(_) => None,
        }
    }

    /// Sets the state of an alarm.
    pub fn set_standing(&mut self, standing: Standing) {
        match &mut self.progress {
            Progress::Alarm(alarm) => *alarm = AlarmState::standing(standing),
            Progress::Silence(silence) => *silence = Silence::standing(standing),
            Progress::Tracker(_) | Progress::Deriver(_) => {}
        }
    }

    /// Returns the samples of a derived instance.
    fn step(
        &mut self,
        body: &Body,
        dac_time: u64,
        (rows, joined): (&Rows, &[Vec<f64>]),
        report: &mut impl FnMut(usize, Event),
    ) -> Option<Rows> {
        let evaluation = Evaluation::new(rows, &mut self.memories, joined);
        match (body, &mut self.progress) {
            (Body::Alarm(alarm), Progress::Alarm(state)) => step_alarm(alarm, state, evaluation, report),
            (Body::Alarm(alarm), Progress::Silence(silence)) => {
                let first = (rows.times[0], rows.sequences[0]);
                let last = rows.times[rows.len() - 1];
                silence
                    .samples(dac_time, first, last, alarm.latch)
                    .into_iter()
                    .for_each(|event| report(0, event));
            }
            (Body::Event(event), Progress::Tracker(tracker)) => {
                let then = event.then.as_ref().map(|(then, within)| (then, Demand::Within(*within)));
                track(&event.when, then, tracker, evaluation, report);
            }
            (Body::Check(check), Progress::Tracker(tracker)) => {
                let Check { after, from, to, always } = check;
                track(after, Some((always, Demand::Always(*from, *to))), tracker, evaluation, report);
            }
            (Body::Derive(derive), Progress::Deriver(deriver)) => {
                return Some(step_derive(derive, deriver, evaluation));
            }
            // A state is made for its rule.
            (Body::Alarm(_) | Body::Event(_) | Body::Check(_) | Body::Derive(_), _) => {}
        }
        None
    }
}

fn step_alarm(
    alarm: &Alarm,
    state: &mut AlarmState,
    mut evaluation: Evaluation<'_>,
    report: &mut impl FnMut(usize, Event),
) {
    let Raise::Condition(held) = &alarm.raise else { return };
    let raise = evaluation.condition(&held.condition);
    let of_raise = evaluation.take_witness();
    let (clear, of_clear) = match &alarm.clear {
        Some(clear) => (Some(evaluation.condition(&clear.condition)), evaluation.take_witness()),
        None => (None, Witness::default()),
    };
    let settings = alarm::Settings {
        raise_for: held.duration,
        clear_for: alarm.clear.as_ref().map_or(0, |clear| clear.duration),
        latch: alarm.latch,
        on_unknown: alarm.on_unknown,
    };
    let rows = evaluation.rows;
    for row in 0..rows.len() {
        let clear = clear.as_ref().map_or_else(|| raise[row].negated(), |clear| clear[row]);
        let moment = alarm::Moment {
            time: rows.times[row],
            sequence: rows.sequences[row],
            missing: rows.missing[row],
            raise: raise[row],
            clear,
        };
        state.step(settings, moment, &mut |event| {
            let is_clear = event.kind == super::EventKind::Cleared && alarm.clear.is_some();
            let (value, limit) = if is_clear { of_clear.at(row) } else { of_raise.at(row) };
            report(row, shown(event, value, limit));
        });
    }
}

fn track(
    trigger: &Condition,
    then: Option<(&Condition, Demand)>,
    tracker: &mut Tracker,
    mut evaluation: Evaluation<'_>,
    report: &mut impl FnMut(usize, Event),
) {
    let triggers = evaluation.condition(trigger);
    let mut witness = evaluation.take_witness();
    let conditions = then.map(|(condition, _)| evaluation.condition(condition));
    if conditions.is_some() && matches!(then, Some((_, Demand::Always(..)))) {
        witness = evaluation.take_witness();
    }
    let rows = evaluation.rows;
    for row in 0..rows.len() {
        let moment = obligation::Moment {
            time: rows.times[row],
            sequence: rows.sequences[row],
            missing: rows.missing[row],
            trigger: triggers[row],
            condition: conditions.as_ref().map_or(Kleene::Unknown, |conditions| conditions[row]),
        };
        let (value, limit) = witness.at(row);
        let mut report = |event: Event| report(row, shown(event, value, limit));
        match then {
            None => tracker.step_alone(moment, &mut report),
            Some((_, demand)) => tracker.step(demand, moment, &mut report),
        }
    }
}

/// An event with the numbers that were compared. Nothing was compared in a gap.
fn shown(event: Event, value: Option<f64>, limit: Option<f64>) -> Event {
    if event.kind == super::EventKind::Unknown { event } else { Event { value, limit, ..event } }
}

fn step_derive(derive: &Derive, deriver: &mut Deriver, mut evaluation: Evaluation<'_>) -> Rows {
    let fields: Vec<Vec<f64>> = derive
        .fields
        .iter()
        .map(|(_, value)| match value {
            Value::Number(number) => evaluation.number(number).into_owned(),
            Value::Condition(condition) => {
                evaluation.condition(condition).into_iter().map(Kleene::to_number).collect()
            }
        })
        .collect();
    deriver.step(derive.every, evaluation.rows, &fields)
}
