//! The schedule of a periodic probe: a fixed grid from its start, so that delays do not accumulate; or always, as fast as the node can.

use oasis_wire::quantity::Hertz;
use std::time::{Duration, Instant};

/// Points missed by a shorter delay lower the rate of a busy host's probe, and are not counted.
const STOPPED: Duration = Duration::from_secs(1);

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

    /// Creates a schedule that is always due.
    pub fn always(now: Instant) -> Self {
        Self { next: now, period: Duration::ZERO }
    }

    /// Returns when the probe is due next.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Returns whether the probe is due, and if so advances to the next future point of the grid. Points missed on a
    /// busy host are skipped, not repeated in a burst. They are counted if the delay was so long that this process or
    /// its host must have been stopped.
    pub fn due(&mut self, now: Instant) -> Option<Due> {
        if now < self.next {
            return None;
        }
        if self.period.is_zero() {
            return Some(Due { missed: 0 });
        }
        let delay = now.duration_since(self.next);
        self.next += self.period;
        let mut missed = 0;
        if self.next <= now {
            let late = now.duration_since(self.next).as_nanos();
            let points = u32::try_from(late / self.period.as_nanos() + 1).unwrap_or(u32::MAX);
            self.next += self.period * points;
            missed = if delay >= STOPPED { u64::from(points) } else { 0 };
        }
        Some(Due { missed })
    }
}

/// The probe is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Points of the grid at which it was not called, after a long delay.
    pub missed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_do_not_accumulate_and_missed_points_are_skipped() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut schedule = Schedule::new(Hertz::new(100.0).unwrap(), start);
        assert_eq!(schedule.due(at(0)), Some(Due { missed: 0 }));
        assert_eq!(schedule.due(at(9)), None);
        assert_eq!(schedule.due(at(13)), Some(Due { missed: 0 }));
        assert_eq!(schedule.next(), at(20));
        assert_eq!(schedule.due(at(57)), Some(Due { missed: 0 }));
        assert_eq!(schedule.next(), at(60));
    }

    #[test]
    fn without_a_rate_every_moment_is_due() {
        let start = Instant::now();
        let mut schedule = Schedule::always(start);
        for after in [0, 0, 1, 60_000] {
            let now = start + Duration::from_millis(after);
            assert_eq!(schedule.due(now), Some(Due { missed: 0 }));
            assert!(schedule.next() <= now);
        }
    }

    #[test]
    fn points_missed_while_the_process_was_stopped_are_counted() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut schedule = Schedule::new(Hertz::new(100.0).unwrap(), start);
        assert_eq!(schedule.due(at(0)), Some(Due { missed: 0 }));
        // Due at 10 ms, called at 60,010 ms: 20 to 60,010 ms are 6,000 points.
        assert_eq!(schedule.due(at(60_010)), Some(Due { missed: 6_000 }));
        assert_eq!(schedule.next(), at(60_020));
        let mut slow = Schedule::new(Hertz::new(0.1).unwrap(), start);
        assert_eq!(slow.due(at(8_000)), Some(Due { missed: 0 }), "late, and no other point was due");
    }
}
