//! Commands to probes in messages: JSON on a topic of their own, and metrics that hosts of Sparkplug B write.

use crate::sparkplug::{ENABLED, HERTZ};
use oasis_dac::NamedRequest;
use oasis_handler::CommandRefusal;
use oasis_mqtt_client::sparkplug::{MetricValue, Metrics, REBIRTH, RawValue};
use oasis_wire::{command::Command, quantity::Hertz};
use serde::Deserialize;
use serde_json::{Value, json};

/// Longest command, in bytes.
const MAX_COMMAND_BYTES: usize = 16 * 1024;
/// Longest correlation data that comes back with an answer, in bytes.
const MAX_CORRELATION_BYTES: usize = 1_024;
/// Most commands of one message of Sparkplug B: rate and state.
const MAX_WRITES: usize = 2;

/// A message with a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandMessage {
    /// Its topic.
    pub topic: String,
    /// Its bytes.
    pub payload: Vec<u8>,
    /// The topic that its sender wants the answer on.
    pub response_topic: Option<String>,
    /// Bytes for the answer.
    pub correlation: Option<Vec<u8>>,
}

/// A command to an instance.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ParsedCommand {
    /// Node name.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// The command with its arguments.
    #[serde(flatten)]
    pub request: NamedRequest,
}

/// The destination of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyAddress {
    /// The topic.
    pub topic: String,
    /// Bytes that come back with the answer.
    pub correlation: Option<Vec<u8>>,
}

impl CommandMessage {
    /// Returns the address of the answer: the one that its sender asks for if that is `answers` or below. Other topics would be written with the rights of the DAC.
    pub fn reply_address(&self, answers: &str) -> ReplyAddress {
        let is_below = |topic: &str| {
            topic.strip_prefix(answers).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_plain = |topic: &str| !topic.contains(['+', '#', '\0']);
        let wanted = self.response_topic.as_deref().filter(|topic| is_below(topic) && is_plain(topic));
        let topic = wanted.unwrap_or(answers).to_owned();
        let correlation = self.correlation.clone().filter(|bytes| bytes.len() <= MAX_CORRELATION_BYTES);
        ReplyAddress { topic, correlation }
    }
}

impl ParsedCommand {
    /// Parses a command in JSON, whose members are those of `POST /api/v1/commands`.
    ///
    /// # Errors
    /// A message for people.
    pub fn parse(payload: &[u8]) -> Result<Self, String> {
        if payload.len() > MAX_COMMAND_BYTES {
            return Err(format!("it has more than {MAX_COMMAND_BYTES} bytes"));
        }
        serde_json::from_slice(payload).map_err(|error| {
            format!(r#"{error}: write such as {{"node": "plant", "instance": "pump", "command": "hertz", "hertz": 2}}"#)
        })
    }
}

/// Whether the metrics of a command to the edge node ask for all births.
pub fn wants_births(payload: &[u8]) -> bool {
    let metrics = Metrics::parse(payload).map(|payload| payload.metrics).unwrap_or_default();
    metrics.iter().any(|metric| metric.name == Some(REBIRTH) && truth(metric) == Some(true))
}

/// Returns the commands that the metrics of a command to a device ask for. `aliases` are those of rate and state.
///
/// # Errors
/// A message for people if one of the metrics cannot be written, or not with its value: then nothing is done.
pub fn writes(payload: &[u8], aliases: (u64, u64)) -> Result<Vec<Command>, String> {
    if payload.len() > MAX_COMMAND_BYTES {
        return Err(format!("it has more than {MAX_COMMAND_BYTES} bytes"));
    }
    let payload = Metrics::parse(payload).map_err(|error| error.to_string())?;
    if payload.metrics.is_empty() || payload.metrics.len() > MAX_WRITES {
        return Err(format!("it has {} metrics: write {HERTZ}, {ENABLED} or both", payload.metrics.len()));
    }
    payload.metrics.iter().map(|metric| write(metric, aliases)).collect()
}

fn write(metric: &MetricValue<'_>, (hertz, enabled): (u64, u64)) -> Result<Command, String> {
    let is = |name: &str, alias: u64| match metric.name {
        Some(known) if !known.is_empty() => known == name,
        _ => metric.alias == Some(alias),
    };
    if is(HERTZ, hertz) {
        let value = match (metric.value, metric.datatype) {
            (RawValue::Real(real), _) => real,
            (RawValue::Integer(integer), _) => integer as f64,
            _ => return Err(format!("{HERTZ} is no number")),
        };
        let hertz = Hertz::new(value).map_err(|error| format!("{HERTZ}: {error}"))?;
        return Ok(Command::Hertz { hertz });
    }
    if is(ENABLED, enabled) {
        let is_on = truth(metric).ok_or_else(|| format!("{ENABLED} is no truth value"))?;
        return Ok(if is_on { Command::Enable } else { Command::Disable });
    }
    let name: String = metric.name.unwrap_or("an alias").chars().take(100).collect();
    Err(format!("{name:?} cannot be written: {HERTZ} and {ENABLED} can"))
}

fn truth(metric: &MetricValue<'_>) -> Option<bool> {
    match metric.value {
        RawValue::Boolean(truth) => Some(truth),
        _ => None,
    }
}

/// Encodes an answer.
pub fn answer(command: Option<&ParsedCommand>, outcome: &Result<Value, CommandRefusal>) -> Vec<u8> {
    let mut answer = match outcome {
        Ok(state) => json!({"done": true, "state": state}),
        Err(CommandRefusal { code, message }) => json!({"done": false, "code": code, "error": message}),
    };
    if let Some(ParsedCommand { node, instance, request }) = command {
        answer["node"] = node.as_str().into();
        answer["instance"] = instance.as_str().into();
        answer["command"] = request.request.name().into();
        answer["uuid"] = request.uuid.to_string().into();
    }
    answer.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_mqtt_client::sparkplug::{OutgoingMetric, OutgoingValue, PayloadWriter, rebirth};
    use proptest::prelude::*;

    fn message(response_topic: Option<&str>) -> CommandMessage {
        CommandMessage {
            topic: "oasis/commands".into(),
            payload: Vec::new(),
            response_topic: response_topic.map(Into::into),
            correlation: Some(vec![7]),
        }
    }

    fn written(metrics: &[(Option<&str>, Option<u64>, OutgoingValue<'_>)]) -> Vec<u8> {
        let mut payload = PayloadWriter::new(1);
        for (name, alias, value) in metrics {
            let (name, alias, value) = (*name, *alias, *value);
            payload.push(&OutgoingMetric { name, alias, value, ..OutgoingMetric::default() });
        }
        payload.finish(None)
    }

    #[test]
    fn a_command_has_the_members_of_the_http_api() {
        let text = br#"{"node": "a", "instance": "b/c", "command": "hertz", "hertz": 2, "keep": true}"#;
        let parsed = ParsedCommand::parse(text).unwrap();
        assert_eq!((&*parsed.node, &*parsed.instance, parsed.request.keep), ("a", "b/c", true));
        assert_eq!(parsed.request.request, Command::Hertz { hertz: Hertz::new(2.0).unwrap() });
        for bad in [
            &b""[..],
            b"[]",
            br#"{"node": "a"}"#,
            br#"{"node":"a","instance":"b","command":"hertz","hertz":-1}"#,
        ] {
            assert!(ParsedCommand::parse(bad).unwrap_err().contains("write such as"));
        }
        assert!(ParsedCommand::parse(&vec![b' '; MAX_COMMAND_BYTES + 1]).unwrap_err().contains("more than"));
    }

    #[test]
    fn answers_go_below_their_topic_only() {
        let topic = |wanted| message(wanted).reply_address("oasis/answers").topic;
        assert_eq!(topic(None), "oasis/answers");
        assert_eq!(topic(Some("oasis/answers/ada")), "oasis/answers/ada");
        for other in ["oasis/answers2", "plant/valve", "$SYS/a", "oasis/commands", "oasis/answers/#", ""] {
            assert_eq!(topic(Some(other)), "oasis/answers", "{other}");
        }
        assert_eq!(message(None).reply_address("a").correlation, Some(vec![7]));
        let long = CommandMessage { correlation: Some(vec![0; MAX_CORRELATION_BYTES + 1]), ..message(None) };
        assert_eq!(long.reply_address("a").correlation, None);
    }

    #[test]
    fn hosts_write_rate_and_state_by_name_or_alias_and_nothing_else() {
        let aliases = (70_000, 70_001);
        let hertz = |rate| Command::Hertz { hertz: Hertz::new(rate).unwrap() };
        let both = [
            (Some(HERTZ), None, OutgoingValue::Double(0.5)),
            (None, Some(70_001), OutgoingValue::Boolean(false)),
        ];
        assert_eq!(writes(&written(&both), aliases), Ok(vec![hertz(0.5), Command::Disable]));
        let int = [(Some(HERTZ), None, OutgoingValue::Uint(5))];
        assert_eq!(writes(&written(&int), aliases), Ok(vec![hertz(5.0)]));
        for bad in [
            vec![],
            vec![(Some("level"), None, OutgoingValue::Double(1.0))],
            vec![(Some(HERTZ), None, OutgoingValue::Double(f64::NAN))],
            vec![(Some(HERTZ), None, OutgoingValue::Text("1"))],
            vec![(Some(ENABLED), None, OutgoingValue::Null)],
            vec![(None, Some(1), OutgoingValue::Boolean(true))],
            vec![both[0], both[1], both[0]],
        ] {
            assert!(writes(&written(&bad), aliases).is_err(), "{bad:?}");
        }
        assert!(wants_births(&rebirth(1)) && !wants_births(&written(&both)) && !wants_births(b"x"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_command_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (ParsedCommand::parse(&bytes), writes(&bytes, (1, 2)), wants_births(&bytes));
        }
    }
}
