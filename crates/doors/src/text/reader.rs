//! The positions of one request: yields one message at a time, from each topic in turn.

use super::{
    json,
    output::Output,
    query::{Positions, Request},
    source::Source,
};
use crate::{
    Doors,
    past::{
        self, Fetcher, Item, NextStep, PastPart, Source as Past,
        times::{Begin, end_of_times, has_passed},
    },
};
use axum::http::StatusCode;
use bytes::Bytes;
use oasis_dac::{CommandError, Cursor, Instance, Segment, Signal, StartAt, Turn};
use oasis_history::HistoryPart;
use oasis_http::{Problem, permissions::Caller};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Offset, Position},
};
use serde_json::json;
use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

/// Time that a resuming reader waits for nodes that have not connected again.
const RETURN_TIMEOUT: Duration = Duration::from_secs(10);
/// Unread segments of a topic that a reader at its head may have.
const NEW_SEGMENTS: usize = 8;

/// The next message to write.
#[derive(Debug)]
pub enum Message {
    /// Samples of a segment at these offsets.
    Samples(Source, Arc<Segment>, Range<Offset>),
    /// Anything else: JSON without its opening brace.
    Event(&'static str, Bytes),
}

impl Message {
    /// Its `event`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Samples(..) => "samples",
            Self::Event(name, _) => name,
        }
    }

    /// Its JSON without the opening brace.
    pub fn write(&self, out: &mut Output) {
        match self {
            Self::Samples(source, segment, wanted) => out.samples(source, segment, wanted),
            Self::Event(_, text) => out.own(text),
        }
    }
}

/// Returns a message of the past of a topic with this node and instance name.
fn message(names: (&str, &str), item: Item, after: Position) -> Message {
    match item {
        Item::Points(text) => Message::Event("points", json::without_brace(text)),
        Item::HistoryPart(HistoryPart::Samples(batch)) => {
            let segment = Arc::new(past::segment(&batch));
            Message::Samples(Source::Stored(batch.series), segment, batch.wanted)
        }
        Item::HistoryPart(HistoryPart::Gap { offsets, cause, .. }) => {
            Message::Event("gap", json::gap(names, offsets, cause))
        }
        Item::HistoryPart(HistoryPart::Epoch) => Message::Event("epoch", json::epoch(names, after.epoch)),
        Item::HistoryPart(HistoryPart::Type(probe_type)) => {
            Message::Event("type_changed", json::type_changed(names, &probe_type))
        }
    }
}

/// A request's place in one topic.
#[derive(Debug)]
pub struct Topic {
    cursor: Cursor,
    /// Source of the next message, if not the topic log.
    past: Option<Past>,
    /// Position after everything that was yielded so far.
    position: Position,
    /// The archive does not contain the sample at this offset.
    missing: Option<Offset>,
    /// The time to end at was reached.
    is_over: bool,
}

impl Topic {
    fn is_in_the_past(&self) -> bool {
        !self.is_over && self.past.is_some()
    }
}

/// A request's place in each of its topics.
#[derive(Debug)]
pub struct Reader {
    doors: Doors,
    request: Request,
    signal: Arc<Signal>,
    topics: Vec<Topic>,
    /// Messages to yield before the topics are read again: index of the topic, message, position after it.
    waiting: VecDeque<(usize, Message, Position)>,
    /// Index of the next topic to read.
    turn: usize,
    is_over: bool,
}

impl Reader {
    /// Opens every topic of the request. A reader from before the DAC's restart may return before the nodes; then it waits for them.
    ///
    /// # Errors
    /// 404 for an unknown instance, 503 or 422 if its derived stream cannot be created.
    pub async fn open(doors: &Doors, caller: &Caller, request: Request) -> Result<Self, Problem> {
        let mut registry = doors.dac.registry.watch();
        let is_of_before = |at: &Position| at.epoch != doors.dac.epoch();
        let comes_back = request.resume.as_ref().is_some_and(|at| at.0.iter().any(is_of_before));
        let deadline = tokio::time::Instant::now() + if comes_back { RETURN_TIMEOUT } else { Duration::ZERO };
        loop {
            registry.mark_unchanged();
            match find_all(doors, caller, &request) {
                Ok(found) => return Self::over(doors, request, &found),
                Err(problem) => {
                    let changed = tokio::time::timeout_at(deadline, registry.changed()).await;
                    if !matches!(changed, Ok(Ok(()))) {
                        return Err(problem);
                    }
                }
            }
        }
    }

    fn over(doors: &Doors, request: Request, instances: &[Arc<Instance>]) -> Result<Self, Problem> {
        let mut reader = Self {
            doors: doors.clone(),
            signal: Arc::default(),
            topics: Vec::new(),
            waiting: VecDeque::new(),
            turn: 0,
            is_over: false,
            request,
        };
        for (index, instance) in instances.iter().enumerate() {
            reader.add(index, instance)?;
        }
        Ok(reader)
    }

    fn add(&mut self, index: usize, instance: &Arc<Instance>) -> Result<(), Problem> {
        let times = self.request.times;
        let resumed = self.request.resume.as_ref().map(|at| at.0.get(index));
        let wanted_past = || Past::of(&times, &instance.probe_type).map_err(too_wide);
        let (from, mut past) = match resumed {
            Some(at) => (at.map_or(StartAt::Earliest, |at| StartAt::Position(*at)), None),
            None if times.from == Begin::Now && times.last.is_none() => (StartAt::Now, None),
            None => (StartAt::Earliest, wanted_past()?),
        };
        let (cursor, epoch_changed) = self.cursor(instance, from)?;
        let mut position = Position { epoch: self.epoch(), offset: cursor.next() };
        match from {
            // The archive may contain earlier samples.
            StartAt::Position(at)
                if epoch_changed && self.doors.archived.serves_of(instance, self.request.options) =>
            {
                past = Some(Past::from_position(at));
                position = at;
            }
            _ if epoch_changed => {
                let names = (&*instance.node, &*instance.name);
                let gap = Message::Event("gap", json::gap(names, None, Cause::EpochChanged));
                self.waiting.push_back((index, gap, position));
            }
            _ => {}
        }
        self.topics.push(Topic { cursor, past, position, missing: None, is_over: false });
        Ok(())
    }

    fn cursor(&self, instance: &Arc<Instance>, from: StartAt) -> Result<(Cursor, bool), Problem> {
        Ok(Cursor::open(&self.doors.dac, instance, from, self.request.options, &self.signal)?)
    }

    /// Returns whether samples that the log has evicted are read from the archive.
    fn reads_archive(&self) -> bool {
        self.doors.archived.serves(self.request.options)
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the positions after everything that was yielded so far.
    pub fn positions(&self) -> Positions {
        Positions(self.topics.iter().map(|topic| topic.position).collect())
    }

    /// Returns whether the reader has ended, because of its overflow policy or because the end of its time was reached.
    pub fn is_over(&self) -> bool {
        self.is_over && self.waiting.is_empty()
    }

    /// Whether [`Reader::next`] has something, or will have it after [`Reader::fetch`].
    pub fn has_more(&self) -> bool {
        let reports_end = has_passed(self.request.times.until);
        let has_more = |topic: &Topic| {
            !topic.is_over && (reports_end || topic.past.is_some() || topic.cursor.has_unread())
        };
        !self.waiting.is_empty() || (!self.is_over && self.topics.iter().any(has_more))
    }

    /// Returns whether there is more to write than what has just arrived.
    pub fn is_behind(&self) -> bool {
        let is_behind = |topic: &Topic| topic.is_in_the_past() || topic.cursor.has_more_than(NEW_SEGMENTS);
        !self.waiting.is_empty() || self.topics.iter().any(is_behind)
    }

    /// Returns whether [`Reader::fetch`] has work.
    pub fn is_in_the_past(&self) -> bool {
        !self.is_over && self.topics.iter().any(Topic::is_in_the_past)
    }

    /// Returns once a topic has something new, or something else has happened to it.
    pub async fn raised(&self) {
        self.signal.raised().await;
    }

    /// Returns the next message; [`Reader::positions`] is then the position after it. Samples that the topic logs have evicted must be fetched first.
    pub fn next(&mut self) -> Option<Message> {
        if self.waiting.is_empty() && !self.is_over {
            let topics = self.topics.len();
            let first = self.turn;
            self.turn = (first + 1) % topics.max(1);
            (0..topics).map(|step| (first + step) % topics).find(|&index| self.fetch_next(index));
        }
        self.end_if_all_are_over();
        let (index, message, after) = self.waiting.pop_front()?;
        let (message, after) = self.first_part(index, message, after);
        if let Some(topic) = self.topics.get_mut(index) {
            topic.position = after;
        }
        Some(message)
    }

    /// Divides samples whose text would be large. The others wait.
    fn first_part(&mut self, index: usize, message: Message, after: Position) -> (Message, Position) {
        let Message::Samples(source, segment, wanted) = message else { return (message, after) };
        let Some(middle) = json::middle(&source, &segment, &wanted) else {
            return (Message::Samples(source, segment, wanted), after);
        };
        let others = Message::Samples(source.clone(), segment.clone(), middle..wanted.end);
        self.waiting.push_front((index, others, after));
        (Message::Samples(source, segment, wanted.start..middle), Position { offset: middle, ..after })
    }

    fn end_if_all_are_over(&mut self) {
        if self.waiting.is_empty() && !self.is_over && self.topics.iter().all(|topic| topic.is_over) {
            self.is_over = true;
            let after = self.topics[0].position;
            self.waiting.push_back((0, Message::Event("end", json::end("to")), after));
        }
    }

    /// Puts what a topic has next into `waiting`.
    fn fetch_next(&mut self, index: usize) -> bool {
        let (epoch, until, reads_archive) = (self.epoch(), self.request.times.until, self.reads_archive());
        let Some(topic) = self.topics.get_mut(index) else { return false };
        if topic.is_over || topic.past.is_some() {
            return false;
        }
        if !topic.cursor.has_unread() {
            if topic.cursor.instance().ends_at(topic.cursor.next()) && self.follow(index) {
                return true;
            }
            self.topics[index].is_over = has_passed(until);
            return false;
        }
        let instance = topic.cursor.instance().clone();
        let at = Position { epoch, offset: topic.cursor.next() };
        let turn = topic.cursor.turn(1);
        if reads_archive && is_retention(&turn) && topic.missing != Some(at.offset) {
            topic.cursor.seek(at.offset);
            topic.past = Some(Past::from_position(at));
            return false;
        }
        self.hand_out(index, &instance, turn, until);
        !self.waiting.is_empty()
    }

    fn hand_out(&mut self, index: usize, instance: &Arc<Instance>, turn: Turn, until: Option<u64>) {
        let epoch = self.epoch();
        let after = |offset| Position { epoch, offset };
        if let Some(skipped) = turn.skipped {
            let gap = Message::Event("gap", json::skipped(instance, &skipped));
            self.waiting.push_back((index, gap, after(skipped.to)));
        }
        for segment in turn.segments {
            let wanted = turn.wanted.max(segment.first());
            let end = until.and_then(|until| end_of_times(instance, &segment, wanted, until));
            let to = end.unwrap_or(segment.end());
            if to > wanted {
                let samples = Message::Samples(Source::Live(instance.clone()), segment, turn.wanted..to);
                self.waiting.push_back((index, samples, after(to)));
            }
            if end.is_some() {
                self.topics[index].is_over = true;
                return;
            }
        }
        if turn.is_over {
            self.is_over = true;
            let end = Message::Event("end", json::end("overflow"));
            self.waiting.push_back((index, end, after(turn.next)));
        }
    }

    /// Switches to the topic that replaced this one, after the node connected with another type. Its offsets continue.
    fn follow(&mut self, index: usize) -> bool {
        let (Some((node, name)), Some(topic)) = (self.request.topics.get(index), self.topics.get(index))
        else {
            return false;
        };
        let Some(successor) = self.doors.dac.registry.find(node, name) else { return false };
        if successor.topic == topic.cursor.instance().source().topic {
            return false;
        }
        let at = Position { epoch: self.epoch(), offset: topic.cursor.next() };
        let changed = match self.cursor(&successor, StartAt::Position(at)) {
            Ok((cursor, _)) => {
                let after = Position { offset: cursor.next(), ..at };
                let names = (&*successor.node, &*successor.name);
                let changed = json::type_changed(names, &successor.probe_type);
                self.topics[index].cursor = cursor;
                (index, Message::Event("type_changed", changed), after)
            }
            Err(_) => {
                self.is_over = true;
                (index, Message::Event("end", json::end("type_changed")), at)
            }
        };
        self.waiting.push_back(changed);
        true
    }

    /// Fetches the next part of one topic that is not at its log, if no message waits.
    pub async fn fetch(&mut self) {
        if !self.waiting.is_empty() || self.is_over() {
            return;
        }
        let Some(index) = self.topics.iter().position(Topic::is_in_the_past) else { return };
        let Some(past) = self.topics[index].past.take() else { return };
        match self.fetcher(index).fetch(past).await {
            Ok(fetched) => self.fetched(index, fetched),
            Err(error) => {
                tracing::error!(%error, "the archive cannot be read");
                self.fail(index);
            }
        }
    }

    fn fetcher(&self, index: usize) -> Fetcher {
        let instance = self.topics[index].cursor.instance().clone();
        let mut points_head = serde_json::Map::new();
        points_head.insert("event".into(), "points".into());
        points_head.insert("node".into(), json!(instance.node));
        points_head.insert("instance".into(), json!(instance.name));
        Fetcher {
            archived: self.doors.archived.clone(),
            instance,
            until: self.request.times.until,
            // Samples as JSON contain their names.
            has_type: false,
            points_head,
            integers: self.request.integers,
        }
    }

    fn fetched(&mut self, index: usize, PastPart { begin, items, then }: PastPart) {
        let topic = &mut self.topics[index];
        if items.is_empty() {
            // No message will set the position later, and a reader that resumes continues here.
            topic.position = if let NextStep::Log { at, .. } = then { at } else { begin };
        }
        let instance = topic.cursor.instance();
        let names = (&*instance.node, &*instance.name);
        let messages = items.into_iter().map(|(item, after)| (index, message(names, item, after), after));
        self.waiting.extend(messages);
        match then {
            NextStep::Past(past) => topic.past = Some(past),
            NextStep::Log { at, is_missing } => {
                topic.cursor.seek(at.offset);
                if is_missing {
                    topic.missing = Some(at.offset);
                }
            }
            NextStep::Over => topic.is_over = true,
        }
    }

    /// Ends the reader, because the archive cannot be read.
    fn fail(&mut self, index: usize) {
        self.is_over = true;
        let after = self.topics[index].position;
        self.waiting.push_back((index, Message::Event("end", json::end("archive_error")), after));
    }

    fn epoch(&self) -> Epoch {
        self.doors.dac.epoch()
    }
}

fn too_wide(detail: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too_wide", detail)
}

fn is_retention(turn: &Turn) -> bool {
    turn.skipped.is_some_and(|skipped| skipped.cause == Cause::LogRetention)
}

fn find_all(doors: &Doors, caller: &Caller, request: &Request) -> Result<Vec<Arc<Instance>>, Problem> {
    let find = |(node, instance): &(String, String)| {
        let unknown = || CommandError::UnknownInstance { node: node.clone(), instance: instance.clone() };
        doors.dac.registry.find(node, instance).ok_or_else(|| unknown().into())
    };
    // First, so that an instance that the caller may not see is like one that does not exist.
    request.authorize(caller)?;
    request.topics.iter().map(find).collect()
}
