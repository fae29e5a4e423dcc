//! An alert as the API of Alertmanager takes it (version 2, `POST /api/v2/alerts`).

use crate::{
    notification::Notification,
    notification::{Event, prose},
    text,
};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

/// Time that an alert stands without a repetition, as Prometheus does it: four intervals.
pub const STANDS: Duration = Duration::from_secs(240);
/// Time that the alert of a test stands.
const TEST_STANDS: Duration = Duration::from_secs(60);
/// Longest text of an annotation.
const LONGEST_ANNOTATION: usize = 4 << 10;

/// The identity of an alert.
pub type Labels = BTreeMap<&'static str, String>;

/// One alert. Its labels are its identity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    pub labels: Labels,
    annotations: BTreeMap<&'static str, String>,
    starts_at: String,
    ends_at: String,
    #[serde(rename = "generatorURL", skip_serializing_if = "Option::is_none")]
    generator_url: Option<String>,
}

impl Alert {
    /// The alert of a notification. `now` is the DAC's clock, nanoseconds.
    pub fn new(notification: &Notification, page: &str, now: u64) -> Self {
        let alarm = &notification.alarm;
        let ends = match notification.event {
            Event::Raised => now.saturating_add(STANDS.as_nanos() as u64),
            Event::Cleared => notification.written.min(now),
            Event::Test => now.saturating_add(TEST_STANDS.as_nanos() as u64),
        };
        // The clock of the node may be ahead: Alertmanager refuses an alert that ends before it starts.
        let starts = alarm.raised.unwrap_or(notification.written).min(notification.written).min(ends);
        Self {
            labels: labels(notification),
            annotations: annotations(notification, page),
            starts_at: prose::instant(starts),
            ends_at: prose::instant(ends),
            generator_url: prose::link(alarm, page),
        }
    }
}

/// Nothing in them changes while the alarm stands.
fn labels(notification: &Notification) -> Labels {
    let alarm = &notification.alarm;
    let all = [
        ("alertname", alarm.key.rule.clone()),
        ("severity", alarm.severity.name().into()),
        ("node", alarm.key.node.clone()),
        ("instance", alarm.key.instance.clone()),
        ("dac", notification.dac.clone()),
        ("source", "oasis".into()),
    ];
    // Alertmanager treats an empty label as absent.
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn annotations(notification: &Notification, page: &str) -> BTreeMap<&'static str, String> {
    let alarm = &notification.alarm;
    let with_unit = |number: f64| match &alarm.unit {
        Some(unit) => format!("{number} {unit}"),
        None => number.to_string(),
    };
    let all = [
        ("summary", Some(alarm.message.clone().unwrap_or_else(|| prose::summary(notification)))),
        ("value", alarm.value.map(with_unit)),
        ("limit", alarm.limit.map(with_unit)),
        ("quality", Some(prose::quality(alarm).into())),
        ("cause", alarm.cause.clone()),
        ("age", prose::lateness(notification)),
        ("link", prose::link(alarm, page)),
    ];
    let present = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
    present.map(|(name, value)| (name, text::line(&value, LONGEST_ANNOTATION))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::samples::{NOON, cleared, hostile, hot, with_text};
    use serde_json::{Value, json};

    fn json_of(notification: &Notification, now: u64) -> Value {
        serde_json::to_value(Alert::new(notification, "https://x", now)).unwrap()
    }

    #[test]
    fn an_alarm_that_stands_ends_in_four_minutes_unless_it_is_repeated() {
        let wanted = json!({
            "labels": {"alertname": "Hot", "severity": "high", "node": "plant", "instance": "pump", "dac": "hall-1", "source": "oasis"},
            "annotations": {"summary": "Pump is hot: 91.5 Cel", "value": "91.5 Cel", "limit": "80 Cel", "quality": "good",
                "link": "https://x/#watch=plant/pump"},
            "startsAt": "2026-05-04T11:59:59.000Z", "endsAt": "2026-05-04T12:04:00.000Z",
            "generatorURL": "https://x/#watch=plant/pump",
        });
        assert_eq!(json_of(&hot(), NOON), wanted);
    }

    #[test]
    fn a_clear_ends_it_with_the_same_labels_even_if_the_clock_of_the_node_is_ahead() {
        let mut one = cleared();
        let ended = json_of(&one, NOON + 61_000_000_000);
        assert_eq!(ended["labels"], json_of(&hot(), NOON)["labels"]);
        assert_eq!(ended["endsAt"], "2026-05-04T12:01:00.000Z");
        one.alarm.raised = Some(u64::MAX);
        let ended = json_of(&one, NOON + 61_000_000_000);
        assert_eq!(ended["startsAt"], ended["endsAt"]);
    }

    #[test]
    fn hostile_text_stays_text() {
        for text in hostile() {
            let json = json_of(&with_text(&text), NOON);
            assert_eq!(json["labels"].get("node").and_then(Value::as_str).unwrap_or_default(), text);
            assert!(json["annotations"]["summary"].as_str().unwrap().len() <= LONGEST_ANNOTATION);
        }
    }
}
