//! Data points of metrics: decoded, and written as rows of their types.

use crate::{
    attributes::{self, Attribute},
    types::Shape,
    walk::ItemError,
};
use oasis_format::protobuf::{BadWire, WireValue, next_field, varint};
use oasis_wire::{value::RowWriter, varint::unzigzag};

/// Most buckets of a histogram, and most quantiles of a summary.
const MAX_BUCKETS: usize = 10_000;
/// The flag of a data point that says that there is no value.
const NO_RECORDED_VALUE: u64 = 1;

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Gauge,
    Sum,
    Histogram,
    ExponentialHistogram,
    Summary,
}

/// The value of a number's data point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i64),
    Real(f64),
}

/// A data point of any kind. Its memory is reused for the next one.
#[derive(Debug, Default)]
pub struct DataPoint<'a> {
    pub attributes: Vec<Attribute<'a>>,
    /// Nanoseconds since 1970; 0 if unknown.
    pub start: u64,
    pub time: u64,
    flags: u64,
    pub number: Option<Number>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    bounds: Vec<u64>,
    counts: Vec<u64>,
    scale: i32,
    zero_count: u64,
    zero_threshold: f64,
    positive: Buckets,
    negative: Buckets,
    quantiles: Vec<[u64; 2]>,
}

/// Buckets of one sign.
#[derive(Debug, Default)]
struct Buckets {
    offset: i32,
    counts: Vec<u64>,
}

/// The interval of a value.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub temporality: u8,
    pub start: u64,
    pub is_reset: bool,
}

impl<'a> DataPoint<'a> {
    /// Reads a data point of a kind.
    pub fn read(&mut self, kind: MetricKind, mut point: &'a [u8]) -> Result<(), ItemError> {
        self.clear();
        while let Some((number, value)) = next_field(&mut point)? {
            match kind {
                MetricKind::Gauge | MetricKind::Sum => self.number_field(number, value)?,
                MetricKind::Histogram => self.histogram_field(number, value)?,
                MetricKind::ExponentialHistogram => self.exponential_field(number, value)?,
                MetricKind::Summary => self.summary_field(number, value)?,
            }
        }
        if kind == MetricKind::Histogram
            && !self.counts.is_empty()
            && self.counts.len() != self.bounds.len() + 1
        {
            let (counts, bounds) = (self.counts.len(), self.bounds.len());
            let why = format!("it has {counts} bucket counts for {bounds} bounds: there must be one more");
            return Err(ItemError::Refused(why));
        }
        if matches!(kind, MetricKind::Gauge | MetricKind::Sum) && self.number.is_none() && self.has_value() {
            return Err(ItemError::Refused("a data point has no value".into()));
        }
        Ok(())
    }

    /// Returns whether it has a value at all.
    pub fn has_value(&self) -> bool {
        self.flags & NO_RECORDED_VALUE == 0
    }

    fn clear(&mut self) {
        self.attributes.clear();
        (self.start, self.time, self.flags, self.number) = (0, 0, 0, None);
        (self.count, self.sum, self.min, self.max) = (0, f64::NAN, f64::NAN, f64::NAN);
        (self.scale, self.zero_count, self.zero_threshold) = (0, 0, 0.0);
        self.bounds.clear();
        self.counts.clear();
        for buckets in [&mut self.positive, &mut self.negative] {
            buckets.offset = 0;
            buckets.counts.clear();
        }
        self.quantiles.clear();
    }

    fn number_field(&mut self, number: u32, value: WireValue<'a>) -> Result<(), ItemError> {
        match (number, value) {
            (4, WireValue::Fixed64(bytes)) => self.number = Some(Number::Real(f64::from_le_bytes(bytes))),
            (6, WireValue::Fixed64(bytes)) => self.number = Some(Number::Int(i64::from_le_bytes(bytes))),
            (7, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut self.attributes)?,
            (8, WireValue::Varint(flags)) => self.flags = flags,
            _ => self.interval_field(number, value),
        }
        Ok(())
    }

    fn histogram_field(&mut self, number: u32, value: WireValue<'a>) -> Result<(), ItemError> {
        match (number, value) {
            (6, value) => read_fixed(value, &mut self.counts)?,
            (7, value) => read_fixed(value, &mut self.bounds)?,
            (9, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut self.attributes)?,
            (10, WireValue::Varint(flags)) => self.flags = flags,
            (11, WireValue::Fixed64(bytes)) => self.min = f64::from_le_bytes(bytes),
            (12, WireValue::Fixed64(bytes)) => self.max = f64::from_le_bytes(bytes),
            _ => self.interval_field(number, value),
        }
        Ok(())
    }

    fn exponential_field(&mut self, number: u32, value: WireValue<'a>) -> Result<(), ItemError> {
        match (number, value) {
            (1, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut self.attributes)?,
            (6, WireValue::Varint(scale)) => self.scale = unzigzag(scale) as i32,
            (7, WireValue::Fixed64(bytes)) => self.zero_count = u64::from_le_bytes(bytes),
            (8, WireValue::Bytes(bytes)) => self.positive.read(bytes)?,
            (9, WireValue::Bytes(bytes)) => self.negative.read(bytes)?,
            (10, WireValue::Varint(flags)) => self.flags = flags,
            (12, WireValue::Fixed64(bytes)) => self.min = f64::from_le_bytes(bytes),
            (13, WireValue::Fixed64(bytes)) => self.max = f64::from_le_bytes(bytes),
            (14, WireValue::Fixed64(bytes)) => self.zero_threshold = f64::from_le_bytes(bytes),
            _ => self.interval_field(number, value),
        }
        Ok(())
    }

    fn summary_field(&mut self, number: u32, value: WireValue<'a>) -> Result<(), ItemError> {
        match (number, value) {
            (6, WireValue::Bytes(bytes)) => {
                check_room(self.quantiles.len(), 1)?;
                self.quantiles.push(read_quantile(bytes)?);
            }
            (7, WireValue::Bytes(bytes)) => attributes::add(bytes, &mut self.attributes)?,
            (8, WireValue::Varint(flags)) => self.flags = flags,
            _ => self.interval_field(number, value),
        }
        Ok(())
    }

    /// Reads a field that has one number in all kinds.
    fn interval_field(&mut self, number: u32, value: WireValue<'_>) {
        let WireValue::Fixed64(bytes) = value else { return };
        match number {
            2 => self.start = u64::from_le_bytes(bytes),
            3 => self.time = u64::from_le_bytes(bytes),
            4 => self.count = u64::from_le_bytes(bytes),
            5 => self.sum = f64::from_le_bytes(bytes),
            _ => {}
        }
    }

    /// Replaces a row by this point. Returns whether a whole number was rounded.
    pub fn write(&self, shape: Shape, interval: Interval, row: &mut Vec<u8>) -> bool {
        row.clear();
        let mut to = RowWriter::new(row);
        let mut is_rounded = false;
        match shape {
            Shape::Gauge { is_real } | Shape::Sum { is_real, .. } => {
                is_rounded = write_number(self.number.unwrap_or(Number::Int(0)), is_real, &mut to);
            }
            Shape::Histogram => self.write_histogram(&mut to),
            Shape::ExponentialHistogram => self.write_exponential(&mut to),
            Shape::Summary => self.write_summary(&mut to),
        }
        if let Shape::Gauge { .. } = shape {
            return is_rounded;
        }
        if shape != Shape::Summary {
            to.u8(interval.temporality);
        }
        to.u64(interval.start);
        to.boolean(interval.is_reset);
        is_rounded
    }

    fn write_totals(&self, to: &mut RowWriter<'_>) {
        to.u64(self.count);
        [self.sum, self.min, self.max].into_iter().for_each(|value| to.f64(value));
    }

    fn write_histogram(&self, to: &mut RowWriter<'_>) {
        self.write_totals(to);
        write_vector(&self.bounds, to);
        write_vector(&self.counts, to);
    }

    fn write_exponential(&self, to: &mut RowWriter<'_>) {
        self.write_totals(to);
        to.i32(self.scale);
        to.u64(self.zero_count);
        to.f64(self.zero_threshold);
        for buckets in [&self.positive, &self.negative] {
            to.i32(buckets.offset);
            write_vector(&buckets.counts, to);
        }
    }

    fn write_summary(&self, to: &mut RowWriter<'_>) {
        to.u64(self.count);
        to.f64(self.sum);
        to.vector(self.quantiles.len());
        self.quantiles.iter().flatten().for_each(|bits| to.u64(*bits));
    }
}

impl Buckets {
    fn read(&mut self, mut buckets: &[u8]) -> Result<(), ItemError> {
        while let Some(field) = next_field(&mut buckets)? {
            match field {
                (1, WireValue::Varint(offset)) => self.offset = unzigzag(offset) as i32,
                (2, WireValue::Varint(count)) => {
                    check_room(self.counts.len(), 1)?;
                    self.counts.push(count);
                }
                (2, WireValue::Bytes(mut packed)) => {
                    // Each count has a byte at least.
                    while !packed.is_empty() {
                        check_room(self.counts.len(), 1)?;
                        self.counts.push(varint(&mut packed)?);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn check_room(held: usize, more: usize) -> Result<(), ItemError> {
    if held + more > MAX_BUCKETS {
        let why = format!("it has more than {MAX_BUCKETS} buckets or quantiles");
        return Err(ItemError::Refused(why));
    }
    Ok(())
}

/// Reads numbers of 64 bits, packed or one by one.
fn read_fixed(value: WireValue<'_>, to: &mut Vec<u64>) -> Result<(), ItemError> {
    match value {
        WireValue::Fixed64(bytes) => {
            check_room(to.len(), 1)?;
            to.push(u64::from_le_bytes(bytes));
        }
        WireValue::Bytes(packed) => {
            let (numbers, rest) = packed.as_chunks::<8>();
            if !rest.is_empty() {
                return Err(BadWire.into());
            }
            check_room(to.len(), numbers.len())?;
            to.extend(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        }
        WireValue::Varint(_) | WireValue::Fixed32(_) => {}
    }
    Ok(())
}

fn read_quantile(mut quantile: &[u8]) -> Result<[u64; 2], BadWire> {
    let mut pair = [0; 2];
    while let Some(field) = next_field(&mut quantile)? {
        match field {
            (1, WireValue::Fixed64(bytes)) => pair[0] = u64::from_le_bytes(bytes),
            (2, WireValue::Fixed64(bytes)) => pair[1] = u64::from_le_bytes(bytes),
            _ => {}
        }
    }
    Ok(pair)
}

fn write_number(number: Number, is_real: bool, to: &mut RowWriter<'_>) -> bool {
    match number {
        Number::Real(real) => to.f64(real),
        Number::Int(int) if is_real => {
            to.f64(int as f64);
            return !oasis_format::columns::is_exact(int.unsigned_abs());
        }
        Number::Int(int) => to.i64(int),
    }
    false
}

fn write_vector(of: &[u64], to: &mut RowWriter<'_>) {
    to.vector(of.len());
    of.iter().for_each(|bits| to.u64(*bits));
}
