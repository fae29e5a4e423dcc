//! A topic's past in so many points: what the archive has, then what only the topic log has, in one message; the reader goes on behind it.

use super::{Asker, Fetched, Then, Told, archived::blocking};
use crate::view::Integers;
use oasis_archive::Archive;
use oasis_dac::{Instance, now};
use oasis_store::{
    Gap, History, Level, ReadError,
    cells::{Cell, Leaf, Number, Summary, Track},
    points::{Arrival, Missing, Points, Span},
};
use oasis_wire::{
    batch::{self, Header},
    loss::Cause,
    quantity::{Epoch, Offset, Position},
    schema::{MetricType, ProbeType},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, VecDeque};

/// Most values of one message: points times numbers of a sample.
const MAX_VALUES: usize = 500_000;

/// Says how many points there may be, if those would be more values than one message should have to hold.
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

impl Asker {
    /// Puts all that is there from a time on into one message.
    pub(super) async fn fetch_points(&self, from: u64, most: u32) -> Result<Fetched, ReadError> {
        let (now, until) = (now().0, self.until);
        let to = until.unwrap_or(now.max(from.saturating_add(1)));
        let span = Span { from, to, is_open: until.is_none(), points: most };
        let mut points = match &self.archived.archive {
            Some(archive) => self.stored_points(archive, span).await?,
            None => Points::new(span, Level::Raw),
        };
        let asker = self.clone();
        let (next, text) = blocking(move || {
            let archive = asker.archived.archive.as_ref();
            let account = archive.and_then(|archive| archive.account(asker.instance.topic));
            let gaps = account.unwrap_or_default().gaps;
            let next = add_log(&mut points, &asker.instance, asker.epoch(), &gaps);
            Ok((next, asker.describe(&points)))
        })
        .await?;
        let begin = Position { epoch: self.epoch(), offset: next };
        let is_over = until.is_some_and(|until| until <= now);
        let then = if is_over { Then::Over } else { Then::Log { at: begin, is_lacking: false } };
        Ok(Fetched { begin, told: vec![(Told::Points(text), begin)], then })
    }

    async fn stored_points(&self, archive: &Archive, span: Span) -> Result<Points, ReadError> {
        let (node, name) = (self.instance.node.clone(), self.instance.name.clone());
        let ask = move |history: &History| oasis_query::points(history, &node, &name, span);
        let mut points = self.archived.read(archive, ask).await?;
        if !self.is_behind_the_log(&points) {
            return Ok(points);
        }
        // What it could not store it will not find either.
        let _ = archive.flush().await;
        let (node, name) = (self.instance.node.clone(), self.instance.name.clone());
        let read_on = move |history: &History| {
            oasis_query::add_points(history, &node, &name, &mut points)?;
            Ok(points)
        };
        self.archived.read(archive, read_on).await
    }

    /// Whether the log has let go of what comes next, so that it is on its way to the archive, or lost.
    fn is_behind_the_log(&self, points: &Points) -> bool {
        match points.position().filter(|at| at.epoch == self.epoch()) {
            Some(at) => at.offset < self.instance.log.state().first_offset,
            None => self.archived.lags(&self.instance),
        }
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
        // Names, numbers and lists: nothing that JSON could refuse.
        serde_json::to_vec(&message).unwrap_or_default()
    }
}

/// Takes in what the topic log has behind what was stored; `not_stored` is what the archive could not store of it. Answers where the reader goes on.
fn add_log(points: &mut Points, instance: &Instance, epoch: Epoch, not_stored: &VecDeque<Gap>) -> Offset {
    let why = |at| match not_stored.iter().find(|gap| at < gap.to) {
        Some(gap) if gap.from <= at => (gap.to, gap.cause),
        Some(gap) => (gap.from, Cause::LogRetention),
        None => (Offset(u64::MAX), Cause::LogRetention),
    };
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
        points.add(&arrival, Ok(segment.batch()), why);
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
        Number::Uint(value) => integers.write(value),
        Number::Int(value) => integers.write(value),
        Number::Real32(value) => real(format!("{value}").parse().unwrap_or_else(|_| value.into())),
        Number::Real64(value) => real(value),
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
