//! The leaves of a probe type: metrics, members of structs, elements of vectors.

use super::number::Number;
use oasis_wire::{
    schema::{Behavior, Metric, MetricType, ProbeType},
    value::Value,
};

/// Most elements of a vector that are summarized; further ones are ignored.
pub const MAX_ELEMENTS: usize = 64;

/// One number or text of a sample, or one for each element of a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Its name: `load`, `pose.x`, `loads[]`, `axes[].position`, `matrix[][]`.
    pub name: String,
    /// Its type: fixed width, or text.
    pub kind: MetricType,
    /// Whether it is a counter, so that its increase is computed.
    pub is_counter: bool,
    /// Index of its metric in the probe type.
    pub metric: usize,
    /// The path to it within the metric's value.
    path: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Member(usize),
    Each,
}

impl Leaf {
    /// Returns all leaves of a type, in order.
    pub fn all(probe_type: &ProbeType) -> Vec<Self> {
        let mut leaves = Vec::new();
        for (index, metric) in probe_type.metrics.iter().enumerate() {
            let start = Self {
                name: metric.name.clone(),
                kind: metric.kind.clone(),
                is_counter: metric.behavior == Some(Behavior::Counter),
                metric: index,
                path: Vec::new(),
            };
            start.spread(&mut leaves);
        }
        leaves
    }

    /// The greatest number of values in a sample of a type.
    pub fn most_values(probe_type: &ProbeType) -> usize {
        let of = |leaf: &Self| if leaf.has_elements() { MAX_ELEMENTS } else { 1 };
        Self::all(probe_type).iter().map(of).sum()
    }

    fn spread(self, leaves: &mut Vec<Self>) {
        match self.kind.clone() {
            MetricType::Vector(element) => {
                let mut each = self;
                each.name.push_str("[]");
                each.kind = *element;
                each.path.push(Step::Each);
                each.spread(leaves);
            }
            MetricType::Struct(of) => {
                for (index, member) in of.members.iter().enumerate() {
                    self.member(index, member).spread(leaves);
                }
            }
            MetricType::Int8
            | MetricType::Int16
            | MetricType::Int32
            | MetricType::Int64
            | MetricType::Uint8
            | MetricType::Uint16
            | MetricType::Uint32
            | MetricType::Uint64
            | MetricType::Real32
            | MetricType::Real64
            | MetricType::Boolean
            | MetricType::String => leaves.push(self),
            // A file has no number and no text: the cells of its type count samples.
            MetricType::Blob(_) => {}
        }
    }

    fn member(&self, index: usize, member: &Metric) -> Self {
        let mut path = self.path.clone();
        path.push(Step::Member(index));
        let name = format!("{}.{}", self.name, member.name);
        let is_counter = member.behavior == Some(Behavior::Counter);
        Self { name, kind: member.kind.clone(), is_counter, metric: self.metric, path }
    }

    /// Whether a sample has one for each element of a vector.
    pub fn has_elements(&self) -> bool {
        self.name.contains("[]")
    }

    /// Creates a leaf with only a name; its values are elsewhere.
    pub fn named(name: &str, kind: MetricType, is_counter: bool) -> Self {
        Self { name: name.into(), kind, is_counter, metric: 0, path: Vec::new() }
    }

    /// Whether it is a whole column of the batch.
    pub fn is_column(&self) -> bool {
        self.path.is_empty() && self.kind != MetricType::String
    }

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        self.kind == MetricType::String
    }

    /// A value as a number, if it is one.
    pub fn number(value: &Value) -> Option<Number> {
        match value {
            Value::Int(value) => Some(Number::Int(*value)),
            Value::Uint(value) => Some(Number::Uint(*value)),
            Value::Real32(value) => Some(Number::Real32(*value)),
            Value::Real64(value) => Some(Number::Real64(*value)),
            Value::Boolean(value) => Some(Number::Uint((*value).into())),
            Value::String(_) | Value::Vector(_) | Value::Struct(_) | Value::Blob(_) => None,
        }
    }

    /// The name of an element; elements of nested vectors are numbered consecutively.
    pub fn element_name(&self, element: usize) -> String {
        match self.name.rsplit_once("[]") {
            Some((before, behind)) => format!("{before}[{element}]{behind}"),
            None => self.name.clone(),
        }
    }

    /// Finds its values in the value of its metric.
    pub fn values<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        follow(&self.path, value, found);
    }
}

fn follow<'a>(path: &[Step], value: &'a Value, found: &mut Vec<&'a Value>) {
    match (path.split_first(), value) {
        (None, value) => found.push(value),
        (Some((Step::Member(index), rest)), Value::Struct(members)) => {
            if let Some(member) = members.get(*index) {
                follow(rest, member, found);
            }
        }
        (Some((Step::Each, rest)), Value::Vector(elements)) => {
            for element in elements {
                // The bound is for all nested vectors together.
                if found.len() == MAX_ELEMENTS {
                    return;
                }
                follow(rest, element, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_structs_and_vectors_have_names() {
        let probe_type: ProbeType = serde_json::from_str(
            r#"{"name": "T", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
            {"name": "load", "type": "real32"}, {"name": "name", "type": "string"}, {"name": "loads", "type": {"vector": "uint8"}},
            {"name": "pose", "type": {"struct": {"name": "P", "members": [{"name": "x", "type": "int64", "kind": "counter"}]}}},
            {"name": "axes", "type": {"vector": {"struct": {"name": "A", "members": [{"name": "at", "type": "real64"}]}}}},
            {"name": "matrix", "type": {"vector": {"vector": "real64"}}}]}"#,
        )
        .unwrap();
        let leaves = Leaf::all(&probe_type);
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.name.as_str()).collect();
        assert_eq!(names, ["load", "name", "loads[]", "pose.x", "axes[].at", "matrix[][]"]);
        assert_eq!(
            (leaves[4].element_name(3), leaves[5].element_name(3)),
            ("axes[3].at".into(), "matrix[][3]".into())
        );
        assert_eq!(leaves.iter().filter(|leaf| leaf.is_counter).count(), 1);
        let axes = Value::Vector(vec![
            Value::Struct(vec![Value::Real64(1.0)]),
            Value::Struct(vec![Value::Real64(2.0)]),
        ]);
        let mut found = Vec::new();
        leaves[4].values(&axes, &mut found);
        assert_eq!(found, [&Value::Real64(1.0), &Value::Real64(2.0)]);
        let row =
            |first: usize| Value::Vector((first..first + 30).map(|n| Value::Real64(n as f64)).collect());
        let matrix = Value::Vector(vec![row(0), row(30), row(60), row(90)]);
        let mut found = Vec::new();
        leaves[5].values(&matrix, &mut found);
        let expected: Vec<_> = (0..MAX_ELEMENTS).map(|n| Value::Real64(n as f64)).collect();
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
    }
}
