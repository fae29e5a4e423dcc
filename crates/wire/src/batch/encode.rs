//! The encoder: takes samples one by one, writes a batch.

use super::{
    column::{Encoding, Shape},
    delta,
    header::{Fields, Header},
    plain, rice, xor,
};
use crate::{
    reader::{Malformed, Reader},
    schema::{InvalidType, MetricType, ProbeType},
    value,
    varint::{self, zigzag},
};
use alloc::vec::Vec;

/// Collects the samples of one instance and encodes them, again and again without allocating.
#[derive(Debug, Clone)]
pub struct Encoder {
    times: Vec<u64>,
    columns: Vec<Column>,
    row_width: Option<usize>,
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

/// Why a row was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The row does not fit the schema.
    #[error("the row does not fit its schema: {0}")]
    Malformed(#[from] Malformed),
    /// The row goes on behind the last metric.
    #[error("the row has {0} bytes behind its last metric")]
    Leftover(usize),
    /// The batch is full.
    #[error("the batch is full")]
    Full,
}

#[derive(Debug, Clone)]
struct Column {
    kind: MetricType,
    shape: Shape,
    /// Widened integers or bits of reals.
    values: Vec<u64>,
    /// Packed values.
    rows: Vec<u8>,
}

impl Encoder {
    /// An encoder for samples of this type.
    pub fn new(probe_type: &ProbeType) -> Result<Self, InvalidType> {
        probe_type.validate()?;
        let column = |kind: &MetricType| Column {
            kind: kind.clone(),
            shape: Shape::of(kind),
            values: Vec::new(),
            rows: Vec::new(),
        };
        Ok(Self {
            times: Vec::new(),
            columns: probe_type.metrics.iter().map(|metric| column(&metric.kind)).collect(),
            row_width: probe_type.metrics.iter().map(|metric| metric.kind.fixed_width()).sum(),
            choice: Choice::Smallest,
        })
    }

    /// Restricts the encodings.
    pub fn with_choice(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// Samples held.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether no sample is held.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Bytes held, about what a plain batch of them would have.
    pub fn bytes_held(&self) -> usize {
        let row =
            self.row_width.unwrap_or_else(|| self.columns.iter().map(|column| column.shape.width()).sum());
        self.len() * (8 + row) + self.columns.iter().map(|column| column.rows.len()).sum::<usize>()
    }

    /// Takes a sample: its time in nanoseconds and its packed row. A row that is refused leaves no trace.
    #[inline]
    pub fn push(&mut self, time: u64, row: &[u8]) -> Result<(), RowError> {
        if self.times.len() == usize::from(u16::MAX) {
            return Err(RowError::Full);
        }
        match self.row_width {
            Some(width) if width == row.len() => self.push_fixed(row)?,
            _ => self.push_checked(row)?,
        }
        self.times.push(time);
        Ok(())
    }

    /// All metrics have a fixed width and the row has the sum of them.
    #[inline]
    fn push_fixed(&mut self, row: &[u8]) -> Result<(), RowError> {
        let mut rest = row;
        for column in &mut self.columns {
            let (bytes, behind) = rest.split_at(column.shape.width());
            rest = behind;
            match bytes.first_chunk() {
                Some(wide) => column.values.push(u64::from_le_bytes(*wide)),
                None => column.values.push(column.shape.widen(bytes)),
            }
        }
        let holds = |column: &Column| column.values.last().is_none_or(|&value| column.shape.holds(value));
        match self.columns.iter().all(holds) {
            true => Ok(()),
            false => {
                self.truncate();
                Err(Malformed::Range { at: 0 }.into())
            }
        }
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
            let bytes = &row[start..reader.at()];
            match column.shape {
                Shape::Rows => column.rows.extend_from_slice(bytes),
                _ => column.values.push(column.shape.widen(bytes)),
            }
        }
        Ok(())
    }

    /// Takes back a row that turned out wrong half way.
    fn truncate(&mut self) {
        self.columns.iter_mut().for_each(|column| column.values.truncate(self.times.len()));
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
            out[directory] = match column.shape {
                Shape::Integer { .. } => {
                    put_integers(column.shape, &column.values, 0, self.choice, start, out)
                }
                Shape::Real { .. } => put_reals(column.shape, &column.values, self.choice, start, out),
                Shape::Rows => {
                    out.extend_from_slice(&column.rows);
                    Encoding::Rows
                }
            } as u8;
            column.values.clear();
            column.rows.clear();
        }
        self.times.clear();
    }
}

fn put_integers(
    shape: Shape,
    values: &[u64],
    base: u64,
    choice: Choice,
    start: usize,
    out: &mut Vec<u8>,
) -> Encoding {
    if choice == Choice::Plain {
        plain::put(shape, values, start, out);
        return Encoding::Plain;
    }
    if values.iter().all(|&value| value == values[0]) {
        varint::put(zigzag(values[0].wrapping_sub(base)), out);
        return Encoding::Constant;
    }
    let plain_size = plain::size(shape, values.len());
    let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Where most values repeat a token says more than a code for each; sizes decide only where it may be close.
    if changes * 4 <= values.len() {
        let from = out.len();
        delta::put(values, base, out);
        if out.len() - from <= plain_size {
            return Encoding::Delta;
        }
        out.truncate(from);
        plain::put(shape, values, start, out);
        return Encoding::Plain;
    }
    let plan = rice::plan(values, base);
    let delta_size = delta::size(values, base);
    if plain_size < plan.size.min(delta_size) {
        plain::put(shape, values, start, out);
        Encoding::Plain
    } else if delta_size <= plan.size {
        delta::put(values, base, out);
        Encoding::Delta
    } else {
        rice::put(values, base, plan, out);
        Encoding::Rice
    }
}

fn put_reals(shape: Shape, values: &[u64], choice: Choice, start: usize, out: &mut Vec<u8>) -> Encoding {
    if choice == Choice::Smallest && xor::size(shape, values) < plain::size(shape, values.len()) {
        xor::put(shape, values, out);
        Encoding::Xor
    } else {
        plain::put(shape, values, start, out);
        Encoding::Plain
    }
}
