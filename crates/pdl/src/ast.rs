//! The syntax tree of a file, before name lookup.

use crate::{model, source::Span};
use uuid::Uuid;

/// The attributes of a probe.
pub const PROBE_ATTRIBUTES: [&str; 3] = ["uuid", "version", "rate"];

/// The attributes of a metric or a member.
pub const METRIC_ATTRIBUTES: [&str; 7] = ["unit", "kind", "label", "min", "max", "warn", "alarm"];

/// The words that declarations begin with.
pub const DECLARATIONS: [&str; 5] = ["module", "struct", "enum", "probe", "abstract"];

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A scoped name as written: `Port`, `System::Port`, `::OASIS::System::Port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Whether it starts at the root.
    pub rooted: bool,
    /// Its names.
    pub names: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// One file.
#[derive(Debug, Clone, Default)]
pub struct File {
    /// `#include "path"`.
    pub includes: Vec<Name>,
    /// Modules, structs, enums, probes.
    pub declarations: Vec<Declaration>,
}

/// A declaration.
#[derive(Debug, Clone)]
pub enum Declaration {
    /// `module Name { … }`
    Module(Module),
    /// `struct Name { … };`
    Struct(Struct),
    /// `enum Name : uint8 { … };`
    Enum(Enum),
    /// `probe Name : Base { … };`
    Probe(Probe),
}

/// A module, or one more piece of it.
#[derive(Debug, Clone)]
pub struct Module {
    /// Its name.
    pub name: Name,
    /// ChangeKind it contains.
    pub declarations: Vec<Declaration>,
    /// All of it, documentation and attributes included.
    pub extent: Span,
}

/// A struct.
#[derive(Debug, Clone)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// Documentation.
    pub doc: Option<String>,
    /// Its members.
    pub members: Vec<Metric>,
    /// All of it, documentation and attributes included.
    pub extent: Span,
}

/// An enum.
#[derive(Debug, Clone)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Documentation.
    pub doc: Option<String>,
    /// The integer type that carries it.
    pub base: Primitive,
    /// Its values.
    pub enumerators: Vec<Enumerator>,
    /// All of it, documentation and attributes included.
    pub extent: Span,
}

/// A value of an enum.
#[derive(Debug, Clone)]
pub struct Enumerator {
    /// Its name.
    pub name: Name,
    /// Documentation.
    pub doc: Option<String>,
    /// Its number, one more than that of the enumerator before if the file has none.
    pub value: Option<Number>,
}

/// A number and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// The number.
    pub value: model::Number,
    /// Its place.
    pub span: Span,
}

/// A probe.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Its name.
    pub name: Name,
    /// Documentation.
    pub doc: Option<String>,
    /// Whether it only serves as a base.
    pub is_abstract: bool,
    /// Its identity.
    pub uuid: Option<(Uuid, Span)>,
    /// `major.minor`.
    pub version: Option<String>,
    /// `rate(demand, …)`, which few have.
    pub demand: Option<Box<Demand>>,
    /// The base.
    pub base: Option<Path>,
    /// Its own metrics.
    pub metrics: Vec<Metric>,
    /// All of it, documentation and attributes included.
    pub extent: Span,
}

/// `demand, 1, 100`: the readers of the probe decide how often it is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Lowest rate, in hertz.
    pub min: Number,
    /// Highest rate, in hertz.
    pub max: Number,
}

/// A metric of a probe or a member of a struct.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub kind: Type,
    /// Documentation.
    pub doc: Option<String>,
    /// UCUM unit.
    pub unit: Option<String>,
    /// `counter`, `gauge`, `state`, `event`.
    pub behavior: Option<Behavior>,
    /// Name for people.
    pub label: Option<String>,
    /// Range, and the thresholds of warning and alarm.
    pub limits: Limits,
}

/// `min(…)`, `max(…)`, `warn(…)` and `alarm(…)`.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Least value.
    pub min: Option<Number>,
    /// Greatest value.
    pub max: Option<Number>,
    /// When to warn.
    pub warn: Vec<Condition>,
    /// When to raise an alarm.
    pub alarm: Vec<Condition>,
}

/// A condition on a value.
#[derive(Debug, Clone)]
pub enum Condition {
    /// `< 5`
    Below(Number),
    /// `> 80`
    Above(Number),
    /// `FAILED`: that value of an enum.
    Is(Name),
}

impl Condition {
    /// Returns the position of its number or name.
    pub fn span(&self) -> Span {
        match self {
            Self::Below(number) | Self::Above(number) => number.span,
            Self::Is(name) => name.span,
        }
    }
}

pub use crate::model::{Behavior, Blob, Primitive};

/// A type as written.
#[derive(Debug, Clone)]
pub enum Type {
    /// A simple type.
    Primitive(Primitive),
    /// `vector<T>`.
    Vector(Box<Type>),
    /// `blob<image/jpeg>`.
    Blob(Blob),
    /// A named type.
    Named(Path),
}
