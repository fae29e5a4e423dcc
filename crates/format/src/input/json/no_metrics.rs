//! Why a JSON message has no metrics.

use super::shape::MAX_DEPTH;
use serde_json::Value as Json;

/// Why JSON messages have no probe type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMetrics {
    /// Only the members of an object have names.
    #[error("a message is {0}: it must be an object, whose members become metrics")]
    NoObject(&'static str),
    /// All values are deeper than that.
    #[error(
        "the values are nested too deep: at most {MAX_DEPTH} objects and lists within each other are read"
    )]
    Deep,
    /// Without values that could be metrics.
    #[error("the messages have no values")]
    Nothing,
}

impl NoMetrics {
    /// Returns the reason for this message.
    pub fn of(message: &[u8]) -> Self {
        match serde_json::from_slice(message) {
            Ok(object @ Json::Object(_)) if is_deeper(&object, MAX_DEPTH) => Self::Deep,
            Ok(Json::Object(_)) | Err(_) => Self::Nothing,
            Ok(Json::Null) => Self::NoObject("null"),
            Ok(Json::Bool(_)) => Self::NoObject("a boolean"),
            Ok(Json::Number(_)) => Self::NoObject("a number"),
            Ok(Json::String(_)) => Self::NoObject("a text"),
            Ok(Json::Array(_)) => Self::NoObject("a list"),
        }
    }
}

/// Returns whether objects and lists are nested deeper than `depth`. The parser bounds that.
fn is_deeper(value: &Json, depth: usize) -> bool {
    let Some(rest) = depth.checked_sub(1) else { return value.is_object() || value.is_array() };
    match value {
        Json::Object(members) => members.values().any(|member| is_deeper(member, rest)),
        Json::Array(elements) => elements.iter().any(|element| is_deeper(element, rest)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_metrics_has_a_reason() {
        let of = |message: &str| NoMetrics::of(message.as_bytes());
        for (message, kind) in [
            ("[1]", "a list"),
            ("3.5", "a number"),
            ("\"a\"", "a text"),
            ("true", "a boolean"),
            ("null", "null"),
        ] {
            assert_eq!(of(message), NoMetrics::NoObject(kind));
        }
        assert_eq!(of("{}"), NoMetrics::Nothing);
        assert_eq!(of(&format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100))), NoMetrics::Deep);
    }
}
