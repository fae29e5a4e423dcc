//! The rules whose alarms chatter.

use crate::{AlarmKey, Alarms};
use std::collections::BTreeMap;

/// Time after which an alarm that has chattered is no longer listed, in nanoseconds.
const CHATTER_MEMORY_NANOS: u64 = 600_000_000_000;

/// A rule of which alarms chatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chatter {
    /// The rule.
    pub rule: String,
    /// Its alarms that chatter.
    pub alarms: usize,
    /// The one of them that was raised most often in the last hour.
    pub example: AlarmKey,
    /// Number of its raises in that hour, at most [`MAX_COUNTED_RAISES`](crate::MAX_COUNTED_RAISES).
    pub raised_last_hour: u32,
}

impl Alarms {
    /// Rules whose alarms chattered in the ten minutes before `now`, nanoseconds on the DAC's clock, in the order of the rules' names.
    pub fn chatter(&self, now: u64) -> Vec<Chatter> {
        let memory = self.memory();
        let recent =
            memory.chattering.iter().filter(|(_, at)| now.saturating_sub(**at) <= CHATTER_MEMORY_NANOS);
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
