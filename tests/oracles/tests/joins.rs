//! Values of other inputs equal those of an evaluator that follows the reference sentence by sentence: `hold`, `linear`, `nearest`, windows and counts over another
//! input, for nodes whose clocks are off and measured anew, with delays, losses, restarts and unknown values.

use oasis_oracles::{Arrival, Came, MS, joined, values};
use oasis_rules::RESTART;

/// The longest that an evaluation waits.
const WAIT: u64 = 2_000 * MS;
const START: u64 = 1_700_000_000_000 * MS;

fn is_equal(one: f64, other: f64) -> bool {
    (one.is_nan() && other.is_nan()) || (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

/// In the order in which they come, those of `p` before those of `q`.
fn in_order(mut arrivals: Vec<Arrival>) -> Vec<Arrival> {
    arrivals.sort_by_key(|arrival| (arrival.dac_time, !arrival.is_driver));
    arrivals
}

/// When samples come that were taken at these times: one after the other, with random delays of less than the wait.
fn delayed(random: &mut fastrand::Rng, times: &[u64]) -> Vec<u64> {
    let mut newest = 0;
    let mut delay = |time: &u64| {
        let delay = if random.u8(0..4) == 0 { random.u64(0..1_900) } else { random.u64(0..50) };
        newest = newest.max(time + delay * MS);
        newest
    };
    times.iter().map(&mut delay).collect()
}

/// A sample on the clock of the DAC.
#[derive(Debug, Clone, Copy)]
struct Placed {
    time: u64,
    missing: u64,
    value: f64,
    dac_time: u64,
}

/// The corrected samples of an input: with the offset that came last before each one. They never go back by less than 10 ms. Without an offset a sample has no
/// place but the DAC time at which it comes, and what comes after it begins anew.
fn placed(arrivals: &[Arrival], is_driver: bool) -> Vec<Result<Placed, u64>> {
    let (mut offset, mut newest, mut is_lost) = (None, 0, false);
    let mut found = Vec::new();
    for arrival in arrivals.iter().filter(|arrival| arrival.is_driver == is_driver) {
        match (arrival.came, offset) {
            (Came::Clock(measured), _) => offset = Some(measured),
            (Came::Sample(..), None) => {
                is_lost = true;
                found.push(Err(arrival.dac_time));
            }
            (Came::Sample(time, missing, value), Some(offset)) => {
                let corrected = time.saturating_add_signed(offset);
                let is_slew = corrected < newest && newest - corrected < 10 * MS;
                newest = if is_slew { newest } else { corrected };
                let missing = if std::mem::take(&mut is_lost) { RESTART } else { missing };
                found.push(Ok(Placed { time: newest, missing, value, dac_time: arrival.dac_time }));
            }
        }
    }
    found
}

const FIELDS: &str = "held = hold(q.x, 700ms); line = linear(q.x, 400ms); near = nearest(q.x, 300ms);
    mean = mean(q.x, 900ms at most 200 samples); most = hold(max(q.x, 2s at most 200 samples), 1s);
    hits = count(q.x > 2, 1s at most 200 samples); far = nearest(3 * q.x);";

/// The values of the reference for a sample of `p`.
fn expected(asked: Placed, others: &[Placed]) -> [f64; 7] {
    let unknown = f64::NAN;
    // An evaluation waits until the other input has a newer sample, at most 2 s of DAC time.
    let come: Vec<&Placed> = others.iter().filter(|other| other.dac_time <= asked.dac_time + WAIT).collect();
    let before: Vec<&&Placed> = come.iter().filter(|other| other.time <= asked.time).collect();
    let after = come.iter().find(|other| other.time > asked.time);
    let Some(newest) = before.last() else { return [unknown; 7] };
    if after.is_some_and(|after| after.missing > 0) {
        return [unknown; 7];
    }
    let age = asked.time - newest.time;
    let within = |most: u64, value: f64| if age <= most * MS { value } else { unknown };
    let later = |most: u64| {
        after.map(|after| (after.time - asked.time, after.value)).filter(|(later, _)| *later <= most * MS)
    };
    let line = match later(400) {
        _ if age == 0 => newest.value,
        None => unknown,
        Some((later, value)) => newest.value + (value - newest.value) * (age as f64 / (age + later) as f64),
    };
    let nearest = |most: u64| match later(most) {
        Some((later, value)) if later < age => value,
        _ => within(most, newest.value),
    };
    // A window begins anew at a restart, and is unknown while a part of it is missing.
    let begin = before.iter().rposition(|other| other.missing == RESTART).unwrap_or(0);
    let window = |extent: u64| -> Option<Vec<f64>> {
        let young = before[begin..].iter().filter(|other| other.time + extent * MS > asked.time);
        let young: Vec<_> = young.collect();
        let is_whole = young.iter().all(|other| other.missing == 0 && !other.value.is_nan());
        (is_whole && !young.is_empty()).then(|| young.iter().map(|other| other.value).collect())
    };
    let mean = window(900).map_or(unknown, |values| values.iter().sum::<f64>() / values.len() as f64);
    let most = window(2_000).map_or(unknown, |values| values.into_iter().fold(f64::MIN, f64::max));
    let young = |other: &&&&Placed| other.time + 1_000 * MS > asked.time;
    let young: Vec<_> = before[begin..].iter().filter(young).collect();
    let is_known = young.iter().all(|other| other.missing == 0 && !other.value.is_nan());
    let hits = young.iter().filter(|other| other.value > 2.0).count() as f64;
    [
        within(700, newest.value),
        within(400, line),
        nearest(300),
        within(10_000, mean),
        within(1_000, most),
        within(10_000, if is_known { hits } else { unknown }),
        3.0 * nearest(10_000),
    ]
}

/// Samples of an input of a node whose clock is off, drifts, and is measured now and then.
fn arrivals(random: &mut fastrand::Rng, is_driver: bool) -> Vec<Arrival> {
    let mut time = START;
    // Some so near that a new offset moves them before others.
    let step = [4, 40, 400][random.usize(0..3)];
    let times: Vec<u64> = (0..random.usize(5..60))
        .map(|_| {
            time += if random.u8(0..20) == 0 { random.u64(1..9_000) } else { random.u64(1..step) } * MS;
            time
        })
        .collect();
    let off = i64::from(random.i32(-4_000_000..4_000_000)) * MS as i64;
    let first = START + random.u64(0..600) * MS;
    let mut arrivals = vec![Arrival { dac_time: first, is_driver, came: Came::Clock(off) }];
    for _ in 0..random.usize(0..6) {
        let latest = [300, 6_000][random.usize(0..2)];
        let (at, drift) = (random.u64(0..latest), random.i64(-4_900_000..4_900_000));
        arrivals.push(Arrival { dac_time: START + at * MS, is_driver, came: Came::Clock(off + drift) });
    }
    for (at, dac_time) in delayed(random, &times).into_iter().enumerate() {
        let missing = match random.u8(0..25) {
            0 if !is_driver => 1 + random.u64(0..3),
            1 if !is_driver => RESTART,
            _ => 0,
        };
        let value = if random.u8(0..20) == 0 { f64::NAN } else { f64::from(random.i8(-50..60)) / 10.0 };
        let taken = times[at].saturating_add_signed(-off);
        arrivals.push(Arrival { dac_time, is_driver, came: Came::Sample(taken, missing, value) });
    }
    arrivals
}

#[test]
fn joins_equal_those_of_an_evaluator_that_follows_the_reference() {
    let cases = oasis_oracles::cases(300);
    let (mut compared, mut known) = (0, 0);
    let program = joined(FIELDS);
    for number in 0..cases {
        let mut random = oasis_oracles::random(number);
        let all = in_order([arrivals(&mut random, true), arrivals(&mut random, false)].concat());
        let found = values(&program, &all);
        let of_q = placed(&all, false);
        let others: Vec<Placed> = of_q.iter().flatten().copied().collect();
        let asked = placed(&all, true);
        assert_eq!(found.len() + 1, asked.len(), "case {number}");
        for (at, (found, asked)) in found.iter().zip(&asked).enumerate() {
            // Nothing is waited for across a sample without a place.
            let is_cut = |asked: &Placed| of_q.iter().any(|of_q| of_q.is_err_and(|at| at >= asked.dac_time));
            let asked = asked.ok().filter(|asked| !is_cut(asked));
            let expected = asked.map_or([f64::NAN; 7], |asked| expected(asked, &others));
            for (field, (value, expected)) in found.iter().zip(expected).enumerate() {
                assert!(
                    is_equal(*value, expected),
                    "case {number}, sample {at}, field {field}: OASIS says {value}, the reference {expected}\n{asked:?}\n{others:#?}"
                );
                known += usize::from(!value.is_nan());
            }
            compared += found.len();
        }
    }
    println!("{cases} traces, {compared} values compared with the reference, {known} of them known");
    assert!(known > cases * 20);
}
