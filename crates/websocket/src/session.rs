//! The client's side of an open connection.

use crate::{CloseCode, Decoder, Error, Limits, Message, Opcode, Role, close, frame, random};
use std::{collections::VecDeque, mem};

/// A message of the server, or its close frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// The last message: the server's code, if it sent one, and its reason.
    Close(Option<CloseCode>, String),
}

/// The client's side of a connection after the [handshake](crate::handshake::client): bytes in, messages out, and back. It masks each frame with a
/// key of its own, and answers pings and close frames. The caller moves the bytes:
///
/// ```
/// use oasis_websocket::{Limits, Opcode, Received, Session};
///
/// let mut session = Session::new(Limits::default());
/// session.send(Opcode::Text, b"Hello")?;
/// assert_eq!(session.unsent().len(), 11);
/// session.mark_sent(11);
///
/// session.receive(&mut b"\x81\x02Hi\x89\x00".to_vec());
/// assert_eq!(session.next_message()?, Some(Received::Text("Hi".into())));
/// assert_eq!(session.next_message()?, None);
/// assert_eq!(session.unsent().len(), 6, "a pong");
/// # Ok::<(), oasis_websocket::Error>(())
/// ```
///
/// A session keeps the messages of one [`Session::receive`] until the caller takes them, one unfinished message, and unsent bytes up to [`Limits::output`].
#[derive(Debug, Default)]
pub struct Session {
    decoder: Decoder,
    max_output: usize,
    received: VecDeque<Received>,
    failure: Option<Error>,
    /// Whether nothing more is received.
    is_closed: bool,
    has_sent_close: bool,
    unsent: Vec<u8>,
    /// Bytes of `unsent` that are sent.
    sent: usize,
    /// The frame that answers the last ping. Earlier ones need no answer (RFC 6455 5.5.3): a server that pings and does not read fills no memory.
    pong: Vec<u8>,
}

/// Why decoding ends.
enum End {
    Closed(CloseCode),
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Session {
    /// A session right after the handshake.
    pub fn new(limits: Limits) -> Self {
        Self { decoder: Decoder::new(Role::Client, limits), max_output: limits.output, ..Self::default() }
    }

    /// Takes bytes as they were read, in pieces of any size. Ignores what follows a close frame or a violation of the protocol.
    pub fn receive(&mut self, bytes: &mut [u8]) {
        if self.is_closed {
            return;
        }
        let Self { decoder, received, pong, .. } = self;
        let outcome = decoder.decode(bytes, |message| {
            match message {
                Message::Text(text) => received.push_back(Received::Text(text.into())),
                Message::Binary(bytes) => received.push_back(Received::Binary(bytes.into())),
                Message::Ping(payload) => {
                    pong.clear();
                    write(Opcode::Pong, payload, pong)?;
                }
                Message::Pong(_) => {}
                Message::Close(code, reason) => {
                    received.push_back(Received::Close(code, reason.into()));
                    return Err(End::Closed(close::reply(code)));
                }
            }
            Ok(())
        });
        let (code, failure) = match outcome {
            Ok(()) => return,
            Err(End::Closed(code)) => (code, None),
            Err(End::Failed(error)) => (error.close_code(), Some(error)),
        };
        self.is_closed = true;
        // Without random numbers the server gets no close frame; it sees the end of the connection.
        self.failure = failure.or(self.close(code).err());
    }

    /// Returns the next message; none if more bytes must be received first. After those before it, a violation of the protocol is returned once.
    ///
    /// # Errors
    /// If the server violated the protocol or a limit. [`Session::unsent`] then has a close frame that says so.
    pub fn next_message(&mut self) -> Result<Option<Received>, Error> {
        match self.received.pop_front() {
            None => self.failure.take().map_or(Ok(None), Err),
            message => Ok(message),
        }
    }

    /// Whether the server has closed, or has violated the protocol: further bytes are ignored.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Adds a message to the unsent bytes, in one frame.
    ///
    /// # Errors
    /// After a close frame; if there are unsent bytes and the message would exceed the limit; if the system has no random numbers.
    pub fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), Error> {
        if self.has_sent_close {
            return Err(Error::Closed);
        }
        let waiting = self.unsent.len() - self.sent;
        if waiting > 0 && waiting + payload.len() > self.max_output {
            return Err(Error::OutputFull(self.max_output));
        }
        write(opcode, payload, &mut self.unsent)
    }

    /// Adds a close frame to the unsent bytes, unless there was one. What the server sends before its own close frame is still received.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn close(&mut self, code: CloseCode) -> Result<(), Error> {
        if !mem::replace(&mut self.has_sent_close, true) {
            self.pong.clear();
            write(Opcode::Close, &close::payload(code, ""), &mut self.unsent)?;
        }
        Ok(())
    }

    /// Returns the bytes to send next.
    pub fn unsent(&mut self) -> &[u8] {
        if self.sent == self.unsent.len() {
            (self.unsent, self.sent) = (mem::take(&mut self.pong), 0);
        }
        self.unsent.get(self.sent..).unwrap_or_default()
    }

    /// Removes bytes that were sent from the beginning of the unsent ones.
    pub fn mark_sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.unsent.len());
    }
}

/// Appends a frame with a new key: one call of the system for each frame costs less than the write after it, and leaves no key in memory that a later
/// frame will have.
fn write(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    frame::write_masked(opcode, payload, random()?, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn session() -> Session {
        Session::new(Limits { output: 100, ..Limits::of_messages(1_000) })
    }

    /// Returns the frames that a server reads of the unsent bytes, in pieces of this size.
    fn sent(session: &mut Session, decoder: &mut Decoder, piece: usize) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let unsent = session.unsent();
            let mut bytes = unsent[..unsent.len().min(piece)].to_vec();
            if bytes.is_empty() {
                return seen;
            }
            session.mark_sent(bytes.len());
            let outcome = decoder.decode(&mut bytes, |message| {
                seen.push(format!("{message:?}"));
                Ok::<_, Error>(())
            });
            outcome.unwrap();
        }
    }

    fn all_sent(session: &mut Session) -> Vec<String> {
        sent(session, &mut Decoder::new(Role::Server, Limits::default()), usize::MAX)
    }

    #[test]
    fn each_frame_has_a_key_of_its_own() {
        let mut session = session();
        session.send(Opcode::Text, b"Hello").unwrap();
        session.send(Opcode::Text, b"Hello").unwrap();
        let (first, second) = session.unsent().split_at(11);
        assert_ne!(first, second);
        assert_eq!(all_sent(&mut session), ["Text(\"Hello\")", "Text(\"Hello\")"]);
    }

    #[test]
    fn of_many_pings_the_last_one_is_answered_after_the_bytes_before_it() {
        let mut session = session();
        session.send(Opcode::Text, b"Hello").unwrap();
        session.unsent();
        session.mark_sent(1);
        session.receive(&mut b"\x89\x011\x89\x012".repeat(1_000));
        assert_eq!((session.unsent.len(), session.pong.len()), (11, 7));
        // The decoder has the byte that was sent before.
        let mut decoder = Decoder::new(Role::Server, Limits::default());
        decoder.decode(&mut [0x81], |_| Ok::<_, Error>(())).unwrap();
        assert_eq!(sent(&mut session, &mut decoder, 3), ["Text(\"Hello\")", "Pong([50])"]);
    }

    #[test]
    fn a_close_frame_is_answered_with_its_code_and_ends_the_session() {
        let mut session = session();
        session.receive(&mut b"\x81\x02Hi\x89\x00\x88\x05\x03\xe9bye\xff\xff\xff".to_vec());
        assert_eq!(session.next_message(), Ok(Some(Received::Text("Hi".into()))));
        assert!(session.is_closed());
        session.receive(&mut b"\x81\x02Hi".to_vec());
        let close = Received::Close(Some(CloseCode::GOING_AWAY), "bye".into());
        assert_eq!([session.next_message(), session.next_message()], [Ok(Some(close)), Ok(None)]);
        assert_eq!(all_sent(&mut session), ["Close(Some(CloseCode(1001)), \"\")"]);
        assert_eq!(session.send(Opcode::Text, b"?"), Err(Error::Closed));
        assert!(session.unsent().is_empty());
    }

    #[test]
    fn a_close_frame_of_the_client_is_sent_once_and_the_server_may_finish() {
        let mut session = session();
        session.close(CloseCode::NORMAL).unwrap();
        assert_eq!(session.send(Opcode::Text, b"?"), Err(Error::Closed));
        session.receive(&mut b"\x82\x01x\x88\x00".to_vec());
        assert_eq!(session.next_message(), Ok(Some(Received::Binary(b"x".to_vec()))));
        assert_eq!(session.next_message(), Ok(Some(Received::Close(None, String::new()))));
        assert_eq!(all_sent(&mut session), ["Close(Some(CloseCode(1000)), \"\")"]);
    }

    #[test]
    fn a_violation_is_returned_once_after_the_messages_before_it_and_the_server_gets_its_code() {
        for (violation, error, code) in [
            (&b"\x81\x81"[..], Error::Mask, 1002),
            (b"\xc1\x00", Error::ReservedBits, 1002),
            (b"\x81\x01\xff", Error::Utf8, 1007),
            (b"\x82\x7e\x03\xe9", Error::FrameTooLong(1_000), 1009),
        ] {
            let mut session = session();
            session.receive(&mut [&b"\x81\x02Hi"[..], violation].concat());
            let seen = [session.next_message(), session.next_message(), session.next_message()];
            assert_eq!(seen, [Ok(Some(Received::Text("Hi".into()))), Err(error), Ok(None)]);
            assert_eq!(all_sent(&mut session), [format!("Close(Some(CloseCode({code})), \"\")")]);
        }
    }

    #[test]
    fn messages_wait_up_to_the_limit() {
        let mut session = session();
        session.send(Opcode::Binary, &[0; 500]).unwrap();
        assert_eq!(session.send(Opcode::Binary, b"x"), Err(Error::OutputFull(100)));
        let count = session.unsent().len();
        session.mark_sent(count);
        session.send(Opcode::Binary, b"x").unwrap();
        assert_eq!(all_sent(&mut session), ["Binary([120])"]);
    }

    proptest! {
        #[test]
        fn frames_of_the_client_decode_at_a_server_in_any_pieces(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
            piece in 1_usize..400,
        ) {
            let mut session = Session::new(Limits::default());
            for payload in &payloads {
                session.send(Opcode::Binary, payload).unwrap();
            }
            let expected: Vec<String> = payloads.iter().map(|payload| format!("{:?}", Message::Binary(payload))).collect();
            prop_assert_eq!(sent(&mut session, &mut Decoder::new(Role::Server, Limits::default()), piece), expected);
        }

        #[test]
        fn no_bytes_of_a_server_panic_and_pieces_change_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..50) {
            let received = |piece: usize| {
                let (mut session, mut seen) = (session(), Vec::new());
                for piece in bytes.to_vec().chunks_mut(piece) {
                    session.receive(piece);
                    while let Some(message) = session.next_message().transpose() {
                        seen.push(message);
                    }
                }
                (seen, session.is_closed())
            };
            prop_assert_eq!(received(200), received(piece));
        }
    }
}
