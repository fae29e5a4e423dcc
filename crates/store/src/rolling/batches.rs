//! Cuts cells into batches that every reader accepts.

use crate::rollups::file::{CellBatchLocation, Draft};
use oasis_rollup::cells::{Cell, Leaf, Track, schema};
use oasis_wire::{
    batch::{Encoder, Fields, MAX_BATCH, stamp},
    schema::{InvalidType, ProbeType},
    value,
};

/// Cells in a batch, at most.
const MAX_BATCH_CELLS: usize = 4_096;
/// Approximate maximum of values in a batch.
const MAX_BATCH_VALUES: usize = 256 * 1_024;
/// About the bytes of an element of a vector in a cell.
const ELEMENT_BYTES: usize = 56;

/// Writes cells of one type into a draft, in batches of at most [`MAX_BATCH`] bytes.
#[derive(Debug)]
pub struct CellBatches<'a> {
    draft: &'a mut Draft,
    cell_type: &'a ProbeType,
    encoder: Encoder,
    /// Cells in a batch.
    most: usize,
    /// Least and greatest time in the batch.
    times: (u64, u64),
    /// Cells in earlier batches.
    written: u64,
    row: Vec<u8>,
    batch: Vec<u8>,
    places: Vec<CellBatchLocation>,
}

impl<'a> CellBatches<'a> {
    /// Creates a writer.
    ///
    /// # Errors
    /// If it is not a valid type.
    pub fn new(draft: &'a mut Draft, cell_type: &'a ProbeType) -> Result<Self, InvalidType> {
        Ok(Self {
            encoder: Encoder::new(cell_type)?,
            most: (MAX_BATCH_VALUES / cell_type.metrics.len().max(1)).clamp(1, MAX_BATCH_CELLS),
            draft,
            cell_type,
            times: (u64::MAX, 0),
            written: 0,
            row: Vec::new(),
            batch: Vec::new(),
            places: Vec::new(),
        })
    }

    /// Appends a cell.
    pub fn push(&mut self, cell: &Cell, leaves: &[Leaf]) {
        value::write_row(self.cell_type, &schema::values(cell, leaves), &mut self.row);
        if self.encoder.len() >= self.most || !self.has_room() {
            self.end_batch();
        }
        if !self.has_room() {
            self.narrow(cell.clone(), leaves);
        }
        if self.encoder.push(cell.last_time, &self.row).is_ok() {
            self.times = (self.times.0.min(cell.last_time), self.times.1.max(cell.last_time));
        }
    }

    /// Ends the last batch. Returns the places of all of them.
    pub fn finish(mut self) -> Vec<CellBatchLocation> {
        self.end_batch();
        self.places
    }

    /// Whether the row fits into the batch.
    fn has_room(&self) -> bool {
        self.encoder.most_bytes_with(self.row.len()) <= MAX_BATCH
    }

    /// Leaves the largest texts and vectors out of a cell that is too large even for a batch of its own. Numbers alone always fit.
    fn narrow(&mut self, mut cell: Cell, leaves: &[Leaf]) {
        let size = |track: &Track| match track {
            Track::Text(text) => text.len(),
            Track::Elements(elements) => elements.len() * ELEMENT_BYTES,
            Track::Number(_) | Track::Nothing => 0,
        };
        while !self.has_room() {
            let largest = cell.tracks.iter_mut().max_by_key(|track| size(track));
            let Some(largest) = largest.filter(|track| size(track) > 0) else { return };
            *largest = Track::Nothing;
            value::write_row(self.cell_type, &schema::values(&cell, leaves), &mut self.row);
        }
    }

    fn end_batch(&mut self) {
        let count = self.encoder.len() as u64;
        if count == 0 {
            return;
        }
        self.batch.clear();
        let fields = Fields { first_sequence: self.written + 1, ..Fields::default() };
        self.encoder.finish(fields, &mut self.batch);
        stamp(&mut self.batch, self.written, 0);
        debug_assert!(self.batch.len() <= MAX_BATCH, "readers refuse it");
        self.places.push(self.draft.put(&self.batch, self.times));
        self.written += count;
        self.times = (u64::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_rollup::cells::{Cells, Level};
    use oasis_wire::{batch::Batch, schema::Metric, schema::MetricType, value::Value};
    use std::sync::Arc;

    /// Rolls up one sample a second of these values, and reads the cells back from a file.
    fn rolled(metrics: Vec<Metric>, samples: impl Iterator<Item = Vec<Value>>) -> Vec<Batch> {
        let uuid = uuid::Uuid::from_u128(1);
        let probe_type = ProbeType {
            name: "T".into(),
            uuid,
            version: serde_json::from_str("\"1.0\"").unwrap(),
            doc: None,
            rate: None,
            metrics,
        };
        let probe_type = Arc::new(probe_type);
        let mut cells = Cells::new(Level::Second.width(), 0..u64::MAX);
        for (second, values) in (0..).zip(samples) {
            let (mut encoder, mut row, mut batch) =
                (Encoder::new(&probe_type).unwrap(), Vec::new(), Vec::new());
            value::write_row(&probe_type, &values, &mut row);
            encoder.push(second * Level::Second.width(), &row).unwrap();
            encoder.finish(Fields::default(), &mut batch);
            cells.add_batch(&probe_type, &batch, 0, &mut |_| {}).unwrap();
        }
        let leaves = schema::fitting(cells.leaves());
        let cell_type = schema::rolled(&probe_type, leaves, Level::Second);
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::new(Level::Second, vec![1], 0);
        let mut batches = CellBatches::new(&mut draft, &cell_type).unwrap();
        cells.cells().for_each(|(_, cell)| batches.push(cell, leaves));
        let places = batches.finish();
        let file = draft.finish(folder.path()).unwrap();
        places.iter().map(|place| Batch::parse(&file.batch(place).unwrap(), &cell_type).unwrap()).collect()
    }

    fn cells(batches: &[Batch]) -> usize {
        batches.iter().map(|batch| batch.times().len()).sum()
    }

    #[test]
    fn long_texts_are_cut_into_batches_that_readers_accept() {
        let text = Metric::new("text".to_owned(), MetricType::String);
        let batches = rolled(vec![text], (0..5_000).map(|_| vec![Value::String("x".repeat(300))]));
        assert_eq!(cells(&batches), 5_000);
        assert!(batches.len() < 4, "{} batches", batches.len());
    }

    #[test]
    fn noise_is_cut_into_batches_that_readers_accept() {
        let metrics = (0..10).map(|n| Metric::new(format!("m{n}"), MetricType::Real64)).collect();
        let noise = |n: u64| {
            let bits = |m: u64| (n * 10 + m).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2;
            (0..10).map(|m| Value::Real64(f64::from_bits(bits(m)))).collect()
        };
        assert_eq!(cells(&rolled(metrics, (0..4_500).map(noise))), 4_500);
    }

    #[test]
    fn a_text_that_leaves_no_room_is_left_out_and_numbers_stay() {
        let metrics = vec![
            Metric::new("text".to_owned(), MetricType::String),
            Metric::new("number".to_owned(), MetricType::Uint8),
        ];
        let long = "x".repeat(MAX_BATCH - 100);
        let samples = [long, "short".to_owned()].map(|text| vec![Value::String(text), Value::Uint(7)]);
        let batches = rolled(metrics, samples.into_iter());
        assert_eq!(cells(&batches), 2);
        let all: Vec<_> = batches.iter().flat_map(Batch::samples).collect();
        let texts: Vec<_> = all.iter().map(|cell| cell.values[1].clone()).collect();
        assert_eq!(texts, [Value::String(String::new()), Value::String("short".into())]);
        assert!(all.iter().all(|cell| cell.values[2] == Value::Uint(7)), "the minimum");
    }
}
