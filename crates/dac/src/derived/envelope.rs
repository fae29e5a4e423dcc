//! `envelope=N`: one sample a period that stands for all of it, with minimum, maximum and last value of each numeric
//! metric.

use super::writer::{KeptSample, Writer};
use oasis_wire::{
    absence::{Absence, ValuePath},
    schema::{Metric, MetricType, ProbeType},
    value::Value,
};
use std::{cmp::Ordering, sync::Arc};

#[derive(Debug)]
pub(super) struct Envelope {
    period_ns: u64,
    /// For each metric of the base, whether it has extremes.
    numeric: Vec<bool>,
    /// The values that samples of the base can lack.
    absence: Option<Absence>,
    base: Arc<ProbeType>,
    bucket: Option<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    period: u64,
    last: KeptSample,
    /// Minimum and maximum of each metric, `None` if all samples lack it; for a metric without order, the first value.
    extremes: Vec<Option<(Value, Value)>>,
}

/// Returns the type of the derived samples: `x.min`, `x.max` and `x` for each numeric metric `x`; other metrics have
/// their last value only.
pub(super) fn envelope_of(base: &ProbeType) -> ProbeType {
    let mut derived = base.clone();
    derived.name.push_str(".envelope");
    derived.uuid = uuid::Uuid::new_v5(&base.uuid, b"envelope");
    derived.metrics = base.metrics.iter().flat_map(columns).collect();
    derived
}

fn columns(metric: &Metric) -> Vec<Metric> {
    if !is_numeric(metric) {
        return vec![metric.clone()];
    }
    let extreme = |suffix: &str, doc: &str| {
        let (name, doc) = (format!("{}.{suffix}", metric.name), Some(doc.to_owned()));
        let label = metric.label.as_ref().map(|label| format!("{label} ({suffix})"));
        Metric { name, doc, label, ..metric.clone() }
    };
    vec![
        extreme("min", "Least value of the period."),
        extreme("max", "Greatest value of the period."),
        metric.clone(),
    ]
}

/// Returns whether values can be compared: numbers of an enum stand for names, and a vector has no order.
fn is_numeric(metric: &Metric) -> bool {
    let fixed = metric.kind.fixed_width().is_some() && metric.kind != MetricType::Boolean;
    fixed && metric.enumeration.is_none()
}

impl Envelope {
    pub fn new(period_ns: u64, base: &Arc<ProbeType>) -> Self {
        let numeric = base.metrics.iter().map(is_numeric).collect();
        Self { period_ns, numeric, absence: Absence::of(base), base: base.clone(), bucket: None }
    }

    pub fn sample(&mut self, sample: KeptSample, to: &mut Writer) {
        let period = sample.time / self.period_ns;
        let absent = self.absent(&sample.values);
        match &mut self.bucket {
            Some(bucket) if bucket.period == period => bucket.add(sample, &absent),
            _ => {
                self.flush(to);
                self.bucket = Some(Bucket::new(period, sample, &absent));
            }
        }
    }

    /// Returns the metrics that a sample lacks, in order.
    fn absent(&self, values: &[Value]) -> Vec<usize> {
        let named = self.absence.as_ref().and_then(|of| Some(of.places(values.get(of.metric())?)));
        let whole = |place: ValuePath| if let [metric] = place[..] { Some(metric) } else { None };
        named.unwrap_or_default().into_iter().filter_map(whole).collect()
    }

    /// Returns whether a period has samples that are not in a batch yet.
    pub fn is_waiting(&self) -> bool {
        self.bucket.is_some()
    }

    /// Ends the period.
    pub fn flush(&mut self, to: &mut Writer) {
        if let Some(bucket) = self.bucket.take() {
            to.keep(&self.close(bucket));
        }
    }

    fn close(&self, bucket: Bucket) -> KeptSample {
        let Bucket { mut last, extremes, .. } = bucket;
        self.name_absent(&mut last.values, &extremes);
        let columns = std::mem::take(&mut last.values).into_iter().zip(extremes).zip(&self.numeric);
        let values = columns.flat_map(|((last, extremes), &numeric)| match extremes {
            Some((least, greatest)) if numeric => vec![least, greatest, last],
            None if numeric => vec![last.clone(), last.clone(), last],
            _ => vec![last],
        });
        KeptSample { values: values.collect(), ..last }
    }

    /// Adds extremes without a value to what the sample lacks.
    fn name_absent(&self, values: &mut [Value], extremes: &[Option<(Value, Value)>]) {
        let named = self.absence.as_ref().and_then(|of| values.get_mut(of.metric()));
        let Some(Value::Vector(named)) = named else { return };
        let metrics = self.base.metrics.iter().zip(extremes).zip(&self.numeric);
        let unknown = metrics.filter(|((_, extremes), numeric)| **numeric && extremes.is_none());
        for ((metric, _), _) in unknown {
            named.extend(["min", "max"].map(|of| Value::String(format!("{}.{of}", metric.name))));
        }
    }
}

impl Bucket {
    fn new(period: u64, first: KeptSample, absent: &[usize]) -> Self {
        let of = |(metric, value): (usize, &Value)| {
            absent.binary_search(&metric).is_err().then(|| (value.clone(), value.clone()))
        };
        let extremes = first.values.iter().enumerate().map(of).collect();
        Self { period, last: first, extremes }
    }

    fn add(&mut self, mut sample: KeptSample, absent: &[usize]) {
        sample.replace(&mut self.last);
        for (metric, (extremes, value)) in self.extremes.iter_mut().zip(&sample.values).enumerate() {
            if absent.binary_search(&metric).is_ok() {
                continue;
            }
            let (least, greatest) = extremes.get_or_insert_with(|| (value.clone(), value.clone()));
            if replaces(value, least, Ordering::Less) {
                *least = value.clone();
            }
            if replaces(value, greatest, Ordering::Greater) {
                *greatest = value.clone();
            }
        }
        self.last = sample;
    }
}

/// Returns whether `new` replaces `old` as the minimum (or maximum). Any number replaces a NaN, so that one bad
/// reading does not hide the others.
fn replaces(new: &Value, old: &Value, when: Ordering) -> bool {
    let order = match (new, old) {
        (Value::Int(new), Value::Int(old)) => Some(new.cmp(old)),
        (Value::Uint(new), Value::Uint(old)) => Some(new.cmp(old)),
        (Value::Real32(new), Value::Real32(old)) if old.is_nan() => (!new.is_nan()).then_some(when),
        (Value::Real64(new), Value::Real64(old)) if old.is_nan() => (!new.is_nan()).then_some(when),
        (Value::Real32(new), Value::Real32(old)) => new.partial_cmp(old),
        (Value::Real64(new), Value::Real64(old)) => new.partial_cmp(old),
        _ => None,
    };
    order == Some(when)
}
