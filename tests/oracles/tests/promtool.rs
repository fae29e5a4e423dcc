//! `for` equals that of Prometheus, as `promtool test rules` evaluates it.
//!
//! | rule | alert of Prometheus |
//! |---|---|
//! | `raise C for D; clear not (C) for E` | `for: D`, `keep_firing_for: E` |
//!
//! A sample comes at each evaluation, a second apart. Samples that are missing are not compared: they are no reason to clear an alarm here, and resolve an alert
//! there.

#![allow(clippy::expect_used, reason = "a test says what it expects by unwrapping")]

use oasis_oracles::{MS, Sample, events, program};
use oasis_rules::Standing;
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

/// Alerts of one file.
const CHUNK: usize = 100;

/// A condition in both languages, for one case.
fn condition(case: usize, random: &mut fastrand::Rng) -> (String, String) {
    let comparison = |random: &mut fastrand::Rng| {
        let metric = *random.choice(&["x", "y"]).expect("some");
        let operator = *random.choice(&["<", "<=", ">", ">="]).expect("some");
        let limit = random.u8(0..4);
        (format!("p.{metric} {operator} {limit}"), format!("{metric}{{case=\"{case}\"}} {operator} {limit}"))
    };
    let (left, right) = (comparison(random), comparison(random));
    match random.u8(0..3) {
        0 => left,
        1 => (format!("({} and {})", left.0, right.0), format!("({} and {})", left.1, right.1)),
        _ => (format!("({} or {})", left.0, right.0), format!("({} or {})", left.1, right.1)),
    }
}

fn trace(random: &mut fastrand::Rng) -> Vec<Sample> {
    let mut values = [0.25, 0.25, 0.0];
    let sample = |step: u64| {
        for value in &mut values {
            if random.u8(0..10) < 4 {
                *value = f64::from(random.i8(-2..6)) + 0.25;
            }
        }
        Sample { time: step * 1_000, sequence: step, values }
    };
    (0..30).map(sample).collect()
}

/// Whether the alarm of a rule is active after each sample.
fn active(rule: &str, samples: &[Sample], random: &mut fastrand::Rng) -> Vec<bool> {
    let found = events(&program(rule), samples, random);
    let at = |sample: &Sample| found.iter().rfind(|event| event.time <= sample.time * MS);
    samples
        .iter()
        .map(|sample| at(sample).is_some_and(|event| event.standing == Some(Standing::Active)))
        .collect()
}

/// A rule of Prometheus, its series, and what is expected at each second.
struct Case {
    rule: Value,
    series: Vec<Value>,
    expected: Vec<Value>,
    /// Seconds at which the alarm is active.
    active: usize,
}

impl Case {
    fn random(number: usize) -> Self {
        let mut random = oasis_oracles::random(number);
        let (ours, theirs) = condition(number, &mut random);
        let (held, kept) = (random.u64(1..6), random.u64(1..6));
        let samples = trace(&mut random);
        let rule = format!("alarm A {{ raise {ours} for {held}s; clear not ({ours}) for {kept}s; }}");
        let active = active(&rule, &samples, &mut random);
        let alert = format!("A{number}");
        let labels = json!({"case": number.to_string()});
        let expect = |(second, is_active): (usize, &bool)| {
            let alerts = if *is_active { vec![json!({"exp_labels": labels})] } else { Vec::new() };
            json!({"eval_time": format!("{second}s"), "alertname": alert, "exp_alerts": alerts})
        };
        let series = ["x", "y"].into_iter().enumerate().map(|(column, name)| {
            let values: Vec<_> = samples.iter().map(|sample| sample.values[column].to_string()).collect();
            json!({"series": format!("{name}{{case=\"{number}\"}}"), "values": values.join(" ")})
        });
        Self {
            rule: json!({"alert": alert, "expr": theirs, "for": format!("{held}s"), "keep_firing_for": format!("{kept}s")}),
            series: series.collect(),
            expected: active.iter().enumerate().map(expect).collect(),
            active: active.iter().filter(|is_active| **is_active).count(),
        }
    }
}

#[test]
fn alarms_equal_those_of_prometheus() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("promtool");
    fs::create_dir_all(&directory).expect("a directory");
    let cases = oasis_oracles::cases(300);
    let (mut compared, mut active) = (0, 0);
    for first in (0..cases).step_by(CHUNK) {
        let chunk: Vec<_> = (first..cases.min(first + CHUNK)).map(Case::random).collect();
        let of = |part: fn(&Case) -> &Vec<Value>| chunk.iter().flat_map(part).collect::<Vec<_>>();
        compared += of(|case| &case.expected).len();
        active += chunk.iter().map(|case| case.active).sum::<usize>();
        // JSON is YAML.
        let rules: Vec<_> = chunk.iter().map(|case| &case.rule).collect();
        let rules = json!({"groups": [{"name": "oasis", "rules": rules}]});
        let tests = json!({
            "rule_files": ["rules.yml"],
            "evaluation_interval": "1s",
            "tests": [{"interval": "1s", "input_series": of(|case| &case.series), "alert_rule_test": of(|case| &case.expected)}],
        });
        fs::write(directory.join("rules.yml"), rules.to_string()).expect("a file of rules");
        fs::write(directory.join("tests.yml"), tests.to_string()).expect("a file of tests");
        let output =
            Command::new("promtool").args(["test", "rules"]).arg(directory.join("tests.yml")).output();
        let output = output.expect("promtool starts: make promtool");
        let said =
            [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        assert!(output.status.success(), "cases {first} and following: {said}");
    }
    println!("{cases} alarms, {compared} states compared, {active} of them active");
    assert!(active > cases, "hardly an alarm was active");
}
