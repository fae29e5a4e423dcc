//! Messages that the place refuses for now, while it takes others.

use crate::{backoff, destination::SendError};
use oasis_alarms::{AlarmKey, Message};
use oasis_wire::quantity::Nanos;
use std::{collections::BTreeMap, time::Duration};

/// Messages put aside at most.
const MOST: usize = 16;

/// Messages that are put aside, by their numbers.
#[derive(Debug, Default)]
pub struct Aside(BTreeMap<i64, Entry>);

#[derive(Debug)]
struct Entry {
    alarm: AlarmKey,
    failures: u32,
    retry_at: Nanos,
}

impl Aside {
    /// How many are put aside.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts a message aside, once more or for the first time. Returns whether there was room.
    pub fn put(&mut self, message: &Message, error: &SendError, now: Nanos) -> bool {
        let failures = self.0.get(&message.id).map_or(0, |entry| entry.failures).saturating_add(1);
        if failures == 1 && self.0.len() >= MOST {
            return false;
        }
        let pause = backoff::pause(failures).max(error.retry_after.unwrap_or_default());
        let retry_at = Nanos(now.0.saturating_add(pause.as_nanos() as u64));
        self.0.insert(message.id, Entry { alarm: message.alarm.key.clone(), failures, retry_at });
        true
    }

    /// Forgets a message that is settled.
    pub fn forget(&mut self, id: i64) {
        self.0.remove(&id);
    }

    /// Returns the messages that may be sent now: neither those that are put aside, nor later ones about the same alarm.
    pub fn select(&self, mut due: Vec<Message>, now: Nanos) -> Vec<Message> {
        due.retain(|message| match self.0.get(&message.id) {
            Some(entry) => entry.retry_at <= now,
            None => !self.0.values().any(|entry| entry.alarm == message.alarm.key),
        });
        due
    }

    /// Time until the next one is tried again.
    pub fn next(&self, now: Nanos) -> Option<Duration> {
        let first = self.0.values().map(|entry| entry.retry_at).min()?;
        Some(Duration::from_nanos(first.0.saturating_sub(now.0)))
    }
}
