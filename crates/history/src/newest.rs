//! The newest samples of a time, as far as the topic log has them.

use crate::log::Log;
use oasis_store::{ListedBatch, Newest};
use oasis_wire::{batch, quantity::Offset};

/// The wanted samples in the topic log.
pub struct HeldNewest {
    /// The rest of the request, which the archive has to answer.
    pub rest: Newest,
    /// Offset of the oldest sample in the log.
    pub first: Offset,
    /// Offset of the first wanted sample; that of the next sample if the log contains none of them.
    pub begin: Offset,
}

/// Looks for the newest samples in a log, from its end.
pub fn in_log(log: &dyn Log, newest: &Newest) -> HeldNewest {
    let mut rest = newest.clone();
    let batches = log.read(log.first(), usize::MAX).batches;
    let first = batches.first().map_or(log.next(), |held| held.offsets.start);
    let mut begin = log.next();
    for held in batches.iter().rev() {
        let Ok(times) = batch::times(&held.batch) else { continue };
        let range = (times.iter().min().copied(), times.iter().max().copied());
        let (Some(least), Some(greatest)) = range else { continue };
        let (first, count) = (held.offsets.start, times.len() as u64);
        let listed = ListedBatch { first, count, times: (least, greatest) };
        if let Some(offset) = rest.take(&listed, || Some(times)) {
            begin = offset;
        }
        if rest.is_found() {
            break;
        }
    }
    HeldNewest { rest, first, begin }
}
