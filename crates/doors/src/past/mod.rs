//! The past of a topic, for every door: samples that the topic log has evicted are read with an [`oasis_history::Reader`], until the log has the next sample.
//!
//! A [`Fetcher`] reads one bounded part of a [`Source`] at a time ([`fetch`], [`points`]); doors only write what it returns. [`times`] says what clients may ask for,
//! [`archived`] who may read files and when.

pub mod archived;
mod fetch;
mod points;
mod relayed;
mod stored_here;
pub mod times;

pub use archived::ArchiveAccess;

use crate::view::Integers;
use oasis_dac::{Instance, Segment};
use oasis_history::{Batch, HistoryPart, Reader, Start};
use oasis_store::Newest;
use oasis_wire::{quantity::Position, schema::ProbeType};
use relayed::Answer;
use serde_json::{Map, Value};
use std::sync::Arc;
use stored_here::Here;
use times::{Begin, Times};

/// The source of a topic's next message, if not its log.
#[derive(Debug)]
pub enum Source {
    /// Archive and log, from here on.
    Start(Start),
    /// Archive and log: everything from this time on, in at most this number of points.
    Points(u64, u32),
    /// The archive, at the place of this reader.
    Reader(Box<Reader>),
    /// The archive of this DAC, and then the upstream of a relayed instance.
    Here(Box<Here>),
    /// The upstream of a relayed instance, in the middle of an answer.
    Upstream(Box<Answer>),
}

impl Source {
    /// Returns the past for a request, if any: it begins at a time, or has a number of samples.
    ///
    /// # Errors
    /// If the points would be more than one message should contain: says how many there may be.
    pub fn of(times: &Times, probe_type: &ProbeType) -> Result<Option<Self>, String> {
        let from = if let Begin::Time(time) = times.from { Some(time) } else { None };
        match (from, times.points, times.last) {
            (_, _, Some(last)) => {
                let wanted = from.unwrap_or_default()..times.until.unwrap_or(u64::MAX);
                Ok(Some(Self::Start(Start::Newest(Newest::new(wanted, last.into())))))
            }
            (Some(from), Some(points), None) => {
                points::check_width(points, probe_type)?;
                Ok(Some(Self::Points(from, points)))
            }
            (Some(from), None, None) => Ok(Some(Self::Start(Start::Time(from)))),
            (None, _, None) => Ok(None),
        }
    }

    /// Returns the past from a position on.
    pub fn from_position(at: Position) -> Self {
        Self::Start(Start::Position(at))
    }
}

/// Fetches the past of a topic.
#[derive(Debug, Clone)]
pub struct Fetcher {
    /// The archive.
    pub archived: ArchiveAccess,
    /// The instance of the topic.
    pub instance: Arc<Instance>,
    /// Samples of this time and later are not wanted, nanoseconds since 1970 on the node's clock.
    pub until: Option<u64>,
    /// Whether the client knows the instance's type, so that it must be notified of any other one.
    pub has_type: bool,
    /// First members of a message of points.
    pub points_head: Map<String, Value>,
    /// Format of 64-bit integers in points.
    pub integers: Integers,
}

/// A message of the past.
#[derive(Debug)]
pub enum Item {
    /// Samples, or the cause of missing ones.
    HistoryPart(HistoryPart),
    /// Points, as JSON.
    Points(Vec<u8>),
}

/// One part of the past.
#[derive(Debug)]
pub struct PastPart {
    /// Position of the first sample, if there is any.
    pub begin: Position,
    /// Messages in order, each with the position after it.
    pub items: Vec<(Item, Position)>,
    /// The next step.
    pub then: NextStep,
}

/// The next step after a part of the past.
#[derive(Debug)]
pub enum NextStep {
    /// There may be more.
    Past(Source),
    /// Continue in the topic log.
    Log {
        /// Position of the next sample.
        at: Position,
        /// Whether the archive lacks that sample. If the log has evicted it too, it is lost.
        is_missing: bool,
    },
    /// The end of the requested time was reached.
    Over,
}

/// Returns a batch of the archive as a segment, which doors write.
pub fn segment(batch: &Batch) -> Segment {
    let count = u16::try_from(batch.offsets.end.0 - batch.offsets.start.0).unwrap_or(u16::MAX);
    Segment::new(batch.bytes.clone(), batch.offsets.start, count).after_gaps(batch.gaps_before.clone())
}
