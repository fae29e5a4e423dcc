//! What a reader's options give it at its place in a topic.

use crate::{Delivery, From, Instance, Options, Overflow, segment::Segment};
use oasis_wire::quantity::Offset;
use std::sync::Arc;

/// What a reader gets in one turn, in this order: what it does not get, then samples.
#[derive(Debug)]
pub struct Turn {
    /// What it asked for and will not get.
    pub skipped: Option<Skipped>,
    /// Offset of the first sample wanted: the first segment may begin before it.
    pub wanted: Offset,
    /// Segments in order.
    pub segments: Vec<Arc<Segment>>,
    /// Where the next turn begins.
    pub next: Offset,
    /// Its overflow policy says that the subscription ends here.
    pub is_over: bool,
}

/// Samples that a reader will not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// First one.
    pub from: Offset,
    /// Behind the last one.
    pub to: Offset,
    /// Why.
    pub cause: SkipCause,
}

impl Skipped {
    /// How many.
    pub fn count(&self) -> u64 {
        self.to.0 - self.from.0
    }
}

/// Why a reader skips samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipCause {
    /// It came so late that the log no longer holds them.
    LogRetention,
    /// It wants only the newest.
    Latest,
}

impl SkipCause {
    /// The word that clients see.
    pub fn word(self) -> &'static str {
        match self {
            Self::LogRetention => "log_retention",
            Self::Latest => "latest",
        }
    }
}

impl Instance {
    /// Where a reader with this delivery begins; the flag tells that the position to resume from belongs to another epoch.
    pub fn start(&self, from: From, delivery: Delivery) -> (Offset, bool) {
        // Offsets of a derived stream are those of its source, which it may not have caught up with yet.
        let log = &self.source().log;
        match (from, delivery) {
            (From::Now, Delivery::Latest) => {
                let newest = log.latest().map(|segment| Offset(segment.end().0 - 1));
                (newest.unwrap_or_else(|| log.next()), false)
            }
            _ => from.offset_in(log),
        }
    }

    /// What a reader at `from` gets now, up to `max` segments.
    pub fn turn(&self, from: Offset, options: Options, max: usize) -> Turn {
        if options.delivery == Delivery::Latest {
            return self.newest(from, SkipCause::Latest);
        }
        let read = self.log.read(from, max);
        let skipped = read.missed.map(|(from, to)| Skipped { from, to, cause: SkipCause::LogRetention });
        let wanted = skipped.map_or(from, |skipped| skipped.to);
        match options.overflow {
            Overflow::Latest if skipped.is_some() => self.newest(from, SkipCause::LogRetention),
            Overflow::Close if skipped.is_some() => {
                Turn { skipped, wanted, segments: Vec::new(), next: wanted, is_over: true }
            }
            _ => {
                let next = read.segments.last().map_or(wanted, |last| last.end());
                Turn { skipped, wanted, segments: read.segments, next, is_over: false }
            }
        }
    }

    /// The newest sample alone, unless it was read already.
    fn newest(&self, from: Offset, cause: SkipCause) -> Turn {
        let newest = self.log.newest(&self.probe_type).filter(|newest| newest.end() > from);
        let to = newest.as_ref().map_or(from, |newest| newest.first().max(from));
        Turn {
            skipped: (from < to).then_some(Skipped { from, to, cause }),
            wanted: to,
            next: newest.as_ref().map_or(from, |newest| newest.end()),
            segments: newest.into_iter().collect(),
            is_over: false,
        }
    }
}
