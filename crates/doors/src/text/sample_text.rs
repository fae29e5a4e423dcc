//! Samples as JSON, written from the values themselves: a tree of them took most of the time of an answer.

use crate::view::{Blobs, Integers, JsonForm};
use base64::{Engine, prelude::BASE64_STANDARD};
use oasis_wire::{
    absence::{Absence, Within},
    batch::{Batch, Sample},
    quantity::Offset,
    schema::{Metric, MetricType},
    value::{Value, real_word},
};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::ops::Range;

/// The samples of a batch at these offsets: an array of objects like [`crate::view::SampleView`].
pub struct Samples<'a> {
    pub batch: &'a Batch,
    pub metrics: &'a [Metric],
    /// The values that samples of this type can lack.
    pub absence: Option<&'a Absence>,
    pub wanted: &'a Range<Offset>,
    pub form: JsonForm,
}

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let state = self.batch.header().state;
        let wanted = self.batch.samples().filter(|sample| self.wanted.contains(&Offset(sample.offset)));
        let (metrics, absence, form) = (self.metrics, self.absence, self.form);
        to.collect_seq(wanted.map(|sample| One { sample, state, metrics, absence, form }))
    }
}

struct One<'a> {
    sample: Sample,
    state: u16,
    metrics: &'a [Metric],
    absence: Option<&'a Absence>,
    form: JsonForm,
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let wide = |number| Wide(number, self.form.integers);
        let mut to = to.serialize_struct("Sample", 5)?;
        to.serialize_field("sequence", &wide(self.sample.sequence))?;
        to.serialize_field("offset", &wide(self.sample.offset))?;
        to.serialize_field("time", &wide(self.sample.time))?;
        to.serialize_field("state", &self.state)?;
        let values = &self.sample.values;
        let named = self.absence.and_then(|absence| Some(absence.places(values.get(absence.metric())?)));
        let places = named.unwrap_or_default();
        let absent = Within::sample(&places);
        let members = Members { members: self.metrics, values, absent, form: self.form };
        to.serialize_field("metrics", &members)?;
        to.end()
    }
}

/// An integer of 64 bits.
struct Wide<I>(I, Integers);

impl<I: Serialize + std::fmt::Display> Serialize for Wide<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Integers::Number => self.0.serialize(to),
            Integers::String => to.collect_str(&self.0),
        }
    }
}

/// The metrics of a sample, or the members of a struct.
struct Members<'a> {
    members: &'a [Metric],
    values: &'a [Value],
    absent: Within<'a>,
    form: JsonForm,
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let members = self.members.iter().zip(self.values).enumerate();
        to.collect_map(members.map(|(index, (Metric { name, kind, .. }, value))| {
            (name, Typed { kind, value, absent: self.absent.at(index), form: self.form })
        }))
    }
}

struct Typed<'a> {
    kind: &'a MetricType,
    value: &'a Value,
    absent: Within<'a>,
    form: JsonForm,
}

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (absent, form) = (self.absent, self.form);
        if absent.is_absent() {
            return to.serialize_none();
        }
        match (self.value, self.kind) {
            (Value::Int(value), MetricType::Int64) => Wide(value, form.integers).serialize(to),
            (Value::Uint(value), MetricType::Uint64) => Wide(value, form.integers).serialize(to),
            (Value::Int(value), _) => to.serialize_i64(*value),
            (Value::Uint(value), _) => to.serialize_u64(*value),
            (Value::Real32(value), _) => match real_word(f64::from(*value)) {
                Some(word) => to.serialize_str(word),
                None => to.serialize_f32(*value),
            },
            (Value::Real64(value), _) => match real_word(*value) {
                Some(word) => to.serialize_str(word),
                None => to.serialize_f64(*value),
            },
            (Value::Boolean(value), _) => to.serialize_bool(*value),
            (Value::String(text), _) => to.serialize_str(text),
            (Value::Vector(elements), MetricType::Vector(kind)) => {
                let typed = |(index, value)| Typed { kind, value, absent: absent.at(index), form };
                to.collect_seq(elements.iter().enumerate().map(typed))
            }
            (Value::Struct(values), MetricType::Struct(of)) => {
                Members { members: &of.members, values, absent, form }.serialize(to)
            }
            (Value::Blob(bytes), MetricType::Blob(of)) => {
                let has_data = form.blobs == Blobs::Base64;
                let mut to = to.serialize_struct("Blob", 2 + usize::from(has_data))?;
                to.serialize_field("media_type", of.media_type.name())?;
                to.serialize_field("bytes", &bytes.len())?;
                if has_data {
                    to.serialize_field("data", &BASE64_STANDARD.encode(bytes))?;
                }
                to.end()
            }
            // No decoder returns these.
            (Value::Vector(_) | Value::Struct(_) | Value::Blob(_), _) => to.serialize_unit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        schema::{ABSENT, ProbeType},
        value,
    };
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    fn probe_type() -> ProbeType {
        serde_json::from_value(json!({
            "name": "Mixed", "uuid": "4bb0d8e2-0f5a-4c50-9f5e-6a8ea1b2c3d4", "version": "1.0.0",
            "metrics": [
                {"name": "small", "type": "int16"},
                {"name": "wide", "type": "uint64"},
                {"name": "short", "type": "real32"},
                {"name": "long", "type": "real64"},
                {"name": "on", "type": "boolean"},
                {"name": "text", "type": "string"},
                {"name": "many", "type": {"vector": "int64"}},
                {"name": "pair", "type": {"struct": {"name": "Pair", "members": [
                    {"name": "left", "type": "int64"}, {"name": "right", "type": "int8"}]}}},
                {"name": ABSENT, "type": {"vector": "string"}},
                {"name": "image", "type": {"blob": {"media_type": "image/png", "max_bytes": 9}}},
            ],
        }))
        .expect("a schema")
    }

    fn sample() -> impl Strategy<Value = Vec<Value>> {
        (
            any::<i16>(),
            any::<u64>(),
            any::<f32>(),
            any::<f64>(),
            any::<bool>(),
            ".*",
            any::<Vec<i64>>(),
            any::<i8>(),
            proptest::sample::subsequence(
                &["wide", "on", "many[1]", "many", "pair.right", "pair", "none"],
                0..4,
            ),
        )
            .prop_map(|(small, wide, short, long, on, text, many, right, absent)| {
                vec![
                    Value::Int(small.into()),
                    Value::Uint(wide),
                    Value::Real32(short),
                    Value::Real64(long),
                    Value::Boolean(on),
                    Value::String(text),
                    Value::Vector(many.into_iter().map(Value::Int).collect()),
                    Value::Struct(vec![Value::Int(i64::from(right) << 55), Value::Int(right.into())]),
                    Value::Vector(absent.into_iter().map(|name| Value::String(name.into())).collect()),
                    Value::Blob(vec![1, 2, small as u8]),
                ]
            })
    }

    /// Returns the value as a reader parses it. The parser may be off by a bit, of which a `real32` shows nothing.
    fn parsed(object: &impl Serialize) -> Json {
        let text = serde_json::to_string(object).expect("JSON");
        let mut object: Json = serde_json::from_str(&text).expect("JSON");
        if let Some(short) = object["short"].as_f64() {
            object["short"] = Json::from(f64::from(short as f32));
        }
        object
    }

    proptest! {
        /// Both ways of writing a sample mean the same.
        #[test]
        fn the_text_is_that_of_the_tree(values in sample()) {
            let probe_type = probe_type();
            let tree = parsed(&Json::from(value::to_json(&probe_type, &values)));
            let places = oasis_wire::absence::in_sample(&probe_type, &values);
            let absent = Within::sample(&places);
            let members = &probe_type.metrics;
            let form = |integers| JsonForm { integers, blobs: Blobs::Size };
            let text = |integers| parsed(&Members { members, values: &values, absent, form: form(integers) });
            prop_assert_eq!(&text(Integers::Number), &tree);
            let strings = text(Integers::String);
            let as_string = |number: &Json| {
                if number.is_null() { Json::Null } else { Json::from(number.to_string()) }
            };
            prop_assert_eq!(&strings["wide"], &as_string(&tree["wide"]));
            prop_assert_eq!(&strings["pair"]["left"], &as_string(&tree["pair"]["left"]));
            prop_assert_eq!(&strings["pair"]["right"], &tree["pair"]["right"]);
            prop_assert_eq!(&strings["small"], &tree["small"]);
            let words = tree["many"].as_array().map(|numbers| numbers.iter().map(as_string).collect::<Json>());
            prop_assert_eq!(&strings["many"], &words.unwrap_or(Json::Null));
        }
    }
}
