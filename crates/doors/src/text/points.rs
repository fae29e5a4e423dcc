//! A topic's past in so many points: what the archive has, then what only the topic log has, in one message; the reader goes on behind it.

use super::{
    json,
    past::{blocking, lags},
    query::Integers,
    reader::{Message, Reader},
};
use crate::problem::Problem;
use axum::http::StatusCode;
use bytes::Bytes;
use oasis_archive::{
    Level, ReadError,
    points::{Arrival, Cell, Leaf, Missing, Number, Points, Span, Summary, Track},
};
use oasis_dac::{Instance, now};
use oasis_wire::{
    batch::{self, Header},
    quantity::{Epoch, Offset, Position},
    schema::{MetricType, ProbeType},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Most values of one message: points times numbers of a sample.
const MAX_VALUES: usize = 500_000;

/// Refuses more than one should have to hold.
pub fn check_width(points: u32, probe_type: &ProbeType) -> Result<(), Problem> {
    let width = Leaf::most_values(probe_type);
    if width.saturating_mul(points as usize) <= MAX_VALUES {
        return Ok(());
    }
    let detail = format!(
        "{points} points of {} with up to {width} values each are more than {MAX_VALUES}: ask for {} points at most",
        probe_type.name,
        MAX_VALUES / width
    );
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too_wide", detail))
}

impl Reader {
    /// Puts all that is there from a time on into one message.
    pub async fn fetch_points(&mut self, index: usize, from: u64, most: u32) -> Result<(), ReadError> {
        let instance = self.topics[index].cursor.instance().clone();
        let (now, until) = (now().0, self.request.until);
        let to = until.unwrap_or(now.max(from.saturating_add(1)));
        let span = Span { from, to, is_open: until.is_none(), points: most };
        let mut points = self.stored_points(&instance, span).await?;
        if self.is_behind_the_log(&points, &instance) {
            points = self.read_on(&instance, points).await?;
        }
        let (epoch, integers) = (self.epoch(), self.request.integers);
        let (next, text) = blocking(move || {
            let next = add_log(&mut points, &instance, epoch);
            Ok((next, describe(&instance, &points, integers)))
        })
        .await?;
        let behind = Position { epoch, offset: next };
        self.waiting.push_back((index, Message::Event("points", text), behind));
        self.topics[index].is_over = until.is_some_and(|until| until <= now);
        self.join(index, behind);
        Ok(())
    }

    async fn stored_points(&self, instance: &Instance, span: Span) -> Result<Points, ReadError> {
        let Some(archive) = self.doors.archive.clone() else { return Ok(Points::new(span, Level::Raw)) };
        let (node, name) = (instance.node.clone(), instance.name.clone());
        let _turn = self.doors.archive_turn().await;
        blocking(move || archive.history().points(&node, &name, span)).await
    }

    /// With what the archive has not stored yet.
    async fn read_on(&self, instance: &Instance, mut points: Points) -> Result<Points, ReadError> {
        let Some(archive) = self.doors.archive.clone() else { return Ok(points) };
        // What it could not store it will not find either.
        let _ = archive.flush().await;
        let (node, name) = (instance.node.clone(), instance.name.clone());
        let _turn = self.doors.archive_turn().await;
        blocking(move || {
            archive.history().add_points(&node, &name, &mut points)?;
            Ok(points)
        })
        .await
    }

    /// Whether the log has let go of what comes next, so that it is on its way to the archive, or lost.
    fn is_behind_the_log(&self, points: &Points, instance: &Instance) -> bool {
        let Some(archive) = &self.doors.archive else { return false };
        match points.position().filter(|at| at.epoch == self.epoch()) {
            Some(at) => at.offset < instance.log.state().first_offset,
            None => lags(archive, instance),
        }
    }
}

fn describe(instance: &Instance, points: &Points, integers: Integers) -> Bytes {
    let span = points.cells.span();
    let time = |time: u64| integer(time, integers);
    let gap = |gap: &Missing| json!({"from": time(gap.from), "to": time(gap.to), "samples": gap.samples, "cause": cause(gap, instance)});
    let cells: Vec<_> = points.cells.cells().map(|(_, cell)| cell).collect();
    json::members(&json!({
        "event": "points",
        "node": instance.node,
        "instance": instance.name,
        "level": points.level.word(),
        "from": time(span.start),
        "to": time(span.end),
        "step": points.cells.step(),
        "times": cells.iter().map(|cell| time(cell.last_time)).collect::<Vec<_>>(),
        "samples": cells.iter().map(|cell| cell.samples).collect::<Vec<_>>(),
        "metrics": metrics(points.cells.leaves(), &cells, integers),
        "gaps": points.gaps.iter().map(gap).collect::<Vec<_>>(),
    }))
}

/// Takes in what the topic log has behind what was stored. Answers where the reader goes on.
fn add_log(points: &mut Points, instance: &Instance, epoch: Epoch) -> Offset {
    let log = &instance.log;
    let known = points.position().filter(|at| at.epoch == epoch);
    let from = known.map_or_else(|| log.state().first_offset, |at| at.offset);
    let read = log.read(from, usize::MAX);
    for segment in &read.segments {
        let Ok(header) = Header::parse(segment.batch()) else { continue };
        let times = batch::time_range(segment.batch()).unwrap_or((header.dac_time, header.dac_time));
        let count = u64::from(segment.count());
        let arrival = Arrival {
            epoch,
            run: segment.run(),
            probe_type: &instance.probe_type,
            first: segment.first_held(),
            times,
            count,
            last_sequence: header.first_sequence.saturating_add(count - 1),
        };
        points.add(&arrival, Some(segment.batch()), |_| (Offset(u64::MAX), "log_retention"));
    }
    read.segments.last().map_or(from, |last| last.end())
}

/// Why samples are missing. The ledger may know more of the latest ones.
fn cause(gap: &Missing, instance: &Instance) -> Value {
    let Some((run, numbers)) = &gap.numbers else { return json!(gap.cause) };
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
        Number::Uint(value) => integer(value, integers),
        Number::Int(value) if integers == Integers::String => value.to_string().into(),
        Number::Int(value) => value.into(),
        Number::Real32(value) => real(format!("{value}").parse().unwrap_or_else(|_| value.into())),
        Number::Real64(value) => real(value),
    }
}

fn integer(value: u64, integers: Integers) -> Value {
    match integers {
        Integers::Number => value.into(),
        Integers::String => value.to_string().into(),
    }
}

fn real(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.into(),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}
