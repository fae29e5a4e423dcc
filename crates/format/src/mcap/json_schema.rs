//! The JSON Schema of a probe type's samples, in the form that viewers of MCAP files understand.

use oasis_wire::schema::{EnumType, Metric, MetricType, ProbeType};
use serde_json::{Map, Value, json};

/// The member with the state of the probe.
pub const STATE: &str = "oasis.state";

/// Returns the schema of a message: the metrics of a sample, and the state of its probe, so that viewers can plot it too.
pub fn of(probe_type: &ProbeType) -> Value {
    let mut schema = object(&probe_type.metrics);
    schema["properties"][STATE] =
        json!({"type": "integer", "minimum": 0, "description": "State of the probe; omitted if 0."});
    schema["title"] = probe_type.name.as_str().into();
    if let Some(doc) = &probe_type.doc {
        schema["description"] = doc.as_str().into();
    }
    schema
}

fn object(members: &[Metric]) -> Value {
    let described = |member: &Metric| Some((member.name.clone(), property(member)?));
    let properties: Map<String, Value> = members.iter().filter_map(described).collect();
    json!({"type": "object", "properties": properties})
}

/// Returns `None` for vectors of vectors: Foxglove and Lichtblick refuse schemas with them, but show members without a schema.
fn property(metric: &Metric) -> Option<Value> {
    let mut schema = of_kind(&metric.kind, metric.enumeration.as_ref())?;
    let unit = metric.unit.as_ref().map(|unit| format!("[{unit}]"));
    let words: Vec<_> = metric.doc.clone().into_iter().chain(unit).collect();
    if !words.is_empty() {
        schema["description"] = words.join(" ").into();
    }
    Some(schema)
}

fn of_kind(kind: &MetricType, enumeration: Option<&EnumType>) -> Option<Value> {
    Some(match kind {
        MetricType::Vector(element) if matches!(**element, MetricType::Vector(_)) => return None,
        MetricType::Vector(element) => json!({"type": "array", "items": of_kind(element, enumeration)?}),
        MetricType::Struct(of) => object(&of.members),
        MetricType::Boolean => json!({"type": "boolean"}),
        MetricType::String => json!({"type": "string"}),
        MetricType::Blob(of) => {
            json!({"type": "string", "contentEncoding": "base64", "contentMediaType": of.media_type.name()})
        }
        MetricType::Real32 | MetricType::Real64 => json!({"type": "number"}),
        MetricType::Uint8 | MetricType::Uint16 | MetricType::Uint32 | MetricType::Uint64 => {
            integer(json!({"type": "integer", "minimum": 0}), enumeration)
        }
        MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => {
            integer(json!({"type": "integer"}), enumeration)
        }
    })
}

/// Adds names of numbers as in Foxglove's own schemas. Elements of vectors only get the type.
fn integer(mut schema: Value, enumeration: Option<&EnumType>) -> Value {
    if let Some(of) = enumeration {
        let value =
            |value: &oasis_wire::schema::Enumerator| json!({"title": value.name, "const": value.value});
        schema["title"] = of.name.as_str().into();
        schema["oneOf"] = of.values.iter().map(value).collect();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_nothing_that_viewers_refuse() {
        let mode =
            json!({"name": "Mode", "values": [{"name": "IDLE", "value": 0}, {"name": "BACK", "value": -3}]});
        let point = json!({"struct": {"name": "Point", "members": [
            {"name": "x", "type": "real32"}, {"name": "grid", "type": {"vector": {"vector": "real64"}}},
        ]}});
        let probe_type: ProbeType = serde_json::from_value(json!({
            "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "doc": "A tank.",
            "metrics": [
                {"name": "level", "type": "real64", "unit": "m", "doc": "How full."},
                {"name": "total", "type": "uint64"},
                {"name": "mode", "type": "int8", "enum": mode},
                {"name": "modes", "type": {"vector": "int8"}, "enum": mode},
                {"name": "rows", "type": {"vector": {"vector": "uint8"}}},
                {"name": "path", "type": {"vector": point}},
            ],
        }))
        .unwrap();
        let one_of = json!([{"title": "IDLE", "const": 0}, {"title": "BACK", "const": -3}]);
        let mode = json!({"type": "integer", "title": "Mode", "oneOf": one_of});
        let point = json!({"type": "object", "properties": {"x": {"type": "number"}}});
        assert_eq!(
            of(&probe_type),
            json!({"type": "object", "title": "Plant::Tank", "description": "A tank.", "properties": {
                "level": {"type": "number", "description": "How full. [m]"},
                "total": {"type": "integer", "minimum": 0},
                "mode": mode,
                "modes": {"type": "array", "items": mode},
                "path": {"type": "array", "items": point},
                "oasis.state": {"type": "integer", "minimum": 0, "description": "State of the probe; omitted if 0."},
            }})
        );
    }
}
