//! Control packets (MQTT 3.1.1 and 5, 2 and 3): bytes to meaning and back.

use crate::config::ProtocolVersion;

/// Longest packet that is read, in bytes; longer messages are skipped.
pub const MAX_PACKET_BYTES: usize = 1024 * 1024;
/// Bytes that the head of a message can take: type, length, topic, packet identifier.
const MAX_HEAD_BYTES: usize = 5 + 2 + u16::MAX as usize + 2;
/// Time for which a broker keeps a session without a connection (MQTT 5), in seconds: a week.
const SESSION_EXPIRY_SECONDS: u32 = 7 * 24 * 3_600;
/// Most messages that a broker sends before they are acknowledged (MQTT 5).
const RECEIVE_MAXIMUM: u16 = 1_000;

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
        /// The keep-alive interval that the broker demands, in seconds.
        keep_alive: Option<u16>,
    },
    /// A message.
    Publish(Publish<'a>),
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
}

/// The beginning of the bytes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// More bytes are needed.
    Incomplete,
    /// A packet, and its length.
    Packet(Packet<'a>, usize),
    /// A message beyond the limit: its identifier, and its length.
    TooLong(Option<u16>, usize),
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
        fields.text()?;
        let id = if first & 0b110 == 0 { None } else { Some(fields.number()?) };
        return Ok(Decoded::TooLong(id, total));
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
                let keep_alive = if version == ProtocolVersion::V5 { self.keep_alive()? } else { None };
                Packet::ConnAck { session_present: flags & 1 == 1, code, keep_alive }
            }
            3 => Packet::Publish(self.publish(flags, version)?),
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
        if version == ProtocolVersion::V5 {
            self.properties()?;
        }
        let (is_repeated, is_retained) = (flags & 8 != 0, flags & 1 != 0);
        // Aliases are not offered, so that each message has its topic.
        if topic.is_empty() || topic.contains(['+', '#']) || id == Some(0) {
            return Err(self.damaged());
        }
        Ok(Publish { topic, payload: self.rest, id, is_repeated, is_retained })
    }

    /// The property Server Keep Alive (MQTT 5, 3.2.2.3.14), the only one that the source needs.
    fn keep_alive(&mut self) -> Result<Option<u16>, BadPacket> {
        let mut properties = FieldReader { rest: self.properties()?, kind: self.kind };
        while let Some(identifier) = properties.rest.first().copied() {
            properties.rest = properties.rest.get(1..).unwrap_or_default();
            match identifier {
                0x13 => return properties.number().map(Some),
                0x24 | 0x25 | 0x28 | 0x29 | 0x2a => properties.skip(1)?,
                0x21 | 0x22 => properties.skip(2)?,
                0x11 | 0x27 => properties.skip(4)?,
                0x12 | 0x15 | 0x16 | 0x1a | 0x1c | 0x1f => properties.skip_bytes()?,
                0x26 => {
                    properties.skip_bytes()?;
                    properties.skip_bytes()?;
                }
                _ => return Err(self.damaged()),
            }
        }
        Ok(None)
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
        let length = self.number()?;
        str::from_utf8(self.take(length.into())?).map_err(|_| self.damaged())
    }

    fn skip_bytes(&mut self) -> Result<(), BadPacket> {
        let length = self.number()?;
        self.skip(length.into())
    }

    fn skip(&mut self, count: usize) -> Result<(), BadPacket> {
        self.take(count).map(drop)
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

/// The means of a client to sign in.
pub struct Login<'a> {
    pub client_id: &'a str,
    pub user: Option<&'a str>,
    pub password: Option<&'a str>,
    /// Seconds.
    pub keep_alive: u16,
}

/// A subscription, and whether retained messages are sent for a new one.
pub struct TopicRequest<'a> {
    pub filter: &'a str,
    pub takes_retained: bool,
}

/// Encodes CONNECT (3.1) for a session that the broker keeps.
pub fn connect(login: &Login<'_>, version: ProtocolVersion, to: &mut Vec<u8>) {
    let mut body = Vec::new();
    push_text("MQTT", &mut body);
    let level = if version == ProtocolVersion::V5 { 5 } else { 4 };
    let user = if login.user.is_some() { 0x80 } else { 0 };
    let password = if login.password.is_some() { 0x40 } else { 0 };
    body.extend([level, user | password]);
    body.extend(login.keep_alive.to_be_bytes());
    if version == ProtocolVersion::V5 {
        body.push(8);
        body.push(0x11);
        body.extend(SESSION_EXPIRY_SECONDS.to_be_bytes());
        body.push(0x21);
        body.extend(RECEIVE_MAXIMUM.to_be_bytes());
    }
    push_text(login.client_id, &mut body);
    for text in [login.user, login.password].into_iter().flatten() {
        push_text(text, &mut body);
    }
    push_packet(0x10, &body, to);
}

/// Encodes SUBSCRIBE (3.8) with quality of service 1.
pub fn subscribe(wanted: &[TopicRequest<'_>], version: ProtocolVersion, to: &mut Vec<u8>) {
    // The only packet with an identifier of its own.
    let mut body = vec![0, 1];
    if version == ProtocolVersion::V5 {
        body.push(0);
    }
    for one in wanted {
        push_text(one.filter, &mut body);
        // Retain handling (MQTT 5, 3.8.3.1): 1 sends them if the subscription is new, 2 never.
        let retain_handling = match version {
            ProtocolVersion::V5 if one.takes_retained => 1 << 4,
            ProtocolVersion::V5 => 2 << 4,
            ProtocolVersion::V3 => 0,
        };
        body.push(1 | retain_handling);
    }
    push_packet(0x82, &body, to);
}

/// Encodes PUBACK (3.4): the message is stored.
pub fn acknowledge(id: u16, to: &mut Vec<u8>) {
    push_packet(0x40, &id.to_be_bytes(), to);
}

/// Encodes PUBLISH (3.3) with quality of service 0.
pub fn publish(topic: &str, payload: &[u8], version: ProtocolVersion, to: &mut Vec<u8>) {
    let mut body = Vec::new();
    push_text(topic, &mut body);
    if version == ProtocolVersion::V5 {
        body.push(0);
    }
    body.extend(payload);
    push_packet(0x30, &body, to);
}

/// Encodes PINGREQ (3.12).
pub fn ping(to: &mut Vec<u8>) {
    push_packet(0xc0, &[], to);
}

/// Encodes DISCONNECT (3.14).
pub fn disconnect(to: &mut Vec<u8>) {
    push_packet(0xe0, &[], to);
}

fn push_packet(first: u8, body: &[u8], to: &mut Vec<u8>) {
    to.push(first);
    let mut length = body.len();
    while length > 0x7f {
        to.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    to.push(length as u8);
    to.extend(body);
}

/// Adds a text of at most 65,535 bytes; the settings have shorter ones.
fn push_text(text: &str, to: &mut Vec<u8>) {
    let bytes = text.as_bytes().get(..u16::MAX.into()).unwrap_or(text.as_bytes());
    to.extend((bytes.len() as u16).to_be_bytes());
    to.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
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
            assert_eq!(decode(&packet[..70_000], version), Ok(Decoded::TooLong(Some(7), total)));
        }
    }

    #[test]
    fn the_answer_to_a_connection_says_whether_there_is_a_session() {
        let first = decode(&[0x20, 2, 1, 0], ProtocolVersion::V3);
        let ack = Packet::ConnAck { session_present: true, code: 0, keep_alive: None };
        assert_eq!(first, Ok(Decoded::Packet(ack, 4)));
        let second = decode(&[0x20, 8, 0, 0x87, 5, 0x24, 1, 0x13, 0, 20], ProtocolVersion::V5);
        let ack = Packet::ConnAck { session_present: false, code: 0x87, keep_alive: Some(20) };
        assert_eq!(second, Ok(Decoded::Packet(ack, 10)));
        assert_eq!(decode(&[0x20, 1, 1], ProtocolVersion::V3), Err(BadPacket::Damaged(2)));
        assert_eq!(decode(&[0x30, 0x80, 0x80, 0x80, 0x80], ProtocolVersion::V3), Err(BadPacket::Length));
        assert_eq!(decode(&[0x10, 0], ProtocolVersion::V3), Err(BadPacket::Type(1)));
    }

    #[test]
    fn packets_of_the_client_have_the_bytes_of_the_specification() {
        let mut bytes = Vec::new();
        let login = Login { client_id: "a", user: Some("u"), password: Some("p"), keep_alive: 30 };
        connect(&login, ProtocolVersion::V3, &mut bytes);
        assert_eq!(bytes, b"\x10\x13\0\x04MQTT\x04\xc0\0\x1e\0\x01a\0\x01u\0\x01p");
        bytes.clear();
        let wanted = [TopicRequest { filter: "a/#", takes_retained: false }];
        subscribe(&wanted, ProtocolVersion::V5, &mut bytes);
        assert_eq!(bytes, b"\x82\x09\0\x01\0\0\x03a/#\x21");
        bytes.clear();
        acknowledge(258, &mut bytes);
        ping(&mut bytes);
        disconnect(&mut bytes);
        assert_eq!(bytes, b"\x40\x02\x01\x02\xc0\0\xe0\0");
    }

    #[test]
    fn a_message_of_the_client_can_be_read() {
        for version in VERSIONS {
            let mut bytes = Vec::new();
            publish("a/b", b"1", version, &mut bytes);
            let (id, is_repeated, is_retained) = (None, false, false);
            let expected = Publish { topic: "a/b", payload: b"1", id, is_repeated, is_retained };
            let expected = Decoded::Packet(Packet::Publish(expected), bytes.len());
            assert_eq!(decode(&bytes, version), Ok(expected));
        }
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
