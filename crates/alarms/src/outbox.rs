//! Messages about alarms that wait for their delivery.
//!
//! A message is written in the transaction that changes the alarm, so none is lost and none speaks of a change that did not happen. A newer state of an
//! alarm replaces an older one that waits, so a destination that lags receives the newest states, the most severe first.

use crate::AlarmView;
use oasis_wire::quantity::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Content of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// The alarm stands: it was raised, or no longer silenced.
    Raised,
    /// The alarm does not stand any longer: it is normal, silenced, or its rule is gone.
    Cleared,
}

impl MessageKind {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Cleared => "cleared",
        }
    }
}

/// A message for one destination.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its number, for [`Alarms::settle`](crate::Alarms::settle).
    pub id: i64,
    /// The same for every attempt, and for every destination of this change: receivers recognize repetitions by it.
    pub key: Uuid,
    /// The destination.
    pub destination: String,
    /// Content of the message.
    pub kind: MessageKind,
    /// The alarm after the change.
    pub alarm: AlarmView,
    /// When it was written, nanoseconds on the DAC's clock.
    pub written: u64,
    /// Earlier states of the alarm that it replaces: the destination receives none of them.
    pub coalesced: u64,
    /// Earlier attempts to deliver it.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has it.
    Delivered,
    /// To be tried again.
    Retry {
        /// When, on the DAC's clock; an hour ahead at most.
        at: Nanos,
        /// Why it failed.
        why: String,
    },
    /// Will not be tried again.
    GivenUp {
        /// Why.
        why: String,
    },
}

/// Counts of messages, by destination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxFigures {
    /// All destinations that are configured or have messages.
    pub destinations: BTreeMap<String, DestinationFigures>,
}

/// Counts of the messages for one destination, since the database was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DestinationFigures {
    /// Messages that wait.
    pub waiting: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that were delivered.
    pub delivered: u64,
    /// Since when the oldest of them waits, nanoseconds on the DAC's clock; none if none waits.
    pub oldest: Option<u64>,
    /// Messages that a newer state of the same alarm replaced before they were delivered.
    pub coalesced: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Messages that were given up.
    pub given_up: u64,
    /// Messages that were dropped, because too many waited.
    pub dropped: u64,
    /// Why the last failed attempt failed; none after a delivery.
    pub last_error: Option<String>,
}
