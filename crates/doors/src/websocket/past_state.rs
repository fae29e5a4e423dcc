//! What a subscription reads of its topic's past, and the pieces that were read.

use super::messages::{Answer, put_samples};
use crate::past::{Fetched, Item, Source, Then, segment};
use bytes::Bytes;
use oasis_history::Piece as HistoryPiece;
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::{Offset, Position, TopicId};
use tokio::task::AbortHandle;

/// What a subscription has that is not at its topic's log, or ends at some time.
#[derive(Debug, Default)]
pub struct PastState {
    /// Samples of this time and later are not wanted.
    pub until: Option<u64>,
    /// Where its samples come from, if not from the log.
    pub stage: Option<Stage>,
    /// The request that is answered once it is known where the past begins.
    pub request: Option<i64>,
    /// The archive was asked for the sample at this offset, and has none.
    pub missing: Option<Offset>,
}

/// How far the past is.
#[derive(Debug)]
pub enum Stage {
    /// It is asked for when it is this subscription's turn.
    Next(Source),
    /// It was asked for.
    UnderWay,
}

impl PastState {
    /// Of a subscription that asks for one; most do not.
    pub fn new(until: Option<u64>, source: Option<Source>, request: i64) -> Option<Box<Self>> {
        let request = source.is_some().then_some(request);
        let is_some = until.is_some() || source.is_some();
        is_some.then(|| Box::new(Self { until, stage: source.map(Stage::Next), request, missing: None }))
    }
}

/// What a connection reads of the past just now.
#[derive(Debug)]
pub struct Reading {
    /// Slot of the topic.
    pub topic: usize,
    /// Tells it from what the connection read before.
    pub serial: u64,
    /// The piece, once it was read.
    pub piece: Option<Piece>,
    /// Aborted when the subscription ends.
    pub _task: Task,
}

/// Nobody waits for a reader whose subscription has ended.
#[derive(Debug)]
pub struct Task(pub AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A piece of the past as it goes to the socket, or why there is none.
pub type Piece = Result<Rendered, String>;

/// Whole messages.
#[derive(Debug)]
pub struct Rendered {
    /// The first sample that comes.
    pub begin: Position,
    /// As they go to the socket.
    pub messages: Bytes,
    /// What follows.
    pub then: Then,
}

impl Rendered {
    /// Renders a piece as messages of this topic.
    pub fn new(topic: TopicId, Fetched { begin, items, then }: Fetched) -> Self {
        let mut out = Vec::new();
        for (item, after) in items {
            match item {
                Item::Piece(piece) => put_piece(topic, &piece, after, &mut out),
                Item::Points(json) => frame::write_message(Opcode::Text, &json, &mut out),
            }
        }
        Self { begin, messages: out.into(), then }
    }
}

fn put_piece(topic: TopicId, piece: &HistoryPiece, after: Position, out: &mut Vec<u8>) {
    match piece {
        HistoryPiece::Samples(batch) => {
            put_samples(topic, &batch.series.probe_type, &segment(batch), &batch.wanted, out);
        }
        HistoryPiece::Gap(range, cause) => Answer::gap(topic, range.clone(), *cause).put(out),
        HistoryPiece::Epoch => {
            let Position { epoch, offset } = after;
            Answer::Epoch { topic, epoch, offset }.put(out);
        }
        HistoryPiece::Type(probe_type) => Answer::type_changed(topic, probe_type).put(out),
    }
}
