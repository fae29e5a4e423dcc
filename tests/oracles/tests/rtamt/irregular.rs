//! Rules over samples at irregular times: formulas in dense time, where a value lasts until the next sample.
//!
//! `raise C for D` without `clear` is active where `historically[0, D] C` holds, at each sample. An interval that begins at a sample has the same values in both
//! views; one that begins later has the value before it too, so `always[A, B]` is compared with A = 0 alone.

use crate::{
    case::Comparison,
    formula::Formula,
    trace::{Values, signals},
};
use fastrand::Rng;
use oasis_oracles::{MS, Sample, events, program};
use oasis_rules::{Event, EventKind, Standing};
use serde_json::{Value, json};

/// Times and durations are multiples of it, in milliseconds, so that both evaluators compare the same numbers.
const GRID: u64 = 125;

/// A random case.
pub fn random(number: usize, random: &mut Rng) -> Value {
    let samples = samples(random);
    let duration = random.u64(1..24) * GRID;
    let seconds = duration as f64 / 1e3;
    let condition = Formula::plain(2, random);
    let (rule, comparisons) = match random.u8(0..3) {
        0 => {
            // An unknown condition clears it: it is active only where the formula is known to be true.
            let rule = format!("alarm A {{ raise {} for {duration}ms; on_unknown clear; }}", condition.ours);
            let formula = format!(
                "((age > {}) and (historically[0:{seconds}]{}))",
                seconds - 0.0625,
                condition.is_true()
            );
            let found = events(&program(&rule), &samples, random);
            (rule, vec![Comparison { what: "irregular active", formula, expected: active(&samples, &found) }])
        }
        form => {
            let when = Formula::plain(1, random);
            let is_check = form == 1;
            let rule = if is_check {
                format!("check A {{ after {}: always[0s, {duration}ms] {}; }}", when.ours, condition.ours)
            } else {
                format!("event A {{ when {} then {} within {duration}ms; }}", when.ours, condition.ours)
            };
            let found = events(&program(&rule), &samples, random);
            let (is_true, is_false) = (condition.is_true(), condition.is_false());
            let all = |of: &str| format!("(always[0:{seconds}]{of})");
            let some = |of: &str| format!("(eventually[0:{seconds}]{of})");
            let (good, bad) =
                if is_check { (all(&is_true), some(&is_false)) } else { (some(&is_true), all(&is_false)) };
            let good_kind = if is_check { EventKind::Satisfied } else { EventKind::Matched };
            let verdicts = |kind| verdicts(&samples, &found, kind);
            let comparisons = vec![
                Comparison { what: "irregular good", formula: good, expected: verdicts(good_kind) },
                Comparison { what: "irregular bad", formula: bad, expected: verdicts(EventKind::Violated) },
            ];
            (rule, comparisons)
        }
    };
    let times: Vec<_> = samples.iter().map(|sample| seconds_of(sample.time)).collect();
    let ages: Vec<_> = samples.iter().map(|sample| seconds_of(sample.time - samples[0].time)).collect();
    let steps: Vec<_> = samples.iter().map(|sample| Some(sample.values)).collect();
    let comparisons: Vec<_> = comparisons.iter().map(Comparison::to_json).collect();
    json!({
        "case": number,
        "rule": rule,
        "times": times,
        "signals": signals(&steps, &ages, random),
        "comparisons": comparisons,
    })
}

fn seconds_of(time: u64) -> f64 {
    time as f64 / 1e3
}

fn samples(random: &mut Rng) -> Vec<Sample> {
    let (mut values, mut time) = (Values::new(), 1_000_000);
    let has_unknown = random.bool();
    let next = |sequence| {
        time += random.u64(1..9) * GRID;
        Sample { time, sequence, values: values.next(has_unknown, random) }
    };
    (0..30).map(next).collect()
}

fn active(samples: &[Sample], found: &[Event]) -> Vec<Option<bool>> {
    let last = |sample: &Sample| found.iter().rfind(|event| event.time <= sample.time * MS);
    let is_active = |sample| last(sample).is_some_and(|event| event.standing == Some(Standing::Active));
    samples.iter().map(|sample| Some(is_active(sample))).collect()
}

/// Whether the verdict on the start at each sample is of this kind; none without one.
fn verdicts(samples: &[Sample], found: &[Event], kind: EventKind) -> Vec<Option<bool>> {
    let verdict = |sample: &Sample| found.iter().find(|event| event.since == Some(sample.time * MS));
    samples.iter().map(|sample| verdict(sample).map(|event| event.kind == kind)).collect()
}
