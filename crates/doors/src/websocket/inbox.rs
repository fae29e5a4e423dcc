//! Events from other threads to a shard.

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

/// A client after its handshake.
#[derive(Debug)]
pub struct Newcomer {
    /// The socket; it does not block.
    pub stream: std::net::TcpStream,
    /// Address of the client.
    pub peer: SocketAddr,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its place among all WebSockets, and of its address.
    pub place: Place,
    /// Bytes received after its handshake.
    pub early: Vec<u8>,
}

/// An event for a shard.
#[derive(Debug)]
pub enum Event {
    /// A client for this shard. There are at most as many as places.
    Newcomer(Box<Newcomer>),
    /// The topic in this slot has something new. At most one for each topic.
    Topic(usize),
    /// A client's command has an outcome. At most as many as clients may have under way.
    Outcome {
        connection: ConnectionId,
        /// The client's number of its request.
        request: i64,
        outcome: Result<InstanceState, CommandError>,
    },
    /// A piece of the past for a connection. At most one for each connection.
    Past {
        connection: ConnectionId,
        /// Distinguishes it from earlier pieces for the connection.
        serial: u64,
        piece: Box<Piece>,
    },
    /// The registry has changed. At most ten a second.
    Registry,
    /// The DAC shuts down.
    End,
    /// A planted defect.
    #[cfg(test)]
    Panic,
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

    /// Posts an event to the shard.
    pub fn post(&self, event: Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = events.is_empty();
        events.push(event);
        drop(events);
        // If the inbox is not empty, another thread has already woken the shard.
        if is_first && let Err(error) = self.waker.wake() {
            tracing::error!(%error, "a shard cannot be woken");
        }
    }

    /// All events so far; `into` is empty.
    pub fn take(&self, into: &mut Vec<Event>) {
        std::mem::swap(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner), into);
    }
}

/// Notifies a shard of appends to one topic: once, until the shard has looked.
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

    /// Called before the shard looks. It will see earlier appends; later ones raise the flag again.
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
