//! The results of rules.

use crate::program::{Body, Program};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A result of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its rule, by number.
    pub rule: usize,
    /// Kind of the event.
    pub kind: EventKind,
    /// The state of the alarm after it.
    pub standing: Option<Standing>,
    /// Whether the condition is known.
    pub is_known: bool,
    /// The value that was compared.
    pub value: Option<f64>,
    /// The limit that the value was compared with.
    pub limit: Option<f64>,
    /// The sequence number of the sample; none for a silence.
    pub sequence: Option<u64>,
    /// The time of the sample, nanoseconds on the node's clock.
    pub time: u64,
    /// When the DAC received the batch of the sample, or the tick at which silence was noticed; nanoseconds on its clock.
    pub dac_time: u64,
    /// When the condition became true, on the same clock.
    pub since: Option<u64>,
    /// Samples that are missing, if that is why something is unknown.
    pub missing: Option<u64>,
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// An alarm was raised.
    Raised,
    /// The condition of an alarm is over.
    Cleared,
    /// An event happened, and what must follow it did.
    Matched,
    /// The condition that must follow an event, or must hold, did not.
    Violated,
    /// The condition that must hold did.
    Satisfied,
    /// The condition of an alarm is unknown from here on, or it will not be known whether an event or check is as it must be.
    Unknown,
    /// The condition of an alarm is known again.
    Known,
}

impl EventKind {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Cleared => "cleared",
            Self::Matched => "matched",
            Self::Violated => "violated",
            Self::Satisfied => "satisfied",
            Self::Unknown => "unknown",
            Self::Known => "known",
        }
    }
}

/// The state of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// Not raised.
    Normal,
    /// Raised.
    Active,
    /// Its condition is over, and it is not acknowledged.
    Latched,
}

impl Standing {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Active => "active",
            Self::Latched => "latched",
        }
    }
}

impl Event {
    /// At a sample, with nothing else known of it.
    pub(super) fn new(kind: EventKind, time: u64, sequence: u64) -> Self {
        Self {
            rule: 0,
            kind,
            standing: None,
            is_known: kind != EventKind::Unknown,
            value: None,
            limit: None,
            sequence: Some(sequence),
            time,
            dac_time: 0,
            since: None,
            missing: None,
        }
    }

    /// One JSON object, with the time written as `format` says. Unknown members are left out.
    pub fn to_json(&self, program: &Program, source: &str, format: impl Fn(u64) -> String) -> Value {
        let rule = program.rules.get(self.rule);
        let severity = rule.and_then(|rule| match &rule.body {
            Body::Alarm(alarm) => Some(alarm.severity.name()),
            Body::Event(_) | Body::Derive(_) | Body::Check(_) => None,
        });
        let unit = rule.filter(|_| self.value.is_some()).and_then(|rule| rule.unit(self.kind));
        let members = [
            ("time", json!(format(self.time))),
            ("rule", json!(rule.map(|rule| &rule.name))),
            ("source", json!(source)),
            ("event", json!(self.kind.name())),
            ("state", json!(self.standing.map(Standing::name))),
            ("severity", json!(severity)),
            ("quality", json!(if self.is_known { "good" } else { "unknown" })),
            ("value", json!(self.value)),
            ("limit", json!(self.limit)),
            ("unit", json!(unit)),
            ("sequence", json!(self.sequence)),
            ("since", json!(self.since.map(format))),
            ("missing", json!(self.missing)),
        ];
        let present = members.into_iter().filter(|(_, value)| !value.is_null());
        Value::Object(present.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
    }
}
