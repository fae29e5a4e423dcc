//! Arrays, which are texts in PostgreSQL's form: `{a,b,NULL}`.

use super::scalar::{Define, argument_integer, argument_text, refused};
use rusqlite::{Result, functions::Context, types::Value};
use serde_json::Value as Json;

/// Most elements of an array.
const MAX_ELEMENTS: usize = 100_000;

/// Defines the functions.
pub fn define(define: &Define<'_>) -> Result<()> {
    define.function("pg_elements", &[1], |context| {
        let Some(elements) = elements(context, 0)? else { return Ok(Value::Null) };
        Ok(Value::Text(Json::Array(elements).to_string()))
    })?;
    define.function("pg_array", &[1], |context| {
        Ok(elements(context, 0)?.map_or(Value::Null, |elements| Value::Text(shown(&elements))))
    })?;
    define.function("pg_subscript", &[2], |context| {
        let Some((elements, index)) = elements(context, 0)?.zip(argument_integer(context, 1)) else {
            return Ok(Value::Null);
        };
        let index = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
        Ok(index.and_then(|index| elements.get(index)).map_or(Value::Null, value_of))
    })?;
    // Fields of records: none of the tables has any.
    define.constant("pg_field", &[2], Value::Null)?;
    // In a list of columns they would make rows.
    for name in ["unnest", "generate_subscripts"] {
        define.function(name, &[1, 2], move |context| match argument_text(context, 0) {
            Some(_) => Err(refused(format!("{name} is supported in FROM only"))),
            None => Ok(Value::Null),
        })?;
    }
    define.function("string_to_array", &[2, 3], |context| {
        let Some(text) = argument_text(context, 0) else { return Ok(Value::Null) };
        let parts: Vec<Json> = match argument_text(context, 1) {
            Some(by) if by.is_empty() => vec![text.into()],
            Some(by) => text.split(&*by).take(MAX_ELEMENTS).map(Json::from).collect(),
            None => text.chars().take(MAX_ELEMENTS).map(|letter| letter.to_string().into()).collect(),
        };
        Ok(Value::Text(shown(&parts)))
    })?;
    define.function("parse_ident", &[1, 2], |context| {
        let parts =
            |name: &str| -> Vec<Json> { name.split('.').map(|part| part.trim_matches('"').into()).collect() };
        Ok(argument_text(context, 0).map_or(Value::Null, |name| Value::Text(shown(&parts(&name)))))
    })?;
    define.function("array_to_string", &[2, 3], |context| {
        let Some((elements, by)) = elements(context, 0)?.zip(argument_text(context, 1)) else {
            return Ok(Value::Null);
        };
        let texts: Vec<_> = elements.iter().filter(|element| !element.is_null()).map(text_of).collect();
        Ok(Value::Text(texts.join(&by)))
    })?;
    for name in ["array_length", "array_upper", "cardinality"] {
        define.function(name, &[1, 2], |context| {
            let length = elements(context, 0)?.map(|elements| elements.len()).filter(|length| *length > 0);
            Ok(length.map_or(Value::Null, |length| Value::Integer(length as i64)))
        })?;
    }
    define.function("array_lower", &[2], |context| {
        let is_some = elements(context, 0)?.is_some_and(|elements| !elements.is_empty());
        Ok(if is_some { Value::Integer(1) } else { Value::Null })
    })?;
    define.function("array_position", &[2], |context| {
        let Some((elements, wanted)) = elements(context, 0)?.zip(argument_text(context, 1)) else {
            return Ok(Value::Null);
        };
        let found = elements.iter().position(|element| text_of(element) == wanted);
        Ok(found.map_or(Value::Null, |found| Value::Integer(found as i64 + 1)))
    })
}

fn text_of(element: &Json) -> String {
    element.as_str().map_or_else(|| element.to_string(), str::to_owned)
}

fn value_of(element: &Json) -> Value {
    match element {
        Json::Null => Value::Null,
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Real(number.as_f64().unwrap_or_default()), Value::Integer)
        }
        other => Value::Text(text_of(other)),
    }
}

/// The elements of an argument: an array of PostgreSQL, a JSON array, or numbers with spaces.
fn elements(context: &Context<'_>, at: usize) -> Result<Option<Vec<Json>>> {
    let Some(text) = argument_text(context, at) else { return Ok(None) };
    let text = text.trim();
    let elements = match text.as_bytes().first() {
        Some(b'{') => of_array(text),
        Some(b'[') => serde_json::from_str(text).ok(),
        _ => Some(text.split_whitespace().map(element).collect()),
    };
    let elements = elements.filter(|elements: &Vec<Json>| elements.len() <= MAX_ELEMENTS);
    let bad = || refused(format!("malformed array: {:?}", text.chars().take(60).collect::<String>()));
    elements.map(Some).ok_or_else(bad)
}

/// An element without quotes: a number is one.
fn element(text: &str) -> Json {
    match text {
        "NULL" | "null" => Json::Null,
        text => text.parse::<i64>().map_or_else(|_| text.into(), Json::from),
    }
}

/// Parses `{a,"b c",NULL}`; arrays of arrays are not supported.
fn of_array(text: &str) -> Option<Vec<Json>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    if inside.trim().is_empty() {
        return Some(elements);
    }
    let mut letters = inside.chars().peekable();
    loop {
        let mut text = String::new();
        let is_quoted = letters.peek() == Some(&'"');
        if is_quoted {
            letters.next();
            loop {
                match letters.next()? {
                    '\\' => text.push(letters.next()?),
                    '"' => break,
                    letter => text.push(letter),
                }
            }
        } else {
            while let Some(letter) = letters.next_if(|letter| *letter != ',') {
                text.push(letter);
            }
        }
        elements.push(if is_quoted { text.into() } else { element(text.trim()) });
        match letters.next() {
            None => return Some(elements),
            Some(',') => {}
            Some(_) => return None,
        }
    }
}

/// An array in PostgreSQL's form.
fn shown(elements: &[Json]) -> String {
    let one = |element: &Json| match element {
        Json::Null => "NULL".to_owned(),
        Json::String(text) if needs_quotes(text) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        }
        other => text_of(other),
    };
    format!("{{{}}}", elements.iter().map(one).collect::<Vec<_>>().join(","))
}

fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case("null")
        || text.contains(|letter: char| "{},\"\\".contains(letter) || letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arrays_come_back() {
        for text in ["{}", "{a,b}", "{\"a b\",\"\",NULL}", "{1,-2}", "{\"x\\\"y\"}"] {
            assert_eq!(shown(&of_array(text).unwrap()), text);
        }
        for bad in ["{", "{a", "a}", "{\"a}", "{\"a\"b}"] {
            assert_eq!(of_array(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn texts_in_arrays_come_back(texts in proptest::collection::vec(".{0,8}", 1..5)) {
            let elements: Vec<Json> = texts.into_iter().map(Json::from).collect();
            let back = of_array(&shown(&elements)).unwrap();
            prop_assert_eq!(back.iter().map(text_of).collect::<Vec<_>>(), elements.iter().map(text_of).collect::<Vec<_>>());
        }
    }
}
