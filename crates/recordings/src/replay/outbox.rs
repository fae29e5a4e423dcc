//! The queue to the DAC: batches and losses are kept until they are acknowledged, because a broken connection may lose sent ones.

use oasis_probe::outgoing::Outgoing;
use oasis_wire::loss::Cause;

/// A message about an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A batch with this number of samples.
    Batch { bytes: Vec<u8>, samples: u64 },
    /// Missing sequence numbers from this one on.
    Missing { from_sequence: u64, cause: Cause },
}

#[derive(Debug)]
struct QueuedMessage {
    message: Message,
    /// Its last sequence number.
    last: u64,
}

impl QueuedMessage {
    fn length(&self) -> usize {
        match &self.message {
            Message::Batch { bytes, .. } => bytes.len(),
            Message::Missing { .. } => 0,
        }
    }

    fn samples(&self) -> u64 {
        match self.message {
            Message::Batch { samples, .. } => samples,
            Message::Missing { .. } => 0,
        }
    }
}

/// Totals of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayTotals {
    /// Samples.
    pub samples: u64,
    /// Sequence numbers reported missing.
    pub missing: u64,
    /// Samples that the DAC has not acknowledged.
    pub unacknowledged: u64,
}

/// Pieces of all instances of a stage.
#[derive(Debug)]
pub struct Outbox {
    /// The pieces of each instance, in order.
    lanes: Vec<Outgoing<QueuedMessage>>,
    capacity: usize,
    played: ReplayTotals,
}

impl Outbox {
    /// Creates a queue for this number of instances, and approximately this many bytes.
    pub fn new(instances: usize, capacity: usize) -> Self {
        let lanes = (0..instances).map(|_| Outgoing::default()).collect();
        Self { lanes, capacity, played: ReplayTotals::default() }
    }

    /// Whether there is room; otherwise playback waits. The bound is exceeded by at most one piece.
    pub fn has_room(&self) -> bool {
        self.lanes.iter().map(Outgoing::bytes).sum::<usize>() < self.capacity
    }

    /// Whether the DAC has everything.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(Outgoing::is_empty)
    }

    /// Whether the DAC has everything of an instance.
    pub fn is_empty_of(&self, instance: usize) -> bool {
        self.lanes[instance].is_empty()
    }

    /// Totals of everything queued so far.
    pub fn played(&self) -> ReplayTotals {
        self.played
    }

    /// Appends a piece that ends with this sequence number of an instance.
    pub fn push(&mut self, instance: usize, message: Message, last: u64) {
        let piece = QueuedMessage { message, last };
        self.played.samples += piece.samples();
        self.played.unacknowledged += piece.samples();
        if let Message::Missing { from_sequence, .. } = piece.message {
            self.played.missing =
                self.played.missing.saturating_add((last - from_sequence).saturating_add(1));
        }
        let length = piece.length();
        self.lanes[instance].push(piece, length);
    }

    /// Calls `send` with each piece that was not sent over the current connection, its instance and last sequence number, until it fails.
    pub fn send<E>(
        &mut self,
        mut send: impl FnMut(usize, &mut Message, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        for (instance, lane) in self.lanes.iter_mut().enumerate() {
            while let Some(piece) = lane.next_unsent() {
                send(instance, &mut piece.message, piece.last)?;
                lane.note_sent();
            }
        }
        Ok(())
    }

    /// Removes pieces of an instance up to this acknowledged sequence number.
    pub fn acknowledge(&mut self, instance: usize, sequence: u64) {
        while let Some(piece) = self.lanes[instance].take_acknowledged(|piece| piece.last <= sequence) {
            self.played.unacknowledged -= piece.samples();
        }
    }

    /// Marks all pieces as unsent, for a new connection.
    pub fn send_again(&mut self) {
        self.lanes.iter_mut().for_each(Outgoing::send_again);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(samples: u64) -> Message {
        Message::Batch { bytes: vec![0; 100], samples }
    }

    fn sent(outbox: &mut Outbox) -> Vec<(usize, u64)> {
        let mut sent = Vec::new();
        let all: Result<(), ()> = outbox.send(|instance, _, last| {
            sent.push((instance, last));
            Ok(())
        });
        assert_eq!(all, Ok(()));
        sent
    }

    #[test]
    fn unacknowledged_pieces_are_sent_again_in_order_over_a_new_connection() {
        let mut outbox = Outbox::new(2, 1_000);
        outbox.push(0, batch(5), 5);
        outbox.push(1, batch(2), 2);
        outbox.push(0, Message::Missing { from_sequence: 6, cause: Cause::RingFull }, 8);
        assert_eq!(sent(&mut outbox), [(0, 5), (0, 8), (1, 2)]);
        assert_eq!(sent(&mut outbox), []);
        outbox.acknowledge(0, 7);
        outbox.push(0, batch(1), 9);
        assert_eq!(sent(&mut outbox), [(0, 9)]);
        outbox.send_again();
        assert_eq!(sent(&mut outbox), [(0, 8), (0, 9), (1, 2)]);
        assert_eq!(outbox.played(), ReplayTotals { samples: 8, missing: 3, unacknowledged: 3 });
        assert!(!outbox.is_empty_of(0) && !outbox.is_empty());
        outbox.acknowledge(0, 9);
        outbox.acknowledge(1, 90);
        assert!(outbox.is_empty() && outbox.is_empty_of(0));
        assert_eq!(sent(&mut outbox), []);
    }

    #[test]
    fn an_unsent_piece_is_next() {
        let mut outbox = Outbox::new(1, 1_000);
        (1..=3).for_each(|last| outbox.push(0, batch(1), last));
        let broken = outbox.send(|_, _, last| if last == 2 { Err("broken") } else { Ok(()) });
        assert_eq!(broken, Err("broken"));
        assert_eq!(sent(&mut outbox), [(0, 2), (0, 3)]);
    }

    #[test]
    fn it_has_a_bound_and_room_again_after_an_acknowledgement() {
        let mut outbox = Outbox::new(1, 300);
        let pieces = (1..).take_while(|last| {
            let has_room = outbox.has_room();
            if has_room {
                outbox.push(0, batch(1), *last);
            }
            has_room
        });
        assert_eq!(pieces.count(), 2);
        outbox.acknowledge(0, 1);
        assert!(outbox.has_room());
    }
}
