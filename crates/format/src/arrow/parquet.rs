//! Parquet files.

use super::{
    Rows, WriteError,
    gaps::{self, WrittenGap},
};
use crate::Source;
use oasis_wire::{batch::Sample, schema::ProbeType};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::io::Write;

/// Bytes of a row group before it is written.
const MAX_ROW_GROUP: usize = 64 * 1024 * 1024;
/// About how many bytes the description of a column in a row group takes.
const COLUMN_IN_GROUP: usize = 512;

/// A Parquet file.
pub struct Parquet<W: Write + Send> {
    rows: Rows,
    out: ArrowWriter<W>,
    row_group: usize,
}

impl<W: Write + Send> Parquet<W> {
    /// Begins a file of samples of this type.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(out: W, probe_type: &ProbeType) -> Result<Self, WriteError> {
        Self::limited(out, probe_type, usize::MAX, MAX_ROW_GROUP)
    }

    /// As [`Parquet::new`], with record batches and row groups of about so many bytes at most.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn limited(
        out: W,
        probe_type: &ProbeType,
        record_batch: usize,
        row_group: usize,
    ) -> Result<Self, WriteError> {
        let rows = Rows::limited(probe_type, record_batch);
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let out = ArrowWriter::try_new(out, rows.schema(), Some(properties))?;
        Ok(Self { rows, out, row_group: row_group.min(MAX_ROW_GROUP) })
    }

    /// Appends a sample.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, source: &Source, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.rows.push(source, state, sample)?;
        if self.rows.is_full() { self.write_rows() } else { Ok(()) }
    }

    fn write_rows(&mut self) -> Result<(), WriteError> {
        if !self.rows.is_empty() {
            self.out.write(&self.rows.finish()?)?;
        }
        // A row group is held in memory until it is written.
        if self.out.in_progress_size() > self.row_group {
            self.out.flush()?;
        }
        Ok(())
    }

    /// About how many bytes of descriptions are kept for the end of the file.
    pub fn index_bytes(&self) -> usize {
        self.out.flushed_row_groups().len() * self.rows.schema().flattened_fields().len() * COLUMN_IN_GROUP
    }

    /// Ends the file and returns its output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<W, WriteError> {
        self.finish_with(&[])
    }

    /// As [`Parquet::finish`], with the gaps of the samples.
    pub(super) fn finish_with(mut self, gaps: &[WrittenGap]) -> Result<W, WriteError> {
        self.write_rows()?;
        if !gaps.is_empty() {
            let gaps = serde_json::to_string(gaps)?;
            self.out.append_key_value_metadata(KeyValue::new(gaps::KEY.to_owned(), gaps));
        }
        Ok(self.out.into_inner()?)
    }
}
