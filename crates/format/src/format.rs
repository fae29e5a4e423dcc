//! What a format is called and what can be done with it.

use crate::{
    Gap, Source, WriteError,
    mcap::{ReadError, Recorded, Rest},
    table::Cell,
};
use oasis_wire::batch::Sample;
use std::{
    error::Error,
    io::{self, Read, Write},
    sync::Arc,
};

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The value of `--format`.
    pub name: &'static str,
    /// Another name that is accepted.
    pub alias: Option<&'static str>,
    /// What the names of its files end with, without the dot.
    pub extension: &'static str,
    /// Whether a file is text, so that a terminal can show it.
    pub is_text: bool,
    /// How samples are written, if they can be.
    pub samples: Option<SampleFormat>,
    /// How the rows of a query's answer are written, if they can be.
    pub rows: Option<RowFormat>,
    /// How a file is read, if it can be.
    pub reader: Option<Reader>,
}

/// How samples are written in a format.
#[derive(Debug)]
pub struct SampleFormat {
    /// What such a file is, and for what it is good: the help of `oasis export`.
    pub help: &'static str,
    /// Whether a file is a table with the columns of one probe type.
    pub is_table: bool,
    /// The order in which a file needs its samples.
    pub order: Order,
    /// Begins a file.
    pub open: OpenSamples,
}

/// How rows are written in a format.
#[derive(Debug)]
pub struct RowFormat {
    /// What is printed, and for what it is good: the help of `oasis sql`.
    pub help: &'static str,
    /// Begins an answer.
    pub open: OpenRows,
}

/// How files of a format are read.
#[derive(Debug)]
pub struct Reader {
    /// The bytes that each file begins with.
    pub magic: &'static [u8],
    /// Reads a file to its end, and passes on its batches.
    pub read: ReadBatches,
}

/// Begins a file of samples.
pub type OpenSamples =
    for<'a> fn(&'a mut (dyn Write + Send)) -> Result<Box<dyn SampleWriter + 'a>, WriteError>;

/// Begins the answer to a query.
pub type OpenRows = for<'a> fn(&'a mut dyn Write) -> Box<dyn RowWriter + 'a>;

/// Reads a file to its end: each batch goes to the function, the rest is returned.
pub type ReadBatches = fn(&mut dyn Read, &mut TakeBatch<'_>) -> Result<Rest, ReadError<TakeError>>;

/// Takes a batch that was read.
pub type TakeBatch<'a> = dyn FnMut(&Recorded, &[u8]) -> Result<(), TakeError> + 'a;

/// Why a batch was not taken.
pub type TakeError = Box<dyn Error + Send + Sync>;

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
    /// If the output fails, or the format cannot hold the sample.
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError>;

    /// Writes that samples are missing. Formats without a place for it leave it out.
    ///
    /// # Errors
    /// If the output fails.
    fn gap(&mut self, _gap: &Gap<'_>) -> Result<(), WriteError> {
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the output fails, or the file would not be one of the format.
    fn finish(&mut self) -> Result<(), WriteError>;
}

/// Writes the rows of a query's answer.
pub trait RowWriter {
    /// Takes the names of the columns, before any row.
    ///
    /// # Errors
    /// If the output fails.
    fn begin(&mut self, columns: &[String]) -> io::Result<()>;

    /// Writes one row, with a cell for each column.
    ///
    /// # Errors
    /// If the output fails.
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;

    /// Completes the answer.
    ///
    /// # Errors
    /// If the output fails.
    fn finish(&mut self) -> io::Result<()>;
}
