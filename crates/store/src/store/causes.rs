//! Causes of missing samples: gaps of the archive by offset, and losses of the DAC's ledgers by sequence number.

use super::{ReadError, Store};
use crate::{
    catalogue::{ExpiredSamples, Extent, Loss},
    gap::Gap,
    series::Series,
};
use oasis_rollup::points::{Missing, Points};
use oasis_wire::{loss::Cause, quantity::Offset};
use std::{collections::BTreeMap, ops::Range};
use uuid::Uuid;

/// Greatest sequence number that the catalogue can contain: its integers are signed.
const MAX_SEQUENCE: u64 = i64::MAX as u64;

/// Samples that the archive does not have, from an offset on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotStored {
    /// After the last one, which may be after the end of the gap that was asked about.
    pub end: Offset,
    /// Their cause.
    pub cause: Cause,
    /// The node's run that they belong to, if it is known.
    pub run: Option<Uuid>,
}

impl Store {
    /// Returns why the samples from an offset on are not stored. `held_from` is the first offset of the file that follows.
    pub fn not_stored(&self, series: &Series, at: Offset, held_from: Offset) -> NotStored {
        let next = self.next_gap(&series.node, &series.instance, series.epoch, at).ok().flatten();
        match next {
            Some((Gap { from, to, cause, .. }, run)) if from <= at => {
                NotStored { end: to, cause, run: Some(run) }
            }
            next => {
                let end = next.map_or(Offset(u64::MAX), |(gap, _)| gap.from);
                // Files are evicted as a whole: missing offsets within an existing file were not stored.
                if at >= held_from {
                    NotStored { end, cause: Cause::Damaged, run: None }
                } else {
                    NotStored {
                        end: end.min(held_from),
                        cause: self.cause_of_missing_file(series, at),
                        run: None,
                    }
                }
            }
        }
    }

    /// Returns why the file that had an offset is missing: retention notes what it evicts, of the newest epoch.
    pub(crate) fn cause_of_missing_file(&self, series: &Series, at: Offset) -> Cause {
        let expired = self.expired(&series.node, &series.instance).ok().flatten();
        let is_evicted =
            |expired: ExpiredSamples| expired.epoch != series.epoch || expired.offsets.contains(&at);
        if expired.is_some_and(is_evicted) { Cause::ArchiveRetention } else { Cause::Damaged }
    }

    /// As [`Store::not_stored`], without the run.
    pub fn why_not_stored(&self, series: &Series, at: Offset, held_from: Offset) -> (Offset, Cause) {
        let NotStored { end, cause, .. } = self.not_stored(series, at, held_from);
        (end, cause)
    }

    /// Assigns the causes of ledgers to samples that are missing by sequence number.
    ///
    /// # Errors
    /// If the catalogue fails.
    pub fn explain(&self, node: &str, instance: &str, points: &mut Points) -> Result<(), ReadError> {
        let mut runs: BTreeMap<Uuid, Range<u64>> = BTreeMap::new();
        for (run, numbers) in points.gaps.iter().filter_map(|gap| gap.numbers.as_ref()) {
            let all = runs.entry(*run).or_insert_with(|| numbers.clone());
            *all = all.start.min(numbers.start)..all.end.max(numbers.end);
        }
        if runs.is_empty() {
            return Ok(());
        }
        let mut losses: BTreeMap<Uuid, Vec<Loss>> = BTreeMap::new();
        for (run, numbers) in runs {
            let numbers = numbers.start..=numbers.end.saturating_sub(1).min(MAX_SEQUENCE);
            losses.insert(run, self.catalogue().losses_in(node, instance, run, &numbers)?);
        }
        for gap in std::mem::take(&mut points.gaps) {
            let told = gap.numbers.as_ref().and_then(|(run, _)| losses.get(run));
            split(gap, told.map_or(&[], Vec::as_slice)).into_iter().for_each(|gap| points.miss(gap));
        }
        Ok(())
    }
}

impl Extent {
    /// Returns a function for the cause of missing offsets before its batches.
    pub fn why<'a>(&'a self, store: &'a Store) -> impl Fn(Offset) -> (Offset, Cause) + 'a {
        move |at| store.why_not_stored(&self.series, at, self.first)
    }
}

/// Splits a gap by the causes of the ledgers; the rest is unchanged.
fn split(gap: Missing, losses: &[Loss]) -> Vec<Missing> {
    let Some((_, numbers)) = &gap.numbers else { return vec![gap] };
    let first = losses.partition_point(|loss| *loss.numbers.end() < numbers.start);
    let within = losses[first..].iter().take_while(|loss| *loss.numbers.start() < numbers.end);
    let mut by_cause: Vec<(Cause, u64)> = Vec::new();
    for loss in within {
        let (from, to) = (numbers.start.max(*loss.numbers.start()), numbers.end.min(loss.numbers.end() + 1));
        match by_cause.iter_mut().find(|(cause, _)| *cause == loss.cause) {
            Some((_, samples)) => *samples += to - from,
            None => by_cause.push((loss.cause, to - from)),
        }
    }
    if by_cause.is_empty() {
        return vec![gap];
    }
    let told = |&(cause, samples): &(Cause, u64)| Missing {
        from: gap.from,
        to: gap.to,
        samples,
        cause,
        numbers: None,
    };
    let mut gaps: Vec<_> = by_cause.iter().map(told).collect();
    let known: u64 = by_cause.iter().map(|(_, samples)| samples).sum();
    if known < gap.samples {
        gaps.push(Missing { samples: gap.samples - known, ..gap });
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_split_by_the_causes_of_its_numbers() {
        let loss = |numbers, cause| Loss { numbers, cause };
        let losses = [
            loss(1..=9, Cause::Network),
            loss(10..=14, Cause::RingFull),
            loss(20..=21, Cause::SpoolFull),
            loss(22..=40, Cause::RingFull),
        ];
        let gap = |numbers: Range<u64>| Missing {
            from: 5,
            to: 6,
            samples: numbers.end - numbers.start,
            cause: Cause::Unexplained,
            numbers: Some((Uuid::nil(), numbers)),
        };
        let of = |numbers| -> Vec<_> {
            split(gap(numbers), &losses).into_iter().map(|gap| (gap.cause, gap.samples)).collect()
        };
        let told = |all: &[(Cause, u64)]| -> Vec<_> { all.to_vec() };
        assert_eq!(of(12..24), told(&[(Cause::RingFull, 5), (Cause::SpoolFull, 2), (Cause::Unexplained, 5)]));
        assert_eq!(of(20..22), told(&[(Cause::SpoolFull, 2)]));
        assert_eq!(of(15..20), told(&[(Cause::Unexplained, 5)]));
        assert_eq!(of(41..50), told(&[(Cause::Unexplained, 9)]));
    }
}
