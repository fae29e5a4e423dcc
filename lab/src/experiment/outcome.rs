//! Outcome of a cell that has been run.

use super::plan::Cell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values over time: seconds since the cell began, and the value.
pub type Series = Vec<(f64, f64)>;

/// A finished cell, the content of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CellResult {
    /// Cell that was run.
    pub cell: Cell,
    /// When it began (RFC 3339).
    pub began: String,
    /// Duration of the measurement.
    pub seconds: f64,
    /// Outcome of the measurement.
    pub outcome: Outcome,
}

/// Outcome of a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The cell was measured.
    Measured(Measured),
    /// Its server cannot run on this machine.
    Absent(String),
    /// The cell ended with an error.
    Failed(String),
}

/// Measurements of a cell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measured {
    /// One number for the cell, by name; the unit is the end of the name.
    pub measures: BTreeMap<String, f64>,
    /// Values over time, by name.
    pub series: BTreeMap<String, Series>,
    /// Values by the percentage of measurements that are at most as large, by name.
    #[serde(default)]
    pub distributions: BTreeMap<String, Series>,
    /// Notes for a reader of the numbers.
    pub notes: Vec<String>,
}

impl CellResult {
    /// The measurements, if there are some.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Measured(measured) => Some(measured),
            Outcome::Absent(_) | Outcome::Failed(_) => None,
        }
    }
}
