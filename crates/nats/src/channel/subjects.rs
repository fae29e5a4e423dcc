//! The subjects of a connection, and the messages on them.

use async_nats::{Client, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use oasis_channel::carried::{Broken, Messages, StreamMessage, Window};
use std::io;
use uuid::Uuid;

/// A message has at most a part of the 1 MiB that a server takes by default.
pub const WINDOW: Window = Window { pieces: 64, piece_bytes: 32 * 1024 };
/// Bytes before the bytes of a piece: its kind and its number.
const HEADER: usize = 9;

/// Subjects of a connection: to the DAC, and to the node.
pub fn subjects(connection: Uuid) -> (String, String) {
    let connection = connection.simple();
    (format!("oasis.v1.channel.{connection}.up"), format!("oasis.v1.channel.{connection}.down"))
}

/// One end of a connection.
pub struct Subjects {
    pub client: Client,
    pub from: Subscriber,
    pub to: String,
}

impl Messages for Subjects {
    async fn send(&mut self, piece: &StreamMessage) -> io::Result<()> {
        self.client.publish(self.to.clone(), encode(piece)).await.map_err(io::Error::other)
    }

    async fn receive(&mut self) -> io::Result<StreamMessage> {
        let message = self.from.next().await;
        let message = message.ok_or_else(|| io::Error::other("the subscription has ended"))?;
        decode(&message.payload).map_err(io::Error::other)
    }

    async fn flush(&mut self) {
        let _ = self.client.flush().await;
    }
}

fn encode(piece: &StreamMessage) -> Bytes {
    let (kind, number, bytes) = piece.parts();
    let mut message = Vec::with_capacity(HEADER + bytes.len());
    message.push(kind);
    message.extend_from_slice(&number.to_le_bytes());
    message.extend_from_slice(bytes);
    message.into()
}

fn decode(message: &Bytes) -> Result<StreamMessage, Broken> {
    let no_piece = || Broken::NoPiece(message.len());
    let (&kind, rest) = message.split_first().ok_or_else(no_piece)?;
    let number = u64::from_le_bytes(*rest.first_chunk::<8>().ok_or_else(no_piece)?);
    StreamMessage::of_parts(kind, number, message.slice(HEADER..)).ok_or_else(no_piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_come_out_as_they_went_in(number in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for piece in [StreamMessage::Data(number, bytes.clone().into()), StreamMessage::Received(number), StreamMessage::End] {
                prop_assert_eq!(decode(&encode(&piece)), Ok(piece));
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let _ = decode(&bytes.into());
        }
    }
}
