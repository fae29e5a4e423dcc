//! Infers a probe type for JSON messages of other programs: from their JSON Schema, otherwise from the first message.

use oasis_wire::schema::{InvalidType, Metric, MetricType, ProbeType, StructType};
use serde_json::Value as Json;
use uuid::Uuid;

/// Deepest nesting of objects and lists.
const DEPTH: usize = 8;

/// Why JSON messages have no probe type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoType {
    /// Only the members of an object have names.
    #[error("a message is {0}: it must be an object, whose members become metrics")]
    NoObject(&'static str),
    /// All values are deeper than that.
    #[error("the values are nested too deep: at most {DEPTH} objects and lists within each other are read")]
    Deep,
    /// Without values that could be metrics.
    #[error("the messages have no values")]
    Nothing,
    /// Such as two metrics of one name.
    #[error("invalid probe type: {0}")]
    Invalid(#[from] InvalidType),
}

/// Returns a type for these messages; `known` are the metrics of their schema.
///
/// # Errors
/// Without metrics, and with such that no type may have.
pub fn probe_type(name: &str, known: &[Metric], first: &Json) -> Result<ProbeType, NoType> {
    let metrics = if known.is_empty() { metrics_of(first) } else { known.to_vec() };
    if metrics.is_empty() {
        return Err(why_nothing(first));
    }
    let described = described(name, metrics);
    described.validate()?;
    Ok(described)
}

/// Returns why a message has no metrics.
fn why_nothing(message: &Json) -> NoType {
    match message {
        Json::Object(_) if is_deeper(message, DEPTH) => NoType::Deep,
        Json::Object(_) => NoType::Nothing,
        Json::Null => NoType::NoObject("null"),
        Json::Bool(_) => NoType::NoObject("a boolean"),
        Json::Number(_) => NoType::NoObject("a number"),
        Json::String(_) => NoType::NoObject("a text"),
        Json::Array(_) => NoType::NoObject("a list"),
    }
}

/// Returns whether objects and lists are nested deeper than `depth`. The parser bounds that.
fn is_deeper(value: &Json, depth: usize) -> bool {
    let Some(rest) = depth.checked_sub(1) else { return value.is_object() || value.is_array() };
    match value {
        Json::Object(members) => members.values().any(|member| is_deeper(member, rest)),
        Json::Array(elements) => elements.iter().any(|element| is_deeper(element, rest)),
        _ => false,
    }
}

/// Returns a type with these metrics.
pub fn described(name: &str, metrics: Vec<Metric>) -> ProbeType {
    // Deterministic, because the UUID identifies the type.
    let identity = format!("{name} {}", serde_json::to_string(&metrics).unwrap_or_default());
    let uuid = Uuid::new_v5(&Uuid::NAMESPACE_OID, identity.as_bytes());
    ProbeType { name: name.to_owned(), uuid, version: "1.0".into(), doc: None, rate: None, metrics }
}

/// Returns the metrics of a JSON Schema; empty if it is not the schema of an object.
pub fn metrics(schema: &[u8]) -> Vec<Metric> {
    let schema: Json = serde_json::from_slice(schema).unwrap_or_default();
    members(schema.get("properties"), DEPTH, &of_schema)
}

fn metrics_of(message: &Json) -> Vec<Metric> {
    members(Some(message), DEPTH, &of_value)
}

fn members(
    of: Option<&Json>,
    depth: usize,
    kind: &dyn Fn(&Json, usize) -> Option<MetricType>,
) -> Vec<Metric> {
    let members = of.and_then(Json::as_object).into_iter().flatten();
    members.filter_map(|(name, of)| Some(Metric::new(name, kind(of, depth.checked_sub(1)?)?))).collect()
}

fn of_schema(schema: &Json, depth: usize) -> Option<MetricType> {
    let is_enum = schema
        .get("oneOf")
        .and_then(Json::as_array)
        .is_some_and(|of| of.iter().all(|value| value.get("const").is_some_and(Json::is_i64)));
    match schema.get("type").and_then(Json::as_str) {
        None if is_enum => Some(MetricType::Int64),
        Some("number") => Some(MetricType::Real64),
        Some("integer") => Some(MetricType::Int64),
        Some("boolean") => Some(MetricType::Boolean),
        Some("string") => Some(MetricType::String),
        Some("array") => vector(of_schema(schema.get("items")?, depth.checked_sub(1)?)?),
        Some("object") => structure(members(schema.get("properties"), depth, &of_schema)),
        _ => None,
    }
}

fn of_value(value: &Json, depth: usize) -> Option<MetricType> {
    match value {
        // A number that is whole in the first message can be fractional in the next.
        Json::Number(_) => Some(MetricType::Real64),
        Json::Bool(_) => Some(MetricType::Boolean),
        Json::String(_) => Some(MetricType::String),
        Json::Array(elements) => vector(of_value(elements.first()?, depth.checked_sub(1)?)?),
        Json::Object(_) => structure(members(Some(value), depth, &of_value)),
        Json::Null => None,
    }
}

fn vector(element: MetricType) -> Option<MetricType> {
    Some(MetricType::Vector(Box::new(element)))
}

fn structure(members: Vec<Metric>) -> Option<MetricType> {
    (!members.is_empty()).then(|| MetricType::Struct(StructType { name: String::new(), members }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_says_more_than_a_message() {
        let schema = json!({"type": "object", "properties": {
            "count": {"type": "integer"},
            "at": {"type": "object", "properties": {"x": {"type": "number"}}},
            "names": {"type": "array", "items": {"type": "string"}},
            "mode": {"title": "Mode", "oneOf": [{"title": "IDLE", "const": 0}]},
            "anything": {},
        }});
        let described = metrics(schema.to_string().as_bytes());
        let made = probe_type("A", &described, &json!({"count": 1})).unwrap();
        let names: Vec<_> = made.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["count", "at", "names", "mode"]);
        assert_eq!(made.metrics[0].kind, MetricType::Int64);
        assert_eq!(Ok(made), probe_type("A", &described, &json!({})));

        let made = probe_type("A", &[], &json!({"count": 1, "nothing": null, "list": [[true]]})).unwrap();
        let vector = MetricType::Vector(Box::new(MetricType::Vector(Box::new(MetricType::Boolean))));
        assert_eq!(made.metrics, [Metric::new("count", MetricType::Real64), Metric::new("list", vector)]);
    }

    #[test]
    fn a_message_without_metrics_has_a_reason() {
        let why = |message: &Json| probe_type("A", &[], message).unwrap_err();
        for (message, kind) in [
            (json!([1, 2]), "a list"),
            (json!(3.5), "a number"),
            (json!("hot"), "a text"),
            (json!(true), "a boolean"),
            (json!(null), "null"),
        ] {
            assert_eq!(why(&message), NoType::NoObject(kind));
        }
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!({ "in": inner }));
        assert!(probe_type("A", &[], &nested(DEPTH)).is_ok());
        for levels in [DEPTH + 1, 100] {
            assert_eq!(why(&nested(levels)), NoType::Deep);
        }
        assert!(NoType::Deep.to_string().contains("at most 8"));
        assert_eq!(why(&json!({"nothing": null, "empty": []})), NoType::Nothing);
    }
}
