//! Tables: Arrow streams and Parquet files. The probe type of the first sample determines the columns.

use super::{File, MIB};
use oasis_format::{
    Source, WriteError,
    arrow::{Parquet, Stream},
};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{io::Write, sync::Arc};

/// Bytes of values in one record batch.
const RECORD_BATCH: usize = MIB;
/// Bytes of a row group of Parquet: it is kept until it is complete.
const ROW_GROUP: usize = 4 * MIB;

/// An Arrow stream.
pub struct ArrowFile<W: Write> {
    stream: Stream<W>,
    probe_type: Arc<ProbeType>,
}

impl<W: Write> ArrowFile<W> {
    /// Begins a stream of samples of this type.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W, probe_type: &Arc<ProbeType>) -> Result<Self, WriteError> {
        let stream = Stream::limited(out, probe_type, RECORD_BATCH)?;
        Ok(Self { stream, probe_type: probe_type.clone() })
    }
}

impl<W: Write> File for ArrowFile<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        WriteError::check_type(&self.probe_type, &source.probe_type)?;
        self.stream.push(source, state, sample)
    }

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.stream.finish()?.flush()?)
    }
}

/// A Parquet file.
pub struct ParquetFile<W: Write + Send> {
    file: Parquet<W>,
    probe_type: Arc<ProbeType>,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file of samples of this type.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W, probe_type: &Arc<ProbeType>) -> Result<Self, WriteError> {
        let file = Parquet::limited(out, probe_type, RECORD_BATCH, ROW_GROUP)?;
        Ok(Self { file, probe_type: probe_type.clone() })
    }
}

impl<W: Write + Send> File for ParquetFile<W> {
    fn sample(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        WriteError::check_type(&self.probe_type, &source.probe_type)?;
        self.file.push(source, state, sample)
    }

    fn index_bytes(&self, _written: usize) -> usize {
        self.file.index_bytes()
    }

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        // The footer is in the output's own buffer until then.
        Ok(self.file.finish()?.flush()?)
    }
}
