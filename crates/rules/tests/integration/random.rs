//! Random rules over random samples with gaps.

use oasis_rules::{Engine, Event, Program, RESTART, Rows, compile};
use oasis_wire::schema::{Metric, MetricType, ProbeType};
use proptest::prelude::*;
use std::sync::Arc;

pub const MS: u64 = 1_000_000;

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
pub fn program(rules: &str) -> Program {
    let text =
        format!("input p = \"*/p\" : P;\nevent All {{ when p.x > 99 and p.y > 99 and p.flag; }}\n{rules}");
    let report = compile("a.rules".as_ref(), &text, &[probe_type()]);
    let errors: Vec<_> =
        report.diagnostics.iter().map(|wrong| wrong.render(&report.sources, false)).collect();
    assert!(report.is_ok(), "{}", errors.join("\n"));
    report.program
}

/// A sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub time: u64,
    pub sequence: u64,
    pub missing: u64,
    pub values: Vec<f64>,
    /// The sample of the input that it belongs to.
    pub origin: usize,
}

/// A sample after the one before: milliseconds later, missing ones between them, and values.
pub type Step = (i64, u64, [f64; 3]);

pub fn rows(steps: &[Step]) -> Vec<Row> {
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
pub fn evaluated(program: &Program, rows: &[Row], sizes: &[usize]) -> Vec<Event> {
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

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let later = prop_oneof![8 => prop::sample::select(vec![0, 100, 500, 1_000, 3_000]), 1 => Just(-2_000)];
    let missing = prop_oneof![8 => Just(0), 1 => 1..4_u64, 1 => Just(RESTART)];
    // Their sums are rounded, and depend on the order unless they are exact.
    let special = || prop::sample::select(vec![0.1, 0.2, 0.3, -0.7, 1e16, -1e16, 5e-324, -0.0]);
    let number = || prop_oneof![9 => (-3..6_i8).prop_map(f64::from), 2 => special(), 1 => Just(f64::NAN)];
    let flag = prop_oneof![4 => Just(0.0), 4 => Just(1.0), 1 => Just(f64::NAN)];
    let values = (number(), number(), flag).prop_map(|(x, y, flag)| [x, y, flag]);
    prop::collection::vec((later, missing, values), 1..40)
}

fn window() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (2..5_u32).prop_map(|count| format!("last {count}")),
        1 => (5..16_u32).prop_map(|count| format!("last {count}")),
        5 => prop::sample::select(vec!["200ms", "1s", "2s", "5s"])
            .prop_map(|time| format!("{time} at most 50 samples")),
    ]
}

/// Formulas of numbers and of conditions contain one another.
pub fn formulas() -> (BoxedStrategy<String>, BoxedStrategy<String>) {
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

pub fn rule() -> impl Strategy<Value = String> {
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
