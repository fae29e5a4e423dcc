//! One WebSocket on its shard: the socket, what waits to be written to it, its places in topic logs.

use super::{
    eisa::EisaClient,
    end::{End, STALL},
    frame::{self, Opcode},
    inbound::Inbound,
    native::NativeClient,
    past::{Reading, Stretch},
};
use crate::places::Resident;
use bytes::{Buf, Bytes};
use mio::net::TcpStream;
use oasis_dac::{DemandGuard, Options};
use oasis_wire::quantity::Offset;
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice, Write},
    net::{Shutdown, SocketAddr},
    time::{Duration, Instant},
};
use tokio::sync::OwnedSemaphorePermit;

/// A place among all WebSockets and one among those of the client's address; free again when dropped.
#[derive(Debug)]
pub struct Place {
    _total: OwnedSemaphorePermit,
    _address: Resident,
}

impl Place {
    /// Both, taken.
    pub fn new(total: OwnedSemaphorePermit, address: Resident) -> Self {
        Self { _total: total, _address: address }
    }
}

/// Pieces that one write to a socket takes.
const PIECES: usize = 64;
/// Bytes of answers that a client may leave unread.
const MAX_WAITING: usize = 1024 * 1024;
/// How long a goodbye may take.
pub const GOODBYE: Duration = Duration::from_millis(500);

/// A connection's key on its shard, which another one gets when it is gone, and what tells the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionId {
    pub key: usize,
    pub serial: u64,
}

/// What the client speaks.
#[derive(Debug)]
pub enum Protocol {
    /// `oasis.v1`
    Native(NativeClient),
    /// The format of 2012.
    Eisa(EisaClient),
    /// Every message comes back: for conformance tests.
    #[cfg(feature = "echo")]
    Echo,
}

impl Protocol {
    /// Largest message a client may send: control messages are small.
    pub fn max_message(&self) -> usize {
        match self {
            Self::Native(_) | Self::Eisa(_) => 64 * 1024,
            #[cfg(feature = "echo")]
            Self::Echo => 64 * 1024 * 1024,
        }
    }
}

/// A place in a topic log: all there is of most subscriptions.
#[derive(Debug)]
pub struct Subscription {
    /// Slot of the topic on this shard.
    pub topic: usize,
    /// Index among the readers of the topic.
    pub place: usize,
    /// The next sample wanted.
    pub next: Offset,
    /// Which samples, and what if it is too late for them.
    pub options: Options,
    /// Its past, or its end, if it asked for one.
    pub stretch: Option<Box<Stretch>>,
    /// Held for what it does when it goes: the subscriber asks for its rate no more.
    pub _asking: DemandGuard,
}

/// A client.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Address of the client.
    pub peer: SocketAddr,
    /// Tells it from the one that had its key before.
    pub serial: u64,
    /// What it speaks.
    pub protocol: Protocol,
    /// What it is about to say.
    pub inbound: Inbound,
    /// Its places in topic logs.
    pub subscriptions: Vec<Subscription>,
    /// What it reads of the past, if it does.
    pub reading: Option<Box<Reading>>,
    /// Whether it is on the list of those to be written to.
    pub is_queued: bool,
    /// Pings since the shard last looked around.
    pub pings: u32,
    /// What the socket had no room for.
    waiting: VecDeque<Bytes>,
    /// Bytes of the past that may wait besides answers.
    spared: usize,
    /// Since when the socket has taken nothing.
    blocked_since: Option<Instant>,
    /// Whether a goodbye was said, or waits to be.
    is_leaving: bool,
    /// Free for another one when this is dropped.
    _place: Place,
}

impl Connection {
    /// A connection whose handshake is done.
    pub fn new(stream: TcpStream, peer: SocketAddr, serial: u64, protocol: Protocol, place: Place) -> Self {
        Self {
            stream,
            peer,
            serial,
            protocol,
            inbound: Inbound::default(),
            subscriptions: Vec::new(),
            reading: None,
            is_queued: false,
            pings: 0,
            waiting: VecDeque::new(),
            spared: 0,
            blocked_since: None,
            is_leaving: false,
            _place: place,
        }
    }

    /// The socket.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether the socket would take samples now. One that would not is behind, and the log keeps what it needs.
    pub fn is_open(&self) -> bool {
        self.waiting.is_empty() && !self.is_leaving()
    }

    /// Whether a goodbye was said, or waits to be.
    pub fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    /// Whether the socket has taken nothing for too long.
    pub fn is_stalled(&self, now: Instant) -> bool {
        self.blocked_since.is_some_and(|since| now >= since + STALL)
    }

    /// Writes pieces, in one call to the system if the socket has room; what it has no room for waits.
    pub fn write(&mut self, pieces: &[Bytes]) -> Result<(), End> {
        let mut written = 0;
        if self.waiting.is_empty() {
            self.spared = 0;
            written = self.write_now(pieces)?;
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

    /// Writes a piece of the past. What waits of it does not count as an answer left unread: the client did not ask for that much at once.
    pub fn write_past(&mut self, piece: Bytes) -> Result<(), End> {
        let length = piece.len();
        // To a socket, nothing would look like the end.
        if length > 0 {
            self.write(&[piece])?;
            self.spared += length;
        }
        Ok(())
    }

    /// Writes a control message behind what waits.
    pub fn say(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), End> {
        let held: usize = self.waiting.iter().map(Bytes::len).sum();
        if held + payload.len() > MAX_WAITING + self.spared && !self.waiting.is_empty() {
            return Err(End::Stalled);
        }
        let mut message = Vec::new();
        frame::put(opcode, payload, &mut message);
        self.write(&[message.into()])
    }

    /// Writes what waits, as far as there is room.
    pub fn flush(&mut self) -> Result<(), End> {
        while !self.waiting.is_empty() {
            let (front, _) = self.waiting.as_slices();
            let pieces: Vec<Bytes> = front.iter().take(PIECES).cloned().collect();
            let mut written = self.write_now(&pieces)?;
            if written == 0 {
                return Ok(());
            }
            while let Some(front) = self.waiting.front_mut().filter(|_| written > 0) {
                let taken = written.min(front.len());
                front.advance(taken);
                written -= taken;
                if front.is_empty() {
                    self.waiting.pop_front();
                }
            }
        }
        self.end_writing();
        Ok(())
    }

    /// Says goodbye; nothing is written behind it.
    pub fn leave(&mut self, code: u16, reason: &str) {
        if self.is_leaving() {
            return;
        }
        let mut payload = code.to_be_bytes().to_vec();
        // A control frame has 125 bytes, and a reason is cut between characters.
        payload.extend(
            reason
                .chars()
                .scan(0, |length, character| {
                    *length += character.len_utf8();
                    (*length <= 123).then_some(character)
                })
                .collect::<String>()
                .bytes(),
        );
        // Who broke its connection meanwhile needs no goodbye.
        let _ = self.say(Opcode::Close, &payload);
        self.is_leaving = true;
        self.reading = None;
        self.end_writing();
    }

    /// Behind a goodbye. Closing at once could throw away what the client has not read yet, so the client closes first.
    fn end_writing(&mut self) {
        if self.is_leaving && self.waiting.is_empty() {
            // A connection that is broken is closed soon in any case.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }

    /// Bytes that the socket took.
    fn write_now(&mut self, pieces: &[Bytes]) -> Result<usize, End> {
        loop {
            let outcome = match pieces {
                [] => return Ok(0),
                [one] => self.stream.write(one),
                many => {
                    let mut slices = [IoSlice::new(&[]); PIECES];
                    let count = many.len().min(PIECES);
                    slices.iter_mut().zip(many).for_each(|(slice, piece)| *slice = IoSlice::new(piece));
                    self.stream.write_vectored(slices.get(..count).unwrap_or_default())
                }
            };
            return match outcome {
                Ok(0) => Err(End::Client),
                Ok(written) => {
                    let total: usize = pieces.iter().map(Bytes::len).sum();
                    // Room ended: from now on nothing is taken until the system says so.
                    self.blocked_since = (written < total).then(Instant::now);
                    Ok(written)
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked_since.get_or_insert_with(Instant::now);
                    Ok(0)
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(io::Error::into(error)),
            };
        }
    }
}
