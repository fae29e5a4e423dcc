//! Numbered pieces of a byte stream, and the window that bounds them.

use bytes::Bytes;

/// Bound of what is under way in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Pieces without an acknowledgement.
    pub pieces: u64,
    /// Bytes of a piece.
    pub piece_bytes: usize,
}

/// Content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamMessage {
    /// Bytes of the stream: number 1 is the first one.
    Data(u64, Bytes),
    /// All pieces up to this number have arrived.
    Received(u64),
    /// The stream has ended.
    End,
}

/// Why a connection ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A message is no piece.
    #[error("a message of {0} bytes is no piece of a data channel")]
    NoPiece(usize),
    /// A piece is too long.
    #[error("a piece of {found} bytes exceeds the {most} bytes of a piece")]
    TooLong {
        /// Its length.
        found: usize,
        /// The bytes of a piece.
        most: usize,
    },
    /// Messages were dropped on the way.
    #[error("piece {expected} is lost on the way, piece {found} has arrived")]
    Lost {
        /// The next number.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The peer sends more than it may.
    #[error("the peer ignores the window of {0} pieces")]
    Window(u64),
}

impl StreamMessage {
    /// Returns kind, number and bytes, as messages of each transport have them.
    pub fn parts(&self) -> (u8, u64, &[u8]) {
        match self {
            Self::Data(number, bytes) => (1, *number, bytes),
            Self::Received(number) => (2, *number, &[]),
            Self::End => (3, 0, &[]),
        }
    }

    /// Returns the piece of these parts; none if there is no such kind.
    pub fn of_parts(kind: u8, number: u64, bytes: Bytes) -> Option<Self> {
        match kind {
            1 => Some(Self::Data(number, bytes)),
            2 => Some(Self::Received(number)),
            3 => Some(Self::End),
            _ => None,
        }
    }
}

/// The numbers of one end.
#[derive(Debug)]
pub struct Numbers {
    window: Window,
    sent: u64,
    /// Number of sent pieces that the peer has acknowledged.
    acknowledged: u64,
    received: u64,
    /// Number of received pieces that the peer has an acknowledgement of.
    told: u64,
}

impl Numbers {
    /// Returns the numbers of a connection that begins.
    pub fn new(window: Window) -> Self {
        Self { window, sent: 0, acknowledged: 0, received: 0, told: 0 }
    }

    /// Returns whether another piece may be sent.
    pub fn may_send(&self) -> bool {
        self.sent - self.acknowledged < self.window.pieces
    }

    /// Returns the next piece.
    pub fn send(&mut self, bytes: Bytes) -> StreamMessage {
        self.sent += 1;
        StreamMessage::Data(self.sent, bytes)
    }

    /// Notes a piece of this length that has arrived.
    ///
    /// # Errors
    /// If one before it is lost, it is too long, or there are too many.
    pub fn receive(&mut self, number: u64, length: usize) -> Result<(), Broken> {
        let expected = self.received + 1;
        if number != expected {
            return Err(Broken::Lost { expected, found: number });
        }
        let Window { pieces, piece_bytes } = self.window;
        if length > piece_bytes {
            return Err(Broken::TooLong { found: length, most: piece_bytes });
        }
        if number - self.told > pieces {
            return Err(Broken::Window(pieces));
        }
        self.received = number;
        Ok(())
    }

    /// Notes what the peer has. A number that was never sent counts for nothing.
    pub fn acknowledge(&mut self, number: u64) {
        if number <= self.sent {
            self.acknowledged = self.acknowledged.max(number);
        }
    }

    /// Returns the acknowledgement that is due: after a quarter of the window, or, once in a while, for any.
    pub fn take_acknowledgement(&mut self, any: bool) -> Option<StreamMessage> {
        let untold = self.received - self.told;
        let is_due = untold >= self.window.pieces / 4 || any;
        (is_due && untold > 0).then(|| {
            self.told = self.received;
            StreamMessage::Received(self.told)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Window = Window { pieces: 64, piece_bytes: 100 };

    #[test]
    fn a_lost_piece_breaks_the_connection() {
        let mut numbers = Numbers::new(WINDOW);
        numbers.receive(1, 100).unwrap();
        assert_eq!(numbers.receive(3, 100), Err(Broken::Lost { expected: 2, found: 3 }));
        assert_eq!(
            numbers.receive(1, 100),
            Err(Broken::Lost { expected: 2, found: 1 }),
            "and so does one that comes twice"
        );
    }

    #[test]
    fn a_piece_that_is_too_long_breaks_the_connection() {
        let mut numbers = Numbers::new(WINDOW);
        assert_eq!(numbers.receive(1, 101), Err(Broken::TooLong { found: 101, most: 100 }));
    }

    #[test]
    fn the_window_opens_with_acknowledgements_and_a_liar_is_found() {
        let (mut node, mut dac) = (Numbers::new(WINDOW), Numbers::new(WINDOW));
        for number in 1..=WINDOW.pieces {
            assert!(node.may_send());
            assert!(matches!(node.send(Bytes::new()), StreamMessage::Data(sent, _) if sent == number));
            dac.receive(number, 0).unwrap();
        }
        assert!(!node.may_send());
        assert_eq!(dac.receive(WINDOW.pieces + 1, 0), Err(Broken::Window(64)), "nothing was acknowledged");
        node.acknowledge(WINDOW.pieces + 5);
        assert!(!node.may_send(), "it never sent that");
        assert_eq!(dac.take_acknowledgement(false), Some(StreamMessage::Received(WINDOW.pieces)));
        assert_eq!(dac.take_acknowledgement(true), None);
        node.acknowledge(WINDOW.pieces);
        assert!(node.may_send());
    }

    proptest! {
        #[test]
        fn pieces_come_out_as_they_went_in(number in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for piece in [StreamMessage::Data(number, bytes.clone().into()), StreamMessage::Received(number), StreamMessage::End] {
                let (kind, number, bytes) = piece.parts();
                prop_assert_eq!(StreamMessage::of_parts(kind, number, Bytes::copy_from_slice(bytes)), Some(piece));
            }
        }
    }
}
