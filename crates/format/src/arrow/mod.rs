//! Samples as [Arrow](https://arrow.apache.org) record batches: as a stream that pandas, polars and DuckDB read while it comes, and as Parquet files.
//!
//! Columns are those of `docs/reference/tables.md`, nested ones as Arrow nests them. Their libraries take minutes to build, so the module needs the feature `arrow`.
//!
//! ```
//! use oasis_format::arrow::{Source, Stream};
//! use oasis_wire::{batch::Sample, schema::ProbeType, value::Value};
//!
//! let tank: ProbeType = serde_json::from_str(r#"{
//!     "name": "Plant::Tank", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
//!     "metrics": [{"name": "level", "type": "real64", "unit": "m"}]
//! }"#)?;
//! let source = Source { node: "plant", instance: "tank", run: "7f1c0e6a", epoch: "00000000000000ab" };
//! let mut stream = Stream::new(Vec::new(), &tank)?;
//! let sample = Sample { sequence: 1, offset: 0, time: 1_763_683_200_000_000_000, values: vec![Value::Real64(2.5)] };
//! stream.push(&source, 0, &sample)?;
//! let bytes = stream.finish()?;
//!
//! let read: Result<Vec<_>, _> = arrow_ipc::reader::StreamReader::try_new(&bytes[..], None)?.collect();
//! assert_eq!(read?[0].num_rows(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod rows;
mod schema;

pub use rows::{Rows, Source};
pub use schema::schema;

use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::io::Write;

/// The format's media type.
pub const MEDIA_TYPE: &str = "application/vnd.apache.arrow.stream";

/// Why samples could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Arrow's writer, or what it writes to.
    #[error("Arrow: {0}")]
    Arrow(#[from] ArrowError),
    /// Parquet's writer, or what it writes to.
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

/// An Arrow IPC stream.
pub struct Stream<W: Write> {
    rows: Rows,
    out: StreamWriter<W>,
}

impl<W: Write> Stream<W> {
    /// Begins a stream of samples of this type.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(out: W, probe_type: &ProbeType) -> Result<Self, WriteError> {
        let rows = Rows::new(probe_type);
        let out = StreamWriter::try_new(out, &rows.schema())?;
        Ok(Self { rows, out })
    }

    /// One more sample; some thousands are written at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, source: &Source<'_>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.rows.push(source, state, sample);
        if self.rows.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        if !self.rows.is_empty() {
            self.out.write(&self.rows.finish()?)?;
        }
        Ok(self.out.flush()?)
    }

    /// Ends the stream and gives back what it went to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.flush()?;
        self.out.finish()?;
        Ok(self.out.into_inner()?)
    }
}

/// A Parquet file.
pub struct Parquet<W: Write + Send> {
    rows: Rows,
    out: parquet::arrow::ArrowWriter<W>,
}

impl<W: Write + Send> Parquet<W> {
    /// Begins a file of samples of this type.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(out: W, probe_type: &ProbeType) -> Result<Self, WriteError> {
        use parquet::{basic::Compression, file::properties::WriterProperties};
        let rows = Rows::new(probe_type);
        let compression = Compression::ZSTD(parquet::basic::ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let out = parquet::arrow::ArrowWriter::try_new(out, rows.schema(), Some(properties))?;
        Ok(Self { rows, out })
    }

    /// One more sample.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, source: &Source<'_>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.rows.push(source, state, sample);
        if self.rows.is_full() { self.write_rows() } else { Ok(()) }
    }

    fn write_rows(&mut self) -> Result<(), WriteError> {
        if !self.rows.is_empty() {
            self.out.write(&self.rows.finish()?)?;
        }
        // A row group is held in memory until it is written.
        if self.out.in_progress_size() > MAX_ROW_GROUP {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Ends the file and gives back what it went to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.write_rows()?;
        Ok(self.out.into_inner()?)
    }
}

/// Bytes of a row group before it is written.
const MAX_ROW_GROUP: usize = 64 * 1024 * 1024;
