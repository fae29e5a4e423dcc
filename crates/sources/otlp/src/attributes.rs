//! Attributes: names, and values as texts.

use crate::walk::ItemError;
use base64::{Engine, engine::general_purpose::STANDARD};
use oasis_format::protobuf::{BadWire, WireValue, next_field};
use std::borrow::Cow;

/// Most attributes of a resource, a data point, a log record or a span.
const MAX_ATTRIBUTES: usize = 1_000;
/// Lists of values within each other; the value of a deeper one is left out.
const MAX_NESTING: usize = 16;
/// Bytes at which the text of a list ends.
const MAX_LIST_BYTES: usize = 64 * 1024;

/// A name and a value.
pub type Attribute<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Adds a `KeyValue` to a list.
pub fn add<'a>(key_value: &'a [u8], to: &mut Vec<Attribute<'a>>) -> Result<(), ItemError> {
    check_room(to)?;
    let (key, value) = parts(key_value)?;
    to.push((String::from_utf8_lossy(key), text(value)?));
    Ok(())
}

/// Checks that a list has room for another attribute.
pub fn check_room(list: &[Attribute<'_>]) -> Result<(), ItemError> {
    if list.len() >= MAX_ATTRIBUTES {
        return Err(ItemError::Refused(format!("it has more than {MAX_ATTRIBUTES} attributes")));
    }
    Ok(())
}

/// Returns key and value of a `KeyValue`.
fn parts(mut key_value: &[u8]) -> Result<(&[u8], &[u8]), BadWire> {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    while let Some(field) = next_field(&mut key_value)? {
        match field {
            (1, WireValue::Bytes(bytes)) => key = bytes,
            (2, WireValue::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Returns an `AnyValue` as text: a list as JSON, bytes as base64.
pub fn text(any: &[u8]) -> Result<Cow<'_, str>, BadWire> {
    let mut rest = any;
    let Some((number, value)) = next_field(&mut rest)? else { return Ok(Cow::Borrowed("")) };
    if let Some(scalar) = scalar(number, value) {
        return Ok(scalar);
    }
    let mut json = String::new();
    write_json(any, 0, &mut json)?;
    Ok(Cow::Owned(json))
}

fn scalar(number: u32, value: WireValue<'_>) -> Option<Cow<'_, str>> {
    Some(match (number, value) {
        (1, WireValue::Bytes(bytes)) => String::from_utf8_lossy(bytes),
        (2, WireValue::Varint(value)) => Cow::Borrowed(if value == 0 { "false" } else { "true" }),
        (3, WireValue::Varint(value)) => Cow::Owned((value as i64).to_string()),
        (4, WireValue::Fixed64(bytes)) => Cow::Owned(format!("{:?}", f64::from_le_bytes(bytes))),
        (7, WireValue::Bytes(bytes)) => Cow::Owned(STANDARD.encode(bytes)),
        _ => return None,
    })
}

fn write_json(mut any: &[u8], depth: usize, to: &mut String) -> Result<(), BadWire> {
    match next_field(&mut any)? {
        Some((5, WireValue::Bytes(list))) if depth < MAX_NESTING => {
            write_list(list, ('[', ']'), to, |value, to| write_json(value, depth + 1, to))?;
        }
        Some((6, WireValue::Bytes(list))) if depth < MAX_NESTING => {
            write_list(list, ('{', '}'), to, |key_value, to| {
                let (key, value) = parts(key_value)?;
                quote(&String::from_utf8_lossy(key), to);
                to.push(':');
                write_json(value, depth + 1, to)
            })?;
        }
        Some((number, value)) => match scalar(number, value) {
            Some(text) if matches!(value, WireValue::Bytes(_)) => quote(&text, to),
            Some(text) => to.push_str(&text),
            None => to.push_str("null"),
        },
        None => to.push_str("null"),
    }
    Ok(())
}

/// Writes the elements of an `ArrayValue` or a `KeyValueList`, up to the bound.
fn write_list(
    mut list: &[u8],
    (begin, end): (char, char),
    to: &mut String,
    mut write: impl FnMut(&[u8], &mut String) -> Result<(), BadWire>,
) -> Result<(), BadWire> {
    to.push(begin);
    let mut is_first = true;
    while let Some(field) = next_field(&mut list)? {
        let (1, WireValue::Bytes(element)) = field else { continue };
        if !is_first {
            to.push(',');
        }
        if to.len() > MAX_LIST_BYTES {
            to.push('…');
            break;
        }
        is_first = false;
        write(element, to)?;
    }
    to.push(end);
    Ok(())
}

/// Writes a text of JSON.
fn quote(text: &str, to: &mut String) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => to.extend(['\\', character]),
            '\n' => to.push_str("\\n"),
            '\t' => to.push_str("\\t"),
            character if character.is_control() => to.push(' '),
            character => to.push(character),
        }
    }
    to.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json::to_protobuf, layout::ANY_VALUE};

    fn read(json: &str) -> String {
        let any = to_protobuf(json.as_bytes(), &ANY_VALUE, 1 << 20).unwrap();
        text(&any).unwrap().into_owned()
    }

    #[test]
    fn values_become_texts() {
        for (json, expected) in [
            (r#"{"stringValue": "a\nb"}"#, "a\nb"),
            (r#"{"boolValue": true}"#, "true"),
            (r#"{"intValue": "-5"}"#, "-5"),
            (r#"{"intValue": 9223372036854775807}"#, "9223372036854775807"),
            (r#"{"doubleValue": 0.1}"#, "0.1"),
            (r#"{"doubleValue": "NaN"}"#, "NaN"),
            (r#"{"bytesValue": "AAEC"}"#, "AAEC"),
            (r#"{}"#, ""),
            (
                r#"{"arrayValue": {"values": [{"stringValue": "a\"b"}, {"intValue": 1}, {}]}}"#,
                r#"["a\"b",1,null]"#,
            ),
            (r#"{"kvlistValue": {"values": [{"key": "k", "value": {"arrayValue": {}}}]}}"#, r#"{"k":[]}"#),
        ] {
            assert_eq!(read(json), expected, "{json}");
        }
    }

    #[test]
    fn deep_and_long_lists_end() {
        let deep = format!("{}{}", r#"{"arrayValue":{"values":["#.repeat(30), "]}}".repeat(30));
        assert_eq!(read(&deep), format!("{}null{}", "[".repeat(16), "]".repeat(16)));
        let long = vec![r#"{"stringValue":"0123456789"}"#; 20_000].join(",");
        let text = read(&format!(r#"{{"arrayValue":{{"values":[{long}]}}}}"#));
        assert!(text.len() < MAX_LIST_BYTES + 100 && text.ends_with(",…]"), "{}", text.len());
    }
}
