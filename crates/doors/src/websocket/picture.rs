//! The registry as one message: nodes and instances, for clients that watch them.
//!
//! With thousands of instances the message has megabytes. So it is made once for all clients of a shard, it is shared and not copied, a client gets the next one only after
//! it has taken the one before, and the larger it is the longer is the rest before the next one.

use super::{
    client::NativeClient,
    connection::{Connection, Protocol},
    deltas::DeltaReader,
    end::End,
    messages::{Answer, SchemaDelivery, Watch},
    shard::Shard,
};
use crate::{delta::RegistryPosition, view};
use bytes::Bytes;
use oasis_websocket::{Opcode, frame};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

/// Bytes of pictures for one client in a second.
pub(super) const RATE: u64 = 4 * 1024 * 1024;

/// The newest picture of a shard.
#[derive(Debug, Default)]
pub struct Picture {
    /// Version of the registry, and the frame of its picture.
    made: Option<(u64, Bytes)>,
    /// When the next one may be made.
    not_before: Option<Instant>,
    /// Whether a client waits for a picture.
    is_due: bool,
}

impl Picture {
    /// Returns when a client that waits for a picture can get it.
    pub fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.is_due)
    }
}

impl Shard {
    /// The registry has changed: all watching clients need another picture.
    pub(super) fn registry_changed(&mut self) {
        for (_, connection) in &mut self.connections {
            if let Some(client) = native(connection) {
                client.is_behind |= client.watches;
            }
        }
        self.send_pictures();
        self.send_deltas();
    }

    /// Lets a client watch from now on: whole pictures, or changes if it asks for them.
    pub(super) fn watch(&mut self, key: usize, wanted: &Watch) {
        let epoch = self.around.dac.epoch();
        if let Some(client) = self.connections.get_mut(key).and_then(native) {
            client.watches = !wanted.deltas;
            client.is_behind = !wanted.deltas;
            let cursor = RegistryPosition::in_epoch(wanted.resume, epoch);
            client.deltas = wanted.deltas.then(|| DeltaReader::new(cursor));
            client.statistics = wanted.statistics.then_some(0);
            client.schemas = (wanted.schemas == SchemaDelivery::Once).then(HashSet::new);
        }
        self.send_pictures();
        self.send_deltas();
        self.send_statistics();
    }

    /// Sends the present picture to clients that have an older one, unless the last was sent a moment ago. Those that still have unread answers get it later.
    pub(super) fn send_pictures(&mut self) {
        let now = Instant::now();
        let needs_one = |(key, connection): (usize, &mut Connection)| {
            let is_open = connection.is_open();
            (is_open && native(connection).is_some_and(|client| client.is_behind)).then_some(key)
        };
        let ready: Vec<usize> = self.connections.iter_mut().filter_map(needs_one).collect();
        self.picture.is_due = !ready.is_empty();
        if ready.is_empty() || self.picture.not_before.is_some_and(|due| now < due) {
            return;
        }
        self.picture.is_due = false;
        let frame = self.present_picture();
        let rest = Duration::from_nanos((frame.len() as u64).saturating_mul(1_000_000_000 / RATE));
        self.picture.not_before = Some(now + rest);
        for key in ready {
            let said = self.send_picture(key, frame.clone());
            self.settle(key, said);
        }
    }

    /// Sends pictures that had to wait for their time.
    pub(super) fn send_due_pictures(&mut self) {
        if self.picture.due().is_some_and(|due| due <= Instant::now()) {
            self.send_pictures();
        }
    }

    /// Sends the picture that had to wait until a client took other answers.
    pub(super) fn send_late_picture(&mut self, key: usize) {
        let is_ready = |connection: &mut Connection| {
            connection.is_open() && native(connection).is_some_and(|client| client.is_behind)
        };
        if self.connections.get_mut(key).is_some_and(is_ready) {
            self.send_pictures();
        }
    }

    fn send_picture(&mut self, key: usize, frame: Bytes) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        if let Some(client) = native(connection) {
            client.is_behind = false;
        }
        connection.write_shared(frame)
    }

    fn present_picture(&mut self) -> Bytes {
        let registry = &self.around.dac.registry;
        let version = registry.version();
        if let Some((made, frame)) = &self.picture.made
            && *made == version
        {
            return frame.clone();
        }
        let picture = Answer::Registry { nodes: view::nodes(registry), instances: view::instances(registry) };
        let mut out = Vec::new();
        frame::write_message(Opcode::Text, &picture.json(), &mut out);
        let frame = Bytes::from(out);
        self.picture.made = Some((version, frame.clone()));
        frame
    }
}

pub(super) fn native(connection: &mut Connection) -> Option<&mut NativeClient> {
    match &mut connection.protocol {
        Protocol::Native(client) => Some(client),
        Protocol::Eisa(_) => None,
    }
}
