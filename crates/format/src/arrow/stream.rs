//! Arrow streams.

use super::{Rows, WriteError};
use crate::Source;
use arrow_ipc::writer::StreamWriter;
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::io::Write;

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
        Self::limited(out, probe_type, usize::MAX)
    }

    /// As [`Stream::new`], with a bound of bytes for record batches.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn limited(out: W, probe_type: &ProbeType, most_bytes: usize) -> Result<Self, WriteError> {
        let rows = Rows::limited(probe_type, most_bytes);
        let out = StreamWriter::try_new(out, &rows.schema())?;
        Ok(Self { rows, out })
    }

    /// Appends a sample; some thousands are written at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, source: &Source, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.rows.push(source, state, sample)?;
        if self.rows.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes buffered samples.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        if !self.rows.is_empty() {
            self.out.write(&self.rows.finish()?)?;
        }
        Ok(self.out.flush()?)
    }

    /// Ends the stream and returns its output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.flush()?;
        self.out.finish()?;
        Ok(self.out.into_inner()?)
    }
}
