//! CSV (RFC 4180): a table for spreadsheets and scripts.

mod harmless;
mod read;

use crate::{
    Format, Order, RowFormat, RowWriter, SampleFormat, SampleWriter, Source, WriteError,
    table::{Cell, Table},
};
use csv::{ErrorKind, Writer};
use harmless::harmless;
use jiff::Timestamp;
use oasis_wire::{batch::Sample, schema::ProbeType};
pub(crate) use read::INPUT;
use std::{
    io::{self, Write},
    sync::Arc,
};

/// Comma-separated values.
pub(crate) const FORMAT: Format = Format {
    name: "csv",
    alias: None,
    extension: "csv",
    is_text: true,
    samples: Some(SampleFormat {
        help: "For spreadsheets: one line for each sample, one column for each metric; instances of one probe type",
        is_table: true,
        order: Order::ByInstance,
        open: |out| Ok(Box::new(Csv::new(out))),
    }),
    rows: Some(RowFormat {
        help: "RFC 4180; text that looks like a formula gets a leading apostrophe",
        open: |out| Box::new(Csv::new(out)),
    }),
};

/// The columns that each sample has, whatever its type.
const FIXED: [&str; 7] = ["node", "instance", "run", "time", "time_ns", "sequence", "state"];

/// Writes a CSV file.
struct Csv<W: Write> {
    out: Writer<W>,
    /// The probe type and its columns; `None` before the first sample.
    table: Option<(Arc<ProbeType>, Table)>,
}

impl<W: Write> Csv<W> {
    fn new(out: W) -> Self {
        Self { out: Writer::from_writer(out), table: None }
    }

    fn record(&mut self, fields: impl IntoIterator<Item = String>) -> io::Result<()> {
        self.out.write_record(fields).map_err(io_error)
    }

    /// The table of the samples' type; the first sample writes the names of its columns.
    fn table(&mut self, probe_type: &Arc<ProbeType>) -> Result<&Table, WriteError> {
        let table = match self.table.take() {
            Some((known, table)) => {
                WriteError::check_type(&known, probe_type)?;
                table
            }
            None => {
                let table = Table::new(probe_type);
                let metrics = table.columns.iter().map(|column| harmless(&column.name));
                self.record(FIXED.map(str::to_owned).into_iter().chain(metrics))?;
                table
            }
        };
        Ok(&self.table.insert((probe_type.clone(), table)).1)
    }
}

impl<W: Write> SampleWriter for Csv<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        let table = self.table(&source.probe_type)?;
        let cells: Vec<_> = table.cells(&sample.values).map(|cell| metric(&cell)).collect();
        let fixed = [
            harmless(&source.node),
            harmless(&source.instance),
            source.run.to_string(),
            date_and_time(sample.time),
            sample.time.to_string(),
            sample.sequence.to_string(),
            state.to_string(),
        ];
        Ok(self.record(fixed.into_iter().chain(cells))?)
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        if self.table.is_none() {
            // A table without samples keeps its first line.
            self.record(FIXED.map(str::to_owned))?;
        }
        Ok(self.out.flush()?)
    }
}

impl<W: Write> RowWriter for Csv<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.record(columns.iter().map(|column| harmless(column)))
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.record(cells.iter().map(field))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn field(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => harmless(text),
        cell => cell.to_string(),
    }
}

/// Formats a metric. A finite real keeps its decimal point, so that programs that guess column types find a real.
fn metric(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Real32(value) if value.is_finite() => format!("{value:?}"),
        Cell::Real64(value) if value.is_finite() => format!("{value:?}"),
        cell => field(cell),
    }
}

/// RFC 3339, UTC, with all nine digits of a second: texts sort as times do.
fn date_and_time(nanoseconds: u64) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into());
    time.map(|time| format!("{time:.9}")).unwrap_or_default()
}

/// Unwraps the error of the output from the error of the library.
fn io_error(error: csv::Error) -> io::Error {
    if !matches!(error.kind(), ErrorKind::Io(_)) {
        return io::Error::other(error);
    }
    match error.into_kind() {
        ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

#[cfg(test)]
mod tests;
