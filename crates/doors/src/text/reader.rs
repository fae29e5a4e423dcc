//! One request's places: what comes next, one message at a time, each topic in its turn.

use super::{
    json,
    output::Output,
    query::{Positions, Request},
};
use crate::{
    Doors,
    past::{
        self, Asker, Fetched, Source, Then, Told, Whose,
        times::{Begin, has_passed},
    },
    problem::Problem,
};
use axum::http::StatusCode;
use bytes::Bytes;
use oasis_dac::{CommandError, Cursor, DeriveError, Instance, Segment, Signal, StartAt, Turn};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Offset, Position},
};
use serde_json::json;
use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

/// How long a reader that comes back is kept waiting for nodes that have not come back yet.
const RETURN: Duration = Duration::from_secs(10);

/// What to write next.
#[derive(Debug)]
pub enum Message {
    /// Samples of a segment: those at these offsets.
    Samples(Whose, Arc<Segment>, Range<Offset>),
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
            Self::Samples(whose, segment, wanted) => out.samples(whose, segment, wanted),
            Self::Event(_, text) => out.own(text),
        }
    }
}

impl From<Told> for Message {
    fn from(told: Told) -> Self {
        match told {
            Told::Samples(series, segment, wanted) => Self::Samples(Whose::Past(series), segment, wanted),
            Told::Gap(whose, range, cause) => Self::Event("gap", json::gap(&whose, range, cause)),
            Told::Epoch(whose, epoch) => Self::Event("epoch", json::epoch(&whose, epoch)),
            Told::TypeChanged(whose) => Self::Event("type_changed", json::type_changed(&whose)),
            Told::Points(text) => Self::Event("points", json::without_brace(text)),
        }
    }
}

/// A request's place in one topic.
#[derive(Debug)]
pub struct Topic {
    cursor: Cursor,
    /// Where the next message comes from, if not from the topic log.
    source: Option<Source>,
    /// Where a reader stands that has everything handed out so far.
    told: Position,
    /// The archive was asked for the sample at this offset, and has none.
    lacks: Option<Offset>,
    /// The time to end at was reached.
    is_over: bool,
}

impl Topic {
    fn is_in_the_past(&self) -> bool {
        !self.is_over && self.source.is_some()
    }
}

/// A request's place in each of its topics.
#[derive(Debug)]
pub struct Reader {
    doors: Doors,
    request: Request,
    signal: Arc<Signal>,
    topics: Vec<Topic>,
    /// Handed out before the topics are asked again: index of the topic, message, place behind it.
    waiting: VecDeque<(usize, Message, Position)>,
    /// Whose turn it is.
    turn: usize,
    is_over: bool,
}

impl Reader {
    /// Opens every topic of the request. A reader from before the DAC's restart may come back sooner than the nodes: it waits for them.
    ///
    /// # Errors
    /// 404 for an unknown instance, 503 or 422 if there cannot be the derived stream it asks for.
    pub async fn open(doors: &Doors, request: Request) -> Result<Self, Problem> {
        let mut registry = doors.dac.registry.watch();
        let is_of_before = |at: &Position| at.epoch != doors.dac.epoch();
        let comes_back = request.resume.as_ref().is_some_and(|at| at.0.iter().any(is_of_before));
        let deadline = tokio::time::Instant::now() + if comes_back { RETURN } else { Duration::ZERO };
        loop {
            registry.mark_unchanged();
            match find_all(doors, &request) {
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
        let past = || Source::of(&times, &instance.probe_type).map_err(too_wide);
        let (from, mut source) = match resumed {
            Some(at) => (at.map_or(StartAt::Earliest, |at| StartAt::Position(*at)), None),
            None if times.from == Begin::Now && times.last.is_none() => (StartAt::Now, None),
            None => (StartAt::Earliest, past()?),
        };
        let (cursor, epoch_changed) = self.cursor(instance, from)?;
        let mut told = Position { epoch: self.epoch(), offset: cursor.next() };
        match from {
            // The archive may know what was before.
            StartAt::Position(at) if epoch_changed && self.reads_archive() => {
                source = Some(Source::From(at));
                told = at;
            }
            _ if epoch_changed => {
                let gap = Message::Event(
                    "gap",
                    json::gap(&Whose::Live(cursor.instance().clone()), None, Cause::EpochChanged),
                );
                self.waiting.push_back((index, gap, told));
            }
            _ => {}
        }
        self.topics.push(Topic { cursor, source, told, lacks: None, is_over: false });
        Ok(())
    }

    fn cursor(&self, instance: &Arc<Instance>, from: StartAt) -> Result<(Cursor, bool), Problem> {
        Ok(Cursor::open(&self.doors.dac, instance, from, self.request.options, &self.signal)?)
    }

    /// Whether samples that the log no longer holds are looked for in the archive.
    fn reads_archive(&self) -> bool {
        self.doors.archived.serves(self.request.options)
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Where a reader stands that has everything handed out so far.
    pub fn positions(&self) -> Positions {
        Positions(self.topics.iter().map(|topic| topic.told).collect())
    }

    /// Whether nothing follows: the reader's overflow policy says so, or the time to end at was reached.
    pub fn is_over(&self) -> bool {
        self.is_over && self.waiting.is_empty()
    }

    /// Whether [`Reader::next`] has something, or will have it after [`Reader::fetch`].
    pub fn is_behind(&self) -> bool {
        let is_told_its_end = has_passed(self.request.times.until);
        let is_behind = |topic: &Topic| {
            !topic.is_over && (is_told_its_end || topic.source.is_some() || topic.cursor.has_unread())
        };
        !self.waiting.is_empty() || (!self.is_over && self.topics.iter().any(is_behind))
    }

    /// Whether there is something to fetch.
    pub fn is_in_the_past(&self) -> bool {
        !self.is_over && self.topics.iter().any(Topic::is_in_the_past)
    }

    /// Returns once a topic has something new, or something else has happened to it.
    pub async fn raised(&self) {
        self.signal.raised().await;
    }

    /// The next message; [`Reader::positions`] is the place behind it. What the topic logs do not hold has to be fetched first.
    pub fn next(&mut self) -> Option<Message> {
        if self.waiting.is_empty() && !self.is_over {
            let topics = self.topics.len();
            let first = self.turn;
            self.turn = (first + 1) % topics.max(1);
            (0..topics).map(|step| (first + step) % topics).find(|&index| self.ask(index));
        }
        self.end_if_all_is_told();
        let (index, message, behind) = self.waiting.pop_front()?;
        if let Some(topic) = self.topics.get_mut(index) {
            topic.told = behind;
        }
        Some(message)
    }

    fn end_if_all_is_told(&mut self) {
        if self.waiting.is_empty() && !self.is_over && self.topics.iter().all(|topic| topic.is_over) {
            self.is_over = true;
            let behind = self.topics[0].told;
            self.waiting.push_back((0, Message::Event("end", json::end("to")), behind));
        }
    }

    /// Puts what a topic has next into `waiting`.
    fn ask(&mut self, index: usize) -> bool {
        let (epoch, until, reads_archive) = (self.epoch(), self.request.times.until, self.reads_archive());
        let Some(topic) = self.topics.get_mut(index) else { return false };
        if topic.is_over || topic.source.is_some() {
            return false;
        }
        if !topic.cursor.has_unread() {
            if topic.cursor.instance().is_retired() && self.follow(index) {
                return true;
            }
            self.topics[index].is_over = has_passed(until);
            return false;
        }
        let instance = topic.cursor.instance().clone();
        let at = Position { epoch, offset: topic.cursor.next() };
        let turn = topic.cursor.turn(1);
        if reads_archive && is_retention(&turn) && topic.lacks != Some(at.offset) {
            topic.cursor.seek(at.offset);
            topic.source = Some(Source::From(at));
            return false;
        }
        self.hand_out(index, &instance, turn, until);
        !self.waiting.is_empty()
    }

    fn hand_out(&mut self, index: usize, instance: &Arc<Instance>, turn: Turn, until: Option<u64>) {
        let epoch = self.epoch();
        let behind = |offset| Position { epoch, offset };
        if let Some(skipped) = turn.skipped {
            let gap = Message::Event("gap", json::skipped(instance, &skipped));
            self.waiting.push_back((index, gap, behind(skipped.to)));
        }
        for segment in turn.segments {
            let wanted = turn.wanted.max(segment.first());
            let end = until.and_then(|until| past::end_before(&segment, wanted, until));
            let to = end.unwrap_or(segment.end());
            if to > wanted {
                let samples = Message::Samples(Whose::Live(instance.clone()), segment, turn.wanted..to);
                self.waiting.push_back((index, samples, behind(to)));
            }
            if end.is_some() {
                self.topics[index].is_over = true;
                return;
            }
        }
        if turn.is_over {
            self.is_over = true;
            let end = Message::Event("end", json::end("overflow"));
            self.waiting.push_back((index, end, behind(turn.next)));
        }
    }

    /// The topic's node came back with another type: goes on with the topic that took its place, where the offsets go on as well.
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
                let behind = Position { offset: cursor.next(), ..at };
                let whose = Whose::Live(cursor.instance().clone());
                self.topics[index].cursor = cursor;
                (index, Message::Event("type_changed", json::type_changed(&whose)), behind)
            }
            Err(_) => {
                self.is_over = true;
                (index, Message::Event("end", json::end("type_changed")), at)
            }
        };
        self.waiting.push_back(changed);
        true
    }

    /// Fetches what comes next of one topic that is not at its log, if there is one and nothing else waits.
    pub async fn fetch(&mut self) {
        if !self.waiting.is_empty() || self.is_over() {
            return;
        }
        let Some(index) = self.topics.iter().position(Topic::is_in_the_past) else { return };
        let Some(source) = self.topics[index].source.take() else { return };
        match self.asker(index).fetch(source).await {
            Ok(fetched) => self.fetched(index, fetched),
            Err(error) => {
                tracing::error!(%error, "the archive cannot be read");
                self.fail(index);
            }
        }
    }

    fn asker(&self, index: usize) -> Asker {
        let instance = self.topics[index].cursor.instance().clone();
        let mut points_head = serde_json::Map::new();
        points_head.insert("event".into(), "points".into());
        points_head.insert("node".into(), json!(instance.node));
        points_head.insert("instance".into(), json!(instance.name));
        Asker {
            archived: self.doors.archived.clone(),
            instance,
            until: self.request.times.until,
            // Samples as JSON say what they are.
            has_type: false,
            points_head,
            integers: self.request.integers,
        }
    }

    fn fetched(&mut self, index: usize, Fetched { begin, told, then }: Fetched) {
        let topic = &mut self.topics[index];
        if told.is_empty() {
            // Nothing will say so when it is handed out, and a reader that comes back goes on from here.
            topic.told = if let Then::Log { at, .. } = then { at } else { begin };
        }
        let messages = told.into_iter().map(|(told, behind)| (index, Message::from(told), behind));
        self.waiting.extend(messages);
        match then {
            Then::Past(source) => topic.source = Some(source),
            Then::Log { at, is_lacking } => {
                topic.cursor.seek(at.offset);
                if is_lacking {
                    topic.lacks = Some(at.offset);
                }
            }
            Then::Over => topic.is_over = true,
        }
    }

    /// Nothing follows, because the archive cannot be read.
    fn fail(&mut self, index: usize) {
        self.is_over = true;
        let behind = self.topics[index].told;
        self.waiting.push_back((index, Message::Event("end", json::end("archive_error")), behind));
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

fn find_all(doors: &Doors, request: &Request) -> Result<Vec<Arc<Instance>>, Problem> {
    let find = |(node, instance): &(String, String)| {
        let unknown = || CommandError::UnknownInstance { node: node.clone(), instance: instance.clone() };
        doors.dac.registry.find(node, instance).ok_or_else(|| unknown().into())
    };
    request.topics.iter().map(find).collect()
}

impl From<DeriveError> for Problem {
    fn from(error: DeriveError) -> Self {
        let status = match error {
            DeriveError::TooWide(_) => StatusCode::UNPROCESSABLE_ENTITY,
            DeriveError::TooMany(_) | DeriveError::NoRuntime => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.code(), error.to_string())
    }
}
