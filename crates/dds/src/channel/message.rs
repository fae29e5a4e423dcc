//! A message of the channel: CDR version 1 of the struct in `docs/reference/dds-channel.md`.

use super::WINDOW;
use bytes::Bytes;
use oasis_channel::carried::StreamMessage;
use oasis_wire::{
    cdr::{ByteOrder, CdrReader, Writer},
    reader::Malformed,
};
use uuid::Uuid;

/// Most bytes of a name, and of a reason.
const MOST_TEXT: usize = 1_024;

/// A message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// A random id, which the node chooses.
    pub connection: Uuid,
    pub content: Content,
}

/// Content of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A part of the conversation.
    StreamMessage(StreamMessage),
    /// A node asks which DACs of this name there are; all, if it is empty.
    Ask(String),
    /// The answer: the id of a DAC.
    Offer(Uuid),
    /// The node chooses the DAC of this id.
    Open(Uuid),
    /// That DAC takes the node.
    Accepted,
    /// The DAC refuses, for this reason.
    Refused(String),
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMessage {
    /// They are no CDR of the struct.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// There are too many.
    #[error("{0} bytes in a message")]
    TooLong(usize),
    /// They are in an encoding that the topic does not have.
    #[error("the encoding is not CDR version 1")]
    Encoding,
    /// No such kind, or its bytes are something else.
    #[error("a message of kind {0} is none of the channel")]
    Kind(u8),
}

impl Message {
    /// Returns the message as CDR, little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, number, bytes): (u8, u64, &[u8]) = match &self.content {
            Content::StreamMessage(piece) => piece.parts(),
            Content::Ask(name) => (4, 0, name.as_bytes()),
            Content::Offer(dac) => (5, 0, dac.as_bytes()),
            Content::Open(dac) => (6, 0, dac.as_bytes()),
            Content::Accepted => (7, 0, &[]),
            Content::Refused(why) => (8, 0, why.as_bytes()),
        };
        let mut out = Vec::with_capacity(40 + bytes.len());
        let mut writer = Writer::new(&mut out, ByteOrder::Little);
        writer.octets(self.connection.as_bytes());
        writer.octets(&[kind]);
        writer.number(number.to_le_bytes());
        writer.number(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        writer.octets(bytes);
        out
    }

    /// Parses CDR.
    ///
    /// # Errors
    /// If it is no message. Padding at its end is ignored.
    pub fn decode(cdr: &[u8], order: ByteOrder) -> Result<Self, NoMessage> {
        let mut reader = CdrReader::new(cdr, 0, order);
        let connection = Uuid::from_bytes(reader.bytes.array()?);
        let [kind] = reader.bytes.array()?;
        let number = u64::from_le_bytes(reader.number()?);
        let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        if length > WINDOW.piece_bytes {
            return Err(NoMessage::TooLong(length));
        }
        let bytes = reader.bytes.take(length)?;
        let content = content(kind, number, bytes).ok_or(NoMessage::Kind(kind))?;
        Ok(Self { connection, content })
    }
}

fn content(kind: u8, number: u64, bytes: &[u8]) -> Option<Content> {
    let text = || Some(std::str::from_utf8(bytes).ok()?.to_owned()).filter(|text| text.len() <= MOST_TEXT);
    let id = || Uuid::from_slice(bytes).ok();
    match kind {
        4 => text().map(Content::Ask),
        5 => id().map(Content::Offer),
        6 => id().map(Content::Open),
        7 => Some(Content::Accepted),
        8 => text().map(Content::Refused),
        _ => StreamMessage::of_parts(kind, number, Bytes::copy_from_slice(bytes)).map(Content::StreamMessage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn each(number: u64, bytes: &[u8]) -> [Message; 8] {
        [
            Content::StreamMessage(StreamMessage::Data(number, Bytes::copy_from_slice(bytes))),
            Content::StreamMessage(StreamMessage::Received(number)),
            Content::StreamMessage(StreamMessage::End),
            Content::Ask("hall-1".into()),
            Content::Offer(Uuid::from_u128(7)),
            Content::Open(Uuid::from_u128(7)),
            Content::Accepted,
            Content::Refused("no room".into()),
        ]
        .map(|content| Message { connection: Uuid::from_u128(number.into()), content })
    }

    #[test]
    fn a_message_is_the_struct_of_the_idl() {
        let message = Message {
            connection: Uuid::from_bytes([9; 16]),
            content: Content::StreamMessage(StreamMessage::Data(0x0102, Bytes::from_static(b"abc"))),
        };
        let mut expected = vec![9; 16];
        // The kind, and padding before the number.
        expected.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([2, 1, 0, 0, 0, 0, 0, 0]);
        expected.extend([3, 0, 0, 0]);
        expected.extend(b"abc");
        assert_eq!(message.encode(), expected);
    }

    #[test]
    fn a_message_may_be_padded_but_not_cut() {
        for message in each(7, b"abc") {
            let mut cdr = message.encode();
            assert!(Message::decode(&cdr[..cdr.len() - 1], ByteOrder::Little).is_err());
            cdr.push(0);
            assert_eq!(Message::decode(&cdr, ByteOrder::Little), Ok(message));
        }
    }

    #[test]
    fn a_message_that_claims_more_than_a_piece_is_refused() {
        let [message, ..] = each(7, &vec![0; WINDOW.piece_bytes + 1]);
        let refused = Message::decode(&message.encode(), ByteOrder::Little);
        assert_eq!(refused, Err(NoMessage::TooLong(WINDOW.piece_bytes + 1)));
        let long = Content::Ask("x".repeat(MOST_TEXT + 1));
        let message = Message { content: long, ..message };
        assert_eq!(Message::decode(&message.encode(), ByteOrder::Little), Err(NoMessage::Kind(4)));
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(number in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for message in each(number, &bytes) {
                prop_assert_eq!(Message::decode(&message.encode(), ByteOrder::Little), Ok(message));
            }
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Message::decode(&bytes, ByteOrder::Little);
            let _ = Message::decode(&bytes, ByteOrder::Big);
        }
    }
}
