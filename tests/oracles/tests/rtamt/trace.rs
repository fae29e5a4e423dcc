//! Random samples at regular times.

use fastrand::Rng;
use oasis_oracles::Sample;
use serde_json::{Map, Value, json};

/// Samples a period apart; some are missing.
#[derive(Debug)]
pub struct Trace {
    /// Milliseconds.
    pub period: u64,
    steps: Vec<Option<[f64; 3]>>,
}

impl Trace {
    pub fn random(has_gaps: bool, has_unknown: bool, random: &mut Rng) -> Self {
        let period = *random.choice(&[100, 500, 1_000]).expect("some");
        let mut values = Values::new();
        let mut steps = Vec::new();
        for at in 0..random.usize(4..40) {
            let known = values.next(has_unknown, random);
            let is_missing = has_gaps && at > 0 && random.u8(0..10) == 0;
            steps.push((!is_missing).then_some(known));
        }
        // Samples that are missing at the end are not known to be missing.
        while steps.last().is_some_and(Option::is_none) {
            steps.pop();
        }
        Self { period, steps }
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether a sample came at this step.
    pub fn is_seen(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(Option::is_some)
    }

    /// The number of a sample is its step.
    pub fn samples(&self) -> Vec<Sample> {
        let sample = |(step, values): (usize, &Option<[f64; 3]>)| {
            let step = step as u64;
            Some(Sample { time: 1_000_000 + step * self.period, sequence: step, values: (*values)? })
        };
        self.steps.iter().enumerate().filter_map(sample).collect()
    }

    /// The step of a time in nanoseconds.
    pub fn step(&self, time: u64) -> usize {
        ((time / oasis_oracles::MS - 1_000_000) / self.period) as usize
    }

    /// The signals.
    pub fn signals(&self, random: &mut Rng) -> Value {
        let ages: Vec<_> = (0..self.steps.len()).map(|step| step as f64 + 0.5).collect();
        signals(&self.steps, &ages, random)
    }
}

/// The signals of samples with these ages. An unknown value is anything.
pub fn signals(steps: &[Option<[f64; 3]>], ages: &[f64], random: &mut Rng) -> Value {
    let mut signals = Map::new();
    for (column, name) in ["x", "y", "flag"].into_iter().enumerate() {
        let values = steps.iter().map(|step| step.map_or(f64::NAN, |values| values[column]));
        let known: Vec<f64> = values.clone().map(|value| f64::from(u8::from(!value.is_nan()))).collect();
        let anything =
            values.map(|value| if value.is_nan() { f64::from(random.i8(-9..9)) + 0.125 } else { value });
        signals.insert(name.into(), json!(anything.collect::<Vec<_>>()));
        signals.insert(format!("k{name}"), json!(known));
    }
    let seen: Vec<_> = steps.iter().map(|step| f64::from(u8::from(step.is_some()))).collect();
    signals.insert("seen".into(), json!(seen));
    signals.insert("age".into(), json!(ages));
    signals.into()
}

/// Values that often stay as they were, so that something lasts.
pub struct Values([f64; 3]);

impl Values {
    pub fn new() -> Self {
        Self([0.25, 0.375, 0.0])
    }

    /// No sum or difference of them is a whole number.
    pub fn next(&mut self, has_unknown: bool, random: &mut Rng) -> [f64; 3] {
        let fresh = [
            f64::from(random.i8(-2..6)) + 0.25,
            f64::from(random.i8(-2..6)) + 0.375,
            f64::from(random.u8(0..2)),
        ];
        for (value, fresh) in self.0.iter_mut().zip(fresh) {
            if random.u8(0..10) < 4 {
                *value = fresh;
            }
        }
        self.0.map(|value| if has_unknown && random.u8(0..12) == 0 { f64::NAN } else { value })
    }
}
