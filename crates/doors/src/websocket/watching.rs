//! What a shard sends to the clients that watch the registry: pictures, changes and statistics.

use super::{
    client::{DeltaReader, NativeClient},
    connection::{Connection, Protocol},
    deltas::Message,
    end::End,
    messages::{SchemaDelivery, Watch},
    shard::Shard,
};
use crate::delta::RegistryPosition;
use bytes::Bytes;
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

/// Bytes of pictures or changes for one client in a second.
const RATE: u64 = 4 * 1024 * 1024;
/// Time between two rounds.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of statistics for one client in a second.
const STATISTICS_RATE: u64 = 256 * 1024;

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
        let (version, frame) = self.picture.present(&self.around.dac.registry);
        let rest = Duration::from_nanos((frame.len() as u64).saturating_mul(1_000_000_000 / RATE));
        self.picture.not_before = Some(now + rest);
        for key in ready {
            let said = self.send_picture(key, version, frame.clone());
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

    /// Lets a client that came from another shard watch on here. It gets what it lacks before the end of this turn.
    pub(super) fn watch_on(&mut self, key: usize) {
        let version = self.around.dac.registry.version();
        let Some(client) = self.connections.get_mut(key).and_then(native) else { return };
        // A change may have been reported to both shards while the client was at neither.
        client.is_behind |= client.watches && client.pictured != version;
        // Each shard counts its own rounds of statistics.
        client.statistics = client.statistics.map(|_| 0);
        let now = Instant::now();
        if client.is_behind {
            self.picture.is_due = true;
            self.picture.not_before.get_or_insert(now);
        }
        if client.deltas.is_some() {
            self.deltas.is_due = true;
            self.deltas.not_before.get_or_insert(now);
        }
        if client.statistics.is_some() {
            self.statistics.is_due = true;
            self.statistics.not_before.get_or_insert(now);
        }
    }

    fn send_picture(&mut self, key: usize, version: u64, frame: Bytes) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        if let Some(client) = native(connection) {
            (client.is_behind, client.pictured) = (false, version);
        }
        connection.write_shared(frame)
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
            let message = self.deltas.after(&self.around.dac, cursor, now);
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
}

impl Shard {
    /// Sends statistics to clients that lag: a round, if it is time for one, otherwise the last one to new clients.
    pub(super) fn send_statistics(&mut self) {
        let now = Instant::now();
        let reader = |connection: &mut Connection| native(connection).and_then(|client| client.statistics);
        let readers: Vec<(usize, u64)> = self
            .connections
            .iter_mut()
            .filter_map(|(key, connection)| Some((key, reader(connection)?)))
            .collect();
        self.statistics.is_due = !readers.is_empty();
        if readers.is_empty() {
            return;
        }
        if self.statistics.not_before.is_none_or(|due| due <= now) {
            self.statistics.begin_round(&self.around.dac.registry);
            self.statistics.not_before = Some(now + PERIOD);
        }
        let round = self.statistics.round;
        let mut made: HashMap<u64, Vec<Bytes>> = HashMap::new();
        let mut longest = 0;
        for (key, since) in readers.into_iter().filter(|(_, since)| *since < round) {
            let messages = made.entry(since).or_insert_with(|| self.statistics.after(since)).clone();
            longest = longest.max(messages.iter().map(Bytes::len).sum());
            let said = self.send_rows(key, round, messages);
            self.settle(key, said);
        }
        let rest = Duration::from_nanos((longest as u64).saturating_mul(1_000_000_000 / STATISTICS_RATE));
        let due = self.statistics.not_before.unwrap_or(now).max(now + rest);
        self.statistics.not_before = Some(due);
    }

    /// Sends statistics when it is time.
    pub(super) fn send_due_statistics(&mut self) {
        if self.statistics.due().is_some_and(|due| due <= Instant::now()) {
            self.send_statistics();
        }
    }

    /// Writes one round to a client that has taken everything before; another client gets it with the next round.
    fn send_rows(&mut self, key: usize, round: u64, messages: Vec<Bytes>) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return Ok(());
        };
        messages.into_iter().try_for_each(|message| connection.write_shared(message))?;
        if let Some(client) = native(connection) {
            client.statistics = Some(round);
        }
        Ok(())
    }
}

fn native(connection: &mut Connection) -> Option<&mut NativeClient> {
    match &mut connection.protocol {
        Protocol::Native(client) => Some(client),
        Protocol::Eisa(_) => None,
    }
}

fn reader(connection: &mut Connection) -> Option<&mut DeltaReader> {
    match &mut connection.protocol {
        Protocol::Native(client) => client.deltas.as_mut(),
        Protocol::Eisa(_) => None,
    }
}
