//! The samples of an instance whose type follows its fields.

use crate::{
    Rejected, SourceLimits, SourceSample,
    rejected::quoted,
    rows::{MAX_SAMPLE_BYTES, PendingRows, check_row},
};
use oasis_format::{
    columns::{Cell, Column, ColumnTable, Kind},
    table::ABSENT,
};
use oasis_wire::schema::ProbeType;
use std::{borrow::Cow, collections::HashMap, sync::Arc};

/// Longest name of a field, in bytes.
const MAX_FIELD_NAME_BYTES: usize = 1_024;
/// An instance, and its samples since the last batch.
#[derive(Debug, Default)]
pub struct Series {
    columns: Vec<Column>,
    positions: HashMap<String, usize>,
    /// Whether samples lack values that are no reals.
    needs_absent: bool,
    table: Option<TypedTable>,
    /// The values of the present sample, by column.
    positions_of_sample: Vec<Option<usize>>,
    row: Vec<u8>,
    /// The number of the newest sample with an earlier type.
    pub last_sequence: u64,
}

#[derive(Debug)]
struct TypedTable {
    columns: ColumnTable,
    rows: PendingRows,
}

impl Series {
    /// Adds the fields of a sample to the columns. Returns the number of fields that are left out because their type differs, or a later
    /// field has their name.
    ///
    /// # Errors
    /// If no field is left, or a limit is exceeded: then no column is added.
    pub fn learn(&mut self, sample: &SourceSample<'_>, limits: SourceLimits) -> Result<u64, Rejected> {
        self.check(sample, limits)?;
        let mut left_out = 0;
        let mut first = None;
        self.positions_of_sample.clear();
        self.positions_of_sample.resize(self.columns.len(), None);
        for (at, (name, cell)) in sample.fields.iter().enumerate() {
            let column = match self.positions.get(&**name) {
                Some(column) => *column,
                None => self.add_column(name),
            };
            let Some(known) = self.columns.get_mut(column) else { continue };
            if known.survey(*cell) {
                if let Some(position) = self.positions_of_sample.get_mut(column)
                    && *cell != Cell::Absent
                {
                    left_out += u64::from(position.replace(at).is_some());
                }
            } else {
                left_out += 1;
                first.get_or_insert((known.name.clone(), known.kind(), *cell));
            }
        }
        if self.positions_of_sample.iter().all(Option::is_none) {
            return Err(first.map_or(Rejected::Empty, |(field, was, now)| Rejected::OtherType {
                field: quoted(&field),
                was: name_of_kind(was),
                now: name_of_cell(now),
            }));
        }
        self.needs_absent |= self.lacks_value();
        Ok(left_out)
    }

    /// Checks the bounds of a sample before it changes anything.
    fn check(&self, sample: &SourceSample<'_>, limits: SourceLimits) -> Result<(), Rejected> {
        let bytes = text_bytes(sample);
        if bytes > MAX_SAMPLE_BYTES {
            return Err(Rejected::TooLong { bytes, max: MAX_SAMPLE_BYTES });
        }
        let new = sample.fields.iter().filter(|(name, _)| !self.positions.contains_key(&**name));
        for (number, (name, _)) in new.enumerate() {
            check_field_name(name)?;
            if self.columns.len() + number >= limits.max_fields {
                return Err(Rejected::TooManyFields { limits, field: quoted(name) });
            }
        }
        Ok(())
    }

    fn add_column(&mut self, name: &str) -> usize {
        let mut column = Column::new(name);
        column.has_integers = true;
        self.columns.push(column);
        self.positions.insert(name.to_owned(), self.columns.len() - 1);
        self.positions_of_sample.push(None);
        self.columns.len() - 1
    }

    /// Whether the sample lacks a value that NaN cannot stand for.
    fn lacks_value(&self) -> bool {
        let absent = self.positions_of_sample.iter().zip(&self.columns).filter(|(at, _)| at.is_none());
        absent.into_iter().any(|(_, column)| !matches!(column.kind(), Kind::Real | Kind::Unknown))
    }

    /// Returns whether the type has all columns as they are now.
    pub fn is_current(&self) -> bool {
        self.table.as_ref().is_some_and(|table| {
            table.rows.registration.is_some()
                && table.columns.holds(&self.columns)
                && table.columns.has_absent() == self.needs_absent
        })
    }

    /// Makes a type of the columns; batches must have been taken before.
    ///
    /// # Errors
    /// If the fields make no valid type.
    pub fn retype(&mut self, type_name: &str) -> Result<Arc<ProbeType>, Rejected> {
        let columns = ColumnTable::with_absent(type_name, &self.columns, self.needs_absent);
        let probe_type = columns.probe_type.clone();
        let rows = PendingRows::new(probe_type.clone())?;
        self.table = Some(TypedTable { columns, rows });
        Ok(probe_type)
    }

    /// Keeps the number of the newest sample, after which those of another type are numbered.
    pub fn note_last_sequence(&mut self) {
        let of_type = self.table.as_ref().map_or(0, |table| table.rows.last_sequence());
        self.last_sequence = self.last_sequence.max(of_type);
    }

    /// The rows that wait for the next batch.
    pub fn rows(&mut self) -> Option<&mut PendingRows> {
        self.table.as_mut().map(|table| &mut table.rows)
    }

    /// Packs the values of the sample that was learned last.
    ///
    /// # Errors
    /// If it is too long.
    pub fn pack(&mut self, fields: &[(Cow<'_, str>, Cell<'_>)]) -> Result<(), Rejected> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let positions = &self.positions_of_sample;
        table.columns.write(&mut self.row, |column, _| {
            let position = positions.get(column).copied().flatten();
            position.and_then(|at| fields.get(at)).map_or(Cell::Absent, |(_, cell)| *cell)
        });
        check_row(&self.row)
    }

    /// Returns whether the packed sample needs another batch than those before it.
    pub fn is_full(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.rows.is_full(self.row.len()))
    }

    /// Adds the packed sample. Returns whether it is the first one of a batch.
    ///
    /// # Errors
    /// If it does not fit its type.
    pub fn push(&mut self, time: u64) -> Result<bool, Rejected> {
        let Some(table) = &mut self.table else { return Ok(false) };
        table.rows.push(time, &self.row)
    }

    /// Whole numbers that were rounded to reals.
    pub fn take_rounded(&mut self) -> u64 {
        let rounded = self.table.iter_mut().flat_map(|table| &mut table.columns.rounded);
        rounded.map(std::mem::take).sum()
    }
}

/// Returns the bytes of all texts: those of other values are few.
fn text_bytes(sample: &SourceSample<'_>) -> usize {
    let bytes = |cell: &Cell<'_>| if let Cell::Text(text) = cell { text.len() } else { 0 };
    sample.fields.iter().map(|(_, cell)| bytes(cell)).sum()
}

fn check_field_name(name: &str) -> Result<(), Rejected> {
    let why = match name {
        "" => "it is empty",
        name if name.len() > MAX_FIELD_NAME_BYTES => "it has more than 1,024 bytes",
        name if name.chars().any(char::is_control) => "it has a control character",
        ABSENT => "it stands for absent values",
        _ => return Ok(()),
    };
    Err(Rejected::name("field", name, why))
}

fn name_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Unknown => "no value",
        Kind::Boolean => "a boolean",
        Kind::Integer => "an integer",
        Kind::Real => "a real",
        Kind::Text => "a text",
    }
}

fn name_of_cell(cell: Cell<'_>) -> &'static str {
    match cell {
        Cell::Absent => "no value",
        Cell::Boolean(_) => "a boolean",
        Cell::Int(_) | Cell::Uint(_) => "an integer",
        Cell::Real(_) => "a real",
        Cell::Text(_) => "a text",
    }
}
