//! Samples of generated Rust types carry what they should.

#[rustfmt::skip]
#[path = "../plant/plant.rs"]
mod generated;

use generated::plant::{Drive, Mode, Switch, Trend, line7::Line};
use oasis_probe::{RowWriter, Sample};
use oasis_wire::{reader::Reader, schema::ProbeType, value};
use serde_json::json;

fn sample() -> Line {
    Line {
        mode: Mode::NotWell,
        temperature: 21.5,
        counts: vec![1],
        trends: vec![Trend::Up, Trend::Down],
        drives: vec![Drive { name: "left".into(), mode: Mode::Running }],
        r#type: Switch::On,
    }
}

#[test]
fn a_sample_carries_the_numbers_of_its_enums() {
    let schema: ProbeType = serde_json::from_str(Line::SCHEMA).unwrap();
    let mut row = Vec::new();
    sample().write(&mut RowWriter::new(&mut row));
    let mut from = Reader::new(&row, 0);
    let values: Vec<_> =
        schema.metrics.iter().map(|metric| value::read(&metric.kind, &mut from).unwrap()).collect();
    let expected = json!({
        "mode": 6, "temperature": 21.5, "counts": [1], "trends": [300, -300], "drives": [{"name": "left", "mode": 5}], "type": 1,
    });
    assert_eq!(serde_json::Value::from(value::to_json(&schema, &values)), expected);
}

#[test]
fn an_enum_begins_as_its_first_value() {
    assert_eq!(Line::default().mode, Mode::Idle);
    assert_eq!(i16::from(Trend::default()), -300);
}

#[test]
fn the_schema_has_numbers_and_what_they_mean() {
    let schema: serde_json::Value = serde_json::from_str(Line::SCHEMA).unwrap();
    let mode = json!({"name": "Plant::Mode", "values": [
        {"name": "IDLE", "value": 0, "doc": "Nothing moves."},
        {"name": "RUNNING", "value": 5},
        {"name": "NOT_WELL", "value": 6, "doc": "It needs somebody."},
    ]});
    let metrics = &schema["metrics"];
    assert_eq!((&metrics[0]["type"], &metrics[0]["enum"]), (&json!("uint8"), &mode));
    assert_eq!(metrics[3]["type"], json!({"vector": "int16"}));
    assert_eq!(metrics[3]["enum"]["name"], "Plant::Trend");
    let members = &metrics[4]["type"]["vector"]["struct"]["members"];
    assert_eq!((&members[1]["type"], &members[1]["enum"]), (&json!("uint8"), &mode));
    assert_eq!(metrics[1].get("enum"), None);
}

#[test]
fn the_schema_has_limits_as_they_were_written() {
    let schema: serde_json::Value = serde_json::from_str(Line::SCHEMA).unwrap();
    let limits = |metric: usize| {
        let metric = schema["metrics"][metric].as_object().unwrap();
        let limits = metric.iter().filter(|(key, _)| ["min", "max", "warn", "alarm"].contains(&key.as_str()));
        serde_json::Value::from_iter(limits.map(|(key, value)| (key.clone(), value.clone())))
    };
    assert_eq!(limits(0), json!({"alarm": {"values": [6]}}));
    let temperature =
        json!({"min": -40, "max": 150.5, "warn": {"below": 5, "above": 80}, "alarm": {"above": 100.0}});
    assert_eq!(limits(1), temperature);
    assert_eq!(limits(2), json!({"min": 0, "max": u64::MAX}));
    assert_eq!(limits(3), json!({}));
}
