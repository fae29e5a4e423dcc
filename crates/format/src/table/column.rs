//! The columns of a probe type.

use super::cell::Cell;
use oasis_wire::{
    absence,
    schema::{Behavior, EnumType, Metric, MetricType},
    value::{self, Value},
};
use std::borrow::Cow;

/// A column: a metric, or a member of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Unique in its table, ignoring case.
    pub name: String,
    /// Type of its cells.
    pub kind: ColumnType,
    /// UCUM unit, such as `By` or `ms`.
    pub unit: Option<String>,
    /// Its kind in the PDL, if any.
    pub behavior: Option<Behavior>,
    /// Its documentation in the PDL.
    pub doc: Option<String>,
    /// Index of the metric among a sample's values, then of each member within.
    path: Vec<usize>,
    /// Index of the metric [`ABSENT`](super::ABSENT), if the type has it.
    absent: Option<usize>,
    /// Names of the structs around it, which that metric can name too.
    around: Vec<String>,
}

/// The type of cells.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnType {
    /// Signed integers, with their number of bits.
    Int(u8),
    /// Unsigned integers, with their number of bits.
    Uint(u8),
    /// Reals of 32 bits.
    Real32,
    /// Reals of 64 bits.
    Real64,
    /// True or false.
    Boolean,
    /// Text.
    Text,
    /// Text: the name of an enumerator.
    Enum(EnumType),
    /// JSON text of a vector of this type.
    Json(MetricType),
    /// Bytes of a file, such as an image.
    Blob,
}

impl ColumnType {
    fn of(metric: &Metric) -> Self {
        if let Some(enumeration) = metric.enumeration.as_ref().filter(|_| metric.kind.is_integer()) {
            return Self::Enum(enumeration.clone());
        }
        match &metric.kind {
            MetricType::Int8 => Self::Int(8),
            MetricType::Int16 => Self::Int(16),
            MetricType::Int32 => Self::Int(32),
            MetricType::Int64 => Self::Int(64),
            MetricType::Uint8 => Self::Uint(8),
            MetricType::Uint16 => Self::Uint(16),
            MetricType::Uint32 => Self::Uint(32),
            MetricType::Uint64 => Self::Uint(64),
            MetricType::Real32 => Self::Real32,
            MetricType::Real64 => Self::Real64,
            MetricType::Boolean => Self::Boolean,
            MetricType::String => Self::Text,
            MetricType::Blob(_) => Self::Blob,
            nested @ (MetricType::Vector(_) | MetricType::Struct(_)) => Self::Json(nested.clone()),
        }
    }
}

impl Column {
    /// Creates the column of a metric or member. `absent` is the index of the metric that names absent columns.
    pub(super) fn new(
        name: String,
        path: &[usize],
        metric: &Metric,
        (absent, around): (Option<usize>, Vec<String>),
    ) -> Self {
        Self {
            name,
            kind: ColumnType::of(metric),
            unit: metric.unit.clone(),
            behavior: metric.behavior,
            doc: metric.doc.clone(),
            path: path.to_vec(),
            absent,
            around,
        }
    }

    /// Index of the metric among a sample's values.
    pub fn metric(&self) -> usize {
        // Every path starts with a metric.
        self.path.first().copied().unwrap_or_default()
    }

    /// Indexes of the metric among a sample's values, and of each member within.
    pub(crate) fn path(&self) -> &[usize] {
        &self.path
    }

    /// Index of the metric that names absent columns, if the type has one.
    pub fn absent_metric(&self) -> Option<usize> {
        self.absent
    }

    /// Whether the metric that names absent columns names this one, or a struct around it.
    fn is_absent(&self, named: &Value) -> bool {
        let Value::Vector(names) = named else { return false };
        let is_own = |name: &str| name == self.name || self.around.iter().any(|around| around == name);
        names.iter().any(|name| matches!(name, Value::String(name) if is_own(name)))
    }

    /// Returns the cell of a sample; [`Cell::Nothing`] if it is absent, or if the values are not of the table's type.
    pub fn cell<'a>(&'a self, values: &'a [Value]) -> Cell<'a> {
        let named = self.absent.and_then(|at| values.get(at));
        values.get(self.metric()).map_or(Cell::Nothing, |value| self.cell_of(value, named))
    }

    /// As [`Column::cell`], for the value of its metric, and that of the metric that names absent columns.
    pub fn cell_of<'a>(&'a self, value: &'a Value, named: Option<&Value>) -> Cell<'a> {
        if named.is_some_and(|named| self.is_absent(named)) {
            return Cell::Nothing;
        }
        match (self.find(value), &self.kind) {
            (None, _) => Cell::Nothing,
            (Some(value), ColumnType::Enum(of)) => Cell::Text(enumerator(of, value)),
            (Some(value), ColumnType::Json(kind)) => {
                let elements = kind.element().zip(named);
                let absent = elements.map(|(element, named)| absence::elements(&self.name, element, named));
                let json = value::value_to_json_without(kind, value, &absent.unwrap_or_default());
                Cell::Text(json.to_string().into())
            }
            (Some(value), _) => match value {
                Value::Int(value) => Cell::Int(*value),
                Value::Uint(value) => Cell::Uint(*value),
                Value::Real32(value) => Cell::Real32(*value),
                Value::Real64(value) => Cell::Real64(*value),
                Value::Boolean(value) => Cell::Boolean(*value),
                Value::String(value) => Cell::Text(value.into()),
                Value::Blob(bytes) => Cell::Blob(bytes),
                Value::Vector(_) | Value::Struct(_) => Cell::Nothing,
            },
        }
    }

    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        let (_, members) = self.path.split_first()?;
        members.iter().try_fold(value, |value, at| match value {
            Value::Struct(members) => members.get(*at),
            _ => None,
        })
    }
}

/// Returns the name of an enumerator; an undeclared number becomes text.
pub fn enumerator<'a>(of: &'a EnumType, value: &Value) -> Cow<'a, str> {
    let number = match value {
        Value::Int(value) => i128::from(*value),
        Value::Uint(value) => i128::from(*value),
        _ => return Cow::Borrowed(""),
    };
    let known = of.values.iter().find(|known| i128::from(known.value) == number);
    known.map_or_else(|| number.to_string().into(), |known| known.name.as_str().into())
}
