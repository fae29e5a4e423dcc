//! What a client says: from bytes as they come to whole messages.

use super::{
    end::End,
    frame::{self, Head, Opcode},
};
use std::mem;

/// A whole message, or a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
    Ping(&'a [u8]),
    Pong,
    /// With the code that the client gave, if any.
    Close(Option<u16>),
}

/// What has come of a message that is not all there. Nothing is allocated while there is none.
#[derive(Debug, Default)]
pub struct Inbound {
    /// The beginning of a frame.
    bytes: Vec<u8>,
    /// The frames of a message so far.
    pieces: Option<(Opcode, Vec<u8>)>,
}

impl Inbound {
    /// Takes what was read; `each` gets every message that it completes. `max` bounds a message, in bytes.
    pub fn take(
        &mut self,
        read: &mut [u8],
        max: usize,
        mut each: impl FnMut(Message<'_>) -> Result<(), End>,
    ) -> Result<(), End> {
        if self.bytes.is_empty() {
            let used = self.frames(read, max, &mut each)?;
            self.bytes.extend_from_slice(read.get(used..).unwrap_or_default());
            return Ok(());
        }
        let mut bytes = mem::take(&mut self.bytes);
        bytes.extend_from_slice(read);
        let used = self.frames(&mut bytes, max, &mut each)?;
        bytes.drain(..used);
        if !bytes.is_empty() {
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Takes whole frames, and says how many bytes they were.
    fn frames(
        &mut self,
        bytes: &mut [u8],
        max: usize,
        each: &mut impl FnMut(Message<'_>) -> Result<(), End>,
    ) -> Result<usize, End> {
        let mut used = 0;
        loop {
            let rest = bytes.get_mut(used..).unwrap_or_default();
            let Some(head) = frame::head(rest, max)? else { return Ok(used) };
            let Some(payload) = rest.get_mut(head.size..head.size + head.payload) else { return Ok(used) };
            frame::unmask(payload, head.mask);
            self.frame(head, payload, max, each)?;
            used += head.size + head.payload;
        }
    }

    fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        max: usize,
        each: &mut impl FnMut(Message<'_>) -> Result<(), End>,
    ) -> Result<(), End> {
        match (head.opcode, self.pieces.take()) {
            (Opcode::Ping, pieces) => {
                self.pieces = pieces;
                each(Message::Ping(payload))
            }
            (Opcode::Pong, pieces) => {
                self.pieces = pieces;
                each(Message::Pong)
            }
            (Opcode::Close, _) => each(Message::Close(close_code(payload)?)),
            (Opcode::Continuation, None) => Err(End::Protocol("a continuation of nothing")),
            (Opcode::Continuation, Some((opcode, mut pieces))) => {
                if pieces.len() + payload.len() > max {
                    return Err(End::TooBig);
                }
                pieces.extend_from_slice(payload);
                if head.is_last {
                    return each(whole(opcode, &pieces)?);
                }
                self.pieces = Some((opcode, pieces));
                Ok(())
            }
            (_, Some(_)) => Err(End::Protocol("a message inside another one")),
            (opcode, None) if head.is_last => each(whole(opcode, payload)?),
            (opcode, None) => {
                self.pieces = Some((opcode, payload.to_vec()));
                Ok(())
            }
        }
    }
}

fn whole(opcode: Opcode, payload: &[u8]) -> Result<Message<'_>, End> {
    match opcode {
        Opcode::Text => std::str::from_utf8(payload).map(Message::Text).map_err(|_| End::Utf8),
        _ => Ok(Message::Binary(payload)),
    }
}

/// Section 7.4: the codes that may be sent.
fn close_code(payload: &[u8]) -> Result<Option<u16>, End> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(None) } else { Err(End::Protocol("half a close code")) };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(End::Protocol("a close code that may not be sent"));
    }
    std::str::from_utf8(reason).map_err(|_| End::Utf8)?;
    Ok(Some(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX: usize = 1_000;

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mask = [1, 2, 3, 250];
        let mut out = vec![first];
        match payload.len() {
            length @ 0..=125 => out.push(0x80 | length as u8),
            length => {
                out.push(0xfe);
                out.extend_from_slice(&(length as u16).to_be_bytes());
            }
        }
        out.extend_from_slice(&mask);
        let start = out.len();
        out.extend_from_slice(payload);
        frame::unmask(&mut out[start..], mask);
        out
    }

    /// Everything that comes of these bytes, given in pieces of this size.
    fn messages(bytes: &[u8], piece: usize) -> Result<Vec<String>, End> {
        let (mut inbound, mut seen) = (Inbound::default(), Vec::new());
        for piece in bytes.to_vec().chunks_mut(piece) {
            inbound.take(piece, MAX, |message| {
                seen.push(format!("{message:?}"));
                Ok(())
            })?;
        }
        Ok(seen)
    }

    #[test]
    fn a_ping_may_come_between_the_pieces_of_a_message() {
        let bytes =
            [frame(0x01, "Grü".as_bytes()), frame(0x89, b"?"), frame(0x00, &[]), frame(0x80, b"n")].concat();
        let expected = ["Ping([63])", "Text(\"Grün\")"];
        for piece in 1..bytes.len() {
            assert_eq!(messages(&bytes, piece).unwrap(), expected, "{piece}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |frames: &[Vec<u8>]| messages(&frames.concat(), 7).unwrap_err();
        assert_eq!(refused(&[frame(0x80, b"x")]), End::Protocol("a continuation of nothing"));
        assert_eq!(
            refused(&[frame(0x01, b"x"), frame(0x81, b"y")]),
            End::Protocol("a message inside another one")
        );
        assert_eq!(refused(&[frame(0x81, &[0xff])]), End::Utf8);
        assert_eq!(refused(&[frame(0x88, &[3])]), End::Protocol("half a close code"));
        assert_eq!(
            refused(&[frame(0x88, &1005_u16.to_be_bytes())]),
            End::Protocol("a close code that may not be sent")
        );
        assert_eq!(refused(&[frame(0x88, &[3, 232, 0xff])]), End::Utf8);
        assert_eq!(refused(&[frame(0x02, &[0; 600]), frame(0x80, &[0; 600])]), End::TooBig);
    }

    proptest! {
        #[test]
        fn messages_do_not_depend_on_how_their_bytes_come(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
            piece in 1_usize..400,
        ) {
            let bytes: Vec<u8> = payloads.iter().flat_map(|payload| frame(0x82, payload)).collect();
            let expected: Vec<String> = payloads.iter().map(|payload| format!("{:?}", Message::Binary(payload))).collect();
            prop_assert_eq!(messages(&bytes, piece).unwrap(), expected);
        }

        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..50) {
            let _ = messages(&bytes, piece);
        }
    }
}
