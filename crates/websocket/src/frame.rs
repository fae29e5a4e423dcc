//! Frames (RFC 6455 5.2): the header before a payload, read and written.

use crate::{Error, Limits, mask};

/// Longest payload of a control frame (RFC 6455 5.5).
pub(crate) const MAX_CONTROL: usize = 125;
/// Longest header: two bytes, a length of eight and a mask of four.
const LONGEST_HEADER: usize = 14;

/// The kind of a frame (RFC 6455 11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// Another fragment of the message before it.
    Continuation = 0,
    /// UTF-8.
    Text = 1,
    /// Bytes.
    Binary = 2,
    /// The last frame of a connection.
    Close = 8,
    /// Asks for a pong.
    Ping = 9,
    /// Answers a ping.
    Pong = 10,
}

impl Opcode {
    fn parse(code: u8) -> Result<Self, Error> {
        Ok(match code {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(Error::ReservedOpcode),
        })
    }

    /// Whether it is a close, ping or pong.
    pub fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The side of a connection that reads: servers require masks, clients refuse them (RFC 6455 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Reads what clients send.
    #[default]
    Server,
    /// Reads what servers send.
    Client,
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Whether its message ends with this frame.
    pub is_final: bool,
    /// The kind of frame.
    pub opcode: Opcode,
    /// Key of the mask over the payload, in frames of clients.
    pub mask: Option<[u8; 4]>,
    /// Bytes of the header itself.
    pub size: usize,
    /// Bytes of the payload.
    pub payload: usize,
}

impl Header {
    /// Parses the header that `bytes` begin with; none while it is incomplete.
    ///
    /// # Errors
    /// If the frame breaks a rule, or its payload is over the limit: before any of the payload has arrived.
    pub fn parse(bytes: &[u8], role: Role, limits: Limits) -> Result<Option<Self>, Error> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(Error::ReservedBits);
        }
        let is_masked = second & 0x80 != 0;
        match role {
            Role::Server if !is_masked => return Err(Error::NoMask),
            Role::Client if is_masked => return Err(Error::Mask),
            _ => {}
        }
        let opcode = Opcode::parse(first & 0x0f)?;
        let is_final = first & 0x80 != 0;
        let Some((extended, length)) = length(second & 0x7f, rest)? else { return Ok(None) };
        if opcode.is_control() && (length > MAX_CONTROL as u64 || !is_final) {
            return Err(Error::Control);
        }
        let payload = usize::try_from(length).ok().filter(|&payload| payload <= limits.frame);
        let payload = payload.ok_or(Error::FrameTooLong(limits.frame))?;
        let size = 2 + extended;
        if !is_masked {
            return Ok(Some(Self { is_final, opcode, mask: None, size, payload }));
        }
        let mask = rest.get(extended..).and_then(|rest| rest.first_chunk());
        Ok(mask.map(|&mask| Self { is_final, opcode, mask: Some(mask), size: size + 4, payload }))
    }
}

/// Returns how many bytes the length takes after the second byte, and the length.
fn length(short: u8, rest: &[u8]) -> Result<Option<(usize, u64)>, Error> {
    let (extended, length, least) = match short {
        126 => (2, rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 126),
        127 => (8, rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)), 1 << 16),
        short => (0, Some(u64::from(short)), 0),
    };
    match length {
        Some(length) if length < least => Err(Error::LongLength),
        length => Ok(length.map(|length| (extended, length))),
    }
}

/// Appends the header of a frame.
pub fn write_header(
    opcode: Opcode,
    is_final: bool,
    mask: Option<[u8; 4]>,
    payload: usize,
    out: &mut Vec<u8>,
) {
    out.reserve(LONGEST_HEADER + payload);
    out.push(if is_final { 0x80 } else { 0 } | opcode as u8);
    let masked = if mask.is_some() { 0x80 } else { 0 };
    match payload {
        length @ 0..=125 => out.push(masked | length as u8),
        length @ 126..=0xffff => {
            out.push(masked | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(masked | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.as_ref().map_or(&[], |mask| mask));
}

/// Appends a server's message in one frame.
pub fn write_message(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    write_header(opcode, true, None, payload.len(), out);
    out.extend_from_slice(payload);
}

/// Appends a client's message in one frame. The mask must be unpredictable for the author of the payload (RFC 6455 10.3).
pub fn write_masked(opcode: Opcode, payload: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    write_header(opcode, true, Some(key), payload.len(), out);
    let start = out.len();
    out.extend_from_slice(payload);
    mask::apply(out.get_mut(start..).unwrap_or_default(), key);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

    /// The masked "Hello" of RFC 6455 5.7.
    const HELLO: [u8; 11] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];

    fn header(bytes: &[u8], most: usize) -> Result<Option<Header>, Error> {
        Header::parse(bytes, Role::Server, Limits::of_messages(most))
    }

    #[test]
    fn the_example_of_the_rfc_is_read_and_written() {
        let read = header(&HELLO, 100).unwrap().unwrap();
        let expected = Header { is_final: true, opcode: Opcode::Text, mask: Some(MASK), size: 6, payload: 5 };
        assert_eq!(read, expected);
        let mut out = Vec::new();
        write_masked(Opcode::Text, b"Hello", MASK, &mut out);
        assert_eq!(out, HELLO);
    }

    #[test]
    fn a_header_cut_anywhere_waits_for_the_rest() {
        let mut long = vec![0x82, 0xff];
        long.extend_from_slice(&70_000_u64.to_be_bytes());
        long.extend_from_slice(&MASK);
        for bytes in [&HELLO[..6], &long] {
            for length in 0..bytes.len() {
                assert_eq!(header(&bytes[..length], 1 << 20), Ok(None), "{length}");
            }
            assert!(header(bytes, 1 << 20).unwrap().is_some());
        }
    }

    #[test]
    fn a_frame_that_breaks_a_rule_is_refused_before_its_payload() {
        let refused = |bytes: &[u8]| header(bytes, 1_000).unwrap_err();
        assert_eq!(refused(&[0x81, 0x05]), Error::NoMask);
        assert_eq!(refused(&[0xc1, 0x85]), Error::ReservedBits);
        assert_eq!(refused(&[0x83, 0x85]), Error::ReservedOpcode);
        assert_eq!(refused(&[0x09, 0x85]), Error::Control);
        assert_eq!(refused(&[0x89, 0xfe, 0x00, 0x7e]), Error::Control);
        assert_eq!(refused(&[0x82, 0xfe, 0x00, 0x7d]), Error::LongLength);
        assert_eq!(refused(&[0x82, 0xfe, 0x03, 0xe9]), Error::FrameTooLong(1_000));
        let masked = Header::parse(&HELLO, Role::Client, Limits::default());
        assert_eq!(masked.unwrap_err(), Error::Mask);
    }

    #[test]
    fn lengths_take_as_few_bytes_as_possible() {
        for (length, header) in [
            (0, &[0x82, 0][..]),
            (125, &[0x82, 125]),
            (126, &[0x82, 126, 0, 126]),
            (65_536, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] {
            let mut out = Vec::new();
            write_message(Opcode::Binary, &vec![7; length], &mut out);
            assert_eq!((&out[..header.len()], out.len()), (header, header.len() + length));
        }
    }
}
