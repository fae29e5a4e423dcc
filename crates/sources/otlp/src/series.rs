//! Series of metrics: their types, and the starts of their intervals.

use crate::types::{DescribedType, Shape};
use std::{collections::HashMap, sync::Arc};

/// A series as far as its samples have shown it.
#[derive(Debug, Clone)]
pub struct MetricSeries {
    pub described: Arc<DescribedType>,
    /// The latest start of a cumulative value, in nanoseconds; 0 if unknown.
    pub start: u64,
    /// The instrumentation scope.
    pub scope: Box<str>,
}

/// All series, by node and instance. A series is added once the DAC has a sample of it, so the limits of the nodes bound them.
#[derive(Debug, Default)]
pub struct SeriesTable(HashMap<String, HashMap<String, MetricSeries>>);

impl SeriesTable {
    /// Returns a series.
    pub fn get(&self, node: &str, instance: &str) -> Option<&MetricSeries> {
        self.0.get(node)?.get(instance)
    }

    /// Replaces a series, or adds it.
    pub fn set(&mut self, node: &str, instance: &str, series: MetricSeries) {
        match self.0.get_mut(node) {
            Some(of_node) => match of_node.get_mut(instance) {
                Some(known) => *known = series,
                None => {
                    of_node.insert(instance.to_owned(), series);
                }
            },
            None => {
                self.0.insert(node.to_owned(), HashMap::from([(instance.to_owned(), series)]));
            }
        }
    }

    /// Forgets all series.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl MetricSeries {
    /// Returns whether a sample of this unit and form needs no other type. A whole number fits a real; a new description changes nothing.
    pub fn fits(&self, unit: &str, shape: Shape) -> bool {
        let known = self.described.shape;
        self.described.unit == unit && (known == shape || known == shape.as_real())
    }
}

impl Shape {
    /// Returns the form that has reals for whole numbers.
    fn as_real(self) -> Self {
        match self {
            Self::Gauge { .. } => Self::Gauge { is_real: true },
            Self::Sum { is_counter, .. } => Self::Sum { is_real: true, is_counter },
            other => other,
        }
    }
}
