//! Defective records: the first one ends the reading, or all are counted.

use super::{InputError, Report, TimeRefused, early_times::EarlyTimes};
use std::collections::BTreeMap;

/// Reasons that are counted apart.
const MAX_REASONS: usize = 100;

/// Counts defective records by reason.
#[derive(Debug, Default)]
pub struct Defects {
    is_partial: bool,
    reasons: BTreeMap<String, (u64, String)>,
    /// Number of records with further reasons.
    others: u64,
    early: EarlyTimes,
}

impl Defects {
    /// `is_partial` counts defects instead of ending the reading.
    pub fn new(is_partial: bool) -> Self {
        Self { is_partial, ..Self::default() }
    }

    /// Adds a record. `place` names it, such as `line 7`.
    ///
    /// # Errors
    /// [`InputError::Defect`] unless defective records are left out.
    pub fn add(&mut self, place: impl FnOnce() -> String, why: impl Into<String>) -> Result<(), InputError> {
        let why = why.into();
        if !self.is_partial {
            let remedy = "correct it, or import the rest with --partial".to_owned();
            return Err(InputError::Defect { place: place(), why, remedy });
        }
        if let Some((count, _)) = self.reasons.get_mut(&why) {
            *count += 1;
        } else if self.reasons.len() < MAX_REASONS {
            self.reasons.insert(why, (1, place()));
        } else {
            self.others += 1;
        }
        Ok(())
    }

    /// Adds a sample of a channel whose time an archive cannot have.
    ///
    /// # Errors
    /// As [`Defects::add`]. Samples before 1970 are counted to the end of the file: [`Defects::report`] refuses them.
    pub fn add_time(
        &mut self,
        channel: &str,
        place: impl FnOnce() -> String,
        why: &TimeRefused,
    ) -> Result<(), InputError> {
        if let TimeRefused::Early(time) = why {
            self.early.add(channel, place, *time);
            return Ok(());
        }
        self.add(place, why.to_string())
    }

    /// Reports the defective records; `unit` names them in the plural, such as `lines`.
    ///
    /// # Errors
    /// If samples are before 1970, unless defective records are left out.
    pub fn report(self, unit: &str, report: &mut Report) -> Result<(), InputError> {
        if !self.is_partial {
            self.early.refuse()?;
        }
        self.early.report(report);
        for (why, (count, place)) in self.reasons {
            report.lose(None, count, format!("{count} {unit} skipped: {why} (first: {place})"));
        }
        report.lose(None, self.others, format!("{} more {unit} skipped, for other reasons", self.others));
        Ok(())
    }
}
