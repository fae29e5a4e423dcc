//! Lets the collector of a node with silent probes sleep: polling wakes a processor hundreds of times a second.

use crate::bell::Bell;
use std::time::{Duration, Instant};

/// Delay between the last sample of any pushed probe and the sleep of the collector. Probes that are flushed more often never make a system call.
pub const SLEEP_DELAY: Duration = Duration::from_millis(40);
/// Time between setting the bell and the last poll before the sleep. A processor has written a store long before.
const SETTLE_TIME: Duration = Duration::from_millis(1);
/// Longest sleep: bounds the delay of a sample should its flush not have woken the collector.
const MAX_SLEEP: Duration = Duration::from_millis(250);

/// Decides when the collector polls the rings.
#[derive(Debug)]
pub struct IdleWatch {
    state: State,
    /// Whether it may sleep at all.
    may_sleep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Polls. The last sample came then.
    Awake(Instant),
    /// A flush rings the bell since then, and the collector still polls.
    Settling(Instant),
    Asleep,
}

impl IdleWatch {
    /// Begins awake.
    pub fn new(now: Instant, may_sleep: bool) -> Self {
        Self { state: State::Awake(now), may_sleep }
    }

    /// Returns when the rings are polled next, after a poll that has found samples or not. `interval` is that of a collector that is awake.
    pub fn next_poll(&mut self, now: Instant, has_samples: bool, interval: Duration, bell: &Bell) -> Instant {
        if !self.may_sleep {
            return now + interval;
        }
        let was_woken = self.is_armed() && !bell.is_asleep();
        if has_samples || was_woken {
            bell.set_asleep(false);
            self.state = State::Awake(now);
        }
        self.state = match self.state {
            State::Awake(last) if now.saturating_duration_since(last) >= SLEEP_DELAY => {
                bell.set_asleep(true);
                State::Settling(now)
            }
            State::Settling(since) if now.saturating_duration_since(since) >= SETTLE_TIME => State::Asleep,
            same => same,
        };
        match self.state {
            State::Asleep => now + MAX_SLEEP,
            State::Settling(_) => now + interval.max(SETTLE_TIME),
            State::Awake(_) => now + interval,
        }
    }

    fn is_armed(&self) -> bool {
        !matches!(self.state, State::Awake(_))
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(2);

    /// Polls as told until the time is over. Returns the number of polls.
    fn polls(idle: &mut IdleWatch, bell: &Bell, from: Instant, time: Duration) -> (u32, Instant) {
        let (mut now, mut count) = (from, 0);
        while now < from + time {
            now = idle.next_poll(now, false, INTERVAL, bell);
            count += 1;
        }
        (count, now)
    }

    #[test]
    fn silent_probes_let_it_sleep_and_a_flush_ends_that() {
        let (bell, start) = (Bell::default(), Instant::now());
        let mut idle = IdleWatch::new(start, true);
        let (busy, now) = polls(&mut idle, &bell, start, SLEEP_DELAY);
        assert_eq!((busy, bell.is_asleep()), (20, false));
        let (silent, now) = polls(&mut idle, &bell, now, Duration::from_secs(10));
        assert!(silent < 45 && bell.is_asleep(), "{silent} polls in ten seconds");
        bell.ring_if_asleep();
        assert_eq!(idle.next_poll(now, true, INTERVAL, &bell), now + INTERVAL);
        assert!(!bell.is_asleep());
    }

    #[test]
    fn a_wake_whose_sample_was_found_by_the_poll_before_keeps_it_awake() {
        let (bell, start) = (Bell::default(), Instant::now());
        let mut idle = IdleWatch::new(start, true);
        let (_, now) = polls(&mut idle, &bell, start, Duration::from_secs(1));
        bell.ring_if_asleep();
        assert_eq!(idle.next_poll(now, false, INTERVAL, &bell), now + INTERVAL);
        let (_, now) = polls(&mut idle, &bell, now, Duration::from_secs(1));
        assert!(bell.is_asleep() && idle.next_poll(now, false, INTERVAL, &bell) > now + INTERVAL);
    }

    #[test]
    fn orders_in_quick_succession_do_not_shorten_the_time_before_the_last_poll() {
        let (bell, start) = (Bell::default(), Instant::now());
        let mut idle = IdleWatch::new(start, true);
        let armed = start + SLEEP_DELAY;
        idle.next_poll(armed, false, INTERVAL, &bell);
        assert!(bell.is_asleep());
        let at_once = idle.next_poll(armed + SETTLE_TIME / 2, false, INTERVAL, &bell);
        assert_eq!(at_once, armed + SETTLE_TIME / 2 + INTERVAL);
    }

    #[test]
    fn a_collector_that_must_poll_never_sleeps() {
        let (bell, start) = (Bell::default(), Instant::now());
        let mut idle = IdleWatch::new(start, false);
        assert_eq!(polls(&mut idle, &bell, start, Duration::from_secs(1)).0, 500);
        assert!(!bell.is_asleep());
    }
}
