//! The JSON text of a webhook (docs/reference/notifications.md).

use crate::{notification::Notification, notification::prose, text};
use serde::Serialize;

/// Version of the text. Later versions may add keys.
const VERSION: u32 = 1;
/// Longest text of a rule that is sent.
const LONGEST_MESSAGE: usize = 16 << 10;

/// One notification.
#[derive(Debug, Serialize)]
pub struct Body<'a> {
    version: u32,
    event: &'static str,
    id: i64,
    key: &'a str,
    dac: &'a str,
    rule: &'a str,
    node: &'a str,
    instance: &'a str,
    state: &'static str,
    severity: &'static str,
    quality: &'static str,
    acknowledged: bool,
    silenced: bool,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    time: String,
    time_ns: u64,
    age_seconds: f64,
    coalesced: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raised_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    raised_last_hour: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

impl<'a> Body<'a> {
    /// The text of a notification. `page` is the address of the page; empty: there is no link.
    pub fn new(notification: &'a Notification, page: &str) -> Self {
        let alarm = &notification.alarm;
        Self {
            version: VERSION,
            event: notification.event.name(),
            id: notification.id,
            key: &notification.key,
            dac: &notification.dac,
            rule: &alarm.key.rule,
            node: &alarm.key.node,
            instance: &alarm.key.instance,
            state: alarm.state.name(),
            severity: alarm.severity.name(),
            quality: prose::quality(alarm),
            acknowledged: alarm.acknowledged,
            silenced: notification.is_silenced(),
            summary: prose::summary(notification),
            message: alarm.message.as_deref().map(|message| text::cut(message, LONGEST_MESSAGE)),
            value: alarm.value,
            limit: alarm.limit,
            unit: alarm.unit.as_deref(),
            cause: alarm.cause.as_deref(),
            time: prose::instant(notification.written),
            time_ns: notification.written,
            age_seconds: notification.age.as_millis() as f64 / 1_000.0,
            coalesced: notification.coalesced,
            since_ns: alarm.since,
            raised_ns: alarm.raised,
            cleared_ns: alarm.cleared,
            sequence: alarm.sequence,
            raised_last_hour: alarm.raised_last_hour,
            link: prose::link(alarm, page),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::samples::{cleared, hostile, hot, with_text};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn json_of(notification: &Notification, page: &str) -> Value {
        serde_json::to_value(Body::new(notification, page)).unwrap()
    }

    #[test]
    fn a_notification_is_an_object() {
        let wanted = json!({
            "version": 1, "event": "raised", "id": 17, "key": "6f0c3a1e-52d8-4b6f-9e0b-7d2fa8c194e3", "dac": "hall-1",
            "rule": "Hot", "node": "plant", "instance": "pump", "state": "active", "severity": "high", "quality": "good",
            "acknowledged": false, "silenced": false, "summary": "[HIGH] Hot at plant/pump: Pump is hot: 91.5 Cel",
            "message": "Pump is hot: 91.5 Cel", "value": 91.5, "limit": 80.0, "unit": "Cel",
            "time": "2026-05-04T12:00:00.000Z", "time_ns": 1_777_896_000_000_000_000_u64, "age_seconds": 0.0, "coalesced": 0,
            "raised_ns": 1_777_895_999_000_000_000_u64, "sequence": 7, "raised_last_hour": 0,
            "link": "https://dac.example.org:7070/#watch=plant/pump",
        });
        assert_eq!(json_of(&hot(), "https://dac.example.org:7070"), wanted);
    }

    #[test]
    fn a_clear_names_its_time_and_whether_an_operator_silenced_the_alarm() {
        let mut one = cleared();
        let json = json_of(&one, "");
        assert_eq!((&json["event"], &json["state"]), (&json!("cleared"), &json!("normal")));
        assert_eq!((&json["silenced"], json.get("link")), (&json!(false), None));
        one.alarm.suppressed = true;
        assert_eq!(json_of(&one, "")["silenced"], json!(true));
    }

    #[test]
    fn a_late_notification_says_how_old_it_is_and_what_it_replaces() {
        let one = Notification { age: Duration::from_millis(95_250), coalesced: 41, ..hot() };
        let json = json_of(&one, "");
        assert_eq!((&json["age_seconds"], &json["coalesced"]), (&json!(95.25), &json!(41)));
        let summary = json["summary"].as_str().unwrap();
        assert_eq!(summary, "[HIGH] Hot at plant/pump, 95 s ago, after 41 changes: Pump is hot: 91.5 Cel");
    }

    #[test]
    fn hostile_text_stays_text() {
        for text in hostile() {
            let one = with_text(&text);
            let written = serde_json::to_string(&Body::new(&one, "https://x")).unwrap();
            assert!(!written.contains(['\r', '\n', '\0']), "{text:?}");
            let read: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read["node"], json!(text));
            assert!(read["summary"].as_str().unwrap().len() <= 200);
            assert!(read["message"].as_str().unwrap().len() <= 16_384);
            assert!(
                !read["link"].as_str().unwrap().contains(['\r', '\n', '"', ' ', '<']),
                "{}",
                read["link"]
            );
        }
    }

    #[test]
    fn a_number_that_json_lacks_is_null() {
        let mut one = hot();
        one.alarm.value = Some(f64::NAN);
        assert_eq!(json_of(&one, "")["value"], Value::Null);
    }
}
