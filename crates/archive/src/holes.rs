//! Why samples are missing between two that are there: what was not stored, and what had been lost before it came to the archive.

use crate::{
    catalogue::Loss,
    history::History,
    series::Series,
    store::{ReadError, Store},
};
use std::{
    collections::{HashMap, VecDeque},
    ops::RangeInclusive,
    sync::Arc,
};
use uuid::Uuid;

/// Cause of what is missing and nobody noted why.
pub(crate) const UNKNOWN: &str = "unknown";
/// Numbers beyond this are nobody's: the catalogue's are signed.
const END: u64 = i64::MAX as u64;

/// Samples that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The node's run that they belong to.
    pub run: Uuid,
    /// How many.
    pub count: u64,
    /// Why: a word of the ledger, of the archive, or `unknown`.
    pub cause: String,
    /// Their sequence numbers; none if only their number is known, as of those that were not stored at the end of a run.
    pub numbers: Option<RangeInclusive<u64>>,
}

/// Follows an instance's samples, in the order of its past.
#[derive(Debug)]
pub struct Holes {
    store: Arc<Store>,
    /// The present run, and the greatest number seen of it: what was imported later may have smaller ones.
    last: Option<(Uuid, u64)>,
    /// The greatest number seen of each run but the present one.
    ended: HashMap<Uuid, u64>,
    /// Offsets since then that the archive does not have, and why, in order.
    not_stored: NotStored,
}

type NotStored = VecDeque<(&'static str, u64)>;

impl Holes {
    /// In the past of this archive.
    pub fn new(history: &History) -> Self {
        Self { store: history.0.clone(), last: None, ended: HashMap::new(), not_stored: NotStored::new() }
    }

    /// Offsets that are not there.
    pub fn skip(&mut self, count: u64, cause: &'static str) {
        if self.last.is_none() {
            return;
        }
        match self.not_stored.back_mut().filter(|(last, _)| *last == cause) {
            Some((_, all)) => *all = all.saturating_add(count),
            None => self.not_stored.push_back((cause, count)),
        }
    }

    /// What is missing between the sample before and this one, in the order of its numbers; where another run begins, what is known to be missing at the end of the
    /// one and at the beginning of the other. Nothing ahead of the first one.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn before(&mut self, series: &Series, sequence: u64) -> Result<Vec<Missing>, ReadError> {
        let Some((run, last)) = self.last else {
            self.last = Some((series.run, sequence));
            return Ok(Vec::new());
        };
        let is_same_run = run == series.run;
        if is_same_run {
            self.last = Some((run, sequence.max(last)));
        }
        if is_same_run && last.checked_add(1) == Some(sequence) && self.not_stored.is_empty() {
            return Ok(Vec::new());
        }
        let not_stored = std::mem::take(&mut self.not_stored);
        let (node, instance) = (&*series.node, &*series.instance);
        if is_same_run {
            let numbers = last.saturating_add(1)..=sequence.saturating_sub(1);
            let losses = self.losses(node, instance, run, &numbers)?;
            return Ok(between(run, &numbers, &losses, not_stored));
        }
        let ended = self.ended.entry(run).or_default();
        *ended = last.max(*ended);
        let mut missing = told(run, &self.losses(node, instance, run, &(last.saturating_add(1)..=END))?);
        missing.extend(not_stored.into_iter().map(|(cause, count)| uncounted(run, cause, count)));
        let seen = self.ended.get(&series.run).copied().unwrap_or_default();
        self.last = Some((series.run, sequence.max(seen)));
        let numbers = seen.saturating_add(1)..=sequence.saturating_sub(1);
        missing.extend(told(series.run, &self.losses(node, instance, series.run, &numbers)?));
        Ok(missing)
    }

    /// Takes samples whose numbers go on from the one before.
    pub fn pass(&mut self, last_sequence: u64) {
        if let Some((_, last)) = &mut self.last {
            *last = last_sequence.max(*last);
        }
    }

    /// What is missing behind the last sample: what was not stored, and unless samples follow at a later time, what is known to be missing at the end of its run.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn behind(
        &mut self,
        node: &str,
        instance: &str,
        more_follow: bool,
    ) -> Result<Vec<Missing>, ReadError> {
        let Some((run, last)) = self.last.take() else { return Ok(Vec::new()) };
        let numbers = last.saturating_add(1)..=END;
        let losses = if more_follow { Vec::new() } else { self.losses(node, instance, run, &numbers)? };
        let mut missing = told(run, &losses);
        let not_stored = std::mem::take(&mut self.not_stored);
        missing.extend(not_stored.into_iter().map(|(cause, count)| uncounted(run, cause, count)));
        Ok(missing)
    }

    fn losses(
        &self,
        node: &str,
        instance: &str,
        run: Uuid,
        numbers: &RangeInclusive<u64>,
    ) -> Result<Vec<Loss>, ReadError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let mut losses = self.store.catalogue().losses_in(node, instance, run, numbers)?;
        for loss in &mut losses {
            let (from, to) =
                (loss.numbers.start().max(numbers.start()), loss.numbers.end().min(numbers.end()));
            loss.numbers = *from..=*to;
        }
        losses.retain(|loss| !loss.numbers.is_empty());
        Ok(losses)
    }
}

/// All of these numbers are missing: those that ledgers told of for that reason, the others because they were not stored, as far as that goes.
fn between(
    run: Uuid,
    numbers: &RangeInclusive<u64>,
    losses: &[Loss],
    mut not_stored: NotStored,
) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut next = *numbers.start();
    for loss in losses {
        let (from, to) = (next.max(*loss.numbers.start()), *loss.numbers.end());
        if from > to {
            continue;
        }
        rest(run, next..=from.saturating_sub(1), &mut not_stored, &mut missing);
        add(&mut missing, run, &loss.cause, from..=to);
        next = to.saturating_add(1);
    }
    rest(run, next..=*numbers.end(), &mut not_stored, &mut missing);
    missing.extend(not_stored.into_iter().map(|(cause, count)| uncounted(run, cause, count)));
    missing
}

/// Numbers that no ledger told of.
fn rest(run: Uuid, numbers: RangeInclusive<u64>, not_stored: &mut NotStored, missing: &mut Vec<Missing>) {
    let mut numbers = numbers;
    while !numbers.is_empty() {
        let left = (numbers.end() - numbers.start()).saturating_add(1);
        let (cause, count) = not_stored.pop_front().unwrap_or((UNKNOWN, left));
        if count > left {
            not_stored.push_front((cause, count - left));
        }
        let end = numbers.start().saturating_add(count.min(left));
        add(missing, run, cause, *numbers.start()..=end - 1);
        numbers = end..=*numbers.end();
    }
}

/// What ledgers told of.
fn told(run: Uuid, losses: &[Loss]) -> Vec<Missing> {
    let mut missing = Vec::new();
    losses.iter().for_each(|loss| add(&mut missing, run, &loss.cause, loss.numbers.clone()));
    missing
}

/// Neighbours of one cause are one.
fn add(missing: &mut Vec<Missing>, run: Uuid, cause: &str, numbers: RangeInclusive<u64>) {
    let count = (numbers.end() - numbers.start()).saturating_add(1);
    if let Some(last) = missing.last_mut().filter(|last| last.cause == cause)
        && let Some(before) = &last.numbers
        && before.end().checked_add(1) == Some(*numbers.start())
    {
        last.numbers = Some(*before.start()..=*numbers.end());
        last.count = last.count.saturating_add(count);
        return;
    }
    missing.push(Missing { run, count, cause: cause.to_owned(), numbers: Some(numbers) });
}

fn uncounted(run: Uuid, cause: &str, count: u64) -> Missing {
    Missing { run, count, cause: cause.to_owned(), numbers: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_hole_has_one_cause() {
        let loss = |numbers, cause: &str| Loss { numbers, cause: cause.into() };
        let losses = [loss(12..=14, "ring_full"), loss(15..=15, "ring_full"), loss(20..=22, "network")];
        let of = |numbers, not_stored: &[(&'static str, u64)]| -> Vec<_> {
            let missing = between(Uuid::nil(), &numbers, &losses, not_stored.iter().copied().collect());
            let counted =
                missing.iter().filter_map(|missing| Some((missing.numbers.clone()?, missing.count)));
            counted.for_each(|(numbers, count)| assert_eq!(numbers.count() as u64, count));
            missing.into_iter().map(|missing| (missing.cause, missing.numbers, missing.count)).collect()
        };
        let all = |all: &[(&str, Option<RangeInclusive<u64>>, u64)]| -> Vec<_> {
            all.iter().map(|(cause, numbers, count)| ((*cause).to_owned(), numbers.clone(), *count)).collect()
        };
        assert_eq!(
            of(10..=25, &[("disk_full", 4), ("damaged", 1)]),
            all(&[
                ("disk_full", Some(10..=11), 2),
                ("ring_full", Some(12..=15), 4),
                ("disk_full", Some(16..=17), 2),
                ("damaged", Some(18..=18), 1),
                ("unknown", Some(19..=19), 1),
                ("network", Some(20..=22), 3),
                ("unknown", Some(23..=25), 3),
            ])
        );
        // Nothing is missing by its numbers: offsets of an earlier run, or of duplicates.
        let none = RangeInclusive::new(30, 29);
        let missing = between(Uuid::nil(), &none, &[], [("disk_full", 3)].into());
        assert_eq!(missing, [uncounted(Uuid::nil(), "disk_full", 3)]);
    }
}
