//! The columns of a table whose types its values show: a survey of all rows, then rows of samples.

use super::infer;
use crate::table::{ABSENT, Table};
use oasis_wire::{
    schema::{EnumType, Metric, MetricType, ProbeType},
    value::RowWriter,
};
use std::sync::Arc;

/// Whole numbers up to this one are exact as 64-bit reals.
const MAX_EXACT: u64 = 1 << 53;

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Absent,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Int(i64),
    /// A whole number that is not negative.
    Uint(u64),
    /// A real number.
    Real(f64),
    /// A text.
    Text(&'a str),
}

/// A column, as far as it was surveyed.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// The name of its metric.
    pub name: String,
    /// A UCUM unit.
    pub unit: Option<String>,
    /// Description of its values.
    pub doc: Option<String>,
    /// Names of its values.
    pub enumeration: Option<EnumType>,
    /// Whether whole numbers are integers by declaration. Otherwise they are reals, unless a real would round one.
    pub has_integers: bool,
    kind: Kind,
    /// Number of values.
    pub values: u64,
    is_inexact: bool,
    is_negative: bool,
    is_unsigned: bool,
}

/// The type of the values so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// There are none.
    #[default]
    Unknown,
    /// Truth values.
    Boolean,
    /// Whole numbers.
    Integer,
    /// Real numbers, and whole ones.
    Real,
    /// Texts.
    Text,
}

impl Column {
    /// Returns a column without values.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a unit.
    pub fn with_unit(self, unit: Option<String>) -> Self {
        Self { unit, ..self }
    }

    /// The type so far.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Counts a value. Returns whether it fits the type of those before; one that does not is not counted.
    pub fn survey(&mut self, cell: Cell<'_>) -> bool {
        if cell == Cell::Absent {
            return true;
        }
        let Some(kind) = self.kind_with(cell) else { return false };
        self.kind = kind;
        self.values += 1;
        match cell {
            Cell::Int(int) => {
                self.is_inexact |= !is_exact(int.unsigned_abs());
                self.is_negative |= int < 0;
            }
            Cell::Uint(uint) => {
                self.is_inexact |= !is_exact(uint);
                self.is_unsigned |= i64::try_from(uint).is_err();
            }
            _ => {}
        }
        true
    }

    /// Returns the type of the values so far and this one; `None` if it does not fit.
    pub fn kind_with(&self, cell: Cell<'_>) -> Option<Kind> {
        let kind = match cell {
            Cell::Absent => return Some(self.kind),
            Cell::Boolean(_) => Kind::Boolean,
            Cell::Int(_) | Cell::Uint(_) => Kind::Integer,
            Cell::Real(_) => Kind::Real,
            Cell::Text(_) => Kind::Text,
        };
        match (self.kind, kind) {
            (Kind::Unknown, kind) => Some(kind),
            (known, kind) if known == kind => Some(known),
            (Kind::Integer, Kind::Real) | (Kind::Real, Kind::Integer) => Some(Kind::Real),
            _ => None,
        }
    }

    /// Makes it a column of texts, because a value fits no other type.
    pub fn become_text(&mut self) {
        self.kind = Kind::Text;
        self.values += 1;
    }

    /// The stored form of its values; `None` without values.
    pub fn stored_kind(&self) -> Option<StoredKind> {
        Some(match self.kind {
            Kind::Unknown => return None,
            Kind::Boolean => StoredKind::Boolean,
            Kind::Integer if self.is_unsigned && !self.is_negative => StoredKind::Uint64,
            Kind::Integer if self.is_unsigned => StoredKind::Real64,
            Kind::Integer if self.has_integers || self.is_inexact => StoredKind::Int64,
            Kind::Integer | Kind::Real => StoredKind::Real64,
            Kind::Text => StoredKind::Text,
        })
    }
}

/// The stored form of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredKind {
    /// `boolean`
    Boolean,
    /// `int64`
    Int64,
    /// `uint64`
    Uint64,
    /// `real64`
    Real64,
    /// `string`
    Text,
}

impl StoredKind {
    fn metric_type(self) -> MetricType {
        match self {
            Self::Boolean => MetricType::Boolean,
            Self::Int64 => MetricType::Int64,
            Self::Uint64 => MetricType::Uint64,
            Self::Real64 => MetricType::Real64,
            Self::Text => MetricType::String,
        }
    }
}

/// Whether a whole number is exact as a real.
pub fn is_exact(magnitude: u64) -> bool {
    magnitude <= MAX_EXACT || (magnitude as f64) as u128 == u128::from(magnitude)
}

/// The columns of a series after the survey, and its probe type.
#[derive(Debug)]
pub struct ColumnTable {
    /// The type of the samples.
    pub probe_type: Arc<ProbeType>,
    /// The metric of each column; `None` for one without any value.
    kinds: Vec<Option<StoredKind>>,
    /// The names of the columns in the metric [`ABSENT`]; empty if the type lacks it.
    absent_names: Vec<String>,
    /// Absent values, by column.
    pub absent: Vec<u64>,
    /// Whole numbers that a real rounds, by column.
    pub rounded: Vec<u64>,
    /// Texts that were not UTF-8 are counted by the reader.
    absent_now: Vec<usize>,
}

impl ColumnTable {
    /// Chooses the metrics. `rows` is the number of samples.
    pub fn new(type_name: &str, columns: &[Column], rows: u64) -> Self {
        let lacks_values = |column: &Column| {
            column.values < rows && column.stored_kind().is_some_and(|kind| kind != StoredKind::Real64)
        };
        Self::with_absent(type_name, columns, columns.iter().any(lacks_values))
    }

    /// Chooses the metrics. `needs_absent` says whether a row can lack a value that is no real.
    pub fn with_absent(type_name: &str, columns: &[Column], needs_absent: bool) -> Self {
        let mut metrics = Vec::new();
        let mut kinds = Vec::new();
        let mut places = Vec::new();
        for column in columns {
            let kind = column.stored_kind();
            places.push(kind.as_ref().map(|_| metrics.len()));
            if let Some(kind) = &kind {
                metrics.push(Metric {
                    unit: column.unit.clone(),
                    doc: column.doc.clone(),
                    enumeration: column.enumeration.clone(),
                    ..Metric::new(column.name.as_str(), kind.metric_type())
                });
            }
            kinds.push(kind);
        }
        if needs_absent {
            let mut absent = Metric::new(ABSENT, MetricType::Vector(Box::new(MetricType::String)));
            absent.doc = Some("Columns whose value is only a placeholder: the row did not have it.".into());
            metrics.push(absent);
        }
        let probe_type = infer::described(type_name, metrics);
        let mut absent_names = Vec::new();
        if needs_absent {
            let table = Table::new(&probe_type);
            let name = |place: usize| {
                let of = table.columns.iter().find(|column| column.path() == [place]);
                of.map_or_else(String::new, |column| column.name.clone())
            };
            absent_names = places.into_iter().map(|place| place.map_or_else(String::new, name)).collect();
        }
        let counts = vec![0; columns.len()];
        Self {
            probe_type: Arc::new(probe_type),
            kinds,
            absent_names,
            absent: counts.clone(),
            rounded: counts,
            absent_now: Vec::new(),
        }
    }

    /// Writes the row of a sample, which is cleared before. `cell` returns the value of a column.
    pub fn write<'a>(&mut self, row: &mut Vec<u8>, mut cell: impl FnMut(usize, StoredKind) -> Cell<'a>) {
        row.clear();
        self.absent_now.clear();
        let mut to = RowWriter::new(row);
        for (at, kind) in self.kinds.iter().enumerate() {
            let Some(kind) = *kind else { continue };
            let cell = cell(at, kind);
            let is_written = match (kind, cell) {
                (StoredKind::Real64, Cell::Real(real)) => {
                    to.f64(real);
                    true
                }
                (StoredKind::Real64, Cell::Int(int)) => {
                    self.rounded[at] += u64::from(!is_exact(int.unsigned_abs()));
                    to.f64(int as f64);
                    true
                }
                (StoredKind::Real64, Cell::Uint(uint)) => {
                    self.rounded[at] += u64::from(!is_exact(uint));
                    to.f64(uint as f64);
                    true
                }
                (StoredKind::Int64, Cell::Int(int)) => {
                    to.i64(int);
                    true
                }
                (StoredKind::Int64, Cell::Uint(uint)) if i64::try_from(uint).is_ok() => {
                    to.u64(uint);
                    true
                }
                (StoredKind::Uint64, Cell::Uint(uint)) => {
                    to.u64(uint);
                    true
                }
                (StoredKind::Uint64, Cell::Int(int)) if int >= 0 => {
                    to.i64(int);
                    true
                }
                (StoredKind::Boolean, Cell::Boolean(boolean)) => {
                    to.boolean(boolean);
                    true
                }
                (StoredKind::Text, Cell::Text(text)) => {
                    to.string(text);
                    true
                }
                _ => false,
            };
            if !is_written {
                self.absent[at] += 1;
                match kind {
                    StoredKind::Real64 => to.f64(f64::NAN),
                    StoredKind::Boolean => to.boolean(false),
                    StoredKind::Text => to.string(""),
                    StoredKind::Int64 | StoredKind::Uint64 => to.u64(0),
                }
                if kind != StoredKind::Real64 {
                    self.absent_now.push(at);
                }
            }
        }
        if !self.absent_names.is_empty() {
            to.vector(self.absent_now.len());
            self.absent_now
                .iter()
                .filter_map(|at| self.absent_names.get(*at))
                .for_each(|name| to.string(name));
        }
    }

    /// Returns whether samples name their absent values.
    pub fn has_absent(&self) -> bool {
        !self.absent_names.is_empty()
    }

    /// Returns whether these columns have the kinds that the metrics were chosen for.
    pub fn holds(&self, columns: &[Column]) -> bool {
        self.kinds.len() == columns.len()
            && self.kinds.iter().zip(columns).all(|(kind, column)| *kind == column.stored_kind())
    }

    /// Reports the columns without values, with absent or rounded values, and those that a table renames.
    pub fn report(&self, series: Option<&str>, columns: &[Column], report: &mut super::Report) {
        let subject = |column: &Column| match series {
            Some(series) => format!("{series}: {}", column.name),
            None => column.name.clone(),
        };
        for (at, column) in columns.iter().enumerate() {
            let of = subject(column);
            let Some(kind) = self.kinds.get(at).and_then(Option::as_ref) else {
                report.note(Some(&of), 1, "no values: no metric");
                continue;
            };
            let absent = self.absent[at];
            let stored = match kind {
                StoredKind::Real64 => "stored as NaN".to_owned(),
                _ => format!("named in {ABSENT}"),
            };
            report.note(Some(&of), absent, format!("{absent} values absent, {stored}"));
            let rounded = self.rounded[at];
            report.lose(Some(&of), rounded, format!("{rounded} whole numbers rounded to 64-bit reals"));
        }
        for column in Table::new(&self.probe_type).columns {
            let Some(metric) = column.path().first().and_then(|at| self.probe_type.metrics.get(*at)) else {
                continue;
            };
            if metric.name != ABSENT && column.name != metric.name {
                let text = format!("is the column {:?}: another column has its name", column.name);
                report.note(Some(&metric.name), 1, text);
            }
        }
    }
}
