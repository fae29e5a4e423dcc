//! Native batches.

use crate::schema;
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    value::{self, RowWriter},
};
use pyo3::{exceptions::PyValueError, prelude::*, pybacked::PyBackedBytes, types::PyBytes};
use std::fmt;

/// Sequence number, time and packed row of a sample.
type DecodedSample<'py> = (u64, u64, Bound<'py, PyBytes>);

/// Encodes a batch of samples, each given as time and packed row. Returns no bytes for no samples.
#[pyfunction]
#[pyo3(signature = (schema, samples, *, topic, state, first_sequence, node_time, dropped_before))]
#[allow(clippy::too_many_arguments, reason = "the fields of a header, by name")]
pub fn encode_batch<'py>(
    py: Python<'py>,
    schema: &str,
    samples: Vec<(u64, PyBackedBytes)>,
    topic: u32,
    state: u16,
    first_sequence: u64,
    node_time: u64,
    dropped_before: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut encoder = Encoder::new(&self::schema(schema)?).map_err(refused)?;
    for (time, row) in &samples {
        encoder.push(*time, row).map_err(refused)?;
    }
    let mut batch = Vec::new();
    encoder.finish(Fields { topic, state, first_sequence, node_time, dropped_before }, &mut batch);
    Ok(PyBytes::new(py, &batch))
}

/// Decodes the samples of a batch.
#[pyfunction]
pub fn decode_batch<'py>(
    py: Python<'py>,
    schema: &str,
    batch: PyBackedBytes,
) -> PyResult<Vec<DecodedSample<'py>>> {
    let probe_type = self::schema(schema)?;
    let batch = Batch::parse(&batch, &probe_type).map_err(refused)?;
    let mut row = Vec::new();
    let samples = batch.samples().map(|sample| {
        value::write_row(&probe_type, &sample.values, &mut row);
        (sample.sequence, sample.time, PyBytes::new(py, &row))
    });
    Ok(samples.collect())
}

/// Sequence numbers, times and rows of a batch: numbers as little-endian arrays, rows one after another, of the
/// selected metrics.
type Arrays<'py> = (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Decodes the samples of a batch as arrays.
#[pyfunction]
pub fn decode_rows<'py>(
    py: Python<'py>,
    schema: &str,
    batch: PyBackedBytes,
    metrics: Vec<usize>,
) -> PyResult<Arrays<'py>> {
    let probe_type = self::schema(schema)?;
    let batch = Batch::parse(&batch, &probe_type).map_err(refused)?;
    let (mut sequences, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for sample in batch.samples() {
        sequences.extend_from_slice(&sample.sequence.to_le_bytes());
        times.extend_from_slice(&sample.time.to_le_bytes());
        let mut row = RowWriter::new(&mut rows);
        for index in &metrics {
            if let (Some(metric), Some(value)) = (probe_type.metrics.get(*index), sample.values.get(*index)) {
                value::write(&metric.kind, value, &mut row);
            }
        }
    }
    let [sequences, times, rows] = [sequences, times, rows].map(|bytes| PyBytes::new(py, &bytes));
    Ok((batch.samples().len(), sequences, times, rows))
}

fn refused(error: impl fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
