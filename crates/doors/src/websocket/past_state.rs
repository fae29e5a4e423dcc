//! State of a subscription that reads the past, and the pieces that it receives.

use super::messages::{Answer, put_gaps_before, put_samples};
use crate::past::{Item, NextStep, PastPart, Source, segment};
use bytes::Bytes;
use oasis_history::HistoryPart;
use oasis_websocket::{Opcode, frame};
use oasis_wire::quantity::{Offset, Position, TopicId};
use tokio::task::AbortHandle;

/// State of a subscription that is not at its topic's log, or has an end.
#[derive(Debug, Default)]
pub struct PastState {
    /// Samples of this time and later are not wanted.
    pub until: Option<u64>,
    /// Source of its samples, if not the log.
    pub stage: Option<Stage>,
    /// The request that is answered once it is known where the past begins.
    pub request: Option<i64>,
    /// The archive does not contain the sample at this offset.
    pub missing: Option<Offset>,
}

/// Progress of reading the past.
#[derive(Debug)]
pub enum Stage {
    /// Read when this subscription is next.
    Next(Source),
    /// A read is under way.
    UnderWay,
}

impl PastState {
    /// Returns the state of a new subscription; `None` for most, which need none.
    pub fn new(until: Option<u64>, source: Option<Source>, request: i64) -> Option<Box<Self>> {
        let request = source.is_some().then_some(request);
        let is_some = until.is_some() || source.is_some();
        is_some.then(|| Box::new(Self { until, stage: source.map(Stage::Next), request, missing: None }))
    }
}

/// The piece of the past that a connection reads now.
#[derive(Debug)]
pub struct Reading {
    /// Slot of the topic.
    pub topic: usize,
    /// Distinguishes it from earlier reads of the connection.
    pub serial: u64,
    /// The piece, once it was read.
    pub piece: Option<RenderedResult>,
    /// Aborted when the subscription ends.
    pub _task: Task,
}

/// Aborts a read when its subscription ends.
#[derive(Debug)]
pub struct Task(pub AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A rendered piece of the past, or the error of reading it.
pub type RenderedResult = Result<RenderedPart, String>;

/// Whole messages.
#[derive(Debug)]
pub struct RenderedPart {
    /// Position of the first sample.
    pub begin: Position,
    /// The messages, ready for the socket.
    pub messages: Bytes,
    /// The next step.
    pub then: NextStep,
}

impl RenderedPart {
    /// Renders a piece as messages of this topic, with or without announcements of gaps.
    pub fn new(topic: TopicId, has_gaps: bool, PastPart { begin, items, then }: PastPart) -> Self {
        let mut out = Vec::new();
        for (item, after) in items {
            match item {
                Item::HistoryPart(piece) => put_piece((topic, has_gaps), &piece, after, &mut out),
                Item::Points(json) => frame::write_message(Opcode::Text, &json, &mut out),
            }
        }
        Self { begin, messages: out.into(), then }
    }
}

fn put_piece((topic, has_gaps): (TopicId, bool), piece: &HistoryPart, after: Position, out: &mut Vec<u8>) {
    match piece {
        HistoryPart::Samples(batch) => {
            let segment = segment(batch);
            if has_gaps {
                put_gaps_before(topic, &segment, &batch.wanted, out);
            }
            put_samples(topic, &batch.series.probe_type, &segment, &batch.wanted, out);
        }
        HistoryPart::Gap { offsets, cause, .. } => Answer::gap(topic, offsets.clone(), *cause).put(out),
        HistoryPart::Epoch => {
            let Position { epoch, offset } = after;
            Answer::Epoch { topic, epoch, offset }.put(out);
        }
        HistoryPart::Type(probe_type) => Answer::type_changed(topic, probe_type).put(out),
    }
}
