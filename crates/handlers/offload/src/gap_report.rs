//! Missing samples of an instance in a segment, with their causes: those before its first sample there, and those between its samples.

use oasis_store::{History, LossTracker, Missing, PastItem, ReadError, catalogue::Extent};
use oasis_wire::{
    batch::Header,
    quantity::{Offset, Position},
};

/// Bytes of batches read at once.
const READ_CHUNK_BYTES: usize = 1 << 20;

/// Returns the missing samples of an instance up to its last sample in a segment, from its last sample in an earlier one on.
///
/// # Errors
/// If catalogue or files cannot be read.
pub fn missing_in(
    history: &History,
    (node, instance): (&str, &str),
    extents: &[&Extent],
) -> Result<Vec<Missing>, ReadError> {
    let Some(first) = extents.iter().min_by_key(|extent| extent.first.0) else { return Ok(Vec::new()) };
    let end = extents.iter().map(|extent| extent.end).max().unwrap_or(first.end);
    let earlier = last_before(history, (node, instance), first.segment)?;
    // Samples before the begin of a history are not missing in it.
    let is_cut = earlier.is_none() && history.0.expired(node, instance)?.is_some();
    let start =
        earlier.as_ref().map_or(Position { epoch: first.series.epoch, offset: Offset(0) }, |extent| {
            Position { epoch: extent.series.epoch, offset: Offset(extent.end.0.saturating_sub(1)) }
        });
    let mut tracker = LossTracker::new(history, u64::from(is_cut));
    let Some(past) = history.past_at(node, instance, start, None)? else { return Ok(Vec::new()) };
    let mut past = past.with_groups();
    let mut missing = Vec::new();
    loop {
        let items = past.read(READ_CHUNK_BYTES)?;
        if items.is_empty() {
            break;
        }
        for item in items {
            match item {
                PastItem::Epoch(_) => {}
                PastItem::Gap { epoch, offsets, cause, run } => {
                    let is_later = epoch == first.series.epoch && offsets.start >= end;
                    if !is_later {
                        tracker.skip(offsets.end.0.saturating_sub(offsets.start.0), cause, run);
                    }
                }
                PastItem::Samples { series, batch, offsets, wanted } => {
                    if series.epoch == first.series.epoch && offsets.start >= end {
                        missing.extend(tracker.after_last(node, instance, true)?);
                        return Ok(missing);
                    }
                    let Ok(header) = Header::parse(&batch) else { continue };
                    let skipped = wanted.start.0.saturating_sub(offsets.start.0);
                    let before = tracker.before(&series, header.first_sequence.saturating_add(skipped))?;
                    let is_here = series.epoch == first.series.epoch && wanted.start >= first.first;
                    if is_here {
                        missing.extend(before);
                    }
                    tracker.pass(header.last_sequence());
                }
            }
        }
    }
    missing.extend(tracker.after_last(node, instance, true)?);
    Ok(missing)
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
