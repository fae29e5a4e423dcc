//! Native batches.

use crate::schema;
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    value,
};
use pyo3::{exceptions::PyValueError, prelude::*, pybacked::PyBackedBytes, types::PyBytes};
use std::fmt;

/// Sequence number, time and packed row of a sample.
type Decoded<'py> = (u64, u64, Bound<'py, PyBytes>);

/// A batch of samples, each its time and packed row. Empty without samples.
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

/// The samples of a batch.
#[pyfunction]
pub fn decode_batch<'py>(py: Python<'py>, schema: &str, batch: PyBackedBytes) -> PyResult<Vec<Decoded<'py>>> {
    let probe_type = self::schema(schema)?;
    let batch = Batch::parse(&batch, &probe_type).map_err(refused)?;
    let mut row = Vec::new();
    let samples = batch.samples().map(|sample| {
        value::write_row(&probe_type, &sample.values, &mut row);
        (sample.sequence, sample.time, PyBytes::new(py, &row))
    });
    Ok(samples.collect())
}

fn refused(error: impl fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
