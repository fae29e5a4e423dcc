//! The evaluator over columns equals the naive one, on random formulas and random traces with gaps, however the samples are cut into batches.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod naive;

use naive::Row;
use oasis_rules::{Engine, Event, EventKind, Instance, Program, RESTART, Rows, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;

fn probe_type() -> Arc<ProbeType> {
    let metrics = [("x", MetricType::Real64), ("y", MetricType::Real64), ("flag", MetricType::Boolean)];
    Arc::new(ProbeType {
        name: "P".into(),
        uuid: "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics: metrics.map(|(name, kind)| Metric::new(name, kind)).to_vec(),
    })
}

/// Compiles rules over an input `p`; the first one reads all columns in their order.
fn program(rules: &str) -> Program {
    let text =
        format!("input p = \"*/p\" : P;\nevent All {{ when p.x > 99 and p.y > 99 and p.flag; }}\n{rules}");
    let report = compile("a.rules".as_ref(), &text, &[probe_type()]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{}", errors.join("\n"));
    report.program
}

/// A sample after the one before: milliseconds later, missing ones between them, and values.
type Step = (i64, u64, [f64; 3]);

fn rows(steps: &[Step]) -> Vec<Row> {
    let mut time = 1_000_000_000 * MS;
    let mut sequence = 0;
    let mut rows = Vec::new();
    for (later, missing, values) in steps {
        time = time.saturating_add_signed(later * MS as i64);
        let missing = if rows.is_empty() { RESTART } else { *missing };
        sequence += if missing == RESTART { 1 } else { missing + 1 };
        rows.push(Row { time, sequence, missing, values: values.to_vec(), origin: rows.len() });
    }
    rows
}

/// The events of the engine, with samples cut into batches of these sizes.
fn evaluated(program: &Program, rows: &[Row], sizes: &[usize]) -> Vec<Event> {
    let mut engine = Engine::new(program.clone());
    let id = engine.add(0).unwrap();
    let mut events = Vec::new();
    let mut rest = rows;
    let mut sizes = sizes.iter().cycle();
    let mut dac_time = 5_000 * MS;
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(sizes.next().map_or(rest.len(), |size| (*size).min(rest.len())));
        rest = after;
        dac_time += MS;
        let columns = (0..3).map(|column| batch.iter().map(|row| row.values[column]).collect());
        let batch = Rows {
            times: batch.iter().map(|row| row.time).collect(),
            sequences: batch.iter().map(|row| row.sequence).collect(),
            missing: batch.iter().map(|row| row.missing).collect(),
            columns: columns.collect(),
            origins: (0..batch.len()).collect(),
        };
        engine.batch(id, dac_time, batch, &mut |_, event| events.push(Event { dac_time: 0, ..event }));
    }
    events
}

/// The events of an instance on its own, whose state is saved and restored before some of its batches.
fn restored(program: &Program, rows: &[Row], size: usize, restores: &[bool]) -> Vec<Event> {
    let mut instance = Instance::new(program, 0);
    let (mut events, mut dac_time, mut derived) = (Vec::new(), 5_000 * MS, Vec::new());
    for (batch, is_restored) in rows.chunks(size).zip(restores.iter().cycle()) {
        if *is_restored {
            let saved = instance.save(program);
            let mut next = Instance::new(program, 0);
            assert_eq!(next.restore(program, &saved), Vec::<usize>::new());
            next.continue_after(instance.last_time());
            instance = next;
        }
        dac_time += 180 * MS;
        let columns = (0..3).map(|column| batch.iter().map(|row| row.values[column]).collect());
        let batch = Rows {
            times: batch.iter().map(|row| row.time).collect(),
            sequences: batch.iter().map(|row| row.sequence).collect(),
            missing: batch.iter().map(|row| row.missing).collect(),
            columns: columns.collect(),
            origins: (0..batch.len()).collect(),
        };
        events.extend(instance.step(program, dac_time, &batch, &mut derived));
    }
    events.extend(instance.pass(program, dac_time + 10_000 * MS));
    events.iter().for_each(|event| assert!(event.dac_time > 5_000 * MS, "{event:?}"));
    // Also what derived instances have.
    assert!(derived.iter().all(|(rule, rows)| *rule < program.rules.len() && !rows.is_empty()));
    events
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let later = prop_oneof![8 => prop::sample::select(vec![0, 100, 500, 1_000, 3_000]), 1 => Just(-2_000)];
    let missing = prop_oneof![8 => Just(0), 1 => 1..4_u64, 1 => Just(RESTART)];
    let number = || prop_oneof![9 => (-3..6_i8).prop_map(f64::from), 1 => Just(f64::NAN)];
    let flag = prop_oneof![4 => Just(0.0), 4 => Just(1.0), 1 => Just(f64::NAN)];
    let values = (number(), number(), flag).prop_map(|(x, y, flag)| [x, y, flag]);
    prop::collection::vec((later, missing, values), 1..40)
}

fn window() -> impl Strategy<Value = String> {
    prop_oneof![
        (2..5_u32).prop_map(|count| format!("last {count}")),
        prop::sample::select(vec!["200ms", "1s", "2s", "5s"])
            .prop_map(|time| format!("{time} at most 50 samples")),
    ]
}

/// Formulas of numbers and of conditions contain one another.
fn formulas() -> (BoxedStrategy<String>, BoxedStrategy<String>) {
    let mut number = prop_oneof![
        4 => prop::sample::select(vec!["p.x", "p.y"]).prop_map(str::to_owned),
        1 => (-2..4_i8).prop_map(|value| value.to_string()),
    ]
    .boxed();
    let mut condition = compared(number.clone()).boxed();
    for _ in 0..2 {
        let deeper = (deeper_number(number.clone(), condition.clone()), deeper_condition(number, condition));
        (number, condition) = deeper;
    }
    (number, condition)
}

fn compared(number: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    prop_oneof![
        4 => (number.clone(), operator, number).prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        1 => Just("p.flag".to_owned()),
    ]
}

fn deeper_number(number: BoxedStrategy<String>, condition: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let operator = prop::sample::select(vec!["+", "-", "*", "/"]);
    let function = prop::sample::select(vec!["mean", "min", "max", "sum", "1 s * rate"]);
    prop_oneof![
        3 => number.clone(),
        2 => (number.clone(), operator, number.clone()).prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
        3 => (function, number.clone(), window()).prop_map(|(function, of, window)| format!("({function}({of}, {window}))")),
        1 => number.clone().prop_map(|of| format!("(rate({of}) * 1 s)")),
        1 => number.prop_map(|of| format!("sqrt(abs({of}))")),
        1 => (condition, window()).prop_map(|(of, window)| format!("count({of}, {window})")),
    ]
    .boxed()
}

fn deeper_condition(
    number: BoxedStrategy<String>,
    condition: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let word = prop::sample::select(vec!["and", "or"]);
    let edge = prop::sample::select(vec!["not ", "rising", "falling"]);
    prop_oneof![
        3 => compared(number),
        2 => (condition.clone(), word, condition.clone()).prop_map(|(left, word, right)| format!("({left} {word} {right})")),
        1 => (edge, condition.clone()).prop_map(|(edge, of)| format!("{edge}({of})")),
        2 => (condition, window(), 0..4_u8).prop_map(|(of, window, least)| format!("count({of}, {window}) >= {least}")),
    ]
    .boxed()
}

fn rule() -> impl Strategy<Value = String> {
    let (number, condition) = formulas();
    let duration = || prop::sample::select(vec!["", " for 100ms", " for 1s", " for 4s"]);
    let more = || {
        prop::sample::select(vec![
            "",
            "latch;",
            "on_unknown raise;",
            "on_unknown clear;",
            "on_unknown keep; latch;",
        ])
    };
    // Each rule reads a sample.
    let one = condition.clone().prop_map(|of| format!("({of} or p.x > 90)")).boxed();
    let other = condition.clone();
    prop_oneof![
        (one.clone(), duration(), more())
            .prop_map(|(raise, held, more)| format!("alarm A {{ raise {raise}{held}; {more} }}")),
        (one.clone(), duration(), other.clone(), duration(), more()).prop_map(
            |(raise, held, clear, cleared, more)| {
                format!("alarm A {{ raise {raise}{held}; clear {clear}{cleared}; {more} }}")
            }
        ),
        one.clone().prop_map(|when| format!("event A {{ when {when}; }}")),
        (one.clone(), other.clone())
            .prop_map(|(when, then)| format!("event A {{ when {when} then {then} within 2s; }}")),
        (one, other)
            .prop_map(|(after, always)| format!("check A {{ after {after}: always[500ms, 3s] {always}; }}")),
        (number, condition, duration()).prop_map(|(value, is, held)| {
            format!(
                "derive D every 700ms {{ value = {value} + p.x; is = {is} or p.flag; }}
                 derive E every 2s {{ mean = mean(D.value, 5s); }}
                 alarm A {{ raise D.value > 1{held}; }}
                 event B {{ when D.is then E.mean > 1 within 2s; }}"
            )
            .replace(
                "event B { when D.is then E.mean > 1 within 2s; }",
                "event B { when E.mean > 1; } event C { when D.is; }",
            )
        }),
    ]
}

/// Looks at each tick, in milliseconds.
fn naive_silences(times: &[u64], duration: u64, end: u64) -> Vec<(EventKind, u64)> {
    let (mut found, mut is_active) = (Vec::new(), false);
    for (at, &last) in times.iter().enumerate() {
        if std::mem::take(&mut is_active) {
            found.push((EventKind::Cleared, last));
        }
        let next = times.get(at + 1).copied().unwrap_or(end + 1);
        for tick in (last..next).filter(|time| time % 100 == 0) {
            if !is_active && tick - last >= duration {
                found.push((EventKind::Raised, tick));
                is_active = true;
            }
        }
    }
    found
}

/// Events with unknown numbers compare by their text.
fn text(events: &[Event]) -> String {
    events.iter().map(|event| format!("{event:?}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_evaluators_agree(rule in rule(), steps in steps(), sizes in prop::collection::vec(1..9_usize, 1..5)) {
        let program = program(&rule);
        let rows = rows(&steps);
        let expected = text(&naive::events(&program, &rows));
        prop_assert_eq!(text(&evaluated(&program, &rows, &sizes)), &expected[..], "{}", &rule);
        prop_assert_eq!(text(&evaluated(&program, &rows, &[usize::MAX])), &expected[..], "{}", &rule);
    }

    /// Nobody can tell from the events where an evaluation was interrupted.
    #[test]
    fn a_restored_state_goes_on_as_if_nothing_had_been(
        rule in rule(), steps in steps(), size in 1..9_usize, restores in prop::collection::vec(any::<bool>(), 1..6)
    ) {
        let program = program(&format!("{rule} alarm Gone {{ raise silent(p) for 300ms; }}"));
        let rows = rows(&steps);
        let expected = text(&restored(&program, &rows, size, &[false]));
        prop_assert_eq!(text(&restored(&program, &rows, size, &restores)), &expected[..], "{}", &rule);
    }

    #[test]
    fn a_damaged_state_is_refused(rule in rule(), at in any::<usize>(), change in 1..=u8::MAX, length in any::<usize>()) {
        let program = program(&rule);
        let intact = Instance::new(&program, 0).save(&program);
        let damage = |damage: &dyn Fn(&mut Vec<u8>)| {
            let mut saved = intact.clone();
            saved.iter_mut().for_each(|saved| damage(&mut saved.state));
            Instance::new(&program, 0).restore(&program, &saved).len()
        };
        prop_assert_eq!(damage(&|_| {}), 0);
        prop_assert_eq!(damage(&|state| { let at = at % state.len(); state[at] ^= change }), intact.len());
        prop_assert_eq!(damage(&|state| state.truncate(length % state.len())), intact.len());
        prop_assert_eq!(damage(&|state| state.push(change)), intact.len());
    }

    /// Silence is looked for at the next tick alone, and not at each.
    #[test]
    fn silence_is_that_of_each_tick(gaps in prop::collection::vec(0..900_u64, 1..20), duration in 1..12_u64, after in 0..900_u64) {
        let duration = duration * 50;
        let program = program(&format!("alarm Gone {{ raise silent(p) for {duration}ms; }}"));
        let times: Vec<u64> = gaps.iter().scan(1_000, |time, gap| { *time += gap; Some(*time) }).collect();
        let end = times.last().unwrap() + after;
        let expected = naive_silences(&times, duration, end);
        let mut engine = Engine::new(program);
        let id = engine.add(0).unwrap();
        let mut found = Vec::new();
        for time in times {
            let rows = Rows {
                times: vec![time * MS], sequences: vec![0], missing: vec![0], columns: vec![vec![0.0]; 3], origins: vec![0],
            };
            engine.batch(id, time * MS, rows, &mut |_, event| found.push((event.kind, event.time / MS)));
        }
        engine.frontier(end * MS, &mut |_, event| found.push((event.kind, event.time / MS)));
        prop_assert_eq!(found, expected);
    }

    /// Losing a sample can hide an answer, but not change it.
    #[test]
    fn gaps_only_turn_known_into_unknown(steps in steps(), lost in 1..39_usize) {
        let program = program("check A { after p.x > 2: always[0s, 3s] p.y > 0; }");
        let steps: Vec<_> = steps.into_iter().map(|(later, _, values)| (later.abs(), 0, values)).collect();
        let all = rows(&steps);
        let mut some = all.clone();
        if lost + 1 < some.len() {
            some.remove(lost);
            some[lost].missing = 1;
        }
        let known = |rows: &[Row]| -> Vec<_> {
            let verdicts = evaluated(&program, rows, &[7]).into_iter().filter(|event| event.is_known);
            verdicts.map(|event| (event.since, event.kind)).collect()
        };
        let of_all = known(&all);
        // A moment that itself was lost is not known to be one: what is known of the others is as without the loss.
        let lost_time = all.get(lost).map(|row| row.time);
        let next_time = all.get(lost + 1).map(|row| row.time);
        for verdict in known(&some).into_iter().filter(|(since, _)| *since != lost_time && *since != next_time) {
            prop_assert!(of_all.contains(&verdict), "{:?} of {:?}", verdict, of_all);
        }
    }
}
