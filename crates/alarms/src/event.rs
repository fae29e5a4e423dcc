//! Results of rules, as the engine reports them.

use oasis_rules::{EventKind, Standing, program::Severity};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// An alarm rule, as far as the alarms need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its name.
    pub name: String,
    /// Urgency of its alarms.
    pub severity: Severity,
    /// Whether its alarms stay until they are acknowledged.
    pub latch: bool,
    /// The text for people, with the placeholders `{rule}`, `{node}`, `{instance}`, `{value}`, `{limit}` and `{since}`.
    pub message: Option<String>,
    /// The destinations of its notifications; without a list all, with an empty one none.
    pub notify: Option<Vec<String>>,
}

/// A result of a rule for one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleEvent {
    /// Its identity: an event with a known key is ignored.
    pub key: EventKey,
    /// The rule.
    pub rule: String,
    /// The node of the instance.
    pub node: String,
    /// The instance.
    pub instance: String,
    /// Kind of the event.
    pub kind: EventKind,
    /// The state of the alarm after it; none for results of other rules, which the journal lists only.
    pub standing: Option<Standing>,
    /// Urgency of the alarm.
    pub severity: Option<Severity>,
    /// Whether the condition is known.
    pub is_known: bool,
    /// The value that was compared.
    pub value: Option<f64>,
    /// The limit that the value was compared with.
    pub limit: Option<f64>,
    /// The unit of both.
    pub unit: Option<String>,
    /// The run of the node that took the sample.
    pub run: Option<Uuid>,
    /// The sequence number of the sample; none for a silence.
    pub sequence: Option<u64>,
    /// The time of the sample, nanoseconds on the node's clock.
    pub time: u64,
    /// When the DAC received the sample, nanoseconds on its clock.
    pub dac_time: u64,
    /// Since when the condition has been true, on the node's clock.
    pub since: Option<u64>,
    /// Samples that are missing, if that is why something is unknown.
    pub missing: Option<u64>,
    /// Why, in a few words, such as the cause of a loss.
    pub cause: Option<String>,
    /// Whether the samples came too late to act on.
    pub late: bool,
}

impl RuleEvent {
    /// An event of which nothing else is known.
    pub fn new(key: EventKey, rule: &str, (node, instance): (&str, &str), kind: EventKind) -> Self {
        Self {
            key,
            rule: rule.into(),
            node: node.into(),
            instance: instance.into(),
            kind,
            standing: None,
            severity: None,
            is_known: kind != EventKind::Unknown,
            value: None,
            limit: None,
            unit: None,
            run: None,
            sequence: None,
            time: 0,
            dac_time: 0,
            since: None,
            missing: None,
            cause: None,
            late: false,
        }
    }
}

/// The identity of an event: the same samples give the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventKey(pub Uuid);

/// Position of an event in the stream of its rule and instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// At a sample.
    Sequence(u64),
    /// At a tick of DAC time, in nanoseconds.
    Tick(u64),
}

/// Parts of an [`EventKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventIdentity<'a> {
    /// The rule.
    pub rule: &'a str,
    /// The node of the instance.
    pub node: &'a str,
    /// The instance.
    pub instance: &'a str,
    /// The run of the node.
    pub run: Option<Uuid>,
    /// Its place.
    pub at: At,
    /// Kind of the event.
    pub kind: EventKind,
    /// Its number among events that are otherwise equal, from 0.
    pub index: u32,
}

/// The namespace of event keys (RFC 9562, version 5).
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_3a1e_52d8_4b6f_9e0b_7d2f_a8c1_94e3);

impl EventKey {
    /// The key of an identity.
    pub fn new(identity: EventIdentity<'_>) -> Self {
        let EventIdentity { rule, node, instance, run, at, kind, index } = identity;
        let mut bytes = Vec::with_capacity(128);
        // A length before each text: "a" + "bc" is another key than "ab" + "c".
        for text in [rule, node, instance, kind.name()] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        let (place, number) = match at {
            At::Sequence(sequence) => (0, sequence),
            At::Tick(tick) => (1, tick),
        };
        bytes.extend(run.unwrap_or_default().as_bytes());
        bytes.push(place);
        bytes.extend(number.to_le_bytes());
        bytes.extend(index.to_le_bytes());
        Self(Uuid::new_v5(&NAMESPACE, &bytes))
    }

    /// The key of a message about the event.
    pub(crate) fn message(self, kind: &str) -> Uuid {
        Uuid::new_v5(&NAMESPACE, &[self.0.as_bytes().as_slice(), kind.as_bytes()].concat())
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
