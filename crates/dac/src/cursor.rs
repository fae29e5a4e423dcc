//! A reader's position in a topic log: everything that the DAC keeps for a subscription.

use crate::{
    Dac, DemandGuard, Instance, Options,
    derived::DeriveError,
    log::{Read, TopicLog},
    signal::{Signal, Wake},
    turn::Turn,
};
use oasis_wire::quantity::{Offset, PortablePosition, Position};
use std::sync::Arc;

/// Position at which a new subscription starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartAt {
    /// At the newest segment, then live.
    #[default]
    Now,
    /// At the oldest segment.
    Earliest,
    /// At the position where an earlier subscription ended.
    Position(Position),
    /// The same, where the subscription may have been at another DAC.
    Portable(PortablePosition),
}

impl StartAt {
    /// Returns the first wanted offset, and whether the position belongs to another epoch, or to samples that the log does
    /// not have.
    pub fn offset_in(self, log: &TopicLog) -> (Offset, bool) {
        let earliest = log.state().first_offset;
        match self {
            Self::Now => (log.latest().map_or(earliest, |segment| segment.first()), false),
            Self::Earliest => (earliest, false),
            Self::Position(at) if at.epoch == log.epoch() => (at.offset.min(log.next()), false),
            Self::Position(_) => (earliest, true),
            Self::Portable(at) => log.find(at).map_or((earliest, true), |offset| (offset, false)),
        }
    }
}

/// One subscription to one instance.
#[derive(Debug)]
pub struct Cursor {
    instance: Arc<Instance>,
    next: Offset,
    signal: Arc<dyn Wake>,
    options: Options,
    /// Kept for its `Drop`: it ends the reader's demand.
    _demand: Option<DemandGuard>,
}

impl Cursor {
    /// Starts to read without demand for a rate. `signal` is raised when there is more to read. The flag is true if
    /// the position to resume from belongs to another epoch: reading then starts at the earliest sample.
    pub fn new(instance: Arc<Instance>, from: StartAt, signal: &Arc<Signal>) -> (Self, bool) {
        Self::with_options(instance, from, Options::default(), signal, None)
    }

    /// Starts to read like [`Cursor::new`], with delivery and overflow policy. Reads a derived stream if the delivery
    /// asks for one. The reader's demand counts for the instance's rate.
    ///
    /// # Errors
    /// [`DeriveError`] if the limit of derived streams is reached, or the type allows none.
    pub fn open(
        dac: &Dac,
        instance: &Arc<Instance>,
        from: StartAt,
        options: Options,
        signal: &Arc<Signal>,
    ) -> Result<(Self, bool), DeriveError> {
        let stream = dac.derived.open(&dac.registry, instance, options.delivery)?;
        let demand = instance.register_demand(options.delivery);
        Ok(Self::with_options(stream, from, options, signal, Some(demand)))
    }

    fn with_options(
        instance: Arc<Instance>,
        from: StartAt,
        options: Options,
        signal: &Arc<Signal>,
        demand: Option<DemandGuard>,
    ) -> (Self, bool) {
        // Registered first, so that no later append goes unnoticed.
        let signal: Arc<dyn Wake> = signal.clone();
        instance.log.add_reader(signal.clone());
        let (next, epoch_changed) = instance.start(from, options.delivery);
        let options = instance.options_from(from, options);
        (Self { instance, next, signal, options, _demand: demand }, epoch_changed)
    }

    /// Returns the instance that it reads.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Returns the offset of the next wanted sample.
    pub fn next(&self) -> Offset {
        self.next
    }

    /// Continues at `next`, forward or backward.
    pub fn seek(&mut self, next: Offset) {
        self.next = next;
    }

    /// Returns whether [`Cursor::read`] would return anything.
    pub fn has_unread(&self) -> bool {
        self.next < self.instance.log.next()
    }

    /// Returns whether more than `segments` segments are unread.
    pub fn has_more_than(&self, segments: usize) -> bool {
        self.has_unread() && self.instance.log.has_more_than(segments, self.next)
    }

    /// Returns what the reader's options give it now, at most `max` segments, and advances after them.
    pub fn turn(&mut self, max: usize) -> Turn {
        let turn = self.instance.turn(self.next, self.options, max);
        self.next = turn.next;
        turn
    }

    /// Returns at most `max` segments regardless of the options, and advances after them.
    pub fn read(&mut self, max: usize) -> Read {
        let read = self.instance.log.read(self.next, max);
        match (read.segments.last(), read.missed) {
            (Some(last), _) => self.next = last.end(),
            (None, Some((_, to))) => self.next = to,
            (None, None) => {}
        }
        read
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.instance.log.remove_reader(&self.signal);
    }
}
