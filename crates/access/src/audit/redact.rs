//! Keeps secrets out of records, and hostile text visible.

use crate::token::PREFIX;
use serde_json::Value;
use std::fmt::Write;

/// Text that replaces a secret.
const REDACTED: &str = "(secret)";
/// Members whose value is never recorded.
const SECRET_NAMES: [&str; 6] = ["password", "secret", "cookie", "ticket", "token", "authorization"];
/// Letters of a token after which the random part begins.
const PUBLIC_LETTERS: usize = PREFIX.len() + 9;

/// Replaces values of members that are called like secrets, and tokens in texts.
pub(crate) fn value(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| {
                let lower = name.to_lowercase();
                let is_secret = SECRET_NAMES.iter().any(|secret| lower.contains(secret));
                let member = if is_secret { REDACTED.into() } else { self::value(member) };
                (text(&name), member)
            })
            .collect(),
        Value::Array(elements) => elements.into_iter().map(self::value).collect(),
        Value::String(content) => Value::String(text(&content)),
        other => other,
    }
}

/// Replaces the random part of each token in a text.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PREFIX) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let is_token = from.as_bytes().get(PUBLIC_LETTERS - 1) == Some(&b'_');
        let end = match is_token {
            true => {
                shown.push_str(from.get(..PUBLIC_LETTERS).unwrap_or(PREFIX));
                shown.push_str(REDACTED);
                let is_random = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
                from.find(|letter| !is_random(letter)).unwrap_or(from.len())
            }
            false => {
                shown.push_str(PREFIX);
                PREFIX.len()
            }
        };
        rest = &from[end..];
    }
    shown.push_str(rest);
    shown
}

/// Escapes what JSON allows in a text and a terminal would interpret: control characters beyond ASCII, and marks that
/// change the direction of writing. In JSON these occur in texts only.
pub(crate) fn escaped(json: &str) -> String {
    let is_hostile = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !json.contains(is_hostile) {
        return json.to_owned();
    }
    json.chars().fold(String::with_capacity(json.len() + 64), |mut out, letter| {
        if is_hostile(letter) {
            // Cannot fail. All of them have 16 bits.
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_not_recorded() {
        let random = "x".repeat(43);
        let token = format!("oasis_00c0ffee_{random}");
        let redacted =
            value(json!({"user": "ada", "New-Password": "hunter2", "list": [{"cookie": 1}, token],
            "url": format!("/ws?a={token}&b=1"), token.clone(): 7}));
        let text = redacted.to_string();
        assert!(!text.contains(&random) && !text.contains("hunter2"), "{text}");
        assert!(text.contains("oasis_00c0ffee_(secret)&b=1"), "{text}");
        assert_eq!(self::text("oasis_dac and oasis_"), "oasis_dac and oasis_");
        assert_eq!(self::text("oasis_äääääääääääääää"), "oasis_äääääääääääääää");
    }

    #[test]
    fn hostile_text_stays_the_same_text() {
        let hostile = "\u{1b}[2J\n\u{7f}\u{9b}\u{202e}\u{2028}ä\"\\";
        let json = escaped(&Value::from(hostile).to_string());
        assert!(json.chars().all(|letter| letter == 'ä' || (' '..='~').contains(&letter)), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
