//! Bodies of requests: JSON, or what is wrong with it.

use axum::http::StatusCode;
use oasis_http::Problem;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

/// Most characters of an error: it can quote what was sent.
const MAX_ERROR: usize = 300;
const REMEDY: &str = "see the fields of this request in docs/reference/http-api.md";
/// Expectations in the words of the library, and in words for users.
const WORDS: [(&str, &str); 13] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number that is not negative"),
    ("u128", "a whole number that is not negative"),
    ("usize", "a whole number that is not negative"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "an object"),
];

/// Parses the body of a request.
///
/// # Errors
/// Names the field, what was expected there, and the remedy.
pub fn body<T: DeserializeOwned>(json: &[u8]) -> Result<T, Problem> {
    let mut from = serde_json::Deserializer::from_slice(json);
    let parsed = serde_path_to_error::deserialize(&mut from).map_err(|error| explained(&error));
    let parsed = parsed.and_then(|parsed| from.end().map(|()| parsed).map_err(|error| not_json(&error)));
    parsed.map_err(|detail| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", detail))
}

fn explained(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, inner) = (error.path().to_string(), error.inner());
    if inner.classify() != Category::Data {
        return not_json(inner);
    }
    let text = inner.to_string();
    // The body may be one line, and the path says more.
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let text = match text.rsplit_once(", expected ") {
        Some((found, wanted)) => format!("{found}, expected {}", plain(wanted)),
        None => text.to_owned(),
    };
    match &*path {
        "." => shortened(&text, REMEDY),
        path => shortened(&format!("field `{path}`: {text}"), REMEDY),
    }
}

fn not_json(error: &serde_json::Error) -> String {
    shortened(&format!("the body is not JSON: {error}"), "send one JSON object")
}

fn plain(wanted: &str) -> &str {
    if wanted.starts_with("struct ") {
        return "an object";
    }
    WORDS.iter().find(|(word, _)| *word == wanted).map_or(wanted, |(_, plain)| plain)
}

fn shortened(text: &str, remedy: &str) -> String {
    match text.char_indices().nth(MAX_ERROR) {
        Some((end, _)) => format!("{}…: {remedy}", &text[..end]),
        None => format!("{text}: {remedy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Request {
        rule: String,
        seconds: Option<u64>,
        targets: Option<Vec<Target>>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Target {
        node: String,
    }

    fn refusal(json: &str) -> String {
        serde_json::to_value(body::<Request>(json.as_bytes()).unwrap_err()).unwrap()["detail"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_refusal_names_the_field_and_what_was_expected() {
        for (json, expected) in [
            ("{}", "missing field `rule`: see"),
            (r#"{"rule": 5}"#, "field `rule`: invalid type: integer `5`, expected a string: see"),
            (
                r#"{"rule": "a", "seconds": -1}"#,
                "field `seconds`: invalid value: integer `-1`, expected a whole number that is not negative: see",
            ),
            (
                r#"{"rule": "a", "targets": [{"node": "x"}, {"node": null}]}"#,
                "field `targets[1].node`: invalid type: null, expected a string: see",
            ),
            (r#"{"rule": "a", "targets": {}}"#, "field `targets`: invalid type: map, expected a list: see"),
            (
                r#"{"rule": "a", "other": 1}"#,
                "unknown field `other`, expected one of `rule`, `seconds`, `targets`",
            ),
            ("[]", "expected an object"),
            ("", "the body is not JSON: EOF"),
            ("{\"rule\"", "the body is not JSON: EOF"),
            (r#"{"rule": "a"} x"#, "the body is not JSON: trailing characters"),
        ] {
            let detail = refusal(json);
            assert!(detail.contains(expected), "{json}: {detail}");
        }
        let long = refusal(&format!(r#"{{"rule": "a", "seconds": "{}"}}"#, "x".repeat(100_000)));
        assert!(long.len() < 500 && long.starts_with("field `seconds`"), "{long}");
        assert!(body::<Request>(br#" {"rule": "a"} "#).is_ok());
    }
}
