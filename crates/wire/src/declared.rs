//! Probe types that a program declares without PDL, in any language: read from JSON, checked as the PDL compiler checks a file, and identified.

use crate::{
    identity::identify,
    schema::{InvalidType, Metric, MetricType, ProbeType, Threshold},
    unit,
};
use alloc::{
    borrow::ToOwned,
    collections::BTreeSet,
    string::{String, ToString},
};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

/// Why a schema is refused. Each names what is wrong and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum DeclarationError {
    #[error("schema is not JSON of a probe type: {0}")]
    Json(String),
    #[error("the schema cannot be used: {0}")]
    Invalid(#[from] InvalidType),
    #[error(
        "the name of {what} {name:?} cannot be written in PDL: begin with a letter, then letters, digits and _"
    )]
    Name { what: &'static str, name: String },
    #[error("two of the type's metrics have the name {0:?}: rename one")]
    Duplicate(String),
    #[error("the unit of metric {metric:?} is {unit:?}: {problem}")]
    Unit { metric: String, unit: String, problem: String },
    #[error("metric {metric:?} is {kind}, which cannot have {what}: only numbers have limits")]
    NoLimits { metric: String, kind: String, what: &'static str },
    #[error(
        "{what} of metric {metric:?} is {number}, which {kind} cannot be: write a number that the type can have"
    )]
    Misfit { metric: String, what: &'static str, number: String, kind: String },
    #[error("{what} of metric {metric:?}: {lower} is greater than {upper}")]
    Reversed { metric: String, what: &'static str, lower: String, upper: String },
    #[error("the version is {0:?}: write two numbers, such as \"1.0\"")]
    Version(String),
}

/// Reads a schema. If it has no `uuid`, it is checked and gets the [identity](crate::identity) that its other members have.
///
/// # Errors
/// Text that is no schema, and for one without `uuid` what the PDL compiler refuses.
pub fn read(json: &str) -> Result<ProbeType, DeclarationError> {
    let wrong = |error: serde_json::Error| DeclarationError::Json(error.to_string());
    let mut members: Map<String, Value> = serde_json::from_str(json).map_err(wrong)?;
    let is_identified = members.contains_key("uuid");
    if !is_identified {
        members.insert("uuid".to_owned(), Uuid::nil().to_string().into());
    }
    let mut probe_type: ProbeType = serde_json::from_value(Value::Object(members)).map_err(wrong)?;
    probe_type.validate()?;
    if !is_identified {
        check(&probe_type)?;
        identify(&mut probe_type);
    }
    Ok(probe_type)
}

/// Whether PDL has this name: a letter, then letters, digits and `_`.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn check(of: &ProbeType) -> Result<(), DeclarationError> {
    check_scoped("type", &of.name)?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    let is_version =
        of.version.split_once('.').is_some_and(|(major, minor)| is_digits(major) && is_digits(minor));
    if !is_version {
        return Err(DeclarationError::Version(of.version.clone()));
    }
    check_metrics(&of.metrics)
}

fn check_metrics(metrics: &[Metric]) -> Result<(), DeclarationError> {
    let mut names = BTreeSet::new();
    for metric in metrics {
        check_name("metric", &metric.name)?;
        if !names.insert(&metric.name) {
            return Err(DeclarationError::Duplicate(metric.name.clone()));
        }
        if let Some(unit) = &metric.unit
            && let Err(wrong) = unit::check(unit)
        {
            let problem = wrong
                .help
                .map_or_else(|| wrong.message.clone(), |help| alloc::format!("{}: {help}", wrong.message));
            return Err(DeclarationError::Unit { metric: metric.name.clone(), unit: unit.clone(), problem });
        }
        let mut kind = &metric.kind;
        while let Some(element) = kind.element() {
            kind = element;
        }
        if let MetricType::Struct(of) = kind {
            check_scoped("struct", &of.name)?;
            check_metrics(&of.members)?;
        }
        if let Some(of) = &metric.enumeration {
            check_scoped("enum", &of.name)?;
            of.values.iter().try_for_each(|value| check_name("enumerator", &value.name))?;
        }
        check_limits(metric, kind)?;
    }
    Ok(())
}

/// The limits of a metric whose innermost type is `kind`.
fn check_limits(metric: &Metric, kind: &MetricType) -> Result<(), DeclarationError> {
    let none = Threshold::default();
    let (warn, alarm) = (metric.warn.as_ref().unwrap_or(&none), metric.alarm.as_ref().unwrap_or(&none));
    let ranges = [
        (["min", "max"], &metric.min, &metric.max),
        (["warn", "warn"], &warn.below, &warn.above),
        (["alarm", "alarm"], &alarm.below, &alarm.above),
    ];
    let name = || metric.name.clone();
    for ([lower_name, upper_name], lower, upper) in ranges {
        for (what, number) in [(lower_name, lower), (upper_name, upper)] {
            let Some(number) = number else { continue };
            let primitive =
                kind.primitive().filter(|known| known.is_number() && metric.enumeration.is_none());
            let Some(primitive) = primitive else {
                let kind = kind.primitive().map_or("a struct", |primitive| primitive.name()).to_owned();
                return Err(DeclarationError::NoLimits { metric: name(), kind, what });
            };
            let fits = primitive.integers().is_none_or(|(least, greatest)| {
                number.as_i128().is_some_and(|number| least <= number && number <= greatest)
            });
            if !fits {
                let kind = primitive.name().to_owned();
                return Err(DeclarationError::Misfit {
                    metric: name(),
                    what,
                    number: number.to_string(),
                    kind,
                });
            }
        }
        if let (Some(lower), Some(upper)) = (lower, upper)
            && is_less(upper, lower)
        {
            let (lower, upper) = (lower.to_string(), upper.to_string());
            let what = if lower_name == "min" { "the range" } else { lower_name };
            return Err(DeclarationError::Reversed { metric: name(), what, lower, upper });
        }
    }
    Ok(())
}

fn is_less(one: &Number, other: &Number) -> bool {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

fn check_scoped(what: &'static str, name: &str) -> Result<(), DeclarationError> {
    name.split("::").try_for_each(|part| check_name(what, part))
}

fn check_name(what: &'static str, name: &str) -> Result<(), DeclarationError> {
    if is_name(name) { Ok(()) } else { Err(DeclarationError::Name { what, name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn declared(metric: &str) -> Result<ProbeType, DeclarationError> {
        read(&format!(r#"{{"name": "motor", "version": "1.0", "metrics": [{{"name": "a", {metric}}}]}}"#))
    }

    fn refused(metric: &str) -> String {
        declared(metric).unwrap_err().to_string()
    }

    #[test]
    fn a_schema_without_a_uuid_is_identified_and_one_with_it_is_left_alone() {
        let one =
            declared(r#""type": "real64", "unit": "Cel", "min": -40, "warn": {"above": 80.5}"#).unwrap();
        let other =
            declared(r#""type": "real64", "unit": "Cel", "min": -40, "warn": {"above": 81}"#).unwrap();
        assert_eq!(one.uuid.get_version_num(), 5);
        assert_ne!(one.uuid, other.uuid);
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(read(&json).unwrap(), one);
        assert!(read(&json.replace("Cel", "celsius")).is_ok(), "types of PDL were checked by its compiler");
    }

    #[test]
    fn what_pdl_refuses_is_refused_with_its_place() {
        assert!(
            refused(r#""type": "real64", "unit": "celsius""#)
                .starts_with(r#"the unit of metric "a" is "celsius": unknown unit"#)
        );
        assert!(refused(r#""type": "string", "min": 1"#).contains("is string, which cannot have min"));
        assert!(
            refused(r#""type": "uint8", "min": -40"#)
                .contains(r#"min of metric "a" is -40, which uint8 cannot be"#)
        );
        assert!(refused(r#""type": "int8", "max": 0.5"#).contains("max of metric"));
        assert!(
            refused(r#""type": "int8", "min": 5, "max": 4"#)
                .contains("the range of metric \"a\": 5 is greater than 4")
        );
        assert!(refused(r#""type": "int8", "alarm": {"below": 5, "above": 4}"#).contains("alarm of metric"));
        let twice = r#"{"name": "m", "version": "1.0", "metrics": [{"name": "a", "type": "int8"}, {"name": "a", "type": "int8"}]}"#;
        assert!(read(twice).unwrap_err().to_string().contains("have the name \"a\""));
        let name = r#"{"name": "control loop", "version": "1.0", "metrics": []}"#;
        assert!(read(name).unwrap_err().to_string().contains("control loop"));
        assert!(
            read(r#"{"name": "m", "version": "1", "metrics": []}"#)
                .unwrap_err()
                .to_string()
                .contains("\"1.0\"")
        );
        assert!(read("[]").unwrap_err().to_string().starts_with("schema is not JSON of a probe type"));
    }
}
