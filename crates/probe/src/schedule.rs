//! The schedule of a periodic probe: a fixed grid from its start, so that delays do not accumulate.

use oasis_wire::quantity::Hertz;
use std::time::{Duration, Instant};

/// The grid of one periodic probe.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    next: Instant,
    period: Duration,
}

impl Schedule {
    /// Creates a schedule that is due at once, then at `hertz`.
    pub fn new(hertz: Hertz, now: Instant) -> Self {
        Self { next: now, period: Duration::from_nanos(hertz.period_ns()) }
    }

    /// Returns when the probe is due next.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Returns whether the probe is due, and if so advances to the next future point of the grid. Points missed on a
    /// busy host are skipped, not repeated in a burst.
    pub fn due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.next += self.period;
        if self.next <= now {
            let late = now.duration_since(self.next).as_nanos();
            let points = late / self.period.as_nanos() + 1;
            self.next += self.period * u32::try_from(points).unwrap_or(u32::MAX);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_do_not_accumulate_and_missed_points_are_skipped() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut schedule = Schedule::new(Hertz::new(100.0).unwrap(), start);
        assert!(schedule.due(at(0)));
        assert!(!schedule.due(at(9)));
        assert!(schedule.due(at(13)));
        assert_eq!(schedule.next(), at(20));
        assert!(schedule.due(at(57)));
        assert_eq!(schedule.next(), at(60));
    }
}
