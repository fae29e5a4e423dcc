//! Unsent bytes to one peer.

use crate::{
    Error,
    frame::{self, Opcode},
};
use bytes::{Buf, Bytes};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice, Write},
};

/// Pieces in one write to a socket.
const PIECES: usize = 64;

/// The rest of writes that a socket had no room for. Pieces are shared, not copied: many connections can wait for the same bytes.
#[derive(Debug)]
pub struct Output {
    waiting: VecDeque<Bytes>,
    /// Bytes of messages that may wait.
    most: usize,
    /// Bytes that may wait besides: see [`Output::write_extra`].
    extra: usize,
    /// Bytes that the socket has taken.
    written: u64,
    is_blocked: bool,
}

impl Output {
    /// Nothing waits; `most` bounds what [`Output::message`] leaves waiting, in bytes.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most, extra: 0, written: 0, is_blocked: false }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes that the socket has taken so far: a caller with a clock sees a stall in this and [`Output::is_blocked`].
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Whether the socket had no room for all of the last write.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Writes whole frames, 64 pieces in one call, if nothing waits and the socket has room; the rest waits. Not bounded: callers
    /// write only if nothing waits.
    ///
    /// # Errors
    /// Errors of `socket`, but for `WouldBlock` and `Interrupted`.
    pub fn write(&mut self, pieces: &[Bytes], socket: &mut impl Write) -> io::Result<()> {
        let mut written = 0;
        if self.waiting.is_empty() {
            self.extra = 0;
            // Pieces must not wait for a socket that has room: nothing would report the room.
            for call in pieces.chunks(PIECES) {
                written += self.write_now(call, socket)?;
                if self.is_blocked {
                    break;
                }
            }
        }
        for piece in pieces {
            let skipped = written.min(piece.len());
            written -= skipped;
            if skipped < piece.len() {
                self.waiting.push_back(piece.slice(skipped..));
            }
        }
        Ok(())
    }

    /// Writes frames that do not count towards the bound of messages: the caller has a bound of its own for them.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn write_extra(&mut self, piece: Bytes, socket: &mut impl Write) -> io::Result<()> {
        let length = piece.len();
        // An empty write would look like the end of the connection.
        if length > 0 {
            self.write(&[piece], socket)?;
            self.extra += length;
        }
        Ok(())
    }

    /// Writes a message in one frame, after what waits.
    ///
    /// # Errors
    /// [`Error::OutputFull`] if something waits and the message would exceed the bound; otherwise as [`Output::write`].
    pub fn message<E: From<Error> + From<io::Error>>(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        socket: &mut impl Write,
    ) -> Result<(), E> {
        let waiting: usize = self.waiting.iter().map(Bytes::len).sum();
        if waiting + payload.len() > self.most + self.extra && !self.waiting.is_empty() {
            return Err(Error::OutputFull(self.most).into());
        }
        let mut message = Vec::new();
        frame::write_message(opcode, payload, &mut message);
        Ok(self.write(&[message.into()], socket)?)
    }

    /// Adds frames as [`Output::write_extra`] does, and writes nothing yet: see [`Output::flush_some`].
    pub fn queue_extra(&mut self, piece: Bytes) {
        if self.waiting.is_empty() {
            self.extra = 0;
        }
        if !piece.is_empty() {
            self.extra += piece.len();
            self.waiting.push_back(piece);
        }
    }

    /// Writes what waits, as far as the socket has room.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.flush_some(usize::MAX, socket)? {}
        Ok(())
    }

    /// Writes at most this many bytes of what waits, in one call. Returns whether more waits and the socket may have room for it.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn flush_some(&mut self, most: usize, socket: &mut impl Write) -> io::Result<bool> {
        let (front, _) = self.waiting.as_slices();
        let mut room = most;
        let pieces = front.iter().take(PIECES).map_while(|piece| {
            let length = piece.len().min(room);
            room -= length;
            (length > 0).then(|| piece.slice(..length))
        });
        let pieces: Vec<Bytes> = pieces.collect();
        let mut written = self.write_now(&pieces, socket)?;
        let has_room = written > 0;
        while let Some(front) = self.waiting.front_mut().filter(|_| written > 0) {
            let taken = written.min(front.len());
            front.advance(taken);
            written -= taken;
            if front.is_empty() {
                self.waiting.pop_front();
            }
        }
        Ok(has_room && !self.waiting.is_empty())
    }

    /// Returns how many bytes the socket took.
    fn write_now(&mut self, pieces: &[Bytes], socket: &mut impl Write) -> io::Result<usize> {
        loop {
            let outcome = match pieces {
                [] => return Ok(0),
                [one] => socket.write(one),
                many => {
                    let mut slices = [IoSlice::new(&[]); PIECES];
                    let count = many.len().min(PIECES);
                    slices.iter_mut().zip(many).for_each(|(slice, piece)| *slice = IoSlice::new(piece));
                    socket.write_vectored(slices.get(..count).unwrap_or_default())
                }
            };
            return match outcome {
                Ok(0) => Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.written += written as u64;
                    self.is_blocked = written < pieces.iter().map(Bytes::len).sum();
                    Ok(written)
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_blocked = true;
                    Ok(0)
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket with room for this many bytes.
    #[derive(Debug, Default)]
    struct Socket {
        room: usize,
        taken: Vec<u8>,
    }

    impl Write for Socket {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.room);
            if length == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.room -= length;
            self.taken.extend_from_slice(&bytes[..length]);
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A socket with room for everything, as the system's: it takes all pieces of a call.
    #[derive(Debug, Default)]
    struct Roomy(Vec<u8>);

    impl Write for Roomy {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            self.0.write_vectored(slices)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Debug, PartialEq)]
    enum Failure {
        Rule(Error),
        Io(ErrorKind),
    }

    impl From<Error> for Failure {
        fn from(error: Error) -> Self {
            Self::Rule(error)
        }
    }

    impl From<io::Error> for Failure {
        fn from(error: io::Error) -> Self {
            Self::Io(error.kind())
        }
    }

    #[test]
    fn the_rest_of_a_write_waits_without_a_copy_and_is_written_in_order() {
        let (mut output, mut socket) = (Output::new(100), Socket { room: 3, ..Socket::default() });
        let shared = Bytes::from(b"abcdef".to_vec());
        output.write(&[shared.clone(), Bytes::from_static(b"gh")], &mut socket).unwrap();
        assert!(output.is_blocked() && !output.is_empty());
        let rest = output.waiting.front().unwrap();
        assert_eq!(rest.as_ptr(), shared[3..].as_ptr(), "the same memory");
        socket.room = 100;
        output.flush(&mut socket).unwrap();
        assert_eq!(
            (&socket.taken[..], output.is_empty(), output.is_blocked()),
            (&b"abcdefgh"[..], true, false)
        );
        assert_eq!(output.written(), 8);
    }

    #[test]
    fn more_pieces_than_one_call_takes_do_not_wait_for_a_socket_that_has_room() {
        let (mut output, mut socket) = (Output::new(100), Roomy::default());
        let pieces: Vec<Bytes> = (0..200).map(|number| vec![number; 3].into()).collect();
        output.write(&pieces, &mut socket).unwrap();
        assert!(output.is_empty() && !output.is_blocked());
        assert_eq!(socket.0, pieces.concat());
    }

    #[test]
    fn a_peer_that_reads_nothing_cannot_make_messages_pile_up() {
        let (mut output, mut socket) = (Output::new(100), Socket::default());
        let mut say = |output: &mut Output| output.message::<Failure>(Opcode::Text, &[b'x'; 40], &mut socket);
        assert_eq!(say(&mut output), Ok(()));
        assert_eq!(say(&mut output), Ok(()));
        assert_eq!(say(&mut output), Err(Failure::Rule(Error::OutputFull(100))));
        assert_eq!(output.written(), 0);
    }

    #[test]
    fn what_waits_is_written_in_parts_of_a_bounded_size() {
        let (mut output, mut socket) = (Output::new(100), Socket { room: 1_000, ..Socket::default() });
        output.queue_extra(vec![7; 250].into());
        output.queue_extra(vec![8; 10].into());
        assert!(output.flush_some(100, &mut socket).unwrap());
        assert_eq!((socket.taken.len(), output.is_empty()), (100, false));
        socket.room = 100;
        assert!(output.flush_some(100, &mut socket).unwrap());
        assert!(!output.flush_some(100, &mut socket).unwrap(), "the socket is full");
        assert!(output.is_blocked());
        socket.room = 1_000;
        // This socket takes one piece of a call.
        assert!(output.flush_some(100, &mut socket).unwrap());
        assert!(!output.flush_some(100, &mut socket).unwrap(), "nothing more waits");
        assert_eq!(socket.taken, [vec![7; 250], vec![8; 10]].concat());
    }

    #[test]
    fn extra_bytes_do_not_count_towards_the_bound() {
        let (mut output, mut socket) = (Output::new(100), Socket::default());
        output.write_extra(vec![0; 1_000].into(), &mut socket).unwrap();
        assert_eq!(output.message::<Failure>(Opcode::Text, &[b'x'; 40], &mut socket), Ok(()));
    }
}
