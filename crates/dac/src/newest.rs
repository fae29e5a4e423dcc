//! Cuts the last sample of a batch into a batch of its own, for readers that want only the newest.

use crate::segment::Segment;
use oasis_wire::{batch, quantity::Offset, schema::ProbeType};

/// Returns the segment's last sample. If its columns are malformed, returns the whole segment: readers detect that
/// themselves.
pub(crate) fn of(segment: &Segment, probe_type: &ProbeType) -> Segment {
    let last = Offset(segment.end().0 - 1);
    let count = usize::from(segment.count());
    match batch::cut(segment.batch(), probe_type, count.saturating_sub(1)..count) {
        Some(batch) => Segment::covering(batch.into(), last, segment.end(), 1),
        None => Segment::covering(segment.batch().clone(), segment.first(), segment.end(), segment.count()),
    }
}
