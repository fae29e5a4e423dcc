//! Bytes of the broker that are not processed yet.

use crate::{
    ProtocolVersion,
    packet::{BadPacket, Decoded, Packet, decode},
};

/// The bytes of a stream, at most one packet of the limit and a read.
#[derive(Debug)]
pub struct Inbox {
    version: ProtocolVersion,
    bytes: Vec<u8>,
    /// Bytes at the beginning that are processed.
    processed: usize,
    /// Bytes of a message beyond the limit that are still to come.
    skipped: usize,
}

/// An item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A packet.
    Packet(Packet<'a>),
    /// A message that is too long: its topic, and its identifier.
    TooLong(&'a str, Option<u16>),
}

impl Inbox {
    /// Creates an empty one.
    pub fn new(version: ProtocolVersion) -> Self {
        Self { version, bytes: Vec::new(), processed: 0, skipped: 0 }
    }

    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = self.skipped.min(bytes.len());
        self.skipped -= skipped;
        self.bytes.drain(..self.processed);
        self.processed = 0;
        self.bytes.extend(bytes.get(skipped..).unwrap_or_default());
    }

    /// Takes the next packet; `None` if more bytes are needed.
    ///
    /// # Errors
    /// If the bytes are no packet.
    pub fn take_next(&mut self) -> Result<Option<Incoming<'_>>, BadPacket> {
        let rest = self.bytes.get(self.processed..).unwrap_or_default();
        Ok(match decode(rest, self.version)? {
            Decoded::Incomplete => None,
            Decoded::Packet(packet, length) => {
                self.processed += length;
                Some(Incoming::Packet(packet))
            }
            Decoded::TooLong(topic, id, length) => {
                let present = rest.len().min(length);
                self.skipped = length - present;
                self.processed += present;
                Some(Incoming::TooLong(topic, id))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::MAX_PACKET_BYTES;

    #[test]
    fn a_message_beyond_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut inbox = Inbox::new(ProtocolVersion::V3);
        let length = MAX_PACKET_BYTES + 10;
        let mut stream = vec![0x30, 0x80 | (length & 0x7f) as u8, 0x80 | (length >> 7 & 0x7f) as u8];
        stream.extend([(length >> 14) as u8, 0, 1, b'a']);
        stream.resize(4 + length, 0);
        stream.extend([0xd0, 0]);
        let mut found = Vec::new();
        for chunk in stream.chunks(1_000) {
            inbox.push(chunk);
            while let Some(incoming) = inbox.take_next().unwrap() {
                found.push(format!("{incoming:?}"));
            }
            assert!(inbox.bytes.len() < 100_000);
        }
        assert_eq!(found, ["TooLong(\"a\", None)", "Packet(PingResp)"]);
    }
}
