//! Alarms that chatter: they are raised and cleared again and again, because nothing keeps noise around the limit away.

use std::collections::VecDeque;

/// Raises within [`CHATTER_WINDOW_NANOS`] that make an alarm chatter (ISA-18.2: three or more in a minute).
const CHATTER_RAISES: usize = 3;
/// See [`CHATTER_RAISES`], in nanoseconds.
const CHATTER_WINDOW_NANOS: u64 = 60_000_000_000;

/// The last raises of an alarm, as far as they tell whether it chatters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chattering {
    /// Times of the samples, oldest first, at most [`CHATTER_RAISES`].
    times: VecDeque<u64>,
    /// When the last raise was written with which it chattered.
    last: Option<u64>,
}

impl Chattering {
    /// Notes a raise: when it was written, and the time of its sample.
    pub fn note_raise(&mut self, written: u64, time: u64) {
        if self.times.len() == CHATTER_RAISES {
            self.times.pop_front();
        }
        self.times.push_back(time);
        let is_full = self.times.len() == CHATTER_RAISES;
        if is_full && self.times.iter().all(|earlier| time.abs_diff(*earlier) <= CHATTER_WINDOW_NANOS) {
            self.last = Some(written);
        }
    }

    /// When the last raise was written with which it chattered, nanoseconds on the DAC's clock.
    pub fn last(&self) -> Option<u64> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_raises_within_a_minute_are_chatter() {
        const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;
        for (seconds, wanted) in [
            (&[][..], None),
            (&[1, 2], None),
            (&[1, 30, 61], Some(61)),
            (&[1, 30, 62], None),
            (&[1, 62, 63, 64], Some(64)),
            (&[1, 2, 3, 500], Some(3)),
        ] {
            let mut chatter = Chattering::default();
            seconds.iter().for_each(|second| chatter.note_raise(*second, second * NANOSECONDS_PER_SECOND));
            assert_eq!(chatter.last(), wanted, "{seconds:?}");
        }
    }
}
