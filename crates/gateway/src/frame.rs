//! Frames of the link (`docs/reference/embedded.md`): bytes to frames and back. Pure.

/// Bytes of a frame before it is stuffed, without its body.
const FRAME_OVERHEAD_BYTES: usize = 10;
/// Most bytes of a frame before it is stuffed.
pub const MAX_FRAME: usize = 4_096;
/// Most bytes of a frame, stuffed, without the zero after it.
const MAX_STUFFED: usize = cobs::max_encoding_length(MAX_FRAME);

/// A whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Kind of message.
    pub kind: u8,
    /// Number among the frames of its direction, modulo 256.
    pub number: u8,
    /// The sender's session.
    pub session: u32,
    /// The message.
    pub body: &'a [u8],
}

/// Why bytes between two zeros are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Longer than any frame.
    TooLong,
    /// Shorter than any frame.
    TooShort,
    /// Not stuffed as frames are.
    Stuffing,
    /// Another checksum.
    Checksum,
}

/// Cuts a stream of bytes into frames. Keeps one frame at most.
#[derive(Debug, Default)]
pub struct Deframer {
    stuffed: Vec<u8>,
    /// The frame is too long: its bytes are discarded.
    is_too_long: bool,
}

impl Deframer {
    /// Takes bytes in pieces of any size. Calls `each` with each frame and each damaged one that ends within them.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Result<Frame<'_>, Damage>)) {
        for piece in bytes.split_inclusive(|byte| *byte == 0) {
            let (is_end, piece) = match piece.split_last() {
                Some((0, piece)) => (true, piece),
                _ => (false, piece),
            };
            self.is_too_long |= self.stuffed.len() + piece.len() > MAX_STUFFED;
            if self.is_too_long {
                self.stuffed.clear();
            } else {
                self.stuffed.extend_from_slice(piece);
            }
            if is_end {
                if std::mem::take(&mut self.is_too_long) {
                    each(Err(Damage::TooLong));
                } else if !self.stuffed.is_empty() {
                    each(unstuffed(&mut self.stuffed));
                }
                self.stuffed.clear();
            }
        }
    }

    /// Forgets the frame that has begun: a datagram contains whole frames, and a line that was closed continues with another one.
    pub fn reset(&mut self) {
        self.stuffed.clear();
        self.is_too_long = false;
    }
}

fn unstuffed(stuffed: &mut [u8]) -> Result<Frame<'_>, Damage> {
    let length = cobs::decode_in_place(stuffed).map_err(|_| Damage::Stuffing)?;
    let bytes = stuffed.get(..length).ok_or(Damage::Stuffing)?;
    if length > MAX_FRAME {
        return Err(Damage::TooLong);
    }
    let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(Damage::TooShort)?;
    let (head, body) = content.split_first_chunk::<6>().ok_or(Damage::TooShort)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return Err(Damage::Checksum);
    }
    let [kind, number, session @ ..] = *head;
    Ok(Frame { kind, number, session: u32::from_le_bytes(session), body })
}

/// Appends a frame with its zero.
pub fn write(frame: Frame<'_>, out: &mut Vec<u8>) {
    let mut bytes = Vec::with_capacity(FRAME_OVERHEAD_BYTES + frame.body.len());
    bytes.extend([frame.kind, frame.number]);
    bytes.extend(frame.session.to_le_bytes());
    bytes.extend_from_slice(frame.body);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let start = out.len();
    out.resize(start + cobs::max_encoding_length(bytes.len()), 0);
    let length = cobs::encode(&bytes, &mut out[start..]);
    out.truncate(start + length);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type FrameResult = Result<(u8, u8, u32, Vec<u8>), Damage>;

    fn owned(found: Result<Frame<'_>, Damage>) -> FrameResult {
        found.map(|frame| (frame.kind, frame.number, frame.session, frame.body.to_vec()))
    }

    fn found(bytes: &[u8], piece: usize) -> Vec<FrameResult> {
        let (mut deframer, mut found) = (Deframer::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            deframer.push(piece, |frame| found.push(owned(frame)));
        }
        found
    }

    fn frame(number: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(Frame { kind: 1, number, session: 0x0001_0000, body }, &mut bytes);
        bytes
    }

    #[test]
    fn a_frame_after_noise_is_found_and_the_noise_is_named() {
        let long = [vec![1; MAX_STUFFED + 1], vec![0]].concat();
        let bytes =
            [&[0, 0][..], &frame(1, b"a\0b"), &[9, 1, 2, 0], &long, &[2, 7, 0], &frame(2, b"")].concat();
        let expected = [
            Ok((1, 1, 0x0001_0000, b"a\0b".to_vec())),
            Err(Damage::Stuffing),
            Err(Damage::TooLong),
            Err(Damage::TooShort),
            Ok((1, 2, 0x0001_0000, Vec::new())),
        ];
        for piece in [1, 3, bytes.len()] {
            assert_eq!(found(&bytes, piece), expected);
        }
    }

    #[test]
    fn each_changed_bit_is_noticed() {
        let whole = frame(7, &[0, 1, 2, 255, 0, 0]);
        for bit in 0..8 * (whole.len() - 1) {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(found(&changed, 64).iter().all(Result::is_err), "bit {bit}");
        }
    }

    #[test]
    fn a_deframer_that_is_reset_begins_with_the_next_byte() {
        let mut deframer = Deframer::default();
        deframer.push(&[5, 5, 5], |_| panic!("no frame has ended"));
        deframer.reset();
        let mut count = 0;
        deframer.push(&frame(1, b"x"), |frame| count += usize::from(frame.is_ok()));
        assert_eq!(count, 1);
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..6), piece in 1..97_usize) {
            let bytes: Vec<u8> = bodies.iter().flat_map(|body| frame(3, body)).collect();
            let expected: Vec<FrameResult> = bodies.iter().map(|body| Ok((1, 3, 0x0001_0000, body.clone()))).collect();
            prop_assert_eq!(found(&bytes, piece), expected);
        }

        #[test]
        fn any_bytes_are_bounded(bytes in prop::collection::vec(any::<u8>(), 0..20_000)) {
            let mut deframer = Deframer::default();
            deframer.push(&bytes, |_| ());
            prop_assert!(deframer.stuffed.len() <= MAX_STUFFED);
        }
    }
}
