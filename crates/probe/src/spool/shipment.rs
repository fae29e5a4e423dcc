//! Batches and messages that one turn of the shipper sends in order.

use super::QueuedBatch;
use oasis_channel::Release;
use oasis_wire::{batch, quantity::TopicId};
use std::sync::Arc;

/// Bytes of a [`Release`] in its frame, about.
const RELEASE_BYTES: usize = 64;

/// Batches, and before them messages in place of batches that the DAC keeps. After drops it begins with the piece that
/// reports them, and no later piece reports drops: counters that are sent before it stand for that one gap.
#[derive(Debug, Default)]
pub struct Shipment {
    /// In place of batches.
    pub releases: Vec<Release>,
    /// Batches.
    pub batches: Vec<Arc<Vec<u8>>>,
    /// Whether the first piece reports drops.
    pub tells_of_drops: bool,
    /// Number of pieces.
    pieces: usize,
}

impl Shipment {
    /// Returns the number of pieces of the queue that it covers.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// Returns whether the next piece, with this many drops before it, must wait for the next shipment.
    pub(super) fn must_end_before(&self, dropped: u64, is_kept: bool) -> bool {
        (dropped > 0 && self.pieces > 0) || (is_kept && !self.batches.is_empty())
    }

    /// Adds a batch with topic and drops filled in. Returns its bytes.
    pub(super) fn add_batch(&mut self, batch: &mut QueuedBatch, topic: TopicId, dropped: u64) -> usize {
        self.note(dropped);
        let bytes: &mut Vec<u8> = Arc::make_mut(&mut batch.bytes);
        batch::stamp_by_node(bytes, topic.0, to_u32(dropped));
        self.batches.push(batch.bytes.clone());
        batch.bytes.len()
    }

    /// Adds the release of a batch. Returns its bytes.
    pub(super) fn add_release(&mut self, batch: &QueuedBatch, topic: TopicId, dropped: u64) -> usize {
        self.note(dropped);
        let (from_sequence, to_sequence) = (batch.first_sequence, batch.last_sequence());
        let before = self.releases.iter_mut().find(|release| release.topic == topic);
        if let Some(release) = before.filter(|release| release.to_sequence + 1 == from_sequence) {
            release.to_sequence = to_sequence;
            return 0;
        }
        self.releases.push(Release { topic, from_sequence, to_sequence, dropped_before: to_u32(dropped) });
        RELEASE_BYTES
    }

    fn note(&mut self, dropped: u64) {
        self.pieces += 1;
        self.tells_of_drops |= dropped > 0;
    }
}

fn to_u32(dropped: u64) -> u32 {
    u32::try_from(dropped).unwrap_or(u32::MAX)
}
