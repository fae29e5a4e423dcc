//! What a reader yields.

use bytes::Bytes;
use oasis_store::Series;
use oasis_wire::{
    batch,
    loss::Cause,
    quantity::{Offset, Position},
    schema::ProbeType,
};
use std::{ops::Range, sync::Arc};

/// A part of an instance's history.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Samples.
    Samples(Batch),
    /// Samples that are missing, and why. Without offsets nobody knows which: the reader's position belongs to an epoch of which nothing is stored.
    Gap(Option<Range<Offset>>, Cause),
    /// Offsets count in another epoch from here on: the DAC was started again.
    Epoch,
    /// Samples have another type from here on: the node came back with another one under the same name.
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
}

/// Result of a read.
#[derive(Debug)]
pub struct Read {
    /// Position of the first piece, or of the next sample if there is no piece.
    pub begin: Position,
    /// Pieces in order, each with the position after it.
    pub pieces: Vec<(Piece, Position)>,
    /// What follows.
    pub then: Then,
}

/// What follows the pieces of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// There may be more: read again.
    More,
    /// What comes next may be on its way to the archive: let the archive store all that it has received, then read again.
    Flush,
    /// The topic log goes on.
    Log {
        /// Position of the next sample.
        at: Position,
        /// Whether the archive was asked for that sample and does not have it: if the log has evicted it too, it is lost.
        is_missing: bool,
    },
    /// Nothing: the end of the requested time was reached.
    TimeEnd,
    /// Nothing: this is the end of the archive, and there is no topic log.
    ArchiveEnd,
}

/// Returns the offset in a batch, of the samples from `from` on, where the times reach `until`; none if they do not. `first` is the offset of the batch's first
/// sample.
pub fn end_before(batch: &[u8], first: Offset, from: Offset, until: u64) -> Option<Offset> {
    let (_, greatest) = batch::time_range(batch).ok()?;
    if greatest < until {
        return None;
    }
    let seen = usize::try_from(from.0.saturating_sub(first.0)).ok()?;
    let times = batch::times(batch).ok()?;
    let index = times.iter().enumerate().skip(seen).find(|(_, time)| **time >= until)?.0;
    Some(Offset(first.0 + index as u64))
}
