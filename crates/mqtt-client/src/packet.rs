//! Control packets of a broker (MQTT 3.1.1 and 5, 2 and 3): bytes to meaning.

use crate::ProtocolVersion;

/// Longest packet that is read, in bytes; longer messages are skipped.
pub const MAX_PACKET_BYTES: usize = 1024 * 1024;
/// Bytes that the head of a message can take: type, length, topic, packet identifier.
const MAX_HEAD_BYTES: usize = 5 + 2 + u16::MAX as usize + 2;
/// Why bytes are no packets. The stream cannot be read further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPacket {
    /// A packet that ends early, or has bytes left over.
    #[error("the broker sent a damaged packet (type {0})")]
    Damaged(u8),
    /// A length of more than four bytes.
    #[error("the broker sent a packet with an invalid length")]
    Length,
    /// A packet that brokers do not send, or do not send here.
    #[error("the broker sent an unexpected packet (type {0})")]
    Type(u8),
    /// A packet that is no message and beyond the limit.
    #[error("the broker sent a packet of more than {MAX_PACKET_BYTES} bytes (type {0})")]
    TooLong(u8),
}

/// A packet of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet<'a> {
    /// The answer to a connection.
    ConnAck {
        /// Whether the broker has kept the session.
        session_present: bool,
        /// 0 if it accepts the connection.
        code: u8,
        /// Its limits.
        limits: BrokerLimits,
    },
    /// A message.
    Publish(Publish<'a>),
    /// The answer to a message with quality of service 1.
    PubAck {
        /// Its identifier.
        id: u16,
        /// 0x80 and more if the broker refuses it.
        code: u8,
    },
    /// The answer to subscriptions: a code for each.
    SubAck(&'a [u8]),
    /// The answer to a ping.
    PingResp,
    /// The broker closes the connection (MQTT 5).
    Disconnect(u8),
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its bytes.
    pub payload: &'a [u8],
    /// Present if it has to be acknowledged.
    pub id: Option<u16>,
    /// Whether it may have been sent before.
    pub is_repeated: bool,
    /// Whether the broker had kept it before the subscription.
    pub is_retained: bool,
    /// The topic that its sender wants an answer on (MQTT 5).
    pub response_topic: Option<&'a str>,
    /// Bytes for the answer, by which its sender knows it (MQTT 5).
    pub correlation: Option<&'a [u8]>,
}

/// Limits of a broker, in the properties of CONNACK (MQTT 5, 3.2.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokerLimits {
    /// The keep-alive interval that it demands, in seconds.
    pub keep_alive: Option<u16>,
    /// Messages with quality of service 1 that it takes before it has acknowledged them.
    pub receive_maximum: u16,
    /// The longest packet that it takes, in bytes.
    pub max_packet_bytes: u32,
    /// Whether it takes quality of service 1.
    pub acknowledges: bool,
    /// Whether it retains messages.
    pub retains: bool,
}

impl Default for BrokerLimits {
    fn default() -> Self {
        Self {
            keep_alive: None,
            receive_maximum: u16::MAX,
            max_packet_bytes: u32::MAX,
            acknowledges: true,
            retains: true,
        }
    }
}

/// The beginning of the bytes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// More bytes are needed.
    Incomplete,
    /// A packet, and its length.
    Packet(Packet<'a>, usize),
    /// A message beyond the limit: its topic, its identifier, and its length.
    TooLong(&'a str, Option<u16>, usize),
}

/// Decodes the first packet of a stream.
///
/// # Errors
/// If the bytes are no packet.
pub fn decode(bytes: &[u8], version: ProtocolVersion) -> Result<Decoded<'_>, BadPacket> {
    let Some((&first, rest)) = bytes.split_first() else { return Ok(Decoded::Incomplete) };
    let kind = first >> 4;
    let Some((length, rest)) = remaining_length(rest)? else { return Ok(Decoded::Incomplete) };
    let total = bytes.len() - rest.len() + length;
    if total > MAX_PACKET_BYTES {
        if kind != 3 {
            return Err(BadPacket::TooLong(kind));
        }
        if bytes.len() < MAX_HEAD_BYTES.min(total) {
            return Ok(Decoded::Incomplete);
        }
        let mut fields = FieldReader { rest, kind };
        let topic = fields.text()?;
        let id = if first & 0b110 == 0 { None } else { Some(fields.number()?) };
        return Ok(Decoded::TooLong(topic, id, total));
    }
    let Some(body) = rest.get(..length) else { return Ok(Decoded::Incomplete) };
    let mut fields = FieldReader { rest: body, kind };
    Ok(Decoded::Packet(fields.packet(first & 0x0f, version)?, total))
}

/// Takes the length of the rest of a packet; `None` if it is incomplete.
fn remaining_length(bytes: &[u8]) -> Result<Option<(usize, &[u8])>, BadPacket> {
    let mut length = 0;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(bytes.get(at + 1..).map(|rest| (length, rest)));
        }
    }
    if bytes.len() < 4 { Ok(None) } else { Err(BadPacket::Length) }
}

/// The value of a property.
enum Property<'a> {
    Number(u32),
    /// Bytes, a text, or the value of a pair.
    Bytes(&'a [u8]),
}

/// The fields of a packet.
struct FieldReader<'a> {
    rest: &'a [u8],
    kind: u8,
}

impl<'a> FieldReader<'a> {
    fn packet(&mut self, flags: u8, version: ProtocolVersion) -> Result<Packet<'a>, BadPacket> {
        Ok(match self.kind {
            2 => {
                let (flags, code) = (self.byte()?, self.byte()?);
                let limits = match version {
                    ProtocolVersion::V5 => self.limits()?,
                    ProtocolVersion::V3 => BrokerLimits::default(),
                };
                Packet::ConnAck { session_present: flags & 1 == 1, code, limits }
            }
            3 => Packet::Publish(self.publish(flags, version)?),
            4 => Packet::PubAck { id: self.number()?, code: self.rest.first().copied().unwrap_or(0) },
            9 => {
                self.number()?;
                if version == ProtocolVersion::V5 {
                    self.properties()?;
                }
                Packet::SubAck(self.rest)
            }
            13 => Packet::PingResp,
            14 if version == ProtocolVersion::V5 => {
                Packet::Disconnect(self.rest.first().copied().unwrap_or(0))
            }
            other => return Err(BadPacket::Type(other)),
        })
    }

    fn publish(&mut self, flags: u8, version: ProtocolVersion) -> Result<Publish<'a>, BadPacket> {
        let topic = self.text()?;
        // The subscriptions ask for quality of service 1, so that a message with 2 is an error.
        let id = match flags >> 1 & 3 {
            0 => None,
            1 => Some(self.number()?),
            _ => return Err(self.damaged()),
        };
        let (mut response_topic, mut correlation) = (None, None);
        if version == ProtocolVersion::V5 {
            let mut properties = FieldReader { rest: self.properties()?, kind: self.kind };
            while let Some(property) = properties.property()? {
                match property {
                    (0x08, Property::Bytes(topic)) => {
                        response_topic = Some(str::from_utf8(topic).map_err(|_| self.damaged())?);
                    }
                    (0x09, Property::Bytes(bytes)) => correlation = Some(bytes),
                    _ => {}
                }
            }
        }
        let (is_repeated, is_retained) = (flags & 8 != 0, flags & 1 != 0);
        // Aliases are not offered, so that each message has its topic.
        if topic.is_empty() || topic.contains(['+', '#']) || id == Some(0) {
            return Err(self.damaged());
        }
        let payload = self.rest;
        Ok(Publish { topic, payload, id, is_repeated, is_retained, response_topic, correlation })
    }

    fn limits(&mut self) -> Result<BrokerLimits, BadPacket> {
        let mut properties = FieldReader { rest: self.properties()?, kind: self.kind };
        let mut limits = BrokerLimits::default();
        while let Some(property) = properties.property()? {
            match property {
                (0x13, Property::Number(seconds)) => limits.keep_alive = u16::try_from(seconds).ok(),
                (0x21, Property::Number(count)) => {
                    limits.receive_maximum = u16::try_from(count).unwrap_or(u16::MAX);
                }
                (0x24, Property::Number(quality)) => limits.acknowledges = quality > 0,
                (0x25, Property::Number(flag)) => limits.retains = flag > 0,
                (0x27, Property::Number(bytes)) => limits.max_packet_bytes = bytes,
                _ => {}
            }
        }
        Ok(limits)
    }

    /// Takes the next property (MQTT 5, 2.2.2.2); `None` at the end.
    fn property(&mut self) -> Result<Option<(u8, Property<'a>)>, BadPacket> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let identifier = self.byte()?;
        let value = match identifier {
            0x01 | 0x17 | 0x19 | 0x24 | 0x25 | 0x28 | 0x29 | 0x2a => Property::Number(self.byte()?.into()),
            0x13 | 0x21..=0x23 => Property::Number(self.number()?.into()),
            0x02 | 0x11 | 0x18 | 0x27 => {
                let bytes = self.take(4)?.try_into().map_err(|_| self.damaged())?;
                Property::Number(u32::from_be_bytes(bytes))
            }
            0x03 | 0x08 | 0x09 | 0x12 | 0x15 | 0x16 | 0x1a | 0x1c | 0x1f => Property::Bytes(self.bytes()?),
            0x0b => {
                let (number, rest) = remaining_length(self.rest)?.ok_or(self.damaged())?;
                self.rest = rest;
                Property::Number(number as u32)
            }
            0x26 => {
                self.bytes()?;
                Property::Bytes(self.bytes()?)
            }
            _ => return Err(self.damaged()),
        };
        Ok(Some((identifier, value)))
    }

    fn properties(&mut self) -> Result<&'a [u8], BadPacket> {
        let (length, rest) = remaining_length(self.rest)?.ok_or(self.damaged())?;
        self.rest = rest;
        self.take(length)
    }

    fn byte(&mut self) -> Result<u8, BadPacket> {
        self.take(1)?.first().copied().ok_or(self.damaged())
    }

    fn number(&mut self) -> Result<u16, BadPacket> {
        let bytes = self.take(2)?.try_into().map_err(|_| self.damaged())?;
        Ok(u16::from_be_bytes(bytes))
    }

    fn text(&mut self) -> Result<&'a str, BadPacket> {
        str::from_utf8(self.bytes()?).map_err(|_| self.damaged())
    }

    fn bytes(&mut self) -> Result<&'a [u8], BadPacket> {
        let length = self.number()?;
        self.take(length.into())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BadPacket> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(self.damaged())?;
        self.rest = rest;
        Ok(taken)
    }

    fn damaged(&self) -> BadPacket {
        BadPacket::Damaged(self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{push_packet, push_text};
    use proptest::prelude::*;

    const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V3, ProtocolVersion::V5];

    fn message(version: ProtocolVersion, topic: &str, payload: &[u8]) -> Vec<u8> {
        let (mut body, mut packet) = (Vec::new(), Vec::new());
        push_text(topic, &mut body);
        body.extend([0, 7]);
        if version == ProtocolVersion::V5 {
            // A user property.
            body.extend([7, 0x26, 0, 1, b'a', 0, 1, b'b']);
        }
        body.extend(payload);
        push_packet(0x32 | 8, &body, &mut packet);
        packet
    }

    #[test]
    fn a_message_has_topic_bytes_and_flags() {
        for version in VERSIONS {
            let packet = message(version, "plant/a", b"21.5");
            let publish = Publish {
                topic: "plant/a",
                payload: b"21.5",
                id: Some(7),
                is_repeated: true,
                is_retained: false,
                response_topic: None,
                correlation: None,
            };
            let expected = Decoded::Packet(Packet::Publish(publish), packet.len());
            assert_eq!(decode(&packet, version), Ok(expected));
            for end in 0..packet.len() {
                assert_eq!(decode(&packet[..end], version), Ok(Decoded::Incomplete));
            }
        }
    }

    #[test]
    fn a_message_beyond_the_limit_has_an_identifier_so_that_it_can_be_skipped() {
        for version in VERSIONS {
            let packet = message(version, "plant/a", &vec![0; MAX_PACKET_BYTES]);
            let total = packet.len();
            assert_eq!(decode(&packet[..100], version), Ok(Decoded::Incomplete));
            assert_eq!(decode(&packet[..70_000], version), Ok(Decoded::TooLong("plant/a", Some(7), total)));
        }
    }

    #[test]
    fn the_answer_to_a_connection_says_whether_there_is_a_session() {
        let first = decode(&[0x20, 2, 1, 0], ProtocolVersion::V3);
        let ack = Packet::ConnAck { session_present: true, code: 0, limits: BrokerLimits::default() };
        assert_eq!(first, Ok(Decoded::Packet(ack, 4)));
        let second = decode(&[0x20, 8, 0, 0x87, 5, 0x24, 1, 0x13, 0, 20], ProtocolVersion::V5);
        let limits = BrokerLimits { keep_alive: Some(20), ..BrokerLimits::default() };
        let ack = Packet::ConnAck { session_present: false, code: 0x87, limits };
        assert_eq!(second, Ok(Decoded::Packet(ack, 10)));
        assert_eq!(decode(&[0x20, 1, 1], ProtocolVersion::V3), Err(BadPacket::Damaged(2)));
        assert_eq!(decode(&[0x30, 0x80, 0x80, 0x80, 0x80], ProtocolVersion::V3), Err(BadPacket::Length));
        assert_eq!(decode(&[0x10, 0], ProtocolVersion::V3), Err(BadPacket::Type(1)));
    }

    #[test]
    fn limits_of_a_broker_and_the_wish_for_an_answer_are_read() {
        let ack = [0x20, 15, 0, 0, 12, 0x21, 0, 20, 0x24, 0, 0x25, 0, 0x27, 0, 1, 0, 0, 0];
        let Ok(Decoded::Packet(Packet::ConnAck { limits, .. }, 17)) = decode(&ack, ProtocolVersion::V5)
        else {
            panic!("{:?}", decode(&ack, ProtocolVersion::V5));
        };
        let expected = BrokerLimits {
            keep_alive: None,
            receive_maximum: 20,
            max_packet_bytes: 65_536,
            acknowledges: false,
            retains: false,
        };
        assert_eq!(limits, expected);
        let wish = [0x30, 14, 0, 1, b'a', 9, 0x08, 0, 1, b'r', 0x09, 0, 2, 7, 8, b'x'];
        let Ok(Decoded::Packet(Packet::Publish(publish), 16)) = decode(&wish, ProtocolVersion::V5) else {
            panic!("{:?}", decode(&wish, ProtocolVersion::V5));
        };
        assert_eq!((publish.response_topic, publish.correlation), (Some("r"), Some(&[7, 8][..])));
    }

    proptest! {
        #[test]
        fn any_bytes_are_packets_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            for version in VERSIONS {
                if let Ok(Decoded::Packet(_, length)) = decode(&bytes, version) {
                    prop_assert!(length <= bytes.len());
                }
            }
        }

        #[test]
        fn any_message_comes_back(topic in "[a-z/ ]{1,40}", payload in proptest::collection::vec(any::<u8>(), 0..300)) {
            for version in VERSIONS {
                let packet = message(version, &topic, &payload);
                let Ok(Decoded::Packet(Packet::Publish(found), _)) = decode(&packet, version) else {
                    return Err(TestCaseError::fail("a message"));
                };
                prop_assert_eq!((found.topic, found.payload), (&*topic, &*payload));
            }
        }
    }
}
