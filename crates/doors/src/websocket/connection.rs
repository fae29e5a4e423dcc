//! One WebSocket on its shard: the socket, what waits to be written to it, its places in topic logs.

use super::{
    client::{EisaClient, NativeClient},
    end::{End, STALL},
    past_state::{PastState, Reading},
};
use crate::places::Resident;
use bytes::Bytes;
use mio::net::TcpStream;
use oasis_dac::{DemandGuard, Options};
use oasis_websocket::{CloseCode, Decoder, Limits, Opcode, Output, Role, close};
use oasis_wire::quantity::Offset;
use std::{
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

/// Control messages of clients are small; a client may leave 1 MiB of answers unread.
const LIMITS: Limits = Limits { frame: 64 * 1024, message: 64 * 1024, output: 1024 * 1024 };
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
    pub past: Option<Box<PastState>>,
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
    /// Its messages from bytes.
    pub decoder: Decoder,
    /// Its places in topic logs.
    pub subscriptions: Vec<Subscription>,
    /// What it reads of the past, if it does.
    pub reading: Option<Box<Reading>>,
    /// Whether it is on the list of those to be written to.
    pub is_queued: bool,
    /// Pings since the shard last looked around.
    pub pings: u32,
    /// Bytes that the socket had no room for.
    output: Output,
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
            decoder: Decoder::new(Role::Server, LIMITS),
            subscriptions: Vec::new(),
            reading: None,
            is_queued: false,
            pings: 0,
            output: Output::new(LIMITS.output),
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
        self.output.is_empty() && !self.is_leaving()
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
        self.write_with(|output, stream| Ok(output.write(pieces, stream)?))
    }

    /// Writes a piece of the past. What waits of it does not count as an answer left unread: the client did not ask for that much at once.
    pub fn write_past(&mut self, piece: Bytes) -> Result<(), End> {
        self.write_with(|output, stream| Ok(output.write_extra(piece, stream)?))
    }

    /// Writes a control message after what waits.
    pub fn say(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), End> {
        self.write_with(|output, stream| output.message(opcode, payload, stream))
    }

    /// Writes what waits, as far as there is room.
    pub fn flush(&mut self) -> Result<(), End> {
        self.write_with(|output, stream| Ok(output.flush(stream)?))?;
        if self.output.is_empty() {
            self.end_writing();
        }
        Ok(())
    }

    /// Writes, and notes since when the socket takes nothing.
    fn write_with(
        &mut self,
        write: impl FnOnce(&mut Output, &mut TcpStream) -> Result<(), End>,
    ) -> Result<(), End> {
        let before = self.output.written();
        let outcome = write(&mut self.output, &mut self.stream);
        if !self.output.is_blocked() {
            self.blocked_since = None;
        } else if self.output.written() != before || self.blocked_since.is_none() {
            self.blocked_since = Some(Instant::now());
        }
        outcome
    }

    /// Says goodbye; nothing is written after it.
    pub fn leave(&mut self, code: CloseCode, reason: &str) {
        if self.is_leaving() {
            return;
        }
        // A client that broke its connection meanwhile needs no goodbye.
        let _ = self.say(Opcode::Close, &close::payload(code, reason));
        self.is_leaving = true;
        self.reading = None;
        self.end_writing();
    }

    /// Shuts down writing after a goodbye. Closing at once could discard what the client has not read yet, so the client closes first.
    fn end_writing(&mut self) {
        if self.is_leaving && self.output.is_empty() {
            // A connection that is broken is closed soon in any case.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }
}
