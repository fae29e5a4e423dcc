//! The one JSON form of all text doors: each segment's samples as the members of an object, without its opening brace, so that a door
//! can put a member of its own before them. `docs/reference/text-doors.md` describes it.

use super::query::Integers;
use crate::view::SampleView;
use bytes::Bytes;
use oasis_dac::{Delivery, Instance, Segment, Skipped};
use oasis_wire::{
    batch::Batch,
    quantity::Offset,
    schema::{Metric, MetricType},
    value,
};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Samples<'a> {
    event: &'static str,
    node: &'a str,
    instance: &'a str,
    #[serde(skip_serializing_if = "is_every")]
    delivery: Delivery,
    dac_time: Value,
    dropped_before: u64,
    thinned: u64,
    samples: Vec<Value>,
}

/// Those samples of a segment that a reader wants who has everything before `wanted`.
pub fn samples(instance: &Instance, segment: &Segment, wanted: Offset, integers: Integers) -> Bytes {
    let Ok(batch) = Batch::parse(segment.batch(), &instance.probe_type) else {
        return unreadable(instance, segment, wanted);
    };
    let header = batch.header();
    // A reader that begins behind the batch's first sample has been told what was before that.
    let is_whole = wanted <= segment.first_held();
    let thinned = segment.first_held().0.saturating_sub(segment.first().0.max(wanted.0));
    let dropped = u64::from(header.dropped_before).saturating_sub(segment.thinned());
    let wanted_samples = batch.samples().filter(|sample| sample.offset >= wanted.0);
    let text = Samples {
        event: "samples",
        node: &instance.node,
        instance: &instance.name,
        delivery: instance.delivery,
        dac_time: number(header.dac_time, integers),
        dropped_before: if is_whole { dropped } else { 0 },
        thinned,
        samples: wanted_samples.map(|sample| one(instance, header.state, sample, integers)).collect(),
    };
    members(&text)
}

fn one(instance: &Instance, state: u16, sample: oasis_wire::batch::Sample, integers: Integers) -> Value {
    let metrics = value::to_json(&instance.probe_type, &sample.values);
    let view =
        SampleView { sequence: sample.sequence, offset: sample.offset, time: sample.time, state, metrics };
    let mut json = serde_json::to_value(view).unwrap_or_default();
    if integers == Integers::String {
        for name in ["sequence", "offset", "time"] {
            stringify(&mut json[name]);
        }
        stringify_members(&instance.probe_type.metrics, &mut json["metrics"]);
    }
    json
}

/// A batch whose columns break the rules: the DAC looked only at its header.
fn unreadable(instance: &Instance, segment: &Segment, wanted: Offset) -> Bytes {
    let from = wanted.max(segment.first());
    let to = segment.end();
    gap(instance, Some((from, to)), "unreadable")
}

/// Samples that the reader will not get.
pub fn skipped(instance: &Instance, skipped: &Skipped) -> Bytes {
    gap(instance, Some((skipped.from, skipped.to)), skipped.cause.word())
}

/// The position to resume from belongs to an earlier life of the DAC.
pub fn epoch_changed(instance: &Instance) -> Bytes {
    gap(instance, None, "epoch_changed")
}

fn gap(instance: &Instance, range: Option<(Offset, Offset)>, cause: &str) -> Bytes {
    let mut gap = json!({"event": "gap", "node": &*instance.node, "instance": &*instance.name});
    if let Some((from, to)) = range {
        gap["from"] = from.0.into();
        gap["to"] = to.0.into();
        gap["count"] = (to.0 - from.0).into();
    }
    gap["cause"] = cause.into();
    members(&gap)
}

/// The node came back with another type under the same name: metrics differ from here on.
pub fn type_changed(instance: &Instance) -> Bytes {
    let changed = json!({"event": "type_changed", "node": &*instance.node, "instance": &*instance.name,
        "type": instance.probe_type.name, "version": instance.probe_type.version});
    members(&changed)
}

/// Nothing follows.
pub fn end(cause: &str) -> Bytes {
    members(&json!({"event": "end", "cause": cause}))
}

/// The object without its opening brace.
fn members(object: &impl Serialize) -> Bytes {
    let mut text = Bytes::from(serde_json::to_vec(object).unwrap_or_default());
    text.split_off(1.min(text.len()))
}

fn is_every(delivery: &Delivery) -> bool {
    *delivery == Delivery::Every
}

fn number(number: u64, integers: Integers) -> Value {
    match integers {
        Integers::Number => number.into(),
        Integers::String => number.to_string().into(),
    }
}

fn stringify(json: &mut Value) {
    if json.is_number() {
        *json = json.to_string().into();
    }
}

fn stringify_members(members: &[Metric], json: &mut Value) {
    for member in members {
        if let Some(json) = json.get_mut(&member.name) {
            stringify_kind(&member.kind, json);
        }
    }
}

fn stringify_kind(kind: &MetricType, json: &mut Value) {
    match (kind, json) {
        (MetricType::Int64 | MetricType::Uint64, json) => stringify(json),
        (MetricType::Vector(element), Value::Array(elements)) => {
            elements.iter_mut().for_each(|json| stringify_kind(element, json));
        }
        (MetricType::Struct(of), json) => stringify_members(&of.members, json),
        _ => {}
    }
}
