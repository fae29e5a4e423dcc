//! Finds the fields that the messages of a channel have, and the metric of each.
//!
//! A [`Shape`] starts with the statements of a JSON Schema, and grows with each message. After the last message it knows which fields
//! are sometimes absent and which numbers need 64 bits, so that a metric can represent all of them.

use crate::table::ABSENT;
use oasis_wire::schema::{Metric, MetricType, StructType};
use serde_json::{Number, Value as Json};
use std::collections::HashMap;

/// Deepest nesting of objects and lists.
pub const MAX_DEPTH: usize = 8;
/// Bytes of a field's name that count as a field of their own towards the bound of metrics.
const NAME_BYTES: usize = 256;
/// Whole numbers up to this one are exact as 64-bit reals.
pub const MAX_EXACT: i128 = 1 << 53;

/// The values of a field in all messages.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    kind: Kind,
    /// Number of values that are not null.
    values: u64,
}

#[derive(Debug, Clone, Default)]
enum Kind {
    /// Neither the schema nor a value has shown it.
    #[default]
    Unknown,
    Number(Numbers),
    Boolean,
    Text,
    List(Box<Elements>),
    Object(Members),
    /// Nested too deep.
    Deep,
}

#[derive(Debug, Clone, Default)]
struct Elements {
    shape: Shape,
    /// Number of elements, null or not.
    count: u64,
}

#[derive(Debug, Clone, Default)]
struct Members {
    /// In the order in which they were found.
    all: Vec<(String, Shape)>,
    places: HashMap<String, usize>,
}

/// The range of numbers.
#[derive(Debug, Clone, Default)]
struct Numbers {
    /// The statement of the schema.
    declared: Option<Declared>,
    /// Whether one is not whole.
    is_fractional: bool,
    /// Whether a whole number is not exact as a 64-bit real.
    is_inexact: bool,
    min: i128,
    max: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Integer,
    Real,
}

/// A field without a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstored {
    /// Its name, those of the objects around it in front.
    pub field: String,
    /// Number of values.
    pub values: u64,
    /// The reason.
    pub why: WhyUnstored,
}

/// Reasons to leave a field out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WhyUnstored {
    /// Nested too deep.
    #[error("nested deeper than {MAX_DEPTH} objects and lists")]
    Deep,
    /// A list of which no message has an element with a value.
    #[error("lists without values")]
    EmptyLists,
    /// An object of which no message has a member with a value.
    #[error("objects without values")]
    EmptyObjects,
    /// A message of Protocol Buffers that contains its own type, or has no fields.
    #[error("messages within themselves, or without fields")]
    Recursive,
    /// The name of the metric that lists absent fields.
    #[error("the name is reserved")]
    Reserved,
}

/// The metrics of a channel.
#[derive(Debug, Clone, Default)]
pub struct Typing {
    pub metrics: Vec<Metric>,
    pub unstored: Vec<Unstored>,
    /// Whether a metric that cannot be NaN is sometimes absent.
    needs_absent: bool,
}

impl Typing {
    fn leave_out(&mut self, field: Unstored) -> Option<MetricType> {
        self.unstored.push(field);
        None
    }
}

impl Shape {
    /// The shape of objects without members.
    pub fn object() -> Self {
        Self { kind: Kind::Object(Members::default()), values: 0 }
    }

    /// Reads a JSON Schema; an object without members if it is not the schema of one.
    pub fn of_schema(schema: &[u8]) -> Self {
        let schema: Json = serde_json::from_slice(schema).unwrap_or_default();
        let properties = schema.get("properties").unwrap_or(&Json::Null);
        Self { kind: Kind::Object(Members::declared(properties, MAX_DEPTH)), values: 0 }
    }

    /// Number of fields, those of nested objects included.
    pub fn fields(&self) -> usize {
        match &self.kind {
            Kind::Object(members) => members.all.iter().map(|(_, shape)| 1 + shape.fields()).sum(),
            Kind::List(elements) => elements.shape.fields(),
            Kind::Unknown | Kind::Number(_) | Kind::Boolean | Kind::Text | Kind::Deep => 0,
        }
    }

    /// Adds a message; one that is no object is ignored. Returns what the new fields count towards the bound of metrics.
    pub fn add_message(&mut self, message: &Json) -> usize {
        if message.is_object() { self.add(message, MAX_DEPTH) } else { 0 }
    }

    /// `depth` is the number of levels that a value may have.
    fn add(&mut self, value: &Json, depth: usize) -> usize {
        if value.is_null() {
            return 0;
        }
        self.values += 1;
        if matches!(self.kind, Kind::Unknown) {
            self.kind = Kind::of_value(value, depth);
        }
        match (&mut self.kind, value) {
            (Kind::Number(numbers), Json::Number(number)) => numbers.add(number),
            // The texts of infinities and NaN.
            (Kind::Number(numbers), Json::String(_)) => numbers.is_fractional = true,
            (Kind::List(elements), Json::Array(of)) => {
                elements.count += of.len() as u64;
                return of.iter().map(|value| elements.shape.add(value, depth.saturating_sub(1))).sum();
            }
            (Kind::Object(members), Json::Object(of)) => {
                let add = |(name, value): (&String, &Json)| members.add(name, value, depth.saturating_sub(1));
                return of.iter().map(add).sum();
            }
            _ => {}
        }
        0
    }

    /// Returns the metrics of messages of this shape.
    pub fn typing(&self) -> Typing {
        let mut typing = Typing::default();
        if let Kind::Object(members) = &self.kind {
            typing.metrics = members.metrics(self.values, "", &mut typing);
        }
        if typing.needs_absent && !typing.metrics.is_empty() {
            let mut absent = Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String)));
            absent.doc =
                Some("Columns whose value is only a placeholder: the message did not have it.".into());
            typing.metrics.push(absent);
        }
        typing
    }

    /// The type of a field of which there could be `slots` values; `None` if it is not stored.
    fn metric_type(&self, slots: u64, name: &str, typing: &mut Typing) -> Option<MetricType> {
        if self.values == 0 {
            return None;
        }
        let is_sometimes_absent = self.values < slots;
        let unstored = |why| Unstored { field: name.to_owned(), values: self.values, why };
        let kind = match &self.kind {
            Kind::Unknown | Kind::Deep => return typing.leave_out(unstored(WhyUnstored::Deep)),
            Kind::Number(numbers) => numbers.metric_type(is_sometimes_absent),
            Kind::Boolean => MetricType::Boolean,
            Kind::Text => MetricType::String,
            Kind::List(elements) if elements.shape.values == 0 => {
                return typing.leave_out(unstored(WhyUnstored::EmptyLists));
            }
            Kind::List(elements) => {
                let element = elements.shape.metric_type(elements.count, &format!("{name}[]"), typing)?;
                MetricType::Vector(Box::new(element))
            }
            Kind::Object(members) if members.all.iter().all(|(_, member)| member.values == 0) => {
                return typing.leave_out(unstored(WhyUnstored::EmptyObjects));
            }
            Kind::Object(members) => {
                let members = members.metrics(slots, &format!("{name}."), typing);
                // Members say of themselves that they are absent.
                return (!members.is_empty())
                    .then(|| MetricType::Struct(StructType { name: String::new(), members }));
            }
        };
        typing.needs_absent |= is_sometimes_absent && kind != MetricType::Real64;
        Some(kind)
    }
}

impl Kind {
    fn of_value(value: &Json, depth: usize) -> Self {
        match value {
            Json::Null => Self::Unknown,
            Json::Number(_) => Self::Number(Numbers::default()),
            Json::Bool(_) => Self::Boolean,
            Json::String(_) => Self::Text,
            Json::Array(_) | Json::Object(_) if depth == 0 => Self::Deep,
            Json::Array(_) => Self::List(Box::default()),
            Json::Object(_) => Self::Object(Members::default()),
        }
    }

    /// The statement of a schema; [`Kind::Unknown`] if the values have to show it.
    fn declared(schema: &Json, depth: usize) -> Self {
        let is_enum = schema
            .get("oneOf")
            .and_then(Json::as_array)
            .is_some_and(|of| of.iter().all(|value| value.get("const").is_some_and(Json::is_i64)));
        let number = |declared| Self::Number(Numbers { declared: Some(declared), ..Numbers::default() });
        match name_of_type(schema) {
            None if is_enum => number(Declared::Integer),
            Some("number") => number(Declared::Real),
            Some("integer") => number(Declared::Integer),
            Some("boolean") => Self::Boolean,
            Some("string") => Self::Text,
            Some("array" | "object") if depth == 0 => Self::Deep,
            Some("array") => {
                let items = schema.get("items").unwrap_or(&Json::Null);
                let shape = Shape { kind: Self::declared(items, depth - 1), values: 0 };
                Self::List(Box::new(Elements { shape, count: 0 }))
            }
            Some("object") => {
                let properties = schema.get("properties").unwrap_or(&Json::Null);
                Self::Object(Members::declared(properties, depth))
            }
            _ => Self::Unknown,
        }
    }
}

/// The type of values that are not null: `"number"`, `["number", "null"]`.
fn name_of_type(schema: &Json) -> Option<&str> {
    match schema.get("type")? {
        Json::Array(names) => {
            let mut names = names.iter().filter_map(Json::as_str).filter(|name| *name != "null");
            let first = names.next();
            // If there are several types, the values show which one it is.
            first.filter(|_| names.next().is_none())
        }
        name => name.as_str(),
    }
}

impl Members {
    fn declared(properties: &Json, depth: usize) -> Self {
        let mut members = Self::default();
        for (name, schema) in properties.as_object().into_iter().flatten() {
            let kind = Kind::declared(schema, depth.saturating_sub(1));
            members.push(name, Shape { kind, values: 0 });
        }
        members
    }

    fn push(&mut self, name: &str, shape: Shape) {
        self.places.insert(name.to_owned(), self.all.len());
        self.all.push((name.to_owned(), shape));
    }

    fn add(&mut self, name: &str, value: &Json, depth: usize) -> usize {
        if let Some(at) = self.places.get(name) {
            return self.all.get_mut(*at).map_or(0, |(_, shape)| shape.add(value, depth));
        }
        let mut shape = Shape::default();
        let within = shape.add(value, depth);
        self.push(name, shape);
        1 + name.len() / NAME_BYTES + within
    }

    fn metrics(&self, slots: u64, prefix: &str, typing: &mut Typing) -> Vec<Metric> {
        let mut metrics = Vec::new();
        for (name, shape) in &self.all {
            let field = format!("{prefix}{name}");
            if field == ABSENT {
                let (values, why) = (shape.values, WhyUnstored::Reserved);
                typing.leave_out(Unstored { field, values, why });
            } else if let Some(kind) = shape.metric_type(slots, &field, typing) {
                metrics.push(Metric::new(name.as_str(), kind));
            }
        }
        metrics
    }
}

impl Numbers {
    fn add(&mut self, number: &Number) {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole.or_else(|| number.as_f64().and_then(whole_of)) {
            Some(whole) => {
                self.is_inexact |= !is_exact(whole);
                self.min = self.min.min(whole);
                self.max = self.max.max(whole);
            }
            None => self.is_fractional = true,
        }
    }

    fn metric_type(&self, is_sometimes_absent: bool) -> MetricType {
        let is_whole = match self.declared {
            Some(Declared::Real) => false,
            // NaN says that a number is absent.
            Some(Declared::Integer) => self.is_inexact || !is_sometimes_absent,
            // A number that is whole in this recording can be fractional in the next one.
            None => self.is_inexact && !self.is_fractional,
        };
        let fits = |min: i128, max: i128| min <= self.min && self.max <= max;
        match is_whole {
            true if fits(i64::MIN.into(), i64::MAX.into()) => MetricType::Int64,
            true if fits(0, u64::MAX.into()) => MetricType::Uint64,
            true if self.declared.is_some() => MetricType::Int64,
            _ => MetricType::Real64,
        }
    }
}

/// The whole number that a real is, if all whole numbers up to it are exact.
pub fn whole_of(real: f64) -> Option<i128> {
    let is_whole = real.fract() == 0.0 && real.abs() <= MAX_EXACT as f64;
    is_whole.then_some(real as i128)
}

/// Whether a number of 64 bits is exact as a 64-bit real.
pub fn is_exact(whole: i128) -> bool {
    whole as f64 as i128 == whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn typing(schema: &Json, messages: &[Json]) -> Typing {
        let mut shape = Shape::of_schema(schema.to_string().as_bytes());
        for message in messages {
            shape.add_message(message);
        }
        shape.typing()
    }

    fn types(schema: &Json, messages: &[Json]) -> Vec<(String, MetricType)> {
        typing(schema, messages).metrics.into_iter().map(|metric| (metric.name, metric.kind)).collect()
    }

    fn vector(of: MetricType) -> MetricType {
        MetricType::Vector(Box::new(of))
    }

    #[test]
    fn a_schema_names_the_types_and_the_order() {
        let schema = json!({"type": "object", "properties": {
            "count": {"type": "integer"},
            "at": {"type": "object", "properties": {"x": {"type": "number"}}},
            "names": {"type": "array", "items": {"type": "string"}},
            "mode": {"title": "Mode", "oneOf": [{"title": "IDLE", "const": 0}]},
            "anything": {},
            "maybe": {"type": ["integer", "null"]},
            "never": {"type": "string"},
        }});
        let message = json!({"maybe": 2, "mode": 0, "names": ["a"], "at": {"x": 1}, "count": 1, "anything": true, "more": 7});
        let found = types(&schema, &[message]);
        let x = MetricType::Struct(StructType {
            name: String::new(),
            members: vec![Metric::new("x", MetricType::Real64)],
        });
        let expected = [
            ("count", MetricType::Int64),
            ("at", x),
            ("names", vector(MetricType::String)),
            ("mode", MetricType::Int64),
            ("anything", MetricType::Boolean),
            ("maybe", MetricType::Int64),
            ("more", MetricType::Real64),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn fields_of_later_messages_are_metrics_too() {
        let found = types(&Json::Null, &[json!({"x": 1, "z": null}), json!({"x": 2, "y": 3, "z": "late"})]);
        let expected = [
            ("x", MetricType::Real64),
            ("z", MetricType::String),
            ("y", MetricType::Real64),
            (ABSENT, vector(MetricType::String)),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn whole_numbers_are_reals_unless_a_real_would_round_one() {
        let of = |schema: &Json, values: &[Json]| {
            let messages: Vec<_> = values.iter().map(|value| json!({"n": value})).collect();
            types(schema, &messages).remove(0).1
        };
        let free = Json::Null;
        assert_eq!(of(&free, &[json!(1), json!(2)]), MetricType::Real64);
        assert_eq!(of(&free, &[json!(1), json!(9_007_199_254_740_993_u64)]), MetricType::Int64);
        assert_eq!(of(&free, &[json!(1), json!(u64::MAX)]), MetricType::Uint64);
        assert_eq!(of(&free, &[json!(-1), json!(u64::MAX)]), MetricType::Real64);
        assert_eq!(of(&free, &[json!(0.5), json!(u64::MAX)]), MetricType::Real64);
        let integer = json!({"properties": {"n": {"type": "integer"}}});
        assert_eq!(of(&integer, &[json!(1.0), json!(2)]), MetricType::Int64);
        assert_eq!(of(&integer, &[json!(u64::MAX)]), MetricType::Uint64);
        assert_eq!(of(&integer, &[json!(1), Json::Null]), MetricType::Real64, "absent is NaN");
        assert_eq!(of(&integer, &[json!(i64::MAX), Json::Null]), MetricType::Int64);
    }

    #[test]
    fn unstored_fields_are_named() {
        let mut deep = json!(1);
        (0..9).for_each(|_| deep = json!({ "d": deep }));
        let message =
            json!({"list": [], "object": {}, "deep": deep, "nothing": null, "oasis.absent": 1, "x": 1});
        let found = typing(&Json::Null, &[message.clone(), message]);
        assert_eq!(found.metrics.len(), 1);
        let unstored: Vec<_> =
            found.unstored.iter().map(|field| (field.field.as_str(), field.values, field.why)).collect();
        assert_eq!(
            unstored,
            [
                ("list", 2, WhyUnstored::EmptyLists),
                ("object", 2, WhyUnstored::EmptyObjects),
                ("deep.d.d.d.d.d.d.d", 2, WhyUnstored::Deep),
                ("oasis.absent", 2, WhyUnstored::Reserved),
            ]
        );
    }

    #[test]
    fn absent_elements_are_nan_or_need_the_list_of_absent_columns() {
        let found = types(&Json::Null, &[json!({"a": [null, 3]})]);
        assert_eq!(found, [("a".to_owned(), vector(MetricType::Real64))]);
        let found = types(&Json::Null, &[json!({"a": [null, true]})]);
        assert_eq!(found.len(), 2);
    }
}
