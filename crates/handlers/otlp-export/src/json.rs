//! OTLP in the JSON of Protocol Buffers, where 64-bit whole numbers are texts.

use serde_json::{Value, json};

/// Longest reason of a receiver that is kept, in characters.
const MAX_REASON_CHARACTERS: usize = 512;

/// Returns an attribute with a text.
pub fn attribute(name: &str, value: &str) -> Value {
    json!({"key": name, "value": {"stringValue": value}})
}

/// Returns a real: NaN and the infinities are texts.
pub fn real(value: f64) -> Value {
    match value {
        value if value.is_nan() => json!("NaN"),
        value if value.is_infinite() => json!(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => json!(value),
    }
}

/// Returns how many records an answer says were rejected, and why. `member` is `rejectedDataPoints` or `rejectedLogRecords`.
pub fn rejected(answer: &str, member: &str) -> (u64, String) {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let partial = &answer["partialSuccess"];
    // Receivers write numbers too.
    let count = &partial[member];
    let count = count.as_str().map_or(count.as_u64(), |text| text.parse().ok()).unwrap_or(0);
    (count, shortened(partial["errorMessage"].as_str().unwrap_or_default()))
}

/// Returns the beginning of a text of a receiver, as one line.
pub(crate) fn shortened(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().take(MAX_REASON_CHARACTERS).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_values_are_counted_in_both_notations() {
        let count = |answer: &str| rejected(answer, "rejectedDataPoints").0;
        for answer in ["", "no JSON", "{}", r#"{"partialSuccess":{"errorMessage":"slow down"}}"#] {
            assert_eq!(count(answer), 0, "{answer}");
        }
        for number in ["3", "\"3\""] {
            let answer =
                format!(r#"{{"partialSuccess":{{"rejectedDataPoints":{number},"errorMessage":"a\nb"}}}}"#);
            assert_eq!(rejected(&answer, "rejectedDataPoints"), (3, "a b".into()));
            assert_eq!(rejected(&answer, "rejectedLogRecords").0, 0);
        }
    }
}
