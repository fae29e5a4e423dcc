//! A reader's next samples at its position, according to its options.

use crate::{Delivery, Instance, Options, Overflow, StartAt, segment::Segment};
use oasis_wire::{
    batch::Header,
    loss::Cause,
    quantity::{Offset, PortablePosition},
};
use std::sync::Arc;

/// The result of one step of a reader: first the samples it skips, then samples.
#[derive(Debug)]
pub struct Turn {
    /// Samples that it asked for and will not receive.
    pub skipped: Option<SkippedRange>,
    /// Offset of the first wanted sample: the first segment may begin before it.
    pub wanted: Offset,
    /// Segments in order of offset.
    pub segments: Vec<Arc<Segment>>,
    /// Offset at which the next step begins.
    pub next: Offset,
    /// True if the overflow policy ends the subscription here.
    pub is_over: bool,
    /// True if nothing that follows can be older than [`Options::after`]: numbers of a run only grow.
    pub is_past_after: bool,
}

/// Samples that a reader will not receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedRange {
    /// Offset of the first one.
    pub from: Offset,
    /// Offset after the last one.
    pub to: Offset,
    /// Samples before the first one that have no offset here: they went to another DAC.
    pub elsewhere: u64,
    /// Why they are skipped: [`Cause::LogRetention`], [`Cause::Latest`] or [`Cause::OtherDac`].
    pub cause: Cause,
}

impl SkippedRange {
    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        (self.to.0 - self.from.0).saturating_add(self.elsewhere)
    }
}

impl Turn {
    /// Leaves out what comes again: a node sends what is not safe to its next DAC, whose readers may have it from the one before.
    fn leave_out_before(&mut self, after: PortablePosition) {
        let Self { segments, wanted, is_past_after, .. } = self;
        segments.retain(|segment| {
            let header = Header::parse(segment.batch()).ok().filter(|_| segment.run() == after.run);
            let Some(Header { first_sequence, count, .. }) = header else { return true };
            let old = after.sequence.saturating_sub(first_sequence).min(count.into());
            *is_past_after |= old < count.into();
            if old > 0 {
                *wanted = (*wanted).max(Offset(segment.first_held().0 + old));
            }
            old < count.into()
        });
    }
}

impl Instance {
    /// Returns the options of a reader that starts here: one that had the topic before this one does not want its samples again.
    pub fn options_from(&self, from: StartAt, options: Options) -> Options {
        let continues = match from {
            StartAt::Portable(at) => Some(at),
            StartAt::Position(at) if at.epoch == self.log.epoch() && at.offset <= self.log.start() => {
                self.continues()
            }
            _ => None,
        };
        let is_of_log = !matches!(from, StartAt::Portable(_)) && self.delivery == Delivery::Every;
        Options { after: options.after.or(continues), continues: continues.filter(|_| is_of_log), ..options }
    }

    /// Returns the samples that are missing between the topic before this one and the first sample here: the node has come from a DAC that has
    /// stored them, and whose readers here had not received them yet.
    fn missing_before(&self, first: &Segment, options: Options) -> Option<SkippedRange> {
        let continues =
            options.continues.filter(|at| first.first() == self.log.start() && first.run() == at.run)?;
        let after = options.after.filter(|after| after.run == continues.run);
        let next = after.map_or(0, |after| after.sequence).max(continues.sequence);
        let elsewhere = Header::parse(first.batch()).ok()?.first_sequence.saturating_sub(next);
        let (from, cause) = (first.first(), Cause::OtherDac);
        (elsewhere > 0).then_some(SkippedRange { from, to: from, elsewhere, cause })
    }

    /// Returns the first offset for a reader with this delivery, and whether the position to resume from belongs to
    /// another epoch.
    pub fn start(&self, from: StartAt, delivery: Delivery) -> (Offset, bool) {
        // A derived stream uses the offsets of its source, which it may lag.
        let log = &self.source().log;
        match (from, delivery) {
            (StartAt::Now, _) if self.source().has_missed_pause() => {
                log.skip_pause();
                (log.next(), false)
            }
            (StartAt::Now, Delivery::Latest) => {
                let newest = log.latest().map(|segment| Offset(segment.end().0 - 1));
                (newest.unwrap_or_else(|| log.next()), false)
            }
            _ => from.offset_in(log),
        }
    }

    /// Returns what a reader at `from` receives now: at most `max` segments.
    pub fn turn(&self, from: Offset, options: Options, max: usize) -> Turn {
        if options.delivery == Delivery::Latest {
            return self.newest(from, Cause::Latest);
        }
        let read = self.log.read(from, max);
        let skipped =
            read.missed.map(|(from, to)| SkippedRange { from, to, elsewhere: 0, cause: Cause::LogRetention });
        let wanted = skipped.map_or(from, |skipped| skipped.to);
        match options.overflow {
            Overflow::Latest if skipped.is_some() => self.newest(from, Cause::LogRetention),
            Overflow::Close if skipped.is_some() => {
                let segments = Vec::new();
                Turn { skipped, wanted, segments, next: wanted, is_over: true, is_past_after: false }
            }
            _ => {
                let next = read.segments.last().map_or(wanted, |last| last.end());
                let segments = read.segments;
                let missing = |first: &Arc<Segment>| self.missing_before(first, options);
                let skipped =
                    skipped.or(segments.first().and_then(missing).filter(|_| from <= self.log.start()));
                let mut turn = Turn { skipped, wanted, segments, next, is_over: false, is_past_after: false };
                options.after.iter().for_each(|after| turn.leave_out_before(*after));
                turn
            }
        }
    }

    /// Returns only the newest sample, unless it was read before.
    fn newest(&self, from: Offset, cause: Cause) -> Turn {
        let newest = self.log.newest(&self.probe_type).filter(|newest| newest.end() > from);
        let to = newest.as_ref().map_or(from, |newest| newest.first().max(from));
        Turn {
            skipped: (from < to).then_some(SkippedRange { from, to, elsewhere: 0, cause }),
            wanted: to,
            next: newest.as_ref().map_or(from, |newest| newest.end()),
            segments: newest.into_iter().collect(),
            is_over: false,
            is_past_after: false,
        }
    }
}
