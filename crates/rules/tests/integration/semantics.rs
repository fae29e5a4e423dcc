//! The meaning of rules: a test for each promise of docs/reference/rules.md.

use crate::common::{self, compiled, rendered};
use oasis_rules::{Binding, Engine, Event, EventKind, RESTART, Rows};
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    schema::{ABSENT, Metric, MetricType},
    value::{Value, write_row},
};

const MS: u64 = 1_000_000;

/// One metric of one instance: seconds, the samples missing before, and the value.
type Sample = (f64, u64, f64);

fn engine(rules: &str) -> Engine {
    let report = compiled(rules);
    assert!(report.is_ok(), "{}", rendered(&report));
    Engine::new(report.program)
}

fn batch(samples: &[Sample]) -> Rows {
    let time = |seconds: f64| 1_000_000 * MS + (seconds * 1e9) as u64;
    Rows {
        times: samples.iter().map(|(seconds, ..)| time(*seconds)).collect(),
        sequences: (0..samples.len() as u64).collect(),
        missing: samples.iter().map(|(_, missing, _)| *missing).collect(),
        columns: vec![samples.iter().map(|(.., value)| *value).collect()],
        origins: (0..samples.len()).collect(),
    }
}

/// The events of one instance: kinds, and seconds.
fn events(rules: &str, samples: &[Sample]) -> Vec<(EventKind, f64)> {
    found(rules, samples).into_iter().map(|event| (event.kind, seconds(event.time))).collect()
}

fn seconds(time: u64) -> f64 {
    (time as f64 - (1_000_000 * MS) as f64) / 1e9
}

fn found(rules: &str, samples: &[Sample]) -> Vec<Event> {
    let mut engine = engine(rules);
    let id = engine.add(0).unwrap();
    let mut events = Vec::new();
    engine.batch(id, 0, batch(samples), &mut |_, event| events.push(event));
    events
}

use EventKind::{Cleared, Known, Matched, Raised, Satisfied, Unknown, Violated};

#[test]
fn an_alarm_has_delays_and_a_hysteresis() {
    let hot = "alarm Hot { raise pump.temperature > 95 for 2s; clear pump.temperature < 90 for 1s; }";
    let samples = [
        (0.0, RESTART, 96.0),
        (1.0, 0, 94.0),
        (2.0, 0, 96.0),
        (3.0, 0, 97.0),
        (4.0, 0, 98.0),
        (5.0, 0, 92.0),
        (6.0, 0, 89.0),
        (7.0, 0, 88.0),
        (8.0, 0, 99.0),
    ];
    assert_eq!(events(hot, &samples), [(Raised, 4.0), (Cleared, 7.0)]);
    let raised = &found(hot, &samples)[0];
    assert_eq!((raised.value, raised.limit, raised.sequence), (Some(98.0), Some(95.0), Some(4)));
    assert_eq!(raised.since.map(seconds), Some(2.0));
}

#[test]
fn a_latched_alarm_stays_and_can_be_raised_again() {
    let samples = [(0.0, RESTART, 96.0), (1.0, 0, 90.0), (2.0, 0, 96.0)];
    let events = found("alarm Hot { raise pump.temperature > 95; latch; }", &samples);
    let states: Vec<_> = events.iter().map(|event| (event.kind, event.standing.unwrap().name())).collect();
    assert_eq!(states, [(Raised, "active"), (Cleared, "latched"), (Raised, "active")]);
}

#[test]
fn unknown_keeps_the_state_and_stops_timers() {
    let hot = "alarm Hot { raise pump.temperature > 95 for 2s; }";
    let gap = [
        (0.0, RESTART, 96.0),
        (1.0, 0, 96.0),
        (3.0, 1, 96.0),
        (4.0, 0, 96.0),
        (5.0, 0, 96.0),
        (6.0, 0, f64::NAN),
        (7.0, 0, 80.0),
    ];
    assert_eq!(
        events(hot, &gap),
        [(Unknown, 1.0), (Known, 3.0), (Raised, 5.0), (Unknown, 6.0), (Known, 7.0), (Cleared, 7.0)]
    );
    assert_eq!(found(hot, &gap)[0].missing, Some(1));
}

#[test]
fn unknown_can_raise_or_clear() {
    let samples =
        [(0.0, RESTART, 80.0), (1.0, 0, f64::NAN), (2.0, 0, 80.0), (3.0, 0, 96.0), (4.0, 0, f64::NAN)];
    let changes = |on_unknown: &str| {
        let rule = format!("alarm Hot {{ raise pump.temperature > 95; on_unknown {on_unknown}; }}");
        let found = events(&rule, &samples).into_iter().filter(|(kind, _)| matches!(kind, Raised | Cleared));
        found.collect::<Vec<_>>()
    };
    assert_eq!(changes("keep"), [(Raised, 3.0)]);
    assert_eq!(changes("raise"), [(Raised, 1.0), (Cleared, 2.0), (Raised, 3.0)]);
    assert_eq!(changes("clear"), [(Raised, 3.0), (Cleared, 4.0)]);
}

#[test]
fn unknown_before_the_first_sample_is_no_event() {
    let rule = "alarm Hot { raise mean(pump.temperature, 2s) > 95; }";
    let samples = [(0.0, RESTART, 99.0), (1.0, 0, 99.0), (2.0, 0, 99.0)];
    assert_eq!(events(rule, &samples), [(Raised, 2.0)]);
}

#[test]
fn a_count_is_known_once_the_unknown_ones_cannot_change_it() {
    let rule = "alarm Shaky { raise count(pump.temperature > 4, last 5) >= 3; }";
    // Three of five are enough, although the first two were never seen.
    assert_eq!(events(rule, &[(0.0, RESTART, 5.0), (1.0, 0, 5.0), (2.0, 0, 5.0)]), [(Raised, 2.0)]);
    // One unknown sample among four that are not: two of five at most.
    let low = [(0.0, RESTART, 1.0), (1.0, 0, 5.0), (2.0, 1, 1.0), (3.0, 0, 1.0)];
    let raise = events("alarm Low { raise count(pump.temperature > 4, last 5) < 3; }", &low);
    assert_eq!(raise, [(Raised, 3.0)]);
}

#[test]
fn aggregates_of_a_window_with_a_gap_are_unknown() {
    let rule = "alarm Hot { raise mean(pump.temperature, 2s) > 50; }";
    let samples = [(0.0, RESTART, 9.0), (2.0, 0, 9.0), (3.0, 1, 99.0), (4.0, 0, 99.0), (5.0, 0, 99.0)];
    assert_eq!(events(rule, &samples), [(Unknown, 2.0), (Known, 5.0), (Raised, 5.0)]);
}

#[test]
fn a_window_beyond_its_bound_is_unknown_and_not_wrong() {
    let rule = "alarm Hot { raise sum(pump.flow, 10s at most 3 samples) >= 0; }";
    let samples: Vec<_> =
        (0..30).map(|at| (f64::from(at) * 4.0, if at == 0 { RESTART } else { 0 }, 1.0)).collect();
    assert_eq!(events(rule, &samples)[0], (Raised, 12.0));
    let dense: Vec<_> = samples.iter().map(|(time, missing, value)| (time / 4.0, *missing, *value)).collect();
    assert_eq!(events(rule, &dense), []);
}

#[test]
fn what_must_follow_across_a_gap_is_unknown_and_not_violated() {
    let rule = "event Opened { when pump.flow > 5 then pump.flow > 8 within 2s; }";
    let begin = [(0.0, RESTART, 1.0), (1.0, 0, 6.0)];
    let then = |rest: &[Sample]| events(rule, &[&begin[..], rest].concat());
    assert_eq!(then(&[(2.0, 0, 9.0)]), [(Matched, 2.0)]);
    assert_eq!(then(&[(2.0, 0, 6.0), (4.0, 0, 9.0)]), [(Violated, 4.0)]);
    assert_eq!(then(&[(2.0, 1, 6.0), (4.0, 0, 9.0)]), [(Unknown, 4.0)]);
    assert_eq!(then(&[(2.0, RESTART, 9.0)]), [(Unknown, 2.0)]);
}

#[test]
fn always_is_violated_by_one_counterexample_and_satisfied_only_without_gaps() {
    let rule = "check Slow { after pump.flow > 5: always[1s, 3s] pump.flow < 8; }";
    let begin = [(0.0, RESTART, 1.0), (1.0, 0, 9.0)];
    let then = |rest: &[Sample]| events(rule, &[&begin[..], rest].concat());
    assert_eq!(then(&[(2.0, 0, 6.0), (5.0, 0, 9.0)]), [(Satisfied, 5.0)]);
    assert_eq!(then(&[(2.0, 1, 9.0)]), [(Violated, 2.0)]);
    assert_eq!(then(&[(2.0, 1, 6.0), (5.0, 0, 6.0)]), [(Unknown, 5.0)]);
    assert_eq!(then(&[(5.0, 0, 6.0)]), [(Unknown, 5.0)], "nothing was seen in the interval");
}

#[test]
fn a_moment_in_a_gap_is_reported_with_that_quality() {
    let found =
        found("event Failed { when pump.flow > 5; }", &[(0.0, RESTART, 1.0), (1.0, 2, 9.0), (2.0, 1, 9.0)]);
    assert_eq!(found.len(), 1);
    assert!(!found[0].is_known);
}

#[test]
fn a_clock_that_steps_back_is_a_gap() {
    let rule = "alarm Hot { raise pump.temperature > 95 for 2s; }";
    let samples = [(5.0, RESTART, 99.0), (6.0, 0, 99.0), (3.0, 0, 99.0), (4.0, 0, 99.0), (5.0, 0, 99.0)];
    assert_eq!(events(rule, &samples), [(Unknown, 6.0), (Known, 3.0), (Raised, 5.0)]);
}

#[test]
fn a_counter_that_decreases_has_no_rate() {
    let rule = "alarm Busy { raise rate(pump.starts) < 100; }";
    assert_eq!(events(rule, &[(0.0, RESTART, 9.0), (1.0, 0, 2.0), (2.0, 0, 3.0)]), [(Raised, 2.0)]);
}

#[test]
fn a_derived_instance_has_the_last_values_of_each_period() {
    let rules = "derive D every 1s { flow = pump.flow; } alarm High { raise D.flow > 5; }";
    let samples = [(0.5, RESTART, 9.0), (1.0, 0, 1.0), (1.5, 0, 1.0), (2.0, 0, 7.0), (2.1, 0, 1.0)];
    assert_eq!(events(rules, &samples), [(Raised, 2.0)]);
}

/// Silence, batches by their DAC times in milliseconds, and the frontier at the end.
fn silences(rule: &str, dac_times: &[u64], end: u64) -> Vec<(EventKind, u64)> {
    let mut engine = engine(rule);
    let id = engine.add(0).unwrap();
    let mut found = Vec::new();
    let mut report = |_, event: Event| found.push((event.kind, event.time / MS));
    for dac_time in dac_times {
        // The node's clock is 5 s ahead.
        let rows =
            Rows { times: vec![(dac_time + 5_000) * MS], columns: Vec::new(), ..batch(&[(0.0, 0, 0.0)]) };
        engine.batch(id, dac_time * MS, rows, &mut report);
    }
    engine.frontier(end * MS, &mut report);
    found
}

#[test]
fn silence_is_noticed_at_a_tick_and_ends_with_a_sample() {
    let rule = "alarm Gone { raise silent(pump) for 3s; }";
    assert_eq!(silences(rule, &[1_000, 3_950, 7_100], 7_100), [(Raised, 12_000), (Cleared, 12_100)]);
    assert_eq!(silences(rule, &[1_000, 3_950, 7_000], 7_000), []);
    assert_eq!(silences(rule, &[1_000, 3_999], 4_200), []);
    // The node has died: ticks continue.
    assert_eq!(silences(rule, &[1_010], 4_100), [(Raised, 9_100)]);
    assert_eq!(silences(rule, &[1_010], 4_099), []);
}

#[test]
fn silence_of_one_instance_is_noticed_by_the_batches_of_another() {
    let mut engine = engine("alarm Gone { raise silent(pump) for 1s; }");
    let (dead, alive) = (engine.add(0).unwrap(), engine.add(0).unwrap());
    let mut found = Vec::new();
    let mut report = |id, event: Event| found.push((id, event.kind));
    engine.batch(dead, 0, batch(&[(0.0, 0, 0.0)]), &mut report);
    for tenth in 0..20 {
        engine.batch(alive, tenth * 100 * MS, batch(&[(0.0, 0, 0.0)]), &mut report);
    }
    assert_eq!(found, [(dead, Raised)]);
}

#[test]
fn nothing_is_silent_while_the_dac_is_down() {
    let mut engine = engine("alarm Gone { raise silent(pump) for 1s; }");
    let id = engine.add(0).unwrap();
    let mut found = Vec::new();
    let mut report = |_, event: Event| found.push((event.kind, seconds(event.time)));
    engine.batch(id, 500 * MS, batch(&[(0.0, 0, 0.0)]), &mut report);
    engine.frontier(600 * MS, &mut report);
    engine.restart(60_500 * MS);
    engine.frontier(61_400 * MS, &mut report);
    engine.frontier(61_500 * MS, &mut report);
    assert_eq!(found, [(Raised, 61.0)]);
}

#[test]
fn values_that_a_sample_lacks_are_unknown() {
    let report = compiled("alarm A { raise pump.pose.x > 1 m and pump.state == OPEN; }");
    let input = &report.program.inputs[0];
    let mut probe_type = (*common::types()[0]).clone();
    probe_type.metrics.push(Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String))));
    let mut encoder = Encoder::new(&probe_type).unwrap();
    for absent in [&["pose.x"][..], &["state_2", "speed"], &[], &["pose"], &["pos"]] {
        let names = absent.iter().map(|name| Value::String((*name).into())).collect();
        let values = [pump_values(), vec![Value::Vector(names)]].concat();
        let mut row = Vec::new();
        write_row(&probe_type, &values, &mut row);
        encoder.push(5, &row).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.finish(Fields { first_sequence: 8, ..Fields::default() }, &mut bytes);
    let decoded = Batch::parse(&bytes, &probe_type).unwrap();
    let rows = Binding::new(input, &probe_type).rows(&decoded, 1..5, 0);
    let known: Vec<Vec<bool>> =
        rows.columns.iter().map(|column| column.iter().map(|value| !value.is_nan()).collect()).collect();
    assert_eq!(known, [[true, true, false, true], [false, true, true, true]]);
}

/// A row of the type `pump`.
fn pump_values() -> Vec<Value> {
    vec![
        Value::Real64(1.0),
        Value::Real32(2.0),
        Value::Real64(3.0),
        Value::Uint(1),
        Value::Boolean(true),
        Value::Uint(7),
        Value::String("n".into()),
        Value::Struct(vec![Value::Real64(4.5)]),
        Value::Vector(Vec::new()),
    ]
}

#[test]
fn columns_come_from_batches_by_name_and_values_of_another_type_are_unknown() {
    let report = compiled("alarm A { raise pump.pose.x > 1 m and pump.state == OPEN; }");
    assert!(report.is_ok(), "{}", rendered(&report));
    let input = &report.program.inputs[0];
    let mut probe_type = (*common::types()[0]).clone();
    let values = pump_values();
    let mut encoder = Encoder::new(&probe_type).unwrap();
    let (mut row, mut bytes) = (Vec::new(), Vec::new());
    write_row(&probe_type, &values, &mut row);
    encoder.push(5, &row).unwrap();
    encoder.finish(Fields { first_sequence: 8, ..Fields::default() }, &mut bytes);
    let decoded = Batch::parse(&bytes, &probe_type).unwrap();
    let rows = Binding::new(input, &probe_type).rows(&decoded, 0..1, 3);
    assert_eq!(
        (&rows.columns[..], &rows.missing[..], &rows.sequences[..]),
        (&[vec![4.5], vec![1.0]][..], &[3][..], &[8][..])
    );

    let metric = probe_type.metrics.iter_mut().find(|metric| metric.name == "state").unwrap();
    metric.enumeration.as_mut().unwrap().values[1].value = 9;
    let other = Binding::new(input, &probe_type);
    assert_eq!(other.lacking(), ["state"]);
    assert!(other.rows(&decoded, 0..1, 0).columns[1][0].is_nan());
}
