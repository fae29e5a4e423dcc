//! Reads rows of a table from segment files on demand of SQLite: one part of one instance is in memory at a time.

use super::{
    plan::RowFilter,
    table::{EPOCH, INSTANCE, KEYS, NODE, OFFSET, RUN, SEQUENCE, STATE, Samples, TIME, TIME_NS, show_time},
};
use bytes::Bytes;
use oasis_format::table::{Cell, Column, ColumnType};
use oasis_store::{Past, PastItem, Series};
use oasis_wire::{
    batch::{Batch, Values},
    quantity::Offset,
};
use rusqlite::{
    Error, ffi,
    vtab::{Context, Filters, VTabCursor},
};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Bytes of batches read at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// A cursor over rows.
#[repr(C)]
pub struct Cursor {
    /// Required by SQLite as the first field.
    base: ffi::sqlite3_vtab_cursor,
    samples: Arc<Samples>,
    wanted: RowFilter,
    /// Number of metrics that are decoded, up to the last one in use.
    metrics: usize,
    /// Remaining instances.
    left: VecDeque<(String, String)>,
    past: Option<Past>,
    pieces: VecDeque<PastItem>,
    /// The series of the batch before, and whether it is of the table's type.
    series: Option<(Arc<Series>, bool)>,
    /// The batch of the current row; `None` after the last row.
    batch: Option<Open>,
}

/// A batch, and the row in it.
struct Open {
    series: Arc<Series>,
    batch: Batch,
    row: usize,
    left: Range<usize>,
}

impl Cursor {
    /// Creates a cursor before the first query.
    pub fn new(samples: Arc<Samples>) -> Self {
        Self {
            base: ffi::sqlite3_vtab_cursor::default(),
            samples,
            wanted: RowFilter::default(),
            metrics: usize::MAX,
            left: VecDeque::new(),
            past: None,
            pieces: VecDeque::new(),
            series: None,
            batch: None,
        }
    }

    /// Moves to the next row.
    fn advance(&mut self) -> rusqlite::Result<()> {
        loop {
            if self.batch.as_mut().is_some_and(|open| open.advance(&self.wanted)) {
                return Ok(());
            }
            self.batch = None;
            if self.samples.stop.is_due() {
                return Err(Error::ModuleError("the query was ended".into()));
            }
            if let Some(piece) = self.pieces.pop_front() {
                self.open(piece);
            } else if let Some(past) = &mut self.past {
                let read =
                    past.read(READ_CHUNK_BYTES).map_err(|error| Error::ModuleError(error.to_string()))?;
                if read.is_empty() {
                    self.past = None;
                }
                self.pieces = read.into();
            } else {
                let Some((node, instance)) = self.left.pop_front() else { return Ok(()) };
                let history = &self.samples.history;
                let RowFilter { from, to, .. } = self.wanted;
                self.past = history
                    .past_from(&node, &instance, from, None)
                    .map_err(|error| Error::ModuleError(format!("{node}/{instance}: {error}")))?
                    .map(|past| past.with_groups().by_time(from, to));
            }
        }
    }

    /// Compares schemas once for each series, not for each batch, because they are long.
    fn is_of_type(&mut self, series: &Arc<Series>) -> bool {
        if !self.series.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, series)) {
            self.series = Some((series.clone(), series.probe_type == self.samples.probe_type));
        }
        self.series.as_ref().is_some_and(|(_, is_of_type)| *is_of_type)
    }

    fn open(&mut self, piece: PastItem) {
        // Epochs are not rows, and gaps are in the table `gaps`.
        let PastItem::Samples { series, batch, wanted, .. } = piece else { return };
        if self.is_of_type(&series) {
            self.batch = Open::new(series.clone(), &batch, &wanted, self.metrics);
            if self.batch.is_none() {
                // Escaped, so that a terminal does not interpret control characters.
                let (node, instance) = (&*series.node, &*series.instance);
                let (epoch, offset, samples) = (series.epoch, wanted.start, wanted.end.0 - wanted.start.0);
                tracing::warn!(node, instance, %epoch, %offset, samples, "a batch that does not fit its schema is left out");
            }
        }
    }
}

impl Open {
    fn new(series: Arc<Series>, bytes: &Bytes, wanted: &Range<Offset>, metrics: usize) -> Option<Self> {
        let batch = Batch::parse_first(bytes, &series.probe_type, metrics).ok()?;
        let first = batch.header().offset;
        let index = |offset: Offset| usize::try_from(offset.0.checked_sub(first)?).ok();
        let left = index(wanted.start)?..index(wanted.end)?.min(batch.times().len());
        Some(Self { series, batch, row: 0, left })
    }

    /// Moves to the next matching row. Returns whether there is one.
    fn advance(&mut self, wanted: &RowFilter) -> bool {
        let times = self.batch.times();
        // If a clock was set back, samples outside the time span can be between matching ones.
        let next = self.left.find(|at| times.get(*at).is_some_and(|time| wanted.contains(*time)));
        next.inspect(|at| self.row = *at).is_some()
    }

    fn time(&self) -> u64 {
        self.batch.times().get(self.row).copied().unwrap_or_default()
    }

    fn sequence(&self) -> u64 {
        self.batch.header().first_sequence.wrapping_add(self.row as u64)
    }

    /// The value of a metric that is a number and never absent, from its decoded column.
    fn number(&self, column: &Column) -> Option<Cell<'static>> {
        let Some(Values::Fixed(values)) = self.batch.values(column.metric()) else { return None };
        let bits = *values.get(self.row)?;
        match &column.kind {
            _ if column.absent_metric().is_some() => None,
            ColumnType::Int(_) => Some(Cell::Int(bits.cast_signed())),
            ColumnType::Uint(_) => Some(Cell::Uint(bits)),
            ColumnType::Real32 => Some(Cell::Real32(f32::from_bits(bits as u32))),
            ColumnType::Real64 => Some(Cell::Real64(f64::from_bits(bits))),
            ColumnType::Boolean => Some(Cell::Boolean(bits != 0)),
            ColumnType::Text | ColumnType::Enum(_) | ColumnType::Json(_) | ColumnType::Blob => None,
        }
    }

    fn set(&self, context: &mut Context, column: &str, cell: &Cell<'_>) -> rusqlite::Result<()> {
        match cell {
            Cell::Int(value) => context.set_result(value),
            Cell::Uint(value) => self.set_whole(context, column, *value),
            // Uses its shortest text, so that 0.1 stays 0.1.
            Cell::Real32(value) => {
                let shortest = value.to_string().parse().unwrap_or_else(|_| f64::from(*value));
                context.set_result(shortest)
            }
            Cell::Real64(value) => context.set_result(value),
            Cell::Boolean(value) => context.set_result(value),
            Cell::Text(value) => context.set_result(&**value),
            Cell::Blob(bytes) => context.set_result(*bytes),
            Cell::Nothing => context.set_result(rusqlite::types::Null),
        }
    }

    /// SQLite's integers have 63 bits. A larger one is an error: as text it would sort and count wrongly, as a real it would lose digits.
    fn set_whole(&self, context: &mut Context, column: &str, number: u64) -> rusqlite::Result<()> {
        let number = i64::try_from(number).map_err(|_| {
            let Series { node, instance, .. } = &*self.series;
            let sequence = self.sequence();
            // Parquet has no such times either.
            let format = if column == "time_ns" { "CSV" } else { "Parquet" };
            Error::ModuleError(format!(
                "{column} of {node}/{instance}, sequence {sequence}, is {number}, beyond {}, the greatest integer of SQL here: leave the column out, or export the samples to {format}",
                i64::MAX
            ))
        })?;
        context.set_result(number)
    }

    fn offset(&self) -> u64 {
        self.batch.header().offset.wrapping_add(self.row as u64)
    }
}

// SAFETY: the struct is `repr(C)` and begins with a `sqlite3_vtab_cursor`, as the trait requires.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, idx_num: i32, idx_str: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        self.wanted = RowFilter::understand(idx_str.unwrap_or_default(), args)?;
        let columns = &self.samples.table.columns;
        let last = usize::try_from(idx_num).unwrap_or(usize::MAX).min(columns.len()).checked_sub(1);
        // Absent columns are named by a metric of their own.
        let absent = columns.first().and_then(|column| column.absent_metric()).unwrap_or_default();
        self.metrics = last.map_or(0, |last| columns[last].metric().max(absent) + 1);
        (self.past, self.batch) = (None, None);
        self.pieces.clear();
        let RowFilter { node, instance, is_empty, .. } = &self.wanted;
        self.left = match is_empty {
            true => VecDeque::new(),
            false => {
                let all = self.samples.instances(node.as_deref(), instance.as_deref());
                all.map_err(|error| Error::ModuleError(error.to_string()))?.into()
            }
        };
        self.advance()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.advance()
    }

    fn eof(&self) -> bool {
        self.batch.is_none()
    }

    fn column(&self, context: &mut Context, at: i32) -> rusqlite::Result<()> {
        let Some(open) = &self.batch else { return Ok(()) };
        match at {
            TIME => context.set_result(show_time(open.time())),
            NODE => context.set_result(&*open.series.node),
            INSTANCE => context.set_result(&*open.series.instance),
            SEQUENCE => open.set_whole(context, "sequence", open.sequence()),
            STATE => context.set_result(open.batch.header().state),
            TIME_NS => open.set_whole(context, "time_ns", open.time()),
            RUN => context.set_result(open.series.run.to_string()),
            EPOCH => context.set_result(open.series.epoch.to_string()),
            OFFSET => open.set_whole(context, "offset", open.offset()),
            metric => {
                let at = usize::try_from(metric).unwrap_or(usize::MAX) - KEYS.len();
                let Some(column) = self.samples.table.columns.get(at) else { return Ok(()) };
                if let Some(number) = open.number(column) {
                    return open.set(context, &column.name, &number);
                }
                let named = column.absent_metric().and_then(|at| open.batch.value(at, open.row));
                // Reads only this value: building the whole sample would allocate for each row.
                let Some(value) = open.batch.value(column.metric(), open.row) else { return Ok(()) };
                open.set(context, &column.name, &column.cell_of(&value, named.as_ref()))
            }
        }
    }

    /// The table has no rowid: SQLite asks for its key.
    fn rowid(&self) -> rusqlite::Result<i64> {
        Err(Error::ModuleError("samples have no rowid".into()))
    }
}
