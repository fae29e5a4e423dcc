//! One request's cursors: what comes next, one message at a time, each topic in its turn.

use super::{
    json,
    output::Output,
    query::{Positions, Request, Start},
};
use crate::{Doors, problem::Problem};
use axum::http::StatusCode;
use bytes::Bytes;
use oasis_dac::{CommandError, Cursor, DeriveError, From, Instance, Segment, Signal};
use oasis_wire::quantity::{Epoch, Offset, Position};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// How long a reader that comes back is kept waiting for nodes that have not come back yet.
const RETURN: Duration = Duration::from_secs(10);

/// What to write next.
#[derive(Debug)]
pub enum Message {
    /// Samples of a segment, from an offset on.
    Samples(Arc<Instance>, Arc<Segment>, Offset),
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
            Self::Samples(instance, segment, wanted) => out.samples(instance, segment, *wanted),
            Self::Event(_, text) => out.own(text),
        }
    }
}

/// A request's place in each of its topics.
#[derive(Debug)]
pub struct Reader {
    doors: Doors,
    request: Request,
    signal: Arc<Signal>,
    cursors: Vec<Cursor>,
    /// Where a reader stands that has everything handed out so far.
    told: Vec<Offset>,
    /// Handed out before the cursors are asked again: index of the topic, message, place behind it.
    waiting: VecDeque<(usize, Message, Offset)>,
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
        let comes_back = matches!(&request.start, Start::Resume(at) if at.epoch != doors.dac.epoch());
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
            cursors: Vec::new(),
            told: Vec::new(),
            waiting: VecDeque::new(),
            turn: 0,
            is_over: false,
            request,
        };
        for (index, instance) in instances.iter().enumerate() {
            let from = match &reader.request.start {
                Start::Now => From::Now,
                Start::Earliest => From::Earliest,
                Start::Resume(at) => {
                    let offset = at.offsets.get(index).copied().unwrap_or_default();
                    From::Position(Position { epoch: at.epoch, offset })
                }
            };
            let (cursor, epoch_changed) = reader.cursor(instance, from)?;
            if epoch_changed {
                let gap = Message::Event("gap", json::epoch_changed(cursor.instance()));
                reader.waiting.push_back((index, gap, cursor.next()));
            }
            reader.told.push(cursor.next());
            reader.cursors.push(cursor);
        }
        Ok(reader)
    }

    fn cursor(&self, instance: &Arc<Instance>, from: From) -> Result<(Cursor, bool), Problem> {
        Ok(Cursor::open(&self.doors.dac, instance, from, self.request.options, &self.signal)?)
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Where a reader stands that has everything handed out so far.
    pub fn positions(&self) -> Positions {
        Positions { epoch: self.epoch(), offsets: self.told.clone() }
    }

    /// Whether nothing follows, because the reader's overflow policy says so.
    pub fn is_over(&self) -> bool {
        self.is_over && self.waiting.is_empty()
    }

    /// Whether [`Reader::next`] has something.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty() || (!self.is_over && self.cursors.iter().any(Cursor::is_behind))
    }

    /// Returns once a topic has something new, or something else has happened to it.
    pub async fn raised(&self) {
        self.signal.raised().await;
    }

    /// The next message; [`Reader::positions`] is the place behind it.
    pub fn next(&mut self) -> Option<Message> {
        if self.waiting.is_empty() && !self.is_over {
            let topics = self.cursors.len();
            let first = self.turn;
            self.turn = (first + 1) % topics.max(1);
            (0..topics).map(|step| (first + step) % topics).find(|&index| self.ask(index));
        }
        let (index, message, next) = self.waiting.pop_front()?;
        if let Some(told) = self.told.get_mut(index) {
            *told = next;
        }
        Some(message)
    }

    /// Puts what a topic has next into `waiting`.
    fn ask(&mut self, index: usize) -> bool {
        let Some(cursor) = self.cursors.get_mut(index) else { return false };
        if !cursor.is_behind() {
            return cursor.instance().retired() && self.follow(index);
        }
        let instance = cursor.instance().clone();
        let turn = cursor.turn(1);
        if let Some(skipped) = turn.skipped {
            let gap = Message::Event("gap", json::skipped(&instance, &skipped));
            self.waiting.push_back((index, gap, skipped.to));
        }
        for segment in turn.segments {
            let end = segment.end();
            self.waiting.push_back((index, Message::Samples(instance.clone(), segment, turn.wanted), end));
        }
        if turn.is_over {
            self.is_over = true;
            self.waiting.push_back((index, Message::Event("end", json::end("overflow")), turn.next));
        }
        !self.waiting.is_empty()
    }

    /// The topic's node came back with another type: goes on with the topic that took its place, where the offsets go on as well.
    fn follow(&mut self, index: usize) -> bool {
        let (Some((node, name)), Some(cursor)) = (self.request.topics.get(index), self.cursors.get(index))
        else {
            return false;
        };
        let Some(successor) = self.doors.dac.registry.find(node, name) else { return false };
        if successor.topic == cursor.instance().source().topic {
            return false;
        }
        let at = Position { epoch: self.epoch(), offset: cursor.next() };
        let changed = match self.cursor(&successor, From::Position(at)) {
            Ok((cursor, _)) => {
                let next = cursor.next();
                let changed = Message::Event("type_changed", json::type_changed(cursor.instance()));
                self.cursors.splice(index..=index, [cursor]);
                (index, changed, next)
            }
            Err(_) => {
                self.is_over = true;
                (index, Message::Event("end", json::end("type_changed")), at.offset)
            }
        };
        self.waiting.push_back(changed);
        true
    }

    fn epoch(&self) -> Epoch {
        self.doors.dac.epoch()
    }
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
