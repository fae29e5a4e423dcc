//! One request's places: what comes next, one message at a time, each topic in its turn.

use super::{
    json,
    output::Output,
    past::Source,
    points,
    query::{Positions, Request, Start},
    whose::Whose,
};
use crate::{Doors, problem::Problem};
use axum::http::StatusCode;
use bytes::Bytes;
use oasis_dac::{
    CommandError, Cursor, Delivery, DeriveError, From, Instance, Overflow, Segment, Signal, SkipCause, Turn,
};
use oasis_wire::{
    batch,
    quantity::{Epoch, Offset, Position},
};
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

/// A request's place in one topic.
#[derive(Debug)]
pub struct Topic {
    pub cursor: Cursor,
    /// Where the next message comes from.
    pub source: Source,
    /// Where a reader stands that has everything handed out so far.
    told: Position,
    /// The archive was asked for the sample at this offset, and has none.
    pub lacks: Option<Offset>,
    /// The time to end at was reached.
    pub is_over: bool,
}

/// A request's place in each of its topics.
#[derive(Debug)]
pub struct Reader {
    pub doors: Doors,
    pub request: Request,
    signal: Arc<Signal>,
    pub topics: Vec<Topic>,
    /// Handed out before the topics are asked again: index of the topic, message, place behind it.
    pub waiting: VecDeque<(usize, Message, Position)>,
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
        let comes_back = matches!(&request.start, Start::Resume(at) if at.0.iter().any(is_of_before));
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
        let (from, mut source) = match &self.request.start {
            Start::Now => (From::Now, Source::Live),
            Start::Earliest => (From::Earliest, Source::Live),
            Start::Time(time) => match self.request.points {
                Some(most) => {
                    points::check_width(most, &instance.probe_type)?;
                    (From::Earliest, Source::Points(*time, most))
                }
                None => (From::Earliest, Source::Since(*time)),
            },
            Start::Resume(at) => match at.0.get(index) {
                Some(at) => (From::Position(*at), Source::Live),
                None => (From::Earliest, Source::Live),
            },
        };
        let (cursor, epoch_changed) = self.cursor(instance, from)?;
        let mut told = Position { epoch: self.epoch(), offset: cursor.next() };
        match from {
            // The archive may know what was before.
            From::Position(at) if epoch_changed && self.reads_archive() => {
                source = Source::From(at);
                told = at;
            }
            _ if epoch_changed => {
                let gap = Message::Event("gap", json::epoch_changed(cursor.instance()));
                self.waiting.push_back((index, gap, told));
            }
            _ => {}
        }
        self.topics.push(Topic { cursor, source, told, lacks: None, is_over: false });
        Ok(())
    }

    pub fn cursor(&self, instance: &Arc<Instance>, from: From) -> Result<(Cursor, bool), Problem> {
        Ok(Cursor::open(&self.doors.dac, instance, from, self.request.options, &self.signal)?)
    }

    /// Whether samples that the log no longer holds are looked for in the archive.
    fn reads_archive(&self) -> bool {
        let options = self.request.options;
        self.doors.archive.is_some()
            && options.delivery == Delivery::Every
            && options.overflow != Overflow::Latest
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
        let is_behind = |topic: &Topic| {
            !topic.is_over && (!matches!(topic.source, Source::Live) || topic.cursor.is_behind())
        };
        !self.waiting.is_empty() || (!self.is_over && self.topics.iter().any(is_behind))
    }

    /// Whether there is something to fetch.
    pub fn is_in_the_past(&self) -> bool {
        let is_past = |topic: &Topic| !topic.is_over && !matches!(topic.source, Source::Live);
        !self.is_over && self.topics.iter().any(is_past)
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
        let (epoch, until, reads_archive) = (self.epoch(), self.request.until, self.reads_archive());
        let Some(topic) = self.topics.get_mut(index) else { return false };
        if topic.is_over || !matches!(topic.source, Source::Live) {
            return false;
        }
        if !topic.cursor.is_behind() {
            return topic.cursor.instance().retired() && self.follow(index);
        }
        let instance = topic.cursor.instance().clone();
        let at = Position { epoch, offset: topic.cursor.next() };
        let turn = topic.cursor.turn(1);
        if reads_archive && is_retention(&turn) && topic.lacks != Some(at.offset) {
            topic.cursor.seek(at.offset);
            topic.source = Source::From(at);
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
            let end = until.and_then(|until| end_before(&segment, wanted, until));
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
        let changed = match self.cursor(&successor, From::Position(at)) {
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

    /// Nothing follows, because the archive cannot be read.
    pub fn fail(&mut self, index: usize) {
        self.is_over = true;
        let behind = self.topics[index].told;
        self.waiting.push_back((index, Message::Event("end", json::end("archive_error")), behind));
    }

    pub fn epoch(&self) -> Epoch {
        self.doors.dac.epoch()
    }
}

fn is_retention(turn: &Turn) -> bool {
    turn.skipped.is_some_and(|skipped| skipped.cause == SkipCause::LogRetention)
}

/// Where a segment's samples reach a time, if one of those from `wanted` on does.
fn end_before(segment: &Segment, wanted: Offset, until: u64) -> Option<Offset> {
    let (_, greatest) = batch::time_range(segment.batch()).ok()?;
    if greatest < until {
        return None;
    }
    let first = segment.first_held();
    let seen = usize::try_from(wanted.0.saturating_sub(first.0)).ok()?;
    let times = batch::times(segment.batch()).ok()?;
    let place = times.iter().enumerate().skip(seen).find(|(_, time)| **time >= until)?.0;
    Some(Offset(first.0 + place as u64))
}

fn find_all(doors: &Doors, request: &Request) -> Result<Vec<Arc<Instance>>, Problem> {
    let find = |(node, instance): &(String, String)| {
        let unknown = || CommandError::UnknownInstance { node: node.clone(), instance: instance.clone() };
        doors.dac.registry.find(node, instance).ok_or_else(|| unknown().into())
    };
    request.topics.iter().map(find).collect()
}

impl std::convert::From<DeriveError> for Problem {
    fn from(error: DeriveError) -> Self {
        let status = match error {
            DeriveError::TooWide(_) => StatusCode::UNPROCESSABLE_ENTITY,
            DeriveError::TooMany(_) | DeriveError::NoRuntime => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.code(), error.to_string())
    }
}
