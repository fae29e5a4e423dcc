//! A reader's place in a topic log. This is all that the DAC keeps for a subscription.

use crate::{
    Asking, Dac, Instance, Options,
    derived::DeriveError,
    log::{Read, TopicLog},
    signal::{Signal, Wake},
    turn::Turn,
};
use oasis_wire::quantity::{Offset, Position};
use std::sync::Arc;

/// Where a new subscription begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum From {
    /// The newest segment held, then live.
    #[default]
    Now,
    /// The oldest segment held.
    Earliest,
    /// Where an earlier subscription ended.
    Position(Position),
}

impl From {
    /// The first sample wanted of a log; the flag tells that the position belongs to another epoch.
    pub fn offset_in(self, log: &TopicLog) -> (Offset, bool) {
        let earliest = log.state().first_offset;
        match self {
            Self::Now => (log.latest().map_or(earliest, |segment| segment.first()), false),
            Self::Earliest => (earliest, false),
            Self::Position(at) if at.epoch == log.epoch() => (at.offset.min(log.next()), false),
            Self::Position(_) => (earliest, true),
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
    /// Held for what it does when it goes: the reader asks for its rate no more.
    _asking: Option<Asking>,
}

impl Cursor {
    /// Starts reading, without a say in the instance's rate; `signal` is raised when there is more to read. The flag tells that the position to resume from belongs to another epoch (reading
    /// starts at the earliest sample then).
    pub fn new(instance: Arc<Instance>, from: From, signal: &Arc<Signal>) -> (Self, bool) {
        Self::with_options(instance, from, Options::default(), signal, None)
    }

    /// As [`Cursor::new`], with delivery and overflow policy: reads a derived stream where the delivery asks for one, and counts among those whose demand
    /// sets the rate.
    ///
    /// # Errors
    /// [`DeriveError`] if there cannot be one more derived stream, or none of this type.
    pub fn open(
        dac: &Dac,
        instance: &Arc<Instance>,
        from: From,
        options: Options,
        signal: &Arc<Signal>,
    ) -> Result<(Self, bool), DeriveError> {
        let stream = dac.derived.open(&dac.registry, instance, options.delivery)?;
        let asking = instance.ask(options.delivery);
        Ok(Self::with_options(stream, from, options, signal, Some(asking)))
    }

    fn with_options(
        instance: Arc<Instance>,
        from: From,
        options: Options,
        signal: &Arc<Signal>,
        asking: Option<Asking>,
    ) -> (Self, bool) {
        // Registered first, so that nothing appended from here on goes unnoticed.
        let signal: Arc<dyn Wake> = signal.clone();
        instance.log.wake(signal.clone());
        let (next, epoch_changed) = instance.start(from, options.delivery);
        (Self { instance, next, signal, options, _asking: asking }, epoch_changed)
    }

    /// The instance that is read.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The next sample wanted.
    pub fn next(&self) -> Offset {
        self.next
    }

    /// Goes on from here, forth or back.
    pub fn seek(&mut self, next: Offset) {
        self.next = next;
    }

    /// Whether a [`Cursor::read`] would return anything.
    pub fn is_behind(&self) -> bool {
        self.next < self.instance.log.next()
    }

    /// What the reader's options give it now, up to `max` segments, and moves behind that.
    pub fn turn(&mut self, max: usize) -> Turn {
        let turn = self.instance.turn(self.next, self.options, max);
        self.next = turn.next;
        turn
    }

    /// Up to `max` segments whatever the options say, and moves behind them.
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
        self.instance.log.forget(&self.signal);
    }
}
