//! A reader's place in a topic log. This is all that the DAC keeps for a subscription.

use crate::{Instance, log::Read, signal::Signal};
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

/// One subscription to one instance.
#[derive(Debug)]
pub struct Cursor {
    instance: Arc<Instance>,
    next: Offset,
    signal: Arc<Signal>,
}

impl Cursor {
    /// Starts reading; `signal` is raised when there is more to read. The flag tells that the position to resume from belongs to another epoch (reading
    /// starts at the earliest sample then).
    pub fn new(instance: Arc<Instance>, from: From, signal: &Arc<Signal>) -> (Self, bool) {
        // Registered first, so that nothing appended from here on goes unnoticed.
        instance.log.wake(signal);
        let earliest = instance.log.state().first_offset;
        let newest = instance.log.latest().map_or(earliest, |segment| segment.first());
        let (next, epoch_changed) = match from {
            From::Now => (newest, false),
            From::Earliest => (earliest, false),
            From::Position(at) if at.epoch == instance.log.epoch() => {
                (at.offset.min(instance.log.next()), false)
            }
            From::Position(_) => (earliest, true),
        };
        (Self { instance, next, signal: signal.clone() }, epoch_changed)
    }

    /// The instance that is read.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The next sample wanted.
    pub fn next(&self) -> Offset {
        self.next
    }

    /// Whether a [`Cursor::read`] would return anything.
    pub fn is_behind(&self) -> bool {
        self.next < self.instance.log.next()
    }

    /// Up to `max` segments, and moves behind them.
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
