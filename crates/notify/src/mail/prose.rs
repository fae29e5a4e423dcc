//! Notifications in the words of a mail.

use crate::{
    notification::{
        Event, Notification,
        prose::{instant, lateness, link, measured, summary},
    },
    text,
};
use std::fmt::Write;

/// Longest text of a rule.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// Number of notifications of each kind.
pub fn count(notifications: &[Notification]) -> String {
    let of = |event| notifications.iter().filter(|one| one.event == event).count();
    format!("{} alarms raised, {} cleared", of(Event::Raised), of(Event::Cleared))
}

/// A line for each notification.
pub fn list(notifications: &[Notification]) -> String {
    let begin = "More happened than mails may be sent in a minute. This one has all that waited, the most severe first:\n\n";
    let lines = notifications.iter().map(|one| format!("- {}\n", summary(one)));
    begin.to_owned() + &lines.collect::<String>()
}

/// Some lines: all that a reader needs to act.
pub fn paragraph(notification: &Notification, page: &str) -> String {
    let alarm = &notification.alarm;
    let message = alarm.message.as_deref().unwrap_or_default();
    let mut lines = String::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            // Writing to a string does not fail.
            let _ = writeln!(lines, "{name:<12}{}", text::line(&value, MAX_MESSAGE_BYTES));
        }
    };
    fact("Message", Some(message.into()));
    fact("Rule", Some(alarm.key.rule.clone()));
    fact("Node", Some(alarm.key.node.clone()));
    fact("Instance", Some(alarm.key.instance.clone()));
    fact("Severity", Some(alarm.severity.name().into()));
    fact("State", Some(alarm.state.name().into()));
    fact("Value", measured(alarm));
    fact("Quality", (!alarm.is_known).then(|| "unknown: samples are missing".into()));
    fact("Cause", alarm.cause.clone());
    fact("Raised", alarm.raised.map(instant));
    fact("Cleared", alarm.cleared.filter(|_| notification.event == Event::Cleared).map(instant));
    fact("Reported", Some(format!("{} by {}", instant(notification.written), notification.dac)));
    fact("Late", lateness(notification));
    fact("Page", link(alarm, page));
    lines
}
