//! Notifications for people: an alarm was raised or cleared, or a destination is tested.

pub mod body;
pub mod prose;
#[cfg(test)]
pub mod samples;

use oasis_alarms::{AlarmKey, AlarmView, Message, MessageKind};
use oasis_rules::program::Severity;
use std::time::Duration;

/// A notification for one destination.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// Its number in the outbox, which grows; 0 for one that was never there.
    pub id: i64,
    /// The same for each attempt: receivers recognize repetitions by it.
    pub key: String,
    /// Content of the notification.
    pub event: Event,
    /// The DAC that sends it.
    pub dac: String,
    /// The alarm after the change.
    pub alarm: AlarmView,
    /// When the change was written, nanoseconds on the DAC's clock.
    pub written: u64,
    /// Age of the change when the notification is sent, on the DAC's clock.
    pub age: Duration,
    /// Earlier states of the alarm that it replaces, because the destination lags.
    pub coalesced: u64,
}

/// Content of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The alarm stands.
    Raised,
    /// The alarm does not stand any longer.
    Cleared,
    /// There is no alarm; a user tests the destination.
    Test,
}

impl Event {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Cleared => "cleared",
            Self::Test => "test",
        }
    }
}

impl Notification {
    /// A message of the outbox that is sent now, nanoseconds on the DAC's clock.
    pub fn of(message: Message, dac: &str, now: u64) -> Self {
        let event = match message.kind {
            MessageKind::Raised => Event::Raised,
            MessageKind::Cleared => Event::Cleared,
        };
        let Message { id, key, alarm, written, coalesced, .. } = message;
        let age = Duration::from_nanos(now.saturating_sub(written));
        Self { id, key: key.to_string(), event, dac: dac.into(), alarm, written, age, coalesced }
    }

    /// An alarm that stands, without a message.
    pub fn standing(alarm: AlarmView, dac: &str, now: u64) -> Self {
        Self { event: Event::Raised, alarm, ..Self::test(String::new(), dac, now) }
    }

    /// A test of a destination.
    pub fn test(key: String, dac: &str, now: u64) -> Self {
        let text = "A test of this destination: somebody pressed the button. No alarm stands.";
        let key_of = AlarmKey { rule: "oasis_test".into(), node: dac.into(), instance: "notify".into() };
        let (message, raised) = (Some(text.into()), Some(now));
        let alarm = AlarmView { severity: Severity::Low, message, raised, ..AlarmView::new(key_of) };
        let (dac, age) = (dac.into(), Duration::ZERO);
        Self { id: 0, key, event: Event::Test, dac, alarm, written: now, age, coalesced: 0 }
    }

    /// Returns whether it ended because an operator has silenced the alarm.
    pub fn is_silenced(&self) -> bool {
        self.event == Event::Cleared && self.alarm.is_silenced()
    }
}
