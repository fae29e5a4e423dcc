//! The node's clock, and the DAC's offset from it.

use std::{
    collections::VecDeque,
    time::{SystemTime, UNIX_EPOCH},
};

/// Number of exchanges that the estimate uses: the best of a quarter of a minute.
const EXCHANGES: usize = 16;
/// Largest drift between two clocks in a quarter of a minute, in nanoseconds: 100 ppm.
const DRIFT: u64 = 1_500_000;

/// Returns nanoseconds since 1970-01-01 UTC. A vDSO call on Linux, not a system call.
#[inline]
pub fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Estimate of the DAC's clock relative to the node's, from ping and pong.
///
/// The error of an exchange is at most half its round trip, so the shortest one is the most accurate (RFC 5905
/// section 10 filters its clocks alike).
#[derive(Debug, Default)]
pub struct ClockOffset {
    exchanges: VecDeque<(u64, i64)>,
}

impl ClockOffset {
    /// Records an exchange: the ping left at `sent`, the DAC's clock read `dac`, and the answer arrived at
    /// `received`.
    pub fn exchange(&mut self, sent: u64, dac: u64, received: u64) {
        let Some(round_trip) = received.checked_sub(sent) else { return }; // the node's clock was set back meanwhile
        let middle = sent + round_trip / 2;
        let offset = dac.wrapping_sub(middle) as i64;
        // Both cannot be right: one of the clocks was set meanwhile.
        self.exchanges
            .retain(|(known, of)| of.abs_diff(offset) <= (known / 2 + round_trip / 2).saturating_add(DRIFT));
        if self.exchanges.len() == EXCHANGES {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((round_trip, offset));
    }

    /// Returns DAC clock minus node clock, and the round trip of that measurement, in nanoseconds.
    pub fn estimate(&self) -> Option<(i64, u64)> {
        self.exchanges.iter().min().map(|&(round_trip, offset)| (offset, round_trip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_exchange_wins() {
        let mut clock = ClockOffset::default();
        assert_eq!(clock.estimate(), None);
        clock.exchange(1_000, 5_900, 2_000);
        clock.exchange(10_000, 14_050, 10_100);
        clock.exchange(20_000, 29_000, 30_000);
        assert_eq!(clock.estimate(), Some((4_000, 100)));
    }

    #[test]
    fn exchanges_before_a_step_of_a_clock_do_not_count() {
        let mut clock = ClockOffset::default();
        clock.exchange(1_000_000, 9_000_050, 1_000_100);
        assert_eq!(clock.estimate(), Some((8_000_000, 100)));
        clock.exchange(2_000_000, 10_000_400, 2_000_800);
        assert_eq!(clock.estimate(), Some((8_000_000, 100)), "no step, and less accurate");
        clock.exchange(3_000_000, 21_000_400, 3_000_800);
        assert_eq!(clock.estimate(), Some((18_000_000, 800)));
    }

    #[test]
    fn a_clock_set_back_between_ping_and_pong_is_no_measurement() {
        let mut clock = ClockOffset::default();
        clock.exchange(2_000, 5_000, 1_000);
        assert_eq!(clock.estimate(), None);
    }
}
