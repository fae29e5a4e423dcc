//! Native histograms of Prometheus: their buckets, and the type and row of their samples.
//!
//! Buckets are as in exponential histograms of OpenTelemetry, so that a reader needs one rule: bucket `i` has the values above base^i up to base^(i+1).
//! Prometheus counts by upper bounds, so its index is one higher.

use oasis_format::{
    input::described,
    protobuf::{BadWire, WireValue, fixed, next_field, varint},
};
use oasis_wire::{
    schema::{Metric, MetricType, ProbeType, StructType},
    value::RowWriter,
    varint::unzigzag,
};

/// Most buckets of a sign.
const MAX_BUCKETS: usize = 10_000;

/// A histogram with exponential buckets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NativeHistogram {
    /// The number of values.
    pub count: f64,
    /// The sum of the values.
    pub sum: f64,
    /// The base is 2^(2^-scale).
    pub scale: i32,
    /// The number of values in the bucket around zero.
    pub zero_count: f64,
    /// The upper bound of that bucket.
    pub zero_threshold: f64,
    /// Buckets of positive values.
    pub positive: Buckets,
    /// Buckets of negative values, by their magnitude.
    pub negative: Buckets,
}

/// Buckets of a sign.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Buckets {
    /// Index of the first one.
    pub offset: i32,
    /// The number of values in each.
    pub counts: Vec<f64>,
}

/// Why the buckets of a histogram are not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadBuckets;

/// The buckets of a histogram while its fields are read.
#[derive(Debug, Default)]
pub struct BucketReader {
    schema: i32,
    zero_threshold: f64,
    zero_count: f64,
    has_any: bool,
    negative: SignReader,
    positive: SignReader,
}

/// Spans and counts of a sign.
#[derive(Debug, Default)]
struct SignReader {
    /// Distance from the span before, and length.
    spans: Vec<(i32, u32)>,
    /// Counts of whole numbers: each is the difference from the one before.
    deltas: Vec<i64>,
    counts: Vec<f64>,
}

impl BucketReader {
    /// Reads a field of the message `Histogram`.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn read(&mut self, field: u32, value: WireValue<'_>) -> Result<(), BadWire> {
        match (field, value) {
            (5, WireValue::Varint(schema)) => self.schema = signed(schema)?,
            (6, WireValue::Fixed64(bytes)) => self.zero_threshold = f64::from_le_bytes(bytes),
            (7, WireValue::Varint(count)) => self.zero_count = count as f64,
            (8, WireValue::Fixed64(bytes)) if f64::from_le_bytes(bytes) > 0.0 => {
                self.zero_count = f64::from_le_bytes(bytes);
            }
            (9..=11, value) => self.negative.read(field - 9, value)?,
            (12..=14, value) => self.positive.read(field - 12, value)?,
            _ => return Ok(()),
        }
        self.has_any = true;
        Ok(())
    }

    /// Returns the histogram; `None` if it has classic buckets only.
    pub fn finish(self, count: f64, sum: f64) -> Option<Result<NativeHistogram, BadBuckets>> {
        if !self.has_any {
            return None;
        }
        let Self { schema: scale, zero_threshold, zero_count, negative, positive, .. } = self;
        let both = negative.finish().and_then(|negative| Ok((negative, positive.finish()?)));
        Some(both.map(|(negative, positive)| NativeHistogram {
            count,
            sum,
            scale,
            zero_count,
            zero_threshold,
            positive,
            negative,
        }))
    }
}

impl SignReader {
    /// Reads spans (0), differences (1) or counts (2). Lists are packed or not.
    fn read(&mut self, list: u32, value: WireValue<'_>) -> Result<(), BadWire> {
        match (list, value) {
            (0, WireValue::Bytes(span)) if self.spans.len() < MAX_BUCKETS => {
                self.spans.push(read_span(span)?)
            }
            (1, WireValue::Varint(delta)) => push(&mut self.deltas, unzigzag(delta).cast_signed())?,
            (1, WireValue::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    push(&mut self.deltas, unzigzag(varint(&mut packed)?).cast_signed())?;
                }
            }
            (2, WireValue::Fixed64(count)) => push(&mut self.counts, f64::from_le_bytes(count))?,
            (2, WireValue::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    push(&mut self.counts, f64::from_le_bytes(fixed(&mut packed)?))?;
                }
            }
            _ => return Err(BadWire),
        }
        Ok(())
    }

    fn finish(self) -> Result<Buckets, BadBuckets> {
        let Self { spans, deltas, mut counts } = self;
        if counts.is_empty() {
            let mut count = 0_i64;
            for delta in deltas {
                count = count.checked_add(delta).ok_or(BadBuckets)?;
                counts.push(count as f64);
            }
        }
        let mut counts = counts.into_iter();
        let mut buckets = Buckets::default();
        let mut next = 0_i32;
        for (at, (distance, length)) in spans.into_iter().enumerate() {
            let start = next.checked_add(distance).ok_or(BadBuckets)?;
            if at == 0 {
                buckets.offset = start.checked_sub(1).ok_or(BadBuckets)?;
            } else {
                let empty = usize::try_from(distance).map_err(|_| BadBuckets)?;
                extend(&mut buckets.counts, std::iter::repeat_n(0.0, empty), empty)?;
            }
            let length_here = usize::try_from(length).map_err(|_| BadBuckets)?;
            let before = buckets.counts.len();
            extend(&mut buckets.counts, counts.by_ref().take(length_here), length_here)?;
            if buckets.counts.len() - before != length_here {
                return Err(BadBuckets);
            }
            next =
                i32::try_from(length).ok().and_then(|length| start.checked_add(length)).ok_or(BadBuckets)?;
        }
        if counts.next().is_some() { Err(BadBuckets) } else { Ok(buckets) }
    }
}

fn extend(to: &mut Vec<f64>, more: impl Iterator<Item = f64>, count: usize) -> Result<(), BadBuckets> {
    if to.len() + count.min(MAX_BUCKETS + 1) > MAX_BUCKETS {
        return Err(BadBuckets);
    }
    to.extend(more);
    Ok(())
}

fn push<T>(to: &mut Vec<T>, value: T) -> Result<(), BadWire> {
    if to.len() == MAX_BUCKETS {
        return Err(BadWire);
    }
    to.push(value);
    Ok(())
}

fn read_span(mut span: &[u8]) -> Result<(i32, u32), BadWire> {
    let mut found = (0, 0);
    while let Some((field, value)) = next_field(&mut span)? {
        match (field, value) {
            (1, WireValue::Varint(offset)) => found.0 = signed(offset)?,
            (2, WireValue::Varint(length)) => found.1 = u32::try_from(length).map_err(|_| BadWire)?,
            _ => {}
        }
    }
    Ok(found)
}

/// A `sint32`.
fn signed(number: u64) -> Result<i32, BadWire> {
    i32::try_from(unzigzag(number).cast_signed()).map_err(|_| BadWire)
}

/// Returns the type of a metric's native histograms.
pub fn histogram_type(metric: &str) -> ProbeType {
    let real = |name: &str| Metric::new(name, MetricType::Real64);
    let scale = "The bucket i has the values above base^i up to base^(i+1); the base is 2^(2^-scale).";
    let mut members = vec![real("count"), real("sum")];
    members.push(Metric { doc: Some(scale.into()), ..Metric::new("scale", MetricType::Int32) });
    members.extend([real("zero_count"), real("zero_threshold")]);
    for sign in ["positive", "negative"] {
        members.push(Metric::new(format!("{sign}_offset"), MetricType::Int32));
        let kind = MetricType::Vector(Box::new(MetricType::Real64));
        let doc = format!("Values in the {sign} buckets from the offset on.");
        members.push(Metric { doc: Some(doc), ..Metric::new(format!("{sign}_counts"), kind) });
    }
    let kind = MetricType::Struct(StructType { name: "Prometheus::NativeHistogram".into(), members });
    described(metric, vec![Metric::new("histogram", kind)])
}

impl NativeHistogram {
    /// Writes the row of a sample of `histogram_type`.
    pub fn write(&self, row: &mut Vec<u8>) {
        row.clear();
        let mut to = RowWriter::new(row);
        to.f64(self.count);
        to.f64(self.sum);
        to.i32(self.scale);
        to.f64(self.zero_count);
        to.f64(self.zero_threshold);
        for buckets in [&self.positive, &self.negative] {
            to.i32(buckets.offset);
            to.vector(buckets.counts.len());
            buckets.counts.iter().for_each(|count| to.f64(*count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(spans: &[(i32, u32)], deltas: &[i64]) -> Result<Buckets, BadBuckets> {
        SignReader { spans: spans.to_vec(), deltas: deltas.to_vec(), counts: Vec::new() }.finish()
    }

    #[test]
    fn spans_become_a_row_of_counts() {
        // Buckets 3, 4 and 7 of Prometheus have 2, 5 and 1 values.
        let buckets = Buckets { offset: 2, counts: vec![2.0, 5.0, 0.0, 0.0, 1.0] };
        assert_eq!(sign(&[(3, 2), (2, 1)], &[2, 3, -4]), Ok(buckets));
        assert_eq!(sign(&[(0, 0)], &[]), Ok(Buckets { offset: -1, counts: Vec::new() }), "no values yet");
        let reals = SignReader { spans: vec![(-1, 2)], deltas: Vec::new(), counts: vec![0.5, 1.5] };
        assert_eq!(reals.finish(), Ok(Buckets { offset: -2, counts: vec![0.5, 1.5] }));
    }

    #[test]
    fn spans_that_do_not_fit_their_counts_or_are_too_long_are_refused() {
        for (spans, deltas) in [
            (&[(0, 2)][..], &[1][..]),
            (&[(0, 1)], &[1, 1]),
            (&[(0, 1), (-1, 1)], &[1, 1]),
            (&[(i32::MIN, 1)], &[1]),
            (&[(0, u32::MAX)], &[1]),
            (&[(0, 1), (i32::MAX, 1)], &[1, 1]),
            (&[(0, 1), (20_000, 1)], &[1, 1]),
            (&[(0, 2)], &[i64::MAX, 1]),
        ] {
            assert_eq!(sign(spans, deltas), Err(BadBuckets), "{spans:?} {deltas:?}");
        }
    }
}
