//! Time as an observer has lived through it.

use std::time::Duration;

/// Longest step that counts. An observer that did not run for longer has heard no member meanwhile: that is not their silence.
const LONGEST_STEP: Duration = Duration::from_millis(750);

/// The time in which an observer could hear others: its own steady clock without the time that it was stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct ObservedTime {
    /// Last time of the clock.
    clock: Option<Duration>,
    passed: Duration,
}

impl ObservedTime {
    /// A time that has passed already: an observer can then say that something was long ago.
    pub fn after(passed: Duration) -> Self {
        Self { clock: None, passed }
    }

    /// Reads the clock. A step backward counts as none, and a long step as [`LONGEST_STEP`].
    pub fn advance(&mut self, clock: Duration) {
        let before = self.clock.replace(clock).unwrap_or(clock);
        self.passed += clock.saturating_sub(before).min(LONGEST_STEP);
    }

    /// Returns the time that has passed.
    pub fn passed(self) -> Duration {
        self.passed
    }
}
