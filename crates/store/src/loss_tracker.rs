//! Explains missing samples between stored ones: samples that were not stored, and samples that were lost before the archive.

use crate::{
    catalogue::Loss,
    history::History,
    ranges::Ranges,
    series::Series,
    store::{ReadError, Store},
};
use oasis_wire::loss::Cause;
use std::{
    collections::{BTreeMap, VecDeque},
    ops::{Range, RangeInclusive},
    sync::Arc,
};
use uuid::Uuid;

/// End of the sequence numbers that the catalogue can contain: its integers are signed.
const SEQUENCE_END: u64 = 1 << 63;
/// Most ranges of each run: beyond that, gaps between the lowest ranges are not reported, because imports may fill them. The log counts their numbers.
const MAX_RANGES: usize = 1_024;

/// Samples that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The run of the node.
    pub run: Uuid,
    /// Number of missing samples.
    pub count: u64,
    /// Why.
    pub cause: Cause,
    /// Their sequence numbers; `None` if only their count is known, as for samples not stored at the end of a run.
    pub numbers: Option<RangeInclusive<u64>>,
}

/// Finds missing samples while it follows the stored samples of an instance. An import may have stored older samples after later ones.
#[derive(Debug)]
pub struct LossTracker {
    store: Arc<Store>,
    /// Whether samples before the first one are not reported.
    is_cut: bool,
    /// `None` before the first sample.
    at: Option<Consecutive>,
    /// Sequence numbers of each run that are done: samples before the current ones, and reported losses.
    accounted: BTreeMap<Uuid, Ranges>,
    /// Sequence numbers that were not checked because of too many ranges.
    passed_over: u64,
    /// Offsets since the last sample that were not stored, with their causes, in order.
    not_stored: NotStored,
}

/// The last samples, with consecutive sequence numbers.
#[derive(Debug)]
struct Consecutive {
    run: Uuid,
    numbers: Range<u64>,
}

/// Samples that were not stored, in order.
type NotStored = VecDeque<Uncounted>;

/// Samples that were not stored, without their sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Uncounted {
    /// Their run, if it is known.
    run: Option<Uuid>,
    cause: Cause,
    count: u64,
}

impl LossTracker {
    /// Follows the history of this archive from a time on: 0 for all of it.
    pub fn new(history: &History, from: u64) -> Self {
        let (store, accounted) = (history.0.clone(), BTreeMap::new());
        Self { store, is_cut: from > 0, at: None, accounted, passed_over: 0, not_stored: NotStored::new() }
    }

    /// Skips offsets that were not stored, with their run if it is known.
    pub fn skip(&mut self, count: u64, cause: Cause, run: Option<Uuid>) {
        if self.at.is_none() && self.is_cut {
            return;
        }
        match self.not_stored.back_mut().filter(|last| (last.run, last.cause) == (run, cause)) {
            Some(last) => last.count = last.count.saturating_add(count),
            None => self.not_stored.push_back(Uncounted { run, cause, count }),
        }
    }

    /// Returns the samples missing before this one, in the order of their numbers. If it starts another run, also returns known losses at the end of the earlier
    /// run and at the start of this one. Before the first sample, returns known losses at the start of its run, if the whole history is read.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn before(&mut self, series: &Series, sequence: u64) -> Result<Vec<Missing>, ReadError> {
        let run = series.run;
        if let Some(at) = &mut self.at
            && at.run == run
            && at.numbers.end == sequence
            && self.not_stored.is_empty()
        {
            at.numbers.end = sequence.saturating_add(1);
            return Ok(Vec::new());
        }
        let names = (&*series.node, &*series.instance);
        let last = self.at.replace(Consecutive { run, numbers: sequence..sequence.saturating_add(1) });
        let Some(Consecutive { run: last, numbers }) = last else {
            return self.before_first(names, run, sequence);
        };
        self.account_for(last, numbers.clone());
        let (mut own, others) = of_run(run, std::mem::take(&mut self.not_stored));
        if last == run {
            let mut missing = self.of_other_runs(names, run, others)?;
            missing.extend(self.between(names, run, numbers.end..sequence, own)?);
            return Ok(missing);
        }
        let mut missing = self.at_end(names, last)?;
        missing.extend(self.of_other_runs(names, last, others)?);
        let of_this_run = self.not_stored_before(names, run, sequence, &mut own)?;
        missing.extend(uncounted(last, own));
        missing.extend(of_this_run);
        missing.extend(self.known(names, run, 0..sequence)?);
        Ok(missing)
    }

    /// Returns the samples missing before the first one.
    fn before_first(
        &mut self,
        names: (&str, &str),
        run: Uuid,
        sequence: u64,
    ) -> Result<Vec<Missing>, ReadError> {
        if self.is_cut {
            self.account_for(run, 0..sequence);
        }
        let (mut own, others) = of_run(run, std::mem::take(&mut self.not_stored));
        let mut missing = self.of_other_runs(names, run, others)?;
        missing.extend(self.not_stored_before(names, run, sequence, &mut own)?);
        missing.extend(self.known(names, run, 0..sequence)?);
        missing.extend(uncounted(run, own));
        Ok(missing)
    }

    /// Returns what was not stored of runs of which no sample follows here, and their known losses. `last` is the run of the last sample, of which the losses are
    /// returned already.
    fn of_other_runs(
        &mut self,
        names: (&str, &str),
        last: Uuid,
        not_stored: NotStored,
    ) -> Result<Vec<Missing>, ReadError> {
        let mut missing = Vec::new();
        for uncounted in not_stored {
            let run = uncounted.run.unwrap_or(last);
            missing.push(uncounted.of(run));
            if run != last && !self.accounted.contains_key(&run) {
                missing.extend(self.known(names, run, 0..SEQUENCE_END)?);
            }
        }
        Ok(missing)
    }

    /// Explains numbers of a run before its next sample: those nearest to it were not stored, as far as that count goes.
    fn not_stored_before(
        &mut self,
        names: (&str, &str),
        run: Uuid,
        sequence: u64,
        not_stored: &mut NotStored,
    ) -> Result<Vec<Missing>, ReadError> {
        let mut missing = Vec::new();
        if not_stored.is_empty() || sequence <= 1 {
            return Ok(missing);
        }
        let accounted = self.accounted.entry(run).or_default().missing_in(&(1..sequence));
        for numbers in accounted.into_iter().rev() {
            let losses = self.losses(names, run, &(numbers.start..=numbers.end - 1))?;
            for numbers in without(numbers, &losses).into_iter().rev() {
                explain_backwards(run, numbers, not_stored, &mut missing);
            }
        }
        missing.reverse();
        let explained: Vec<_> = missing.iter().filter_map(|missing| missing.numbers.clone()).collect();
        for numbers in explained {
            self.account_for(run, *numbers.start()..numbers.end().saturating_add(1));
        }
        Ok(missing)
    }

    /// Continues the current consecutive samples up to a sequence number.
    pub fn pass(&mut self, last_sequence: u64) {
        if let Some(Consecutive { numbers, .. }) = &mut self.at {
            numbers.end = numbers.end.max(last_sequence.saturating_add(1));
        }
    }

    /// Returns the samples missing after the last one: samples that were not stored and, unless more samples follow, known losses at the end of its run and
    /// in unread parts of the runs.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn after_last(
        &mut self,
        node: &str,
        instance: &str,
        more_follow: bool,
    ) -> Result<Vec<Missing>, ReadError> {
        let Some(Consecutive { run, numbers }) = self.at.take() else { return Ok(Vec::new()) };
        self.account_for(run, numbers);
        let names = (node, instance);
        let mut missing = if more_follow { Vec::new() } else { self.at_end(names, run)? };
        let not_stored = std::mem::take(&mut self.not_stored);
        missing.extend(self.of_other_runs(names, run, not_stored)?);
        if !more_follow {
            let spans: Vec<_> =
                self.accounted.iter().map(|(run, accounted)| (*run, accounted.span())).collect();
            for (run, span) in spans {
                missing.extend(self.known(names, run, span)?);
            }
        }
        if self.passed_over > 0 {
            tracing::warn!(
                node,
                instance,
                numbers = self.passed_over,
                "too many ranges: loss not checked for these sequence numbers"
            );
            self.passed_over = 0;
        }
        Ok(missing)
    }

    /// Marks numbers as done. Returns those that were not done before.
    fn account_for(&mut self, run: Uuid, numbers: Range<u64>) -> Vec<Range<u64>> {
        let accounted = self.accounted.entry(run).or_default();
        let new = accounted.add(numbers);
        self.passed_over = self.passed_over.saturating_add(accounted.limit(MAX_RANGES));
        new
    }

    /// Explains new numbers: with the causes of the ledgers, the others as not stored, as far as that count goes.
    fn between(
        &mut self,
        names: (&str, &str),
        run: Uuid,
        numbers: Range<u64>,
        mut not_stored: NotStored,
    ) -> Result<Vec<Missing>, ReadError> {
        let mut missing = Vec::new();
        for numbers in self.account_for(run, numbers) {
            let numbers = numbers.start..=numbers.end - 1;
            let losses = self.losses(names, run, &numbers)?;
            explain(run, &numbers, &losses, &mut not_stored, &mut missing);
        }
        missing.extend(uncounted(run, not_stored));
        Ok(missing)
    }

    /// Returns losses after the greatest number of a run, from the ledgers.
    fn at_end(&mut self, names: (&str, &str), run: Uuid) -> Result<Vec<Missing>, ReadError> {
        let end = self.accounted.entry(run).or_default().span().end;
        self.known(names, run, end..SEQUENCE_END)
    }

    /// Returns losses within these numbers, from the ledgers, that are not done yet.
    fn known(
        &mut self,
        names: (&str, &str),
        run: Uuid,
        numbers: Range<u64>,
    ) -> Result<Vec<Missing>, ReadError> {
        let mut missing = Vec::new();
        for numbers in self.accounted.entry(run).or_default().missing_in(&numbers) {
            for Loss { numbers, cause } in self.losses(names, run, &(numbers.start..=numbers.end - 1))? {
                self.account_for(run, *numbers.start()..numbers.end().saturating_add(1));
                add(&mut missing, run, cause, numbers);
            }
        }
        Ok(missing)
    }

    fn losses(
        &self,
        (node, instance): (&str, &str),
        run: Uuid,
        numbers: &RangeInclusive<u64>,
    ) -> Result<Vec<Loss>, ReadError> {
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

/// Adds these numbers with their causes.
fn explain(
    run: Uuid,
    numbers: &RangeInclusive<u64>,
    losses: &[Loss],
    not_stored: &mut NotStored,
    missing: &mut Vec<Missing>,
) {
    let mut next = *numbers.start();
    for loss in losses {
        let (from, to) = (next.max(*loss.numbers.start()), *loss.numbers.end());
        if from > to {
            continue;
        }
        rest(run, next..=from.saturating_sub(1), not_stored, missing);
        add(missing, run, loss.cause, from..=to);
        next = to.saturating_add(1);
    }
    rest(run, next..=*numbers.end(), not_stored, missing);
}

/// Returns the numbers that no loss contains, in order.
fn without(numbers: Range<u64>, losses: &[Loss]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    let mut next = numbers.start;
    for loss in losses {
        left.push(next..*loss.numbers.start());
        next = next.max(loss.numbers.end().saturating_add(1));
    }
    left.push(next..numbers.end);
    left.retain(|numbers| !numbers.is_empty());
    left
}

/// Explains the last of these numbers as not stored, as far as that count goes. Adds them from the last to the first.
fn explain_backwards(run: Uuid, numbers: Range<u64>, not_stored: &mut NotStored, missing: &mut Vec<Missing>) {
    let mut end = numbers.end;
    while end > numbers.start
        && let Some(last) = not_stored.pop_back()
    {
        let (cause, count) = (last.cause, last.count.min(end - numbers.start));
        if last.count > count {
            not_stored.push_back(Uncounted { count: last.count - count, ..last });
        }
        missing.push(Missing { run, count, cause, numbers: Some(end - count..=end - 1) });
        end -= count;
    }
}

/// Explains numbers without a loss in the ledgers.
fn rest(run: Uuid, numbers: RangeInclusive<u64>, not_stored: &mut NotStored, missing: &mut Vec<Missing>) {
    let mut numbers = numbers;
    while !numbers.is_empty() {
        let left = (numbers.end() - numbers.start()).saturating_add(1);
        let unexplained = Uncounted { run: None, cause: Cause::Unexplained, count: left };
        let first = not_stored.pop_front().unwrap_or(unexplained);
        if first.count > left {
            not_stored.push_front(Uncounted { count: first.count - left, ..first });
        }
        let end = numbers.start().saturating_add(first.count.min(left));
        add(missing, run, first.cause, *numbers.start()..=end - 1);
        numbers = end..=*numbers.end();
    }
}

/// Adds numbers; merges neighbors with the same cause.
fn add(missing: &mut Vec<Missing>, run: Uuid, cause: Cause, numbers: RangeInclusive<u64>) {
    let count = (numbers.end() - numbers.start()).saturating_add(1);
    if let Some(last) = missing.last_mut().filter(|last| last.cause == cause)
        && let Some(before) = &last.numbers
        && before.end().checked_add(1) == Some(*numbers.start())
    {
        last.numbers = Some(*before.start()..=*numbers.end());
        last.count = last.count.saturating_add(count);
        return;
    }
    missing.push(Missing { run, count, cause, numbers: Some(numbers) });
}

impl Uncounted {
    fn of(self, run: Uuid) -> Missing {
        Missing { run, count: self.count, cause: self.cause, numbers: None }
    }
}

/// Samples of their own run, or of this one if it is not known.
fn uncounted(run: Uuid, not_stored: NotStored) -> impl Iterator<Item = Missing> {
    not_stored.into_iter().map(move |uncounted| uncounted.of(uncounted.run.unwrap_or(run)))
}

/// Separates what may be of a run from what is of other runs.
fn of_run(run: Uuid, not_stored: NotStored) -> (NotStored, NotStored) {
    not_stored.into_iter().partition(|uncounted| uncounted.run.is_none_or(|of| of == run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_gap_has_one_cause() {
        let loss = |numbers, cause| Loss { numbers, cause };
        let losses =
            [loss(12..=14, Cause::RingFull), loss(15..=15, Cause::RingFull), loss(20..=22, Cause::Network)];
        let of = |numbers, not_stored: &[(Cause, u64)]| -> Vec<_> {
            let uncounted = |&(cause, count)| Uncounted { run: None, cause, count };
            let (mut missing, mut not_stored) =
                (Vec::new(), not_stored.iter().map(uncounted).collect::<NotStored>());
            explain(Uuid::nil(), &numbers, &losses, &mut not_stored, &mut missing);
            assert!(not_stored.is_empty());
            let counted =
                missing.iter().filter_map(|missing| Some((missing.numbers.clone()?, missing.count)));
            counted.for_each(|(numbers, count)| assert_eq!(numbers.count() as u64, count));
            missing.into_iter().map(|missing| (missing.cause, missing.numbers, missing.count)).collect()
        };
        let all = |all: &[(Cause, Option<RangeInclusive<u64>>, u64)]| -> Vec<_> {
            all.iter().map(|(cause, numbers, count)| (*cause, numbers.clone(), *count)).collect()
        };
        assert_eq!(
            of(10..=25, &[(Cause::DiskFull, 4), (Cause::Damaged, 1)]),
            all(&[
                (Cause::DiskFull, Some(10..=11), 2),
                (Cause::RingFull, Some(12..=15), 4),
                (Cause::DiskFull, Some(16..=17), 2),
                (Cause::Damaged, Some(18..=18), 1),
                (Cause::Unexplained, Some(19..=19), 1),
                (Cause::Network, Some(20..=22), 3),
                (Cause::Unexplained, Some(23..=25), 3),
            ])
        );
    }
}
