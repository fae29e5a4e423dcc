//! The upstream's clock, measured by `ping` and `pong`.

use serde_json::{Value, json};
use std::collections::VecDeque;

/// Upper bound of the remembered measurements: the one with the shortest round trip counts.
const MAX_MEASUREMENTS: usize = 16;

/// Measurements of the clock of an upstream.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Number of the last ping.
    last: u32,
    /// The ping that is under way, and when it was sent.
    sent: Option<(u32, u64)>,
    /// Round trip and offset, nanoseconds.
    measured: VecDeque<(u64, i64)>,
}

impl Clock {
    /// Returns a ping that is sent at this time of the clock here, nanoseconds since 1970.
    pub fn ping(&mut self, now: u64) -> Value {
        self.last = self.last.wrapping_add(1);
        self.sent = Some((self.last, now));
        // A number, and not a time: JSON numbers of clients are rounded.
        json!({"op": "ping", "client_time": self.last})
    }

    /// Takes the answer to the last ping. A clock that was set back meanwhile gives no measurement.
    pub fn pong(&mut self, number: f64, upstream: u64, now: u64) {
        let is_last = |&mut (last, _): &mut (u32, u64)| f64::from(last) == number;
        let Some((_, sent)) = self.sent.take_if(is_last) else { return };
        let Some(round_trip) = now.checked_sub(sent) else { return };
        let middle = i128::from(sent) + i128::from(round_trip / 2);
        let Ok(offset) = i64::try_from(middle - i128::from(upstream)) else { return };
        if self.measured.len() == MAX_MEASUREMENTS {
            self.measured.pop_front();
        }
        self.measured.push_back((round_trip, offset));
    }

    /// Returns this clock minus the upstream's, and the round trip of the measurement, nanoseconds; none before the first.
    pub fn offset(&self) -> Option<(i64, u64)> {
        self.measured.iter().min().map(|&(round_trip, offset)| (offset, round_trip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(clock: &mut Clock, sent: u64, upstream: u64, now: u64) {
        let number = clock.ping(sent)["client_time"].as_f64().unwrap();
        clock.pong(number, upstream, now);
    }

    #[test]
    fn the_shortest_round_trip_of_the_last_ones_counts() {
        let mut clock = Clock::default();
        assert_eq!(clock.offset(), None);
        exchange(&mut clock, 1_000, 5_000, 2_000);
        assert_eq!(clock.offset(), Some((-3_500, 1_000)));
        exchange(&mut clock, 10_000, 13_950, 10_100);
        exchange(&mut clock, 20_000, 0, 30_000);
        assert_eq!(clock.offset(), Some((-3_900, 100)));
        (0..16).for_each(|_| exchange(&mut clock, 40_000, 39_000, 42_000));
        assert_eq!(clock.offset(), Some((2_000, 2_000)));
    }

    #[test]
    fn a_clock_that_jumped_and_a_foreign_answer_measure_nothing() {
        let mut clock = Clock::default();
        exchange(&mut clock, 2_000, 1_000, 1_000);
        exchange(&mut clock, u64::MAX, 0, u64::MAX);
        clock.ping(5);
        clock.pong(77.0, 5, 6);
        assert_eq!(clock.offset(), None);
    }
}
