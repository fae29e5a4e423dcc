//! Messages of a shard to the clients that watch the registry: pictures, changes and statistics.
//!
//! Each is made in parts that take a fraction of a millisecond, one or a few in a turn, so that samples never wait for the whole registry.

use super::{
    client::{DeltaReader, NativeClient},
    connection::{Connection, Protocol},
    deltas::{self, Message},
    end::End,
    messages::{SchemaDelivery, Watch},
    shard::Shard,
    statistics::StatisticsReader,
};
use crate::delta::RegistryPosition;
use bytes::Bytes;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Bytes of pictures for one client in a second.
const PICTURE_RATE: u64 = 4 * 1024 * 1024;
/// Bytes of changes for one client in a second: a picture of 10,000 nodes takes a fraction of a second.
const DELTA_RATE: u64 = 32 * 1024 * 1024;
/// Time between two rounds.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of statistics for one client in a second.
const STATISTICS_RATE: u64 = 256 * 1024;
/// Messages of changes, or of statistics, that are made in one turn.
const MAX_MADE_MESSAGES: usize = 2;
/// Messages of changes that are written in one turn.
const MAX_WRITTEN_MESSAGES: usize = 16;

impl Shard {
    /// The registry has changed: all watching clients need another picture, or the changes.
    pub(super) fn registry_changed(&mut self) {
        let (mut has_watchers, mut has_readers) = (false, false);
        for (_, connection) in &mut self.connections {
            if let Some(client) = native(connection) {
                client.is_behind |= client.watches;
                has_watchers |= client.watches;
                has_readers |= client.deltas.is_some();
            }
        }
        self.picture.is_due |= has_watchers;
        self.deltas.is_due |= has_readers;
    }

    /// Lets a client watch from now on: whole pictures, or changes if it asks for them.
    pub(super) fn watch(&mut self, key: usize, wanted: &Watch) {
        let epoch = self.around.dac.epoch();
        if let Some(client) = self.connections.get_mut(key).and_then(native) {
            client.watches = !wanted.deltas;
            client.is_behind = !wanted.deltas;
            let cursor = RegistryPosition::in_epoch(wanted.resume, epoch);
            client.deltas = wanted.deltas.then(|| Box::new(DeltaReader::new(cursor)));
            let statistics = || Box::new(StatisticsReader::new(wanted.causes));
            client.statistics = wanted.statistics.then(statistics);
            client.schemas = (wanted.schemas == SchemaDelivery::Once).then(Default::default);
            self.picture.is_due |= !wanted.deltas;
            self.deltas.is_due |= wanted.deltas;
            self.statistics.is_due |= wanted.statistics;
            self.statistics.is_busy |= wanted.statistics;
        }
    }

    /// A client has taken what it was sent: it can get what waits for it.
    pub(super) fn has_room(&mut self, key: usize) {
        let revision = self.around.dac.registry.revision();
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return;
        };
        if let Some(client) = native(connection) {
            self.picture.is_due |= client.is_behind;
            self.deltas.is_due |= client.deltas.as_ref().is_some_and(|reader| reader.lags(revision));
            self.statistics.is_busy |= client.statistics.is_some();
        }
    }

    /// Continues with pictures, changes and statistics, as far as they are due.
    pub(super) fn serve_watchers(&mut self) {
        let is_time = |due: Option<Instant>| due.is_some_and(|due| due <= Instant::now());
        if is_time(self.picture.due()) {
            self.send_pictures();
        }
        if is_time(self.deltas.due()) {
            self.send_deltas();
        }
        if is_time(self.statistics.due()) {
            self.send_statistics();
        }
        if is_time(self.fleet_clock.due()) {
            self.send_fleets();
        }
    }

    /// Lets a client that came from another shard watch on here.
    pub(super) fn watch_on(&mut self, key: usize) {
        let version = self.around.dac.registry.version();
        let Some(client) = self.connections.get_mut(key).and_then(native) else { return };
        // A change may have been reported to both shards while the client was at neither.
        client.is_behind |= client.watches && client.pictured != version;
        // Each shard counts its own rounds of statistics.
        client.statistics = client.statistics.as_ref().map(|reader| Box::new(reader.start_again()));
        self.picture.is_due |= client.is_behind;
        self.deltas.is_due |= client.deltas.is_some();
        self.statistics.is_due |= client.statistics.is_some();
        if !client.fleets.is_empty() {
            self.fleet_clock.wake();
        }
        self.statistics.is_busy |= client.statistics.is_some();
    }
}

impl Shard {
    /// Writes a page of the present picture, and once it has all pages sends it to clients that have an older one. Those that still have unread answers get
    /// it later.
    fn send_pictures(&mut self) {
        if !self.picture.is_unfinished() && self.clients_behind().is_empty() {
            self.picture.is_due = false;
            return;
        }
        let Some((version, frame)) = self.picture.present(&self.around.dac.registry) else { return };
        let rest = Duration::from_nanos((frame.len() as u64).saturating_mul(1_000_000_000 / PICTURE_RATE));
        self.picture.not_before = Some(Instant::now() + rest);
        // The registry may have changed since the first page.
        self.picture.is_due = version != self.around.dac.registry.version();
        let is_old = self.picture.is_due;
        for key in self.clients_behind() {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            if let Some(client) = native(connection) {
                (client.is_behind, client.pictured) = (is_old, version);
            }
            connection.queue_shared(frame.clone());
            self.enqueue_flush(key);
        }
    }

    /// The clients that lack the present picture and have room for it.
    fn clients_behind(&mut self) -> Vec<usize> {
        let is_behind = |(key, connection): (usize, &mut Connection)| {
            let is_open = connection.is_open();
            (is_open && native(connection).is_some_and(|client| client.is_behind)).then_some(key)
        };
        self.connections.iter_mut().filter_map(is_behind).collect()
    }
}

impl Shard {
    /// Sends a message to each client that lags and has taken the one before, a few of them in a turn. After the last of them comes a rest as long as the work:
    /// changes take half of the shard's time at most.
    fn send_deltas(&mut self) {
        let now = Instant::now();
        if self.deltas.turn.is_empty() {
            self.deltas.turn = self.clients_that_lag();
            (self.deltas.longest, self.deltas.worked) = (0, Duration::ZERO);
            if self.deltas.turn.is_empty() {
                self.deltas.is_due = false;
                return;
            }
        }
        let (mut made, mut written) = (0, 0);
        while made < MAX_MADE_MESSAGES
            && written < MAX_WRITTEN_MESSAGES
            && let Some(key) = self.deltas.turn.pop_front()
        {
            let revision = self.around.dac.registry.revision();
            let connection = self.connections.get_mut(key).filter(|connection| connection.is_open());
            let Some(connection) = connection else { continue };
            let caller = (!connection.caller.sees_everything()).then(|| connection.caller.clone());
            let Some(reader) = reader(connection).filter(|reader| reader.lags(revision)) else { continue };
            let (message, is_new) = match caller {
                None => self.deltas.after(&self.around.dac, reader.cursor, now),
                Some(caller) => (deltas::visible_to(&caller, &self.around.dac, *reader), true),
            };
            made += usize::from(is_new);
            written += 1;
            self.deltas.longest = self.deltas.longest.max(message.frame.as_ref().map_or(0, Bytes::len));
            let said = self.send_delta(key, message);
            self.settle(key, said);
        }
        let ended = Instant::now();
        self.deltas.worked += ended.saturating_duration_since(now);
        if self.deltas.turn.is_empty() {
            // Whether a client still lags is found out after the rest.
            let longest = self.deltas.longest as u64;
            let sent = Duration::from_nanos(longest.saturating_mul(1_000_000_000 / DELTA_RATE));
            self.deltas.not_before = Some(ended + sent.max(self.deltas.worked));
        }
    }

    /// The clients that lack changes and have room for them.
    fn clients_that_lag(&mut self) -> VecDeque<usize> {
        let revision = self.around.dac.registry.revision();
        let lags = |(key, connection): (usize, &mut Connection)| {
            let is_open = connection.is_open();
            (is_open && reader(connection).is_some_and(|reader| reader.lags(revision))).then_some(key)
        };
        self.connections.iter_mut().filter_map(lags).collect()
    }

    fn send_delta(&mut self, key: usize, message: Message) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        if let Some(reader) = reader(connection) {
            *reader = DeltaReader { cursor: message.next, is_new: false };
        }
        message.frame.map_or(Ok(()), |frame| connection.write_shared(frame))
    }
}

impl Shard {
    /// Continues with the round, if it is due, and sends pieces of the last one to clients that lack it.
    fn send_statistics(&mut self) {
        let now = Instant::now();
        let has_statistics = |(key, connection): (usize, &mut Connection)| {
            native(connection).is_some_and(|client| client.statistics.is_some()).then_some(key)
        };
        let readers: Vec<usize> = self.connections.iter_mut().filter_map(has_statistics).collect();
        self.statistics.is_due = !readers.is_empty();
        self.statistics.is_busy = false;
        if readers.is_empty() {
            return;
        }
        let is_time = self.statistics.not_before.is_none_or(|due| due <= now);
        if (self.statistics.is_comparing() || is_time)
            && self.statistics.compare_some(&self.around.dac.registry)
        {
            self.statistics.not_before = Some(now + PERIOD);
        }
        let mut made = 0;
        for key in readers {
            if made == MAX_MADE_MESSAGES {
                self.statistics.is_busy = true;
                break;
            }
            let said = self.send_piece(key, now, &mut made);
            self.settle(key, said);
        }
    }

    /// Writes a piece of the last round to a client that has taken everything before. Another client gets it when it has room.
    fn send_piece(&mut self, key: usize, now: Instant, made: &mut usize) -> Result<(), End> {
        let round = self.statistics.round();
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return Ok(());
        };
        let caller = (!connection.caller.sees_everything()).then(|| connection.caller.clone());
        let Some(reader) = native(connection).and_then(|client| client.statistics.as_mut()) else {
            return Ok(());
        };
        if !reader.follow(round) {
            return Ok(());
        }
        let next = match caller {
            None => self.statistics.next(reader),
            Some(caller) => self.statistics.next_visible(reader, &caller, &self.around.dac.registry),
        };
        let Some((piece, is_new)) = next else { return Ok(()) };
        *made += usize::from(is_new);
        let bytes = reader.took(&piece) as u64;
        self.statistics.is_busy |= reader.follow(round);
        let rest = Duration::from_nanos(bytes.saturating_mul(1_000_000_000 / STATISTICS_RATE));
        let due = self.statistics.not_before.unwrap_or(now).max(now + rest);
        self.statistics.not_before = Some(due);
        piece.frame.map_or(Ok(()), |frame| connection.write_shared(frame))
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
        Protocol::Native(client) => client.deltas.as_deref_mut(),
        Protocol::Eisa(_) => None,
    }
}
