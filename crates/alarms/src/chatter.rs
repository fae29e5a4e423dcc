//! Alarms that chatter: they are raised and cleared again and again, because nothing keeps noise around the limit away.

use crate::{AlarmKey, Alarms};
use std::collections::{BTreeMap, VecDeque};

/// Raises within [`CHATTER_WINDOW`] that make an alarm chatter (ISA-18.2: three or more in a minute).
pub const CHATTER_RAISES: usize = 3;
/// See [`CHATTER_RAISES`], in nanoseconds.
const CHATTER_WINDOW: u64 = 60_000_000_000;
/// Time after which an alarm that has chattered is no longer listed, in nanoseconds.
const CHATTER_MEMORY: u64 = 600_000_000_000;

/// A rule of which alarms chatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chatter {
    /// The rule.
    pub rule: String,
    /// Its alarms that chatter.
    pub alarms: usize,
    /// The one of them that was raised most often in the last hour.
    pub example: AlarmKey,
    /// How often that was, at most [`MOST_RAISES`](crate::MOST_RAISES).
    pub raised_last_hour: u32,
}

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
        if is_full && self.times.iter().all(|earlier| time.abs_diff(*earlier) <= CHATTER_WINDOW) {
            self.last = Some(written);
        }
    }

    /// When the last raise was written with which it chattered, nanoseconds on the DAC's clock.
    pub fn last(&self) -> Option<u64> {
        self.last
    }
}

impl Alarms {
    /// Rules whose alarms chattered in the ten minutes before `now`, nanoseconds on the DAC's clock, in the order of the rules' names.
    pub fn chatter(&self, now: u64) -> Vec<Chatter> {
        let memory = self.memory();
        let recent = memory.chattering.iter().filter(|(_, at)| now.saturating_sub(**at) <= CHATTER_MEMORY);
        let mut found: BTreeMap<&str, Chatter> = BTreeMap::new();
        for (key, _) in recent {
            let Some(alarm) = memory.alarms.get(key) else { continue };
            let raised_last_hour = alarm.shown(now).raised_last_hour;
            let chatter = found.entry(&key.rule).or_insert_with(|| Chatter {
                rule: key.rule.clone(),
                alarms: 0,
                example: AlarmKey::clone(key),
                raised_last_hour,
            });
            chatter.alarms += 1;
            if raised_last_hour > chatter.raised_last_hour {
                (chatter.example, chatter.raised_last_hour) = (AlarmKey::clone(key), raised_last_hour);
            }
        }
        found.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_raises_within_a_minute_are_chatter() {
        const SECOND: u64 = 1_000_000_000;
        for (seconds, wanted) in [
            (&[][..], None),
            (&[1, 2], None),
            (&[1, 30, 61], Some(61)),
            (&[1, 30, 62], None),
            (&[1, 62, 63, 64], Some(64)),
            (&[1, 2, 3, 500], Some(3)),
        ] {
            let mut chatter = Chattering::default();
            seconds.iter().for_each(|second| chatter.note_raise(*second, second * SECOND));
            assert_eq!(chatter.last(), wanted, "{seconds:?}");
        }
    }
}
