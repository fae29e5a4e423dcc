//! The numbers of the first rows, so that they are parsed once. Most files have no others.

use super::lines::Position;
use crate::input::Cell;

/// Most values that are kept: 64 MiB, and 32 MiB of times if a row has one value. A list that grows takes half as much again for a moment.
#[cfg(not(test))]
const MAX_PARSED_CELLS: usize = 64 * 1024 * 1024 / size_of::<ParsedCell>();
#[cfg(test)]
const MAX_PARSED_CELLS: usize = 1_000;

/// A value that is no text.
#[derive(Debug, Clone, Copy)]
pub enum ParsedCell {
    Absent,
    Boolean(bool),
    Int(i64),
    Uint(u64),
    Real(f64),
}

impl ParsedCell {
    /// Returns the value of a cell; `None` of a text.
    pub fn of(cell: Cell<'_>) -> Option<Self> {
        Some(match cell {
            Cell::Absent => Self::Absent,
            Cell::Boolean(boolean) => Self::Boolean(boolean),
            Cell::Int(int) => Self::Int(int),
            Cell::Uint(uint) => Self::Uint(uint),
            Cell::Real(real) => Self::Real(real),
            Cell::Text(_) => return None,
        })
    }

    /// The value as a cell.
    pub fn cell(self) -> Cell<'static> {
        match self {
            Self::Absent => Cell::Absent,
            Self::Boolean(boolean) => Cell::Boolean(boolean),
            Self::Int(int) => Cell::Int(int),
            Self::Uint(uint) => Cell::Uint(uint),
            Self::Real(real) => Cell::Real(real),
        }
    }
}

/// Rows from the first one on, without a gap, of which each value is a number.
#[derive(Debug, Default)]
pub struct ParsedRows {
    times: Vec<u64>,
    cells: Vec<ParsedCell>,
    width: usize,
    /// Whether the next row may follow.
    is_open: bool,
    /// Records of the file up to the last row, a header included.
    records: u64,
    /// The place after the last row.
    end: Option<Position>,
}

impl ParsedRows {
    /// `width` is the number of values of a row, `header` the number of records before the first one.
    pub fn new(width: usize, header: u64) -> Self {
        Self { width, is_open: width > 0, records: header, ..Self::default() }
    }

    /// Returns whether the row that ends here is the next one and fits. None follows otherwise.
    pub fn begin_row(&mut self, end: Position) -> bool {
        let is_next = end.records == self.records + 1;
        self.is_open &= is_next && self.cells.len() + self.width <= MAX_PARSED_CELLS;
        self.is_open
    }

    /// Adds a value to the row.
    pub fn push(&mut self, cell: ParsedCell) {
        self.cells.push(cell);
    }

    /// Completes the row.
    pub fn end_row(&mut self, time: u64, end: Position) {
        self.times.push(time);
        self.records = end.records;
        self.end = Some(end);
    }

    /// Removes all rows, and takes no others: a column has texts.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The place after the last row, and the number of rows; `None` without a row.
    pub fn end(&self) -> Option<(Position, u64)> {
        Some((self.end?, self.times.len() as u64))
    }

    /// Iterates over times and values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[ParsedCell])> {
        self.times.iter().copied().zip(self.cells.chunks_exact(self.width.max(1)))
    }
}
