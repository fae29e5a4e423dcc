//! Parses JSON whose objects have each member once. Of two members of one name, parsers take the first, the last or none (RFC 8259, 4).

use crate::visible::shortened;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json, map::Entry};
use std::fmt;

/// Why a text is not taken as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadJson {
    /// Not JSON, or a number that is too large. The text begins with the name of the member, if it is within one.
    #[error("{0}")]
    Syntax(String),
    /// An object has two members of one name.
    #[error("the member {0:?} occurs twice in an object: which of its values counts is not defined")]
    Twice(String),
}

/// Parses a document.
///
/// # Errors
/// If it is no JSON, or an object has two members of one name.
pub fn parse(text: &[u8]) -> Result<Json, BadJson> {
    let mut failure = Failure::default();
    let mut from = serde_json::Deserializer::from_slice(text);
    let read = DocumentSeed(&mut failure).deserialize(&mut from).and_then(|document| {
        from.end()?;
        Ok(document)
    });
    read.map_err(|error| failure.describe(&error))
}

/// The position of the first error.
#[derive(Debug, Default)]
struct Failure {
    /// Names of the members around it, innermost first.
    names: Vec<String>,
    is_twice: bool,
}

impl Failure {
    fn describe(&self, error: &serde_json::Error) -> BadJson {
        let names: Vec<&str> = self.names.iter().rev().map(|name| &**name).collect();
        let name = shortened(&names.join("."));
        match self.is_twice {
            true => BadJson::Twice(name),
            false if names.is_empty() => BadJson::Syntax(error.to_string()),
            false => BadJson::Syntax(format!("the member {name:?}: {error}")),
        }
    }
}

/// Reads a value.
struct DocumentSeed<'f>(&'f mut Failure);

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let Self(failure) = self;
        let mut elements = Vec::new();
        loop {
            match list.next_element_seed(DocumentSeed(failure)) {
                Ok(Some(element)) => elements.push(element),
                Ok(None) => return Ok(Json::Array(elements)),
                Err(error) => {
                    failure.names.push(elements.len().to_string());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let Self(failure) = self;
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = match map.next_value_seed(DocumentSeed(failure)) {
                Ok(value) => value,
                Err(error) => {
                    failure.names.push(name);
                    return Err(error);
                }
            };
            match members.entry(name) {
                Entry::Vacant(entry) => drop(entry.insert(value)),
                Entry::Occupied(entry) => {
                    failure.names.push(entry.key().clone());
                    failure.is_twice = true;
                    return Err(A::Error::custom("a member occurs twice"));
                }
            }
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn members_of_one_name_are_refused_at_any_depth() {
        let twice = |name: &str| BadJson::Twice(name.into());
        assert_eq!(parse(br#"{"x": 1, "x": 2}"#), Err(twice("x")));
        assert_eq!(parse(br#"{"x": null, "\u0078": null}"#), Err(twice("x")), "the same name, escaped");
        assert_eq!(parse(br#"{"a": [0, {"b": {"c": 1, "d": 1, "c": 1}}]}"#), Err(twice("a.1.b.c")));
        assert!(parse(br#"{"a": {"x": 1}, "b": {"x": 1}, "X": 1, "x": 1}"#).is_ok());
        let hostile = format!("{{\"{0}\\n\": 1, \"{0}\\n\": 2}}", "\u{1F600}".repeat(1_000));
        assert!(refused(&hostile).len() < 300, "{}", refused(&hostile));
    }

    #[test]
    fn an_error_names_the_member() {
        assert_eq!(
            refused(r#"{"a": 1, "b": {"c": [1, 1e400]}}"#),
            r#"the member "b.c.1": number out of range at line 1 column 29"#
        );
        assert_eq!(refused("1e400"), "number out of range at line 1 column 5");
        assert_eq!(refused("{"), "EOF while parsing an object at line 1 column 1");
        assert_eq!(refused("{} 1"), "trailing characters at line 1 column 4");
        assert!(refused(&"[".repeat(10_000)).contains("recursion limit"), "{}", refused(&"[".repeat(10_000)));
    }

    proptest! {
        /// Each text that has no member twice gives the value that any parser gives.
        #[test]
        fn other_texts_are_read_as_before(text in "[\\[\\]{}\":,0-9a-e. \\\\-]{0,40}") {
            match (parse(text.as_bytes()), serde_json::from_str::<Json>(&text)) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
                (Err(BadJson::Syntax(_)), Err(_)) | (Err(BadJson::Twice(_)), _) => {}
                (ours, theirs) => prop_assert!(false, "{ours:?} {theirs:?}"),
            }
        }
    }
}
