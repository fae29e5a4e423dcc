//! The answer of a collector: a partial success names values that it has rejected.

use serde_json::Value;

/// Longest reason that is kept, in characters.
const MAX_REASON_CHARACTERS: usize = 512;

/// Returns the number of rejected values, and the reason.
pub fn rejected(answer: &str) -> (u64, Option<String>) {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let partial = &answer["partialSuccess"];
    // 64-bit numbers are texts in the JSON of Protocol Buffers; collectors write both.
    let count = &partial["rejectedDataPoints"];
    let count = count.as_str().map_or(count.as_u64(), |text| text.parse().ok()).unwrap_or(0);
    let why = partial["errorMessage"].as_str().unwrap_or_default();
    let reason = || format!("{count} values rejected: {}", shortened(why));
    (count, (count > 0).then(reason))
}

/// Returns the beginning of a text of a server, as one line.
pub fn shortened(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().take(MAX_REASON_CHARACTERS).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_values_are_counted_in_both_notations() {
        for answer in ["", "no JSON", "{}", r#"{"partialSuccess":{"errorMessage":"slow down"}}"#] {
            assert_eq!(rejected(answer), (0, None), "{answer}");
        }
        for count in ["3", "\"3\""] {
            let answer =
                format!(r#"{{"partialSuccess":{{"rejectedDataPoints":{count},"errorMessage":"a\nb"}}}}"#);
            assert_eq!(rejected(&answer), (3, Some("3 values rejected: a b".into())));
        }
    }
}
