//! Fields of a sample from the bytes of a message.

use crate::config::PayloadFormat;
use oasis_format::{
    columns::Cell,
    input::{BadJson, parse_json, parse_time},
    visible::shortened,
};
use serde_json::Value;
use std::{borrow::Cow, collections::HashSet};

/// The field of messages with one value.
const VALUE: &str = "value";
/// Most values of a message.
const MAX_VALUES: usize = 1_000;
/// Longest name of a value, in bytes.
const MAX_NAME_BYTES: usize = 1_024;

/// Names and values of a sample.
pub type Fields<'a> = Vec<(Cow<'a, str>, Cell<'a>)>;

/// Why a message is no sample.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPayload {
    /// Text is UTF-8.
    #[error("it is not UTF-8")]
    Text,
    /// Not JSON, or a number that is too large.
    #[error("it is no JSON: {0}")]
    Json(String),
    /// An object has two members of one name.
    #[error("{0}")]
    Twice(BadJson),
    /// Two values of the message have one name.
    #[error(
        "two values have the name {0:?}: names of members within each other are joined by points, so rename one"
    )]
    SameName(String),
    /// Not a number.
    #[error("it is no number")]
    Number,
    /// The object lacks the time.
    #[error("it has no member {0:?} with a time")]
    NoTime(String),
    /// The time cannot be read.
    #[error("the time: {0}")]
    Time(String),
    /// More values than are taken.
    #[error("it has more than {MAX_VALUES} values")]
    Values,
    /// A name that is too long.
    #[error("the name {0:?} of a value has more than {MAX_NAME_BYTES} bytes")]
    Name(String),
}

/// A message that was parsed.
#[derive(Debug)]
pub enum Payload<'a> {
    /// A document.
    Json(Value),
    /// One value.
    One(Cell<'a>),
}

impl<'a> Payload<'a> {
    /// Parses a message.
    ///
    /// # Errors
    /// If it has another format.
    pub fn parse(format: PayloadFormat, bytes: &'a [u8]) -> Result<Self, BadPayload> {
        if format == PayloadFormat::Json {
            let document = parse_json(bytes).map_err(|why| match why {
                BadJson::Syntax(why) => BadPayload::Json(why),
                twice @ BadJson::Twice(_) => BadPayload::Twice(twice),
            })?;
            return Ok(Self::Json(document));
        }
        let text = str::from_utf8(bytes).map_err(|_| BadPayload::Text)?;
        match format {
            PayloadFormat::Number => number(text.trim()).map(Self::One),
            _ => Ok(Self::One(Cell::Text(text))),
        }
    }

    /// Takes the time, in nanoseconds since 1970, from the member of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn take_time(&mut self, name: &str) -> Result<u64, BadPayload> {
        let no_time = || BadPayload::NoTime(name.into());
        let Self::Json(Value::Object(members)) = self else { return Err(no_time()) };
        let text = match members.remove(name).ok_or_else(no_time)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => return Err(no_time()),
        };
        parse_time(&text).map_err(|why| BadPayload::Time(why.to_string()))
    }

    /// Returns the values: those of an object by the names of its members, joined by points.
    ///
    /// # Errors
    /// If there are too many, or a name is too long or there twice.
    pub fn fields(&self) -> Result<Fields<'_>, BadPayload> {
        let mut fields = Vec::new();
        match self {
            Self::One(cell) => fields.push((Cow::Borrowed(VALUE), *cell)),
            Self::Json(Value::Object(members)) => {
                for (name, value) in members {
                    flatten(name, value, &mut fields)?;
                }
                // Names of one object differ.
                if members.values().any(|value| value.is_object() || value.is_array()) {
                    check_names(&fields)?;
                }
            }
            Self::Json(other) => flatten(VALUE, other, &mut fields)?,
        }
        Ok(fields)
    }
}

/// A number, always as a real: a sensor that sends 21 and then 21.5 has one type.
fn number<'a>(text: &str) -> Result<Cell<'a>, BadPayload> {
    text.parse().map(Cell::Real).map_err(|_| BadPayload::Number)
}

/// Checks that values have different names.
fn check_names(fields: &Fields<'_>) -> Result<(), BadPayload> {
    let mut names = HashSet::with_capacity(fields.len());
    match fields.iter().find(|(name, _)| !names.insert(&**name)) {
        Some((name, _)) => Err(BadPayload::SameName(shortened(name))),
        None => Ok(()),
    }
}

/// Adds a value, and those inside it. The parser bounds the depth.
fn flatten<'a>(name: &str, value: &'a Value, to: &mut Fields<'a>) -> Result<(), BadPayload> {
    if name.len() > MAX_NAME_BYTES {
        return Err(BadPayload::Name(shortened(name)));
    }
    let cell = match value {
        Value::Object(members) => {
            return members.iter().try_for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, to));
        }
        Value::Array(elements) => {
            let mut all = elements.iter().enumerate();
            return all.try_for_each(|(at, value)| flatten(&format!("{name}.{at}"), value, to));
        }
        Value::Null => return Ok(()),
        Value::Bool(truth) => Cell::Boolean(*truth),
        Value::String(text) => Cell::Text(text),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Cell::Int(int),
            (None, Some(uint)) => Cell::Uint(uint),
            (None, None) => Cell::Real(number.as_f64().ok_or(BadPayload::Number)?),
        },
    };
    if to.len() == MAX_VALUES {
        return Err(BadPayload::Values);
    }
    to.push((Cow::Owned(name.to_owned()), cell));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(format: PayloadFormat, bytes: &[u8]) -> String {
        match Payload::parse(format, bytes).and_then(|payload| payload.fields().map(|all| format!("{all:?}")))
        {
            Ok(fields) => fields,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn messages_have_fields() {
        let json = |text: &str| shown(PayloadFormat::Json, text.as_bytes());
        assert_eq!(json("21.5"), r#"[("value", Real(21.5))]"#);
        assert_eq!(json("18446744073709551615"), r#"[("value", Uint(18446744073709551615))]"#);
        assert_eq!(
            json(r#"{"a": {"b": -1, "c": [true, "x", null]}}"#),
            r#"[("a.b", Int(-1)), ("a.c.0", Boolean(true)), ("a.c.1", Text("x"))]"#
        );
        assert!(json("{").starts_with("it is no JSON"));
        assert_eq!(shown(PayloadFormat::Number, b" 21\n"), r#"[("value", Real(21.0))]"#);
        assert_eq!(shown(PayloadFormat::Number, b"on"), "it is no number");
        assert_eq!(shown(PayloadFormat::Text, b"on"), r#"[("value", Text("on"))]"#);
        assert_eq!(shown(PayloadFormat::Text, b"\xff"), "it is not UTF-8");
    }

    #[test]
    fn values_of_one_name_are_refused() {
        let json = |text: &str| shown(PayloadFormat::Json, text.as_bytes());
        assert!(json(r#"{"x": 1, "x": 2}"#).starts_with(r#"the member "x" occurs twice"#));
        assert!(json(r#"{"a.b": 3, "a": {"b": 4}}"#).starts_with(r#"two values have the name "a.b""#));
        assert!(json(r#"{"a": [1], "a.0": 1}"#).starts_with(r#"two values have the name "a.0""#));
        assert!(json(r#"{"a": {"b.c": 1, "b": {"c": 1}}}"#).contains(r#""a.b.c""#));
        assert!(json(r#"{"a": {"b": null}, "a.b": 1}"#).starts_with("[("), "null is no value");
        assert!(json(r#"{"a": 1, "b": 1e400}"#).contains(r#"the member "b": number out of range"#));
    }

    #[test]
    fn a_member_can_have_the_time() {
        let time = |text: &str| {
            let mut payload = Payload::parse(PayloadFormat::Json, text.as_bytes()).unwrap();
            payload.take_time("t").map(|time| (time, payload.fields().unwrap().len()))
        };
        assert_eq!(time(r#"{"t": 1764424800123, "a": 1}"#), Ok((1_764_424_800_123_000_000, 1)));
        assert_eq!(time(r#"{"t": "2025-11-29T14:00:00Z", "a": 1}"#), Ok((1_764_424_800_000_000_000, 1)));
        assert_eq!(time(r#"{"t": 1764424800.5}"#), Ok((1_764_424_800_500_000_000, 0)));
        for text in ["1", "{}", r#"{"t": null}"#, r#"{"t": -1}"#, r#"{"t": "x"}"#] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limits() {
        let many = format!("[{}]", vec!["1"; MAX_VALUES + 1].join(","));
        assert_eq!(shown(PayloadFormat::Json, many.as_bytes()), BadPayload::Values.to_string());
        let long = format!("{{\"{}\": {{\"b\": 1}}}}", "a".repeat(MAX_NAME_BYTES));
        let name = format!("{}…", "a".repeat(40));
        assert_eq!(shown(PayloadFormat::Json, long.as_bytes()), BadPayload::Name(name).to_string());
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(shown(PayloadFormat::Json, deep.as_bytes()).starts_with("it is no JSON"));
    }

    proptest! {
        #[test]
        fn any_bytes_have_fields_or_are_refused(text in "[\\[\\]{}\":,0-9a-e. -]{0,40}") {
            for format in [PayloadFormat::Json, PayloadFormat::Number, PayloadFormat::Text] {
                shown(format, text.as_bytes());
            }
        }
    }
}
