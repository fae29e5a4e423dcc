//! An answer as a table for spreadsheets (RFC 4180).

use crate::export::harmless;
use csv::Writer;
use oasis_archive::{Rows, SqlValue};
use std::io::{self, Write};

/// A table to this.
pub struct Csv<W: Write>(Writer<W>);

impl<W: Write> Csv<W> {
    pub fn new(out: W) -> Self {
        Self(Writer::from_writer(out))
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Rows for Csv<W> {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.0.write_record(columns.iter().map(|column| harmless(column))).map_err(io::Error::from)
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        self.0.write_record(values.iter().map(field)).map_err(io::Error::from)
    }
}

fn field(value: &SqlValue<'_>) -> String {
    match value {
        SqlValue::Text(text) => harmless(&String::from_utf8_lossy(text)),
        value => super::table::plain(value),
    }
}
