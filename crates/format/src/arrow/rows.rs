//! A record batch while it grows.

use super::{
    column::Column,
    schema::{has_values, schema},
};
use crate::{Source, WriteError};
use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{StringDictionaryBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt64Builder},
    types::Int32Type,
};
use arrow_schema::{ArrowError, SchemaRef};
use oasis_wire::{
    absence::{Absence, Within},
    batch::Sample,
    quantity::Epoch,
    schema::{ABSENT, ProbeType},
    value::Value,
};
use std::sync::Arc;
use uuid::Uuid;

/// Most rows of a record batch.
const MAX_ROWS: usize = 8_192;
/// Bytes of values beyond which a record batch is full: far below the 2 GiB that offsets count.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Samples of one probe type that become a record batch.
pub struct Rows {
    schema: SchemaRef,
    texts: [StringDictionaryBuilder<Int32Type>; 4],
    /// The run and the epoch of the last sample, and both as text.
    series: (Uuid, Epoch, [String; 2]),
    offsets: UInt64Builder,
    sequences: UInt64Builder,
    times: TimestampNanosecondBuilder,
    states: UInt16Builder,
    /// With the place of its metric in a sample.
    metrics: Vec<(usize, Column)>,
    /// The values that samples can lack.
    absence: Option<Absence>,
    rows: usize,
    bytes: usize,
    most_bytes: usize,
}

impl Rows {
    /// Creates an empty batch for this type.
    pub fn new(probe_type: &ProbeType) -> Self {
        Self::limited(probe_type, MAX_BYTES)
    }

    /// As [`Rows::new`], with a bound of bytes for record batches.
    pub fn limited(probe_type: &ProbeType, most_bytes: usize) -> Self {
        let absence = Absence::of(probe_type);
        let metrics = probe_type.metrics.iter().enumerate().filter(|(_, metric)| has_values(&metric.kind));
        let column = |(at, metric): (usize, &oasis_wire::schema::Metric)| {
            let is_nullable = absence.is_some() && metric.name != ABSENT;
            (at, Column::new(&metric.kind, metric.enumeration.as_ref(), is_nullable))
        };
        Self {
            schema: schema(probe_type),
            texts: std::array::from_fn(|_| StringDictionaryBuilder::new()),
            series: run_and_epoch(Uuid::nil(), Epoch(0)),
            offsets: UInt64Builder::new(),
            sequences: UInt64Builder::new(),
            times: TimestampNanosecondBuilder::new().with_timezone("UTC"),
            states: UInt16Builder::new(),
            metrics: metrics.map(column).collect(),
            absence,
            rows: 0,
            bytes: 0,
            most_bytes: most_bytes.min(MAX_BYTES),
        }
    }

    /// The schema of its record batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether it should be finished.
    pub fn is_full(&self) -> bool {
        self.rows >= MAX_ROWS || self.bytes >= self.most_bytes
    }

    /// Appends a sample.
    ///
    /// # Errors
    /// [`WriteError::Time`] if its time is beyond that of Arrow.
    pub fn push(&mut self, source: &Source, state: u16, sample: &Sample) -> Result<(), WriteError> {
        let time = i64::try_from(sample.time).map_err(|_| WriteError::time(source, sample))?;
        if (self.series.0, self.series.1) != (source.run, source.epoch) {
            self.series = run_and_epoch(source.run, source.epoch);
        }
        let [run, epoch] = &self.series.2;
        let of_source: [&str; 4] = [&source.node, &source.instance, run, epoch];
        self.texts.iter_mut().zip(of_source).for_each(|(column, text)| column.append_value(text));
        self.offsets.append_value(sample.offset);
        self.sequences.append_value(sample.sequence);
        self.times.append_value(time);
        self.states.append_value(state);
        let missing = Value::Boolean(false);
        let named = self.absence.as_ref().and_then(|of| Some(of.places(sample.values.get(of.metric())?)));
        let places = named.unwrap_or_default();
        let absent = Within::sample(&places);
        for (at, column) in &mut self.metrics {
            self.bytes += column.append(sample.values.get(*at).unwrap_or(&missing), absent.at(*at));
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns the record batch, and starts the next one.
    ///
    /// # Errors
    /// If Arrow rejects it, which does not happen.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        let mut columns: Vec<ArrayRef> = Vec::new();
        columns.extend(self.texts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(Arc::new(self.offsets.finish()));
        columns.push(Arc::new(self.sequences.finish()));
        columns.push(Arc::new(self.times.finish()));
        columns.push(Arc::new(self.states.finish()));
        for (_, column) in &mut self.metrics {
            columns.push(column.finish()?);
        }
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

/// A run and an epoch, with both as text.
fn run_and_epoch(run: Uuid, epoch: Epoch) -> (Uuid, Epoch, [String; 2]) {
    (run, epoch, [run.to_string(), epoch.to_string()])
}
