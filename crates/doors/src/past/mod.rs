//! A topic's past, for every door: read from the archive until the topic log has what comes next, and never a sample twice or not at all.
//!
//! Both hold the same batches at the same offsets, so the seam is a number: a reader goes over to the log once the log holds the next
//! sample that it wants. If neither has it, the archive is asked to store what it has, and looked at again: only then is it missing.
//!
//! An [`Asker`] fetches one bounded piece of a [`Source`] at a time ([`fetch`], [`newest`], [`points`]); doors only render what they are [`Told`]. What may be asked for is
//! in [`times`], who may read files and when in [`archived`].

pub mod archived;
mod fetch;
mod newest;
mod points;
pub mod times;
mod whose;

pub use archived::Archived;
pub use fetch::end_before;
pub use whose::Whose;

use crate::view::Integers;
use oasis_dac::{Instance, Segment};
use oasis_store::{Newest, Past, Series};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Offset, Position},
    schema::ProbeType,
};
use serde_json::{Map, Value};
use std::{ops::Range, sync::Arc};
use times::{Begin, Times};

/// Where a topic's next message comes from, if not from its log.
#[derive(Debug)]
pub enum Source {
    /// The archive, which was not asked yet for the first sample that is no older than this, nanoseconds.
    Since(u64),
    /// Archive and log, which were not asked yet for all from this time on, in so many points.
    Points(u64, u32),
    /// Log and archive, which were not asked yet where the newest samples of a time begin.
    Newest(Newest),
    /// The archive, which was not asked yet for what begins here.
    From(Position),
    /// The archive.
    Past(Box<Place>),
}

impl Source {
    /// What is asked for, if it is the past: with a time to begin at, or a number of samples.
    ///
    /// # Errors
    /// If the points that are asked for would be more than one message should have to hold: says how many there may be.
    pub fn of(times: &Times, probe_type: &ProbeType) -> Result<Option<Self>, String> {
        let from = if let Begin::Time(time) = times.from { Some(time) } else { None };
        match (from, times.points, times.last) {
            (_, _, Some(last)) => {
                let wanted = from.unwrap_or_default()..times.until.unwrap_or(u64::MAX);
                Ok(Some(Self::Newest(Newest::new(wanted, last.into()))))
            }
            (Some(from), Some(points), None) => {
                points::check_width(points, probe_type)?;
                Ok(Some(Self::Points(from, points)))
            }
            (Some(from), None, None) => Ok(Some(Self::Since(from))),
            (None, _, None) => Ok(None),
        }
    }
}

/// A place in the archive, and the type that the reader reads what is before it by.
#[derive(Debug)]
pub struct Place {
    past: Past,
    probe_type: Option<Arc<ProbeType>>,
}

/// Who asks for a topic's past.
#[derive(Debug, Clone)]
pub struct Asker {
    /// What is stored.
    pub archived: Archived,
    /// Whose past.
    pub instance: Arc<Instance>,
    /// Samples of this time and later are not wanted, nanoseconds since 1970 on the node's clock.
    pub until: Option<u64>,
    /// Whether the reader has been given the instance's type, so that it has to be told of any other one.
    pub has_type: bool,
    /// What a message of points begins with.
    pub points_head: Map<String, Value>,
    /// How 64-bit integers of points are written.
    pub integers: Integers,
}

/// What a reader of the past is told.
#[derive(Debug)]
pub enum Told {
    /// Samples of a batch: those at these offsets.
    Samples(Arc<Series>, Arc<Segment>, Range<Offset>),
    /// Samples that it will not get, and why. If nobody knows which, the position to go on from belongs to an earlier life of the DAC.
    Gap(Whose, Option<Range<Offset>>, Cause),
    /// Offsets count in another epoch from here on: the DAC was started again.
    Epoch(Whose, Epoch),
    /// The node came back with another type under the same name: metrics differ from here on.
    TypeChanged(Whose),
    /// So many points: JSON.
    Points(Vec<u8>),
}

/// One piece of the past.
#[derive(Debug)]
pub struct Fetched {
    /// The first sample that comes, if any is there.
    pub begin: Position,
    /// In order, each with the place behind it.
    pub told: Vec<(Told, Position)>,
    /// What follows.
    pub then: Then,
}

/// What follows a piece of the past.
#[derive(Debug)]
pub enum Then {
    /// There may be more of it.
    Past(Source),
    /// The topic log goes on.
    Log {
        /// With this sample.
        at: Position,
        /// The archive was asked for it, and has it not: if the log has let go of it, it is gone.
        is_lacking: bool,
    },
    /// The time to end at was reached.
    Over,
}
