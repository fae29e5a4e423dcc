//! Frames of RFC 6455: what stands before a payload, and the mask over what clients send.

use super::end::End;

/// Longest payload of a control frame.
const MAX_CONTROL: u64 = 125;
/// Longest head that a server writes.
const LONGEST_HEAD: usize = 10;

/// What a frame is (section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn read(code: u8) -> Result<Self, End> {
        Ok(match code {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(End::Protocol("a frame with a reserved opcode")),
        })
    }

    fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// What stands before a client's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Whether its message ends with it.
    pub is_last: bool,
    /// What it is.
    pub opcode: Opcode,
    /// Over the payload.
    pub mask: [u8; 4],
    /// Bytes of the head itself.
    pub size: usize,
    /// Bytes of the payload.
    pub payload: usize,
}

/// The head that `bytes` begin with; none while it is not all there. A payload over `max` is refused before it comes.
pub fn head(bytes: &[u8], max: usize) -> Result<Option<Head>, End> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err(End::Protocol("reserved bits without an extension"));
    }
    if second & 0x80 == 0 {
        return Err(End::Protocol("a frame without a mask"));
    }
    let opcode = Opcode::read(first & 0x0f)?;
    let is_last = first & 0x80 != 0;
    let Some((extended, length)) = length(second & 0x7f, rest)? else { return Ok(None) };
    if opcode.is_control() && (length > MAX_CONTROL || !is_last) {
        return Err(End::Protocol("a control frame in pieces or over 125 bytes"));
    }
    let payload = usize::try_from(length).ok().filter(|&payload| payload <= max).ok_or(End::TooBig)?;
    let mask = rest.get(extended..).and_then(|rest| rest.first_chunk());
    Ok(mask.map(|&mask| Head { is_last, opcode, mask, size: 2 + extended + 4, payload }))
}

/// Bytes that the length takes behind the second one, and the length.
fn length(short: u8, rest: &[u8]) -> Result<Option<(usize, u64)>, End> {
    let (extended, length, least) = match short {
        126 => (2, rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 126),
        127 => (8, rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)), 1 << 16),
        short => (0, Some(u64::from(short)), 0),
    };
    match length {
        Some(length) if length < least => Err(End::Protocol("a length in more bytes than it needs")),
        length => Ok(length.map(|length| (extended, length))),
    }
}

/// Takes the mask off, or puts it on.
pub fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([mask, mask].concat().try_into().unwrap_or_default());
    let (words, rest) = payload.as_chunks_mut::<8>();
    words.iter_mut().for_each(|word| *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes());
    rest.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
}

/// Appends a whole message in one frame, as servers send it.
pub fn put(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    out.reserve(LONGEST_HEAD + payload.len());
    out.push(0x80 | opcode as u8);
    match payload.len() {
        length @ 0..=125 => out.push(length as u8),
        length @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

    /// The masked "Hello" of RFC 6455 section 5.7.
    const HELLO: [u8; 11] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];

    #[test]
    fn the_example_of_the_rfc_is_read() {
        let read = head(&HELLO, 100).unwrap().unwrap();
        assert_eq!(read, Head { is_last: true, opcode: Opcode::Text, mask: MASK, size: 6, payload: 5 });
        let mut payload = HELLO[6..].to_vec();
        unmask(&mut payload, read.mask);
        assert_eq!(payload, b"Hello");
    }

    #[test]
    fn a_head_cut_anywhere_waits_for_the_rest() {
        let mut long = vec![0x82, 0xff];
        long.extend_from_slice(&70_000_u64.to_be_bytes());
        long.extend_from_slice(&MASK);
        for bytes in [&HELLO[..6], &long] {
            for length in 0..bytes.len() {
                assert_eq!(head(&bytes[..length], 1 << 20), Ok(None), "{length}");
            }
            assert!(head(bytes, 1 << 20).unwrap().is_some());
        }
    }

    #[test]
    fn what_no_client_may_send_is_refused() {
        let refused = |bytes: &[u8]| head(bytes, 1_000).unwrap_err();
        assert_eq!(refused(&[0x81, 0x05]), End::Protocol("a frame without a mask"));
        assert_eq!(refused(&[0xc1, 0x85]), End::Protocol("reserved bits without an extension"));
        assert_eq!(refused(&[0x83, 0x85]), End::Protocol("a frame with a reserved opcode"));
        let control = End::Protocol("a control frame in pieces or over 125 bytes");
        assert_eq!(refused(&[0x09, 0x85]), control);
        assert_eq!(refused(&[0x89, 0xfe, 0x00, 0x7e]), control);
        assert_eq!(refused(&[0x82, 0xfe, 0x00, 0x7d]), End::Protocol("a length in more bytes than it needs"));
        assert_eq!(refused(&[0x82, 0xfe, 0x03, 0xe9]), End::TooBig);
    }

    #[test]
    fn lengths_take_as_few_bytes_as_they_can() {
        for (length, head) in [
            (0, &[0x82, 0][..]),
            (125, &[0x82, 125]),
            (126, &[0x82, 126, 0, 126]),
            (65_536, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] {
            let mut out = Vec::new();
            put(Opcode::Binary, &vec![7; length], &mut out);
            assert_eq!((&out[..head.len()], out.len()), (head, head.len() + length));
        }
    }
}
