//! Which times of samples are plausible: those around the time at which they were received. A node's clock may say anything. Samples with other
//! times are stored, but neither pins nor the range of an instance take them into account.

use crate::config::{ArchiveConfig, DAY};
use oasis_wire::quantity::Nanos;

/// Greatest differences between times and the time of receipt, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    past: u64,
    ahead: u64,
}

/// Plausible times, in nanoseconds since 1970, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    least: u64,
    greatest: u64,
}

impl TimeLimits {
    /// The configured limits.
    pub fn of(config: &ArchiveConfig) -> Self {
        let limit = |days: u64| if days == 0 { u64::MAX } else { days.saturating_mul(DAY) };
        Self { past: limit(config.plausible_past_days), ahead: limit(config.plausible_ahead_days) }
    }

    /// Returns the plausible times of samples that were received between these times.
    pub fn around(self, from: Nanos, to: Nanos) -> TimeWindow {
        TimeWindow { least: from.0.saturating_sub(self.past), greatest: to.0.saturating_add(self.ahead) }
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self::of(&ArchiveConfig::default())
    }
}

impl TimeWindow {
    /// All times.
    pub const ALL: Self = Self { least: 0, greatest: u64::MAX };

    /// Whether a time is plausible.
    pub fn contains(self, time: u64) -> bool {
        (self.least..=self.greatest).contains(&time)
    }

    /// Returns least and greatest time of a batch without implausible ones; `None` if both are. The other times of a batch are not known
    /// here, so one that has an implausible end counts with its other end.
    pub fn of(self, (least, greatest): (u64, u64)) -> Option<(u64, u64)> {
        match (self.contains(least), self.contains(greatest)) {
            (true, true) => Some((least, greatest)),
            (true, false) => Some((least, least)),
            (false, true) => Some((greatest, greatest)),
            (false, false) => None,
        }
    }
}

/// Returns the range of both.
pub fn joined(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_around_the_receipt_are_plausible() {
        let days = |past, ahead| ArchiveConfig {
            plausible_past_days: past,
            plausible_ahead_days: ahead,
            ..ArchiveConfig::default()
        };
        let window = TimeLimits::of(&days(10, 1)).around(Nanos(100 * DAY), Nanos(101 * DAY));
        let is_plausible = [89, 90, 101, 102, 103].map(|day| window.contains(day * DAY));
        assert_eq!(is_plausible, [false, true, true, true, false]);
        assert_eq!(window.of((0, 100 * DAY)), Some((100 * DAY, 100 * DAY)));
        assert_eq!(window.of((95 * DAY, u64::MAX)), Some((95 * DAY, 95 * DAY)));
        assert_eq!(window.of((0, u64::MAX)), None);
        let all = TimeLimits::of(&days(0, 0)).around(Nanos(100 * DAY), Nanos(101 * DAY));
        assert_eq!(all, TimeWindow::ALL);
    }
}
