//! Pieces on their way to the DAC: kept, sent or not, until the DAC has them.
//!
//! A node has one such queue for its batches, a replay one for each instance. The queue itself has no bound: its owner looks at
//! [`Outgoing::bytes`] before it adds, or evicts afterwards.

use std::collections::VecDeque;

/// Memory of a piece in addition to its bytes.
const OVERHEAD: usize = 96;

/// A queue of pieces in the order in which they are sent.
#[derive(Debug)]
pub struct Outgoing<T> {
    pieces: VecDeque<(usize, T)>,
    /// The first `sent` pieces have been written to the present connection.
    sent: usize,
    sent_bytes: usize,
    bytes: usize,
}

impl<T> Default for Outgoing<T> {
    fn default() -> Self {
        Self { pieces: VecDeque::new(), sent: 0, sent_bytes: 0, bytes: 0 }
    }
}

impl<T> Outgoing<T> {
    /// Memory that a piece of this length takes.
    pub fn cost(length: usize) -> usize {
        length + OVERHEAD
    }

    /// Adds a piece with a payload of this length, to be sent after all others.
    pub fn push(&mut self, piece: T, length: usize) {
        let cost = Self::cost(length);
        self.bytes += cost;
        self.pieces.push_back((cost, piece));
    }

    /// Whether the DAC has everything.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Memory that the pieces take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory that the pieces sent over the present connection take.
    pub fn sent_bytes(&self) -> usize {
        self.sent_bytes
    }

    /// All pieces, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().map(|(_, piece)| piece)
    }

    /// The next piece to send over the present connection.
    pub fn next_unsent(&mut self) -> Option<&mut T> {
        self.pieces.get_mut(self.sent).map(|(_, piece)| piece)
    }

    /// Whether a piece was not sent over the present connection.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.pieces.len()
    }

    /// Notes that the [next piece](Outgoing::next_unsent) was sent.
    pub fn note_sent(&mut self) {
        if let Some((cost, _)) = self.pieces.get(self.sent) {
            self.sent_bytes += cost;
            self.sent += 1;
        }
    }

    /// Evicts the oldest piece that was not sent.
    pub fn evict_unsent(&mut self) -> Option<T> {
        let (cost, piece) = self.pieces.remove(self.sent)?;
        self.bytes -= cost;
        Some(piece)
    }

    /// Whether a piece that the DAC does not have was sent over the present connection.
    pub fn has_sent(&self) -> bool {
        self.sent > 0
    }

    /// Removes the oldest piece if the DAC has it.
    pub fn take_acknowledged(&mut self, has: impl FnOnce(&T) -> bool) -> Option<T> {
        if !has(&self.pieces.front()?.1) {
            return None;
        }
        let (cost, piece) = self.pieces.pop_front()?;
        self.bytes -= cost;
        if self.sent > 0 {
            self.sent -= 1;
            self.sent_bytes -= cost;
        }
        Some(piece)
    }

    /// Begins again with the oldest piece: there is a new connection, and whatever the old one carried may be lost.
    pub fn send_again(&mut self) {
        (self.sent, self.sent_bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send_all(queue: &mut Outgoing<u64>) -> Vec<u64> {
        let mut sent = Vec::new();
        while let Some(piece) = queue.next_unsent() {
            sent.push(*piece);
            queue.note_sent();
        }
        sent
    }

    #[test]
    fn a_piece_is_kept_until_it_is_acknowledged_and_goes_again_over_a_new_connection() {
        let mut queue = Outgoing::default();
        (1..=3).for_each(|piece| queue.push(piece, 10));
        assert!(!queue.has_sent());
        assert_eq!(send_all(&mut queue), [1, 2, 3]);
        assert!(queue.has_sent() && !queue.has_unsent());
        assert_eq!(queue.take_acknowledged(|piece| *piece <= 1), Some(1));
        assert_eq!(queue.take_acknowledged(|piece| *piece <= 1), None);
        queue.send_again();
        assert_eq!((queue.sent_bytes(), queue.bytes()), (0, 2 * Outgoing::<u64>::cost(10)));
        assert_eq!(send_all(&mut queue), [2, 3]);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [&2, &3]);
        queue.send_again();
        assert_eq!(queue.take_acknowledged(|_| true), Some(2), "the DAC had it before the connection broke");
        assert_eq!((queue.bytes(), queue.sent_bytes()), (Outgoing::<u64>::cost(10), 0));
    }

    #[test]
    fn only_unsent_batches_are_evicted_the_oldest_first() {
        let mut queue = Outgoing::default();
        (1..=3).for_each(|piece| queue.push(piece, piece as usize));
        queue.note_sent();
        assert_eq!(
            [queue.evict_unsent(), queue.evict_unsent(), queue.evict_unsent()],
            [Some(2), Some(3), None]
        );
        assert!(!queue.has_unsent() && !queue.is_empty());
        assert_eq!(queue.bytes(), Outgoing::<u64>::cost(1));
        assert_eq!(queue.sent_bytes(), queue.bytes());
    }
}
