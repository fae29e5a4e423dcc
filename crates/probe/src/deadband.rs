//! Probes on change: a sample is kept only if a metric has changed by more than its deadband since the last kept
//! sample.

use crate::atomic::AtomicU64;
use oasis_wire::{
    reader::{Malformed, Reader},
    schema::{MetricType, ProbeType},
    value,
};
use std::sync::{Arc, atomic::Ordering};

/// Deadbands by metric. A metric without one counts as changed whenever its value differs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deadbands(Vec<(String, f64)>);

impl Deadbands {
    /// Every change counts.
    pub fn any_change() -> Self {
        Self::default()
    }

    /// Sets the deadband of `metric` in its unit: 0 or more; infinity for a metric that never counts.
    #[must_use]
    pub fn with(mut self, metric: impl Into<String>, deadband: f64) -> Self {
        self.0.push((metric.into(), deadband));
        self
    }
}

/// Why a deadband is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeadbandError {
    /// The probe type has no such metric.
    #[error("the probe has no metric {0:?}")]
    UnknownMetric(String),
    /// Only numbers can have a deadband.
    #[error("metric {0:?} is not a number: it cannot have a deadband")]
    NoNumber(String),
    /// Negative, or not a number.
    #[error("deadband of metric {metric:?} is {deadband}: use 0 or more")]
    Range {
        /// The metric.
        metric: String,
        /// The requested deadband.
        deadband: f64,
    },
}

/// The current deadbands. Commands set them while the application compares with them, without a lock.
#[derive(Debug)]
pub struct Limits {
    metrics: Vec<Limit>,
    /// Incremented when the last kept sample no longer counts.
    renewals: AtomicU64,
}

#[derive(Debug)]
struct Limit {
    name: String,
    kind: MetricType,
    /// The bits of a real64; NaN if every change counts.
    deadband: AtomicU64,
}

impl Limits {
    /// Creates limits for the metrics of this type.
    pub fn new(probe_type: &ProbeType, deadbands: &Deadbands) -> Result<Arc<Self>, DeadbandError> {
        let limit = |metric: &oasis_wire::schema::Metric| Limit {
            name: metric.name.clone(),
            kind: metric.kind.clone(),
            deadband: AtomicU64::new(f64::NAN.to_bits()),
        };
        let limits =
            Self { metrics: probe_type.metrics.iter().map(limit).collect(), renewals: AtomicU64::new(0) };
        deadbands.0.iter().try_for_each(|(metric, deadband)| limits.set(metric, Some(*deadband)))?;
        Ok(Arc::new(limits))
    }

    /// Forces the next sample to be kept, because a new DAC has none of the earlier ones.
    pub fn renew(&self) {
        self.renewals.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the deadbands by metric. JSON has no infinity, so that of a metric that never counts is the largest number.
    pub fn finite(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        self.metrics.iter().filter_map(|limit| {
            let deadband = f64::from_bits(limit.deadband.load(Ordering::Relaxed));
            (!deadband.is_nan()).then(|| (limit.name.clone(), deadband.min(f64::MAX)))
        })
    }

    /// Sets the deadband of `metric`; with `None` every change counts.
    pub fn set(&self, metric: &str, deadband: Option<f64>) -> Result<(), DeadbandError> {
        let limit = self.metrics.iter().find(|limit| limit.name == metric);
        let limit = limit.ok_or_else(|| DeadbandError::UnknownMetric(metric.into()))?;
        if let Some(deadband) = deadband {
            if matches!(limit.kind, MetricType::Boolean) || limit.kind.fixed_width().is_none() {
                return Err(DeadbandError::NoNumber(metric.into()));
            }
            if deadband.is_nan() || deadband < 0.0 {
                return Err(DeadbandError::Range { metric: metric.into(), deadband });
            }
        }
        limit.deadband.store(deadband.unwrap_or(f64::NAN).to_bits(), Ordering::Relaxed);
        Ok(())
    }
}

/// The comparing side: the application for a pushed probe, the collector for a periodic one.
#[derive(Debug)]
pub struct ChangeFilter {
    limits: Arc<Limits>,
    /// The last kept row, if any.
    last: Vec<u8>,
    has_last: bool,
    /// The renewal count when a row was last kept.
    renewed: u64,
    /// The renewal count when a row was last compared.
    seen: u64,
}

impl ChangeFilter {
    /// Creates a filter that keeps the first row. Rows of up to `row_bytes` are compared without allocation.
    pub fn new(limits: Arc<Limits>, row_bytes: usize) -> Self {
        Self { limits, last: Vec::with_capacity(row_bytes), has_last: false, renewed: 0, seen: 0 }
    }

    /// Returns whether this row must be kept. A row that does not fit the schema is kept, so that the node reports
    /// it.
    #[inline]
    pub fn is_change(&mut self, row: &[u8]) -> bool {
        self.seen = self.limits.renewals.load(Ordering::Relaxed);
        if !self.has_last || self.seen != self.renewed {
            return true;
        }
        row != self.last && self.moved(row).unwrap_or(true)
    }

    /// Records that this row was kept.
    #[inline]
    pub fn keep(&mut self, row: &[u8]) {
        self.has_last = true;
        self.renewed = self.seen;
        self.last.clear();
        self.last.extend_from_slice(row);
    }

    fn moved(&self, row: &[u8]) -> Result<bool, Malformed> {
        let (mut was, mut is) = (Reader::new(&self.last, 0), Reader::new(row, 0));
        for limit in &self.limits.metrics {
            let deadband = f64::from_bits(limit.deadband.load(Ordering::Relaxed));
            if moved(&limit.kind, deadband, &mut was, &mut is)? {
                return Ok(true);
            }
        }
        Ok(is.left() > 0)
    }
}

/// Returns whether one metric has changed; advances over it in both rows.
#[inline]
fn moved(
    kind: &MetricType,
    deadband: f64,
    was: &mut Reader<'_>,
    is: &mut Reader<'_>,
) -> Result<bool, Malformed> {
    macro_rules! integer {
        ($kind:ty) => {{
            let (was, is) = (<$kind>::from_le_bytes(was.array()?), <$kind>::from_le_bytes(is.array()?));
            was != is && is_beyond(deadband, was.abs_diff(is) as f64)
        }};
    }
    macro_rules! real {
        ($kind:ty) => {{
            let (was, is) = (<$kind>::from_le_bytes(was.array()?), <$kind>::from_le_bytes(is.array()?));
            was.to_bits() != is.to_bits() && is_beyond(deadband, (f64::from(is) - f64::from(was)).abs())
        }};
    }
    Ok(match kind {
        MetricType::Uint8 => integer!(u8),
        MetricType::Uint16 => integer!(u16),
        MetricType::Uint32 => integer!(u32),
        MetricType::Uint64 => integer!(u64),
        MetricType::Int8 => integer!(i8),
        MetricType::Int16 => integer!(i16),
        MetricType::Int32 => integer!(i32),
        MetricType::Int64 => integer!(i64),
        MetricType::Real32 => real!(f32),
        MetricType::Real64 => real!(f64),
        MetricType::Boolean
        | MetricType::String
        | MetricType::Vector(_)
        | MetricType::Struct(_)
        | MetricType::Blob(_) => bytes(kind, was)? != bytes(kind, is)?,
    })
}

/// Returns whether the distance of two different values exceeds the deadband. A NaN distance or deadband always does;
/// NaN means that there is no deadband.
fn is_beyond(deadband: f64, distance: f64) -> bool {
    distance > deadband || distance.is_nan() || deadband.is_nan()
}

fn bytes<'a>(kind: &MetricType, row: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    let mut end = row.clone();
    value::skip(kind, &mut end)?;
    row.take(end.at() - row.at())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oasis_wire::{schema::Metric, value::RowWriter};

    fn probe_type() -> ProbeType {
        let metrics = [
            ("temperature", MetricType::Real64),
            ("packets", MetricType::Uint64),
            ("offset", MetricType::Int64),
            ("label", MetricType::String),
            ("open", MetricType::Boolean),
        ];
        ProbeType {
            name: "Door".into(),
            uuid: uuid::Uuid::nil(),
            version: "1.0".into(),
            doc: None,
            rate: None,
            metrics: metrics.map(|(name, kind)| Metric::new(name, kind)).into(),
        }
    }

    #[derive(Clone, Copy)]
    struct Door(f64, u64, i64, &'static str, bool);

    fn row(door: Door) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut row = RowWriter::new(&mut bytes);
        row.f64(door.0);
        row.u64(door.1);
        row.i64(door.2);
        row.string(door.3);
        row.boolean(door.4);
        bytes
    }

    const FIRST_ROW: Door = Door(20.0, 7, -3, "hall", false);

    fn after_first(deadbands: Deadbands) -> (Arc<Limits>, ChangeFilter) {
        let limits = Limits::new(&probe_type(), &deadbands).unwrap();
        let mut changes = ChangeFilter::new(limits.clone(), 100);
        assert!(changes.is_change(&row(FIRST_ROW)), "the first is kept");
        changes.keep(&row(FIRST_ROW));
        (limits, changes)
    }

    #[test]
    fn without_deadbands_every_change_counts_and_equal_values_do_not() {
        let (_, mut changes) = after_first(Deadbands::any_change());
        assert!(!changes.is_change(&row(FIRST_ROW)));
        for other in [
            Door { 0: 20.000_001, ..FIRST_ROW },
            Door { 1: 8, ..FIRST_ROW },
            Door { 2: -4, ..FIRST_ROW },
            Door { 3: "cell", ..FIRST_ROW },
            Door { 4: true, ..FIRST_ROW },
            Door { 0: f64::NAN, ..FIRST_ROW },
        ] {
            assert!(changes.is_change(&row(other)));
        }
    }

    #[test]
    fn a_metric_has_to_move_by_more_than_its_deadband() {
        let bands =
            Deadbands::any_change().with("temperature", 0.5).with("packets", 10.0).with("offset", 2.0);
        let (_, mut changes) = after_first(bands);
        for within in [
            Door { 0: 20.5, ..FIRST_ROW },
            Door { 0: 19.5, ..FIRST_ROW },
            Door { 1: 17, ..FIRST_ROW },
            Door { 2: -5, ..FIRST_ROW },
        ] {
            assert!(!changes.is_change(&row(within)));
        }
        for beyond in [
            Door { 0: 20.6, ..FIRST_ROW },
            Door { 0: f64::NAN, ..FIRST_ROW },
            Door { 0: f64::INFINITY, ..FIRST_ROW },
            Door { 1: 18, ..FIRST_ROW },
            Door { 1: u64::MAX, ..FIRST_ROW },
            Door { 2: 0, ..FIRST_ROW },
            Door { 2: i64::MAX, ..FIRST_ROW },
            Door { 3: "", ..FIRST_ROW },
        ] {
            assert!(changes.is_change(&row(beyond)));
        }
    }

    #[test]
    fn slow_drift_counts_from_the_last_kept_sample() {
        let (_, mut changes) = after_first(Deadbands::any_change().with("temperature", 1.0));
        let kept: Vec<u32> = (1..=25)
            .filter(|&step| {
                let row = row(Door { 0: 20.0 + f64::from(step) * 0.25, ..FIRST_ROW });
                let kept = changes.is_change(&row);
                if kept {
                    changes.keep(&row);
                }
                kept
            })
            .collect();
        assert_eq!(kept, [5, 10, 15, 20, 25]);
    }

    #[test]
    fn a_deadband_set_meanwhile_applies_from_then_on() {
        let (limits, mut changes) = after_first(Deadbands::any_change());
        let other = row(Door { 1: 9, ..FIRST_ROW });
        limits.set("packets", Some(f64::INFINITY)).unwrap();
        assert!(!changes.is_change(&other));
        limits.set("packets", None).unwrap();
        assert!(changes.is_change(&other));
    }

    #[test]
    fn a_row_that_does_not_fit_is_kept_so_that_the_node_reports_it() {
        let (_, mut changes) = after_first(Deadbands::any_change());
        assert!(changes.is_change(&[]));
        assert!(changes.is_change(&[row(FIRST_ROW), vec![0]].concat()));
    }

    #[test]
    fn invalid_deadbands_are_refused() {
        let refused = |metric: &str, deadband: f64| {
            Limits::new(&probe_type(), &Deadbands::any_change().with(metric, deadband))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused("colour", 1.0), r#"the probe has no metric "colour""#);
        assert_eq!(refused("label", 1.0), r#"metric "label" is not a number: it cannot have a deadband"#);
        assert_eq!(refused("open", 1.0), r#"metric "open" is not a number: it cannot have a deadband"#);
        assert_eq!(refused("packets", -1.0), r#"deadband of metric "packets" is -1: use 0 or more"#);
        assert!(refused("packets", f64::NAN).contains("NaN"));
    }
}
