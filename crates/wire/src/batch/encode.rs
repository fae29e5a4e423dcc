//! The encoder: collects samples and writes a batch.

use super::{
    choose::{put_integers, put_reals},
    column::{Encoding, Shape},
    header::{Fields, HEADER, Header},
};
use crate::{
    reader::{Malformed, Reader},
    schema::{InvalidType, MetricType, ProbeType},
    value,
};
use alloc::vec::Vec;

/// Collects the samples of one instance and encodes them. Reuses its memory for every batch.
#[derive(Debug, Clone)]
pub struct Encoder {
    times: Vec<u64>,
    columns: Vec<Column>,
    /// The metrics of fixed width, sample after sample: taking one is a copy, columns are made when the batch is.
    fixed: Vec<u8>,
    /// Bytes of one sample in `fixed`.
    stride: usize,
    /// Whether all metrics are in `fixed`.
    is_fixed: bool,
    /// Offsets of booleans in a sample of `fixed`: the only fixed type with invalid bytes.
    booleans: Vec<usize>,
    /// Values of the current column.
    values: Vec<u64>,
    choice: Choice,
}

/// Which encodings the encoder may choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// The smallest for each column.
    #[default]
    Smallest,
    /// Plain wherever there is one: a few times larger, a little faster to write, and read without any decoding.
    Plain,
}

/// Errors of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The row does not fit the schema.
    #[error("row does not match its schema: {0}")]
    Malformed(#[from] Malformed),
    /// The row continues after the last metric.
    #[error("{0} bytes after the last metric of the row")]
    Leftover(usize),
    /// The batch is full.
    #[error("batch is full")]
    Full,
}

#[derive(Debug, Clone)]
struct Column {
    kind: MetricType,
    shape: Shape,
    /// Its offset in a sample of fixed width.
    place: usize,
    /// Packed values, if they have no fixed width.
    rows: Vec<u8>,
}

impl Encoder {
    /// An encoder for samples of this type.
    pub fn new(probe_type: &ProbeType) -> Result<Self, InvalidType> {
        probe_type.validate()?;
        let mut stride = 0;
        let mut columns = Vec::new();
        for metric in &probe_type.metrics {
            let shape = Shape::of(&metric.kind);
            columns.push(Column { kind: metric.kind.clone(), shape, place: stride, rows: Vec::new() });
            stride += shape.width();
        }
        let booleans = columns.iter().filter(|column| column.kind == MetricType::Boolean);
        Ok(Self {
            times: Vec::new(),
            fixed: Vec::new(),
            stride,
            is_fixed: columns.iter().all(|column| column.shape != Shape::Rows),
            booleans: booleans.map(|column| column.place).collect(),
            values: Vec::new(),
            choice: Choice::Smallest,
            columns,
        })
    }

    /// Restricts the encodings.
    pub fn with_choice(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The bytes of the samples, about those of a plain batch.
    pub fn bytes_held(&self) -> usize {
        let rows: usize = self.columns.iter().map(|column| column.rows.len()).sum();
        self.len() * (8 + self.stride) + rows
    }

    /// The greatest size of a batch of the present samples and one of `row` bytes, whatever encodings are chosen.
    pub fn most_bytes_with(&self, row: usize) -> usize {
        // A directory entry, and a varint or the padding of plain values.
        const COLUMN: usize = 1 + 10;
        HEADER + (self.columns.len() + 1) * COLUMN + self.bytes_held() + 8 + row
    }

    /// Appends a sample: its time in nanoseconds and its packed row. A refused row changes nothing.
    #[inline]
    pub fn push(&mut self, time: u64, row: &[u8]) -> Result<(), RowError> {
        if self.times.len() == usize::from(u16::MAX) {
            return Err(RowError::Full);
        }
        if self.is_fixed && row.len() == self.stride {
            if let Some(&at) = self.booleans.iter().find(|&&at| row[at] > 1) {
                return Err(Malformed::Boolean { at }.into());
            }
            self.fixed.extend_from_slice(row);
        } else {
            self.push_checked(row)?;
        }
        self.times.push(time);
        Ok(())
    }

    fn push_checked(&mut self, row: &[u8]) -> Result<(), RowError> {
        let mut reader = Reader::new(row, 0);
        self.columns.iter().try_for_each(|column| value::skip(&column.kind, &mut reader))?;
        if reader.left() > 0 {
            return Err(RowError::Leftover(reader.left()));
        }
        let mut reader = Reader::new(row, 0);
        for column in &mut self.columns {
            let start = reader.at();
            value::skip(&column.kind, &mut reader)?;
            let to = if column.shape == Shape::Rows { &mut column.rows } else { &mut self.fixed };
            to.extend_from_slice(&row[start..reader.at()]);
        }
        Ok(())
    }

    /// Appends the batch to `out` and starts the next one. Without samples nothing is appended.
    pub fn finish(&mut self, fields: Fields, out: &mut Vec<u8>) {
        let count = self.times.len() as u16; // push keeps it in range
        if count == 0 {
            return;
        }
        let start = out.len();
        out.extend_from_slice(&Header::write(fields, count, self.columns.len() as u16 + 1));
        let mut directory = out.len();
        out.resize(directory + self.columns.len() + 1, 0);
        out[directory] =
            put_integers(Shape::TIME, &self.times, fields.node_time, self.choice, start, out) as u8;
        for column in &mut self.columns {
            directory += 1;
            column.shape.gather(&self.fixed, self.stride, column.place, &mut self.values);
            out[directory] = match column.shape {
                Shape::Integer { .. } => put_integers(column.shape, &self.values, 0, self.choice, start, out),
                Shape::Real { .. } => put_reals(column.shape, &self.values, self.choice, start, out),
                Shape::Rows => {
                    out.extend_from_slice(&column.rows);
                    column.rows.clear();
                    Encoding::Rows
                }
            } as u8;
        }
        self.times.clear();
        self.fixed.clear();
    }
}
