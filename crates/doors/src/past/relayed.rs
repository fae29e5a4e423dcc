//! The past of a relayed instance: its upstream has it, up to the oldest sample of the log here. Then the log continues.

use super::{Fetcher, Item, NextStep, PastPart, Source};
use crate::view::Integers;
use bytes::Bytes;
use oasis_dac::{PastMessage, PastQuestion, PastStart, Question, Signal, Wake, now};
use oasis_history::{Batch, HistoryPart, Start};
use oasis_store::{ReadError, Series};
use oasis_wire::{
    batch::{self, Header},
    gap::Gap,
    quantity::{Epoch, Offset, Position},
    schema::{MetricType, ProbeType},
};
use serde_json::{Map, Value};
use std::{io, sync::Arc, time::Duration};
use tokio::sync::mpsc::Receiver;
use uuid::Uuid;

/// Bytes of batches and points in one part, after which the next part begins.
const PART_BYTES: usize = 256 * 1024;
/// Bytes that any message counts for, so that a part has a bounded number of them.
const MIN_MESSAGE_BYTES: usize = 64;
/// Longest points of an upstream, in bytes: more than a DAC answers with.
const MAX_POINTS_BYTES: usize = 32 * 1024 * 1024;
/// Timeout of the first sample here. The upstream sends its newest one at once, if it has any.
const FIRST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of the next message of the upstream.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// An answer of the upstream, in the middle.
#[derive(Debug)]
pub struct Answer {
    messages: Receiver<PastMessage>,
    /// Epoch of the upstream's offsets.
    epoch: Epoch,
    /// The type of the samples.
    probe_type: Arc<ProbeType>,
    /// Position at which the log here continues; none if only the answer is wanted.
    join: Option<Position>,
    /// The reader has had samples of another epoch.
    pub(super) follows: bool,
    /// Gaps before the next batch.
    gaps_before: Vec<Gap>,
}

impl Fetcher {
    /// Asks the upstream, and returns the first part of its answer.
    pub(super) async fn fetch_relayed(&self, source: Source) -> Result<PastPart, ReadError> {
        if let Source::Start(Start::Position(at)) = source
            && at.epoch == self.instance.log.epoch()
        {
            // No upstream knows offsets of this DAC: it would send all that it has.
            return Ok(PastPart {
                begin: at,
                items: Vec::new(),
                then: NextStep::Log { at, is_missing: true },
            });
        }
        let present = now().0;
        let (log, held) = match &source {
            Source::Upstream(_) | Source::Reader(_) | Source::Here(_) => (None, 0),
            Source::Start(Start::Resumed(..)) => (None, 0),
            _ if self.until.is_some_and(|until| until <= present) => (None, 0),
            _ => self.log_here().await,
        };
        let time = log.map_or(present, |(_, time)| time);
        // Samples after the oldest one of the log here are all in the log.
        let is_here = |from: u64| log.is_some() && from >= time;
        let (start, points) = match source {
            Source::Upstream(answer) => return self.go_on(answer).await,
            Source::Start(Start::Resumed(at, portable)) => return self.start_here(at, portable).await,
            Source::Here(here) => return self.go_on_here(here).await,
            Source::Reader(_) => return Err(failed("the instance is relayed since a moment ago: ask again")),
            Source::Start(Start::Time(from)) | Source::Points(from, _) if is_here(from) => {
                return self.fetch_here(source).await;
            }
            Source::Start(Start::Newest(newest)) => {
                let (from, samples) = newest.wanted();
                if log.is_some() && (held >= samples || from >= time) {
                    return self.fetch_here(Source::Start(Start::Newest(newest))).await;
                }
                (PastStart::Newest { from, samples: samples.saturating_sub(held) }, None)
            }
            Source::Start(Start::Time(from)) => (PastStart::Time(from), None),
            Source::Start(Start::Position(at)) => (PastStart::Position(at), None),
            Source::Points(from, points) => (PastStart::Time(from), Some(points)),
        };
        let answer = self.query_upstream(start, points, log)?;
        self.go_on(Box::new(answer)).await
    }

    /// Asks the upstream for what comes before the log here, whose oldest sample has this offset and time.
    pub(super) fn query_upstream(
        &self,
        start: PastStart,
        points: Option<u32>,
        log: Option<(Offset, u64)>,
    ) -> Result<Answer, ReadError> {
        let time = log.map_or_else(|| now().0, |(_, time)| time);
        let (to, join) = match self.until {
            Some(until) if until <= time => (until, None),
            _ => {
                let log_begin = log.map(|(offset, _)| offset);
                let offset = log_begin.unwrap_or_else(|| self.instance.source().log.next());
                (time, Some(Position { epoch: self.instance.log.epoch(), offset }))
            }
        };
        let question = PastQuestion { start, to, points };
        let messages = self.instance.ask_upstream(Question::Samples(question));
        let messages = messages.ok_or_else(|| failed("the instance is not relayed any more: ask again"))?;
        let (epoch, probe_type) = (self.instance.log.epoch(), self.instance.probe_type.clone());
        Ok(Answer { messages, epoch, probe_type, join, follows: false, gaps_before: Vec::new() })
    }

    /// Returns where the log here begins, with the time of its oldest sample, and how many samples it has. Waits a moment for the first
    /// one: nothing older will be in the log after that.
    pub(super) async fn log_here(&self) -> (Option<(Offset, u64)>, u64) {
        let log = &self.instance.source().log;
        let signal: Arc<Signal> = Arc::default();
        let wake: Arc<dyn Wake> = signal.clone();
        log.add_reader(wake.clone());
        if log.latest().is_none() {
            let _ = tokio::time::timeout(FIRST_SAMPLE_TIMEOUT, signal.raised()).await;
        }
        log.remove_reader(&wake);
        let Some(first) = log.read(log.start(), 1).segments.into_iter().next() else { return (None, 0) };
        let times = batch::times(first.batch()).unwrap_or_default();
        let begin = times.first().map(|&time| (first.first_held(), time));
        (begin, log.next().0.saturating_sub(first.first_held().0))
    }

    /// Returns the next part of an answer.
    pub(super) async fn go_on(&self, mut answer: Box<Answer>) -> Result<PastPart, ReadError> {
        let (mut begin, mut items, mut bytes) = (None, Vec::new(), 0);
        let mut after = Position { epoch: answer.epoch, offset: Offset(0) };
        while bytes < PART_BYTES {
            let next = tokio::time::timeout(MESSAGE_TIMEOUT, answer.messages.recv()).await;
            let next = next.map_err(|_| failed("the upstream takes too long"))?;
            bytes += MIN_MESSAGE_BYTES;
            let item = match next.ok_or_else(|| failed("the upstream has gone"))? {
                PastMessage::Begin(at) => {
                    (answer.epoch, after) = (at.epoch, at);
                    begin.get_or_insert(at);
                    if !std::mem::take(&mut answer.follows) {
                        continue;
                    }
                    Item::HistoryPart(HistoryPart::Epoch)
                }
                PastMessage::Batch(batch) => {
                    bytes += batch.len();
                    let gaps_before = std::mem::take(&mut answer.gaps_before);
                    let (batch, end) = self.batch(batch, gaps_before, &answer)?;
                    after = Position { epoch: answer.epoch, offset: end };
                    Item::HistoryPart(HistoryPart::Samples(batch))
                }
                PastMessage::GapsBefore(gaps) => {
                    bytes += size_of_val(&*gaps);
                    gaps.into_iter().for_each(|gap| gap.add_to(&mut answer.gaps_before));
                    continue;
                }
                PastMessage::Gap(offsets, cause) => {
                    after.offset = offsets.as_ref().map_or(after.offset, |offsets| offsets.end);
                    Item::HistoryPart(HistoryPart::Gap { offsets, cause, run: None })
                }
                PastMessage::Epoch(at) => {
                    (answer.epoch, after) = (at.epoch, at);
                    Item::HistoryPart(HistoryPart::Epoch)
                }
                PastMessage::Type(probe_type) => {
                    answer.probe_type = Arc::from(probe_type);
                    Item::HistoryPart(HistoryPart::Type(answer.probe_type.clone()))
                }
                PastMessage::Points(json) => {
                    bytes += json.len();
                    Item::Points(self.points_of(&json)?)
                }
                PastMessage::Stored(_) => continue,
                PastMessage::End => return Ok(self.last_part(begin, items, after, answer.join)),
                PastMessage::Failed(reason) => return Err(failed(&reason)),
            };
            items.push((item, after));
        }
        Ok(PastPart { begin: begin.unwrap_or(after), items, then: NextStep::Past(Source::Upstream(answer)) })
    }

    /// Ends the answer: offsets count as here from now on.
    fn last_part(
        &self,
        begin: Option<Position>,
        mut items: Vec<(Item, Position)>,
        after: Position,
        join: Option<Position>,
    ) -> PastPart {
        let begin = begin.unwrap_or(after);
        let Some(at) = join else { return PastPart { begin, items, then: NextStep::Over } };
        let is_empty = items.is_empty();
        if !is_empty {
            items.push((Item::HistoryPart(HistoryPart::Epoch), at));
        }
        let begin = if is_empty { at } else { begin };
        PastPart { begin, items, then: NextStep::Log { at, is_missing: false } }
    }

    fn batch(
        &self,
        bytes: Vec<u8>,
        gaps_before: Vec<Gap>,
        answer: &Answer,
    ) -> Result<(Batch, Offset), ReadError> {
        let invalid = |error| failed(&format!("the upstream sent an invalid batch: {error}"));
        let header: Header = batch::check(&bytes, &answer.probe_type).map_err(invalid)?;
        let offsets = Offset(header.offset)..Offset(header.offset.saturating_add(header.count.into()));
        let series = Series {
            node: self.instance.node.clone(),
            instance: self.instance.name.clone(),
            kind: self.instance.kind,
            run: Uuid::nil(),
            epoch: answer.epoch,
            probe_type: answer.probe_type.clone(),
        };
        let end = offsets.end;
        let batch = Batch {
            series: Arc::new(series),
            bytes: Bytes::from(bytes),
            wanted: offsets.clone(),
            offsets,
            gaps_before: (!gaps_before.is_empty()).then(|| gaps_before.into()),
        };
        Ok((batch, end))
    }

    /// Gives points of the upstream the head of the request here, and its way of writing integers.
    fn points_of(&self, json: &str) -> Result<Vec<u8>, ReadError> {
        if json.len() > MAX_POINTS_BYTES {
            return Err(failed("the upstream sent more points than any DAC has in one message"));
        }
        let invalid = |error: serde_json::Error| failed(&format!("points of the upstream: {error}"));
        let mut points: Map<String, Value> = serde_json::from_str(json).map_err(invalid)?;
        for name in ["op", "topic"] {
            points.remove(name);
        }
        if self.integers == Integers::String {
            self.write_integers(&mut points);
        }
        let mut message = self.points_head.clone();
        message.extend(points);
        serde_json::to_vec(&message).map_err(invalid)
    }

    /// Writes times and 64-bit metrics as strings.
    fn write_integers(&self, points: &mut Map<String, Value>) {
        for name in ["from", "to", "times"] {
            points.entry(name).and_modify(write_numbers);
        }
        let gaps = points.get_mut("gaps").and_then(Value::as_array_mut).into_iter().flatten();
        for gap in gaps.filter_map(Value::as_object_mut) {
            for name in ["from", "to"] {
                gap.entry(name).and_modify(write_numbers);
            }
        }
        let metrics = points.get_mut("metrics").and_then(Value::as_object_mut).into_iter().flatten();
        for (name, columns) in metrics {
            let plain = name.split(['.', '[']).next().unwrap_or(name);
            let mut known = self.instance.probe_type.metrics.iter();
            let is_wide = known.any(|metric| {
                metric.name == plain && matches!(metric.kind, MetricType::Int64 | MetricType::Uint64)
            });
            for column in ["min", "max", "last", "increase"].iter().filter(|_| is_wide) {
                columns.get_mut(column).into_iter().for_each(write_numbers);
            }
        }
    }
}

/// Writes a number, or all numbers of a list, as strings.
fn write_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => *value = Value::String(number.to_string()),
        Value::Array(values) => values.iter_mut().for_each(write_numbers),
        _ => {}
    }
}

fn failed(reason: &str) -> ReadError {
    ReadError::Io(io::Error::other(reason.to_owned()))
}
