//! Statistics of an instance between two times, for the comparison of test runs.

use hdrhistogram::Histogram;
use oasis_format::table::{Cell, Column, ColumnType, Table};
use oasis_history::{SampleOrMissing, Samples};
use oasis_rollup::cells::Number;
use oasis_store::{History, Missing, ReadError};
use oasis_wire::{
    batch::Sample,
    loss::Cause,
    schema::{Behavior, ProbeType},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use uuid::Uuid;

/// Bytes of batches in memory.
const READ_CHUNK_BYTES: usize = 1024 * 1024;
/// Longest recorded interval, nanoseconds: an hour.
const LONGEST_INTERVAL: u64 = 3_600_000_000_000;
/// Significant digits of intervals.
const DIGITS: u8 = 3;

/// Statistics of an instance between two times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Samples.
    pub samples: u64,
    /// Time of the first one, nanoseconds on the node's clock.
    pub first_time: u64,
    /// Time of the last one.
    pub last_time: u64,
    /// Samples a second between the first and the last one; `None` for a single one.
    pub rate: Option<f64>,
    /// Intervals between consecutive samples.
    pub intervals: Option<Intervals>,
    /// Samples missing between the first and the last one, by cause.
    pub lost: BTreeMap<Cause, u64>,
    /// Numbers and booleans, including those within structs, in the order of the schema.
    pub metrics: Vec<MetricSummary>,
}

/// Quantiles of intervals, nanoseconds, exact to a thousandth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Intervals {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
}

/// A metric's values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricSummary {
    /// Its name as a column: docs/reference/tables.md.
    pub name: String,
    /// UCUM unit.
    pub unit: Option<String>,
    /// Number of finite values.
    pub count: u64,
    /// Minimum.
    pub min: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
    /// The first.
    pub first: Option<f64>,
    /// The last.
    pub last: Option<f64>,
    /// Increase of a counter from the first value to the last; a decrease is a reset to 0. `None` for other metrics.
    pub increase: Option<f64>,
    /// Increase of a counter per second, between the first sample and the last one. `None` if both have the same time.
    pub increase_rate: Option<f64>,
}

/// Computes statistics of an instance between two times (the end is exclusive), nanoseconds on its node's clock. Returns `None`
/// without samples. Reads all samples in bounded memory, until `is_cancelled`: then it returns `None` too.
///
/// # Errors
/// If catalogue or files cannot be read.
pub fn summarize(
    history: &History,
    node: &str,
    instance: &str,
    span: Range<u64>,
    is_cancelled: &AtomicBool,
) -> Result<Option<Summary>, ReadError> {
    let mut samples = Samples::new(history, (node, instance), span.start, Some(span.end), READ_CHUNK_BYTES);
    let mut gathering = Gathering::new();
    while !is_cancelled.load(Ordering::Relaxed) {
        match samples.next()? {
            Some(SampleOrMissing::Sample(series, _, sample)) => {
                gathering.follow(&series.probe_type);
                gathering.sample(series.run, &sample);
            }
            Some(SampleOrMissing::Missing(missing)) => gathering.count(missing),
            None => return Ok(gathering.finish()),
        }
    }
    Ok(None)
}

/// A summary in progress.
struct Gathering {
    samples: u64,
    first_time: u64,
    intervals: Option<Histogram<u64>>,
    lost: BTreeMap<Cause, u64>,
    metrics: Vec<Metric>,
    /// Columns of the current type, each with the index of its metric.
    columns: Vec<(usize, Column)>,
    probe_type: Option<Arc<ProbeType>>,
    /// Run and time of the last sample.
    last: Option<(Uuid, u64)>,
    /// Whether samples are missing after the last one.
    has_gap: bool,
}

impl Gathering {
    fn new() -> Self {
        Self {
            samples: 0,
            first_time: 0,
            // Fails only for invalid bounds, and they are constants.
            intervals: Histogram::new_with_bounds(1, LONGEST_INTERVAL, DIGITS).ok(),
            lost: BTreeMap::new(),
            metrics: Vec::new(),
            columns: Vec::new(),
            probe_type: None,
            last: None,
            has_gap: false,
        }
    }

    /// Selects the columns of a type.
    fn follow(&mut self, probe_type: &Arc<ProbeType>) {
        if self.probe_type.as_ref().is_some_and(|known| Arc::ptr_eq(known, probe_type) || known == probe_type)
        {
            return;
        }
        self.columns.clear();
        for column in Table::new(probe_type).columns {
            if matches!(
                column.kind,
                ColumnType::Text | ColumnType::Enum(_) | ColumnType::Json(_) | ColumnType::Blob
            ) {
                continue;
            }
            let known = self.metrics.iter().position(|metric| metric.name == column.name);
            let at = known.unwrap_or_else(|| {
                self.metrics.push(Metric::new(&column));
                self.metrics.len() - 1
            });
            self.columns.push((at, column));
        }
        self.probe_type = Some(probe_type.clone());
    }

    fn sample(&mut self, run: Uuid, sample: &Sample) {
        self.note_interval(run, sample.time);
        if self.samples == 0 {
            self.first_time = sample.time;
        }
        self.samples += 1;
        for (at, column) in &self.columns {
            self.metrics[*at].add(&column.cell(&sample.values));
        }
    }

    /// Records the interval since the previous sample, if none is missing between them.
    fn note_interval(&mut self, run: Uuid, time: u64) {
        let before = self.last.replace((run, time));
        let has_gap = std::mem::take(&mut self.has_gap);
        if let (Some((before, last)), false, Some(histogram)) = (before, has_gap, &mut self.intervals)
            && before == run
            && let Some(interval) = time.checked_sub(last)
        {
            histogram.saturating_record(interval);
        }
    }

    fn count(&mut self, Missing { count, cause, .. }: Missing) {
        self.has_gap = true;
        *self.lost.entry(cause).or_default() += count;
    }

    fn finish(self) -> Option<Summary> {
        let (_, last_time) = self.last?;
        let seconds = last_time.saturating_sub(self.first_time) as f64 / 1e9;
        let rate = (seconds > 0.0).then(|| (self.samples - 1) as f64 / seconds);
        let intervals = self.intervals.filter(|intervals| !intervals.is_empty());
        let quantile = |of: &Histogram<u64>, quantile| of.value_at_quantile(quantile);
        Some(Summary {
            samples: self.samples,
            first_time: self.first_time,
            last_time,
            rate,
            intervals: intervals.map(|of| Intervals { p50: quantile(&of, 0.5), p99: quantile(&of, 0.99) }),
            lost: self.lost,
            metrics: self.metrics.into_iter().map(|metric| metric.finish(seconds)).collect(),
        })
    }
}

/// A metric's values so far.
struct Metric {
    name: String,
    unit: Option<String>,
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    first: f64,
    last: f64,
    counted: Option<CounterIncrease>,
}

/// The exact increase of a counter.
struct CounterIncrease {
    last: Option<Number>,
    increase: Number,
}

impl CounterIncrease {
    fn add(&mut self, number: Number) {
        let step = Number::counted(self.last.unwrap_or(number), number);
        (self.last, self.increase) = (Some(number), self.increase.plus(step));
    }
}

impl Metric {
    fn new(column: &Column) -> Self {
        let (name, unit) = (column.name.clone(), column.unit.clone());
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        let is_counter = column.behavior == Some(Behavior::Counter);
        let counted = is_counter.then_some(CounterIncrease { last: None, increase: Number::Uint(0) });
        Self { name, unit, count: 0, min, max, mean: 0.0, first: 0.0, last: 0.0, counted }
    }

    fn add(&mut self, cell: &Cell<'_>) {
        let number = match *cell {
            Cell::Int(value) => Number::Int(value),
            Cell::Uint(value) => Number::Uint(value),
            Cell::Real32(value) => Number::Real32(value),
            Cell::Real64(value) => Number::Real64(value),
            Cell::Boolean(value) => Number::Uint(value.into()),
            Cell::Text(_) | Cell::Blob(_) | Cell::Nothing => return,
        };
        let value = number.real();
        if !value.is_finite() {
            return;
        }
        if let Some(counted) = &mut self.counted {
            counted.add(number);
        }
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        // Welford's algorithm: a sum of a million counters would lose digits.
        self.mean += (value - self.mean) / self.count as f64;
        self.last = value;
    }

    /// Finishes with the seconds between the first sample and the last one.
    fn finish(self, seconds: f64) -> MetricSummary {
        let of = |value: f64| (self.count > 0).then_some(value);
        let (min, mean, max) = (of(self.min), of(self.mean), of(self.max));
        let (first, last) = (of(self.first), of(self.last));
        let increase = self.counted.filter(|_| self.count > 0).map(|counted| counted.increase.real());
        let increase_rate = increase.filter(|_| seconds > 0.0).map(|increase| increase / seconds);
        let Self { name, unit, count, .. } = self;
        MetricSummary { name, unit, count, min, mean, max, first, last, increase, increase_rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_its_increase_also_after_a_reset() {
        let probe_type: ProbeType = serde_json::from_str(
            r#"{"name": "Port", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": [
                {"name": "rx", "type": "uint64", "kind": "counter"}, {"name": "level", "type": "uint64"}]}"#,
        )
        .unwrap();
        let table = Table::new(&probe_type);
        // More than a real has digits for.
        let great = u64::MAX - 10;
        let [counter, gauge] = &table.columns[..] else { panic!("{table:?}") };
        for (column, increase) in [(counter, Some(13.0)), (gauge, None)] {
            let mut metric = Metric::new(column);
            for value in [great, great + 3, great + 8, 2, 5] {
                metric.add(&Cell::Uint(value));
            }
            let summary = metric.finish(2.0);
            assert_eq!((summary.increase, summary.increase_rate), (increase, increase.map(|of| of / 2.0)));
            assert_eq!(summary.last, Some(5.0));
        }
        let once = Metric::new(counter).finish(0.0);
        assert_eq!((once.increase, once.increase_rate), (None, None));
    }
}
