//! From bytes as they arrive to whole messages.

use crate::{
    CloseCode, Error, Limits, close,
    fragment::Assembly,
    frame::{Header, Opcode, Role},
    mask,
};
use std::mem;

/// A whole message, or a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
    /// Must be answered with a pong of the same payload (RFC 6455 5.5.2).
    Ping(&'a [u8]),
    /// The answer to a ping, or unsolicited.
    Pong(&'a [u8]),
    /// With the peer's code, if it sent one, and its reason. Must be answered with a close frame (RFC 6455 5.5.1).
    Close(Option<CloseCode>, &'a str),
}

impl<'a> Message<'a> {
    pub(crate) fn of(opcode: Opcode, payload: &'a [u8]) -> Result<Self, Error> {
        match opcode {
            Opcode::Text => std::str::from_utf8(payload).map(Self::Text).map_err(|_| Error::Utf8),
            _ => Ok(Self::Binary(payload)),
        }
    }
}

/// Decodes one direction of a connection. Between messages it keeps no memory.
#[derive(Debug, Default)]
pub struct Decoder {
    role: Role,
    limits: Limits,
    /// The beginning of a frame.
    bytes: Vec<u8>,
    assembly: Assembly,
}

impl Decoder {
    /// A decoder at the start of a connection, after the handshake.
    pub fn new(role: Role, limits: Limits) -> Self {
        Self { role, limits, ..Self::default() }
    }

    /// Takes bytes as they were read, in pieces of any size, and unmasks them in place. Calls `each` with every message that they complete.
    ///
    /// # Errors
    /// If the peer breaks a rule, or `each` fails; the decoder must not be used after that.
    pub fn decode<E: From<Error>>(
        &mut self,
        read: &mut [u8],
        each: impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.decode_some(read, usize::MAX, each).map(|_| ())
    }

    /// As [`decode`](Self::decode), but decodes at most `most` frames and keeps the bytes after them. Returns whether there are any: then call it
    /// again, without further bytes, before the next read. Otherwise the kept bytes grow.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_some<E: From<Error>>(
        &mut self,
        read: &mut [u8],
        most: usize,
        mut each: impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.bytes.is_empty() {
            let (used, has_more) = self.frames(read, most, &mut each)?;
            self.bytes.extend_from_slice(read.get(used..).unwrap_or_default());
            return Ok(has_more);
        }
        let mut bytes = mem::take(&mut self.bytes);
        bytes.extend_from_slice(read);
        let (used, has_more) = self.frames(&mut bytes, most, &mut each)?;
        bytes.drain(..used);
        if !bytes.is_empty() {
            self.bytes = bytes;
        }
        Ok(has_more)
    }

    /// Decodes at most `most` whole frames. Returns how many bytes they were, and whether others may follow.
    fn frames<E: From<Error>>(
        &mut self,
        bytes: &mut [u8],
        most: usize,
        each: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(usize, bool), E> {
        let mut used = 0;
        for _ in 0..most {
            let rest = bytes.get_mut(used..).unwrap_or_default();
            let Some(header) = Header::parse(rest, self.role, self.limits)? else { return Ok((used, false)) };
            let end = header.size + header.payload;
            let Some(payload) = rest.get_mut(header.size..end) else { return Ok((used, false)) };
            if let Some(key) = header.mask {
                mask::apply(payload, key);
            }
            self.frame(header, payload, each)?;
            used += end;
        }
        Ok((used, used < bytes.len()))
    }

    fn frame<E: From<Error>>(
        &mut self,
        header: Header,
        payload: &[u8],
        each: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match header.opcode {
            Opcode::Ping => each(Message::Ping(payload)),
            Opcode::Pong => each(Message::Pong(payload)),
            Opcode::Close => {
                let (code, reason) = close::parse(payload)?;
                each(Message::Close(code, reason))
            }
            _ => self.assembly.data(header, payload, self.limits, each),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fragment, frame};
    use proptest::prelude::*;

    const MAX_MESSAGE_BYTES: usize = 1_000;

    /// A client's frame with this first byte.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        frame::write_masked(Opcode::Text, payload, [1, 2, 3, 250], &mut out);
        out[0] = first;
        out
    }

    /// The messages in these bytes, decoded in pieces of this size.
    fn messages(bytes: &[u8], role: Role, piece: usize) -> Result<Vec<String>, Error> {
        let (mut decoder, mut seen) =
            (Decoder::new(role, Limits::of_messages(MAX_MESSAGE_BYTES)), Vec::new());
        for piece in bytes.to_vec().chunks_mut(piece) {
            decoder.decode(piece, |message| {
                seen.push(format!("{message:?}"));
                Ok::<_, Error>(())
            })?;
        }
        Ok(seen)
    }

    #[test]
    fn a_ping_may_come_between_the_fragments_of_a_message() {
        let bytes =
            [frame(0x01, "Grü".as_bytes()), frame(0x89, b"?"), frame(0x00, &[]), frame(0x80, b"n")].concat();
        let expected = ["Ping([63])", "Text(\"Grün\")"];
        for piece in 1..bytes.len() {
            assert_eq!(messages(&bytes, Role::Server, piece).unwrap(), expected, "{piece}");
        }
    }

    #[test]
    fn each_broken_rule_has_its_error() {
        let refused = |frames: &[Vec<u8>]| messages(&frames.concat(), Role::Server, 7).unwrap_err();
        assert_eq!(refused(&[frame(0x80, b"x")]), Error::Continuation);
        assert_eq!(refused(&[frame(0x01, b"x"), frame(0x81, b"y")]), Error::Interleaved);
        assert_eq!(refused(&[frame(0x81, &[0xff])]), Error::Utf8);
        assert_eq!(refused(&[frame(0x88, &[3])]), Error::CloseLength);
        assert_eq!(refused(&[frame(0x88, &1005_u16.to_be_bytes())]), Error::CloseCode);
        assert_eq!(refused(&[frame(0x88, &[3, 232, 0xff])]), Error::Utf8);
        assert_eq!(
            refused(&[frame(0x02, &[0; 600]), frame(0x80, &[0; 600])]),
            Error::MessageTooLong(MAX_MESSAGE_BYTES)
        );
    }

    #[test]
    fn a_message_has_a_bounded_number_of_fragments_and_more_if_it_is_long() {
        let of = |count: usize, fragment: &[u8]| {
            let mut frames = vec![frame(0x02, fragment)];
            frames.resize(count - 1, frame(0x00, fragment));
            frames.push(frame(0x80, fragment));
            let (mut decoder, limits) =
                (Decoder::default(), Limits { message: 1 << 20, ..Limits::default() });
            decoder.limits = limits;
            decoder.decode(&mut frames.concat(), |_| Ok::<_, Error>(()))
        };
        assert_eq!(of(1_024, &[]), Ok(()));
        assert_eq!(of(1_025, &[]), Err(Error::TooManyFragments(1_024)));
        // Autobahn sends messages in fragments of 64 bytes.
        assert_eq!(of(16_384, &[7; 64]), Ok(()));
    }

    #[test]
    fn a_message_may_be_bounded_tighter_than_a_frame() {
        let mut decoder = Decoder::new(Role::Server, Limits { frame: 20, message: 10, output: 0 });
        let outcome = decoder.decode(&mut frame(0x82, &[0; 11]), |_| Ok::<_, Error>(()));
        assert_eq!(outcome, Err(Error::MessageTooLong(10)));
    }

    #[test]
    fn a_budget_of_frames_ends_a_turn_and_the_rest_follows_in_the_next() {
        let mut bytes = [frame(0x81, b"1"), frame(0x8a, b""), frame(0x81, b"2"), frame(0x81, b"3")].concat();
        let part = bytes.split_off(bytes.len() - 1);
        let (mut decoder, mut seen) = (Decoder::new(Role::Server, Limits::default()), Vec::new());
        let mut turn = |bytes: &mut [u8]| {
            let more = decoder.decode_some(bytes, 2, |message| {
                seen.push(format!("{message:?}"));
                Ok::<_, Error>(())
            });
            (more.unwrap(), seen.len())
        };
        assert_eq!(turn(&mut bytes), (true, 2));
        assert_eq!(turn(&mut []), (false, 3));
        assert_eq!(turn(&mut part.clone()), (false, 4));
        assert_eq!(seen, ["Text(\"1\")", "Pong([])", "Text(\"2\")", "Text(\"3\")"]);
    }

    proptest! {
        #[test]
        fn messages_do_not_depend_on_how_their_bytes_arrive(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
            piece in 1_usize..400,
            most in 0_usize..100,
        ) {
            let (mut of_client, mut of_server) = (Vec::new(), Vec::new());
            for payload in &payloads {
                frame::write_masked(Opcode::Binary, payload, [9, 8, 7, 6], &mut of_client);
                fragment::write_fragments(Opcode::Binary, payload, most, &mut of_server);
            }
            let expected: Vec<String> = payloads.iter().map(|payload| format!("{:?}", Message::Binary(payload))).collect();
            prop_assert_eq!(&messages(&of_client, Role::Server, piece).unwrap(), &expected);
            prop_assert_eq!(&messages(&of_server, Role::Client, piece).unwrap(), &expected);
        }

        #[test]
        fn no_bytes_panic_and_pieces_change_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..50) {
            let (whole, split) = (messages(&bytes, Role::Server, 200), messages(&bytes, Role::Server, piece));
            prop_assert_eq!(whole, split);
        }
    }
}
