//! Numbered pieces of a byte stream, and the window that bounds them.

use bytes::Bytes;

/// Pieces that may be under way in one direction.
pub const WINDOW: u64 = 64;
/// Bytes of a piece.
pub const PIECE: usize = 32 * 1024;
/// After so many pieces an acknowledgement is due.
const ACKNOWLEDGE_AFTER: u64 = WINDOW / 4;
/// Bytes before the bytes of a piece: its kind and its number.
const HEADER: usize = 9;

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
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
    /// Messages were dropped on the way.
    #[error(
        "piece {expected} is lost on the way, piece {found} has arrived: NATS drops messages of a slow subscriber"
    )]
    Lost {
        /// The next number.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The peer sends more than it may.
    #[error("the peer ignores the window of {WINDOW} pieces")]
    Window,
}

impl Piece {
    /// Returns the message.
    pub fn encode(&self) -> Bytes {
        let (kind, number, bytes): (u8, u64, &[u8]) = match self {
            Self::Data(number, bytes) => (1, *number, bytes),
            Self::Received(number) => (2, *number, &[]),
            Self::End => (3, 0, &[]),
        };
        let mut message = Vec::with_capacity(HEADER + bytes.len());
        message.push(kind);
        message.extend_from_slice(&number.to_le_bytes());
        message.extend_from_slice(bytes);
        message.into()
    }

    /// Parses a message.
    ///
    /// # Errors
    /// If it is no piece.
    pub fn decode(message: &Bytes) -> Result<Self, Broken> {
        let no_piece = || Broken::NoPiece(message.len());
        let (&kind, rest) = message.split_first().ok_or_else(no_piece)?;
        let number = u64::from_le_bytes(*rest.first_chunk::<8>().ok_or_else(no_piece)?);
        match kind {
            1 if message.len() <= HEADER + PIECE => Ok(Self::Data(number, message.slice(HEADER..))),
            2 => Ok(Self::Received(number)),
            3 => Ok(Self::End),
            _ => Err(no_piece()),
        }
    }
}

/// The numbers of one end.
#[derive(Debug, Default)]
pub struct Numbers {
    sent: u64,
    /// Of those, the peer has these.
    acknowledged: u64,
    received: u64,
    /// Of those, the peer knows these.
    told: u64,
}

impl Numbers {
    /// Returns whether another piece may be sent.
    pub fn may_send(&self) -> bool {
        self.sent - self.acknowledged < WINDOW
    }

    /// Returns the next piece.
    pub fn send(&mut self, bytes: Bytes) -> Piece {
        self.sent += 1;
        Piece::Data(self.sent, bytes)
    }

    /// Notes a piece that has arrived.
    ///
    /// # Errors
    /// If one before it is lost, or there are too many.
    pub fn receive(&mut self, number: u64) -> Result<(), Broken> {
        let expected = self.received + 1;
        if number != expected {
            return Err(Broken::Lost { expected, found: number });
        }
        if number - self.told > WINDOW {
            return Err(Broken::Window);
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

    /// Returns the acknowledgement that is due: after some pieces, or, once in a while, for any.
    pub fn tell(&mut self, any: bool) -> Option<Piece> {
        let untold = self.received - self.told;
        let is_due = untold >= ACKNOWLEDGE_AFTER || (any && untold > 0);
        is_due.then(|| {
            self.told = self.received;
            Piece::Received(self.told)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lost_piece_breaks_the_connection() {
        let mut numbers = Numbers::default();
        numbers.receive(1).unwrap();
        assert_eq!(numbers.receive(3), Err(Broken::Lost { expected: 2, found: 3 }));
        assert_eq!(
            numbers.receive(1),
            Err(Broken::Lost { expected: 2, found: 1 }),
            "and so does one that comes twice"
        );
    }

    #[test]
    fn the_window_opens_with_acknowledgements_and_a_liar_is_found() {
        let (mut node, mut dac) = (Numbers::default(), Numbers::default());
        for number in 1..=WINDOW {
            assert!(node.may_send());
            assert!(matches!(node.send(Bytes::new()), Piece::Data(sent, _) if sent == number));
            dac.receive(number).unwrap();
        }
        assert!(!node.may_send());
        assert_eq!(dac.receive(WINDOW + 1), Err(Broken::Window), "nothing was acknowledged");
        node.acknowledge(WINDOW + 5);
        assert!(!node.may_send(), "it never sent that");
        assert_eq!(dac.tell(false), Some(Piece::Received(WINDOW)));
        assert_eq!(dac.tell(true), None);
        node.acknowledge(WINDOW);
        assert!(node.may_send());
    }

    proptest! {
        #[test]
        fn pieces_come_out_as_they_went_in(number in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for piece in [Piece::Data(number, bytes.clone().into()), Piece::Received(number), Piece::End] {
                prop_assert_eq!(Piece::decode(&piece.encode()), Ok(piece));
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let _ = Piece::decode(&bytes.into());
        }
    }
}
