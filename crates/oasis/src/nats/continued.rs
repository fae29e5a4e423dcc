//! Which copies of a run continue an archive.
//!
//! A DAC that restarts tells a node which of its samples it has by one number. A copy after a hole must not become part of its archive: the node
//! still has the samples of the hole, and the DAC would take them for known ones.

use oasis_store::ranges::Ranges;
use std::{collections::BTreeMap, ops::Range, sync::Arc};
use uuid::Uuid;

/// Node, instance and run.
pub type RunKey = (Arc<str>, Arc<str>, Uuid);

/// Sequence numbers of runs: stored, copied or declared lost.
#[derive(Debug, Default)]
pub struct RunNumbers(BTreeMap<RunKey, Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    all: Ranges,
    /// After the last number that the archive has; `None` if it has nothing of the run.
    stored: Option<u64>,
}

impl RunNumbers {
    /// Adds numbers that the archive has.
    pub fn store(&mut self, of: RunKey, numbers: Range<u64>) {
        let run = self.0.entry(of).or_default();
        run.stored = run.stored.max(Some(numbers.end));
        run.all.add(numbers);
    }

    /// Adds numbers that are copied, or declared lost.
    pub fn copy(&mut self, of: RunKey, numbers: Range<u64>) {
        self.0.entry(of).or_default().all.add(numbers);
    }

    /// Returns, by run, the number after the last one that may become part of the archive.
    pub fn ends(self) -> BTreeMap<RunKey, u64> {
        self.0.into_iter().map(|(of, numbers)| (of, numbers.end())).collect()
    }
}

impl Numbers {
    fn end(&self) -> u64 {
        let Range { start, end } = self.all.span();
        // If the archive does not know the run, its oldest copies are evicted, and no node has them any more.
        let from = self.stored.unwrap_or(start);
        self.all.missing_in(&(from..end)).first().map_or(end, |hole| hole.start).max(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(stored: &[(u64, u64)], copied: &[(u64, u64)]) -> u64 {
        let of = || ("plant".into(), "boiler".into(), Uuid::nil());
        let mut continued = RunNumbers::default();
        stored.iter().for_each(|&(from, to)| continued.store(of(), from..to));
        copied.iter().for_each(|&(from, to)| continued.copy(of(), from..to));
        continued.ends()[&of()]
    }

    #[test]
    fn copies_continue_what_is_stored_up_to_the_first_hole() {
        assert_eq!(end(&[(1, 100)], &[(90, 120), (120, 130), (140, 150)]), 130);
        assert_eq!(end(&[(1, 100)], &[(120, 130)]), 100, "the node still has what is between");
    }

    #[test]
    fn holes_before_the_last_stored_number_may_be_filled() {
        assert_eq!(end(&[(1, 50), (80, 100)], &[(50, 80), (100, 110)]), 110);
    }

    #[test]
    fn an_unknown_run_begins_with_its_oldest_copy() {
        assert_eq!(end(&[], &[(500, 600), (600, 700), (710, 720)]), 700);
    }
}
