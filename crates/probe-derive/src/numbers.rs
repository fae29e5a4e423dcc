//! Numbers in attributes, and the limits that they make.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use serde_json::Number as JsonNumber;
use syn::{Error, Ident, Lit, Result, Token, parse::ParseStream};

/// A number with its place.
#[derive(Debug, Clone)]
pub struct Number {
    /// Its value.
    pub value: Value,
    /// Its place, for errors.
    pub span: Span,
}

/// As in PDL, a number without a point and an exponent is whole.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Integer(i128),
    Real(f64),
}

impl Number {
    /// Parses a literal with or without a sign.
    pub fn parse(input: ParseStream<'_>) -> Result<Self> {
        let minus: Option<Token![-]> = input.parse()?;
        Self::unsigned(input, minus.is_some())
    }

    fn unsigned(input: ParseStream<'_>, is_negative: bool) -> Result<Self> {
        let literal: Lit = input.parse().map_err(|error| Error::new(error.span(), "expected a number"))?;
        let span = literal.span();
        let out_of_range = || Error::new(span, "number does not fit 64 bits");
        let value = match &literal {
            Lit::Int(digits) if digits.suffix().is_empty() => {
                let size: i128 = digits.base10_parse().map_err(|_| out_of_range())?;
                let number = if is_negative { -size } else { size };
                if number < i64::MIN.into() || number > u64::MAX.into() {
                    return Err(out_of_range());
                }
                Value::Integer(number)
            }
            Lit::Float(digits) if digits.suffix().is_empty() => {
                let size: f64 = digits.base10_parse()?;
                if !size.is_finite() {
                    return Err(out_of_range());
                }
                Value::Real(if is_negative { -size } else { size })
            }
            _ => return Err(Error::new(span, "expected a number without a suffix, such as `-40` or `0.5`")),
        };
        Ok(Self { value, span })
    }

    /// Its nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        match self.value {
            Value::Integer(value) => value as f64,
            Value::Real(value) => value,
        }
    }

    /// As the schema has it.
    pub fn json(&self) -> String {
        let number = match self.value {
            Value::Integer(value) => JsonNumber::from_i128(value),
            Value::Real(value) => JsonNumber::from_f64(value),
        };
        // Both have been checked while they were parsed.
        number.map(|number| number.to_string()).unwrap_or_default()
    }

    fn is_less_than(&self, other: &Self) -> bool {
        match (self.value, other.value) {
            (Value::Integer(left), Value::Integer(right)) => left < right,
            _ => self.to_f64() < other.to_f64(),
        }
    }
}

/// `< 5, > 80`, or variants of an enum.
#[derive(Debug, Clone, Default)]
pub struct Threshold {
    /// Less than this.
    pub below: Option<Number>,
    /// More than this.
    pub above: Option<Number>,
    /// One of these variants.
    pub variants: Vec<Ident>,
}

impl Threshold {
    /// Parses what stands in the parentheses of `warn(…)` and `alarm(…)`.
    pub fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut threshold = Self::default();
        loop {
            let span = input.span();
            let repeated = if input.peek(Token![<-]) {
                input.parse::<Token![<-]>()?;
                threshold.below.replace(Number::unsigned(input, true)?).is_some()
            } else if input.peek(Token![<]) {
                input.parse::<Token![<]>()?;
                threshold.below.replace(Number::parse(input)?).is_some()
            } else if input.peek(Token![>]) {
                input.parse::<Token![>]>()?;
                threshold.above.replace(Number::parse(input)?).is_some()
            } else if input.peek(syn::Ident) {
                threshold.variants.push(input.parse()?);
                false
            } else {
                return Err(Error::new(span, "expected `< 5`, `> 80`, `< 5, > 80`, or variants of an enum"));
            };
            if repeated {
                return Err(Error::new(span, "this limit stands here twice: keep one"));
            }
            if input.is_empty() {
                return Ok(threshold);
            }
            input.parse::<Token![,]>()?;
        }
    }
}

/// Range and thresholds of a metric.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Least value.
    pub min: Option<Number>,
    /// Greatest value.
    pub max: Option<Number>,
    /// When to warn.
    pub warn: Option<Threshold>,
    /// When to raise an alarm.
    pub alarm: Option<Threshold>,
}

impl Limits {
    /// Checks that the bounds of each range are in order, and thresholds inside `min` and `max`.
    pub fn check(&self, field: &str) -> Result<()> {
        let none = Threshold::default();
        let (warn, alarm) = (self.warn.as_ref().unwrap_or(&none), self.alarm.as_ref().unwrap_or(&none));
        let ranges = [
            ("range", &self.min, &self.max),
            ("warn", &warn.below, &warn.above),
            ("alarm", &alarm.below, &alarm.above),
        ];
        for (what, lower, upper) in ranges {
            if let (Some(lower), Some(upper)) = (lower, upper)
                && upper.is_less_than(lower)
            {
                let message =
                    format!("{what} of field `{field}`: {} is greater than {}", lower.json(), upper.json());
                return Err(Error::new(upper.span, message));
            }
        }
        for limit in [&warn.below, &warn.above, &alarm.below, &alarm.above].into_iter().flatten() {
            let is_outside = self.min.as_ref().is_some_and(|min| limit.is_less_than(min))
                || self.max.as_ref().is_some_and(|max| max.is_less_than(limit));
            if is_outside {
                let message =
                    format!("limit {} of field `{field}` is outside of its min and max", limit.json());
                return Err(Error::new(limit.span, message));
            }
        }
        Ok(())
    }

    /// Numbers with the names of their attributes.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, &Number)> {
        let range = self
            .min
            .iter()
            .map(|number| ("min", number))
            .chain(self.max.iter().map(|number| ("max", number)));
        range.chain(bounds("warn", &self.warn)).chain(bounds("alarm", &self.alarm))
    }

    /// Variants with the names of their attributes.
    pub fn variants(&self) -> impl Iterator<Item = (&'static str, &Ident)> {
        let warn = self.warn.iter().flat_map(|known| &known.variants).map(|ident| ("warn", ident));
        warn.chain(self.alarm.iter().flat_map(|known| &known.variants).map(|ident| ("alarm", ident)))
    }
}

fn bounds<'a>(
    name: &'static str,
    of: &'a Option<Threshold>,
) -> impl Iterator<Item = (&'static str, &'a Number)> {
    of.iter().flat_map(|known| known.below.iter().chain(&known.above)).map(move |number| (name, number))
}

/// The literal for an assertion on the number.
pub fn literal(number: &Number) -> TokenStream {
    match number.value {
        Value::Integer(value) => quote! { fits_integer(#value) },
        Value::Real(value) => quote! { fits_real(#value) },
    }
}
