//! The gaps before a stored batch, with the causes that the archive has listed.

use oasis_store::{History, Series};
use oasis_wire::{batch::Header, gap::Gap, loss::Cause};
use std::{ops::RangeInclusive, sync::Arc};
use uuid::Uuid;

/// Runs of the node that are remembered: an import may have stored samples of an earlier run after those of a later one.
const MOST_RUNS: usize = 16;
/// The greatest sequence number that the archive can list.
const LAST: u64 = i64::MAX as u64;

/// The sequence numbers that a reader has come to, by run. The present run is the last one.
#[derive(Debug, Default)]
pub struct GapsBefore {
    runs: Vec<(Uuid, u64)>,
}

impl GapsBefore {
    /// Forgets everything: the reader continues elsewhere.
    pub fn forget(&mut self) {
        self.runs.clear();
    }

    /// Counts samples of a run up to this number as read.
    pub fn pass(&mut self, run: Uuid, last: u64) {
        if let Some((_, next)) = self.runs.last_mut().filter(|(known, _)| *known == run) {
            *next = last.saturating_add(1);
            return;
        }
        self.runs.retain(|(known, _)| *known != run);
        self.runs.push((run, last.saturating_add(1)));
        self.runs.drain(..self.runs.len().saturating_sub(MOST_RUNS));
    }

    /// Returns the gaps between what was read and the first sample of a batch. Without one before it, those that its node reports.
    pub fn of(&self, archive: &History, series: &Series, header: &Header) -> Option<Arc<[Gap]>> {
        let first = header.first_sequence;
        let reported = first.saturating_sub(header.dropped_before.into());
        let known = self.runs.iter().find(|(run, _)| *run == series.run);
        let next = match known {
            Some((_, next)) => *next,
            None if self.runs.is_empty() => reported,
            None => 1,
        };
        let mut gaps = Vec::new();
        if let Some((ended, after)) = self.runs.last().filter(|(run, _)| *run != series.run) {
            let at_end = |cause| cause == Cause::NodeRestart;
            find(archive, series, *ended, *after..=LAST, at_end, &mut gaps);
        }
        if next < first {
            find(archive, series, series.run, next..=first - 1, |_| true, &mut gaps);
        }
        (!gaps.is_empty()).then(|| gaps.into())
    }
}

/// Adds listed gaps. If the catalogue cannot be read, their causes stay unknown, as if they were not listed.
fn find(
    archive: &History,
    series: &Series,
    run: Uuid,
    numbers: RangeInclusive<u64>,
    is_meant: impl Fn(Cause) -> bool,
    gaps: &mut Vec<Gap>,
) {
    let listed = archive.losses(&series.node, &series.instance, run, numbers).unwrap_or_default();
    for (numbers, cause) in listed.into_iter().filter(|(_, cause)| is_meant(*cause)) {
        let (from_sequence, to_sequence) = numbers.into_inner();
        let count = to_sequence.saturating_sub(from_sequence).saturating_add(1);
        Gap { from_sequence, to_sequence, count, cause, run }.add_to(gaps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_run_is_the_last_one_and_few_are_remembered() {
        let mut before = GapsBefore::default();
        for run in 0..40 {
            before.pass(Uuid::from_u128(run), 5);
            before.pass(Uuid::from_u128(run), 9);
        }
        before.pass(Uuid::from_u128(30), 20);
        assert_eq!(before.runs.len(), MOST_RUNS);
        assert_eq!(before.runs.last(), Some(&(Uuid::from_u128(30), 21)));
        assert_eq!(before.runs.iter().filter(|(run, _)| *run == Uuid::from_u128(30)).count(), 1);
    }
}
