//! Times of several nodes on the clock of the DAC.

use serde::{Deserialize, Serialize};

/// Validity of a measurement of a clock, in nanoseconds of DAC time. A DAC publishes one each minute while the node is
/// connected.
pub const CLOCK_VALIDITY_NANOS: u64 = 150_000_000_000;
/// Corrected times that go back by less than this are not a step of the clock: each measurement differs a little. In nanoseconds.
const MAX_SLEW_NANOS: u64 = 10_000_000;
/// A sample is received after it was taken. What is farther ahead of its DAC time, beside the uncertainty, has a wrong offset. In nanoseconds.
const MAX_AHEAD_NANOS: u64 = 100_000_000;

/// A measurement of a node's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The DAC's clock minus that of the node, in nanoseconds.
    pub offset: i64,
    /// By how much that can be wrong, in nanoseconds.
    pub uncertainty: u64,
}

/// The clock of a node.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Clock {
    /// The newest measurement, and the DAC time at which it came.
    measured: Option<(u64, ClockOffset)>,
    /// Whether the clock is that of the DAC.
    is_exact: bool,
}

impl Clock {
    /// A clock that needs no correction.
    pub fn exact() -> Self {
        Self { measured: None, is_exact: true }
    }

    /// Takes a measurement that came at this DAC time.
    pub fn measure(&mut self, dac_time: u64, offset: ClockOffset) {
        self.measured = Some((dac_time, offset));
    }

    /// Returns the time of a sample on the clock of the DAC, which received it at this DAC time; none if it is unknown.
    pub fn corrected(&self, time: u64, dac_time: u64) -> Option<u64> {
        if self.is_exact {
            return Some(time);
        }
        let (at, ClockOffset { offset, uncertainty }) = self.measured?;
        let corrected = time.checked_add_signed(offset)?;
        let latest = dac_time.saturating_add(MAX_AHEAD_NANOS).saturating_add(uncertainty);
        (dac_time <= at.saturating_add(CLOCK_VALIDITY_NANOS) && corrected <= latest).then_some(corrected)
    }
}

/// The corrected times of one instance, which do not go back when its clock is measured anew.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Timeline {
    newest: Option<u64>,
}

impl Timeline {
    /// The place of the next sample. It is before that of the one before only after a step of the clock.
    pub fn place(&mut self, corrected: u64) -> u64 {
        let newest = self.newest.unwrap_or_default();
        let is_slew = corrected < newest && newest - corrected < MAX_SLEW_NANOS;
        let place = if is_slew { newest } else { corrected };
        self.newest = Some(place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_while_a_measurement_counts() {
        let mut clock = Clock::default();
        assert_eq!(clock.corrected(5, 1_000), None);
        clock.measure(1_000, ClockOffset { offset: -3, uncertainty: 0 });
        assert_eq!(clock.corrected(5, 1_000), Some(2));
        assert_eq!(clock.corrected(5, 1_000 + CLOCK_VALIDITY_NANOS), Some(2));
        assert_eq!(clock.corrected(5, 1_001 + CLOCK_VALIDITY_NANOS), None);
        assert_eq!(clock.corrected(2, 1_000), None, "before 1970");
        assert_eq!(Clock::exact().corrected(5, 1), Some(5));
    }

    #[test]
    fn what_would_be_taken_after_it_was_received_has_a_wrong_offset() {
        let mut clock = Clock::default();
        clock.measure(0, ClockOffset { offset: 10, uncertainty: 7 });
        assert_eq!(clock.corrected(MAX_AHEAD_NANOS + 7 - 10, 0), Some(MAX_AHEAD_NANOS + 7));
        assert_eq!(clock.corrected(MAX_AHEAD_NANOS + 8 - 10, 0), None);
    }

    #[test]
    fn small_corrections_do_not_go_back() {
        let mut timeline = Timeline::default();
        let times = [
            MAX_SLEW_NANOS,
            MAX_SLEW_NANOS - 1,
            MAX_SLEW_NANOS + 1,
            1,
            0,
            3 * MAX_SLEW_NANOS,
            MAX_SLEW_NANOS,
        ];
        assert_eq!(
            times.map(|time| timeline.place(time)),
            [MAX_SLEW_NANOS, MAX_SLEW_NANOS, MAX_SLEW_NANOS + 1, 1, 1, 3 * MAX_SLEW_NANOS, MAX_SLEW_NANOS]
        );
    }
}
