//! What an export says is missing.

use super::{bounds::MAX_MESSAGE, record::Message};
use serde::Deserialize;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// The topic on which it does.
pub const TOPIC: &str = "/oasis/missing";

/// Samples that the recording does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Node name, as it was recorded.
    pub node: String,
    /// Instance name.
    pub instance: String,
    /// What the numbers count in.
    pub run: Uuid,
    /// Their sequence numbers.
    pub numbers: RangeInclusive<u64>,
    /// Why, as the file has it.
    pub cause: String,
}

/// As it is written. Exports of earlier versions have no numbers.
#[derive(Deserialize)]
struct Told {
    node: String,
    instance: String,
    run: Uuid,
    from_sequence: u64,
    to_sequence: u64,
    cause: String,
}

impl Lost {
    /// None if it does not say which samples they were.
    pub fn read(message: &Message<'_>) -> Option<Self> {
        let data = Some(message.data).filter(|data| data.len() <= MAX_MESSAGE)?;
        let Told { node, instance, run, from_sequence, to_sequence, cause } =
            serde_json::from_slice(data).ok()?;
        Some(Self { node, instance, run, numbers: from_sequence..=to_sequence, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str) -> Option<Lost> {
        Lost::read(&Message { channel: 1, sequence: 0, log_time: 0, data: data.as_bytes() })
    }

    #[test]
    fn numbers_that_are_missing_are_read_and_what_earlier_exports_say_is_passed_over() {
        let told = r#"{"topic": "a/b", "samples": 3, "cause": "ring_full", "node": "a", "instance": "b",
            "run": "00000000-0000-0000-0000-000000000001", "from_sequence": 5, "to_sequence": 7}"#;
        let lost = read(told).unwrap();
        assert_eq!((&*lost.node, &*lost.instance, &*lost.cause), ("a", "b", "ring_full"));
        assert_eq!((lost.run, lost.numbers), (Uuid::from_u128(1), 5..=7));
        for other in [r#"{"topic": "a/b", "samples": 3, "cause": "damaged"}"#, "[]", "{", ""] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
