//! Totals over all samples of a window, updated as they come and go, so that no answer reads each of them.

use super::{exact::ExactSum, extreme::Extreme, kleene::Kleene, window::Entry};
use crate::program::{Aggregate, Purpose};
use std::collections::VecDeque;

/// Depends on the entries of the window alone, and not on those that have left.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Entries whose value is unknown.
    pub unknown: u64,
    /// Entries whose value is true.
    pub met: u64,
    /// Entries with missing samples before them.
    pub gaps: u64,
    /// The missing samples before all entries: a sum that no window can exceed.
    pub missing: u128,
    /// Entries whose value is less than that of the entry before.
    pub decreases: u64,
    kept: PurposeTotal,
}

/// The total that only the purpose of a window needs.
#[derive(Debug, Clone)]
enum PurposeTotal {
    Nothing,
    Sum(Box<ExactSum>),
    Extreme(Extreme),
}

impl Totals {
    /// Creates the totals of a window without entries.
    pub fn new(purpose: Purpose) -> Self {
        let kept = match purpose {
            Purpose::Aggregate(Aggregate::Mean | Aggregate::Sum) => {
                PurposeTotal::Sum(Box::new(ExactSum::new()))
            }
            Purpose::Aggregate(Aggregate::Min) => PurposeTotal::Extreme(Extreme::least()),
            Purpose::Aggregate(Aggregate::Max) => PurposeTotal::Extreme(Extreme::greatest()),
            Purpose::Tally | Purpose::Rate => PurposeTotal::Nothing,
        };
        Self { unknown: 0, met: 0, gaps: 0, missing: 0, decreases: 0, kept }
    }

    /// The most bytes beside its own.
    pub fn memory_bytes(purpose: Purpose, capacity: usize) -> usize {
        match purpose {
            Purpose::Aggregate(Aggregate::Mean | Aggregate::Sum) => size_of::<ExactSum>(),
            Purpose::Aggregate(Aggregate::Min | Aggregate::Max) => capacity * size_of::<u32>(),
            Purpose::Tally | Purpose::Rate => 0,
        }
    }

    /// An entry comes after these.
    pub fn enter(&mut self, entries: &VecDeque<Entry>, entry: &Entry, capacity: usize) {
        self.count_missing(entry.missing);
        match Kleene::from_number(entry.value) {
            Kleene::True => self.met += 1,
            Kleene::Unknown => self.unknown += 1,
            Kleene::False => {}
        }
        self.decreases += u64::from(entries.back().is_some_and(|before| entry.value < before.value));
        match &mut self.kept {
            PurposeTotal::Nothing => {}
            // Adds nothing if it is unknown.
            PurposeTotal::Sum(sum) => sum.add(entry.value),
            PurposeTotal::Extreme(extreme) => extreme.enter(entries, entry.value, capacity),
        }
    }

    /// The first entry, which is one of them no more, has left these.
    pub fn leave(&mut self, entries: &VecDeque<Entry>, entry: &Entry) {
        self.forget_missing(entry.missing);
        match Kleene::from_number(entry.value) {
            Kleene::True => self.met -= 1,
            Kleene::Unknown => self.unknown -= 1,
            Kleene::False => {}
        }
        self.decreases -= u64::from(entries.front().is_some_and(|next| next.value < entry.value));
        match &mut self.kept {
            PurposeTotal::Nothing => {}
            PurposeTotal::Sum(sum) => sum.add(-entry.value),
            PurposeTotal::Extreme(extreme) => extreme.leave(),
        }
    }

    /// Counts samples that are missing before an entry.
    pub fn count_missing(&mut self, missing: u64) {
        self.gaps += u64::from(missing > 0);
        self.missing += u128::from(missing);
    }

    /// Counts them no more.
    pub fn forget_missing(&mut self, missing: u64) {
        self.gaps -= u64::from(missing > 0);
        self.missing -= u128::from(missing);
    }

    /// The sum, the least or the greatest of the values that are known: what the window is for.
    pub fn number(&self, entries: &VecDeque<Entry>) -> Option<f64> {
        match &self.kept {
            PurposeTotal::Nothing => None,
            PurposeTotal::Sum(sum) => Some(sum.value()),
            PurposeTotal::Extreme(extreme) => extreme.of(entries),
        }
    }
}
