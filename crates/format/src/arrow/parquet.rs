//! Parquet files.

use super::{
    Rows, WriteError,
    gaps::{self, WrittenGap},
};
use crate::Source;
use arrow_schema::Schema;
use oasis_wire::{batch::Sample, schema::ProbeType};
use parquet::{
    arrow::{ArrowSchemaConverter, ArrowWriter},
    basic::{Compression, Encoding, Type, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::io::Write;

/// Bytes of a row group before it is written.
const MAX_ROW_GROUP: usize = 64 * 1024 * 1024;
/// About how many bytes the description of a column in a row group takes.
const COLUMN_IN_GROUP: usize = 512;

/// Bytes of different reals in a row group up to which a column has a dictionary of them.
const MAX_REAL_DICTIONARY: usize = 4 * 1024;

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

    /// As [`Parquet::new`], with a bound of bytes for record batches and row groups.
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
        let properties = properties(&rows.schema())?;
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

/// Compression, and an encoding for each column: differences of integers and times, bytes of reals by their significance.
fn properties(schema: &Schema) -> Result<WriterProperties, WriteError> {
    let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    for column in ArrowSchemaConverter::new().convert(schema)?.columns() {
        let path = column.path().clone();
        properties = match column.physical_type() {
            Type::INT32 | Type::INT64 => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            // Few different reals take less as a dictionary, which the writer gives up at its limit.
            Type::FLOAT | Type::DOUBLE => properties
                .set_column_dictionary_page_size_limit(path.clone(), MAX_REAL_DICTIONARY)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            _ => properties,
        };
    }
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{
        probe_kind::ProbeKind,
        quantity::Epoch,
        schema::{Metric, MetricType},
        value::Value,
    };
    use std::sync::Arc;
    use uuid::Uuid;

    /// Cumulative times of a processor, ten samples a second that are up to 65 us late.
    #[test]
    fn a_sample_of_seven_counters_takes_less_than_4_bytes() {
        let metrics = (0..7).map(|at| Metric::new(format!("c{at}"), MetricType::Uint64)).collect();
        let probe_type = Arc::new(crate::input::infer::described("P", metrics));
        let (node, instance) = ("n".into(), "i".into());
        let kind = ProbeKind::Periodic;
        let source = Source {
            node,
            instance,
            kind,
            run: Uuid::nil(),
            epoch: Epoch(1),
            probe_type: probe_type.clone(),
        };
        let mut file = Parquet::new(Vec::new(), &probe_type).unwrap();
        let (mut state, mut counters) = (1_u32, [1_000_000_u64; 7]);
        let samples = 20_000;
        for sequence in 1..=samples {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let time = 1_700_000_000_000_000_000 + sequence * 100_000_000 + u64::from(state >> 16);
            counters[0] += u64::from(state >> 30) * 10;
            counters[3] += 100 - u64::from(state >> 30) * 10;
            let values = counters.map(Value::Uint).to_vec();
            file.push(&source, 0, &Sample { sequence, offset: sequence, time, values }).unwrap();
        }
        let bytes = file.finish().unwrap().len() as f64 / samples as f64;
        assert!(bytes < 4.0, "{bytes} bytes a sample");
    }
}
