//! The JSON form of all text doors: each segment's samples as the members of an object, without its opening brace. So a door can put a member of its own before
//! them. `docs/reference/text-doors.md` describes it.

use super::{sample_text, source::Source};
use crate::view::JsonForm;
use bytes::Bytes;
use oasis_dac::{Delivery, Instance, Segment, SkippedRange};
use oasis_wire::{
    absence::Absence,
    batch::Batch,
    gap::Gap,
    loss::Cause,
    quantity::{Epoch, Offset},
    schema::{Metric, MetricType, ProbeType},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::ops::Range;

/// Bytes of text that one message should not exceed: a batch of a few bytes can have millions of values.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// Values of a batch whose text is never large.
const MAX_SMALL_VALUES: usize = 4_096;

#[derive(Serialize)]
struct Samples<'a> {
    event: &'static str,
    node: &'a str,
    instance: &'a str,
    #[serde(skip_serializing_if = "is_every")]
    delivery: Delivery,
    node_time: Value,
    dac_time: Value,
    dropped_before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps_before: Option<&'a [Gap]>,
    thinned: u64,
    samples: sample_text::Samples<'a>,
}

/// Returns the wanted samples of a segment, for a reader that has everything before them.
pub fn samples(source: &Source, segment: &Segment, wanted: &Range<Offset>, form: JsonForm) -> Bytes {
    let integers = form.integers;
    let Ok(batch) = Batch::parse(segment.batch(), source.probe_type()) else {
        return unreadable(source, segment, wanted);
    };
    let header = batch.header();
    // A reader that begins after the batch's first sample has received the report of earlier drops.
    let is_whole = wanted.start <= segment.first_held();
    let thinned = segment.first_held().0.saturating_sub(segment.first().0.max(wanted.start.0));
    let dropped = u64::from(header.dropped_before).saturating_sub(segment.thinned());
    let absence = Absence::of_batch(source.probe_type(), &batch);
    let text = Samples {
        event: "samples",
        node: source.node(),
        instance: source.instance(),
        delivery: source.delivery(),
        node_time: integers.write(header.node_time),
        dac_time: integers.write(header.dac_time),
        dropped_before: if is_whole { dropped } else { 0 },
        gaps_before: segment.gaps_before().filter(|_| is_whole).map(|gaps| &**gaps),
        thinned,
        samples: sample_text::Samples {
            batch: &batch,
            metrics: &source.probe_type().metrics,
            absence: absence.as_ref(),
            wanted,
            form,
        },
    };
    members(&text)
}

/// Returns where to divide these samples of a segment, if their text would be large.
pub fn middle(source: &Source, segment: &Segment, wanted: &Range<Offset>) -> Option<Offset> {
    let metrics = &source.probe_type().metrics;
    if usize::from(segment.count()) * (metrics.len() + 1) <= MAX_SMALL_VALUES {
        return None;
    }
    // About what sequence, offset, time and state take.
    let each = 100 + metrics.iter().map(text_bytes).sum::<usize>();
    let fitting = (MAX_MESSAGE_BYTES / each).max(1) as u64;
    let middle = Offset(wanted.start.max(segment.first_held()).0 + fitting);
    (middle < wanted.end).then_some(middle)
}

/// Most bytes of a value with its name; vectors and strings may have more, which a batch contains.
fn text_bytes(metric: &Metric) -> usize {
    let value = match &metric.kind {
        MetricType::Struct(of) => of.members.iter().map(text_bytes).sum(),
        _ => 24,
    };
    metric.name.len() + 4 + value
}

/// A batch with malformed columns: the DAC checks only its header.
pub fn unreadable(source: &Source, segment: &Segment, wanted: &Range<Offset>) -> Bytes {
    let from = wanted.start.max(segment.first());
    gap((source.node(), source.instance()), Some(from..wanted.end), Cause::Unreadable)
}

/// Samples that the reader will not get.
pub fn skipped(instance: &Instance, skipped: &SkippedRange) -> Bytes {
    let range = (skipped.from..skipped.to, skipped.count());
    counted_gap((&instance.node, &instance.name), Some(range), skipped.cause)
}

/// Samples that the reader will not receive, and the cause. Without offsets if its position belongs to an earlier run of the DAC.
pub fn gap(names: (&str, &str), range: Option<Range<Offset>>, cause: Cause) -> Bytes {
    let counted = |range: Range<Offset>| {
        let count = range.end.0 - range.start.0;
        (range, count)
    };
    counted_gap(names, range.map(counted), cause)
}

fn counted_gap((node, instance): (&str, &str), range: Option<(Range<Offset>, u64)>, cause: Cause) -> Bytes {
    let mut gap = json!({"event": "gap", "node": node, "instance": instance});
    if let Some((Range { start, end }, count)) = range {
        gap["from"] = start.0.into();
        gap["to"] = end.0.into();
        gap["count"] = count.into();
    }
    gap["cause"] = cause.word().into();
    members(&gap)
}

/// The node came back with another type under the same name: metrics differ from here on.
pub fn type_changed((node, instance): (&str, &str), probe_type: &ProbeType) -> Bytes {
    let changed = json!({"event": "type_changed", "node": node, "instance": instance,
        "type": probe_type.name, "version": probe_type.version});
    members(&changed)
}

/// Offsets count in another epoch from here on: the DAC was started again.
pub fn epoch((node, instance): (&str, &str), epoch: Epoch) -> Bytes {
    members(&json!({"event": "epoch", "node": node, "instance": instance, "epoch": epoch}))
}

/// The end of an answer.
pub fn end(cause: &str) -> Bytes {
    members(&json!({"event": "end", "cause": cause}))
}

/// The object without its opening brace.
pub fn members(object: &impl Serialize) -> Bytes {
    without_brace(serde_json::to_vec(object).unwrap_or_default())
}

/// The object without its opening brace.
pub fn without_brace(object: Vec<u8>) -> Bytes {
    let mut text = Bytes::from(object);
    text.split_off(1.min(text.len()))
}

fn is_every(delivery: &Delivery) -> bool {
    *delivery == Delivery::Every
}
