//! Batches from the collector that the file spool has not written yet. Bounded: above the limit the oldest are
//! dropped, and counted by their sequence numbers.

use crate::spool::QueuedBatch;
use std::collections::VecDeque;

/// The queue between collector and spooler.
#[derive(Debug, Clone)]
pub struct Intake {
    batches: VecDeque<QueuedBatch>,
    bytes: usize,
    /// Bytes that the spooler has taken and not settled yet.
    in_hand: usize,
    limit: usize,
    /// Whether the file contains batches that are not in the spool's own queue: newer batches must not overtake them.
    pub(crate) is_lagging: bool,
}

impl Intake {
    /// Creates a queue of at most `limit` bytes, including those that the spooler has taken.
    pub fn new(limit: usize) -> Self {
        Self { batches: VecDeque::new(), bytes: 0, in_hand: 0, limit, is_lagging: false }
    }

    /// Adds a batch; drops the oldest ones if needed.
    pub fn push(&mut self, batch: QueuedBatch) {
        self.bytes += batch.cost();
        self.batches.push_back(batch);
        self.keep_to_the_limit();
    }

    /// Takes all batches for the spooler, which calls [`Intake::settle`] afterwards.
    pub fn take(&mut self) -> Vec<QueuedBatch> {
        self.in_hand = self.bytes;
        self.bytes = 0;
        self.batches.drain(..).collect()
    }

    /// Settles the taken batches, except `rest`, which returns to the front of the queue.
    pub fn settle(&mut self, rest: impl DoubleEndedIterator<Item = QueuedBatch>) {
        self.in_hand = 0;
        for batch in rest.rev() {
            self.bytes += batch.cost();
            self.batches.push_front(batch);
        }
        self.keep_to_the_limit();
    }

    /// Returns whether batches are queued.
    pub fn has_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Returns whether no batches are queued or taken.
    pub fn is_settled(&self) -> bool {
        self.batches.is_empty() && self.in_hand == 0
    }

    /// Returns whether no batches are queued, taken, or only in the file.
    pub fn is_empty(&self) -> bool {
        self.is_settled() && !self.is_lagging
    }

    fn keep_to_the_limit(&mut self) {
        // The newest always stays: a single batch may exceed the limit.
        while self.bytes + self.in_hand > self.limit && self.batches.len() > 1 {
            let Some(oldest) = self.batches.pop_front() else { break };
            self.bytes -= oldest.cost();
        }
    }
}
