//! The past of a topic as points, in one message: samples of the archive, then newer ones of the topic log.

use super::{Fetcher, Item, NextStep, PastPart};
use crate::view::Integers;
use oasis_dac::{Instance, now};
use oasis_query::{PointsRead, PointsReader};
use oasis_rollup::{
    cells::{Cell, Leaf, Number, Summary, Track},
    points::{Missing, Points, Span},
};
use oasis_store::ReadError;
use oasis_wire::{
    loss::Cause,
    schema::{MetricType, ProbeType},
    value::real_word,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Most values of one message: points times numbers of a sample.
const MAX_VALUES: usize = 500_000;

/// Returns an error with the allowed number of points if these would have too many values for one message.
pub(super) fn check_width(points: u32, probe_type: &ProbeType) -> Result<(), String> {
    let width = Leaf::most_values(probe_type);
    if width.saturating_mul(points as usize) <= MAX_VALUES {
        return Ok(());
    }
    Err(format!(
        "{points} points of {} with up to {width} values each are more than {MAX_VALUES}: ask for {} points at most",
        probe_type.name,
        MAX_VALUES / width
    ))
}

impl Fetcher {
    /// Puts everything from a time on into one message.
    pub(super) async fn fetch_points(&self, from: u64, most: u32) -> Result<PastPart, ReadError> {
        let (now, until) = (now().0, self.until);
        let to = until.unwrap_or(now.max(from.saturating_add(1)));
        let span = Span { from, to, is_open: until.is_none(), points: most };
        let (node, name) = (&self.instance.node, &self.instance.name);
        let mut reader = PointsReader::new(node, name, span, self.archived.history(), self.log());
        let (begin, text) = loop {
            let fetcher = self.clone();
            let work = move || {
                Ok(match reader.read()? {
                    PointsRead::Flush => Err(reader),
                    PointsRead::Done(points, next) => Ok((next, fetcher.describe(&points))),
                })
            };
            match self.archived.read(work).await? {
                Ok(done) => break done,
                Err(again) => reader = again,
            }
            self.archived.flush().await;
        };
        let is_over = until.is_some_and(|until| until <= now);
        let then = if is_over { NextStep::Over } else { NextStep::Log { at: begin, is_missing: false } };
        Ok(PastPart { begin, items: vec![(Item::Points(text), begin)], then })
    }

    fn describe(&self, points: &Points) -> Vec<u8> {
        let span = points.cells.span();
        let time = |time: u64| self.integers.write(time);
        let gap = |gap: &Missing| json!({"from": time(gap.from), "to": time(gap.to), "samples": gap.samples, "cause": cause(gap, &self.instance)});
        let cells: Vec<_> = points.cells.cells().map(|(_, cell)| cell).collect();
        let mut message = self.points_head.clone();
        let mut say = |name: &str, value: Value| drop(message.insert(name.into(), value));
        say("level", points.level.word().into());
        say("from", time(span.start));
        say("to", time(span.end));
        say("step", points.cells.step().into());
        say("times", cells.iter().map(|cell| time(cell.last_time)).collect());
        say("samples", cells.iter().map(|cell| cell.samples).collect());
        say("metrics", metrics(points.cells.leaves(), &cells, self.integers).into());
        say("gaps", points.gaps.iter().map(gap).collect());
        // Contains only names, numbers and lists, so JSON cannot fail.
        serde_json::to_vec(&message).unwrap_or_default()
    }
}

/// Returns the cause of missing samples. The ledger may know the one of samples that neither the archive nor the log explains.
fn cause(gap: &Missing, instance: &Instance) -> Value {
    let is_open = matches!(gap.cause, Cause::NodeDropped | Cause::BeforeEpoch | Cause::Unexplained);
    let Some((run, numbers)) = gap.numbers.as_ref().filter(|_| is_open) else { return json!(gap.cause) };
    let ledger = instance.ledger();
    let mut known = ledger.gaps.iter().filter(|known| {
        known.run == *run && known.from_sequence < numbers.end && numbers.start <= known.to_sequence
    });
    known.next().map_or_else(|| json!(gap.cause), |known| json!(known.cause))
}

fn metrics(leaves: &[Leaf], cells: &[&Cell], integers: Integers) -> Map<String, Value> {
    let mut metrics = Map::new();
    for (place, leaf) in leaves.iter().enumerate() {
        let tracks = || cells.iter().map(|cell| cell.tracks.get(place));
        if leaf.is_text() {
            let last = tracks().map(|track| match track {
                Some(Track::Text(text)) => text.as_str().into(),
                _ => Value::Null,
            });
            metrics.insert(leaf.name.clone(), json!({"last": last.collect::<Vec<_>>()}));
        } else if leaf.has_elements() {
            for element in elements(tracks()) {
                let summaries = tracks().map(|track| match track {
                    Some(Track::Elements(elements)) => elements.get(element).copied().flatten(),
                    _ => None,
                });
                metrics.insert(
                    leaf.element_name(element),
                    columns(leaf, &summaries.collect::<Vec<_>>(), integers),
                );
            }
        } else {
            let summaries = tracks().map(|track| match track {
                Some(Track::Number(summary)) => Some(*summary),
                _ => None,
            });
            metrics.insert(leaf.name.clone(), columns(leaf, &summaries.collect::<Vec<_>>(), integers));
        }
    }
    metrics
}

/// All places that any vector has an element at.
fn elements<'a>(tracks: impl Iterator<Item = Option<&'a Track>>) -> BTreeSet<usize> {
    let lengths = tracks.map(|track| match track {
        Some(Track::Elements(elements)) => elements.len(),
        _ => 0,
    });
    (0..lengths.max().unwrap_or_default()).collect()
}

fn columns(leaf: &Leaf, summaries: &[Option<Summary>], integers: Integers) -> Value {
    let is_wide = matches!(leaf.kind, MetricType::Int64 | MetricType::Uint64);
    let integers = if is_wide { integers } else { Integers::Number };
    let column = |value: &dyn Fn(&Summary) -> Value| -> Vec<Value> {
        summaries.iter().map(|summary| summary.as_ref().map_or(Value::Null, value)).collect()
    };
    let mut all = json!({
        "min": column(&|summary| number(summary.min, integers)),
        "max": column(&|summary| number(summary.max, integers)),
        "mean": column(&|summary| if summary.numbers == 0 { Value::Null } else { summary.mean().into() }),
        "last": column(&|summary| number(summary.last, integers)),
    });
    if leaf.is_counter {
        let counted = Summary::increases(summaries);
        let counted = counted.map(|counted| counted.map_or(Value::Null, |counted| number(counted, integers)));
        all["increase"] = counted.collect();
    }
    all
}

fn number(number: Number, integers: Integers) -> Value {
    match number {
        Number::Uint(value) => integers.write(value),
        Number::Int(value) => integers.write(value),
        Number::Real32(value) => real(format!("{value}").parse().unwrap_or_else(|_| value.into())),
        Number::Real64(value) => real(value),
    }
}

fn real(value: f64) -> Value {
    real_word(value).map_or_else(|| value.into(), Value::from)
}
