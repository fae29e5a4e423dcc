//! Reads a table's rows from the segment files as SQLite asks for them: one stretch of one instance is in memory at a time.

use super::{
    plan::Wanted,
    table::{KEYS, Samples, show_time},
};
use crate::{
    past::{Past, Piece},
    series::Series,
};
use bytes::Bytes;
use oasis_table::Cell;
use oasis_wire::{
    batch::{self, Batch, Header, Sample},
    quantity::Offset,
};
use rusqlite::{
    Error, ffi,
    vtab::{Context, Filters, VTabCursor},
};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Bytes of batches read at once.
const READ: usize = 64 * 1024;

/// A place in the rows.
#[repr(C)]
pub struct Cursor {
    /// SQLite's own; it must be the first.
    base: ffi::sqlite3_vtab_cursor,
    samples: Arc<Samples>,
    wanted: Wanted,
    /// Whether anybody looks at metrics.
    needs_metrics: bool,
    /// Instances that follow.
    left: VecDeque<(String, String)>,
    past: Option<Past>,
    pieces: VecDeque<Piece>,
    batch: Option<Open>,
    row: Option<Row>,
    number: i64,
}

/// A batch, and how far it was read.
struct Open {
    series: Arc<Series>,
    header: Header,
    times: Vec<u64>,
    /// None if nobody looks at metrics.
    batch: Option<Batch>,
    left: Range<usize>,
}

struct Row {
    series: Arc<Series>,
    state: u16,
    sample: Sample,
}

impl Cursor {
    /// Before anything was asked for.
    pub fn new(samples: Arc<Samples>) -> Self {
        Self {
            base: ffi::sqlite3_vtab_cursor::default(),
            samples,
            wanted: Wanted::default(),
            needs_metrics: true,
            left: VecDeque::new(),
            past: None,
            pieces: VecDeque::new(),
            batch: None,
            row: None,
            number: 0,
        }
    }

    fn advance(&mut self) -> rusqlite::Result<Option<Row>> {
        loop {
            if let Some(row) = self.batch.as_mut().and_then(|open| open.next(&self.wanted)) {
                return Ok(Some(row));
            }
            self.batch = None;
            if let Some(piece) = self.pieces.pop_front() {
                self.open(piece);
            } else if let Some(past) = &mut self.past {
                let read = past.read(READ).map_err(|error| Error::ModuleError(error.to_string()))?;
                if read.is_empty() {
                    self.past = None;
                }
                self.pieces = read.into();
            } else {
                let Some((node, instance)) = self.left.pop_front() else { return Ok(None) };
                let history = &self.samples.history;
                self.past = history
                    .past_from(&node, &instance, self.wanted.from, self.wanted.to)
                    .map_err(|error| Error::ModuleError(format!("{node}/{instance}: {error}")))?;
            }
        }
    }

    fn open(&mut self, piece: Piece) {
        // An epoch is no row, and a gap is one of the table `gaps`.
        let Piece::Samples { series, batch, wanted, .. } = piece else { return };
        if series.probe_type == self.samples.probe_type {
            self.batch = Open::new(series.clone(), &batch, &wanted, self.needs_metrics);
            if self.batch.is_none() {
                // As texts, so that a terminal shows what is in them and does not obey it.
                let (node, instance) = (&*series.node, &*series.instance);
                let (epoch, offset, samples) = (series.epoch, wanted.start, wanted.end.0 - wanted.start.0);
                tracing::warn!(node, instance, %epoch, %offset, samples, "a batch that does not fit its schema is left out");
            }
        }
    }
}

impl Open {
    fn new(series: Arc<Series>, bytes: &Bytes, wanted: &Range<Offset>, needs_metrics: bool) -> Option<Self> {
        let header = Header::parse(bytes).ok()?;
        let index = |offset: Offset| usize::try_from(offset.0.checked_sub(header.offset)?).ok();
        let left = index(wanted.start)?..index(wanted.end)?;
        let (times, batch) = match needs_metrics {
            true => (Vec::new(), Some(Batch::parse(bytes, &series.probe_type).ok()?)),
            false => (batch::times(bytes).ok()?, None),
        };
        Some(Self { series, header, times, batch, left })
    }

    fn next(&mut self, wanted: &Wanted) -> Option<Row> {
        loop {
            let at = self.left.next()?;
            let sample = match &self.batch {
                Some(batch) => batch.get(at)?,
                None => Sample {
                    sequence: self.header.first_sequence.wrapping_add(at as u64),
                    offset: self.header.offset.wrapping_add(at as u64),
                    time: *self.times.get(at)?,
                    values: Vec::new(),
                },
            };
            // Where a clock was set back, the past has samples of other times between those that are wanted.
            if wanted.span().contains(&sample.time) {
                return Some(Row { series: self.series.clone(), state: self.header.state, sample });
            }
        }
    }
}

// SAFETY: the struct is `repr(C)` and begins with a `sqlite3_vtab_cursor`, as the trait asks for.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, idx_num: i32, idx_str: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        self.wanted = Wanted::understand(idx_str.unwrap_or_default(), args)?;
        self.needs_metrics = idx_num != 0;
        (self.past, self.batch) = (None, None);
        self.pieces.clear();
        self.number = 0;
        let is_wanted =
            |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
        self.left = match self.wanted.is_empty {
            true => VecDeque::new(),
            false => {
                let all = self.samples.history.instances_of(&self.samples.probe_type);
                let all = all.map_err(|error| Error::ModuleError(error.to_string()))?;
                let of = |(node, instance): &(String, String)| {
                    is_wanted(&self.wanted.node, node) && is_wanted(&self.wanted.instance, instance)
                };
                all.into_iter().filter(of).collect()
            }
        };
        self.row = self.advance()?;
        Ok(())
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row = self.advance()?;
        self.number += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.row.is_none()
    }

    fn column(&self, context: &mut Context, at: i32) -> rusqlite::Result<()> {
        let Some(Row { series, state, sample }) = &self.row else { return Ok(()) };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        match KEYS.get(at) {
            Some(&"time") => context.set_result(show_time(sample.time)),
            Some(&"node") => context.set_result(&*series.node),
            Some(&"instance") => context.set_result(&*series.instance),
            Some(&"sequence") => context.set_result(sample.sequence as i64),
            Some(&"state") => context.set_result(state),
            Some(&"time_ns") => context.set_result(sample.time as i64),
            Some(&"run") => context.set_result(series.run.to_string()),
            Some(&"epoch") => context.set_result(series.epoch.to_string()),
            Some(_) => context.set_result(sample.offset as i64),
            None => match self.samples.table.columns.get(at - KEYS.len()) {
                Some(column) => set(context, &column.cell(&sample.values)),
                None => Ok(()),
            },
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.number)
    }
}

fn set(context: &mut Context, cell: &Cell<'_>) -> rusqlite::Result<()> {
    match cell {
        Cell::Int(value) => context.set_result(value),
        // SQLite's integers have 63 bits: beyond them digits are worth more than arithmetic.
        Cell::Uint(value) => match i64::try_from(*value) {
            Ok(value) => context.set_result(value),
            Err(_) => context.set_result(value.to_string()),
        },
        // Through its shortest text, so that 0.1 stays 0.1.
        Cell::Real32(value) => {
            let shortest = value.to_string().parse().unwrap_or_else(|_| f64::from(*value));
            context.set_result(shortest)
        }
        Cell::Real64(value) => context.set_result(value),
        Cell::Boolean(value) => context.set_result(value),
        Cell::Text(value) => context.set_result(&**value),
        Cell::Nothing => context.set_result(rusqlite::types::Null),
    }
}
