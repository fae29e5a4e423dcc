//! Events from other threads to a shard.

use super::{
    connection::{Connection, ConnectionId, ConnectionPermit, Protocol, Subscription},
    past_state::RenderedResult,
    transport::Transport,
};
use mio::Waker;
use oasis_channel::InstanceState;
use oasis_dac::{Instance, Seat, Wake, WakeFlag};
use oasis_http::permissions::{Caller, CommandFailure};
use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// A connection on its way to a shard.
#[derive(Debug)]
pub enum IncomingConnection {
    /// After its handshake.
    Pending(Box<PendingConnection>),
    /// From another shard.
    Migrating(Box<MigratingConnection>),
}

/// A client after its handshake.
#[derive(Debug)]
pub struct PendingConnection {
    /// The socket; it does not block.
    pub stream: Transport,
    /// The client, with its rights.
    pub caller: Caller,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its place among all WebSockets, and of its address.
    pub place: ConnectionPermit,
    /// Bytes received after its handshake.
    pub early: Vec<u8>,
}

/// A client between two shards. Neither has its socket or its topics now; its positions in the topic logs are all that it needs.
#[derive(Debug)]
pub struct MigratingConnection {
    /// The connection; its subscriptions are apart.
    pub connection: Connection,
    /// Its subscriptions, in its order.
    pub subscriptions: Vec<(Arc<Instance>, Subscription)>,
}

/// An event for a shard.
#[derive(Debug)]
pub enum Event {
    /// A client for this shard. There are at most as many as places.
    Board(IncomingConnection, Seat),
    /// The topic in this slot has something new since then. At most one for each topic.
    Topic(usize, Instant),
    /// A client's command has an outcome. At most as many as clients may have under way.
    Outcome {
        connection: ConnectionId,
        /// The client's number of its request.
        request: i64,
        outcome: Result<InstanceState, CommandFailure>,
    },
    /// A piece of the past for a connection. At most one for each connection.
    Past {
        connection: ConnectionId,
        /// Distinguishes it from earlier pieces for the connection.
        serial: u64,
        piece: Box<RenderedResult>,
    },
    /// The registry has changed. At most ten a second.
    Registry,
    /// Number of idle connections that should move to other shards. At most one a second.
    Shed(usize),
    /// All connections should move to other shards, and then the shard ends.
    Leave,
    /// The DAC shuts down.
    End,
    /// A planted defect.
    #[cfg(test)]
    Panic,
}

/// Events for a shard that may be waiting for its sockets.
#[derive(Debug)]
pub struct Inbox {
    mail: Mutex<Mail>,
    waker: Waker,
}

#[derive(Debug, Default)]
struct Mail {
    events: Vec<Event>,
    /// The shard has ended, or has another inbox.
    is_closed: bool,
}

impl Inbox {
    /// An empty one; `waker` interrupts the shard's waiting.
    pub fn new(waker: Waker) -> Self {
        Self { mail: Mutex::default(), waker }
    }

    /// Posts an event to the shard; nothing happens if the shard has ended.
    pub fn post(&self, event: Event) {
        let mail = self.mail();
        if !mail.is_closed {
            self.put(mail, event);
        }
    }

    /// Posts a connection to the shard.
    ///
    /// # Errors
    /// Gives the connection back if the shard has ended.
    pub fn board(&self, passenger: IncomingConnection, seat: Seat) -> Result<(), IncomingConnection> {
        let mail = self.mail();
        if mail.is_closed {
            return Err(passenger);
        }
        self.put(mail, Event::Board(passenger, seat));
        Ok(())
    }

    fn put(&self, mut mail: MutexGuard<'_, Mail>, event: Event) {
        let is_first = mail.events.is_empty();
        mail.events.push(event);
        drop(mail);
        // If the inbox is not empty, another thread has already woken the shard.
        if is_first && let Err(error) = self.waker.wake() {
            tracing::error!(%error, "a shard cannot be woken");
        }
    }

    /// All events so far; `into` is empty.
    pub fn take(&self, into: &mut Vec<Event>) {
        mem::swap(&mut self.mail().events, into);
    }

    /// Closes it unless an event waits: nothing can be lost in a closed one. Returns whether it is closed.
    pub fn close_if_empty(&self) -> bool {
        let mut mail = self.mail();
        mail.is_closed |= mail.events.is_empty();
        mail.is_closed
    }

    /// Closes it, and returns what waits.
    pub fn close(&self) -> Vec<Event> {
        let mut mail = self.mail();
        mail.is_closed = true;
        mem::take(&mut mail.events)
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.inbox.post(Event::Topic(self.slot, Instant::now()));
        }
    }
}
