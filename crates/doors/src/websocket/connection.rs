//! One WebSocket on its shard: the socket, what waits to be written to it, its places in topic logs.

use super::{
    client::{EisaClient, NativeClient},
    end::{End, STALL},
    past_state::{PastState, Reading},
    read_allowance::ReadAllowance,
    transport::Transport,
};
use bytes::Bytes;
use mio::net::TcpStream;
use oasis_dac::{
    DemandGuard, Options, Seat,
    listener::{self, AddressPermit},
};
use oasis_http::permissions::Caller;
use oasis_websocket::{CloseCode, Decoder, Limits, Opcode, Output, Role, close};
use oasis_wire::quantity::Offset;
use std::{
    io::{self, Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::OwnedSemaphorePermit;

/// A place among all WebSockets, one of the client's address, and one among all connections; free again when dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    _total: OwnedSemaphorePermit,
    _address: AddressPermit,
    _connection: Option<Arc<listener::Connection>>,
}

impl ConnectionPermit {
    /// All of them, taken.
    pub fn new(
        total: OwnedSemaphorePermit,
        address: AddressPermit,
        connection: Option<Arc<listener::Connection>>,
    ) -> Self {
        Self { _total: total, _address: address, _connection: connection }
    }
}

/// Control messages of clients are small; a client may leave 1 MiB of answers unread.
const LIMITS: Limits = Limits { frame: 64 * 1024, message: 64 * 1024, output: 1024 * 1024 };
/// Timeout of a goodbye.
pub const GOODBYE: Duration = Duration::from_millis(500);

/// A connection's key on its shard, which is reused after its end, and a serial number that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionId {
    pub key: usize,
    pub serial: u64,
}

/// Protocol of the client.
#[derive(Debug)]
pub enum Protocol {
    /// `oasis.v1`
    Native(NativeClient),
    /// The format of 2012.
    Eisa(EisaClient),
}

/// Later than all versions of batches that are shown ahead of their turn.
pub const AHEAD_UNWANTED: u64 = u64::MAX;

/// A position in a topic log; most subscriptions have no other state.
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
    /// Its past or end, if it requested one.
    pub past: Option<Box<PastState>>,
    /// Version of the last batch that was shown [ahead](oasis_dac::Ahead) of its turn; [`AHEAD_UNWANTED`] if the
    /// subscriber does not ask for that.
    pub ahead: u64,
    /// Whether it receives what is missing before batches.
    pub has_gaps: bool,
    /// The subscriber's demand for a rate, which ends when this is dropped.
    pub asking: DemandGuard,
}

/// A client.
#[derive(Debug)]
pub struct Connection {
    stream: Transport,
    /// The client, with its rights.
    pub caller: Caller,
    /// Distinguishes it from earlier connections with its key.
    pub serial: u64,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its messages from bytes.
    pub decoder: Decoder,
    /// Its places in topic logs.
    pub subscriptions: Vec<Subscription>,
    /// The piece of the past that is being read, if any.
    pub reading: Option<Box<Reading>>,
    /// Whether it is in the list of connections to write to.
    pub is_queued: bool,
    /// Whether it is in the list of connections to read from.
    pub is_readable: bool,
    /// Whether it is in the list of connections whose unsent bytes are written.
    pub is_flushing: bool,
    /// Number of bytes that may be read from it.
    pub allowance: ReadAllowance,
    /// Whether the decoder keeps whole frames, for the next turn.
    pub has_frames: bool,
    /// Pings since the shard last looked around.
    pub pings: u32,
    /// Bytes that did not fit into the socket.
    output: Output,
    /// Since when the socket has taken nothing.
    blocked_since: Option<Instant>,
    /// Whether a close frame was sent or waits.
    is_leaving: bool,
    /// Its place, free again when this is dropped.
    _place: ConnectionPermit,
    /// Its place at its shard, which counts what is written.
    seat: Seat,
}

impl Connection {
    /// A connection after its handshake.
    pub fn new(
        stream: Transport,
        caller: Caller,
        serial: u64,
        protocol: Protocol,
        place: ConnectionPermit,
        seat: Seat,
    ) -> Self {
        Self {
            stream,
            caller,
            serial,
            protocol,
            decoder: Decoder::new(Role::Server, LIMITS),
            subscriptions: Vec::new(),
            reading: None,
            is_queued: false,
            is_readable: false,
            is_flushing: false,
            allowance: ReadAllowance::new(Instant::now()),
            has_frames: false,
            pings: 0,
            output: Output::new(LIMITS.output),
            blocked_since: None,
            is_leaving: false,
            _place: place,
            seat,
        }
    }

    /// Begins again at another shard.
    pub fn settle_in(&mut self, serial: u64, seat: Seat) {
        (self.serial, self.seat) = (serial, seat);
        (self.is_queued, self.is_readable, self.is_flushing) = (false, false, false);
    }

    /// Whether another shard can take it now: no answer is on its way to this one.
    pub fn can_move(&self) -> bool {
        let commands = match &self.protocol {
            Protocol::Native(client) => client.commands,
            Protocol::Eisa(client) => client.commands,
        };
        commands == 0 && self.reading.is_none() && !self.is_leaving
    }

    /// Whether nothing waits to be read or written.
    pub fn is_idle(&self) -> bool {
        self.is_open() && !self.is_queued && !self.is_readable && !self.is_flushing && !self.has_frames
    }

    /// The socket, to wait for it.
    pub fn socket(&mut self) -> &mut TcpStream {
        self.stream.socket()
    }

    /// Returns whether bytes may have been read from the socket that were not taken yet.
    pub fn may_have_read_ahead(&self) -> bool {
        self.stream.may_have_read_ahead()
    }

    /// Reads once, and counts it against the allowance.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let outcome = self.stream.read(into);
        let received = self.stream.take_received(*outcome.as_ref().unwrap_or(&0));
        self.allowance.take(received);
        if self.stream.has_unsent() {
            // An answer of TLS itself. An error is that of the next read too.
            let _ = self.send_waiting();
        }
        outcome
    }

    /// Writes what was encrypted and had no room. Returns whether nothing of it waits any more.
    fn send_waiting(&mut self) -> Result<bool, End> {
        self.write_with(|_, stream| match stream.flush() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        })
    }

    /// Called before it is dropped: with TLS, the client learns that the end is meant.
    pub fn abandon(&mut self) {
        self.stream.abandon();
    }

    /// Whether the socket accepts samples now. If not, the connection lags, and the log keeps its next samples.
    pub fn is_open(&self) -> bool {
        self.output.is_empty() && !self.stream.has_unsent() && !self.is_leaving()
    }

    /// Whether a close frame was sent or waits.
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

    /// Writes a piece of the past, or of what changed in the registry. Its unsent part is no unread answer, because the client did not request it at once.
    pub fn write_shared(&mut self, piece: Bytes) -> Result<(), End> {
        self.write_with(|output, stream| Ok(output.write_extra(piece, stream)?))
    }

    /// Adds a picture of the registry to what waits; [`Connection::flush_some`] writes it.
    pub fn queue_shared(&mut self, piece: Bytes) {
        self.output.queue_extra(piece);
    }

    /// Writes a control message after what waits.
    pub fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), End> {
        self.write_with(|output, stream| output.message(opcode, payload, stream))
    }

    /// Writes at most `most` unsent bytes, as far as the socket accepts them. Returns whether it may accept more.
    pub fn flush_some(&mut self, most: usize) -> Result<bool, End> {
        if self.stream.has_unsent() && !self.send_waiting()? {
            return Ok(false);
        }
        let has_more = self.write_with(|output, stream| Ok(output.flush_some(most, stream)?))?;
        if self.output.is_empty() {
            self.end_writing();
        }
        Ok(has_more)
    }

    /// Writes, and notes since when the socket takes nothing.
    fn write_with<T>(
        &mut self,
        write: impl FnOnce(&mut Output, &mut Transport) -> Result<T, End>,
    ) -> Result<T, End> {
        let (before, taken) = (self.output.written(), self.stream.taken());
        let outcome = write(&mut self.output, &mut self.stream);
        self.seat.written(self.output.written() - before);
        let is_moving = self.output.written() != before || self.stream.taken() != taken;
        if !self.output.is_blocked() && !self.stream.has_unsent() {
            self.blocked_since = None;
        } else if is_moving || self.blocked_since.is_none() {
            self.blocked_since = Some(Instant::now());
        }
        outcome
    }

    /// Sends a close frame; nothing is written after it.
    pub fn leave(&mut self, code: CloseCode, reason: &str) {
        if self.is_leaving() {
            return;
        }
        // A client that broke its connection meanwhile needs no goodbye.
        let _ = self.send(Opcode::Close, &close::payload(code, reason));
        self.is_leaving = true;
        self.reading = None;
        self.end_writing();
    }

    /// Shuts down writing after a goodbye. Closing at once could discard what the client has not read yet, so the client closes first.
    fn end_writing(&mut self) {
        if self.is_leaving && self.output.is_empty() {
            // A connection that is broken is closed soon in any case.
            let _ = self.stream.end();
        }
    }
}
