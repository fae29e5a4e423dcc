//! Derived instances: the values at the last sample of each period.

use super::rows::{RESTART, Rows};
use serde::{Deserialize, Serialize};

/// The state of a derived instance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Deriver {
    /// The number of the period of the last sample.
    period: Option<u64>,
    /// The values at the last sample.
    values: Vec<f64>,
    /// Periods without samples before this one.
    missing: u64,
    sequence: u64,
}

impl Deriver {
    /// Creates the state of an instance with this many fields.
    pub fn new(fields: usize) -> Self {
        Self { period: None, values: Vec::with_capacity(fields), missing: RESTART, sequence: 0 }
    }

    /// Whether it has a value of each field, or none.
    pub fn has_values(&self, fields: usize) -> bool {
        self.values.len() == fields || (self.values.is_empty() && self.period.is_none())
    }

    /// Takes samples with the values of the fields. Returns a sample for each period that has ended.
    pub fn step(&mut self, every: u64, rows: &Rows, fields: &[Vec<f64>]) -> Rows {
        let mut derived = Rows { columns: vec![Vec::new(); fields.len()], ..Rows::default() };
        for (at, &time) in rows.times.iter().enumerate() {
            let period = time.div_ceil(every);
            if let Some(last) = self.period.filter(|last| *last != period || rows.missing[at] == RESTART) {
                if rows.missing[at] > 0 {
                    // The last sample of the period may be one that is missing.
                    self.values.fill(f64::NAN);
                }
                self.emit(last.saturating_mul(every), rows.origins[at], &mut derived);
                let is_restart = rows.missing[at] == RESTART || period < last;
                self.missing = if is_restart { RESTART } else { period - last - 1 };
            }
            self.period = Some(period);
            self.values.clear();
            self.values.reserve_exact(fields.len());
            self.values.extend(fields.iter().map(|field| field[at]));
        }
        derived
    }

    fn emit(&mut self, time: u64, origin: usize, derived: &mut Rows) {
        derived.times.push(time);
        derived.sequences.push(self.sequence);
        derived.missing.push(self.missing);
        derived.origins.push(origin);
        for (column, value) in derived.columns.iter_mut().zip(&self.values) {
            column.push(*value);
        }
        self.sequence += 1;
    }
}
