//! What the collector has brought and the file spool has not taken yet. Bounded: beyond it the oldest are dropped, and the numbers tell.

use crate::spool::Queued;
use std::collections::VecDeque;

/// The queue between collector and spooler.
#[derive(Debug)]
pub struct Intake {
    batches: VecDeque<Queued>,
    bytes: usize,
    /// Bytes that the spooler has taken out and not found a place for yet.
    in_hand: usize,
    limit: usize,
    /// Whether the file has batches that the spool's own queue has not seen: what comes now must not overtake them.
    pub(crate) is_behind: bool,
}

impl Intake {
    /// At most `limit` bytes, those in the spooler's hands included.
    pub fn new(limit: usize) -> Self {
        Self { batches: VecDeque::new(), bytes: 0, in_hand: 0, limit, is_behind: false }
    }

    /// Takes a batch, at the cost of the oldest if need be.
    pub fn push(&mut self, batch: Queued) {
        self.bytes += batch.cost();
        self.batches.push_back(batch);
        self.keep_to_the_limit();
    }

    /// Everything, for the spooler, which says [`Intake::settle`] when it has found places for it.
    pub fn take(&mut self) -> Vec<Queued> {
        self.in_hand = self.bytes;
        self.bytes = 0;
        self.batches.drain(..).collect()
    }

    /// What was taken out has found its place, but for `rest`, which comes back to the front.
    pub fn settle(&mut self, rest: impl DoubleEndedIterator<Item = Queued>) {
        self.in_hand = 0;
        for batch in rest.rev() {
            self.bytes += batch.cost();
            self.batches.push_front(batch);
        }
        self.keep_to_the_limit();
    }

    /// Whether something waits.
    pub fn has_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Whether nothing waits here or is with the spooler.
    pub fn is_settled(&self) -> bool {
        self.batches.is_empty() && self.in_hand == 0
    }

    /// Whether nothing waits, here, with the spooler or in the file.
    pub fn is_empty(&self) -> bool {
        self.is_settled() && !self.is_behind
    }

    fn keep_to_the_limit(&mut self) {
        // The newest always stays: one batch may be more than the limit.
        while self.bytes + self.in_hand > self.limit && self.batches.len() > 1 {
            let Some(oldest) = self.batches.pop_front() else { break };
            self.bytes -= oldest.cost();
        }
    }
}
