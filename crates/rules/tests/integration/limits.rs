//! Limits of PDL as rules: the same verdicts as the page had.

use oasis_rules::{
    Engine, EventKind, RESTART, Rows, limits,
    program::{Body, Severity},
};
use oasis_wire::schema::{EnumType, Enumerator, Metric, MetricType, ProbeType, StructType, Threshold};
use proptest::prelude::*;
use std::sync::Arc;

fn probe_type(version: &str, metrics: Vec<Metric>) -> Arc<ProbeType> {
    let uuid = "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa".parse().unwrap();
    Arc::new(ProbeType {
        name: "Plant::Pump".into(),
        uuid,
        version: version.into(),
        doc: None,
        rate: None,
        metrics,
    })
}

fn beyond(below: Option<i64>, above: Option<i64>) -> Option<Threshold> {
    Some(Threshold { below: below.map(Into::into), above: above.map(Into::into), values: Vec::new() })
}

fn of(values: &[i64]) -> Option<Threshold> {
    Some(Threshold { values: values.to_vec(), ..Threshold::default() })
}

fn mode() -> EnumType {
    let names = ["IDLE", "RUNNING", "DEGRADED", "FAILED"];
    let values = (0..).zip(names).map(|(value, name)| Enumerator { name: name.into(), value, doc: None });
    EnumType { name: "Mode".into(), values: values.collect() }
}

fn engine() -> Vec<Metric> {
    vec![
        Metric {
            unit: Some("Cel".into()),
            label: Some("Temperature".into()),
            min: Some((-40).into()),
            max: Some(150.into()),
            warn: beyond(Some(5), Some(80)),
            alarm: beyond(None, Some(95)),
            ..Metric::new("temperature", MetricType::Real64)
        },
        Metric {
            enumeration: Some(mode()),
            warn: of(&[2, 3, 9]),
            alarm: of(&[3]),
            ..Metric::new("mode", MetricType::Uint8)
        },
        Metric { max: Some(1.into()), ..Metric::new("loads", MetricType::Vector(MetricType::Real64.into())) },
        Metric::new("free", MetricType::Real64),
        Metric::new(
            "pose",
            MetricType::Struct(StructType {
                name: "Pose".into(),
                members: vec![Metric { max: Some(2.into()), ..Metric::new("x", MetricType::Real32) }],
            }),
        ),
    ]
}

#[test]
fn each_limit_is_an_alarm_with_a_readable_name() {
    let found = limits(&[probe_type("1.0", engine())]);
    let rules: Vec<_> = found
        .program
        .rules
        .iter()
        .map(|rule| match &rule.body {
            Body::Alarm(alarm) => (&*rule.name, alarm.severity, alarm.message.as_deref().unwrap()),
            _ => panic!("{rule:?}"),
        })
        .collect();
    let temperature = "Temperature of {node}/{instance} is {value} (limit {limit})";
    let expected = [
        ("Plant::Pump.temperature high", Severity::High, temperature),
        ("Plant::Pump.temperature low warning", Severity::Medium, temperature),
        ("Plant::Pump.temperature high warning", Severity::Medium, temperature),
        ("Plant::Pump.temperature below range", Severity::Medium, temperature),
        ("Plant::Pump.temperature above range", Severity::Medium, temperature),
        ("Plant::Pump.mode FAILED", Severity::High, "mode of {node}/{instance} is FAILED"),
        ("Plant::Pump.mode DEGRADED", Severity::Medium, "mode of {node}/{instance} is DEGRADED"),
        ("Plant::Pump.mode 9", Severity::Medium, "mode of {node}/{instance} is 9"),
        (
            "Plant::Pump.pose.x above range",
            Severity::Medium,
            "x of {node}/{instance} is {value} (limit {limit})",
        ),
    ];
    assert_eq!(rules, expected);
    assert!(found.program.inputs[0].matches("plant", "pump 1"));
    assert_eq!(found.left_out, 0);
}

#[test]
fn versions_with_the_same_limits_share_rules_and_others_do_not() {
    let other = |limit: i64| {
        let mut metrics = engine();
        metrics[0].alarm = beyond(None, Some(limit));
        metrics
    };
    let types = [
        probe_type("1.0", engine()),
        probe_type("1.1", engine()),
        probe_type("1.2", other(99)),
        probe_type("1.0", engine()),
    ];
    let found = limits(&types);
    let inputs = &found.program.inputs;
    let read: Vec<Vec<_>> =
        inputs.iter().map(|input| types.iter().map(|known| input.reads(known)).collect()).collect();
    assert_eq!(read, [[true, true, false, true], [false, false, true, false]]);
    assert!(!inputs[0].reads(&ProbeType { name: "Other".into(), ..(*types[0]).clone() }));
    assert_eq!(found.program.rules.len(), 18);
}

#[test]
fn the_text_of_a_schema_stays_text() {
    let metric = |label: &str| Metric {
        label: Some(label.into()),
        unit: Some("{packet}".into()),
        max: Some(1.into()),
        ..Metric::new("x", MetricType::Real64)
    };
    let of = |label: &str| {
        let found = limits(&[probe_type("1.0", vec![metric(label)])]);
        match &found.program.rules[0].body {
            Body::Alarm(alarm) => alarm.message.clone().unwrap(),
            _ => panic!(),
        }
    };
    assert_eq!(of("a\r\nb"), "a  b of {node}/{instance} is {value} (limit {limit})");
    assert_eq!(of("{node} x"), "node x of {node}/{instance} is {value} (limit {limit})");
    assert!(of(&"ä".repeat(1_000)).len() <= 256);
}

#[test]
fn limits_beyond_the_bound_are_left_out_and_counted() {
    let metrics = (0..3_000).map(|number| Metric {
        warn: beyond(Some(0), Some(1)),
        alarm: beyond(Some(0), Some(1)),
        ..Metric::new(format!("x{number}"), MetricType::Real64)
    });
    let found = limits(&[probe_type("1.0", metrics.collect())]);
    assert_eq!((found.program.rules.len(), found.left_out), (10_000, 2_000));
}

/// The verdict of the page, until the DAC had one.
fn judged(metric: &Metric, value: f64) -> Option<Severity> {
    let passed = |threshold: &Option<Threshold>| {
        threshold.as_ref().is_some_and(|threshold| {
            let number = |limit: &serde_json::Number| limit.as_f64().unwrap();
            threshold.below.as_ref().is_some_and(|below| value < number(below))
                || threshold.above.as_ref().is_some_and(|above| value > number(above))
                || threshold.values.iter().any(|known| *known as f64 == value)
        })
    };
    let range = Some(Threshold { below: metric.min.clone(), above: metric.max.clone(), values: Vec::new() });
    if passed(&metric.alarm) {
        Some(Severity::High)
    } else {
        (passed(&metric.warn) || passed(&range)).then_some(Severity::Medium)
    }
}

fn threshold() -> impl Strategy<Value = Option<Threshold>> {
    let limit = || prop::option::of(-3..4_i64);
    let values = prop::collection::vec(0..4_i64, 0..3);
    prop::option::of((limit(), limit(), values)).prop_map(|threshold| {
        let (below, above, values) = threshold?;
        Some(Threshold { values, ..beyond(below, above)? })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The highest severity of the alarms that stand after each sample is the one that the page showed.
    #[test]
    fn the_alarms_stand_as_long_as_the_page_showed_them(
        warn in threshold(), alarm in threshold(), min in prop::option::of(-4..4_i64), max in prop::option::of(-4..4_i64),
        values in prop::collection::vec(-5..6_i32, 1..40),
    ) {
        let metric = Metric {
            warn, alarm, min: min.map(Into::into), max: max.map(Into::into), enumeration: Some(mode()),
            ..Metric::new("x", MetricType::Int32)
        };
        let found = limits(&[probe_type("1.0", vec![metric.clone()])]);
        let severities: Vec<_> = found.program.rules.iter().map(|rule| match &rule.body {
            Body::Alarm(alarm) => alarm.severity,
            _ => panic!("{rule:?}"),
        }).collect();
        let mut standing = vec![false; severities.len()];
        let mut engine = Engine::new(found.program);
        let pump = engine.add(0).unwrap();
        for (at, value) in (1_u64..).zip(&values) {
            let rows = Rows {
                times: vec![at * 1_000_000], sequences: vec![at], missing: vec![if at == 1 { RESTART } else { 0 }],
                columns: vec![vec![f64::from(*value)]], origins: vec![0],
            };
            engine.batch(pump, at * 1_000_000, rows, &mut |_, event| {
                assert_eq!(event.sequence, Some(at));
                assert_eq!(event.value, Some(f64::from(*value)));
                standing[event.rule] = event.kind == EventKind::Raised;
            });
            let highest = severities.iter().zip(&standing).filter(|(_, stands)| **stands).map(|(severity, _)| *severity as u8).max();
            prop_assert_eq!(highest, judged(&metric, f64::from(*value)).map(|severity| severity as u8));
        }
    }
}
