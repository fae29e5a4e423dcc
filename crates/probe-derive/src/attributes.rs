//! `#[probe(…)]` and `///` on structs, enums, fields and variants.

use crate::{
    names::Name,
    numbers::{Limits, Number, Threshold},
};
use oasis_wire::{
    quantity::{DemandRange, Hertz},
    schema::Rate,
    unit,
};
use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Token, meta::ParseNestedMeta,
    parenthesized, parse::ParseStream,
};

const KINDS: [&str; 4] = ["counter", "gauge", "state", "event"];

/// On a struct or an enum.
#[derive(Debug, Default)]
pub struct OnType {
    /// `type = "…"`
    pub name: Option<Name>,
    /// `version = "…"`
    pub version: Option<String>,
    /// `uuid = "…"`
    pub uuid: Option<uuid::Uuid>,
    /// `rate(demand, …)`
    pub rate: Option<Rate>,
    /// Documentation.
    pub doc: Option<String>,
}

/// On a field or a variant.
#[derive(Debug, Default)]
pub struct OnField {
    /// `name = "…"`
    pub name: Option<Name>,
    /// `unit = "…"`
    pub unit: Option<String>,
    /// `kind = "…"`
    pub kind: Option<String>,
    /// `label = "…"`
    pub label: Option<String>,
    /// Documentation.
    pub doc: Option<String>,
    /// `min`, `max`, `warn`, `alarm`
    pub limits: Limits,
    /// `skip`
    pub skip: bool,
}

impl OnType {
    /// Parses the attributes of a struct or an enum. `allowed` are those that it can have.
    pub fn parse(attributes: &[Attribute], allowed: &[&str]) -> Result<Self> {
        let mut of = Self { doc: documentation(attributes), ..Self::default() };
        each(attributes, allowed, "here", |name, meta| {
            match name {
                "type" => of.name = Some(scoped(meta)?),
                "version" => of.version = Some(version(meta)?),
                "uuid" => of.uuid = Some(uuid(meta)?),
                "rate" => of.rate = Some(rate(meta)?),
                _ => of.doc = Some(text(meta)?.value()),
            }
            Ok(())
        })?;
        Ok(of)
    }
}

impl OnField {
    /// Parses the attributes of a field or a variant, which `what` names. `allowed` are those that it can have.
    pub fn parse(attributes: &[Attribute], allowed: &[&str], what: &str) -> Result<Self> {
        let mut of = Self { doc: documentation(attributes), ..Self::default() };
        each(attributes, allowed, what, |name, meta| {
            match name {
                "name" => {
                    let given = text(meta)?;
                    of.name = Some(Name { text: given.value(), span: given.span() });
                }
                "unit" => of.unit = Some(unit(meta, what)?),
                "kind" => of.kind = Some(kind(meta, what)?),
                "label" => of.label = Some(label(meta, what)?),
                "doc" => of.doc = Some(text(meta)?.value()),
                "min" => of.limits.min = Some(Number::parse(meta.value()?)?),
                "max" => of.limits.max = Some(Number::parse(meta.value()?)?),
                "warn" => of.limits.warn = Some(threshold(meta)?),
                "alarm" => of.limits.alarm = Some(threshold(meta)?),
                _ => of.skip = true,
            }
            Ok(())
        })?;
        Ok(of)
    }
}

/// Calls `take` with each word of `#[probe(…)]`, at most once with each.
fn each(
    attributes: &[Attribute],
    allowed: &[&str],
    what: &str,
    mut take: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let mut seen = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("probe")) {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            if !allowed.contains(&name.as_str()) {
                let known = allowed.join("`, `");
                return Err(meta.error(format!("`{name}` is not possible {what}: use `{known}`")));
            }
            if seen.contains(&name) {
                return Err(meta.error(format!("`{name}` stands {what} twice: keep one")));
            }
            take(&name, &meta)?;
            seen.push(name);
            Ok(())
        })?;
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let value = meta.value()?;
    value.parse().map_err(|error: Error| Error::new(error.span(), "expected a text in quotes"))
}

fn scoped(meta: &ParseNestedMeta<'_>) -> Result<Name> {
    let given = text(meta)?;
    let name = Name { text: given.value(), span: given.span() };
    name.check_scoped()?;
    Ok(name)
}

/// `"1.2"`, or `1.2`.
fn version(meta: &ParseNestedMeta<'_>) -> Result<String> {
    let literal: Lit = meta.value()?.parse()?;
    let version = match &literal {
        Lit::Str(text) => text.value(),
        Lit::Float(number) => number.to_string(),
        _ => String::new(),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    match version.split_once('.') {
        Some((major, minor)) if is_digits(major) && is_digits(minor) => Ok(version),
        _ => Err(Error::new(literal.span(), "expected a version of two numbers: `version = \"1.0\"`")),
    }
}

fn uuid(meta: &ParseNestedMeta<'_>) -> Result<uuid::Uuid> {
    let given = text(meta)?;
    let is_plain = given.value().len() == 36;
    let parsed = given.value().parse().ok().filter(|_| is_plain);
    parsed.ok_or_else(|| {
        Error::new(
            given.span(),
            "expected a UUID, such as that of `uuidgen`; without one it is computed from the schema",
        )
    })
}

fn rate(meta: &ParseNestedMeta<'_>) -> Result<Rate> {
    let example = "write `rate(demand, 1, 100)`: lowest and highest rate, 0.01 to 1000 Hz";
    let inner;
    parenthesized!(inner in meta.input);
    let word: Ident = inner.parse()?;
    let hertz = |inner: ParseStream<'_>| -> Result<(Hertz, Span)> {
        inner.parse::<Token![,]>()?;
        let number = Number::parse(inner)?;
        let hertz = Hertz::new(number.to_f64())
            .map_err(|error| Error::new(number.span, format!("{error}: {example}")))?;
        Ok((hertz, number.span))
    };
    let ((min, _), (max, span)) = (hertz(&inner)?, hertz(&inner)?);
    if word != "demand" {
        return Err(Error::new(word.span(), example));
    }
    let demand = DemandRange::new(min, max).map_err(|error| Error::new(span, error.to_string()))?;
    Ok(Rate { demand: Some(demand) })
}

fn unit(meta: &ParseNestedMeta<'_>, what: &str) -> Result<String> {
    let given = text(meta)?;
    let unit = given.value();
    if let Err(wrong) = unit::check(&unit) {
        let help = wrong.help.map(|help| format!(": {help}")).unwrap_or_default();
        return Err(Error::new(given.span(), format!("unit {what}: {}{help}", wrong.message)));
    }
    Ok(unit)
}

fn kind(meta: &ParseNestedMeta<'_>, what: &str) -> Result<String> {
    let given = text(meta)?;
    if KINDS.contains(&given.value().as_str()) {
        return Ok(given.value());
    }
    Err(Error::new(given.span(), format!("kind {what}: write counter, gauge, state or event")))
}

/// PDL cannot quote a quote.
fn label(meta: &ParseNestedMeta<'_>, what: &str) -> Result<String> {
    let given = text(meta)?;
    if given.value().contains(['"', '\n', '\r']) {
        return Err(Error::new(
            given.span(),
            format!("label {what}: leave out quotes and line breaks, which PDL cannot say"),
        ));
    }
    Ok(given.value())
}

fn threshold(meta: &ParseNestedMeta<'_>) -> Result<Threshold> {
    let inner;
    parenthesized!(inner in meta.input);
    Threshold::parse(&inner)
}

/// The `///` lines, without the blank after the slashes.
fn documentation(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value()),
                _ => None,
            },
            _ => None,
        })
        .flat_map(|text| {
            text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()).collect::<Vec<_>>()
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
