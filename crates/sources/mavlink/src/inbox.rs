//! Cuts the bytes of a peer into frames, and skips noise between them.

use crate::{
    dialect::{Dialect, MessageType},
    frame::{self, Frame, MAX_FRAME_BYTES, Parsed},
};

/// Bytes that stay allocated for a peer between two pushes: those of an incomplete frame, and room for another one.
const MAX_IDLE_BYTES: usize = 2 * MAX_FRAME_BYTES;
/// Most frames with unknown messages in a row that are looked through for one with a correct checksum.
const MAX_UNKNOWN_RUN: usize = 8;

/// Bytes of one peer that are no whole frame yet. Its owner takes all frames after each push, so that at most some frames stay: an unknown message
/// waits for the frame after it.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    /// Whether a frame ended directly before.
    is_aligned: bool,
    /// Whether the newest bytes are a datagram.
    has_datagrams: bool,
}

/// The next bytes.
#[derive(Debug)]
pub enum Incoming<'a, 'd> {
    /// A frame with a known message and a correct checksum.
    Message(Frame<'a>, &'d MessageType),
    /// A frame with an unknown message, whose checksum cannot be checked: it stands directly between other frames.
    Unknown(Frame<'a>),
    /// A frame, directly after another one, with a wrong checksum. Its bytes are searched for other frames.
    Damaged,
    /// A frame with flags that are not known.
    Incompatible,
    /// A byte that belongs to no frame.
    Skipped,
}

impl Inbox {
    /// Adds bytes of a stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns whether a datagram begins with a whole frame while another frame is incomplete. Most senders write whole frames into a datagram, so
    /// the rest of the other one does not arrive.
    pub fn is_interrupted_by(&self, datagram: &[u8], dialect: &Dialect) -> bool {
        self.pending_bytes() > 0
            && matches!(frame::parse(datagram), Parsed::Frame(frame, _)
                if dialect.get(frame.message).is_some_and(|message| frame.is_intact(message.crc_extra)))
    }

    /// Adds a datagram.
    pub fn push_datagram(&mut self, bytes: &[u8]) {
        self.has_datagrams = true;
        self.is_aligned |= self.pending_bytes() == 0;
        self.push(bytes);
    }

    /// Frees the memory of frames that were taken. Called when no frame is left.
    pub fn shrink(&mut self) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.shrink_to(MAX_IDLE_BYTES);
    }

    /// The number of bytes that are not taken yet.
    pub fn pending_bytes(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Gives up the frame that has begun: the rest of it does not arrive. Returns whether there was one.
    pub fn give_up(&mut self) -> bool {
        let has_pending = self.pending_bytes() > 0;
        self.start += usize::from(has_pending);
        self.is_aligned &= !has_pending;
        has_pending
    }

    /// Takes the next frame; `None` if more bytes are needed.
    pub fn take_next<'d>(&mut self, dialect: &'d Dialect) -> Option<Incoming<'_, 'd>> {
        let rest = self.bytes.get(self.start..)?;
        match frame::parse(rest) {
            Parsed::Incomplete => None,
            Parsed::Noise => {
                (self.start, self.is_aligned) = (self.start + 1, false);
                Some(Incoming::Skipped)
            }
            Parsed::Incompatible => {
                let was_aligned = self.is_aligned;
                (self.start, self.is_aligned) = (self.start + 1, false);
                Some(if was_aligned { Incoming::Incompatible } else { Incoming::Skipped })
            }
            Parsed::Frame(frame, length) => {
                let known = dialect.get(frame.message);
                let is_taken = match known {
                    Some(message) => message.fits(&frame) && frame.is_intact(message.crc_extra),
                    None if self.is_aligned => {
                        let after = rest.get(length..).unwrap_or_default();
                        followed_by_frame(after, self.has_datagrams, dialect)?
                    }
                    None => false,
                };
                if !is_taken {
                    let was_aligned = self.is_aligned;
                    (self.start, self.is_aligned) = (self.start + 1, false);
                    return Some(if was_aligned { Incoming::Damaged } else { Incoming::Skipped });
                }
                self.start += length;
                self.is_aligned = true;
                Some(match known {
                    Some(message) => Incoming::Message(frame, message),
                    None => Incoming::Unknown(frame),
                })
            }
        }
    }
}

/// Whether a frame with an unknown message ends where a frame with a correct checksum begins, or a datagram ends: its own checksum cannot show that
/// it is one. Returns `None` if more bytes are needed.
fn followed_by_frame(mut after: &[u8], has_datagrams: bool, dialect: &Dialect) -> Option<bool> {
    for _ in 0..MAX_UNKNOWN_RUN {
        if after.is_empty() {
            return has_datagrams.then_some(true);
        }
        let Parsed::Frame(next, length) = frame::parse(after) else {
            return if frame::parse(after) == Parsed::Incomplete { None } else { Some(false) };
        };
        if let Some(message) = dialect.get(next.message) {
            return Some(message.fits(&next) && next.is_intact(message.crc_extra));
        }
        after = after.get(length..).unwrap_or_default();
    }
    Some(true)
}

impl MessageType {
    /// Whether a payload can have this length. Version 1 has all base fields; version 2 omits zeros, and later definitions add fields.
    fn fits(&self, frame: &Frame<'_>) -> bool {
        frame.version == 2 || (self.base_bytes..=self.all_bytes).contains(&frame.payload.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::encode;
    use proptest::prelude::*;

    const HEARTBEAT: [u8; 9] = [0, 0, 0, 0, 2, 3, 0x51, 4, 3];

    fn heartbeat(sequence: u8) -> Vec<u8> {
        encode((1, 1), sequence, 0, &HEARTBEAT, 50)
    }

    /// The numbers of the frames, `?` for unknown ones, `!` for damaged ones.
    fn taken(inbox: &mut Inbox, dialect: &Dialect) -> String {
        let mut shown = String::new();
        while let Some(incoming) = inbox.take_next(dialect) {
            match incoming {
                Incoming::Message(frame, _) => shown += &frame.sequence.to_string(),
                Incoming::Unknown(_) => shown += "?",
                Incoming::Damaged => shown += "!",
                Incoming::Incompatible => shown += "i",
                Incoming::Skipped => {}
            }
        }
        shown
    }

    #[test]
    fn frames_are_found_in_a_stream_with_noise_and_damage() {
        let dialect = Dialect::built_in();
        let mut damaged = heartbeat(3);
        damaged[12] ^= 1;
        let truncated = &heartbeat(5)[..12];
        let unknown = encode((1, 1), 8, 55_555, &[1], 0);
        let all = [
            b"\xfd\xff\x00garbage\xfe\xfe",
            &heartbeat(1)[..],
            &heartbeat(2),
            &damaged,
            &heartbeat(4),
            truncated,
            &heartbeat(6),
            &heartbeat(7),
            &unknown,
            &heartbeat(9),
            b"\xfd",
            &unknown,
        ]
        .concat();
        let mut inbox = Inbox::default();
        let mut shown = String::new();
        for chunk in all.chunks(7) {
            inbox.push(chunk);
            shown += &taken(&mut inbox, &dialect);
            assert!(inbox.pending_bytes() <= (MAX_UNKNOWN_RUN + 1) * MAX_FRAME_BYTES);
        }
        while inbox.give_up() {
            shown += &taken(&mut inbox, &dialect);
        }
        assert_eq!(shown, "12!4!67?9", "an unknown message after noise is noise");
    }

    #[test]
    fn a_cut_datagram_does_not_delay_the_next_one() {
        let dialect = Dialect::built_in();
        let mut inbox = Inbox::default();
        inbox.push_datagram(&heartbeat(1)[..15]);
        assert_eq!(taken(&mut inbox, &dialect), "");
        assert!(inbox.is_interrupted_by(&heartbeat(2), &dialect));
        while inbox.give_up() {
            assert_eq!(taken(&mut inbox, &dialect), "");
        }
        inbox.push_datagram(&heartbeat(2));
        assert_eq!(taken(&mut inbox, &dialect), "2");
        // Bridges of serial lines cut frames anywhere.
        inbox.push_datagram(&heartbeat(3)[..15]);
        assert!(!inbox.is_interrupted_by(&heartbeat(3)[15..], &dialect));
        inbox.push_datagram(&heartbeat(3)[15..]);
        assert_eq!(taken(&mut inbox, &dialect), "3");
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_and_frames_after_them_are_found(noise in proptest::collection::vec(prop_oneof![Just(0xfd), Just(0xfe), any::<u8>()], 0..600)) {
            let dialect = Dialect::built_in();
            let mut inbox = Inbox::default();
            inbox.push(&noise);
            taken(&mut inbox, &dialect);
            prop_assert!(inbox.pending_bytes() <= (MAX_UNKNOWN_RUN + 1) * MAX_FRAME_BYTES);
            inbox.push(&heartbeat(7));
            inbox.push(&[0; MAX_FRAME_BYTES]);
            let shown = taken(&mut inbox, &dialect);
            prop_assert!(shown.ends_with('7'), "{}", shown);
        }
    }
}
