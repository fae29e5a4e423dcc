//! The time range of a request: `from`, `to`, `last` and `points`, the same at every door.

use oasis_dac::{Delivery, Instance, Segment, now};
use oasis_history::end_before;
use oasis_wire::{
    batch,
    quantity::Offset,
    time::{self, TimeError},
};
use std::iter;

/// Most points: more than any screen has columns of pixels.
const MAX_POINTS: u32 = 10_000;

/// Most newest samples of a request. A reader that wants more uses a time.
const MAX_LAST: u32 = 10_000;

/// Upper bound of the time that samples are on their way, nanoseconds: nodes have clocks of their own and collect
/// samples before they send them.
const MAX_TRANSIT_NANOS: u64 = 10_000_000_000;

/// The time range of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// The start, unless a position is given.
    pub from: Begin,
    /// Samples of this time and later are not wanted, nanoseconds since 1970 on the node's clock.
    pub until: Option<u64>,
    /// Most points that the past is put together to; none for every sample.
    pub points: Option<u32>,
    /// Most samples of the past: the newest ones. `None` for all of them.
    pub last: Option<u32>,
}

/// The start of a time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begin {
    /// The newest segment in memory, then live samples.
    #[default]
    Now,
    /// The oldest sample in memory.
    Earliest,
    /// The first sample that is no older, nanoseconds since 1970 on the node's clock.
    Time(u64),
}

/// An invalid parameter, and its allowed values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value:?}: {allowed}")]
pub struct NotAllowed {
    /// Name of the parameter.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its allowed values.
    pub allowed: String,
}

impl NotAllowed {
    /// Creates the error.
    pub fn new(name: &str, value: &str, allowed: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), allowed: allowed.into() }
    }
}

impl Times {
    /// Parses `from`, `to`, `last` or `points`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), NotAllowed> {
        match name {
            "from" => {
                self.from = match value {
                    "now" => Begin::Now,
                    "earliest" => Begin::Earliest,
                    _ => Begin::Time(a_time(name, value, "now, earliest, or a time: ")?),
                }
            }
            "to" => self.until = Some(a_time(name, value, "")?),
            "points" => self.points = Some(up_to(MAX_POINTS, name, value)?),
            "last" => self.last = Some(up_to(MAX_LAST, name, value)?),
            _ => return Err(NotAllowed::new(name, value, "there are from, to, last and points")),
        }
        Ok(())
    }

    /// Returns whether samples are wanted as they arrive, and whether samples of the past are.
    pub fn needs(&self, resumes: bool) -> (bool, bool) {
        let past = resumes || self.from != Begin::Now || self.last.is_some();
        (!past || self.until.is_none_or(|until| until > now().0), past)
    }

    /// Refuses contradicting parameters. A reader that resumes at a position needs no `from`, and receives no points.
    pub fn check(&self, resumes: bool, delivery: Delivery) -> Result<(), NotAllowed> {
        let is_time = matches!(self.from, Begin::Time(_)) && !resumes;
        if let (Some(points), false, false) = (self.points, is_time, resumes) {
            let allowed = "say from which time on: from=-1h, for instance";
            return Err(NotAllowed::new("points", &points.to_string(), allowed));
        }
        if let (Begin::Time(from), Some(until), true) = (self.from, self.until, is_time) {
            in_order(from, until)?;
        }
        if let (Some(last), false) = (self.last, resumes) {
            if self.points.is_some() {
                let allowed = "ask for points or for the last samples, not for both";
                return Err(NotAllowed::new("last", &last.to_string(), allowed));
            }
            if self.from == Begin::Earliest {
                let allowed = "with it from is a time, or not there";
                return Err(NotAllowed::new("last", &last.to_string(), allowed));
            }
        }
        let is_past = is_time || self.until.is_some() || (self.last.is_some() && !resumes);
        if is_past && delivery != Delivery::Every {
            let allowed = "with a time in from or to, or with last, there is only every";
            return Err(NotAllowed::new("delivery", &delivery.to_string(), allowed));
        }
        Ok(())
    }
}

/// Whether older samples can still arrive. A reader with all samples before the end does not wait for one more: it may never arrive.
pub fn has_passed(until: Option<u64>) -> bool {
    until.is_some_and(|until| until.saturating_add(MAX_TRANSIT_NANOS) <= now().0)
}

/// Returns the offset after the last sample of a segment, of those from `from` on, that is older than `until`, if a later one of the segment is not, and no
/// segment of the log after it has wanted ones.
pub fn end_of_times(instance: &Instance, segment: &Segment, from: Offset, until: u64) -> Option<Offset> {
    let least = |later: &Segment| batch::time_range(later.batch()).map_or(u64::MAX, |(least, _)| least);
    let later = iter::once_with(|| instance.log.read(segment.end(), usize::MAX).segments).flatten();
    end_before(segment.batch(), segment.first_held(), from, until, later.map(|later| least(&later)))
}

/// Refuses a time range that ends before it begins.
pub fn in_order(from: u64, to: u64) -> Result<(), NotAllowed> {
    if from <= to {
        return Ok(());
    }
    let [from, to] = [from, to].map(time::format);
    Err(NotAllowed::new("from", &from, format!("that is later than to, {to}: exchange them")))
}

fn up_to(most: u32, name: &str, value: &str) -> Result<u32, NotAllowed> {
    let number = value.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| NotAllowed::new(name, value, format!("write a whole number from 1 to {most}")))
}

fn a_time(name: &str, value: &str, others: &str) -> Result<u64, NotAllowed> {
    time::parse(value, now()).map_err(|error| {
        let others = if error == TimeError::Unknown { others } else { "" };
        NotAllowed::new(name, value, format!("{others}{error}"))
    })
}
