//! Frames of both versions (<https://mavlink.io/en/guide/serialization.html>): bytes to meaning and back.

/// The first byte of a frame of version 1.
const MAGIC_V1: u8 = 0xfe;
/// The first byte of a frame of version 2.
const MAGIC_V2: u8 = 0xfd;
/// Bytes before the payload of version 1.
const HEAD_BYTES_V1: usize = 6;
/// Bytes before the payload of version 2.
const HEAD_BYTES_V2: usize = 10;
/// Bytes after the payload.
const CHECKSUM_BYTES: usize = 2;
/// Bytes after the checksum of a signed frame.
const SIGNATURE_BYTES: usize = 13;
/// The flag of signed frames. A receiver drops frames with other such flags.
const SIGNED_FLAG: u8 = 1;
/// Most bytes of a frame.
pub const MAX_FRAME_BYTES: usize = HEAD_BYTES_V2 + 255 + CHECKSUM_BYTES + SIGNATURE_BYTES;

/// A frame, whose checksum is not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Version of the protocol.
    pub version: u8,
    /// The 8-bit number of the sender.
    pub sequence: u8,
    /// The sending system, such as a vehicle.
    pub system: u8,
    /// The sending component of that system.
    pub component: u8,
    /// The message identifier.
    pub message: u32,
    /// The fields. Version 2 omits zeros at their end.
    pub payload: &'a [u8],
    /// Whether it has a signature, which is not verified.
    pub is_signed: bool,
    /// The bytes that the checksum is about, without `CRC_EXTRA`.
    summed: &'a [u8],
    checksum: u16,
}

/// The beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// More bytes are needed.
    Incomplete,
    /// No frame begins here.
    Noise,
    /// A frame with flags that a receiver must understand to read it.
    Incompatible,
    /// A frame, and its length.
    Frame(Frame<'a>, usize),
}

/// Whether a frame can begin with this byte.
fn is_magic(byte: u8) -> bool {
    matches!(byte, MAGIC_V1 | MAGIC_V2)
}

/// Parses the frame that begins here.
pub fn parse(bytes: &[u8]) -> Parsed<'_> {
    match bytes {
        [MAGIC_V1, length, sequence, system, component, message, ..] => {
            let head = Head {
                version: 1,
                sequence: *sequence,
                system: *system,
                component: *component,
                message: (*message).into(),
                length: (*length).into(),
                is_signed: false,
            };
            head.frame(bytes, HEAD_BYTES_V1)
        }
        [MAGIC_V2, length, flags, _, sequence, system, component, low, middle, high, ..] => {
            if flags & !SIGNED_FLAG != 0 {
                return Parsed::Incompatible;
            }
            let head = Head {
                version: 2,
                sequence: *sequence,
                system: *system,
                component: *component,
                message: u32::from_le_bytes([*low, *middle, *high, 0]),
                length: (*length).into(),
                is_signed: flags & SIGNED_FLAG != 0,
            };
            head.frame(bytes, HEAD_BYTES_V2)
        }
        [] => Parsed::Incomplete,
        [first, ..] if is_magic(*first) => Parsed::Incomplete,
        _ => Parsed::Noise,
    }
}

struct Head {
    version: u8,
    sequence: u8,
    system: u8,
    component: u8,
    message: u32,
    length: usize,
    is_signed: bool,
}

impl Head {
    fn frame<'a>(&self, bytes: &'a [u8], head_bytes: usize) -> Parsed<'a> {
        let signature = if self.is_signed { SIGNATURE_BYTES } else { 0 };
        let total = head_bytes + self.length + CHECKSUM_BYTES + signature;
        let after = head_bytes + self.length;
        let (Some(payload), Some(summed), Some([low, high])) =
            (bytes.get(head_bytes..after), bytes.get(1..after), bytes.get(after..after + CHECKSUM_BYTES))
        else {
            return Parsed::Incomplete;
        };
        if bytes.len() < total {
            return Parsed::Incomplete;
        }
        let frame = Frame {
            version: self.version,
            sequence: self.sequence,
            system: self.system,
            component: self.component,
            message: self.message,
            payload,
            is_signed: self.is_signed,
            summed,
            checksum: u16::from_le_bytes([*low, *high]),
        };
        Parsed::Frame(frame, total)
    }
}

impl Frame<'_> {
    /// Returns whether the checksum is right for a message with this `CRC_EXTRA`.
    pub fn is_intact(&self, crc_extra: u8) -> bool {
        checksum(checksum(CHECKSUM_START, self.summed), &[crc_extra]) == self.checksum
    }
}

/// The state of a checksum without bytes.
pub const CHECKSUM_START: u16 = 0xffff;

/// Adds bytes to a checksum: CRC-16/MCRF4XX.
pub fn checksum(start: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(start, |sum, byte| {
        let at = usize::from((sum ^ u16::from(*byte)) & 0xff);
        (sum >> 8) ^ REMAINDERS.get(at).copied().unwrap_or_default()
    })
}

/// The checksum of each byte.
const REMAINDERS: [u16; 256] = remainders();

const fn remainders() -> [u16; 256] {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u16, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0x8408 } else { sum >> 1 };
            bit += 1;
        }
        all[byte] = sum;
        byte += 1;
    }
    all
}

/// Encodes a frame of version 2 without a signature. The payload is at most 255 bytes.
pub fn encode(sender: (u8, u8), sequence: u8, message: u32, payload: &[u8], crc_extra: u8) -> Vec<u8> {
    let payload = payload.get(..255).unwrap_or(payload);
    // At least one byte stays.
    let zeros = payload.iter().rev().take_while(|byte| **byte == 0).count();
    let kept = (payload.len() - zeros).max(payload.len().min(1));
    let payload = payload.get(..kept).unwrap_or_default();
    let [low, middle, high, _] = message.to_le_bytes();
    let mut frame =
        vec![MAGIC_V2, payload.len() as u8, 0, 0, sequence, sender.0, sender.1, low, middle, high];
    frame.extend(payload);
    let sum = checksum(CHECKSUM_START, frame.get(1..).unwrap_or_default());
    frame.extend(checksum(sum, &[crc_extra]).to_le_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A HEARTBEAT of a quadrotor, as pymavlink writes it.
    const V1: [u8; 17] = [0xfe, 9, 7, 1, 1, 0, 0, 0, 0, 0, 2, 3, 0x51, 4, 3, 0xfa, 0xad];

    #[test]
    fn a_checksum_is_that_of_the_standard() {
        assert_eq!(checksum(CHECKSUM_START, b"123456789"), 0x6f91);
    }

    #[test]
    fn frames_of_both_versions_are_parsed() {
        let payload = [0, 0, 0, 0, 2, 3, 0x51, 4, 3];
        let Parsed::Frame(frame, 17) = parse(&V1) else { panic!("{:?}", parse(&V1)) };
        assert_eq!(
            (frame.version, frame.sequence, frame.system, frame.component, frame.message),
            (1, 7, 1, 1, 0)
        );
        assert_eq!(frame.payload, payload);
        assert!(frame.is_intact(50));
        let v2 = encode((1, 1), 7, 0, &payload, 50);
        let Parsed::Frame(frame, length) = parse(&v2) else { panic!("{v2:?}") };
        assert_eq!((frame.version, length, frame.payload), (2, v2.len(), &payload[..]));
        assert!(frame.is_intact(50) && !frame.is_intact(51));
        for cut in 0..v2.len() {
            assert_eq!(parse(&v2[..cut]), Parsed::Incomplete);
        }
    }

    #[test]
    fn zeros_at_the_end_are_omitted_but_for_the_first_byte() {
        assert_eq!(encode((1, 1), 0, 0, &[0; 9], 50).len(), HEAD_BYTES_V2 + 1 + CHECKSUM_BYTES);
    }

    #[test]
    fn unknown_flags_are_incompatible_and_signatures_belong_to_the_frame() {
        let mut frame = encode((1, 1), 0, 0, &[1; 9], 50);
        frame[2] = 2;
        assert_eq!(parse(&frame), Parsed::Incompatible);
        frame[2] = 1;
        assert_eq!(parse(&frame), Parsed::Incomplete);
        frame.extend([0; SIGNATURE_BYTES]);
        assert!(
            matches!(parse(&frame), Parsed::Frame(Frame { is_signed: true, .. }, length) if length == frame.len())
        );
    }
}
