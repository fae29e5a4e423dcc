//! One replayed node: the recordings of its instances, and its connection.
//!
//! Pieces pass an [`Outbox`] to the DAC, so that a broken connection loses none of them. The stage is away until it is connected again.

use super::{
    error::ReplayError,
    link::{Dac, Link, LinkError},
    on_air::OnAir,
    outbox::{Message, Outbox, ReplayTotals},
    track::Track,
};
use oasis_channel::{Backoff, NodeIdentity, REPLAY_PREFIX};
use oasis_wire::{batch, quantity::TopicId, schema::ProbeType};
use std::{
    collections::HashMap,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Samples of an instance sent at a time; others, and Ctrl-C, wait no longer than that takes.
const TURN: usize = 1_000;
/// Bytes that a node keeps for the case that the connection breaks; then it waits for the DAC.
const OUTBOX: usize = 4 * 1024 * 1024;

/// Name of a node when it is replayed.
pub fn replayed_name(node: &str) -> String {
    format!("{REPLAY_PREFIX}{node}")
}

/// Whether this is a node that was played back.
pub fn is_replay(node: &str) -> bool {
    node.starts_with(REPLAY_PREFIX)
}

/// The next sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Something that is not due yet, or nothing.
    Later,
    /// The state of the connection to the DAC.
    WaitsForDac,
    /// More that is due.
    Now,
}

/// A node.
pub struct Stage {
    dac: Rc<Dac>,
    identity: NodeIdentity,
    players: Vec<Player>,
    /// The recorded run that is played.
    run: Option<Uuid>,
    /// Whether the run is over, and the losses after its last samples were reported.
    is_ending: bool,
    connection: Connection,
    /// Types sent to the DAC on this connection.
    types: HashMap<Uuid, Arc<ProbeType>>,
    /// Players by the topics of this connection.
    topics: HashMap<TopicId, usize>,
    outbox: Outbox,
    backoff: Backoff,
}

/// A stage's connection, if it has one.
enum Connection {
    /// Between two runs.
    None,
    /// Since when.
    Up(Link, Instant),
    /// The connection broke.
    Away {
        /// Cause.
        why: String,
        /// When to try again.
        again: Instant,
    },
}

/// An instance.
struct Player {
    track: Track,
    /// While a run of it is played.
    on_air: Option<OnAir>,
}

impl Player {
    /// The recorded run of the next sample.
    fn run(&self) -> Option<Uuid> {
        self.track.peek().map(|next| next.series.run)
    }

    fn time(&self) -> Option<u64> {
        self.track.peek().map(|next| next.time)
    }
}

impl Stage {
    /// The node of these recordings.
    pub fn new(dac: &Rc<Dac>, node: &str, tracks: Vec<Track>) -> Self {
        let host = oasis_probe::host_name();
        let name = replayed_name(node);
        let identity = NodeIdentity {
            uuid: Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("oasis replay {host}/{name}").as_bytes()),
            run: Uuid::new_v4(),
            name,
            host,
            software: concat!("oasis ", env!("CARGO_PKG_VERSION")).into(),
            pid: std::process::id(),
        };
        let players: Vec<_> = tracks.into_iter().map(|track| Player { track, on_air: None }).collect();
        Self {
            dac: dac.clone(),
            identity,
            outbox: Outbox::new(players.len(), OUTBOX),
            players,
            run: None,
            is_ending: false,
            connection: Connection::None,
            types: HashMap::new(),
            topics: HashMap::new(),
            backoff: Backoff::default(),
        }
    }

    /// Time of the next sample, on the recorded node's clock; `None` at the end.
    pub fn next_time(&self) -> Option<u64> {
        let of_run = |player: &&Player| self.run.is_some() && player.run() == self.run;
        // A run is replayed completely before the next one begins, even if a clock was set back.
        let now = self.players.iter().filter(of_run).filter_map(Player::time).min();
        now.or_else(|| self.players.iter().filter_map(Player::time).min())
    }

    /// Begins again, once it has [ended](Stage::end).
    pub fn rewind(&mut self) -> Result<(), ReplayError> {
        self.players.iter_mut().try_for_each(|player| player.track.rewind())
    }

    /// Its name and the error that broke its connection, until it is connected again.
    pub fn away(&self) -> Option<(&str, &str)> {
        match &self.connection {
            Connection::Away { why, .. } => Some((&self.identity.name, why)),
            _ => None,
        }
    }

    /// All that was played.
    pub fn played(&self) -> ReplayTotals {
        self.outbox.played()
    }

    /// Sends due samples with the times that `live` computes, up to a bound for each call.
    pub fn play(
        &mut self,
        is_due: impl Fn(u64) -> bool,
        live: impl Fn(u64) -> u64,
    ) -> Result<Turn, ReplayError> {
        self.tend()?;
        let is_over = self.run.is_none() || self.players.iter().all(|player| player.run() != self.run);
        if is_over {
            let is_time = self.next_time().is_some_and(&is_due);
            if !is_time {
                return Ok(Turn::Later);
            }
            if !self.end("next run")? {
                return Ok(Turn::WaitsForDac);
            }
            self.begin_run()?;
        }
        let mut next = Turn::Later;
        for at in 0..self.players.len() {
            if self.away().is_some() {
                return Ok(Turn::WaitsForDac);
            }
            next = next.max(self.play_turn(at, &is_due, &live)?);
            self.flush(at);
            self.ship()?;
        }
        Ok(next)
    }

    /// Answers the DAC, and takes note of what it has.
    pub fn tend(&mut self) -> Result<(), ReplayError> {
        let Connection::Up(link, _) = &mut self.connection else { return Ok(()) };
        match link.tend() {
            Ok(acknowledged) => {
                for (topic, sequence) in acknowledged {
                    if let Some(&at) = self.topics.get(&topic) {
                        self.outbox.acknowledge(at, sequence);
                    }
                }
                Ok(())
            }
            Err(error) => self.broken(error),
        }
    }

    /// Sends a goodbye once the DAC has received the whole run. Returns whether it was sent.
    pub fn end(&mut self, reason: &str) -> Result<bool, ReplayError> {
        if !self.is_ending {
            self.is_ending = true;
            for at in 0..self.players.len() {
                self.flush(at);
                self.report_missing_at_end(at);
            }
        }
        self.ship()?;
        self.tend()?;
        if !self.outbox.is_empty() {
            return Ok(false);
        }
        if let Connection::Up(link, _) = std::mem::replace(&mut self.connection, Connection::None) {
            link.leave(reason);
        }
        self.players.iter_mut().for_each(|player| player.on_air = None);
        self.run = None;
        self.is_ending = false;
        Ok(true)
    }

    /// Tries to connect again, if it is time.
    pub fn try_again(&mut self) -> Result<(), ReplayError> {
        if !matches!(&self.connection, Connection::Away { again, .. } if Instant::now() >= *again) {
            return Ok(());
        }
        self.connect().or_else(|error| self.broken(error))?;
        self.ship()
    }

    fn play_turn(
        &mut self,
        at: usize,
        is_due: impl Fn(u64) -> bool,
        live: impl Fn(u64) -> u64,
    ) -> Result<Turn, ReplayError> {
        for _ in 0..TURN {
            if !self.outbox.has_room() {
                return Ok(Turn::WaitsForDac);
            }
            let player = &mut self.players[at];
            let next = player.track.peek().filter(|next| Some(next.series.run) == self.run);
            let Some(next) = next.filter(|next| is_due(next.time)) else { return Ok(Turn::Later) };
            let Some(on_air) = player.on_air.as_mut().filter(|on_air| on_air.is_of_type(next)) else {
                if !self.announce(at)? {
                    return Ok(Turn::WaitsForDac);
                }
                continue;
            };
            let full = if on_air.is_full(next) { on_air.batch() } else { None };
            for (message, last) in full.into_iter().chain(on_air.missing_before(next)) {
                self.outbox.push(at, message, last);
            }
            let Some(next) = player.track.take()? else { return Ok(Turn::Later) };
            on_air.push(&next, live(next.time))?;
        }
        Ok(Turn::Now)
    }

    fn flush(&mut self, at: usize) {
        let held = self.players[at].on_air.as_mut().and_then(OnAir::batch);
        if let Some((message, last)) = held {
            self.outbox.push(at, message, last);
        }
    }

    /// Losses at the end of a run are known with the first sample of the next one, or at the end of the recording.
    fn report_missing_at_end(&mut self, at: usize) {
        let player = &mut self.players[at];
        let is_over = player.run() != self.run;
        let Some(on_air) = player.on_air.as_mut().filter(|_| is_over) else { return };
        for (message, last) in on_air.missing_after(player.track.after_last()) {
            self.outbox.push(at, message, last);
        }
    }

    /// Sends what was not sent over this connection.
    fn ship(&mut self) -> Result<(), ReplayError> {
        let Connection::Up(link, _) = &mut self.connection else { return Ok(()) };
        let players = &self.players;
        let sent = self.outbox.send(|at, message, last| {
            let topic = players[at].on_air.as_ref().and_then(|on_air| on_air.topic);
            let Some(topic) = topic else { return Err(no_topic()) };
            match message {
                Message::Batch { bytes, .. } => {
                    batch::stamp_topic(bytes, topic.0);
                    link.send(bytes)
                }
                Message::Missing { from_sequence, cause } => {
                    link.missing(topic, *from_sequence..=last, *cause)
                }
            }
        });
        sent.or_else(|error| self.broken(error))
    }

    /// Begins the run that the earliest sample is of: sequence numbers count in runs.
    fn begin_run(&mut self) -> Result<(), ReplayError> {
        let next = self.players.iter().filter_map(|player| player.track.peek());
        let Some(run) = next.min_by_key(|next| next.time).map(|next| next.series.run) else { return Ok(()) };
        self.run = Some(run);
        self.identity.run = Uuid::new_v4();
        for player in &mut self.players {
            if let Some(next) = player.track.peek().filter(|next| next.series.run == run) {
                player.on_air = Some(OnAir::new(next.series.clone(), 0)?);
            }
        }
        self.connect().or_else(|error| self.broken(error))
    }

    /// Puts an instance on air as the type that its next sample is of; not before the DAC has all that was played of another type, which has another topic.
    fn announce(&mut self, at: usize) -> Result<bool, ReplayError> {
        self.flush(at);
        if !self.outbox.is_empty_of(at) {
            return Ok(false);
        }
        let player = &mut self.players[at];
        let last = player.on_air.as_ref().map_or(0, OnAir::last);
        let Some(next) = player.track.peek() else { return Ok(false) };
        player.on_air = Some(OnAir::new(next.series.clone(), last)?);
        self.register().or_else(|error| self.broken(error))?;
        Ok(true)
    }

    /// Connects, as the present run.
    fn connect(&mut self) -> Result<(), LinkError> {
        let link = Link::connect(&self.dac, &self.identity)?;
        self.connection = Connection::Up(link, Instant::now());
        self.types.clear();
        self.topics.clear();
        self.outbox.send_again();
        let on_air = self.players.iter_mut().filter_map(|player| player.on_air.as_mut());
        on_air.for_each(|on_air| on_air.topic = None);
        self.register()
    }

    /// Registers, with their types, the instances that have no topic yet.
    fn register(&mut self) -> Result<(), LinkError> {
        let Connection::Up(link, _) = &mut self.connection else { return Ok(()) };
        let (mut types, mut instances, mut by_name) = (Vec::new(), Vec::new(), HashMap::new());
        for (at, player) in self.players.iter().enumerate() {
            let Some(on_air) = player.on_air.as_ref().filter(|on_air| on_air.topic.is_none()) else {
                continue;
            };
            let (probe_type, instance) = on_air.announcement();
            let known = self.types.insert(probe_type.uuid, probe_type.clone());
            if known.is_none_or(|known| known != probe_type) {
                types.push((*probe_type).clone());
            }
            by_name.insert(instance.name.clone(), at);
            instances.push(instance);
        }
        for assigned in link.register(types, instances)? {
            let Some(&at) = by_name.get(&assigned.instance) else { continue };
            if let Some(on_air) = &mut self.players[at].on_air {
                on_air.topic = Some(assigned.topic);
                self.topics.insert(assigned.topic, at);
            }
        }
        Ok(())
    }

    /// Another connection may do better, or this is the end.
    fn broken(&mut self, error: LinkError) -> Result<(), ReplayError> {
        let LinkError::Away(why) = error else { return Err(error.into()) };
        let lasted = match &self.connection {
            Connection::Up(_, since) => since.elapsed(),
            Connection::None | Connection::Away { .. } => Duration::ZERO,
        };
        let again = Instant::now() + self.backoff.after(lasted);
        self.connection = Connection::Away { why, again };
        Ok(())
    }
}

fn no_topic() -> LinkError {
    LinkError::Refused("the DAC gave an instance no topic".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replayed_node_differs_from_a_recorded_one_and_has_no_slash_of_its_own() {
        assert!(is_replay(&replayed_name("plant")) && !is_replay("plant"));
        let target = format!("{}/a/b", replayed_name("plant"));
        assert_eq!(target.split_once('/'), Some(("replay:plant", "a/b")));
    }
}
