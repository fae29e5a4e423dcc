//! Why samples are missing between two that are there: what was not stored, and what had been lost before it came to the archive.

use crate::{
    history::History,
    series::Series,
    store::{ReadError, Store},
};
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

/// Cause of what is missing and nobody noted why.
const UNKNOWN: &str = "unknown";

/// Samples that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The node's run that they belong to.
    pub run: Uuid,
    /// How many.
    pub count: u64,
    /// Why: a word of the ledger, of the archive, or `unknown`.
    pub cause: String,
}

/// Follows an instance's samples, in the order of its past.
#[derive(Debug)]
pub struct Holes {
    store: Arc<Store>,
    last: Option<(Uuid, u64)>,
    /// Offsets since then that the archive does not have, by cause.
    not_stored: BTreeMap<&'static str, u64>,
}

impl Holes {
    /// In the past of this archive.
    pub fn new(history: &History) -> Self {
        Self { store: history.0.clone(), last: None, not_stored: BTreeMap::new() }
    }

    /// Offsets that are not there.
    pub fn skip(&mut self, count: u64, cause: &'static str) {
        if self.last.is_some() {
            *self.not_stored.entry(cause).or_default() += count;
        }
    }

    /// What is missing between the sample before and this one; of a run that ended, what is known to be missing at its end. Nothing ahead of the first one.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn before(&mut self, series: &Series, sequence: u64) -> Result<Vec<Missing>, ReadError> {
        let Some((run, last)) = self.last.replace((series.run, sequence)) else { return Ok(Vec::new()) };
        let is_same_run = run == series.run;
        if is_same_run && last.checked_add(1) == Some(sequence) && self.not_stored.is_empty() {
            return Ok(Vec::new());
        }
        let not_stored = std::mem::take(&mut self.not_stored);
        let to = if is_same_run { sequence.saturating_sub(1) } else { i64::MAX as u64 };
        let numbers = last.saturating_add(1)..=to;
        let lost = match numbers.is_empty() {
            true => BTreeMap::new(),
            false => self.store.catalogue().losses(&series.node, &series.instance, run, &numbers)?,
        };
        let known =
            lost.values().chain(not_stored.values()).fold(0_u64, |sum, count| sum.saturating_add(*count));
        let unknown = if is_same_run { to.saturating_sub(last).saturating_sub(known) } else { 0 };
        let not_stored = not_stored.into_iter().map(|(cause, count)| (cause.to_owned(), count));
        let unknown = (unknown > 0).then(|| (UNKNOWN.to_owned(), unknown));
        let all = lost.into_iter().chain(not_stored).chain(unknown);
        Ok(all.map(|(cause, count)| Missing { run, count, cause }).collect())
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
        let numbers = last.saturating_add(1)..=i64::MAX as u64;
        let lost = match more_follow || numbers.is_empty() {
            true => BTreeMap::new(),
            false => self.store.catalogue().losses(node, instance, run, &numbers)?,
        };
        let not_stored = std::mem::take(&mut self.not_stored);
        let not_stored = not_stored.into_iter().map(|(cause, count)| (cause.to_owned(), count));
        Ok(lost.into_iter().chain(not_stored).map(|(cause, count)| Missing { run, count, cause }).collect())
    }
}
