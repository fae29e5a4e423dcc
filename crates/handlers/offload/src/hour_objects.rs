//! Parquet objects of a probe type and an hour, in memory: each is sorted by node, instance and time, and bounded in size.

use oasis_format::{Source, WriteError, arrow::Parquet};
use oasis_wire::{batch::Sample, schema::ProbeType};
use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Bytes of an object from which the next one is begun.
pub const MAX_OBJECT_BYTES: usize = 32 << 20;
/// Bytes of a row group, which is in memory until it is written.
const MAX_ROW_GROUP_BYTES: usize = 8 << 20;
/// Bytes of values in a record batch.
const MAX_RECORD_BATCH_BYTES: usize = 2 << 20;

/// A finished object.
#[derive(Debug)]
pub struct FinishedObject {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its rows.
    pub rows: u64,
    /// Least and greatest time of them.
    pub times: (u64, u64),
}

/// Bytes that are written, and how many.
#[derive(Debug, Default)]
struct CountedBytes {
    bytes: Vec<u8>,
    count: Arc<AtomicUsize>,
}

impl Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        self.count.store(self.bytes.len(), Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An object while it grows.
pub struct GrowingObject {
    parquet: Parquet<CountedBytes>,
    count: Arc<AtomicUsize>,
    rows: u64,
    times: (u64, u64),
    /// Instance and time of the last row.
    last: (Arc<Source>, u64),
}

impl GrowingObject {
    /// Begins an object with a sample.
    ///
    /// # Errors
    /// If Parquet refuses it.
    pub fn begin(
        probe_type: &ProbeType,
        source: &Arc<Source>,
        state: u16,
        sample: &Sample,
    ) -> Result<Self, WriteError> {
        let out = CountedBytes::default();
        let count = out.count.clone();
        let parquet = Parquet::limited(out, probe_type, MAX_RECORD_BATCH_BYTES, MAX_ROW_GROUP_BYTES)?;
        let last = (source.clone(), sample.time);
        let mut begun = Self { parquet, count, rows: 0, times: (u64::MAX, 0), last };
        begun.push(source, state, sample)?;
        Ok(begun)
    }

    /// Whether a sample belongs to the next object: this one is full, or would not be sorted.
    pub fn is_before(&self, source: &Arc<Source>, sample: &Sample) -> bool {
        let (last, time) = &self.last;
        let is_same =
            Arc::ptr_eq(last, source) || (&last.node, &last.instance) == (&source.node, &source.instance);
        (is_same && sample.time < *time) || self.count.load(Ordering::Relaxed) >= MAX_OBJECT_BYTES
    }

    /// Appends a sample.
    ///
    /// # Errors
    /// If Parquet refuses it.
    pub fn push(&mut self, source: &Arc<Source>, state: u16, sample: &Sample) -> Result<(), WriteError> {
        self.parquet.push(source, state, sample)?;
        self.rows += 1;
        self.times = (self.times.0.min(sample.time), self.times.1.max(sample.time));
        if !Arc::ptr_eq(&self.last.0, source) {
            self.last.0 = source.clone();
        }
        self.last.1 = sample.time;
        Ok(())
    }

    /// Ends the object.
    ///
    /// # Errors
    /// If Parquet fails.
    pub fn finish(self) -> Result<FinishedObject, WriteError> {
        let Self { parquet, rows, times, .. } = self;
        Ok(FinishedObject { bytes: parquet.finish()?.bytes, rows, times })
    }
}
