//! The results of a reader.

use bytes::Bytes;
use oasis_store::Series;
use oasis_wire::{
    batch,
    gap::Gap,
    loss::Cause,
    quantity::{Offset, Position},
    schema::ProbeType,
};
use std::{ops::Range, sync::Arc};
use uuid::Uuid;

/// A part of an instance's history.
#[derive(Debug, Clone)]
pub enum HistoryPart {
    /// Samples.
    Samples(Batch),
    /// Missing samples and their cause. The offsets are unknown if the reader's position belongs to an epoch without stored samples.
    Gap {
        /// Their offsets.
        offsets: Option<Range<Offset>>,
        /// Their cause.
        cause: Cause,
        /// The node's run that they belong to, if it is known.
        run: Option<Uuid>,
    },
    /// Offsets count in another epoch from here on: the DAC was started again.
    Epoch,
    /// Samples have another type from here on: the node connected again with another type under the same name.
    Type(Arc<ProbeType>),
}

/// A batch, and which of its samples are wanted.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The series of its samples, with their type.
    pub series: Arc<Series>,
    /// The native batch.
    pub bytes: Bytes,
    /// Offset of its first sample, and after its last one.
    pub offsets: Range<Offset>,
    /// Offsets of the wanted samples.
    pub wanted: Range<Offset>,
    /// Samples that never reached the topic log between the piece before and this batch, with the causes, if they are known.
    pub gaps_before: Option<Arc<[Gap]>>,
}

/// Result of a read.
#[derive(Debug)]
pub struct Read {
    /// Position of the first piece, or of the next sample if there is no piece.
    pub begin: Position,
    /// Pieces in order, each with the position after it.
    pub pieces: Vec<(HistoryPart, Position)>,
    /// The next step of the caller.
    pub then: NextStep,
}

/// The next step after the pieces of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// There may be more: read again.
    More,
    /// The next samples may not be stored yet: let the archive store everything it has received, then read again.
    Flush,
    /// Continue in the topic log.
    Log {
        /// Position of the next sample.
        at: Position,
        /// Whether the archive lacks that sample. If the log has evicted it too, it is lost.
        is_missing: bool,
    },
    /// The end of the requested time was reached.
    TimeEnd,
    /// The end of the archive was reached, and there is no topic log.
    ArchiveEnd,
}

/// Returns the offset after the last sample of a batch, of those from `from` on, that is older than `until`, if no wanted sample follows: one of the batch is
/// not older, and `later`, the least times of the batches after it, are not older. `first` is the offset of the batch's first sample.
pub fn end_before(
    batch: &[u8],
    first: Offset,
    from: Offset,
    until: u64,
    later: impl IntoIterator<Item = u64>,
) -> Option<Offset> {
    let (_, greatest) = batch::time_range(batch).ok()?;
    if greatest < until || later.into_iter().any(|least| least < until) {
        return None;
    }
    let seen = usize::try_from(from.0.saturating_sub(first.0)).ok()?;
    let times = batch::times(batch).ok()?;
    let last = times.iter().enumerate().skip(seen).rfind(|(_, time)| **time < until);
    Some(last.map_or(from.max(first), |(index, _)| Offset(first.0 + index as u64 + 1)))
}
