//! Frames as the kernel passes them: `struct can_frame` and `struct canfd_frame` of `linux/can.h`.

/// Bytes of a classic frame.
const CLASSIC_BYTES: usize = 16;
/// Bytes of a frame of CAN FD.
pub const FD_BYTES: usize = 72;
/// Bytes before the data.
const HEAD_BYTES: usize = 8;
const EXTENDED_FLAG: u32 = 0x8000_0000;
const REMOTE_FLAG: u32 = 0x4000_0000;
const ERROR_FLAG: u32 = 0x2000_0000;
/// The bits of an extended identifier, and of the class of an error.
const EXTENDED_MASK: u32 = 0x1fff_ffff;
/// The bits of a standard identifier.
const STANDARD_MASK: u32 = 0x7ff;
/// The flag of frames with a faster data phase.
const BIT_RATE_SWITCH: u8 = 1;
/// Bits of a standard frame besides its data: start to the end of frame, and the pause after it (ISO 11898-1).
const STANDARD_BITS: u64 = 47;
/// Bits that an extended identifier adds.
const MORE_EXTENDED_BITS: u64 = 20;
/// Bits that CAN FD adds: flags, and a longer checksum.
const MORE_FD_BITS: u64 = 14;

/// A frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The identifier; of an error frame the classes of its errors.
    pub id: u32,
    /// Whether the identifier has 29 bits.
    pub is_extended: bool,
    /// Whether it requests data.
    pub is_remote: bool,
    /// Whether the controller reports an error with it.
    pub is_error: bool,
    /// Flags of CAN FD; none for a classic frame.
    pub fd_flags: Option<u8>,
    /// Bytes of the data; those that a remote frame requests.
    pub length: u8,
    /// Its data.
    pub data: &'a [u8],
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// Neither of the two lengths.
    #[error("{0} bytes are no struct can_frame (16) and no struct canfd_frame (72)")]
    Bytes(usize),
    /// More data than a frame has.
    #[error("the frame has {0} bytes of data")]
    Length(u8),
}

impl<'a> Frame<'a> {
    /// Parses a frame.
    ///
    /// # Errors
    /// If the bytes are none.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BadFrame> {
        let is_fd = match bytes.len() {
            CLASSIC_BYTES => false,
            FD_BYTES => true,
            other => return Err(BadFrame::Bytes(other)),
        };
        let [a, b, c, d, length, flags, ..] = *bytes else { return Err(BadFrame::Bytes(bytes.len())) };
        let id = u32::from_ne_bytes([a, b, c, d]);
        let data = bytes.get(HEAD_BYTES..HEAD_BYTES + usize::from(length)).ok_or(BadFrame::Length(length))?;
        let (is_extended, is_error) = (id & EXTENDED_FLAG != 0, id & ERROR_FLAG != 0);
        let is_remote = id & REMOTE_FLAG != 0 && !is_error;
        Ok(Self {
            id: id & if is_extended || is_error { EXTENDED_MASK } else { STANDARD_MASK },
            is_extended,
            is_remote,
            is_error,
            fd_flags: is_fd.then_some(flags),
            length,
            data: if is_remote { &[] } else { data },
        })
    }

    /// Returns its bits on the bus, without stuff bits: the bus carries up to a fifth more. The second number is the part of them with the bit rate of
    /// the data phase.
    pub fn bits(&self) -> (u64, u64) {
        if self.is_error {
            return (0, 0);
        }
        let data = 8 * self.data.len() as u64;
        let head = STANDARD_BITS + if self.is_extended { MORE_EXTENDED_BITS } else { 0 };
        match self.fd_flags {
            None => (head + data, 0),
            Some(flags) if flags & BIT_RATE_SWITCH != 0 => (head, data + MORE_FD_BITS),
            Some(_) => (head + data + MORE_FD_BITS, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn classic(id: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = id.to_ne_bytes().to_vec();
        bytes.extend([data.len() as u8, 0, 0, 0]);
        bytes.extend(data);
        bytes.resize(CLASSIC_BYTES, 0);
        bytes
    }

    #[test]
    fn frames_of_the_kernel_are_parsed() {
        let bytes = classic(0x123, &[1, 2]);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.id, frame.is_extended, frame.data), (0x123, false, &[1, 2][..]));
        assert_eq!(frame.bits(), (63, 0));
        let bytes = classic(0x8000_0123, &[0; 8]);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.id, frame.is_extended, frame.bits()), (0x123, true, (131, 0)));
        assert!(Frame::parse(&classic(REMOTE_FLAG | 5, &[0; 2])).unwrap().is_remote);
        let bytes = classic(ERROR_FLAG | 4, &[0; 8]);
        let error = Frame::parse(&bytes).unwrap();
        assert_eq!((error.is_error, error.id, error.bits()), (true, 4, (0, 0)));
        let mut fd = classic(7, &[]);
        fd.resize(FD_BYTES, 3);
        (fd[4], fd[5]) = (64, BIT_RATE_SWITCH);
        let frame = Frame::parse(&fd).unwrap();
        assert_eq!((frame.data.len(), frame.fd_flags, frame.bits()), (64, Some(1), (47, 526)));
    }

    #[test]
    fn other_bytes_are_refused() {
        assert_eq!(Frame::parse(&[]), Err(BadFrame::Bytes(0)));
        let mut bytes = classic(1, &[]);
        bytes[4] = 9;
        assert_eq!(Frame::parse(&bytes), Err(BadFrame::Length(9)));
        bytes[4] = 255;
        assert_eq!(Frame::parse(&bytes), Err(BadFrame::Length(255)));
    }
}
