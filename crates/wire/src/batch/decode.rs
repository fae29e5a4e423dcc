//! The decoder for single samples: other formats, JSON, the terminal. Browsers read columns.

use super::{
    BatchError,
    column::{Encoding, Shape},
    delta,
    header::{HEADER, Header, MAX_BATCH, check_within},
    plain, rice, xor,
};
use crate::{
    reader::Reader,
    schema::{MetricType, ProbeType},
    value::{self, Value},
    varint::unzigzag,
};
use alloc::{vec, vec::Vec};

/// A decoded batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    header: Header,
    times: Vec<u64>,
    columns: Vec<Column>,
}

/// The values of one metric.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    /// Integers as 64 bits, reals as their bits.
    Fixed {
        kind: MetricType,
        values: Vec<u64>,
    },
    Rows(Vec<Value>),
}

/// The values of one metric, in the order of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values<'a> {
    /// Values of a type of fixed width: integers and booleans widened to 64 bits, by sign if they have one; reals as their bits.
    Fixed(&'a [u64]),
    /// Text, vectors, structs, blobs.
    Rows(&'a [Value]),
}

/// One sample of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Its number.
    pub sequence: u64,
    /// Its place in the topic log.
    pub offset: u64,
    /// Node's clock, nanoseconds.
    pub time: u64,
    /// Its metrics.
    pub values: Vec<Value>,
}

impl Batch {
    /// Decodes the whole batch, or returns the first error.
    pub fn parse(bytes: &[u8], probe_type: &ProbeType) -> Result<Self, BatchError> {
        Self::parse_first(bytes, probe_type, probe_type.metrics.len())
    }

    /// Decodes a batch of any size. A program that repairs files reads with it what earlier releases wrote and other readers refuse.
    ///
    /// # Errors
    /// As [`Batch::parse`], except for the size.
    pub fn parse_oversized(bytes: &[u8], probe_type: &ProbeType) -> Result<Self, BatchError> {
        Self::parse_within(bytes, probe_type, probe_type.metrics.len(), usize::MAX)
    }

    /// Decodes times and this many first metrics, and ignores the columns after them.
    ///
    /// # Errors
    /// As [`Batch::parse`], for the columns that it reads.
    pub fn parse_first(bytes: &[u8], probe_type: &ProbeType, metrics: usize) -> Result<Self, BatchError> {
        Self::parse_within(bytes, probe_type, metrics, MAX_BATCH)
    }

    fn parse_within(
        bytes: &[u8],
        probe_type: &ProbeType,
        metrics: usize,
        most: usize,
    ) -> Result<Self, BatchError> {
        let header = check_within(bytes, probe_type, most)?;
        let count = usize::from(header.count);
        let columns_start = HEADER + usize::from(header.columns);
        let mut reader = Reader::new(bytes, columns_start);
        let encoding = |column: usize| Encoding::from_code(bytes[HEADER + column]).unwrap_or(Encoding::Plain);
        let times = integers(encoding(0), Shape::TIME, count, header.node_time, &mut reader)?;
        let mut columns = Vec::new();
        for (index, metric) in probe_type.metrics.iter().enumerate().take(metrics) {
            columns.push(Column::parse(encoding(index + 1), &metric.kind, count, &mut reader)?);
        }
        match reader.left() {
            _ if columns.len() < probe_type.metrics.len() => Ok(Self { header, times, columns }),
            0 => Ok(Self { header, times, columns }),
            left => Err(BatchError::Leftover(left)),
        }
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// When its samples were taken, in their order, nanoseconds on the node's clock.
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// All values of a metric, by its place in the schema.
    pub fn values(&self, metric: usize) -> Option<Values<'_>> {
        Some(match self.columns.get(metric)? {
            Column::Fixed { values, .. } => Values::Fixed(values),
            Column::Rows(values) => Values::Rows(values),
        })
    }

    /// A sample's value of a metric; the metric by its place in the schema, the sample counted from 0.
    pub fn value(&self, metric: usize, sample: usize) -> Option<Value> {
        let is_there = sample < self.times.len();
        self.columns.get(metric).filter(|_| is_there).map(|column| column.value(sample))
    }

    /// Its samples in order.
    pub fn samples(&self) -> impl DoubleEndedIterator<Item = Sample> + ExactSizeIterator + '_ {
        (0..usize::from(self.header.count)).map(|index| self.sample(index))
    }

    /// One sample, counted from 0.
    pub fn get(&self, index: usize) -> Option<Sample> {
        (index < self.times.len()).then(|| self.sample(index))
    }

    fn sample(&self, index: usize) -> Sample {
        Sample {
            sequence: self.header.first_sequence.wrapping_add(index as u64),
            offset: self.header.offset.wrapping_add(index as u64),
            time: self.times[index],
            values: self.columns.iter().map(|column| column.value(index)).collect(),
        }
    }
}

/// Least and greatest time of a batch's samples, in nanoseconds on the node's clock. Reads header and time column only, so it needs no schema.
///
/// # Errors
/// As [`Batch::parse`], for the columns that it reads.
pub fn time_range(bytes: &[u8]) -> Result<(u64, u64), BatchError> {
    let times = times(bytes)?;
    let first = times.first().copied().unwrap_or_default();
    Ok(times.iter().fold((first, first), |(least, greatest), &time| (least.min(time), greatest.max(time))))
}

/// The times of a batch's samples, in nanoseconds on the node's clock. Reads header and time column only, so it needs no schema.
///
/// # Errors
/// As [`Batch::parse`], for the columns that it reads.
pub fn times(bytes: &[u8]) -> Result<Vec<u64>, BatchError> {
    let header = Header::parse(bytes)?;
    let &code = bytes.get(HEADER).ok_or(BatchError::Truncated { length: bytes.len() })?;
    let encoding = Encoding::from_code(code).filter(|encoding| encoding.suits(None));
    let encoding = encoding.ok_or(BatchError::Encoding { column: 0, code })?;
    let columns_start = HEADER + usize::from(header.columns);
    if bytes.len() < columns_start {
        return Err(BatchError::Truncated { length: bytes.len() });
    }
    let mut reader = Reader::new(bytes, columns_start);
    integers(encoding, Shape::TIME, header.count.into(), header.node_time, &mut reader)
}

impl Column {
    fn parse(
        encoding: Encoding,
        kind: &MetricType,
        count: usize,
        from: &mut Reader<'_>,
    ) -> Result<Self, BatchError> {
        let shape = Shape::of(kind);
        let values = match (encoding, shape) {
            (Encoding::Rows, _) => {
                let rows = (0..count).map(|_| value::read(kind, from)).collect::<Result<_, _>>()?;
                return Ok(Self::Rows(rows));
            }
            (Encoding::Xor, _) => xor::get(shape, count, from)?,
            _ => integers(encoding, shape, count, 0, from)?,
        };
        Ok(Self::Fixed { kind: kind.clone(), values })
    }

    fn value(&self, index: usize) -> Value {
        match self {
            Self::Rows(values) => values[index].clone(),
            Self::Fixed { kind, values } => {
                let bits = values[index];
                match kind {
                    MetricType::Real32 => Value::Real32(f32::from_bits(bits as u32)),
                    MetricType::Real64 => Value::Real64(f64::from_bits(bits)),
                    MetricType::Boolean => Value::Boolean(bits != 0),
                    MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => {
                        Value::Int(bits as i64)
                    }
                    MetricType::Uint8 | MetricType::Uint16 | MetricType::Uint32 | MetricType::Uint64 => {
                        Value::Uint(bits)
                    }
                    // These have no columns of fixed width.
                    MetricType::String
                    | MetricType::Vector(_)
                    | MetricType::Struct(_)
                    | MetricType::Blob(_) => Value::Uint(bits),
                }
            }
        }
    }
}

fn integers(
    encoding: Encoding,
    shape: Shape,
    count: usize,
    base: u64,
    from: &mut Reader<'_>,
) -> Result<Vec<u64>, BatchError> {
    let at = from.at();
    let values = match encoding {
        Encoding::Constant => vec![base.wrapping_add(unzigzag(from.varint()?)); count],
        Encoding::Delta => delta::get(count, base, from)?,
        Encoding::Rice => rice::get(count, base, from)?,
        _ => return Ok(plain::get(shape, count, from)?),
    };
    if values.iter().all(|&value| shape.holds(value)) {
        Ok(values)
    } else {
        Err(crate::reader::Malformed::Range { at }.into())
    }
}
