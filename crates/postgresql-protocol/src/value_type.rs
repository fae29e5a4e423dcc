//! Types of columns and parameters, and their values as text and in binary.

use crate::failure::{SqlFailure, code};
use oasis_wire::time::{format_digits, parse_date};
use rusqlite::types::{Value, ValueRef};
use std::str;

/// Nanoseconds between 1970 and 2000, from which PostgreSQL counts.
const EPOCH_2000: i128 = 946_684_800_000_000_000;
/// Bytes of a time as the columns of samples show it: `2026-05-04T12:00:00.000000000Z`.
const TIME_BYTES: usize = 30;
/// Least and greatest magnitude of a real that is written without an exponent.
const PLAIN_REALS: std::ops::Range<f64> = 1e-4..1e15;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// True or false.
    Bool,
    /// Bytes.
    Bytea,
    /// Integers.
    Int8,
    /// Text.
    Text,
    /// Reals.
    Float8,
    /// Times.
    Timestamptz,
}

impl ValueType {
    /// Its number in `pg_type`.
    pub fn oid(self) -> u32 {
        match self {
            Self::Bool => 16,
            Self::Bytea => 17,
            Self::Int8 => 20,
            Self::Text => 25,
            Self::Float8 => 701,
            Self::Timestamptz => 1184,
        }
    }

    /// Bytes of a value in binary; -1 if they vary.
    pub fn length(self) -> i16 {
        match self {
            Self::Bool => 1,
            Self::Bytea | Self::Text => -1,
            Self::Int8 | Self::Float8 | Self::Timestamptz => 8,
        }
    }

    /// Appends a value with its length, as text or in binary.
    pub fn write(self, value: ValueRef<'_>, is_binary: bool, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(&[0; 4]);
        let written = match is_binary {
            true => self.binary(value, out),
            false => self.text(value, out),
        };
        let length = if written { (out.len() - begin - 4) as u32 } else { u32::MAX };
        out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Appends a value as text. Returns whether there is one.
    fn text(self, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
        match (self, value) {
            (_, ValueRef::Null) => return false,
            (Self::Bool, ValueRef::Integer(number)) => out.push(if number == 0 { b'f' } else { b't' }),
            (Self::Timestamptz, ValueRef::Text(text)) => match nanoseconds(text) {
                Some(time) => out.extend_from_slice(show_time(time).as_bytes()),
                None => out.extend_from_slice(text),
            },
            (_, ValueRef::Integer(number)) => out.extend_from_slice(number.to_string().as_bytes()),
            (_, ValueRef::Real(number)) => out.extend_from_slice(show_real(number).as_bytes()),
            (_, ValueRef::Text(text)) => out.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
            (_, ValueRef::Blob(bytes)) => {
                out.extend_from_slice(b"\\x");
                bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x}").as_bytes()));
            }
        }
        true
    }

    /// Appends a value in binary. Returns whether there is one.
    fn binary(self, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
        match (self, value) {
            (_, ValueRef::Null) => return false,
            (Self::Bool, ValueRef::Integer(number)) => out.push(u8::from(number != 0)),
            (Self::Int8, ValueRef::Integer(number)) => out.extend_from_slice(&number.to_be_bytes()),
            (Self::Float8, ValueRef::Integer(number)) => {
                out.extend_from_slice(&(number as f64).to_be_bytes());
            }
            (Self::Float8, ValueRef::Real(number)) => out.extend_from_slice(&number.to_be_bytes()),
            (Self::Bytea, ValueRef::Blob(bytes)) => out.extend_from_slice(bytes),
            (Self::Timestamptz, ValueRef::Text(text)) => {
                let Some(time) = nanoseconds(text) else { return false };
                let micros = i64::try_from((time - EPOCH_2000).div_euclid(1_000)).unwrap_or(i64::MAX);
                out.extend_from_slice(&micros.to_be_bytes());
            }
            (Self::Text, value) => return Self::Text.text(value, out),
            // A value of another type than its column's has no form.
            _ => return false,
        }
        true
    }
}

/// Whether a text is a time as the columns of samples show it.
pub fn is_time(text: &[u8]) -> bool {
    let shape = b"0000-00-00T00:00:00.000000000Z";
    text.len() == TIME_BYTES
        && text.iter().zip(shape).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            wanted => byte == wanted,
        })
}

/// Nanoseconds since 1970 of a time.
pub fn nanoseconds(text: &[u8]) -> Option<i128> {
    parse_date(str::from_utf8(text).ok()?)
}

/// A time as PostgreSQL shows it, in UTC, with microseconds.
fn show_time(time: i128) -> String {
    let shown = u64::try_from(time)
        .map_or_else(|_| "1970-01-01T00:00:00.000000Z".into(), |time| format_digits(time / 1_000 * 1_000, 6));
    let shown = shown.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    format!("{}+00", shown.replacen('T', " ", 1))
}

/// A real with its shortest digits.
pub fn show_real(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".into(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        number if number == 0.0 || PLAIN_REALS.contains(&number.abs()) => number.to_string(),
        number => format!("{number:e}"),
    }
}

/// Kinds of parameters by the number of their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterKind {
    Bool,
    Bytea,
    Integer,
    Real,
    Time { has_days: bool },
    Text,
}

impl ParameterKind {
    fn of(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            17 => Self::Bytea,
            20 | 21 | 23 | 26 => Self::Integer,
            700 | 701 | 1700 => Self::Real,
            1082 => Self::Time { has_days: true },
            1114 | 1184 => Self::Time { has_days: false },
            _ => Self::Text,
        }
    }
}

/// Returns the value of a parameter of this type, from text or binary.
///
/// # Errors
/// If the bytes are no value of the type.
pub fn parameter(oid: u32, is_binary: bool, bytes: Option<&[u8]>) -> Result<Value, SqlFailure> {
    let Some(bytes) = bytes else { return Ok(Value::Null) };
    let kind = ParameterKind::of(oid);
    match is_binary {
        true => binary_parameter(kind, oid, bytes).ok_or_else(|| {
            let message = format!("{} bytes are no binary value of the type {oid}", bytes.len());
            SqlFailure::new(code::BAD_BINARY, message)
        }),
        false => {
            let text = str::from_utf8(bytes)
                .map_err(|_| SqlFailure::new(code::BAD_TEXT, "the text of a parameter is not UTF-8"))?;
            text_parameter(kind, text).ok_or_else(|| {
                let shown: String = text.chars().take(MAX_QUOTED_CHARACTERS).collect();
                SqlFailure::new(code::BAD_VALUE, format!("{shown:?} is no value of the type {oid}"))
            })
        }
    }
}

/// Most characters of a value in an error.
const MAX_QUOTED_CHARACTERS: usize = 100;

fn text_parameter(kind: ParameterKind, text: &str) -> Option<Value> {
    Some(match kind {
        ParameterKind::Bool => Value::Integer(match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" | "on" | "yes" => 1,
            "f" | "false" | "0" | "off" | "no" => 0,
            _ => return None,
        }),
        ParameterKind::Integer => Value::Integer(text.trim().parse().ok()?),
        ParameterKind::Real => match text.trim().parse::<i64>() {
            Ok(whole) => Value::Integer(whole),
            Err(_) => Value::Real(text.trim().parse().ok()?),
        },
        ParameterKind::Bytea => Value::Blob(bytes_of(text)?),
        // Compared as times are.
        ParameterKind::Time { .. } | ParameterKind::Text => Value::Text(text.to_owned()),
    })
}

/// Bytes of `\x` and hexadecimal digits.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?.as_bytes();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    if digits.len().is_multiple_of(2) { pairs.collect() } else { None }
}

fn binary_parameter(kind: ParameterKind, oid: u32, bytes: &[u8]) -> Option<Value> {
    Some(match kind {
        ParameterKind::Bool => Value::Integer(i64::from(*<&[u8; 1]>::try_from(bytes).ok()? != [0])),
        ParameterKind::Integer => Value::Integer(integer(oid, bytes)?),
        ParameterKind::Real => Value::Real(match (oid, bytes.len()) {
            (701, 8) => f64::from_be_bytes(bytes.try_into().ok()?),
            (700, 4) => f32::from_be_bytes(bytes.try_into().ok()?).into(),
            // Decimal digits of PostgreSQL: drivers send these as text.
            _ => return None,
        }),
        ParameterKind::Bytea => Value::Blob(bytes.to_vec()),
        ParameterKind::Time { has_days } => {
            let since = match has_days {
                true => i128::from(i32::from_be_bytes(bytes.try_into().ok()?)) * 86_400_000_000_000,
                false => i128::from(i64::from_be_bytes(bytes.try_into().ok()?)) * 1_000,
            };
            let time = u64::try_from(EPOCH_2000 + since).ok()?;
            Value::Text(format_digits(time, 9))
        }
        ParameterKind::Text => Value::Text(str::from_utf8(bytes).ok()?.to_owned()),
    })
}

fn integer(oid: u32, bytes: &[u8]) -> Option<i64> {
    Some(match oid {
        20 => i64::from_be_bytes(bytes.try_into().ok()?),
        21 => i16::from_be_bytes(bytes.try_into().ok()?).into(),
        26 => u32::from_be_bytes(bytes.try_into().ok()?).into(),
        _ => i32::from_be_bytes(bytes.try_into().ok()?).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(kind: ValueType, value: ValueRef<'_>, is_binary: bool) -> Vec<u8> {
        let mut out = Vec::new();
        kind.write(value, is_binary, &mut out);
        out
    }

    #[test]
    fn each_type_has_its_text() {
        let text = |kind, value| String::from_utf8(written(kind, value, false)[4..].to_vec()).unwrap();
        assert_eq!(text(ValueType::Int8, ValueRef::Integer(-5)), "-5");
        assert_eq!(text(ValueType::Bool, ValueRef::Integer(1)), "t");
        assert_eq!(text(ValueType::Float8, ValueRef::Real(0.1)), "0.1");
        assert_eq!(text(ValueType::Float8, ValueRef::Real(f64::NEG_INFINITY)), "-Infinity");
        assert_eq!(text(ValueType::Float8, ValueRef::Real(1e300)), "1e300");
        assert_eq!(text(ValueType::Bytea, ValueRef::Blob(&[0, 0xab])), "\\x00ab");
        for (time, shown) in [
            (&b"2026-05-04T12:00:00.123456789Z"[..], "2026-05-04 12:00:00.123456+00"),
            (b"2026-05-04T12:00:00.000000000Z", "2026-05-04 12:00:00+00"),
            (b"2026-05-04T12:00:10.500000000Z", "2026-05-04 12:00:10.5+00"),
        ] {
            assert_eq!(text(ValueType::Timestamptz, ValueRef::Text(time)), shown);
        }
        assert_eq!(written(ValueType::Text, ValueRef::Null, false), [0xff; 4]);
    }

    #[test]
    fn each_type_has_its_binary_form() {
        assert_eq!(written(ValueType::Int8, ValueRef::Integer(1), true), b"\0\0\0\x08\0\0\0\0\0\0\0\x01");
        assert_eq!(written(ValueType::Bool, ValueRef::Integer(7), true), b"\0\0\0\x01\x01");
        let after_2000 =
            written(ValueType::Timestamptz, ValueRef::Text(b"2000-01-01T00:00:01.000000000Z"), true);
        assert_eq!(after_2000[4..], 1_000_000_i64.to_be_bytes());
        assert_eq!(written(ValueType::Float8, ValueRef::Real(1.5), true)[4..], 1.5_f64.to_be_bytes());
        assert_eq!(written(ValueType::Int8, ValueRef::Text(b"x"), true), [0xff; 4]);
    }

    #[test]
    fn parameters_come_as_text_and_in_binary() {
        assert_eq!(parameter(20, false, Some(b"12")), Ok(Value::Integer(12)));
        assert_eq!(parameter(21, true, Some(&[0xff, 0xfe])), Ok(Value::Integer(-2)));
        assert_eq!(parameter(701, true, Some(&2.5_f64.to_be_bytes())), Ok(Value::Real(2.5)));
        assert_eq!(parameter(25, false, Some(b"pump")), Ok(Value::Text("pump".into())));
        assert_eq!(parameter(17, false, Some(b"\\x0aff")), Ok(Value::Blob(vec![10, 255])));
        assert_eq!(parameter(16, false, Some(b"t")), Ok(Value::Integer(1)));
        assert_eq!(parameter(20, false, None), Ok(Value::Null));
        let time = parameter(1184, true, Some(&1_000_000_i64.to_be_bytes()));
        assert_eq!(time, Ok(Value::Text("2000-01-01T00:00:01.000000000Z".into())));
        for (oid, is_binary, bytes) in
            [(20, false, &b"x"[..]), (20, true, b"123"), (16, false, b"maybe"), (25, false, b"\xff")]
        {
            assert!(parameter(oid, is_binary, Some(bytes)).is_err(), "{oid} {bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_parameter_makes_it_panic(oid in 0..4_000_u32, is_binary: bool, bytes: Vec<u8>) {
            let _ = parameter(oid, is_binary, Some(&bytes));
        }
    }
}
