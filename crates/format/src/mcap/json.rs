//! Converts JSON messages to values of a probe type.

use super::bounds::MAX_ROW_VALUES;
use oasis_wire::{
    schema::{Metric, MetricType},
    value::Value,
};
use serde_json::Value as Json;
use std::{error::Error, fmt};

/// A mismatch between a message and its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Names of the metric and its members, outermost first.
    place: String,
    found: String,
    wanted: &'static str,
}

impl fmt::Display for Unfit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() { "the message" } else { &self.place };
        write!(to, "{place} is {}, expected {}", self.found, self.wanted)
    }
}

impl Error for Unfit {}

impl Unfit {
    fn within(self, member: &str) -> Self {
        let mut place = member.to_owned();
        if !self.place.is_empty() {
            place.push('.');
            place.push_str(&self.place);
        }
        Self { place: shortened(&place), ..self }
    }
}

/// Returns the values of a sample's metrics. Missing members are zero, empty or, if real, NaN.
pub fn sample(metrics: &[Metric], of: &Json) -> Result<Vec<Value>, Unfit> {
    members(metrics, of, &mut MAX_ROW_VALUES.clone())
}

/// `left` is the number of values that may follow: members missing in JSON count as well.
fn members(members: &[Metric], of: &Json, left: &mut usize) -> Result<Vec<Value>, Unfit> {
    let Json::Object(of) = of else { return Err(unfit(of, "an object")) };
    *left = left.checked_sub(members.len()).ok_or_else(too_many)?;
    let member = |member: &Metric| {
        let of = of.get(&member.name).unwrap_or(&Json::Null);
        value(&member.kind, of, left).map_err(|unfit| unfit.within(&member.name))
    };
    members.iter().map(member).collect()
}

fn value(kind: &MetricType, of: &Json, left: &mut usize) -> Result<Value, Unfit> {
    Ok(match kind {
        MetricType::Int8 => Value::Int(signed(of, i8::MIN.into(), i8::MAX.into())?),
        MetricType::Int16 => Value::Int(signed(of, i16::MIN.into(), i16::MAX.into())?),
        MetricType::Int32 => Value::Int(signed(of, i32::MIN.into(), i32::MAX.into())?),
        MetricType::Int64 => Value::Int(signed(of, i64::MIN, i64::MAX)?),
        MetricType::Uint8 => Value::Uint(unsigned(of, u8::MAX.into())?),
        MetricType::Uint16 => Value::Uint(unsigned(of, u16::MAX.into())?),
        MetricType::Uint32 => Value::Uint(unsigned(of, u32::MAX.into())?),
        MetricType::Uint64 => Value::Uint(unsigned(of, u64::MAX)?),
        // The file has its shortest text, so rounding restores it.
        MetricType::Real32 => Value::Real32(real(of)? as f32),
        MetricType::Real64 => Value::Real64(real(of)?),
        MetricType::Boolean => match of {
            Json::Null => Value::Boolean(false),
            other => Value::Boolean(other.as_bool().ok_or_else(|| unfit(of, "true or false"))?),
        },
        MetricType::String => match of {
            Json::Null => Value::String(String::new()),
            Json::String(text) => Value::String(text.clone()),
            _ => return Err(unfit(of, "a string")),
        },
        MetricType::Vector(element) => match of {
            Json::Null => Value::Vector(Vec::new()),
            Json::Array(elements) => {
                *left = left.checked_sub(elements.len()).ok_or_else(too_many)?;
                Value::Vector(elements.iter().map(|of| value(element, of, left)).collect::<Result<_, _>>()?)
            }
            _ => return Err(unfit(of, "a list")),
        },
        MetricType::Struct(structure) => {
            let nothing = Json::Object(serde_json::Map::new());
            Value::Struct(members(&structure.members, if of.is_null() { &nothing } else { of }, left)?)
        }
    })
}

fn signed(of: &Json, min: i64, max: i64) -> Result<i64, Unfit> {
    if of.is_null() {
        return Ok(0);
    }
    let number = of.as_i64().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| unfit(of, "a whole number in the range of its type"))
}

fn unsigned(of: &Json, max: u64) -> Result<u64, Unfit> {
    if of.is_null() {
        return Ok(0);
    }
    let number = of.as_u64().filter(|number| *number <= max);
    number.ok_or_else(|| unfit(of, "a whole number in the range of its type"))
}

fn real(of: &Json) -> Result<f64, Unfit> {
    match of {
        Json::Null => Ok(f64::NAN),
        Json::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) if text == "NaN" => Ok(f64::NAN),
        Json::String(text) if text == "Infinity" => Ok(f64::INFINITY),
        Json::String(text) if text == "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(unfit(of, "a number")),
    }
}

fn unfit(found: &Json, wanted: &'static str) -> Unfit {
    Unfit { place: String::new(), found: shortened(&found.to_string()), wanted }
}

fn too_many() -> Unfit {
    let found = format!("one of more than {MAX_ROW_VALUES}");
    Unfit { place: String::new(), found, wanted: "fewer values in one sample" }
}

/// Characters of a message, and of a name, that an error shows.
const SHOWN: usize = 40;

/// Shortens what is shown of a file.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::schema::StructType;
    use serde_json::json;

    #[test]
    fn numbers_out_of_range_are_refused() {
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
            assert!(value(&kind, &of, &mut 9).is_err(), "{kind:?} {of}");
        }
        let level = Metric::new("level", MetricType::Uint8);
        let inner = MetricType::Struct(StructType { name: String::new(), members: vec![level] });
        let error = sample(&[Metric::new("tank", inner)], &json!({"tank": {"level": 256}})).unwrap_err();
        assert_eq!(error.to_string(), "tank.level is 256, expected a whole number in the range of its type");
        let error = sample(&[], &json!("x".repeat(99))).unwrap_err();
        assert_eq!(error.to_string(), format!("the message is \"{}…, expected an object", "x".repeat(39)));
    }

    #[test]
    fn a_short_message_that_would_be_a_huge_sample_is_refused() {
        let members = (0..1_000).map(|n| Metric::new(format!("m{n}"), MetricType::Real64)).collect();
        let wide = MetricType::Struct(StructType { name: String::new(), members });
        let metrics = [Metric::new("rows", MetricType::Vector(Box::new(wide)))];
        let rows = |count: usize| json!({"rows": vec![json!({}); count]});
        assert!(sample(&metrics, &rows(700)).is_ok());
        let error = sample(&metrics, &rows(1_000)).unwrap_err().to_string();
        assert!(error.starts_with("rows is one of more than 786432"), "{error}");
    }

    #[test]
    fn nan_and_infinities_are_restored() {
        let real = |of: Json| value(&MetricType::Real64, &of, &mut 9).unwrap();
        assert!(matches!(real(json!("NaN")), Value::Real64(value) if value.is_nan()));
        assert_eq!(real(json!("-Infinity")), Value::Real64(f64::NEG_INFINITY));
        assert_eq!(value(&MetricType::Uint64, &json!(u64::MAX), &mut 9), Ok(Value::Uint(u64::MAX)));
        assert_eq!(value(&MetricType::Real32, &json!(0.1), &mut 9), Ok(Value::Real32(0.1)));
    }
}
