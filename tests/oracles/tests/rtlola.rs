//! Windows equal those of RTLola's interpreter.
//!
//! | rule | stream of RTLola |
//! |---|---|
//! | `mean(p.x, 5s at most …)` | `@1Hz := x.aggregate(over: 5s, using: avg)` |
//! | `mean(p.x, last 5)` | `x.aggregate(over_discrete: 5, using: avg)`, at each event |
//! | `mean(D.x, last 5)` of `derive D every 1s { x = p.x; }` | `d @1Hz := x.hold()` and `d.aggregate(over_discrete: 5, using: avg)` |
//! | `count(p.x > 1, …)` | the same of a stream with only these events, or the sum of ones and zeros |
//!
//! RTLola evaluates a window by time at deadlines, OASIS at samples. So each deadline has a sample a millisecond before it, and no other sample is nearer than
//! two: both windows then have the same samples. RTLola takes what there is when a window is not full yet; OASIS says *unknown*, and nothing is compared.

#![allow(clippy::expect_used, reason = "a test says what it expects by unwrapping")]

use oasis_oracles::{MS, Sample, events, program};
use oasis_rules::EventKind;
use rtlola_interpreter::{ConfigBuilder, Value, monitor::Total, time::RelativeNanos};
use std::{collections::HashMap, time::Duration};

/// Functions, and the names of RTLola for them.
const AGGREGATES: [(&str, &str); 4] = [("mean", "avg"), ("min", "min"), ("max", "max"), ("sum", "sum")];

/// Value of a window without samples.
const NOTHING: f64 = -1e6;

/// The values of windows by the time of the sample or deadline, in milliseconds.
type Values = HashMap<(String, u64), f64>;

/// Windows of one case: rules and streams of the same names.
struct Windows {
    rules: String,
    streams: String,
}

impl Windows {
    fn random(random: &mut fastrand::Rng) -> Self {
        let (mut rules, mut streams) = (String::new(), "input x: Float64\n".to_owned());
        let limit = random.u8(0..4);
        let mut rule = |name: &str, value: &str| {
            rules += &format!("event {name} {{ when {value} > {NOTHING} and p.flag; }}\n");
        };
        for (ours, theirs) in AGGREGATES {
            let (seconds, count) = (random.u8(1..9), random.u8(2..9));
            rule(&format!("time_{ours}"), &format!("{ours}(p.x, {seconds}s at most 200 samples)"));
            rule(&format!("last_{ours}"), &format!("{ours}(p.x, last {count})"));
            // The sum of nothing is 0.
            let default = if ours == "sum" { String::new() } else { format!(".defaults(to: {NOTHING:.1})") };
            streams += &format!(
                "output time_{ours} @1Hz := x.aggregate(over: {seconds}s, using: {theirs}){default}\n"
            );
            streams += &format!(
                "output last_{ours} := x.aggregate(over_discrete: {count}, using: {theirs}){default}\n"
            );
        }
        let (seconds, count) = (random.u8(1..9), random.u8(2..9));
        rule("time_count", &format!("count(p.x > {limit}, {seconds}s at most 200 samples)"));
        rule("last_count", &format!("count(p.x > {limit}, last {count})"));
        streams += &format!("output hits eval when x > {limit}.0 with x\n");
        streams += &format!("output time_count @1Hz := hits.aggregate(over: {seconds}s, using: count)\n");
        streams += &format!("output hit: Float64 := if x > {limit}.0 then 1.0 else 0.0\n");
        streams += &format!("output last_count := hit.aggregate(over_discrete: {count}, using: sum)\n");
        let count = random.u8(2..5);
        rules += "derive D every 1s { x = p.x; is_odd = p.y > 0; }\n";
        streams += &format!("output held @1Hz := x.hold().defaults(to: {NOTHING:.1})\n");
        for (ours, theirs) in AGGREGATES {
            rules += &format!(
                "event period_{ours} {{ when {ours}(D.x, last {count}) > {NOTHING} and D.is_odd; }}\n"
            );
            let default = if ours == "sum" { String::new() } else { format!(".defaults(to: {NOTHING:.1})") };
            streams += &format!(
                "output period_{ours} @1Hz := held.aggregate(over_discrete: {count}, using: {theirs}){default}\n"
            );
        }
        Self { rules, streams }
    }
}

/// Samples between deadlines, and one just before each. Where rules look, `flag` becomes true: there, and at every second sample before.
fn trace(random: &mut fastrand::Rng) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for second in 0..random.u64(8..30) {
        let mut times: Vec<_> =
            (0..random.usize(1..8)).map(|_| second * 1_000 + random.u64(1..998)).collect();
        times.sort_unstable();
        times.dedup();
        times.push(second * 1_000 + 999);
        let count = times.len();
        for (at, time) in times.into_iter().enumerate() {
            let flag = f64::from(u8::from((count - at) % 2 == 1));
            let x = f64::from(random.i16(-400..800)) / 100.0 + 0.001;
            samples.push(Sample {
                time,
                sequence: samples.len() as u64,
                values: [x, (second % 2) as f64, flag],
            });
        }
    }
    samples
}

fn ours(rules: &str, samples: &[Sample], random: &mut fastrand::Rng) -> Values {
    let program = program(rules);
    let found =
        events(&program, samples, random).into_iter().filter(|event| event.kind == EventKind::Matched);
    // A count can be above a limit before it is known.
    let value = |event: oasis_rules::Event| {
        Some(((program.rules[event.rule].name.clone(), event.time / MS), event.value?))
    };
    found.filter_map(value).collect()
}

/// A deadline counts for the sample just before it, and for the derived instance.
fn theirs(streams: &str, samples: &[Sample]) -> Values {
    let monitor = ConfigBuilder::new().spec_str(streams).offline::<RelativeNanos>();
    let monitor =
        monitor.with_array_events::<1, std::convert::Infallible, [Value; 1]>().with_verdict::<Total>();
    let mut monitor = monitor.monitor().expect("a monitor");
    let names: Vec<_> = monitor.ir().outputs.iter().map(|output| output.name.clone()).collect();
    let mut values = Values::new();
    let mut keep = |prefix: &str, time: u64, total: &Total| {
        for (name, instances) in names.iter().zip(&total.outputs).filter(|(name, _)| name.starts_with(prefix))
        {
            let number = match instances.first().and_then(|(_, value)| value.as_ref()) {
                Some(Value::Float(value)) => value.into_inner(),
                Some(Value::Unsigned(value)) => *value as f64,
                _ => continue,
            };
            values.insert((name.clone(), time), number);
        }
    };
    for sample in samples {
        let event = [Value::try_from(sample.values[0]).expect("a number")];
        let verdicts = monitor
            .accept_event(event, Duration::from_millis(sample.time).as_nanos() as u64)
            .expect("an event");
        for (deadline, total) in &verdicts.timed {
            let deadline = deadline.as_millis() as u64;
            keep("time_", deadline - 1, total);
            keep("period_", deadline, total);
        }
        keep("last_", sample.time, &verdicts.event);
    }
    values
}

#[test]
fn windows_equal_those_of_rtlola() {
    let cases = oasis_oracles::cases(300);
    let mut compared: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for number in 0..cases {
        let mut random = oasis_oracles::random(number);
        let (windows, samples) = (Windows::random(&mut random), trace(&mut random));
        let theirs = theirs(&windows.streams, &samples);
        let ours = ours(&windows.rules, &samples, &mut random);
        for ((name, time), value) in ours {
            // At the end of a trace the last deadline has not come; between two deadlines there is none.
            let Some(other) = theirs.get(&(name.clone(), time)) else { continue };
            let is_equal = (value - other).abs() <= 1e-9 * value.abs().max(1.0);
            assert!(
                is_equal,
                "case {number}, {name} at {time} ms: OASIS says {value}, RTLola {other}\n{}\n{}",
                windows.rules, windows.streams
            );
            *compared.entry(name).or_default() += 1;
        }
    }
    println!("{cases} traces, {} values compared: {compared:?}", compared.values().sum::<usize>());
    let of = |prefix: &str| compared.keys().filter(|name| name.starts_with(prefix)).count();
    assert_eq!([of("time_"), of("last_"), of("period_")], [5, 5, 4], "{compared:?}");
}
