//! JSON messages as values of a probe type.

use oasis_wire::{
    schema::{Metric, MetricType},
    value::Value,
};
use serde_json::Value as Json;

/// Why a message was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} is {found}, where {wanted} is expected")]
pub struct Unfit {
    place: String,
    found: String,
    wanted: &'static str,
}

/// The members of an object; those that it lacks are zero, empty or, if real, not a number.
pub fn members(members: &[Metric], of: &Json, place: &str) -> Result<Vec<Value>, Unfit> {
    let Json::Object(of) = of else { return Err(unfit(place, of, "an object")) };
    let member = |member: &Metric| {
        let place = if place.is_empty() { member.name.clone() } else { format!("{place}.{}", member.name) };
        value(&member.kind, of.get(&member.name).unwrap_or(&Json::Null), &place)
    };
    members.iter().map(member).collect()
}

fn value(kind: &MetricType, of: &Json, place: &str) -> Result<Value, Unfit> {
    Ok(match kind {
        MetricType::Int8 => Value::Int(signed(of, i8::MIN.into(), i8::MAX.into(), place)?),
        MetricType::Int16 => Value::Int(signed(of, i16::MIN.into(), i16::MAX.into(), place)?),
        MetricType::Int32 => Value::Int(signed(of, i32::MIN.into(), i32::MAX.into(), place)?),
        MetricType::Int64 => Value::Int(signed(of, i64::MIN, i64::MAX, place)?),
        MetricType::Uint8 => Value::Uint(unsigned(of, u8::MAX.into(), place)?),
        MetricType::Uint16 => Value::Uint(unsigned(of, u16::MAX.into(), place)?),
        MetricType::Uint32 => Value::Uint(unsigned(of, u32::MAX.into(), place)?),
        MetricType::Uint64 => Value::Uint(unsigned(of, u64::MAX, place)?),
        // Its shortest text went into the file, so rounding it gives what it was.
        MetricType::Real32 => Value::Real32(real(of, place)? as f32),
        MetricType::Real64 => Value::Real64(real(of, place)?),
        MetricType::Boolean => match of {
            Json::Null => Value::Boolean(false),
            other => Value::Boolean(other.as_bool().ok_or_else(|| unfit(place, of, "true or false"))?),
        },
        MetricType::String => match of {
            Json::Null => Value::String(String::new()),
            Json::String(text) => Value::String(text.clone()),
            _ => return Err(unfit(place, of, "a text")),
        },
        MetricType::Vector(element) => match of {
            Json::Null => Value::Vector(Vec::new()),
            Json::Array(elements) => {
                Value::Vector(elements.iter().map(|of| value(element, of, place)).collect::<Result<_, _>>()?)
            }
            _ => return Err(unfit(place, of, "a list")),
        },
        MetricType::Struct(structure) => {
            let nothing = Json::Object(serde_json::Map::new());
            Value::Struct(members(&structure.members, if of.is_null() { &nothing } else { of }, place)?)
        }
    })
}

fn signed(of: &Json, min: i64, max: i64, place: &str) -> Result<i64, Unfit> {
    if of.is_null() {
        return Ok(0);
    }
    let number = of.as_i64().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| unfit(place, of, "a whole number that its type holds"))
}

fn unsigned(of: &Json, max: u64, place: &str) -> Result<u64, Unfit> {
    if of.is_null() {
        return Ok(0);
    }
    let number = of.as_u64().filter(|number| *number <= max);
    number.ok_or_else(|| unfit(place, of, "a whole number that its type holds"))
}

fn real(of: &Json, place: &str) -> Result<f64, Unfit> {
    match of {
        Json::Null => Ok(f64::NAN),
        Json::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) if text == "NaN" => Ok(f64::NAN),
        Json::String(text) if text == "Infinity" => Ok(f64::INFINITY),
        Json::String(text) if text == "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(unfit(place, of, "a number")),
    }
}

/// Characters of a message that an error shows.
const SHOWN: usize = 40;

fn unfit(place: &str, found: &Json, wanted: &'static str) -> Unfit {
    let place = if place.is_empty() { "the message" } else { place };
    let mut text: String = found.to_string().chars().take(SHOWN).collect();
    if text.chars().count() == SHOWN {
        text.push('…');
    }
    Unfit { place: place.chars().take(SHOWN).collect(), found: text, wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_that_a_type_does_not_hold_are_refused() {
        for (kind, of) in [
            (MetricType::Uint8, json!(256)),
            (MetricType::Uint64, json!(-1)),
            (MetricType::Int8, json!(-129)),
            (MetricType::Int32, json!(1.5)),
            (MetricType::Boolean, json!(1)),
            (MetricType::String, json!({})),
            (MetricType::Real64, json!("1.0")),
            (MetricType::Vector(Box::new(MetricType::Int8)), json!([1, "x"])),
        ] {
            assert!(value(&kind, &of, "metric").is_err(), "{kind:?} {of}");
        }
        let error = value(&MetricType::Uint8, &json!(256), "level").unwrap_err();
        assert_eq!(error.to_string(), "level is 256, where a whole number that its type holds is expected");
    }

    #[test]
    fn what_json_cannot_say_comes_back() {
        let real = |of: Json| value(&MetricType::Real64, &of, "x").unwrap();
        assert!(matches!(real(json!("NaN")), Value::Real64(value) if value.is_nan()));
        assert_eq!(real(json!("-Infinity")), Value::Real64(f64::NEG_INFINITY));
        assert_eq!(value(&MetricType::Uint64, &json!(u64::MAX), "x"), Ok(Value::Uint(u64::MAX)));
        assert_eq!(value(&MetricType::Real32, &json!(0.1), "x"), Ok(Value::Real32(0.1)));
    }
}
