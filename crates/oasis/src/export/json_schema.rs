//! A probe type's samples as JSON Schema describes them, in the words that viewers of MCAP files understand.

use oasis_wire::schema::{EnumType, Metric, MetricType, ProbeType};
use serde_json::{Map, Value, json};

/// The schema of a sample's metrics as JSON.
pub fn of(probe_type: &ProbeType) -> Value {
    let mut schema = object(&probe_type.metrics);
    schema["title"] = probe_type.name.as_str().into();
    if let Some(doc) = &probe_type.doc {
        schema["description"] = doc.as_str().into();
    }
    schema
}

fn object(members: &[Metric]) -> Value {
    let properties: Map<String, Value> =
        members.iter().map(|member| (member.name.clone(), property(member))).collect();
    json!({"type": "object", "properties": properties})
}

fn property(metric: &Metric) -> Value {
    let mut schema = of_kind(&metric.kind, metric.enumeration.as_ref());
    let unit = metric.unit.as_ref().map(|unit| format!("[{unit}]"));
    let words: Vec<_> = metric.doc.clone().into_iter().chain(unit).collect();
    if !words.is_empty() {
        schema["description"] = words.join(" ").into();
    }
    schema
}

fn of_kind(kind: &MetricType, enumeration: Option<&EnumType>) -> Value {
    match kind {
        MetricType::Vector(element) => json!({"type": "array", "items": of_kind(element, enumeration)}),
        MetricType::Struct(of) => object(&of.members),
        MetricType::Boolean => json!({"type": "boolean"}),
        MetricType::String => json!({"type": "string"}),
        MetricType::Real32 | MetricType::Real64 => json!({"type": "number"}),
        _ => enumeration.map_or_else(|| json!({"type": "integer"}), one_of),
    }
}

/// How Foxglove's own schemas say which names numbers have.
fn one_of(enumeration: &EnumType) -> Value {
    let value = |value: &oasis_wire::schema::Enumerator| json!({"title": value.name, "const": value.value});
    json!({"title": enumeration.name, "oneOf": enumeration.values.iter().map(value).collect::<Vec<_>>()})
}
