//! The path to a number or text within a sample: `load`, `motor.speed`, `axes[0].position`.

use oasis_wire::{
    absence::{self, ValuePath},
    schema::{Metric, MetricType, ProbeType},
    value::{Value, value_to_json},
};
use serde_json::Value as Json;

/// Longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 200;
/// Deepest path: as deep as types may be.
const MAX_DEPTH: usize = 16;
/// Characters of a text that are shown.
const MAX_TEXT_CHARS: usize = 64;

/// A path as a reader has written it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricPath {
    metric: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Member(String),
    Element(usize),
}

impl MetricPath {
    /// Reads a path; none if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_PATH_BYTES {
            return None;
        }
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, indices) = part.find('[').map_or((part, ""), |at| part.split_at(at));
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Member(name.to_owned()));
            let mut rest = indices;
            while !rest.is_empty() {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                steps.push(Step::Element(index.parse().ok()?));
                rest = after;
            }
        }
        let Step::Member(metric) = steps.remove(0) else { return None };
        (steps.len() < MAX_DEPTH).then_some(Self { metric, steps })
    }

    /// Finds the path in a type; none if the type has nothing there, or something that is not one value.
    pub fn find(&self, probe_type: &ProbeType) -> Option<FoundPath> {
        let place = |metrics: &[Metric], name: &str| metrics.iter().position(|metric| metric.name == *name);
        let column = place(&probe_type.metrics, &self.metric)?;
        let mut kind = &probe_type.metrics.get(column)?.kind;
        let mut places = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            match (step, kind) {
                (Step::Member(name), MetricType::Struct(of)) => {
                    let member = place(&of.members, name)?;
                    kind = &of.members.get(member)?.kind;
                    places.push(member);
                }
                (Step::Element(index), MetricType::Vector(element)) => {
                    kind = element;
                    places.push(*index);
                }
                _ => return None,
            }
        }
        let is_one = !matches!(kind, MetricType::Vector(_) | MetricType::Struct(_));
        is_one.then(|| FoundPath { column, places, kind: kind.clone() })
    }
}

/// A path within one type.
#[derive(Debug, Clone)]
pub struct FoundPath {
    /// Place of the metric in the schema.
    pub column: usize,
    places: Vec<usize>,
    kind: MetricType,
}

impl FoundPath {
    /// Whether it is among the places of what a sample lacks.
    pub fn is_in(&self, absent: &[ValuePath]) -> bool {
        absence::contains(absent, self.column, &self.places)
    }

    /// Returns what is there in a metric's value, as JSON: long text is cut. Null if a vector has no such element.
    pub fn value(&self, metric: &Value) -> Json {
        let found = self.places.iter().try_fold(metric, |value, place| match value {
            Value::Struct(values) | Value::Vector(values) => values.get(*place),
            _ => None,
        });
        match found {
            Some(Value::String(text)) => text.chars().take(MAX_TEXT_CHARS).collect::<String>().into(),
            Some(value) => value_to_json(&self.kind, value),
            None => Json::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn probe_type() -> ProbeType {
        let metrics = json!([
            {"name": "load", "type": "real64"},
            {"name": "name", "type": "string"},
            {"name": "axes", "type": {"vector": {"struct": {"name": "Axis", "members": [
                {"name": "position", "type": "real32"}, {"name": "is_hot", "type": "boolean"}]}}}},
        ]);
        let uuid = "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11";
        serde_json::from_value(json!({"name": "Robot", "uuid": uuid, "version": "1.0", "metrics": metrics}))
            .unwrap()
    }

    fn value(path: &str, metric: &Value) -> Option<Json> {
        Some(MetricPath::parse(path)?.find(&probe_type())?.value(metric))
    }

    #[test]
    fn a_path_leads_to_one_value() {
        let axis = |position| Value::Struct(vec![Value::Real32(position), Value::Boolean(true)]);
        let axes = Value::Vector(vec![axis(0.1), axis(2.0)]);
        assert_eq!(value("load", &Value::Real64(0.5)), Some(json!(0.5)));
        assert_eq!(value("axes[1].position", &axes), Some(json!(2.0)));
        assert_eq!(value("axes[0].is_hot", &axes), Some(json!(true)));
        assert_eq!(value("axes[2].position", &axes), Some(Json::Null), "there is no third one");
        let long = value("name", &Value::String("\u{e4}".repeat(100))).unwrap();
        assert_eq!(long.as_str().unwrap().chars().count(), MAX_TEXT_CHARS);
    }

    #[test]
    fn a_path_to_nothing_or_to_several_values_is_not_found() {
        for path in ["speed", "axes", "axes[0]", "load.x", "load[0]", "axes.position", "axes[0].name"] {
            assert!(MetricPath::parse(path).unwrap().find(&probe_type()).is_none(), "{path}");
        }
        for path in ["", ".", "a.", "[0]", "a[", "a[x]", "a[0]b", "a[-1]", &"a".repeat(201)] {
            assert_eq!(MetricPath::parse(path), None, "{path}");
        }
        assert_eq!(MetricPath::parse(&"a.".repeat(20)), None);
    }
}
