//! Converts JSON messages to values of a probe type.

use super::shape::{is_exact, whole_of};
use crate::input::bounds::MAX_ROW;
use crate::visible::shortened;
use base64::{Engine, prelude::BASE64_STANDARD};
use oasis_wire::{
    schema::{Blob, Metric, MetricType},
    value::Value,
};
use serde_json::Value as Json;
use std::{collections::HashSet, error::Error, fmt};

/// Most values of a sample: each takes at least a byte.
const MAX_VALUES: usize = MAX_ROW;

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

/// A step from a message to a value within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The metric, or the member of a struct, with this index.
    Member(usize),
    /// The element with this index.
    Element(usize),
}

/// A value that a message does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentValue {
    pub place: Vec<Step>,
    /// Whether the sample has NaN instead.
    pub is_nan: bool,
}

/// Differences between a message and its sample.
#[derive(Debug, Default)]
pub struct Differences {
    /// Values that the message does not have, or that are null.
    pub absent: Vec<AbsentValue>,
    /// Whole numbers that a real does not represent exactly.
    pub rounded: Vec<Vec<Step>>,
}

/// Returns the values of a sample's metrics from `text`, which was parsed to `of`, and where they differ. An absent member is NaN if it is
/// real, otherwise zero, false or empty.
pub fn sample(metrics: &[Metric], text: &[u8], of: &Json) -> Result<(Vec<Value>, Differences), Unfit> {
    let mut reading = Reading {
        text,
        left: MAX_VALUES,
        place: Vec::new(),
        differences: Differences::default(),
        rounded_literals: None,
    };
    let values = reading.members(metrics, of)?;
    Ok((values, reading.differences))
}

/// The state of reading a message.
struct Reading<'a> {
    text: &'a [u8],
    /// Number of values that may follow: members missing in JSON count as well.
    left: usize,
    place: Vec<Step>,
    differences: Differences,
    /// The reals of whole numbers beyond 64 bits that a real rounds, once one was needed.
    rounded_literals: Option<HashSet<u64>>,
}

impl Reading<'_> {
    fn members(&mut self, members: &[Metric], of: &Json) -> Result<Vec<Value>, Unfit> {
        let Json::Object(of) = of else { return Err(unfit(of, "an object")) };
        self.left = self.left.checked_sub(members.len()).ok_or_else(too_many)?;
        let mut values = Vec::with_capacity(members.len());
        for (at, member) in members.iter().enumerate() {
            self.place.push(Step::Member(at));
            let of = of.get(&member.name).unwrap_or(&Json::Null);
            let value = self.value(&member.kind, of);
            self.place.pop();
            values.push(value.map_err(|unfit| unfit.within(&member.name))?);
        }
        Ok(values)
    }

    fn value(&mut self, kind: &MetricType, of: &Json) -> Result<Value, Unfit> {
        if of.is_null() {
            return self.absent(kind);
        }
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
            MetricType::Real64 => Value::Real64(self.real64(of)?),
            MetricType::Boolean => Value::Boolean(of.as_bool().ok_or_else(|| unfit(of, "true or false"))?),
            MetricType::String => match of {
                Json::String(text) => Value::String(text.clone()),
                _ => return Err(unfit(of, "a string")),
            },
            MetricType::Blob(blob) => match of {
                Json::String(text) => {
                    Value::Blob(decode_blob(*blob, text).ok_or_else(|| unfit(of, "base64"))?)
                }
                _ => return Err(unfit(of, "base64 of an image: use MCAP or Parquet for images")),
            },
            MetricType::Vector(element) => match of {
                Json::Array(elements) => self.elements(element, elements)?,
                _ => return Err(unfit(of, "a list")),
            },
            MetricType::Struct(structure) => Value::Struct(self.members(&structure.members, of)?),
        })
    }

    fn elements(&mut self, kind: &MetricType, elements: &[Json]) -> Result<Value, Unfit> {
        self.left = self.left.checked_sub(elements.len()).ok_or_else(too_many)?;
        let mut values = Vec::with_capacity(elements.len());
        for (at, of) in elements.iter().enumerate() {
            self.place.push(Step::Element(at));
            let value = self.value(kind, of);
            self.place.pop();
            values.push(value?);
        }
        Ok(Value::Vector(values))
    }

    /// Returns the value of an absent field. Each member of an absent struct is absent.
    fn absent(&mut self, kind: &MetricType) -> Result<Value, Unfit> {
        if let MetricType::Struct(structure) = kind {
            let nothing = Json::Object(serde_json::Map::new());
            return Ok(Value::Struct(self.members(&structure.members, &nothing)?));
        }
        let is_nan = matches!(kind, MetricType::Real32 | MetricType::Real64);
        self.differences.absent.push(AbsentValue { place: self.place.clone(), is_nan });
        Ok(match kind {
            MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => Value::Int(0),
            MetricType::Uint8 | MetricType::Uint16 | MetricType::Uint32 | MetricType::Uint64 => {
                Value::Uint(0)
            }
            MetricType::Real32 => Value::Real32(f32::NAN),
            MetricType::Real64 => Value::Real64(f64::NAN),
            MetricType::Boolean => Value::Boolean(false),
            MetricType::String => Value::String(String::new()),
            MetricType::Blob(_) => Value::Blob(Vec::new()),
            MetricType::Vector(_) | MetricType::Struct(_) => Value::Vector(Vec::new()),
        })
    }

    fn real64(&mut self, of: &Json) -> Result<f64, Unfit> {
        let real = real(of)?;
        let whole = of.as_i64().map(i128::from).or_else(|| of.as_u64().map(i128::from));
        let is_rounded = match whole {
            Some(whole) => !is_exact(whole),
            // Larger whole numbers are parsed as reals: only the text shows whether they are exact.
            None if real.abs() >= MAX_U64_AS_REAL && real.is_finite() && of.is_number() => {
                let text = self.text;
                let literals = self.rounded_literals.get_or_insert_with(|| rounded_literals(text));
                literals.contains(&real.abs().to_bits())
            }
            None => false,
        };
        if is_rounded {
            self.differences.rounded.push(self.place.clone());
        }
        Ok(real)
    }
}

/// 2^64.
const MAX_U64_AS_REAL: f64 = 18_446_744_073_709_551_616.0;
/// Digits of 2^64.
const MIN_LITERAL_DIGITS: usize = 20;

/// Returns the reals, as bits, of whole numbers in a JSON text that are longer than 64 bits and rounded by a real.
fn rounded_literals(text: &[u8]) -> HashSet<u64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let literals = text.split(|byte| !is_part(byte)).map(|literal| literal.trim_ascii());
    let wholes =
        literals.filter_map(|literal| str::from_utf8(literal).ok().map(|text| text.trim_start_matches('-')));
    wholes
        .filter(|text| text.len() >= MIN_LITERAL_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|text| Some((text, text.parse::<f64>().ok()?)))
        .filter(|(text, real)| format!("{real:.0}") != *text)
        .map(|(_, real)| real.to_bits())
        .collect()
}

/// The name of a value: `p.x`; elements with their index if it is wanted: `a[2].x`, otherwise `a[].x`.
pub fn field_name(metrics: &[Metric], place: &[Step], with_index: bool) -> String {
    let (mut name, mut members, mut kind) = (String::new(), metrics, None);
    for step in place {
        match step {
            Step::Member(at) => {
                let Some(member) = members.get(*at) else { break };
                if !name.is_empty() {
                    name.push('.');
                }
                name += &member.name;
                kind = Some(&member.kind);
            }
            Step::Element(at) => {
                name += &if with_index { format!("[{at}]") } else { "[]".to_owned() };
                if let Some(MetricType::Vector(element)) = kind {
                    kind = Some(element);
                }
            }
        }
        if let Some(MetricType::Struct(of)) = kind {
            members = &of.members;
        }
    }
    name
}

/// JSON Schema (2020-12, 6.1.1) counts a number with a fraction of zero as an integer.
fn integer(of: &Json) -> Option<i128> {
    let whole = of.as_i64().map(i128::from).or_else(|| of.as_u64().map(i128::from));
    whole.or_else(|| of.as_f64().and_then(whole_of))
}

fn signed(of: &Json, min: i64, max: i64) -> Result<i64, Unfit> {
    let number = integer(of).and_then(|number| i64::try_from(number).ok());
    let number = number.filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| unfit(of, "a whole number in the range of its type"))
}

fn unsigned(of: &Json, max: u64) -> Result<u64, Unfit> {
    let number = integer(of).and_then(|number| u64::try_from(number).ok());
    let number = number.filter(|number| *number <= max);
    number.ok_or_else(|| unfit(of, "a whole number in the range of its type"))
}

fn real(of: &Json) -> Result<f64, Unfit> {
    match of {
        Json::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) if text == "NaN" => Ok(f64::NAN),
        Json::String(text) if text == "Infinity" => Ok(f64::INFINITY),
        Json::String(text) if text == "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(unfit(of, "a number")),
    }
}

/// Returns the bytes of base64; none of other text, and of more bytes than the metric allows.
fn decode_blob(of: Blob, text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok().filter(|bytes| of.holds(bytes.len()))
}

fn unfit(found: &Json, wanted: &'static str) -> Unfit {
    Unfit { place: String::new(), found: shortened(&found.to_string()), wanted }
}

fn too_many() -> Unfit {
    let found = format!("one of more than {MAX_VALUES}");
    Unfit { place: String::new(), found, wanted: "fewer values in one sample" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::schema::StructType;
    use serde_json::json;

    fn value(kind: &MetricType, of: &Json) -> Result<Value, Unfit> {
        let metrics = [Metric::new("m", kind.clone())];
        let message = json!({ "m": of });
        Ok(sample(&metrics, message.to_string().as_bytes(), &message)?.0.remove(0))
    }

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
            assert!(value(&kind, &of).is_err(), "{kind:?} {of}");
        }
        let level = Metric::new("level", MetricType::Uint8);
        let inner = MetricType::Struct(StructType { name: String::new(), members: vec![level] });
        let error = sample(&[Metric::new("tank", inner)], b"", &json!({"tank": {"level": 256}})).unwrap_err();
        assert_eq!(error.to_string(), "tank.level is 256, expected a whole number in the range of its type");
        let error = sample(&[], b"", &json!("x".repeat(99))).unwrap_err();
        assert_eq!(error.to_string(), format!("the message is \"{}…, expected an object", "x".repeat(39)));
    }

    #[test]
    fn a_short_message_that_would_be_a_huge_sample_is_refused() {
        let members = (0..1_000).map(|n| Metric::new(format!("m{n}"), MetricType::Real64)).collect();
        let wide = MetricType::Struct(StructType { name: String::new(), members });
        let metrics = [Metric::new("rows", MetricType::Vector(Box::new(wide)))];
        let rows = |count: usize| json!({"rows": vec![json!({}); count]});
        assert!(sample(&metrics, b"", &rows(700)).is_ok());
        let error = sample(&metrics, b"", &rows(1_000)).unwrap_err().to_string();
        assert!(error.starts_with("rows is one of more than 786432"), "{error}");
    }

    #[test]
    fn nan_and_infinities_are_restored() {
        let real = |of: Json| value(&MetricType::Real64, &of).unwrap();
        assert!(matches!(real(json!("NaN")), Value::Real64(value) if value.is_nan()));
        assert_eq!(real(json!("-Infinity")), Value::Real64(f64::NEG_INFINITY));
        assert_eq!(value(&MetricType::Uint64, &json!(u64::MAX)), Ok(Value::Uint(u64::MAX)));
        assert_eq!(value(&MetricType::Real32, &json!(0.1)), Ok(Value::Real32(0.1)));
    }

    #[test]
    fn a_number_with_a_fraction_of_zero_is_an_integer() {
        assert_eq!(value(&MetricType::Int64, &json!(1.0)), Ok(Value::Int(1)));
        assert_eq!(value(&MetricType::Uint8, &json!(2e2)), Ok(Value::Uint(200)));
        assert_eq!(value(&MetricType::Int8, &json!(-0.0)), Ok(Value::Int(0)));
        // A larger real can stand for several whole numbers.
        assert!(value(&MetricType::Int64, &json!(1e16)).is_err());
        assert_eq!(
            value(&MetricType::Int64, &json!(10_000_000_000_000_000_u64)),
            Ok(Value::Int(10_000_000_000_000_000))
        );
    }

    #[test]
    fn absent_values_and_rounded_numbers_are_reported_with_their_place() {
        let members = vec![Metric::new("x", MetricType::Real64), Metric::new("k", MetricType::Int64)];
        let inner = MetricType::Struct(StructType { name: String::new(), members });
        let vector = |of: MetricType| MetricType::Vector(Box::new(of));
        let metrics = [
            Metric::new("b", MetricType::Boolean),
            Metric::new("p", inner.clone()),
            Metric::new("rows", vector(inner)),
            Metric::new("a", vector(MetricType::Real64)),
        ];
        let text = r#"{"b": null, "rows": [{"x": 1, "k": 2}, {}], "a":
            [9007199254740993, 9007199254740992, 12345678901234567890123, -100000000000000000000, 1e300, null]}"#;
        let (values, found) =
            sample(&metrics, text.as_bytes(), &serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(values[0], Value::Boolean(false));
        let name = |place: &[Step]| field_name(&metrics, place, true);
        let absent: Vec<_> = found.absent.iter().map(|value| (name(&value.place), value.is_nan)).collect();
        let expected = [
            ("b", false),
            ("p.x", true),
            ("p.k", false),
            ("rows[1].x", true),
            ("rows[1].k", false),
            ("a[5]", true),
        ];
        assert_eq!(absent, expected.map(|(name, is_nan)| (name.to_owned(), is_nan)));
        let rounded: Vec<_> = found.rounded.iter().map(|place| name(place)).collect();
        assert_eq!(rounded, ["a[0]", "a[2]"]);
        assert_eq!(field_name(&metrics, &found.absent[3].place, false), "rows[].x");
    }
}
