//! CSV (RFC 4180): a table for spreadsheets and scripts.

mod harmless;
mod read;

use crate::{
    CsvDialect, Format, Order, RowFormat, RowWriter, SampleFormat, SampleWriter, Source, WriteError,
    table::{Cell, Table},
};
use csv::{ErrorKind, Writer, WriterBuilder};
use harmless::harmless;
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
        open: |out, options| Ok(Box::new(Csv::new(out, options.dialect.clone()))),
    }),
    rows: Some(RowFormat {
        help: "RFC 4180; text that looks like a formula gets a leading apostrophe",
        open: |out| Box::new(Csv::new(out, CsvDialect::default())),
    }),
};

/// The columns that each sample has, whatever its type.
const FIXED: [&str; 7] = ["node", "instance", "run", "time", "time_ns", "sequence", "state"];

/// Writes a CSV file.
struct Csv<W: Write> {
    out: Writer<W>,
    dialect: CsvDialect,
    /// The probe type and its columns; `None` before the first sample.
    table: Option<(Arc<ProbeType>, Table)>,
}

impl<W: Write> Csv<W> {
    fn new(out: W, dialect: CsvDialect) -> Self {
        let out = WriterBuilder::new().delimiter(dialect.delimiter).from_writer(out);
        Self { out, dialect, table: None }
    }

    fn record(&mut self, fields: impl IntoIterator<Item = String>) -> io::Result<()> {
        self.out.write_record(fields).map_err(io_error)
    }

    /// Finds the table of the samples' type; the first sample writes the names of its columns.
    fn table(&mut self, probe_type: &Arc<ProbeType>) -> Result<(), WriteError> {
        let table = match self.table.take() {
            Some((known, table)) => {
                WriteError::check_type(&known, probe_type)?;
                table
            }
            None => {
                let table = Table::new(probe_type);
                let metrics = table.columns.iter();
                let metrics = metrics.map(|of| harmless(&self.dialect.heading(&of.name, of.unit.as_deref())));
                let names: Vec<_> = FIXED.map(str::to_owned).into_iter().chain(metrics).collect();
                self.record(names)?;
                table
            }
        };
        self.table = Some((probe_type.clone(), table));
        Ok(())
    }
}

impl<W: Write> SampleWriter for Csv<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.table(&source.probe_type)?;
        let cells = self.table.iter().flat_map(|(_, table)| table.cells(&sample.values));
        let cells: Vec<_> = cells.map(|cell| metric(&cell, &self.dialect)).collect();
        let fixed = [
            harmless(&source.node),
            harmless(&source.instance),
            source.run.to_string(),
            self.dialect.time(sample.time),
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
fn metric(cell: &Cell<'_>, dialect: &CsvDialect) -> String {
    match cell {
        Cell::Real32(value) if value.is_finite() => dialect.number(format!("{value:?}")),
        Cell::Real64(value) if value.is_finite() => dialect.number(format!("{value:?}")),
        cell => field(cell),
    }
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
