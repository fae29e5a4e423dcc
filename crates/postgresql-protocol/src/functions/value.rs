//! Casts and functions of numbers and texts.

use super::scalar::{Define, argument, argument_integer, argument_real, argument_text, refused};
use rusqlite::{
    Result,
    functions::Context,
    types::{Value, ValueRef},
};

/// Defines the functions.
pub fn define(define: &Define<'_>) -> Result<()> {
    casts(define)?;
    numbers(define)?;
    texts(define)
}

fn casts(define: &Define<'_>) -> Result<()> {
    define.function("pg_int", &[1], |context| match context.get_raw(0) {
        // Half to even, as PostgreSQL rounds reals.
        ValueRef::Real(number) if number.abs() < 9.2e18 => {
            Ok(Value::Integer(number.round_ties_even() as i64))
        }
        ValueRef::Real(_) => Err(refused("bigint out of range")),
        ValueRef::Null => Ok(Value::Null),
        _ => argument_integer(context, 0).map(Value::Integer).ok_or_else(|| invalid_input("bigint", context)),
    })?;
    define.function("pg_real", &[1], |context| match context.get_raw(0) {
        ValueRef::Null => Ok(Value::Null),
        _ => argument_real(context, 0)
            .map(Value::Real)
            .ok_or_else(|| invalid_input("double precision", context)),
    })?;
    define.function("pg_numeric", &[1], |context| match context.get_raw(0) {
        ValueRef::Text(_) => match argument_integer(context, 0) {
            Some(whole) => Ok(Value::Integer(whole)),
            None => {
                argument_real(context, 0).map(Value::Real).ok_or_else(|| invalid_input("numeric", context))
            }
        },
        _ => Ok(argument(context, 0)),
    })?;
    define.function("pg_text", &[1], |context| {
        Ok(argument_text(context, 0).map_or(Value::Null, |text| Value::Text(text.into_owned())))
    })?;
    define.function("pg_bool", &[1], |context| match context.get_raw(0) {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer((number != 0).into())),
        _ => match argument_text(context, 0).unwrap_or_default().to_ascii_lowercase().as_str() {
            "t" | "true" | "yes" | "on" | "1" => Ok(Value::Integer(1)),
            "f" | "false" | "no" | "off" | "0" => Ok(Value::Integer(0)),
            _ => Err(invalid_input("boolean", context)),
        },
    })?;
    define.function("pg_bytea", &[1], |context| match context.get_raw(0) {
        ValueRef::Text(text) => Ok(Value::Blob(text.to_vec())),
        _ => Ok(argument(context, 0)),
    })
}

fn invalid_input(kind: &str, context: &Context<'_>) -> rusqlite::Error {
    let shown: String = argument_text(context, 0).unwrap_or_default().chars().take(60).collect();
    refused(format!("invalid input for type {kind}: {shown:?}"))
}

/// A function of one real.
type RealFunction = fn(f64) -> f64;

fn numbers(define: &Define<'_>) -> Result<()> {
    let functions: [(&str, RealFunction); 9] = [
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("trunc", f64::trunc),
        ("sqrt", f64::sqrt),
        ("exp", f64::exp),
        ("ln", f64::ln),
        ("log", f64::log10),
        ("degrees", f64::to_degrees),
        ("radians", f64::to_radians),
    ];
    for (name, function) in functions {
        define.function(name, &[1], move |context| match context.get_raw(0) {
            // Whole numbers stay whole where PostgreSQL keeps them so.
            ValueRef::Integer(number) if matches!(name, "floor" | "ceil" | "trunc") => {
                Ok(Value::Integer(number))
            }
            _ => Ok(argument_real(context, 0).map_or(Value::Null, |number| Value::Real(function(number)))),
        })?;
    }
    define.function("power", &[2], |context| {
        let both = argument_real(context, 0).zip(argument_real(context, 1));
        Ok(both.map_or(Value::Null, |(base, exponent)| Value::Real(base.powf(exponent))))
    })?;
    define.function("mod", &[2], |context| {
        let both = argument_integer(context, 0).zip(argument_integer(context, 1));
        Ok(both.and_then(|(a, b)| a.checked_rem(b)).map_or(Value::Null, Value::Integer))
    })?;
    define.function("sign", &[1], |context| {
        let sign = |number: f64| if number == 0.0 { 0.0 } else { number.signum() };
        Ok(argument_real(context, 0).map_or(Value::Null, |number| Value::Real(sign(number))))
    })
}

fn texts(define: &Define<'_>) -> Result<()> {
    define.function("quote_ident", &[1], |context| {
        Ok(argument_text(context, 0).map_or(Value::Null, |name| Value::Text(quote_ident(&name))))
    })?;
    define.function("quote_literal", &[1], |context| {
        let quoted = |text: &str| Value::Text(format!("'{}'", text.replace('\'', "''")));
        Ok(argument_text(context, 0).map_or(Value::Null, |text| quoted(&text)))
    })?;
    define.function("split_part", &[3], |context| {
        let (Some(text), Some(by), Some(number)) =
            (argument_text(context, 0), argument_text(context, 1), argument_integer(context, 2))
        else {
            return Ok(Value::Null);
        };
        let number = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let number = number.ok_or_else(|| refused("the field of split_part must be above 0"))?;
        let part = if by.is_empty() { (number == 0).then_some(&*text) } else { text.split(&*by).nth(number) };
        Ok(Value::Text(part.unwrap_or_default().to_owned()))
    })?;
    for (name, is_left) in [("left", true), ("right", false)] {
        define.function(name, &[2], move |context| {
            let Some((text, count)) = argument_text(context, 0).zip(argument_integer(context, 1)) else {
                return Ok(Value::Null);
            };
            let all = text.chars().count();
            let count = match usize::try_from(count) {
                Ok(count) => count.min(all),
                Err(_) => all.saturating_sub(usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX)),
            };
            let skipped = if is_left { 0 } else { all - count };
            Ok(Value::Text(text.chars().skip(skipped).take(count).collect()))
        })?;
    }
    define.function("starts_with", &[2], |context| {
        let both = argument_text(context, 0).zip(argument_text(context, 1));
        Ok(both.map_or(Value::Null, |(text, begin)| Value::Integer(text.starts_with(&*begin).into())))
    })
}

/// A name, in quotes if it needs them.
pub fn quote_ident(name: &str) -> String {
    let is_plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.as_bytes()[0].is_ascii_digit();
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
