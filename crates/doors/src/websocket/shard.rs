//! A shard: one thread that owns its connections and waits for all of them at once.
//!
//! Nothing here is shared but the topic logs, so nothing is locked while writing. What a subscriber has not been sent yet stays in
//! the log; the shard keeps a place in it and nothing else. What happens in a turn of the loop: sockets are read, events from other threads are taken, and if the
//! [`Pace`] allows it everybody who is behind and whose socket has room is written to.

use super::{
    connection::{Connection, ConnectionId, Protocol, Subscription},
    end::End,
    frame::Opcode,
    inbound::Message,
    inbox::{Event, Inbox, Newcomer, TopicWaker},
    pace::Pace,
    topic::{Format, Topic},
};
use crate::config::DoorsConfig;
use bytes::Bytes;
use mio::{Events, Interest, Poll, Token};
use oasis_channel::Command;
use oasis_dac::{Dac, Doorkeeper, From, Instance, Options, now};
use oasis_wire::quantity::TopicId;
use slab::Slab;
use std::{
    collections::HashMap,
    io::{ErrorKind, Read},
    mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Handle;

/// The inbox's token; a connection's is its key.
pub const INBOX: Token = Token(usize::MAX);
/// Read from a socket at once.
const READ: usize = 64 * 1024;
/// Written to a socket in one round. Who is behind by more gets the rest in the next rounds, behind the others.
const WRITE: usize = 64 * 1024;
/// How often the shard looks for those who stopped taking.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// Pings that a client may send in that time.
const PINGS: u32 = 100;

/// What a shard knows of the world.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// What is read, and who obeys.
    pub dac: Arc<Dac>,
    /// Bounds.
    pub config: Arc<DoorsConfig>,
    /// Counts what clients bring and why they were closed.
    pub doorkeeper: Arc<Doorkeeper>,
    /// For what takes time: commands.
    pub runtime: Handle,
}

/// One event loop.
#[derive(Debug)]
pub struct Shard {
    pub(super) around: Surroundings,
    poll: Poll,
    inbox: Arc<Inbox>,
    pub(super) connections: Slab<Connection>,
    topics: Slab<Topic>,
    slots: HashMap<TopicId, usize>,
    /// Topics with something new.
    raised: Vec<usize>,
    /// Keys of connections that may be behind.
    queue: Vec<usize>,
    pace: Pace,
    buffer: Vec<u8>,
    next_serial: u64,
    looked_around: Instant,
    is_ending: bool,
}

impl Shard {
    /// A shard without connections.
    pub fn new(around: Surroundings, poll: Poll, inbox: Arc<Inbox>) -> Self {
        let now = Instant::now();
        let longest = Duration::from_millis(around.config.flush_ms);
        Self {
            around,
            poll,
            inbox,
            connections: Slab::new(),
            topics: Slab::new(),
            slots: HashMap::new(),
            raised: Vec::new(),
            queue: Vec::new(),
            pace: Pace::new(longest, now),
            buffer: vec![0; READ],
            next_serial: 0,
            looked_around: now,
            is_ending: false,
        }
    }

    /// Serves until the DAC shuts down and everybody has left.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        let mut inbox = Vec::new();
        while !(self.is_ending && self.connections.is_empty()) {
            if let Err(error) = self.poll.poll(&mut events, Some(self.patience()))
                && error.kind() != ErrorKind::Interrupted
            {
                tracing::error!(%error, "a shard cannot wait for its sockets");
                return;
            }
            for event in events.iter().filter(|event| event.token() != INBOX) {
                let key = event.token().0;
                if event.is_writable() {
                    self.writable(key);
                }
                if event.is_readable() {
                    self.readable(key);
                }
            }
            self.inbox.take(&mut inbox);
            inbox.drain(..).for_each(|event| self.told(event));
            self.round();
            self.look_around();
        }
    }

    /// How long there is nothing to do but wait.
    fn patience(&self) -> Duration {
        let now = Instant::now();
        let around = (self.looked_around + LOOK_AROUND).saturating_duration_since(now);
        if self.raised.is_empty() && self.queue.is_empty() { around } else { self.pace.wait(now).min(around) }
    }

    fn told(&mut self, event: Event) {
        match event {
            Event::Newcomer(newcomer) => self.adopt(*newcomer),
            Event::Topic(slot) => self.raised.push(slot),
            Event::Outcome { connection, request, outcome } => self.outcome(connection, request, &outcome),
            Event::Registry => self.send_registry(),
            Event::End => {
                self.is_ending = true;
                let keys: Vec<usize> = self.connections.iter().map(|(key, _)| key).collect();
                keys.into_iter().for_each(|key| self.end(key, &End::ShuttingDown));
            }
        }
    }

    fn adopt(&mut self, newcomer: Newcomer) {
        let Newcomer { stream, peer, protocol, place, mut early } = newcomer;
        let entry = self.connections.vacant_entry();
        let key = entry.key();
        self.next_serial += 1;
        let stream = mio::net::TcpStream::from_std(stream);
        let connection = entry.insert(Connection::new(stream, peer, self.next_serial, protocol, place));
        // Edge-triggered: told once of each change, and never registered again.
        let interest = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(connection.stream(), Token(key), interest) {
            tracing::error!(%error, "a connection cannot be watched");
            self.connections.remove(key);
            return;
        }
        if self.is_ending {
            return self.end(key, &End::ShuttingDown);
        }
        let outcome = self.welcome(key).and_then(|()| self.take(key, &mut early));
        self.settle(key, outcome);
    }

    fn writable(&mut self, key: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let outcome = connection.flush();
        self.settle(key, outcome);
        self.enqueue(key);
    }

    fn readable(&mut self, key: usize) {
        let mut buffer = mem::take(&mut self.buffer);
        let outcome = self.read(key, &mut buffer);
        self.buffer = buffer;
        self.settle(key, outcome);
    }

    /// Reads until there is nothing left: the system tells of a readable socket once.
    fn read(&mut self, key: usize, buffer: &mut [u8]) -> Result<(), End> {
        loop {
            let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
            match connection.stream().read(buffer) {
                Ok(0) => return Err(End::Client),
                // Nobody listens to one who was told to go.
                Ok(_) if connection.is_leaving() => {}
                Ok(length) => self.take(key, buffer.get_mut(..length).unwrap_or_default())?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes bytes of a client.
    fn take(&mut self, key: usize, bytes: &mut [u8]) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        let (mut inbound, max) = (mem::take(&mut connection.inbound), connection.protocol.max_message());
        inbound.take(bytes, max, |message| self.message(key, message))?;
        if let Some(connection) = self.connections.get_mut(key) {
            connection.inbound = inbound;
        }
        Ok(())
    }

    fn message(&mut self, key: usize, message: Message<'_>) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        match message {
            // What comes behind a goodbye counts no more, and nothing is said behind one.
            _ if connection.is_leaving() => Ok(()),
            Message::Ping(payload) => {
                connection.pings += 1;
                if connection.pings > PINGS {
                    return Err(End::Abuse("more than 100 pings in a second"));
                }
                connection.say(Opcode::Pong, payload)
            }
            Message::Pong => Ok(()),
            Message::Close(code) => {
                connection.leave(code.unwrap_or(1000), "");
                Ok(())
            }
            Message::Text(text) => {
                self.around.doorkeeper.received(text.len());
                match connection.protocol {
                    Protocol::Native(_) => self.native_request(key, text),
                    Protocol::Eisa(_) => Err(End::WrongKind(
                        "clients without a subprotocol send binary commands; this was text",
                    )),
                    #[cfg(feature = "echo")]
                    Protocol::Echo => connection.say(Opcode::Text, text.as_bytes()),
                }
            }
            Message::Binary(bytes) => {
                self.around.doorkeeper.received(bytes.len());
                match connection.protocol {
                    Protocol::Native(_) => Err(End::WrongKind("control messages are text; this was binary")),
                    Protocol::Eisa(_) => self.eisa_command(key, bytes),
                    #[cfg(feature = "echo")]
                    Protocol::Echo => connection.say(Opcode::Binary, bytes),
                }
            }
        }
    }

    /// Adds a subscription; answers where it begins and whether the position belonged to another epoch.
    pub(super) fn subscribe(
        &mut self,
        key: usize,
        instance: Arc<Instance>,
        from: From,
        options: Options,
    ) -> Option<(u64, bool)> {
        let connection = self.connections.get_mut(key)?;
        let topics = &mut self.topics;
        let slot = *self.slots.entry(instance.topic).or_insert_with(|| {
            let entry = topics.vacant_entry();
            let slot = entry.key();
            entry.insert(Topic::new(instance.clone(), TopicWaker::new(self.inbox.clone(), slot)));
            slot
        });
        let topic = topics.get_mut(slot)?;
        // The topic tells of appends already, so nothing goes unnoticed from here on.
        let (next, epoch_changed) = instance.start(from, options.delivery);
        connection.subscriptions.reserve_exact(1);
        connection.subscriptions.push(Subscription {
            topic: slot,
            place: topic.readers.len(),
            next,
            options,
        });
        topic.readers.push(key);
        self.enqueue(key);
        Some((next.0, epoch_changed))
    }

    /// Whether the connection reads this topic.
    pub(super) fn reads(&self, key: usize, topic: TopicId) -> bool {
        let slot = self.slots.get(&topic);
        self.connections.get(key).is_some_and(|connection| {
            connection.subscriptions.iter().any(|subscription| Some(&subscription.topic) == slot)
        })
    }

    /// Ends a subscription, if there is one.
    pub(super) fn unsubscribe(&mut self, key: usize, topic: TopicId) -> bool {
        let Some(&slot) = self.slots.get(&topic) else { return false };
        let Some(connection) = self.connections.get_mut(key) else { return false };
        let Some(index) = connection.subscriptions.iter().position(|subscription| subscription.topic == slot)
        else {
            return false;
        };
        let subscription = connection.subscriptions.swap_remove(index);
        self.forget_reader(&subscription);
        true
    }

    fn forget_reader(&mut self, subscription: &Subscription) {
        let Some(topic) = self.topics.get_mut(subscription.topic) else { return };
        topic.readers.swap_remove(subscription.place);
        if let Some(&moved) = topic.readers.get(subscription.place)
            && let Some(connection) = self.connections.get_mut(moved)
            && let Some(moved) =
                connection.subscriptions.iter_mut().find(|moved| moved.topic == subscription.topic)
        {
            moved.place = subscription.place;
        }
        if topic.readers.is_empty() {
            self.slots.remove(&topic.instance.topic);
            self.topics.remove(subscription.topic);
        }
    }

    /// Has the connection written to in the next round.
    fn enqueue(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !mem::replace(&mut connection.is_queued, true)
        {
            self.queue.push(key);
        }
    }

    /// Writes to everybody who may be behind, if it is time.
    fn round(&mut self) {
        let began = Instant::now();
        if (self.raised.is_empty() && self.queue.is_empty()) || !self.pace.wait(began).is_zero() {
            return;
        }
        for slot in mem::take(&mut self.raised) {
            let Some(topic) = self.topics.get(slot) else { continue };
            topic.look();
            for &key in &topic.readers {
                if let Some(connection) = self.connections.get_mut(key)
                    && !mem::replace(&mut connection.is_queued, true)
                {
                    self.queue.push(key);
                }
            }
        }
        for key in mem::take(&mut self.queue) {
            let outcome = self.push(key);
            self.settle(key, outcome);
        }
        self.topics.iter_mut().for_each(|(_, topic)| topic.forget_bursts());
        self.pace.rest(began, Instant::now());
    }

    /// Writes what a connection is behind, all topics in one write, up to a bound.
    fn push(&mut self, key: usize) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        connection.is_queued = false;
        if !connection.is_open() {
            return Ok(());
        }
        let format = match connection.protocol {
            Protocol::Native(_) => Format::Native,
            Protocol::Eisa(_) => Format::Eisa,
            #[cfg(feature = "echo")]
            Protocol::Echo => return Ok(()),
        };
        let (mut pieces, mut room, mut is_behind) = (Vec::new(), WRITE, false);
        let mut over: Option<TopicId> = None;
        for subscription in &mut connection.subscriptions {
            let Some(topic) = self.topics.get_mut(subscription.topic) else { continue };
            if room > 0 && subscription.next < topic.instance.log.next() {
                let burst = topic.burst(format, subscription.options, subscription.next, room);
                room = room.saturating_sub(burst.bytes.len());
                subscription.next = burst.end;
                if !burst.bytes.is_empty() {
                    pieces.push(burst.bytes);
                }
                if burst.is_over {
                    over = Some(topic.instance.topic);
                }
            }
            if subscription.next < topic.instance.log.next() {
                is_behind = true;
            } else if topic.instance.retired() {
                over = Some(topic.instance.topic);
            }
        }
        // Who is behind by more than fits begins with another topic the next time.
        if is_behind && connection.subscriptions.len() > 1 {
            self.rotate(key);
        }
        self.write(key, &pieces)?;
        if is_behind || over.is_some() {
            self.enqueue(key);
        }
        match over {
            Some(topic) => self.finish(key, topic),
            None => Ok(()),
        }
    }

    fn rotate(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.subscriptions.rotate_left(1);
        }
    }

    fn write(&mut self, key: usize, pieces: &[Bytes]) -> Result<(), End> {
        match self.connections.get_mut(key) {
            Some(connection) => connection.write(pieces),
            None => Ok(()),
        }
    }

    /// A subscription ends by itself: another topic has taken the place of this one, or it was too late for its samples.
    fn finish(&mut self, key: usize, topic: TopicId) -> Result<(), End> {
        self.unsubscribe(key, topic);
        match self.connections.get(key).map(|connection| &connection.protocol) {
            Some(Protocol::Native(_)) => self.say_unsubscribed(key, topic),
            _ => Ok(()),
        }
    }

    /// Carries a command to its node on another thread, so that samples keep flowing meanwhile.
    pub(super) fn send_command(
        &self,
        key: usize,
        request: i64,
        who: &'static str,
        (node, instance): (String, String),
        command: Command,
    ) {
        let Some(connection) = self.connections.get(key) else { return };
        let (dac, inbox) = (self.around.dac.clone(), self.inbox.clone());
        let who = format!("{who} {}", connection.peer);
        let connection = ConnectionId { key, serial: connection.serial };
        self.around.runtime.spawn(async move {
            let outcome = dac.commands.send(&dac.registry, (&node, &instance), command, &who, now()).await;
            inbox.post(Event::Outcome { connection, request, outcome });
        });
    }

    /// The connection of this id, if it is still the same one.
    pub(super) fn same(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(id.key).filter(|connection| connection.serial == id.serial)
    }

    /// Ends a connection if that is what came of serving it, and lets those go who have said goodbye.
    pub(super) fn settle(&mut self, key: usize, outcome: Result<(), End>) {
        if let Err(end) = outcome {
            self.end(key, &end);
        }
        if self.connections.get(key).is_some_and(|connection| connection.has_left(Instant::now())) {
            self.remove(key);
        }
    }

    fn end(&mut self, key: usize, end: &End) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some((code, word)) = end.code() else { return self.remove(key) };
        if let Some(word) = word {
            self.around.doorkeeper.refused(word);
            tracing::info!(peer = %connection.peer, %end, "websocket closed");
        }
        connection.leave(code, &end.to_string());
    }

    fn remove(&mut self, key: usize) {
        let Some(mut connection) = self.connections.try_remove(key) else { return };
        // Closing the socket would do; this keeps an error from going unseen.
        if let Err(error) = self.poll.registry().deregister(connection.stream()) {
            tracing::debug!(%error, "a closed connection was not watched");
        }
        for subscription in mem::take(&mut connection.subscriptions) {
            self.forget_reader(&subscription);
        }
    }

    /// Lets go of those who stopped taking.
    fn look_around(&mut self) {
        let now = Instant::now();
        if now < self.looked_around + LOOK_AROUND {
            return;
        }
        self.looked_around = now;
        let (mut stalled, mut gone) = (Vec::new(), Vec::new());
        for (key, connection) in &mut self.connections {
            connection.pings = 0;
            if connection.has_left(now) {
                gone.push(key);
            } else if connection.is_stalled(now) {
                stalled.push(key);
            }
        }
        stalled.into_iter().for_each(|key| self.end(key, &End::Stalled));
        gone.into_iter().for_each(|key| self.remove(key));
    }
}
