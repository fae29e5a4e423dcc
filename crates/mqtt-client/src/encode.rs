//! Control packets of a client (MQTT 3.1.1 and 5, 3): meaning to bytes.

use crate::ProtocolVersion;

/// Time for which a broker keeps a session without a connection (MQTT 5), in seconds: a week.
const SESSION_EXPIRY_SECONDS: u32 = 7 * 24 * 3_600;
/// Most messages that a broker sends before they are acknowledged (MQTT 5).
const RECEIVE_MAXIMUM: u16 = 1_000;

/// The packet identifier of SUBSCRIBE, which no message has.
pub const SUBSCRIBE_ID: u16 = 1;

/// The means of a client to sign in.
#[derive(Debug)]
pub struct Login<'a> {
    /// The name of the client.
    pub client_id: &'a str,
    /// The user.
    pub user: Option<&'a str>,
    /// The password of the user.
    pub password: Option<&'a str>,
    /// Seconds.
    pub keep_alive: u16,
    /// The message that the broker publishes once the connection has ended without a farewell.
    pub will: Option<&'a Will>,
}

/// A message that the broker publishes for a client that is gone, with quality of service 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Will {
    /// Its topic.
    pub topic: String,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRequest {
    /// The topics.
    pub filter: String,
    /// Whether retained messages are sent for a new one.
    pub takes_retained: bool,
}

/// A message of the client.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingMessage<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its bytes.
    pub payload: &'a [u8],
    /// Whether the broker acknowledges it: quality of service 1.
    pub is_acknowledged: bool,
    /// Whether the broker keeps it for later subscribers.
    pub is_retained: bool,
    /// Bytes of the request that it answers (MQTT 5).
    pub correlation: Option<&'a [u8]>,
}

/// Encodes CONNECT (3.1). Without `is_clean`, the broker keeps the session.
pub fn connect(login: &Login<'_>, version: ProtocolVersion, is_clean: bool, to: &mut Vec<u8>) {
    let is_5 = version == ProtocolVersion::V5;
    let mut body = Vec::new();
    push_text("MQTT", &mut body);
    let flags = [
        (login.user.is_some(), 0x80),
        (login.password.is_some(), 0x40),
        // The will has quality of service 1.
        (login.will.is_some(), 0x0c),
        (is_clean, 0x02),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag);
    body.extend([if is_5 { 5 } else { 4 }, flags]);
    body.extend(login.keep_alive.to_be_bytes());
    if is_5 {
        let mut properties = vec![0x21];
        properties.extend(RECEIVE_MAXIMUM.to_be_bytes());
        if !is_clean {
            properties.push(0x11);
            properties.extend(SESSION_EXPIRY_SECONDS.to_be_bytes());
        }
        push_properties(&properties, &mut body);
    }
    push_text(login.client_id, &mut body);
    if let Some(will) = login.will {
        if is_5 {
            push_properties(&[], &mut body);
        }
        push_text(&will.topic, &mut body);
        push_bytes(&will.payload, &mut body);
    }
    for text in [login.user, login.password].into_iter().flatten() {
        push_text(text, &mut body);
    }
    push_packet(0x10, &body, to);
}

/// Encodes SUBSCRIBE (3.8) with quality of service 1.
pub fn subscribe(wanted: &[TopicRequest], version: ProtocolVersion, to: &mut Vec<u8>) {
    let mut body = SUBSCRIBE_ID.to_be_bytes().to_vec();
    if version == ProtocolVersion::V5 {
        push_properties(&[], &mut body);
    }
    for one in wanted {
        push_text(&one.filter, &mut body);
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

/// Encodes PUBLISH (3.3); with an identifier, its quality of service is 1.
pub fn publish(message: &OutgoingMessage<'_>, id: Option<u16>, version: ProtocolVersion, to: &mut Vec<u8>) {
    let mut body = Vec::with_capacity(message.topic.len() + message.payload.len() + 8);
    push_text(message.topic, &mut body);
    body.extend(id.iter().flat_map(|id| id.to_be_bytes()));
    if version == ProtocolVersion::V5 {
        let mut properties = Vec::new();
        if let Some(correlation) = message.correlation {
            properties.push(0x09);
            push_bytes(correlation, &mut properties);
        }
        push_properties(&properties, &mut body);
    }
    body.extend(message.payload);
    let quality = if id.is_some() { 0x02 } else { 0 };
    push_packet(0x30 | quality | u8::from(message.is_retained), &body, to);
}

/// Encodes PINGREQ (3.12).
pub fn ping(to: &mut Vec<u8>) {
    push_packet(0xc0, &[], to);
}

/// Encodes DISCONNECT (3.14), after which the broker publishes no will.
pub fn disconnect(to: &mut Vec<u8>) {
    push_packet(0xe0, &[], to);
}

pub(crate) fn push_packet(first: u8, body: &[u8], to: &mut Vec<u8>) {
    to.push(first);
    push_varint(body.len() as u64, to);
    to.extend(body);
}

/// Appends a number in groups of 7 bits, the lowest first: the lengths of MQTT (1.5.5), and the numbers of Protocol Buffers.
pub(crate) fn push_varint(mut value: u64, to: &mut Vec<u8>) {
    while value > 0x7f {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn push_properties(properties: &[u8], to: &mut Vec<u8>) {
    push_varint(properties.len() as u64, to);
    to.extend(properties);
}

pub(crate) fn push_text(text: &str, to: &mut Vec<u8>) {
    push_bytes(text.as_bytes(), to);
}

/// Adds at most 65,535 bytes; settings and topics are shorter.
fn push_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    let bytes = bytes.get(..u16::MAX.into()).unwrap_or(bytes);
    to.extend((bytes.len() as u16).to_be_bytes());
    to.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Decoded, Packet, Publish, decode};

    const LOGIN: Login<'_> =
        Login { client_id: "a", user: Some("u"), password: Some("p"), keep_alive: 30, will: None };

    #[test]
    fn packets_of_the_client_have_the_bytes_of_the_specification() {
        let mut bytes = Vec::new();
        connect(&LOGIN, ProtocolVersion::V3, false, &mut bytes);
        assert_eq!(bytes, b"\x10\x13\0\x04MQTT\x04\xc0\0\x1e\0\x01a\0\x01u\0\x01p");
        bytes.clear();
        let wanted = [TopicRequest { filter: "a/#".into(), takes_retained: false }];
        subscribe(&wanted, ProtocolVersion::V5, &mut bytes);
        assert_eq!(bytes, b"\x82\x09\0\x01\0\0\x03a/#\x21");
        bytes.clear();
        acknowledge(258, &mut bytes);
        ping(&mut bytes);
        disconnect(&mut bytes);
        assert_eq!(bytes, b"\x40\x02\x01\x02\xc0\0\xe0\0");
    }

    #[test]
    fn a_will_stands_between_the_name_and_the_user() {
        let will = Will { topic: "w".into(), payload: vec![7] };
        let login = Login { will: Some(&will), user: None, password: None, ..LOGIN };
        let mut bytes = Vec::new();
        connect(&login, ProtocolVersion::V5, true, &mut bytes);
        assert_eq!(bytes, b"\x10\x18\0\x04MQTT\x05\x0e\0\x1e\x03\x21\x03\xe8\0\x01a\0\0\x01w\0\x01\x07");
    }

    #[test]
    fn a_message_of_the_client_can_be_read() {
        for version in [ProtocolVersion::V3, ProtocolVersion::V5] {
            for id in [None, Some(9)] {
                let correlation = (version == ProtocolVersion::V5).then_some(&[1, 2][..]);
                let message = OutgoingMessage {
                    topic: "a/b",
                    payload: b"1",
                    is_acknowledged: id.is_some(),
                    is_retained: true,
                    correlation,
                };
                let mut bytes = Vec::new();
                publish(&message, id, version, &mut bytes);
                let (is_repeated, is_retained, response_topic) = (false, true, None);
                let (topic, payload) = ("a/b", &b"1"[..]);
                let expected =
                    Publish { topic, payload, id, is_repeated, is_retained, response_topic, correlation };
                let expected = Decoded::Packet(Packet::Publish(expected), bytes.len());
                assert_eq!(decode(&bytes, version), Ok(expected));
            }
        }
    }
}
