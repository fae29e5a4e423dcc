//! The description of a format, and its interfaces.

use crate::{Gap, Source, WriteError, WriteOptions, table::Cell};
use oasis_wire::batch::Sample;
use std::{
    io::{self, Write},
    sync::Arc,
};

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The value of `--format`.
    pub name: &'static str,
    /// Another name that is accepted.
    pub alias: Option<&'static str>,
    /// Its file extension, without the dot.
    pub extension: &'static str,
    /// Whether a file is text, so that a terminal can show it.
    pub is_text: bool,
    /// Writes samples, if supported.
    pub samples: Option<SampleFormat>,
    /// Writes rows of a query result, if supported.
    pub rows: Option<RowFormat>,
}

/// The support of a format for samples.
#[derive(Debug)]
pub struct SampleFormat {
    /// Help of `oasis export`.
    pub help: &'static str,
    /// Whether a file is a table with the columns of one probe type.
    pub is_table: bool,
    /// The order in which a file needs its samples.
    pub order: Order,
    /// Begins a file.
    pub open: OpenSamples,
}

/// The support of a format for rows.
#[derive(Debug)]
pub struct RowFormat {
    /// Help of `oasis sql`.
    pub help: &'static str,
    /// Begins a result.
    pub open: OpenRows,
}

/// Begins a file of samples.
pub type OpenSamples =
    for<'a> fn(&'a mut (dyn Write + Send), &WriteOptions) -> Result<Box<dyn SampleWriter + 'a>, WriteError>;

/// Begins the result of a query.
pub type OpenRows = for<'a> fn(&'a mut dyn Write) -> Box<dyn RowWriter + 'a>;

/// The order of samples in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One instance after the other.
    ByInstance,
    /// By the samples' times.
    ByTime,
}

/// Writes samples to a file.
pub trait SampleWriter {
    /// Writes one sample, and the state of its probe.
    ///
    /// # Errors
    /// If the output fails, or the format cannot represent the sample.
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError>;

    /// Writes a gap. Formats that cannot represent it ignore it.
    ///
    /// # Errors
    /// If the output fails.
    fn gap(&mut self, _gap: &Gap<'_>) -> Result<(), WriteError> {
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the output fails, or the file would be invalid.
    fn finish(&mut self) -> Result<(), WriteError>;
}

/// Writes the rows of a query result.
pub trait RowWriter {
    /// Receives the names of the columns, before any row.
    ///
    /// # Errors
    /// If the output fails.
    fn begin(&mut self, columns: &[String]) -> io::Result<()>;

    /// Writes one row, with a cell for each column.
    ///
    /// # Errors
    /// If the output fails.
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;

    /// Completes the result.
    ///
    /// # Errors
    /// If the output fails.
    fn finish(&mut self) -> io::Result<()>;
}
