//! One cell: statistics of the samples in one time interval.

use super::{
    leaves::Leaf,
    number::Scalar,
    run::{Run, RunValues},
    summary::Summary,
};
use oasis_wire::{schema::MetricType, value::Value};

/// All samples of one time interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Number of samples.
    pub samples: u64,
    /// Time of the last received sample, nanoseconds on the node's clock.
    pub last_time: u64,
    /// The values of each leaf, in the order of [`Cells::leaves`](super::Cells::leaves); further leaves have no values.
    pub tracks: Vec<Track>,
}

/// The values of one leaf in a cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Track {
    /// No value.
    #[default]
    Nothing,
    /// A number.
    Number(Summary),
    /// A number for each element of a vector; `None` for elements without values.
    Elements(Vec<Option<Summary>>),
    /// The last text.
    Text(String),
}

impl Track {
    /// Appends later values.
    pub fn append(&mut self, later: Self) {
        match (self, later) {
            (_, Self::Nothing) => {}
            (Self::Number(summary), Self::Number(later)) => summary.append(&later),
            (Self::Elements(elements), Self::Elements(later)) => {
                elements.resize(elements.len().max(later.len()), None);
                for (element, later) in elements.iter_mut().zip(later) {
                    match (element, later) {
                        (Some(element), Some(later)) => element.append(&later),
                        (element, later) => *element = later.or(*element),
                    }
                }
            }
            (track, later) => *track = later,
        }
    }
}

impl Cell {
    /// Returns its number of values, at least 1: about its share of memory.
    pub(super) fn size(&self) -> usize {
        let values = |track: &Track| if let Track::Elements(elements) = track { elements.len() } else { 1 };
        self.tracks.iter().map(values).sum::<usize>().max(1)
    }

    /// Appends a later cell with the same leaves.
    pub(super) fn join(&mut self, later: Self) {
        self.follow(later.samples, later.last_time, later.tracks.len());
        for (track, later) in self.tracks.iter_mut().zip(later.tracks) {
            track.append(later);
        }
    }

    /// Appends later samples with this many leaves.
    pub(super) fn follow(&mut self, samples: u64, last_time: u64, leaves: usize) {
        self.samples = self.samples.saturating_add(samples);
        self.last_time = last_time;
        self.tracks.resize(leaves.max(self.tracks.len()), Track::Nothing);
    }

    pub(super) fn add(&mut self, run: &Run<'_>, places: &[(Leaf, usize)], leaves: usize) {
        self.follow(run.samples() as u64, run.last_time(), leaves);
        for of_metric in places.chunk_by(|(one, _), (other, _)| one.metric == other.metric) {
            let values = of_metric.first().and_then(|(leaf, _)| run.values(leaf.metric));
            for (leaf, place) in of_metric {
                match &values {
                    Some(RunValues::Fixed(values)) if leaf.is_column() => {
                        if let Some(summary) = of_column(leaf, values) {
                            self.tracks[*place].append(Track::Number(summary));
                        }
                    }
                    Some(RunValues::Rows(values)) => {
                        values.iter().for_each(|value| self.tracks[*place].append(of_value(leaf, value)));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn of_column(leaf: &Leaf, bits: &[u64]) -> Option<Summary> {
    fn of<T: Scalar>(leaf: &Leaf, bits: &[u64]) -> Option<Summary> {
        Summary::of_column::<T>(bits, leaf.is_counter)
    }
    match leaf.kind {
        MetricType::Int8 | MetricType::Int16 | MetricType::Int32 | MetricType::Int64 => of::<i64>(leaf, bits),
        MetricType::Real32 => of::<f32>(leaf, bits),
        MetricType::Real64 => of::<f64>(leaf, bits),
        MetricType::Uint8
        | MetricType::Uint16
        | MetricType::Uint32
        | MetricType::Uint64
        | MetricType::Boolean
        | MetricType::String
        | MetricType::Vector(_)
        | MetricType::Struct(_)
        | MetricType::Blob(_) => of::<u64>(leaf, bits),
    }
}

fn of_value(leaf: &Leaf, value: &Value) -> Track {
    let mut found = Vec::new();
    leaf.values(value, &mut found);
    let summary = |value: &&Value| Leaf::number(value).map(|number| Summary::of(number, leaf.is_counter));
    if leaf.is_text() {
        match found.last() {
            Some(Value::String(text)) => Track::Text(text.clone()),
            _ => Track::Nothing,
        }
    } else if leaf.has_elements() {
        Track::Elements(found.iter().map(summary).collect())
    } else {
        found.first().and_then(summary).map_or(Track::Nothing, Track::Number)
    }
}
