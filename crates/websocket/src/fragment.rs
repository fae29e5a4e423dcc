//! Messages in fragments (RFC 6455 5.4): written one frame at a time, and put together again by the [`Decoder`](crate::Decoder).

use crate::{
    Error, Limits, Message,
    frame::{self, Header, Opcode},
    limits::fragments,
};

/// Appends a server's message in frames of at most `most` bytes of payload, at least one frame. A `most` of 0 counts as 1.
///
/// # Panics
/// Never; a control opcode is written as one frame, because control frames cannot be fragmented.
pub fn write_fragments(opcode: Opcode, payload: &[u8], most: usize, out: &mut Vec<u8>) {
    if opcode.is_control() || payload.len() <= most {
        return frame::write_message(opcode, payload, out);
    }
    let mut fragments = payload.chunks(most.max(1)).peekable();
    let mut opcode = opcode;
    while let Some(fragment) = fragments.next() {
        frame::write_header(opcode, fragments.peek().is_none(), None, fragment.len(), out);
        out.extend_from_slice(fragment);
        opcode = Opcode::Continuation;
    }
}

/// A message of which the last fragment has not arrived. Allocates nothing before the first fragment.
#[derive(Debug, Default)]
pub(crate) struct Assembly(Option<Box<Unfinished>>);

#[derive(Debug)]
struct Unfinished {
    opcode: Opcode,
    bytes: Vec<u8>,
    fragments: usize,
}

impl Assembly {
    /// Takes the payload of a data frame; `each` gets the message that it completes.
    pub fn data<E: From<Error>>(
        &mut self,
        header: Header,
        payload: &[u8],
        limits: Limits,
        each: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match (header.opcode, self.0.take()) {
            (Opcode::Continuation, None) => Err(Error::Continuation.into()),
            (Opcode::Continuation, Some(mut message)) => {
                if message.bytes.len() + payload.len() > limits.message {
                    return Err(Error::MessageTooLong(limits.message).into());
                }
                message.bytes.extend_from_slice(payload);
                message.fragments += 1;
                if header.is_final {
                    return each(Message::of(message.opcode, &message.bytes)?);
                }
                if message.fragments >= fragments(message.bytes.len()) {
                    return Err(Error::TooManyFragments(message.fragments).into());
                }
                self.0 = Some(message);
                Ok(())
            }
            (_, Some(_)) => Err(Error::Interleaved.into()),
            _ if payload.len() > limits.message => Err(Error::MessageTooLong(limits.message).into()),
            (opcode, None) if header.is_final => each(Message::of(opcode, payload)?),
            (opcode, None) => {
                self.0 = Some(Box::new(Unfinished { opcode, bytes: payload.to_vec(), fragments: 1 }));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_split_as_in_the_rfc() {
        let mut out = Vec::new();
        write_fragments(Opcode::Text, b"Hello", 3, &mut out);
        assert_eq!(out, b"\x01\x03Hel\x80\x02lo");
    }

    #[test]
    fn one_fragment_is_a_whole_message_and_control_frames_are_never_split() {
        for (opcode, payload, most) in
            [(Opcode::Binary, &b""[..], 0), (Opcode::Text, b"Hi", 2), (Opcode::Ping, b"Hello", 1)]
        {
            let (mut split, mut whole) = (Vec::new(), Vec::new());
            write_fragments(opcode, payload, most, &mut split);
            frame::write_message(opcode, payload, &mut whole);
            assert_eq!(split, whole);
        }
    }
}
