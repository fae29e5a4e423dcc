//! The samples of an instance in a request.

use crate::journal::Progress;
use oasis_format::table::Cell;
use oasis_openmetrics::{Families, Family};
use oasis_wire::{schema::ProbeType, value::Value};
use std::{collections::BTreeSet, sync::Arc};

/// The series of a probe type: the first column of each family.
#[derive(Debug)]
pub struct SeriesSet {
    families: Families,
    /// The place of each column in `series`; `None` if another column has the name.
    places: Vec<Option<usize>>,
    /// Family and name of each series.
    pub series: Vec<(Family, String)>,
}

impl SeriesSet {
    /// Names the series as `/metrics` does.
    pub fn new(probe_type: &Arc<ProbeType>) -> Self {
        let families = Families::new(probe_type);
        let mut names = BTreeSet::new();
        let (mut places, mut series) = (Vec::new(), Vec::new());
        for family in families.families() {
            let is_first = names.insert(family.name.clone());
            places.push(is_first.then_some(series.len()));
            if is_first {
                series.push((family.clone(), family.series_name()));
            }
        }
        Self { families, places, series }
    }

    /// Returns the probe type.
    pub fn probe_type(&self) -> &ProbeType {
        self.families.probe_type()
    }

    /// Returns the value of each series; `None` for texts and vectors.
    pub fn values(&self, values: &[Value]) -> Vec<Option<f64>> {
        let mut row = vec![None; self.series.len()];
        for ((_, cell), place) in self.families.columns(values).zip(&self.places) {
            if let Some(value) = place.and_then(|place| row.get_mut(place)) {
                *value = number(&cell);
            }
        }
        row
    }
}

/// Returns a number: integers beyond 53 bits lose their last digits, as all numbers of Prometheus.
fn number(cell: &Cell<'_>) -> Option<f64> {
    match *cell {
        Cell::Int(value) => Some(value as f64),
        Cell::Uint(value) => Some(value as f64),
        Cell::Real32(value) => Some(value.into()),
        Cell::Real64(value) => Some(value),
        Cell::Boolean(value) => Some(f64::from(u8::from(value))),
        Cell::Nothing | Cell::Text(_) | Cell::Blob(_) => None,
    }
}

/// A sample, as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SentSample {
    /// Milliseconds since 1970 on the clock of the node.
    pub time: i64,
    pub sequence: u64,
    /// A value for each series.
    pub values: Vec<Option<f64>>,
}

/// The end of the series of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesEnd {
    /// Milliseconds since 1970.
    pub time: i64,
    /// Which series of the type have had values.
    pub has_values: Vec<bool>,
}

/// Samples of an instance in a request, in the order of their times.
#[derive(Debug, Clone)]
pub struct Part {
    pub node: Arc<str>,
    pub instance: Arc<str>,
    pub series: Arc<SeriesSet>,
    pub samples: Vec<SentSample>,
    /// Samples missing, by the word of their cause: a series for each, with the time of the last sample.
    pub missing: Vec<(&'static str, u64)>,
    /// The end of the series, if they end after these samples.
    pub end: Option<SeriesEnd>,
    /// The last sample that is sent once the request is answered.
    pub progress: Progress,
}

impl Part {
    /// The number of values of all series.
    pub fn values(&self) -> usize {
        self.samples.len() * self.series.series.len().max(1)
    }

    /// Returns which series of the type have values.
    pub fn has_values(&self) -> Vec<bool> {
        let has_value =
            |at: usize| self.samples.iter().any(|sample| sample.values.get(at).is_some_and(Option::is_some));
        (0..self.series.series.len()).map(has_value).collect()
    }

    /// Divides the samples in two, the older ones first; `None` of one sample.
    pub fn halves(&self) -> Option<[Self; 2]> {
        if self.samples.len() < 2 {
            return None;
        }
        let (older, newer) = self.samples.split_at(self.samples.len() / 2);
        let first = Self { samples: older.to_vec(), missing: Vec::new(), end: None, ..self.clone() };
        Some([first, Self { samples: newer.to_vec(), ..self.clone() }])
    }
}

/// Divides parts in two requests that keep the order of each series; `None` if there is one sample.
pub fn halves(parts: &[Part]) -> Option<[Vec<Part>; 2]> {
    match parts {
        [] => None,
        [one] => one.halves().map(|halves| halves.map(|half| vec![half])),
        more => {
            let (first, second) = more.split_at(more.len() / 2);
            Some([first.to_vec(), second.to_vec()])
        }
    }
}

/// Returns the number of samples.
pub fn samples_of(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.samples.len() as u64).sum()
}
