//! The values of another input at a time.

use super::queue::{Queue, Sample};
use crate::{
    evaluate::{
        expression::{Evaluation, compare_tally},
        kleene::Kleene,
        rows::Rows,
        window::Memory,
    },
    program::{Condition, Feed, Number, Value},
};

/// Samples that are taken at once.
const PART: usize = 1_024;

/// An input beside the first one.
#[derive(Debug)]
pub struct Other {
    pub input: usize,
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
        Self { input, states, queue: Queue::new(values), taken: None, newest: None }
    }

    /// Whether its newest sample is newer than this time: unless the clock is set back, none comes that is not.
    pub fn has_passed(&self, time: u64) -> bool {
        self.newest.is_some_and(|newest| newest > time)
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
            let older = self.queue.pop_prefix(PART, |sample| sample.time <= time);
            if older.is_empty() {
                break;
            }
            self.take(feeds, &older);
        }
        // A sample that is missing may be older than this time.
        let is_whole = self.queue.front().is_none_or(|next| next.missing == 0);
        // After a step of the clock of the first input there is nothing of before.
        let age = self.taken.filter(|_| is_whole).and_then(|taken| time.checked_sub(taken));
        for (at, state) in &mut self.states {
            let Some(feed) = feeds.get(*at) else { continue };
            let is_young = age.is_some_and(|age| age <= feed.max_age);
            set(*at, if is_young { state.value(&feed.value, time) } else { f64::NAN });
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
