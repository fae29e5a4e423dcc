//! Whether records of a type are what a search is for.

use super::wanted::{SearchQuery, Word};
use oasis_store::words::{Contents, has_texts, level_of};
use oasis_wire::{
    absence,
    batch::{Batch, Values},
    schema::{Behavior, Metric, MetricType, ProbeType},
    value::{Value, value_to_json},
};
use std::{borrow::Cow, sync::Arc};

/// A search, for one type.
pub struct Matcher {
    probe_type: Arc<ProbeType>,
    level: Option<Level>,
    words: Vec<Wording>,
    fields: Vec<(String, String)>,
}

impl Matcher {
    /// None if no record of the type can be found.
    pub fn new(probe_type: &Arc<ProbeType>, wanted: &SearchQuery) -> Option<Self> {
        let level = match &wanted.level {
            Some(name) => Some(Level::of(probe_type, name)?),
            None => None,
        };
        let words: Vec<_> = wanted.words.iter().map(|word| Wording::new(probe_type, word)).collect();
        let is_hopeless = !has_texts(probe_type) && words.iter().any(|word| word.named.is_empty());
        if is_hopeless || !has_records(probe_type) {
            return None;
        }
        Some(Self { probe_type: probe_type.clone(), level, words, fields: wanted.fields.clone() })
    }

    /// Whether a batch can have such records: looks for the words in its bytes, and decodes its levels only.
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        let in_bytes = |word: &Wording| !word.named.is_empty() || word.word.pattern.is_match(bytes);
        self.words.iter().all(in_bytes)
            && self.level.as_ref().is_none_or(|level| level.may_match(bytes, &self.probe_type))
    }

    /// Returns the contents that the bytes of a batch with such a record have.
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        // Words that name values are numbers in a batch.
        let in_texts = self.words.iter().filter(|word| word.named.is_empty());
        in_texts.for_each(|word| contents.add_text(&word.word.text));
        for (name, value) in &self.fields {
            match self.probe_type.metrics.iter().find(|metric| metric.name == *name) {
                None => {
                    contents.add_text(name);
                    contents.add_text(value);
                }
                Some(metric) if metric.kind == MetricType::String => contents.add_text(value),
                Some(_) => {}
            }
        }
        if let Some(level) = &self.level {
            contents.add_level(level.least);
        }
        contents
    }

    /// Whether a record is wanted.
    pub fn matches(&self, values: &[Value]) -> bool {
        let values = &*self.without_placeholders(values);
        self.level.as_ref().is_none_or(|level| level.matches(values))
            && self.words.iter().all(|word| word.matches(values))
            && self.fields.iter().all(|(name, wanted)| self.has_field(values, name, wanted))
    }

    /// Returns the values that are there.
    fn without_placeholders<'a>(&self, values: &'a [Value]) -> Cow<'a, [Value]> {
        let mut there = Cow::Borrowed(values);
        for place in absence::in_sample(&self.probe_type, values) {
            let Some((metric, within)) = place.split_first() else { continue };
            if let Some(value) = there.to_mut().get_mut(*metric) {
                absence::remove(value, within);
            }
        }
        there
    }

    /// Whether a metric has this name and value, or a list of named values has such an entry.
    fn has_field(&self, values: &[Value], name: &str, wanted: &str) -> bool {
        self.probe_type.metrics.iter().zip(values).any(|(metric, value)| match value {
            _ if metric.name == name => is_written(metric, value, wanted),
            Value::Vector(entries) => entries.iter().any(|entry| is_entry(entry, name, wanted)),
            _ => false,
        })
    }
}

/// Whether samples of a type are records: they have a text, or report an event.
pub fn has_records(probe_type: &ProbeType) -> bool {
    has_texts(probe_type) || probe_type.metrics.iter().any(|metric| metric.behavior == Some(Behavior::Event))
}

/// The names of the levels that records of a type can have.
pub fn levels_of(probe_type: &ProbeType) -> impl Iterator<Item = &str> {
    let enumeration = level_of(probe_type).and_then(|(_, metric)| metric.enumeration.as_ref());
    enumeration.into_iter().flat_map(|of| &of.values).map(|value| &*value.name)
}

/// The least level.
struct Level {
    /// Its metric's place in the schema.
    metric: usize,
    least: i64,
}

impl Level {
    fn of(probe_type: &ProbeType, name: &str) -> Option<Self> {
        let (metric, of) = level_of(probe_type)?;
        let enumeration = of.enumeration.as_ref()?;
        let named = enumeration.values.iter().find(|value| value.name.eq_ignore_ascii_case(name))?;
        Some(Self { metric, least: named.value })
    }

    fn may_match(&self, bytes: &[u8], probe_type: &ProbeType) -> bool {
        match Batch::parse_first(bytes, probe_type, self.metric + 1) {
            Ok(batch) => match batch.values(self.metric) {
                Some(Values::Fixed(values)) => values.iter().any(|value| value.cast_signed() >= self.least),
                _ => false,
            },
            // Damage is counted where it is decoded.
            Err(_) => true,
        }
    }

    fn matches(&self, values: &[Value]) -> bool {
        values.get(self.metric).and_then(number).is_some_and(|level| level >= self.least)
    }
}

/// A word, and the numbers that are shown by a name with it.
struct Wording {
    word: Word,
    /// Places of metrics, and their numbers.
    named: Vec<(usize, Vec<i64>)>,
}

impl Wording {
    fn new(probe_type: &ProbeType, word: &Word) -> Self {
        let mut named = Vec::new();
        for (at, metric) in probe_type.metrics.iter().enumerate() {
            let values = metric.enumeration.iter().flat_map(|of| &of.values);
            let of_word = values.filter(|value| word.pattern.is_match(value.name.as_bytes()));
            let numbers: Vec<_> = of_word.map(|value| value.value).collect();
            if !numbers.is_empty() {
                named.push((at, numbers));
            }
        }
        Self { word: word.clone(), named }
    }

    fn matches(&self, values: &[Value]) -> bool {
        let is_named = |(at, numbers): &(usize, Vec<i64>)| {
            values.get(*at).and_then(number).is_some_and(|number| numbers.contains(&number))
        };
        self.named.iter().any(is_named) || values.iter().any(|value| self.is_in(value))
    }

    fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.word.pattern.is_match(text.as_bytes()),
            Value::Vector(values) | Value::Struct(values) => values.iter().any(|value| self.is_in(value)),
            _ => false,
        }
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Uint(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

/// Whether a value is written like this: as text, as the name of an enumerator, or as in JSON.
fn is_written(metric: &Metric, value: &Value, wanted: &str) -> bool {
    if let Value::String(text) = value {
        return text == wanted;
    }
    let number = number(value);
    let mut named = metric.enumeration.iter().flat_map(|of| &of.values);
    if named.any(|named| Some(named.value) == number && named.name.eq_ignore_ascii_case(wanted)) {
        return true;
    }
    let written = value_to_json(&metric.kind, value).to_string();
    written == wanted
}

/// Whether an element of a vector is a pair of this name and value.
fn is_entry(entry: &Value, name: &str, wanted: &str) -> bool {
    let Value::Struct(members) = entry else { return false };
    let [Value::String(key), Value::String(value)] = members.as_slice() else { return false };
    key == name && value == wanted
}
