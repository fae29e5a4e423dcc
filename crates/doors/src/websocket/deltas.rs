//! The registry as changes since a revision, for clients that ask for them.
//!
//! A message has 64 KiB at most, and a client gets the next one when it has taken the one before: a picture of 20,000 instances comes in pieces, and samples
//! pass between them. Clients that are at the same place share the bytes.

use super::{
    connection::{Connection, Protocol},
    end::End,
    messages::Answer,
    picture::RATE,
    shard::Shard,
};
use crate::delta;
use bytes::Bytes;
use oasis_dac::RegistryCursor;
use oasis_websocket::{Opcode, frame};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Messages that are kept for clients at the same place.
const KEPT: usize = 64;
/// How long a message is kept. It stays true for longer, but a newer one spares clients entries that have changed again.
const FRESH: Duration = Duration::from_secs(1);

/// A client that reads changes.
#[derive(Debug, Clone, Copy)]
pub struct DeltaReader {
    cursor: RegistryCursor,
    /// Whether it has received no message yet.
    is_new: bool,
}

impl DeltaReader {
    /// Continues here. The first message comes even if nothing has changed.
    pub fn new(cursor: RegistryCursor) -> Self {
        Self { cursor, is_new: true }
    }

    fn lags(&self, revision: u64) -> bool {
        self.is_new || self.cursor.revision < revision
    }
}

/// Changes as the clients of a shard receive them.
#[derive(Debug, Default)]
pub struct Deltas {
    /// By the place of the reader.
    made: HashMap<RegistryCursor, Message>,
    /// When the next ones may be sent.
    not_before: Option<Instant>,
    /// Whether a client waits for one.
    is_due: bool,
}

#[derive(Debug, Clone)]
struct Message {
    frame: Bytes,
    next: RegistryCursor,
    made: Instant,
}

impl Deltas {
    /// Returns when a client that waits for changes can get them.
    pub fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.is_due)
    }
}

impl Shard {
    /// Sends a message to each client that lags and has taken the one before, unless the last ones were sent a moment ago.
    pub(super) fn send_deltas(&mut self) {
        let now = Instant::now();
        let mut revision = None;
        let mut ready = Vec::new();
        for (key, connection) in &mut self.connections {
            let is_open = connection.is_open();
            let Some(reader) = reader(connection).filter(|_| is_open) else { continue };
            let revision = *revision.get_or_insert_with(|| self.around.dac.registry.revision());
            if reader.lags(revision) {
                ready.push((key, reader.cursor));
            }
        }
        self.deltas.is_due = !ready.is_empty();
        if ready.is_empty() || self.deltas.not_before.is_some_and(|due| now < due) {
            return;
        }
        let mut longest = 0;
        for (key, cursor) in ready {
            let message = self.delta_after(cursor, now);
            longest = longest.max(message.frame.len());
            let said = self.send_delta(key, message);
            self.settle(key, said);
        }
        // Whether a client still lags is found out after the rest.
        let rest = Duration::from_nanos((longest as u64).saturating_mul(1_000_000_000 / RATE));
        self.deltas.not_before = Some(now + rest);
    }

    /// Sends the changes that had to wait until a client took the ones before.
    pub(super) fn send_late_deltas(&mut self, key: usize) {
        let revision = self.around.dac.registry.revision();
        let lags = |connection: &mut Connection| {
            connection.is_open() && reader(connection).is_some_and(|reader| reader.lags(revision))
        };
        if self.connections.get_mut(key).is_some_and(lags) {
            self.send_deltas();
        }
    }

    /// Sends changes that had to wait for their time.
    pub(super) fn send_due_deltas(&mut self) {
        if self.deltas.due().is_some_and(|due| due <= Instant::now()) {
            self.send_deltas();
        }
    }

    fn send_delta(&mut self, key: usize, message: Message) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        if let Some(reader) = reader(connection) {
            *reader = DeltaReader { cursor: message.next, is_new: false };
        }
        connection.write_shared(message.frame)
    }

    fn delta_after(&mut self, cursor: RegistryCursor, now: Instant) -> Message {
        let made = &mut self.deltas.made;
        // A message without changes leads nowhere once there are some.
        let is_useful = |message: &&Message| now < message.made + FRESH && message.next != cursor;
        if let Some(message) = made.get(&cursor).filter(is_useful) {
            return message.clone();
        }
        made.retain(|_, message| now < message.made + FRESH);
        if made.len() >= KEPT {
            made.clear();
        }
        let dac = &self.around.dac;
        let (delta, next) = delta::next(&dac.registry, dac.epoch(), cursor);
        let mut out = Vec::new();
        frame::write_message(Opcode::Text, &Answer::RegistryDelta(Box::new(delta)).json(), &mut out);
        let message = Message { frame: out.into(), next, made: now };
        made.insert(cursor, message.clone());
        message
    }
}

fn reader(connection: &mut Connection) -> Option<&mut DeltaReader> {
    match &mut connection.protocol {
        Protocol::Native(client) => client.deltas.as_mut(),
        Protocol::Eisa(_) => None,
    }
}
