//! A record: one line of JSON whose last member is the hash of all before it.

use super::{head::Head, redact};
use crate::secret::Digest;
use oasis_wire::{quantity::Nanos, time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest line, bytes: more than the bounds of all members together.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 10;
/// Longest arguments as JSON, bytes.
const MAX_ARGUMENT_BYTES: usize = 4 << 10;
/// Text between the hashed part and its hash.
const BEFORE_HASH: &str = ",\"hash\":\"";
const AFTER_HASH: &str = "\"}";
/// Bytes of a line after the hashed part.
const HASH_PART_BYTES: usize = BEFORE_HASH.len() + 64 + AFTER_HASH.len();

/// An action that happened, or is about to happen.
#[derive(Debug, Clone)]
pub struct Event {
    /// Principal of the action: `person:ada`, as it is displayed. At most 128 bytes are kept.
    pub principal: String,
    /// From where; empty if there is no address. At most 64 bytes are kept.
    pub address: String,
    /// The action: a verb or another word, such as `command:hertz` or `sign-in`. At most 64 bytes are kept.
    pub action: String,
    /// To what: `NODE/INSTANCE`, or a name; empty for the DAC. At most 512 bytes are kept.
    pub target: String,
    /// Arguments, as JSON of at most 4 KiB. Secrets in it are redacted.
    pub arguments: Value,
    /// Outcome, such as `begun`, `done`, `forbidden`. At most 256 bytes are kept.
    pub result: String,
    /// Number of the record that this one completes.
    pub of: Option<u64>,
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// When it was written, RFC 3339, UTC.
    pub time: String,
    /// Principal of the action.
    pub principal: String,
    /// From where; empty if there is no address.
    pub address: String,
    /// The action.
    pub action: String,
    /// To what.
    pub target: String,
    /// Arguments of the action.
    pub arguments: Value,
    /// Outcome of the action.
    pub result: String,
    /// Number of the record that this one completes.
    pub of: Option<u64>,
    /// Hash of the record before; zeros in the first one.
    pub previous: String,
    /// Hash of this one, up to the comma before it.
    pub hash: String,
}

/// The hashed part of a line.
#[derive(Serialize)]
struct Hashed<'a> {
    seq: u64,
    time: &'a str,
    principal: &'a str,
    address: &'a str,
    action: &'a str,
    target: &'a str,
    arguments: &'a Value,
    result: &'a str,
    of: Option<u64>,
    previous: &'a str,
}

/// Why a line is not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    #[error("it is not a record")]
    Form,
    #[error("it was changed: its hash is that of another text")]
    Hash,
}

impl Event {
    /// An event without address, target and arguments.
    pub fn new(principal: impl Into<String>, action: impl Into<String>, result: impl Into<String>) -> Self {
        Self {
            principal: principal.into(),
            address: String::new(),
            action: action.into(),
            target: String::new(),
            arguments: Value::Null,
            result: result.into(),
            of: None,
        }
    }

    /// Within all bounds, and without secrets.
    pub(crate) fn bounded(self) -> Self {
        let clip = |text: String, most: usize| clipped(&redact::text(&text), most);
        let arguments = redact::value(self.arguments);
        let length = redact::escaped(&arguments.to_string()).len();
        Self {
            principal: clip(self.principal, 128),
            address: clip(self.address, 64),
            action: clip(self.action, 64),
            target: clip(self.target, 512),
            arguments: if length > MAX_ARGUMENT_BYTES { json!({"omitted_bytes": length}) } else { arguments },
            result: clip(self.result, 256),
            of: self.of,
        }
    }

    /// Writes the line of the record after `previous`, with its line end. Returns the record's head.
    pub(crate) fn write(&self, previous: Head, now: Nanos, out: &mut String) -> serde_json::Result<Head> {
        let seq = previous.seq + 1;
        let hashed = Hashed {
            seq,
            time: &time::format_digits(now.0, 6),
            principal: &self.principal,
            address: &self.address,
            action: &self.action,
            target: &self.target,
            arguments: &self.arguments,
            result: &self.result,
            of: self.of,
            previous: &previous.hash.to_string(),
        };
        let json = redact::escaped(&serde_json::to_string(&hashed)?);
        let text = json.strip_suffix('}').unwrap_or(&json);
        let hash = Digest::of(text);
        for part in [text, BEFORE_HASH, &hash.to_string(), AFTER_HASH, "\n"] {
            out.push_str(part);
        }
        Ok(Head { seq, hash })
    }
}

impl Record {
    /// Parses a line without its line end, and checks its hash.
    pub(crate) fn parse(line: &[u8]) -> Result<(Self, Head), LineError> {
        let line = std::str::from_utf8(line).map_err(|_| LineError::Form)?;
        let at = line.len().checked_sub(HASH_PART_BYTES).ok_or(LineError::Form)?;
        let (hashed, rest) = line.split_at_checked(at).ok_or(LineError::Form)?;
        let hex = rest.strip_prefix(BEFORE_HASH).and_then(|rest| rest.strip_suffix(AFTER_HASH));
        let hex = hex.ok_or(LineError::Form)?;
        let hash = Digest::of(hashed);
        if hex != hash.to_string() {
            return Err(LineError::Hash);
        }
        let record: Self = serde_json::from_str(line).map_err(|_| LineError::Form)?;
        let head = Head { seq: record.seq, hash };
        Ok((record, head))
    }

    /// Returns the time, nanoseconds since 1970.
    pub fn nanos(&self) -> Option<Nanos> {
        u64::try_from(time::parse_date(&self.time)?).ok().map(Nanos)
    }
}

/// Returns the beginning of a text, at most `most` bytes.
fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most - '…'.len_utf8()).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn event(action: &str) -> Event {
        Event { target: "plant/pump".into(), ..Event::new("person:ada", action, "done") }
    }

    proptest! {
        /// Whatever a client sends, the record is one short line, and the same text when it is read.
        #[test]
        fn hostile_text_stays_text(texts in prop::array::uniform5("\\PC{0,40}|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}\"\\\\]{0,2000}")) {
            let [principal, address, action, target, argument] = texts;
            let arguments = json!({"text": argument});
            let event = Event { principal, address, action, target, arguments, result: "done".into(), of: Some(3) }.bounded();
            let mut line = String::new();
            let head = event.write(Head::START, Nanos(1_763_683_200_000_000_000), &mut line).unwrap();
            let text = line.strip_suffix('\n').unwrap();
            prop_assert!(text.len() < MAX_LINE_BYTES && !text.contains(char::is_control));
            let (record, read) = Record::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(read, head);
            prop_assert_eq!((record.principal, record.target, record.arguments), (event.principal, event.target, event.arguments));
            prop_assert_eq!(record.time, "2025-11-21T00:00:00.000000Z");
        }

        #[test]
        fn any_changed_byte_of_a_line_is_found(at in 0_usize..400, byte: u8) {
            let mut line = String::new();
            event("command:hertz").write(Head::START, Nanos(0), &mut line).unwrap();
            let mut bytes = line.trim_end().as_bytes().to_vec();
            let at = at % bytes.len();
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            prop_assert!(Record::parse(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_a_record_or_not(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Record::parse(&bytes);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let event =
            Event { arguments: json!("x".repeat(5_000)), ..Event::new("ä".repeat(100), "a", "b") }.bounded();
        assert!(event.principal.len() <= 128 && event.principal.ends_with('…'));
        assert_eq!(event.arguments, json!({"omitted_bytes": 5_002}));
    }
}
