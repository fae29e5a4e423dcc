//! What other threads tell a shard.

use super::{
    connection::{ConnectionId, Place, Protocol},
    past_state::Piece,
};
use mio::Waker;
use oasis_channel::InstanceState;
use oasis_dac::{CommandError, Wake, WakeFlag};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

/// A client whose handshake is done.
#[derive(Debug)]
pub struct Newcomer {
    /// The socket; it does not block.
    pub stream: std::net::TcpStream,
    /// Address of the client.
    pub peer: SocketAddr,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its place among all WebSockets, and among those of its address.
    pub place: Place,
    /// What it sent behind its handshake.
    pub early: Vec<u8>,
}

/// What a shard is told.
#[derive(Debug)]
pub enum Event {
    /// A client for this shard. At most as many as there are places.
    Newcomer(Box<Newcomer>),
    /// The topic in this slot has something new. At most one for each topic.
    Topic(usize),
    /// A client's command has an outcome. At most as many as clients may have under way.
    Outcome {
        connection: ConnectionId,
        /// What the client calls its request.
        request: i64,
        outcome: Result<InstanceState, CommandError>,
    },
    /// A piece of the past that a connection asked for. At most one for each connection.
    Past {
        connection: ConnectionId,
        /// Tells it from what the connection asked for before.
        serial: u64,
        piece: Box<Piece>,
    },
    /// The registry has changed. At most ten a second.
    Registry,
    /// The DAC shuts down.
    End,
}

/// Events for a shard that may be waiting for its sockets.
#[derive(Debug)]
pub struct Inbox {
    events: Mutex<Vec<Event>>,
    waker: Waker,
}

impl Inbox {
    /// An empty one; `waker` interrupts the shard's waiting.
    pub fn new(waker: Waker) -> Self {
        Self { events: Mutex::default(), waker }
    }

    /// Tells the shard.
    pub fn post(&self, event: Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = events.is_empty();
        events.push(event);
        drop(events);
        // Who finds others there knows that the shard was woken for them.
        if is_first && let Err(error) = self.waker.wake() {
            tracing::error!(%error, "a shard cannot be woken");
        }
    }

    /// All events so far; `into` is empty.
    pub fn take(&self, into: &mut Vec<Event>) {
        std::mem::swap(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner), into);
    }
}

/// Tells a shard of appends to one topic: once, until the shard has looked.
#[derive(Debug)]
pub struct TopicWaker {
    inbox: Arc<Inbox>,
    slot: usize,
    raised: WakeFlag,
}

impl TopicWaker {
    /// For the topic in this slot.
    pub fn new(inbox: Arc<Inbox>, slot: usize) -> Self {
        Self { inbox, slot, raised: WakeFlag::new() }
    }

    /// The shard is about to look. What was appended before this is seen, what is appended after it raises again.
    pub fn lower(&self) {
        self.raised.lower();
    }
}

impl Wake for TopicWaker {
    fn raise(&self) {
        if self.raised.raise() {
            self.inbox.post(Event::Topic(self.slot));
        }
    }
}
