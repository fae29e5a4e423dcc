//! Imports the causes of missing samples.

use super::{Import, ImportError, Instance, known::KnownSequences};
use oasis_store::{
    History, OpenError, ReadError,
    catalogue::{Catalogue, Extent, LossRow, MAX_LOSSES},
    clock::now,
    loss_tracker::{LossTracker, Missing},
    store::NotStored,
};
use oasis_wire::{
    loss::Cause,
    quantity::{Epoch, Nanos, Offset},
};
use std::{ops::RangeInclusive, path::Path, sync::Arc};
use uuid::Uuid;

/// The losses of a recording.
#[derive(Debug)]
pub(super) struct Lost {
    node: Arc<str>,
    instance: Arc<str>,
    run: Uuid,
    numbers: RangeInclusive<u64>,
    cause: Cause,
}

/// Errors of reading the source archive.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Import {
    /// Adds a loss of an instance. Ignores unexplained losses.
    pub fn lose(
        &mut self,
        (node, instance): (Arc<str>, Arc<str>),
        run: Uuid,
        numbers: RangeInclusive<u64>,
        cause: Cause,
    ) {
        let is_range = !numbers.is_empty() && i64::try_from(*numbers.end()).is_ok();
        if cause == Cause::Unexplained || !is_range {
            return;
        }
        if self.lost.len() as u64 >= MAX_LOSSES {
            self.imported.causes_forgotten += 1;
            return;
        }
        self.lost.push(Lost { node, instance, run, numbers, cause });
    }

    /// Imports the causes of missing samples of an archive whose segment files were all added; `name` is that of [`Import::add_segment_file`].
    ///
    /// # Errors
    /// If that archive cannot be read.
    pub fn add_causes(&mut self, archive: &Path, name: impl Fn(&str) -> String) -> Result<(), SourceError> {
        let history = History::open(archive)?;
        for (node, instance) in history.instances()? {
            let key: (Arc<str>, Arc<str>) = (name(&node).into(), instance.as_str().into());
            if self.instances.contains_key(&key) {
                self.add_causes_of(&history, (&node, &instance), &key)?;
            }
        }
        Ok(())
    }

    fn add_causes_of(
        &mut self,
        history: &History,
        (node, instance): (&str, &str),
        key: &(Arc<str>, Arc<str>),
    ) -> Result<(), ReadError> {
        let losses = history.0.catalogue().losses_of(node, instance)?;
        let mut noted = KnownSequences::default();
        for (run, loss) in losses {
            noted.add(run, *loss.numbers.start()..loss.numbers.end().saturating_add(1));
            self.lose(key.clone(), run, loss.numbers, loss.cause);
        }
        // Gaps have offsets of the source archive, which differ here.
        let mut tracker = LossTracker::new(history, 0);
        let mut at = None;
        for extent in history.0.extents(node, instance, 0)? {
            self.add_gaps_of(history, &extent, &mut tracker, &mut at, (key, &noted))?;
        }
        let after_last = tracker.after_last(node, instance, false)?;
        self.lose_all(key, &noted, after_last);
        Ok(())
    }

    /// Adds losses of one share; `at` is the epoch and offset reached.
    fn add_gaps_of(
        &mut self,
        history: &History,
        extent: &Extent,
        tracker: &mut LossTracker,
        at: &mut Option<(Epoch, Offset)>,
        (key, noted): (&(Arc<str>, Arc<str>), &KnownSequences),
    ) -> Result<(), ReadError> {
        let series = &extent.series;
        for entry in history.0.entries(extent, Offset(0), usize::MAX)? {
            if let Some((_, mut reached)) = at.filter(|(epoch, _)| *epoch == series.epoch) {
                while reached < entry.first {
                    let NotStored { end, cause, run } = history.0.not_stored(series, reached, extent.first);
                    let end = end.clamp(Offset(reached.0 + 1), entry.first);
                    tracker.skip(end.0 - reached.0, cause, run);
                    reached = end;
                }
            }
            *at = Some((series.epoch, entry.end()));
            let first = entry.last_sequence.saturating_add(1).saturating_sub(entry.count.into());
            let missing = tracker.before(series, first)?;
            tracker.pass(entry.last_sequence);
            self.lose_all(key, noted, missing);
            let numbers = first..entry.last_sequence.saturating_add(1);
            if self.instances.get(key).is_some_and(|own| !own.known.has(series.run, &numbers)) {
                self.lose(key.clone(), series.run, first..=entry.last_sequence, Cause::Damaged);
            }
        }
        Ok(())
    }

    /// Adds losses that are not added yet.
    fn lose_all(&mut self, key: &(Arc<str>, Arc<str>), noted: &KnownSequences, missing: Vec<Missing>) {
        for Missing { run, numbers, cause, .. } in missing {
            let is_reported = |numbers: &RangeInclusive<u64>| {
                noted.has(run, &(*numbers.start()..numbers.end().saturating_add(1)))
            };
            if let Some(numbers) = numbers.filter(|numbers| !is_reported(numbers)) {
                self.lose(key.clone(), run, numbers, cause);
            }
        }
    }

    /// Lists causes of missing numbers without a cause.
    pub(super) fn list_losses(&mut self, catalogue: &mut Catalogue) -> Result<(), ImportError> {
        let lost = std::mem::take(&mut self.lost);
        for ((node, instance), Instance { known, .. }) in &mut self.instances {
            for (run, loss) in catalogue.losses_of(node, instance)? {
                known.add(run, *loss.numbers.start()..loss.numbers.end().saturating_add(1));
            }
        }
        let mut rows = Vec::new();
        for Lost { node, instance, run, numbers, cause } in &lost {
            // Losses of an instance without samples are not needed.
            let Some(own) = self.instances.get_mut(&(node.clone(), instance.clone())) else { continue };
            let new = own.known.add(*run, *numbers.start()..numbers.end().saturating_add(1));
            let room = usize::try_from(MAX_LOSSES).unwrap_or(usize::MAX) - rows.len();
            self.imported.causes_forgotten += new.len().saturating_sub(room) as u64;
            let new = new.into_iter().take(room);
            rows.extend(new.map(|new| (node, instance, *run, new.start..=new.end - 1, cause)));
        }
        self.imported.causes = rows.len() as u64;
        // Losses older than the oldest file are deleted, and at the bound the oldest: each has a different time.
        let rows = (now().0..).zip(&rows).map(|(time, (node, instance, run, numbers, cause))| LossRow {
            node,
            instance,
            run: *run,
            numbers: numbers.clone(),
            cause: **cause,
            time: Nanos(time),
        });
        self.imported.causes_forgotten += catalogue.add_losses(rows)?;
        Ok(())
    }
}
