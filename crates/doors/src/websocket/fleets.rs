//! Messages of a shard to the clients that read fleets.
//!
//! Rounds are computed on a thread of their own, for all shards. The shard looks for new ones 20 times a second while it has readers, and writes a message at
//! a time to each client that has taken what came before. Messages of changes take 1 MiB/s of a connection, so a client gets fewer rounds if they are long.

use super::{
    client::NativeClient,
    connection::{Connection, Protocol},
    end::End,
    fleet_subscription::FleetSubscription,
    messages::Answer,
    shard::Shard,
};
use crate::fleet::{FleetReader, FleetRequest};
use oasis_access::{Target, Verb};
use oasis_http::permissions::Caller;
use std::time::{Duration, Instant};

/// Interval at which the shard polls for new rounds.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Upper bound of the fleets of one connection.
const MAX_FLEETS: usize = 4;
/// Messages that are written in one turn.
const MAX_WRITTEN_MESSAGES: usize = 4;
/// Bytes of changes for one client in a second.
const CHANGES_RATE: u64 = 1024 * 1024;
/// Bytes of a first picture for one client in a second: 10,000 members take a fraction of a second.
const PICTURE_RATE: u64 = 32 * 1024 * 1024;

impl Shard {
    /// Subscribes to a fleet and answers.
    pub(super) fn subscribe_fleet(&mut self, key: usize, id: i64, wanted: &FleetRequest) -> Result<(), End> {
        let Some(connection) = self.connections.get(key) else { return Ok(()) };
        if let Err(refusal) = connection.caller.authorize(Verb::ReadLive, Target::SomeOfDac) {
            return self.answer(key, &Answer::error(id, refusal.code(), refusal.to_string()));
        }
        let selection = match wanted.check() {
            Ok(selection) => selection,
            Err(error) => return self.bad_request(key, Some(id), error.to_string()),
        };
        let Some(fleets) = self.fleets_of(key) else { return Ok(()) };
        if fleets.len() >= MAX_FLEETS {
            let message = format!("a connection may read {MAX_FLEETS} fleets: end another one (end-fleet)");
            return self.answer(key, &Answer::error(id, "too_many_fleets", message));
        }
        let fleet = match self.around.fleets.open(selection) {
            Ok(fleet) => fleet,
            Err(error) => return self.answer(key, &Answer::error(id, "too_many_fleets", error.to_string())),
        };
        let number = fleet.number;
        let Some(fleets) = self.fleets_of(key) else { return Ok(()) };
        if fleets.iter().any(|known| known.fleet.number == number) {
            let message = format!("fleet {number} is read already");
            return self.answer(key, &Answer::error(id, "already_subscribed", message));
        }
        fleets.push(FleetSubscription { fleet, reader: FleetReader::default(), due: Instant::now() });
        self.fleet_clock.wake();
        self.answer(key, &Answer::Fleet { id, fleet: number })
    }

    /// Ends the subscription to a fleet and answers.
    pub(super) fn end_fleet(&mut self, key: usize, id: i64, number: u64) -> Result<(), End> {
        let Some(fleets) = self.fleets_of(key) else { return Ok(()) };
        let before = fleets.len();
        fleets.retain(|known| known.fleet.number != number);
        if fleets.len() == before {
            let message = format!("there is no subscription to fleet {number}");
            return self.answer(key, &Answer::error(id, "unknown_fleet", message));
        }
        self.answer(key, &Answer::FleetEnded { id, fleet: number })
    }

    /// Writes what clients lack of their fleets, a few messages in a turn.
    pub(super) fn send_fleets(&mut self) {
        let reads = |(key, connection): (usize, &mut Connection)| {
            native(connection).is_some_and(|client| !client.fleets.is_empty()).then_some(key)
        };
        let readers: Vec<usize> = self.connections.iter_mut().filter_map(reads).collect();
        self.fleet_clock.is_due = !readers.is_empty();
        if readers.is_empty() {
            return;
        }
        if let Err(error) = self.around.fleets.keep_running() {
            tracing::warn!(%error, "the thread of fleets cannot be started");
        }
        let now = Instant::now();
        let mut written = 0;
        let first = self.fleet_clock.take_turn(readers.len());
        for key in readers.iter().cycle().skip(first).take(readers.len()).copied() {
            if written >= MAX_WRITTEN_MESSAGES {
                break;
            }
            let said = self.send_fleet(key, now, &mut written);
            self.settle(key, said);
        }
        let soon = readers.iter().filter_map(|key| self.next_message(*key)).min();
        self.fleet_clock.next = Some(soon.map_or(now + POLL_INTERVAL, |soon| soon.min(now + POLL_INTERVAL)));
    }

    /// Returns when a client may have the next message that it lacks; none while it has not taken the one before.
    fn next_message(&mut self, key: usize) -> Option<Instant> {
        let connection = self.connections.get_mut(key).filter(|connection| connection.is_open())?;
        let lacks = |known: &&FleetSubscription| known.reader.lags(known.fleet.round());
        native(connection)?.fleets.iter().filter(lacks).map(|known| known.due).min()
    }

    /// Writes the next message of one fleet of a client that has taken everything before.
    fn send_fleet(&mut self, key: usize, now: Instant, written: &mut usize) -> Result<(), End> {
        let Some(connection) = self.connections.get_mut(key).filter(|connection| connection.is_open()) else {
            return Ok(());
        };
        let caller = (!reads_everything(&connection.caller)).then(|| connection.caller.clone());
        let Some(client) = native(connection) else { return Ok(()) };
        let lags =
            |known: &&mut FleetSubscription| known.due <= now && known.reader.lags(known.fleet.round());
        let Some(known) = client.fleets.iter_mut().find(lags) else { return Ok(()) };
        let piece = match &caller {
            None => known.fleet.next(known.reader, None),
            Some(caller) => {
                known.fleet.next(known.reader, Some(&|node, instance| reads(caller, node, instance)))
            }
        };
        let Some(piece) = piece else { return Ok(()) };
        *written += 1;
        known.reader = piece.next;
        let Some(frame) = piece.frame else { return Ok(()) };
        let rate = if piece.is_first_picture { PICTURE_RATE } else { CHANGES_RATE };
        known.due = now + Duration::from_nanos((frame.len() as u64).saturating_mul(1_000_000_000 / rate));
        connection.write_shared(frame)
    }

    fn fleets_of(&mut self, key: usize) -> Option<&mut Vec<FleetSubscription>> {
        self.connections.get_mut(key).and_then(native).map(|client| &mut client.fleets)
    }
}

/// Values are samples: whoever may know of an instance only for its past does not see them.
fn reads(caller: &Caller, node: &str, instance: &str) -> bool {
    caller.may(Verb::ReadLive, Target::Instance { node, instance })
}

fn reads_everything(caller: &Caller) -> bool {
    caller.may(Verb::ReadLive, Target::Dac)
}

fn native(connection: &mut Connection) -> Option<&mut NativeClient> {
    match &mut connection.protocol {
        Protocol::Native(client) => Some(client),
        Protocol::Eisa(_) => None,
    }
}
