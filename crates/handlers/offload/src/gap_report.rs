//! Missing samples of an instance in a segment, with their causes: those before its first sample there, and those between its samples.

use crate::manifest::MAX_GAPS;
use oasis_store::{History, LossTracker, Missing, PastItem, ReadError, catalogue::Extent, series::Series};
use oasis_wire::{
    batch::Header,
    quantity::{Offset, Position},
};
use uuid::Uuid;

/// Bytes of batches read at once.
const READ_CHUNK_BYTES: usize = 1 << 20;

/// Missing samples of an instance up to its last sample in a segment, while its past is read.
struct GapReport<'a> {
    names: (&'a str, &'a str),
    /// The shares with the least and the greatest offset.
    first: &'a Extent,
    last: &'a Extent,
    /// The last share in an earlier segment.
    earlier: Option<Extent>,
    tracker: LossTracker,
    /// Whether samples before the first one are not reported.
    is_cut: bool,
    /// Run and number of the last sample.
    passed: Option<(Uuid, u64)>,
    /// Missing offsets in the segment before the first sample that can be read.
    early: Vec<Missing>,
    missing: Vec<Missing>,
}

/// Returns the missing samples of an instance up to its last sample in a segment, from its last sample in an earlier one on. `None` if the handler
/// stops.
///
/// # Errors
/// If catalogue or files cannot be read.
pub fn missing_in(
    history: &History,
    is_stopping: &dyn Fn() -> bool,
    names: (&str, &str),
    extents: &[&Extent],
) -> Result<Option<Vec<Missing>>, ReadError> {
    let Some(first) = extents.iter().min_by_key(|extent| extent.first.0) else { return Ok(Some(Vec::new())) };
    let last = extents.iter().max_by_key(|extent| extent.end.0).unwrap_or(first);
    let earlier = last_before(history, names, first.segment)?;
    // Samples before the begin of a history are not missing in it, and those before the last sample of an earlier segment are in its manifest.
    let is_cut = earlier.is_some() || history.0.expired(names.0, names.1)?.is_some();
    let mut tracker = LossTracker::new(history, u64::from(is_cut));
    let mut start = Position { epoch: first.series.epoch, offset: Offset(0) };
    if let Some(Extent { series, end, last_sequence, .. }) = &earlier {
        // Its file may be damaged: the catalogue has its last number.
        tracker.before(series, *last_sequence)?;
        start = Position { epoch: series.epoch, offset: *end };
    }
    let Some(past) = history.past_at(names.0, names.1, start, None)? else { return Ok(Some(Vec::new())) };
    let mut past = past.with_groups();
    let passed = earlier.as_ref().map(|extent| (extent.series.run, extent.last_sequence));
    let (early, missing) = (Vec::new(), Vec::new());
    let mut report = GapReport { names, first, last, earlier, tracker, is_cut, passed, early, missing };
    let mut is_over = false;
    while !is_over {
        if is_stopping() {
            return Ok(None);
        }
        let items = past.read(READ_CHUNK_BYTES)?;
        is_over = items.is_empty();
        for item in items {
            if report.is_after(&item) {
                is_over = true;
                break;
            }
            report.add(item)?;
        }
    }
    report.finish().map(Some)
}

impl GapReport<'_> {
    /// Whether an item is after the segment: files are in order of their epochs, and samples of an epoch in order of their offsets.
    fn is_after(&self, item: &PastItem) -> bool {
        let (epoch, start) = match item {
            PastItem::Epoch(series) => (series.epoch, Offset(0)),
            PastItem::Samples { series, offsets, .. } => (series.epoch, offsets.start),
            PastItem::Gap { epoch, offsets, .. } => (*epoch, offsets.start),
        };
        match epoch == self.first.series.epoch {
            true => start >= self.last.end,
            // Nothing of the epoch before follows what is known of it.
            false => self.earlier.as_ref().is_none_or(|earlier| earlier.series.epoch != epoch),
        }
    }

    fn add(&mut self, item: PastItem) -> Result<(), ReadError> {
        match item {
            PastItem::Epoch(_) => {}
            PastItem::Gap { offsets, cause, run, .. } => {
                let count = offsets.end.0.saturating_sub(offsets.start.0);
                self.tracker.skip(count, cause, run);
                let is_missing = !self.is_cut || offsets.start >= self.first.first;
                if self.passed.is_none() && is_missing {
                    let run = run.unwrap_or(self.first.series.run);
                    self.add_early(Missing { run, count, cause, numbers: None });
                }
            }
            PastItem::Samples { series, batch, offsets, wanted } => {
                let Ok(header) = Header::parse(&batch) else { return Ok(()) };
                let skipped = wanted.start.0.saturating_sub(offsets.start.0);
                let before = self.before(&series, header.first_sequence.saturating_add(skipped))?;
                if series.epoch == self.first.series.epoch && wanted.start >= self.first.first {
                    self.missing.extend(before);
                }
                self.tracker.pass(header.last_sequence());
                self.passed = Some((series.run, header.last_sequence()));
            }
        }
        Ok(())
    }

    fn before(&mut self, series: &Series, sequence: u64) -> Result<Vec<Missing>, ReadError> {
        // The tracker explains them, unless it knows nothing of what is before.
        if self.passed.is_none() && !self.is_cut {
            self.early.clear();
        }
        self.tracker.before(series, sequence)
    }

    fn add_early(&mut self, missing: Missing) {
        let is_full = self.early.len() >= MAX_GAPS;
        match self.early.last_mut() {
            Some(last) if is_full || (last.run, last.cause) == (missing.run, missing.cause) => {
                last.count = last.count.saturating_add(missing.count);
            }
            _ => self.early.push(missing),
        }
    }

    fn finish(mut self) -> Result<Vec<Missing>, ReadError> {
        let Extent { series, last_sequence, .. } = self.last;
        // The last batches are damaged: their numbers end where the next segment begins.
        if self.passed != Some((series.run, *last_sequence)) {
            let before = self.before(series, last_sequence.saturating_add(1))?;
            self.missing.extend(before);
        }
        let mut missing = self.early;
        missing.append(&mut self.missing);
        missing.extend(self.tracker.after_last(self.names.0, self.names.1, true)?);
        Ok(missing)
    }
}

/// Returns the last share of an instance before a segment.
fn last_before(
    history: &History,
    (node, instance): (&str, &str),
    segment: u64,
) -> Result<Option<Extent>, ReadError> {
    let extents = history.0.catalogue().extents(node, instance, 0)?;
    let earlier = extents.into_iter().take_while(|extent| extent.segment < segment);
    // The greatest offset: a file can have several series of an instance.
    Ok(earlier.max_by_key(|extent| (extent.segment, extent.end.0)))
}
