//! Decides when the state of a scrape target is logged: a failure and its end in an interval, however often the target flaps.

use std::time::{Duration, Instant};

/// Time in which a target has at most [`MAX_LOGGED_CHANGES`] lines.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// Most lines of a target in an interval: a failure, and its end.
const MAX_LOGGED_CHANGES: u32 = 2;

/// The state of a target, and its changes since the last line.
#[derive(Debug, Default)]
pub struct TargetLog {
    is_failing: bool,
    changes: u64,
    /// The first line of the present interval.
    began: Option<Instant>,
    lines: u32,
}

impl TargetLog {
    /// Notes a scrape. Returns the number of changes since the last line, if a line has to be logged now.
    pub fn note(&mut self, is_failing: bool, now: Instant) -> Option<u64> {
        self.changes += u64::from(self.is_failing != is_failing);
        self.is_failing = is_failing;
        if self.began.is_none_or(|began| now.duration_since(began) >= LOG_INTERVAL) {
            (self.began, self.lines) = (None, 0);
        }
        if self.changes == 0 || self.lines == MAX_LOGGED_CHANGES {
            return None;
        }
        self.began.get_or_insert(now);
        self.lines += 1;
        Some(std::mem::take(&mut self.changes))
    }

    /// Returns whether the newest scrape failed.
    #[cfg(test)]
    pub fn is_failing(&self) -> bool {
        self.is_failing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_flaps_has_two_lines_a_minute_and_its_last_state_is_logged() {
        let mut log = TargetLog::default();
        let start = Instant::now();
        let mut note = |second: u64, fails| log.note(fails, start + Duration::from_secs(second));
        assert_eq!(note(0, false), None, "it works from the start");
        assert_eq!((note(10, true), note(20, false)), (Some(1), Some(1)));
        let flaps: Vec<_> = (3..7).map(|scrape| note(scrape * 10, scrape % 2 == 1)).collect();
        assert_eq!(flaps, [None; 4]);
        assert_eq!(note(70, true), Some(5), "the state after the flaps");
        assert_eq!((note(600, true), note(610, false)), (None, Some(1)), "at once after a quiet time");
        let lines = (1_000..4_600).filter(|second| note(*second, second % 2 == 1).is_some()).count();
        assert!(lines <= 2 * 61, "{lines} lines in an hour");
    }
}
