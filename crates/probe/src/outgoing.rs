//! Pieces on their way to the DAC, in three parts: *received* by the DAC and not safe yet, *in transit*, and *unsent*.
//!
//! A node has one such queue for its batches, a replay one for each instance. The queue itself has no bound: its owner checks
//! [`Outgoing::bytes`] before it adds, or evicts afterwards.

use std::collections::VecDeque;

/// Memory of a piece in addition to its bytes.
const PIECE_OVERHEAD_BYTES: usize = 96;

/// A queue of pieces in the order in which they are sent.
#[derive(Debug, Clone)]
pub struct Outgoing<T> {
    pieces: VecDeque<(usize, T)>,
    /// The DAC has received the first `received` pieces. Never above `sent`.
    received: usize,
    /// The first `sent` pieces have been written to the present connection, or received over an earlier one.
    sent: usize,
    /// Memory of the first `sent` pieces.
    sent_bytes: usize,
    /// Memory of the pieces in transit.
    transit_bytes: usize,
    bytes: usize,
}

impl<T> Default for Outgoing<T> {
    fn default() -> Self {
        Self { pieces: VecDeque::new(), received: 0, sent: 0, sent_bytes: 0, transit_bytes: 0, bytes: 0 }
    }
}

impl<T> Outgoing<T> {
    /// Memory that a piece of this length takes.
    pub fn cost(length: usize) -> usize {
        length + PIECE_OVERHEAD_BYTES
    }

    /// Adds a piece with a payload of this length, to be sent after all others.
    pub fn push(&mut self, piece: T, length: usize) {
        let cost = Self::cost(length);
        self.bytes += cost;
        self.pieces.push_back((cost, piece));
    }

    /// Returns whether no piece is left.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns whether the DAC has received every piece.
    pub fn is_received(&self) -> bool {
        self.received == self.pieces.len()
    }

    /// Memory that the pieces take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory that the pieces in transit take.
    pub fn transit_bytes(&self) -> usize {
        self.transit_bytes
    }

    /// Memory that the unsent pieces take.
    pub fn unsent_bytes(&self) -> usize {
        self.bytes - self.sent_bytes
    }

    /// All pieces, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().map(|(_, piece)| piece)
    }

    /// The next piece to send over the present connection.
    pub fn next_unsent(&mut self) -> Option<&mut T> {
        self.pieces.get_mut(self.sent).map(|(_, piece)| piece)
    }

    /// Returns whether a piece is unsent.
    pub fn has_unsent(&self) -> bool {
        self.sent < self.pieces.len()
    }

    /// Returns whether a piece that was sent or received is left.
    pub fn has_sent(&self) -> bool {
        self.sent > 0
    }

    /// Notes that the [next piece](Outgoing::next_unsent) was sent.
    pub fn note_sent(&mut self) {
        if let Some((cost, _)) = self.pieces.get(self.sent) {
            self.transit_bytes += cost;
            self.sent_bytes += cost;
            self.sent += 1;
        }
    }

    /// Evicts the oldest unsent piece.
    pub fn evict_unsent(&mut self) -> Option<T> {
        let (cost, piece) = self.pieces.remove(self.sent)?;
        self.bytes -= cost;
        Some(piece)
    }

    /// The oldest piece that was not received: in transit, or unsent over this connection.
    pub fn first_unreceived(&self) -> Option<&T> {
        self.pieces.get(self.received).map(|(_, piece)| piece)
    }

    /// Notes that the [oldest of these pieces](Outgoing::first_unreceived) was received: it stays until it is safe. It may be unsent over
    /// this connection, because an earlier one has carried it.
    pub fn note_received(&mut self) {
        let Some((cost, _)) = self.pieces.get(self.received) else { return };
        if self.received < self.sent {
            self.transit_bytes -= cost;
        } else {
            self.sent += 1;
            self.sent_bytes += cost;
        }
        self.received += 1;
    }

    /// Removes the oldest piece that was not received before, if it is now: it need not stay. It may be unsent over this
    /// connection, because an earlier one has carried it.
    pub fn take_acknowledged(&mut self, has: impl FnOnce(&T) -> bool) -> Option<T> {
        if !has(&self.pieces.get(self.received)?.1) {
            return None;
        }
        let (cost, piece) = self.pieces.remove(self.received)?;
        self.bytes -= cost;
        if self.sent > self.received {
            self.sent -= 1;
            self.sent_bytes -= cost;
            self.transit_bytes -= cost;
        }
        Some(piece)
    }

    /// Removes the oldest received piece if it is safe.
    pub fn take_safe(&mut self, is_safe: impl FnOnce(&T) -> bool) -> Option<T> {
        if self.received == 0 || !is_safe(&self.pieces.front()?.1) {
            return None;
        }
        let (cost, piece) = self.pieces.pop_front()?;
        self.bytes -= cost;
        self.received -= 1;
        self.sent -= 1;
        self.sent_bytes -= cost;
        Some(piece)
    }

    /// Begins again with the oldest piece that was not received: there is a new connection, and whatever the old one
    /// carried may be lost.
    pub fn send_again(&mut self) {
        self.sent_bytes -= self.transit_bytes;
        (self.sent, self.transit_bytes) = (self.received, 0);
    }

    /// Begins again with the oldest piece of all: there is a new DAC, which has received nothing.
    pub fn send_all_again(&mut self) {
        (self.received, self.sent, self.sent_bytes, self.transit_bytes) = (0, 0, 0, 0);
    }

    /// Removes all pieces.
    pub fn clear(&mut self) {
        *self = Self::default();
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
        assert_eq!(send_all(&mut queue), [1, 2, 3]);
        assert!(queue.first_unreceived() == Some(&1) && !queue.has_unsent());
        assert_eq!(queue.take_acknowledged(|piece| *piece <= 1), Some(1));
        assert_eq!(queue.take_acknowledged(|piece| *piece <= 1), None);
        queue.send_again();
        assert_eq!((queue.transit_bytes(), queue.bytes()), (0, 2 * Outgoing::<u64>::cost(10)));
        assert_eq!(send_all(&mut queue), [2, 3]);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [&2, &3]);
        queue.send_again();
        assert_eq!(queue.take_acknowledged(|_| true), Some(2), "the DAC had it before the connection broke");
        assert_eq!((queue.bytes(), queue.transit_bytes()), (Outgoing::<u64>::cost(10), 0));
        assert_eq!(queue.unsent_bytes(), queue.bytes());
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
        assert_eq!((queue.transit_bytes(), queue.unsent_bytes()), (queue.bytes(), 0));
    }

    #[test]
    fn a_received_piece_stays_until_it_is_safe_and_goes_again_only_to_a_new_dac() {
        let mut queue = Outgoing::default();
        (1..=3).for_each(|piece| queue.push(piece, 10));
        assert_eq!(send_all(&mut queue), [1, 2, 3]);
        queue.note_received();
        queue.note_received();
        assert_eq!((queue.first_unreceived(), queue.transit_bytes()), (Some(&3), Outgoing::<u64>::cost(10)));
        queue.send_again();
        assert_eq!(send_all(&mut queue), [3], "the same DAC");
        assert_eq!(queue.take_safe(|piece| *piece <= 1), Some(1));
        assert_eq!(queue.take_safe(|piece| *piece <= 1), None);
        queue.send_all_again();
        assert_eq!(send_all(&mut queue), [2, 3], "a new DAC");
        assert_eq!(queue.take_safe(|_| true), None, "it has received nothing");
        queue.note_received();
        assert!(!queue.is_received());
        queue.note_received();
        assert!(queue.is_received() && !queue.is_empty());
        assert_eq!(queue.unsent_bytes(), 0);
    }
}
