//! The compiled files: names resolved, inherited metrics included.

pub use oasis_wire::{primitive::Primitive, schema::Blob};

use crate::source::Span;
use oasis_wire::schema::DEFAULT_BLOB_BYTES;
use std::collections::HashMap;
use uuid::Uuid;

/// The place of a declaration's name. Any two are equal, because moving a declaration does not change its meaning.
#[derive(Debug, Clone, Copy)]
pub struct NameSpan(pub Span);

impl PartialEq for NameSpan {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// All that was declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// Probes in declaration order.
    pub probes: Vec<Probe>,
    /// Structs in declaration order.
    pub structs: Vec<Struct>,
    /// Enums in declaration order.
    pub enums: Vec<Enum>,
    /// The position of each declaration in the lists above, by scoped name.
    index: HashMap<String, Index>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Index {
    Probe(usize),
    Struct(usize),
    Enum(usize),
}

impl Model {
    pub(crate) fn new(probes: Vec<Probe>, structs: Vec<Struct>, enums: Vec<Enum>) -> Self {
        let mut index = HashMap::with_capacity(probes.len() + structs.len() + enums.len());
        index.extend(probes.iter().enumerate().map(|(at, known)| (known.name.clone(), Index::Probe(at))));
        index.extend(structs.iter().enumerate().map(|(at, known)| (known.name.clone(), Index::Struct(at))));
        index.extend(enums.iter().enumerate().map(|(at, known)| (known.name.clone(), Index::Enum(at))));
        Self { probes, structs, enums, index }
    }

    /// The probe of this scoped name.
    pub fn probe_named(&self, scoped: &str) -> Option<&Probe> {
        let Index::Probe(at) = self.index.get(scoped)? else { return None };
        self.probes.get(*at)
    }

    /// The struct of this scoped name.
    pub fn struct_named(&self, scoped: &str) -> Option<&Struct> {
        let Index::Struct(at) = self.index.get(scoped)? else { return None };
        self.structs.get(*at)
    }

    /// The enum of this scoped name.
    pub fn enum_named(&self, scoped: &str) -> Option<&Enum> {
        let Index::Enum(at) = self.index.get(scoped)? else { return None };
        self.enums.get(*at)
    }

    /// The integer type that carries the enum of this scoped name.
    pub fn base_of(&self, scoped: &str) -> Primitive {
        self.enum_named(scoped).map_or(Primitive::Uint8, |declared| declared.base)
    }
}

/// A probe type.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Scoped name, without a leading `::`.
    pub name: String,
    /// Documentation.
    pub doc: Option<String>,
    /// Whether it only serves as a base.
    pub is_abstract: bool,
    /// Its identity; every concrete probe has one.
    pub uuid: Option<Uuid>,
    /// `major.minor`; `1.0` if the file has no version.
    pub version: String,
    /// The rates between which its readers choose, if its author permits that. Not inherited.
    pub demand: Option<Demand>,
    /// Scoped name of the base.
    pub base: Option<String>,
    /// Its metrics in wire order: those of the bases first.
    pub metrics: Vec<Metric>,
    /// Its place.
    pub place: NameSpan,
}

/// The rates between which the readers of a probe choose; 0.01 to 1,000 Hz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Lowest rate, in hertz.
    pub min: f64,
    /// Highest rate, in hertz; not below the lowest.
    pub max: f64,
}

/// A struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    /// Scoped name.
    pub name: String,
    /// Documentation.
    pub doc: Option<String>,
    /// Its members in wire order.
    pub members: Vec<Metric>,
    /// Its place.
    pub place: NameSpan,
}

/// An enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Enum {
    /// Scoped name.
    pub name: String,
    /// Documentation.
    pub doc: Option<String>,
    /// The integer type that carries it: at most 32 bits.
    pub base: Primitive,
    /// Its values in declaration order.
    pub enumerators: Vec<Enumerator>,
    /// Its place.
    pub place: NameSpan,
}

/// A value of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Enumerator {
    /// Its name.
    pub name: String,
    /// Documentation.
    pub doc: Option<String>,
    /// Its number.
    pub value: i64,
    /// Its place.
    pub place: NameSpan,
}

/// A metric of a probe or a member of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Documentation.
    pub doc: Option<String>,
    /// UCUM unit.
    pub unit: Option<String>,
    /// Behavior over time.
    pub behavior: Option<Behavior>,
    /// Name for people.
    pub label: Option<String>,
    /// Range and thresholds; of each element if the metric is a vector.
    pub limits: Limits,
    /// Its place.
    pub place: NameSpan,
}

/// The range of a metric and its thresholds of warning and alarm.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Least value.
    pub min: Option<Number>,
    /// Greatest value.
    pub max: Option<Number>,
    /// When to warn.
    pub warn: Threshold,
    /// When to raise an alarm.
    pub alarm: Threshold,
}

/// Matches a value that is below, above or one of these.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Threshold {
    /// Less than this.
    pub below: Option<Number>,
    /// More than this.
    pub above: Option<Number>,
    /// One of these numbers of an enum.
    pub values: Vec<i64>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// A primitive type.
    Primitive(Primitive),
    /// `vector<T>`.
    Vector(Box<Type>),
    /// A struct, by its scoped name.
    Struct(String),
    /// An enum, by its scoped name.
    Enum(String),
    /// `blob<image/jpeg>`: only a whole metric of a probe.
    Blob(Blob),
}

/// The type of a blob in PDL syntax: without a bound that is the default.
pub fn blob_spelling(of: Blob) -> String {
    match of.max_bytes {
        DEFAULT_BLOB_BYTES => format!("blob<{}>", of.media_type.name()),
        bound => format!("blob<{}, {bound}>", of.media_type.name()),
    }
}

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Digits with or without a sign; the number fits 64 bits.
    Integer(i128),
    /// Any other; finite.
    Real(f64),
}

impl Number {
    /// Whether it is less: exactly between integers.
    pub fn is_less_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left < right,
            (left, right) => left.to_f64() < right.to_f64(),
        }
    }

    /// The nearest `f64`.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

/// Behavior of a metric over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Behavior {
    Counter,
    Gauge,
    State,
    Event,
}

impl Behavior {
    /// All of them, by their names in PDL.
    pub const ALL: [(&'static str, Self); 4] =
        [("counter", Self::Counter), ("gauge", Self::Gauge), ("state", Self::State), ("event", Self::Event)];
}
