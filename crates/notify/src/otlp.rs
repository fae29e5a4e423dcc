//! A collector of OpenTelemetry: each notification is a log record (OTLP 1.x over HTTP, in JSON).

use crate::{
    destination::{AtOnce, Destination, Scope, SendError},
    notification::{Event, Notification, prose},
    setting::{ConfigError, Limits, Table},
    text,
};
use oasis_http_client::{Client, Reach, Uri, is_encrypted, is_loopback};
use oasis_otlp_export::json::{attribute, real, rejected};
use oasis_rules::program::Severity;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Records of one request.
const MAX_RECORDS: usize = 64;
/// Longest text of a record, in bytes.
const MAX_BODY_BYTES: usize = 16 << 10;

/// A table `[notify.NAME]` with `kind = "otlp"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpConfig {
    /// Address of the collector, without `/v1/logs`.
    pub url: String,
    /// File with a token for the header `Authorization`; empty: none.
    pub token_file: PathBuf,
    /// File with the CA of the collector; empty: those that the system trusts.
    pub ca_file: PathBuf,
    /// Address of the page, for links.
    pub page: String,
    /// Requests a minute.
    pub per_minute: u32,
    /// Time in which a notification is tried, in seconds.
    pub give_up_after_seconds: u64,
}

impl Default for OtlpConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            token_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            page: String::new(),
            per_minute: crate::setting::PER_MINUTE,
            give_up_after_seconds: crate::setting::GIVE_UP_AFTER,
        }
    }
}

impl OtlpConfig {
    pub(crate) fn limits(&self, table: Table<'_>) -> Result<Limits, ConfigError> {
        table.limits(self.per_minute, self.give_up_after_seconds)
    }

    pub(crate) fn open(&self, table: Table<'_>) -> Result<Otlp, ConfigError> {
        if self.url.is_empty() {
            return Err(
                table.missing("url", "write the address of the collector, such as http://127.0.0.1:4318")
            );
        }
        let uri = crate::url::parse(table, "url", &self.url)?;
        let has_tls = is_encrypted(&uri);
        let token = table.secret("token_file", &self.token_file)?;
        if token.is_some() && !has_tls && !is_loopback(&uri) {
            return Err(table.value("url", &self.url, "a token needs https://, except on this host"));
        }
        Ok(Otlp {
            http: table.client(&self.ca_file, has_tls, Reach::Anywhere)?,
            logs: format!("{}/v1/logs", self.url.trim_end_matches('/')),
            host: uri,
            authorization: token.map(|token| format!("Bearer {}", token.reveal())),
            page: crate::url::page(table, &self.page)?,
        })
    }
}

/// A collector.
pub struct Otlp {
    http: Client,
    logs: String,
    host: Uri,
    authorization: Option<String>,
    page: String,
}

impl Destination for Otlp {
    fn send(&self, notifications: &[Notification]) -> Result<(), SendError> {
        let body = serde_json::to_vec(&request(notifications, &self.page))
            .map_err(|error| SendError::new(Scope::Final, error.to_string()))?;
        let headers: Vec<_> =
            self.authorization.iter().map(|value| ("authorization", value.as_str())).collect();
        let host = self.host.authority().map_or("", |authority| authority.as_str());
        let sent = self.http.post(&self.logs, &headers, &body).map_err(SendError::from);
        sent.and_then(|answer| accepted(&answer)).map_err(|error| error.from_server(host))
    }

    fn most_at_once(&self) -> AtOnce {
        AtOnce::Always(MAX_RECORDS)
    }
}

/// A partial success: the collector has dropped some records, and would drop them again.
fn accepted(answer: &str) -> Result<(), SendError> {
    let (count, why) = rejected(answer, "rejectedLogRecords");
    if count == 0 {
        return Ok(());
    }
    Err(SendError::new(Scope::Final, format!("the collector rejected {count} records: {why}")))
}

fn request(notifications: &[Notification], page: &str) -> Value {
    let dac = notifications.first().map_or("", |first| &first.dac);
    json!({"resourceLogs": [{
        "resource": {"attributes": [
            attribute("service.name", "oasis"),
            attribute("service.instance.id", dac),
        ]},
        "scopeLogs": [{
            "scope": {"name": "oasis.alarms", "version": env!("CARGO_PKG_VERSION")},
            "logRecords": notifications.iter().map(|one| record(one, page)).collect::<Vec<_>>(),
        }],
    }]})
}

fn record(notification: &Notification, page: &str) -> Value {
    let Notification { alarm, event, key, written, coalesced, .. } = notification;
    let (number, word) = severity(*event, alarm.severity);
    let of_node = match event {
        Event::Raised => alarm.raised,
        Event::Cleared => alarm.cleared,
        Event::Test => None,
    };
    let link = prose::link(alarm, page);
    let texts = [
        ("oasis.rule", Some(&*alarm.key.rule)),
        ("oasis.node", Some(&*alarm.key.node)),
        ("oasis.instance", Some(&*alarm.key.instance)),
        ("oasis.alarm.state", Some(alarm.state.name())),
        ("oasis.alarm.severity", Some(alarm.severity.name())),
        ("oasis.alarm.quality", Some(prose::quality(alarm))),
        ("oasis.alarm.unit", alarm.unit.as_deref()),
        ("oasis.alarm.cause", alarm.cause.as_deref()),
        ("oasis.key", Some(key)),
        ("url.full", link.as_deref()),
    ];
    let mut attributes: Vec<Value> =
        texts.iter().filter_map(|(name, value)| Some(attribute(name, (*value)?))).collect();
    for (name, value) in [("oasis.alarm.value", alarm.value), ("oasis.alarm.limit", alarm.limit)] {
        attributes.extend(value.map(|value| json!({"key": name, "value": {"doubleValue": real(value)}})));
    }
    for (name, value) in [("oasis.sequence", alarm.sequence), ("oasis.coalesced", Some(*coalesced))] {
        attributes.extend(value.map(|value| json!({"key": name, "value": {"intValue": value.to_string()}})));
    }
    json!({
        "timeUnixNano": of_node.unwrap_or(*written).to_string(),
        "observedTimeUnixNano": written.to_string(),
        "severityNumber": number,
        "severityText": word,
        "eventName": format!("oasis.alarm.{}", event.name()),
        "body": {"stringValue": text::cut(alarm.message.as_deref().unwrap_or(&prose::summary(notification)), MAX_BODY_BYTES)},
        "attributes": attributes,
    })
}

/// Severity numbers of OpenTelemetry's data model for logs.
fn severity(event: Event, severity: Severity) -> (u8, &'static str) {
    match (event, severity) {
        (Event::Cleared | Event::Test, _) => (9, "INFO"),
        (Event::Raised, Severity::Low) => (9, "INFO"),
        (Event::Raised, Severity::Medium) => (13, "WARN"),
        (Event::Raised, Severity::High) => (17, "ERROR"),
        (Event::Raised, Severity::Critical) => (21, "FATAL"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::samples::{cleared, hot};

    #[test]
    fn a_notification_is_a_log_record_with_its_alarm_as_attributes() {
        let request = request(&[hot(), cleared()], "https://dac:7070");
        let records = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
        assert_eq!(records[0]["timeUnixNano"], "1777895999000000000");
        assert_eq!(records[0]["observedTimeUnixNano"], "1777896000000000000");
        assert_eq!(
            (&records[0]["severityNumber"], &records[0]["severityText"]),
            (&json!(17), &json!("ERROR"))
        );
        assert_eq!(records[0]["body"]["stringValue"], "Pump is hot: 91.5 Cel");
        assert_eq!(records[1]["eventName"], "oasis.alarm.cleared");
        assert_eq!(records[1]["severityNumber"], 9);
        let attributes = records[0]["attributes"].as_array().unwrap();
        let value = |name: &str| attributes.iter().find(|of| of["key"] == name).map(|of| of["value"].clone());
        assert_eq!(value("oasis.node"), Some(json!({"stringValue": "plant"})));
        assert_eq!(value("oasis.alarm.value"), Some(json!({"doubleValue": 91.5})));
        assert_eq!(value("url.full"), Some(json!({"stringValue": "https://dac:7070/#watch=plant/pump"})));
        assert_eq!(value("oasis.sequence"), Some(json!({"intValue": "7"})));
    }

    #[test]
    fn a_partial_success_is_final() {
        for answer in
            ["", "{}", r#"{"partialSuccess":{}}"#, r#"{"partialSuccess":{"rejectedLogRecords":"0"}}"#]
        {
            assert_eq!(accepted(answer), Ok(()), "{answer}");
        }
        for count in ["2", "\"2\""] {
            let answer =
                format!(r#"{{"partialSuccess":{{"rejectedLogRecords":{count},"errorMessage":"too old"}}}}"#);
            let error = accepted(&answer).unwrap_err();
            assert_eq!(
                (error.scope, &*error.why),
                (Scope::Final, "the collector rejected 2 records: too old")
            );
        }
    }
}
