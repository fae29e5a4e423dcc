//! Notifications in words.

use crate::{notification::Event, notification::Notification, text};
use jiff::Timestamp;
use oasis_alarms::AlarmView;
use oasis_rules::displayed;
use std::time::Duration;

/// From this age on a notification says how old it is.
const MAX_UNMENTIONED_AGE: Duration = Duration::from_secs(10);
/// Longest summary, in bytes.
const LONGEST_SUMMARY: usize = 200;

/// One line: what happened to which alarm.
pub fn summary(notification: &Notification) -> String {
    let alarm = &notification.alarm;
    let what = match notification.event {
        Event::Raised => alarm.severity.name().to_uppercase(),
        Event::Cleared if notification.is_silenced() => "SILENCED".into(),
        Event::Cleared => "CLEARED".into(),
        Event::Test => "TEST".into(),
    };
    let key = &alarm.key;
    let place = format!("{} at {}/{}", key.rule, key.node, key.instance);
    let late = lateness(notification).map(|late| format!(", {late}")).unwrap_or_default();
    text::line(&format!("[{what}] {place}{late}{}", addition(alarm)), LONGEST_SUMMARY)
}

/// The age of a notification that comes late, and the number of states that it replaces; none for one that comes in time and replaces nothing.
pub fn lateness(notification: &Notification) -> Option<String> {
    let is_late = notification.age >= MAX_UNMENTIONED_AGE;
    let age = is_late.then(|| format!("{} ago", rough(notification.age)));
    let replaced = (notification.coalesced > 0).then(|| format!("after {} changes", notification.coalesced));
    let parts: Vec<_> = age.into_iter().chain(replaced).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A duration in the unit that suits it.
pub fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// The text of the rule, or the value.
fn addition(alarm: &AlarmView) -> String {
    match (&alarm.message, measured(alarm)) {
        (Some(message), _) => format!(": {message}"),
        (None, Some(value)) => format!(": {value}"),
        (None, None) => String::new(),
    }
}

/// The value and what it was compared with.
pub fn measured(alarm: &AlarmView) -> Option<String> {
    let number = |value| displayed(value, alarm.unit.as_deref());
    let value = number(alarm.value?);
    Some(match alarm.limit {
        Some(limit) => format!("{value} (limit {})", number(limit)),
        None => value,
    })
}

/// `good`, or `unknown` if samples are missing.
pub fn quality(alarm: &AlarmView) -> &'static str {
    if alarm.is_known { "good" } else { "unknown" }
}

/// RFC 3339, in UTC with milliseconds. Rounded down: Alertmanager keeps an alert active whose end is in the future.
pub fn instant(nanoseconds: u64) -> String {
    let whole = i128::from(nanoseconds / 1_000_000 * 1_000_000);
    let instant = Timestamp::from_nanosecond(whole).unwrap_or_default();
    format!("{instant:.3}")
}

/// The page with the instance of the alarm (`web/src/state/address.ts`); none without an address of the page.
pub fn link(alarm: &AlarmView, page: &str) -> Option<String> {
    let key = &alarm.key;
    let [node, instance] = [&key.node, &key.instance].map(|part| encoded(part));
    (!page.is_empty()).then(|| format!("{page}/#watch={node}/{instance}"))
}

/// RFC 3986 2.3: all but unreserved characters are encoded.
fn encoded(part: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    part.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_two_or_three_digits() {
        let rough = |seconds| rough(Duration::from_secs(seconds));
        assert_eq!([rough(10), rough(119), rough(2_640), rough(86_400)], ["10 s", "119 s", "44 min", "24 h"]);
    }

    #[test]
    fn an_instant_is_never_later_than_it_was() {
        assert_eq!(instant(1_777_896_000_000_999_999), "2026-05-04T12:00:00.000Z");
        assert_eq!(instant(1_777_896_000_123_000_000), "2026-05-04T12:00:00.123Z");
    }
}
