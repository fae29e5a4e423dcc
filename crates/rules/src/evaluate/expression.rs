//! Expressions over columns.

use super::{
    kleene::Kleene,
    rows::{Rows, known},
    window::{Memory, Tally, Window},
};
use crate::program::{Aggregate, Arithmetic, Comparison, Condition, Count, Number};
use std::borrow::Cow;

/// The two numbers that an event shows, for each sample.
#[derive(Debug, Default)]
pub struct Witness {
    values: Vec<f64>,
    limits: Vec<f64>,
}

impl Witness {
    /// Value and limit of a sample, as far as they are known.
    pub fn at(&self, row: usize) -> (Option<f64>, Option<f64>) {
        let of = |column: &[f64]| column.get(row).copied().filter(|value| !value.is_nan());
        (of(&self.values), of(&self.limits))
    }
}

/// Evaluates the expressions of one rule over samples.
pub struct Evaluation<'a> {
    pub rows: &'a Rows,
    pub memories: &'a mut [Memory],
    /// The values of other inputs at each sample, by number of the feed.
    joined: &'a [Vec<f64>],
    witness: Witness,
}

impl<'a> Evaluation<'a> {
    pub fn new(rows: &'a Rows, memories: &'a mut [Memory], joined: &'a [Vec<f64>]) -> Self {
        Self { rows, memories, joined, witness: Witness::default() }
    }

    /// The two numbers of the last condition with a witness.
    pub fn take_witness(&mut self) -> Witness {
        std::mem::take(&mut self.witness)
    }

    pub fn number(&mut self, number: &Number) -> Cow<'a, [f64]> {
        match number {
            Number::Column(index) => self.column(&self.rows.columns, *index),
            Number::Joined(feed) => self.column(self.joined, *feed),
            Number::Constant(value) => Cow::Owned(vec![known(*value); self.rows.len()]),
            Number::Scale { of, factor, offset } => self.each(of, |value| value * factor + offset),
            Number::Abs(of) => self.each(of, f64::abs),
            Number::Sqrt(of) => self.each(of, f64::sqrt),
            Number::Arithmetic(operator, left, right) => {
                let (left, right) = (self.number(left), self.number(right));
                Cow::Owned(arithmetic(*operator, &left, &right))
            }
            Number::Window { aggregate, of, slot } => self.aggregate(*aggregate, of, *slot),
            Number::Rate { of, is_counter, slot } => {
                let values = self.number(of);
                Cow::Owned(
                    self.through(*slot, &values, |window| window.rate(*is_counter, window.newest_time())),
                )
            }
            Number::Count(count) => Cow::Owned(self.count(count).into_iter().map(Tally::exact).collect()),
        }
    }

    fn column(&self, columns: &'a [Vec<f64>], index: usize) -> Cow<'a, [f64]> {
        match columns.get(index) {
            Some(column) => Cow::Borrowed(column),
            None => Cow::Owned(vec![f64::NAN; self.rows.len()]),
        }
    }

    fn each(&mut self, of: &Number, compute: impl Fn(f64) -> f64) -> Cow<'a, [f64]> {
        let mut values = self.number(of).into_owned();
        values.iter_mut().for_each(|value| *value = known(compute(*value)));
        Cow::Owned(values)
    }

    fn aggregate(&mut self, aggregate: Aggregate, of: &Number, slot: usize) -> Cow<'a, [f64]> {
        let values = self.number(of);
        Cow::Owned(self.through(slot, &values, |window| window.aggregate(aggregate)))
    }

    /// Returns the result of a window after each sample.
    fn through<T>(&mut self, slot: usize, values: &[f64], say: impl Fn(&Window) -> T) -> Vec<T> {
        let Some(Memory::Window(window)) = self.memories.get_mut(slot) else { return Vec::new() };
        let samples = self.rows.times.iter().zip(&self.rows.missing).zip(values);
        let said = samples.map(|((&time, &missing), &value)| {
            window.push(time, value, missing);
            say(window)
        });
        said.collect()
    }

    /// Adds samples to a window.
    pub fn push(&mut self, slot: usize, values: &[f64]) {
        self.through(slot, values, |_| ());
    }

    fn count(&mut self, count: &Count) -> Vec<Tally> {
        let values: Vec<_> = self.condition(&count.of).into_iter().map(Kleene::to_number).collect();
        self.through(count.slot, &values, Window::tally)
    }

    pub fn condition(&mut self, condition: &Condition) -> Vec<Kleene> {
        match condition {
            Condition::Column(index) => {
                let values = self.number(&Number::Column(*index));
                values.iter().map(|value| Kleene::from_number(*value)).collect()
            }
            Condition::Joined(feed) => {
                let values = self.number(&Number::Joined(*feed));
                values.iter().map(|value| Kleene::from_number(*value)).collect()
            }
            Condition::Compare { operator, left, right, is_witness, unit: _ } => {
                let (left, right) = (self.number(left), self.number(right));
                let found =
                    left.iter().zip(&*right).map(|(left, right)| compare(*operator, *left, *right)).collect();
                if *is_witness {
                    self.witness = Witness { values: left.into_owned(), limits: right.into_owned() };
                }
                found
            }
            Condition::Counted { count, operator, limit, is_witness } => {
                self.counted(count, *operator, *limit, *is_witness)
            }
            Condition::Not(of) => self.condition(of).into_iter().map(Kleene::negated).collect(),
            Condition::And(left, right) => self.both(left, right, Kleene::min),
            Condition::Or(left, right) => self.both(left, right, Kleene::max),
            Condition::Rising(of, slot) => self.edge(of, *slot, |before, now| before.negated().min(now)),
            Condition::Falling(of, slot) => self.edge(of, *slot, |before, now| before.min(now.negated())),
        }
    }

    fn both(
        &mut self,
        left: &Condition,
        right: &Condition,
        join: fn(Kleene, Kleene) -> Kleene,
    ) -> Vec<Kleene> {
        let (left, right) = (self.condition(left), self.condition(right));
        left.into_iter().zip(right).map(|(left, right)| join(left, right)).collect()
    }

    fn counted(&mut self, count: &Count, operator: Comparison, limit: f64, is_witness: bool) -> Vec<Kleene> {
        let tallies = self.count(count);
        if is_witness {
            let values = tallies.iter().map(|tally| tally.exact()).collect();
            self.witness = Witness { values, limits: vec![limit; tallies.len()] };
        }
        tallies.into_iter().map(|tally| compare_tally(operator, tally, limit)).collect()
    }

    fn edge(&mut self, of: &Condition, slot: usize, say: fn(Kleene, Kleene) -> Kleene) -> Vec<Kleene> {
        let mut values = self.condition(of);
        let Some(Memory::Previous(previous)) = self.memories.get_mut(slot) else { return values };
        for (value, missing) in values.iter_mut().zip(&self.rows.missing) {
            let before = if *missing > 0 { Kleene::Unknown } else { *previous };
            *previous = *value;
            *value = say(before, *value);
        }
        values
    }
}

fn arithmetic(operator: Arithmetic, left: &[f64], right: &[f64]) -> Vec<f64> {
    let pairs = left.iter().zip(right);
    match operator {
        Arithmetic::Add => pairs.map(|(left, right)| known(left + right)).collect(),
        Arithmetic::Subtract => pairs.map(|(left, right)| known(left - right)).collect(),
        Arithmetic::Multiply => pairs.map(|(left, right)| known(left * right)).collect(),
        Arithmetic::Divide => pairs.map(|(left, right)| known(left / right)).collect(),
    }
}

fn compare(operator: Comparison, left: f64, right: f64) -> Kleene {
    if left.is_nan() || right.is_nan() {
        return Kleene::Unknown;
    }
    Kleene::from(match operator {
        Comparison::Less => left < right,
        Comparison::LessEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterEqual => left >= right,
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
    })
}

/// Known if all counts that are possible agree.
pub fn compare_tally(operator: Comparison, Tally { least, most }: Tally, limit: f64) -> Kleene {
    let (low, high) = (least as f64, most as f64);
    let [at_least, at_most] = [low, high].map(|count| compare(operator, count, limit));
    let is_between = low <= limit && limit <= high && low < high;
    match operator {
        Comparison::Equal | Comparison::NotEqual if is_between => Kleene::Unknown,
        _ if at_least == at_most => at_least,
        _ => Kleene::Unknown,
    }
}
