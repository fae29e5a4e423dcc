//! Messages of an export about missing samples.

use super::{bounds::MAX_MESSAGE, record::Message};
use crate::{
    Gap,
    input::{Lost, names::without_controls},
};
use oasis_wire::loss::Cause;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// The topic of these messages.
pub const TOPIC: &str = "/oasis/missing";
/// The name of their schema.
pub const SCHEMA_NAME: &str = "OASIS::Missing";

/// The message. Exports of earlier versions have no numbers.
#[derive(Serialize, Deserialize)]
struct LossMessage {
    #[serde(default)]
    topic: String,
    #[serde(default)]
    samples: u64,
    #[serde(deserialize_with = "oasis_wire::loss::lenient")]
    cause: Cause,
    node: String,
    instance: String,
    run: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_sequence: Option<u64>,
}

/// The JSON Schema of a message.
pub fn schema() -> Value {
    let (text, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
    json!({"type": "object", "title": SCHEMA_NAME, "properties": {
        "topic": text, "samples": integer, "cause": text, "node": text, "instance": text, "run": text,
        "from_sequence": integer, "to_sequence": integer,
    }})
}

/// Encodes a gap as a message.
///
/// # Errors
/// If a name has no JSON.
pub fn message(gap: &Gap<'_>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&LossMessage {
        topic: format!("{}/{}", gap.node, gap.instance),
        samples: gap.count,
        cause: gap.cause,
        node: gap.node.into(),
        instance: gap.instance.into(),
        run: gap.run,
        from_sequence: gap.numbers.as_ref().map(|numbers| *numbers.start()),
        to_sequence: gap.numbers.as_ref().map(|numbers| *numbers.end()),
    })
}

impl Lost {
    /// Decodes a message; `None` without sequence numbers.
    pub(in crate::mcap) fn read(message: &Message<'_>) -> Option<Self> {
        let data = Some(message.data).filter(|data| data.len() <= MAX_MESSAGE)?;
        let LossMessage { node, instance, run, from_sequence, to_sequence, cause, .. } =
            serde_json::from_slice(data).ok()?;
        let (node, instance) = (Some(without_controls(&node)), without_controls(&instance));
        Some(Self { node, instance, run, numbers: from_sequence?..=to_sequence?, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str) -> Option<Lost> {
        Lost::read(&Message { channel: 1, sequence: 0, log_time: 0, data: data.as_bytes() })
    }

    #[test]
    fn missing_numbers_are_read_and_messages_of_earlier_exports_are_skipped() {
        let told = r#"{"topic": "a/b", "samples": 3, "cause": "ring_full", "node": "a", "instance": "b",
            "run": "00000000-0000-0000-0000-000000000001", "from_sequence": 5, "to_sequence": 7}"#;
        let lost = read(told).unwrap();
        assert_eq!((lost.node.as_deref(), &*lost.instance, lost.cause), (Some("a"), "b", Cause::RingFull));
        assert_eq!((lost.run, lost.numbers), (Uuid::from_u128(1), 5..=7));
        for other in [r#"{"topic": "a/b", "samples": 3, "cause": "damaged"}"#, "[]", "{", ""] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_gap_reads_back_and_has_no_numbers_if_none_are_known() {
        let gap = |numbers| {
            let gap = Gap {
                node: "a",
                instance: "b/c",
                run: Uuid::from_u128(1),
                count: 3,
                numbers,
                cause: Cause::RingFull,
                time: 7,
            };
            String::from_utf8(message(&gap).unwrap()).unwrap()
        };
        let known = gap(Some(5..=7));
        assert_eq!(read(&known).unwrap().numbers, 5..=7);
        assert!(
            known.starts_with(r#"{"topic":"a/b/c","samples":3,"cause":"ring_full","node":"a""#),
            "{known}"
        );
        let unknown = gap(None);
        assert!(!unknown.contains("sequence") && read(&unknown).is_none(), "{unknown}");
    }
}
