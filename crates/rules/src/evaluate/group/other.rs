//! The values of another input at a time.

use super::{
    Times,
    clock::Timeline,
    queue::{Queue, Sample},
};
use crate::{
    evaluate::{
        expression::{Evaluation, compare_tally},
        kleene::Kleene,
        rows::Rows,
        window::Memory,
    },
    program::{Alignment, Condition, Feed, Number, Value},
};

/// Samples that are taken at once.
const MAX_TAKEN_SAMPLES: usize = 1_024;

/// An input beside the first one.
#[derive(Debug)]
pub struct Other {
    pub input: usize,
    /// The number of the clock that corrects its times; none if it is that of the first input.
    pub clock: Option<usize>,
    pub timeline: Timeline,
    /// Whether its newest sample has no place in time, because its clock is not known.
    pub is_lost: bool,
    /// The states of its values, with the number of each feed.
    pub states: Vec<(usize, FeedState)>,
    /// Samples that are newer than the last evaluation.
    pub queue: Queue<Sample>,
    /// The time of the newest sample that the states have taken.
    pub taken: Option<u64>,
    /// The time of the newest sample.
    pub newest: Option<u64>,
}

/// The state of a value.
#[derive(Debug)]
pub struct FeedState {
    pub memories: Vec<Memory>,
    /// The value at the newest sample, unless it is that of a window.
    pub held: f64,
}

impl Other {
    pub fn new(input: usize, feeds: &[Feed], values: usize) -> Self {
        let of_input = feeds.iter().enumerate().filter(|(_, feed)| feed.input == input);
        let states = of_input.map(|(at, feed)| (at, FeedState::new(feed))).collect();
        Self {
            input,
            clock: None,
            timeline: Timeline::default(),
            is_lost: false,
            states,
            queue: Queue::new(values),
            taken: None,
            newest: None,
        }
    }

    /// The time that is compared with those of its samples.
    pub fn of(&self, times: Times) -> Option<u64> {
        if self.clock.is_some() { times.corrected } else { times.own }
    }

    /// Whether its newest sample is newer than this time: unless the clock is set back, none comes that is not. Nothing is expected of a time that is not known.
    pub fn has_passed(&self, time: Option<u64>) -> bool {
        time.is_none_or(|time| self.newest.is_some_and(|newest| newest > time))
    }

    /// Forgets the samples that wait: their clock is no longer that of those to come.
    pub fn restart(&mut self) {
        self.queue.clear();
        (self.taken, self.newest) = (None, None);
    }

    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    pub fn push(&mut self, sample: Sample) {
        self.newest = Some(sample.time);
        self.queue.push(sample);
    }

    /// Takes the oldest sample that waits.
    pub fn take_oldest(&mut self, feeds: &[Feed]) {
        let oldest: Vec<Sample> = self.queue.pop().into_iter().collect();
        self.take(feeds, &oldest);
    }

    /// Gives the value of each feed at a time.
    pub fn values(&mut self, feeds: &[Feed], time: u64, set: &mut impl FnMut(usize, f64)) {
        loop {
            let older = self.queue.pop_prefix(MAX_TAKEN_SAMPLES, |sample| sample.time <= time);
            if older.is_empty() {
                break;
            }
            self.take(feeds, &older);
        }
        let next = self.queue.front();
        // A sample that is missing may be older than this time, or nearer.
        let is_whole = next.is_none_or(|next| next.missing == 0);
        // After a step of the clock of the first input there is nothing of before.
        let age = self.taken.filter(|_| is_whole).and_then(|taken| time.checked_sub(taken));
        let next = next.map(|next| (next.time.saturating_sub(time), next));
        for (at, state) in &mut self.states {
            let (Some(feed), Some(age)) = (feeds.get(*at), age) else {
                set(*at, f64::NAN);
                continue;
            };
            let next = next.filter(|(later, _)| *later <= feed.max_age);
            let value = match feed.alignment {
                Alignment::Nearest => match next {
                    Some((later, next)) if later < age => value_of(&feed.value, next),
                    _ if age <= feed.max_age => state.held,
                    _ => f64::NAN,
                },
                _ if age > feed.max_age => f64::NAN,
                Alignment::Hold => state.value(&feed.value, time),
                Alignment::Linear => match next {
                    _ if age == 0 => state.held,
                    Some((later, next)) => between(state.held, value_of(&feed.value, next), (age, later)),
                    None => f64::NAN,
                },
            };
            set(*at, value);
        }
    }

    fn take(&mut self, feeds: &[Feed], samples: &[Sample]) {
        let Some(last) = samples.last() else { return };
        self.taken = Some(last.time);
        let mut rows = Rows::default();
        samples.iter().for_each(|sample| sample.append_to(&mut rows));
        for (at, state) in &mut self.states {
            if let Some(feed) = feeds.get(*at) {
                state.take(&feed.value, &rows);
            }
        }
    }
}

/// The value of a sample, without memory.
fn value_of(value: &Value, sample: &Sample) -> f64 {
    let mut rows = Rows::default();
    sample.append_to(&mut rows);
    let mut evaluation = Evaluation::new(&rows, &mut [], &[]);
    match value {
        Value::Number(number) => evaluation.number(number).last().copied().unwrap_or(f64::NAN),
        Value::Condition(condition) => {
            evaluation.condition(condition).last().map_or(f64::NAN, |last| last.to_number())
        }
    }
}

/// The number on the line between two, so long after the first and before the second one.
fn between(before: f64, after: f64, (age, later): (u64, u64)) -> f64 {
    before + (after - before) * (age as f64 / (age as f64 + later as f64))
}

impl FeedState {
    fn new(feed: &Feed) -> Self {
        Self { memories: feed.slots.iter().map(|slot| Memory::new(*slot)).collect(), held: f64::NAN }
    }

    /// Takes samples.
    fn take(&mut self, value: &Value, rows: &Rows) {
        let mut evaluation = Evaluation::new(rows, &mut self.memories, &[]);
        match value {
            Value::Number(Number::Window { of, slot, .. } | Number::Rate { of, slot, .. }) => {
                let values = evaluation.number(of);
                evaluation.push(*slot, &values);
            }
            Value::Number(Number::Count(count)) | Value::Condition(Condition::Counted { count, .. }) => {
                let values: Vec<f64> =
                    evaluation.condition(&count.of).into_iter().map(Kleene::to_number).collect();
                evaluation.push(count.slot, &values);
            }
            Value::Number(number) => {
                self.held = evaluation.number(number).last().copied().unwrap_or(f64::NAN)
            }
            Value::Condition(condition) => {
                self.held = evaluation.condition(condition).last().map_or(f64::NAN, |last| last.to_number());
            }
        }
    }

    /// The value at a time. A window ends there.
    fn value(&mut self, value: &Value, time: u64) -> f64 {
        let slot = match value {
            Value::Number(Number::Window { slot, .. } | Number::Rate { slot, .. }) => *slot,
            Value::Number(Number::Count(count)) | Value::Condition(Condition::Counted { count, .. }) => {
                count.slot
            }
            Value::Number(_) | Value::Condition(_) => return self.held,
        };
        let Some(Memory::Window(window)) = self.memories.get_mut(slot) else { return f64::NAN };
        window.expire(time);
        match value {
            Value::Number(Number::Window { aggregate, .. }) if !window.is_empty() => {
                window.aggregate(*aggregate)
            }
            Value::Number(Number::Rate { is_counter, .. }) => window.rate(*is_counter, time),
            Value::Number(Number::Count(_)) => window.tally().exact(),
            Value::Condition(Condition::Counted { operator, limit, .. }) => {
                compare_tally(*operator, window.tally(), *limit).to_number()
            }
            Value::Number(_) | Value::Condition(_) => f64::NAN,
        }
    }
}
