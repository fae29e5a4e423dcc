//! Alarms about which the place refuses messages for now, while it takes others.

use crate::{backoff, destination::SendError};
use oasis_alarms::{AlarmKey, Message};
use oasis_wire::quantity::Nanos;
use std::{collections::BTreeMap, time::Duration};

/// Alarms put aside at most.
const MAX_DEFERRED_ALARMS: usize = 16;

/// Alarms that are put aside.
#[derive(Debug, Default)]
pub struct Aside(BTreeMap<AlarmKey, Entry>);

#[derive(Debug)]
struct Entry {
    failures: u32,
    retry_at: Nanos,
}

impl Aside {
    /// Number of alarms that are put aside.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts the alarm of a message aside, once more or for the first time. Returns whether there was room.
    pub fn put(&mut self, message: &Message, error: &SendError, now: Nanos) -> bool {
        let key = &message.alarm.key;
        if self.0.len() >= MAX_DEFERRED_ALARMS {
            // An alarm whose message is gone, or that is refused again.
            self.0.retain(|known, entry| known == key || entry.retry_at > now);
        }
        let failures = self.0.get(key).map_or(0, |entry| entry.failures).saturating_add(1);
        if failures == 1 && self.0.len() >= MAX_DEFERRED_ALARMS {
            return false;
        }
        let pause = backoff::pause(failures).max(error.retry_after.unwrap_or_default());
        let retry_at = Nanos(now.0.saturating_add(pause.as_nanos() as u64));
        self.0.insert(key.clone(), Entry { failures, retry_at });
        true
    }

    /// Forgets an alarm of which a message is settled.
    pub fn forget(&mut self, key: &AlarmKey) {
        self.0.remove(key);
    }

    /// Returns the messages that may be sent now: none about alarms that are put aside.
    pub fn select(&self, mut due: Vec<Message>, now: Nanos) -> Vec<Message> {
        due.retain(|message| self.0.get(&message.alarm.key).is_none_or(|entry| entry.retry_at <= now));
        due
    }

    /// Time until the next one is tried again.
    pub fn next(&self, now: Nanos) -> Option<Duration> {
        let first = self.0.values().map(|entry| entry.retry_at).filter(|at| *at > now).min()?;
        Some(Duration::from_nanos(first.0.saturating_sub(now.0)))
    }
}
