//! Two DACs, a node, a relay and the connections between them: what can happen, and what must be true.

use super::{
    checker::Model,
    hashed::Mixer,
    home::{HomeDac, NodeCounters, replaced},
    node::Node,
    planted::Planted,
    relay::Relay,
};
use oasis_dac::Standing;
use std::{
    cell::Cell,
    hash::{Hash, Hasher},
};

#[derive(Debug, Clone, Copy)]
pub enum Action {
    Connect(usize),
    /// The node takes its DAC for silent: what is on the way may still arrive there.
    GiveUp,
    Ship,
    /// A DAC tells the node what is received and what is safe.
    Answer,
    /// The node leaves a DAC that drains.
    Leave,
    /// A DAC reads from a connection. The node hears at once that it is registered: if it does not, it has given up before.
    Receive(u64),
    /// A DAC notices the end of a connection that the node has given up.
    Lose(u64),
    Commit(usize),
    /// `kill -9`, and a start with what the archive has.
    Crash(usize),
    Drain(usize),
    /// A drained DAC ends and starts again.
    End(usize),
    /// A DAC hears of the node from the other one.
    Learn(usize),
    /// The relay hears of the node from a DAC.
    List(usize),
    /// The relay subscribes at a DAC, or ends its subscription.
    Follow(usize),
    /// A sample goes from a DAC to the relay.
    Read(usize),
}

/// On its way to a DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ToDac {
    Hello,
    Counters(NodeCounters),
    Batch { first: u64, dropped_before: u64 },
}

/// Progress of the node with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    SaysHello,
    IsRegistered,
    /// Data on the connection may still arrive.
    IsGivenUp,
}

/// A connection of the node.
#[derive(Debug, Clone, Hash)]
struct Connection {
    home: usize,
    attach: u64,
    phase: Phase,
    to_dac: Vec<ToDac>,
    has_counters: bool,
    owes_answer: bool,
    /// Last number that the node knows to be safe by this connection.
    told_safe: u64,
}

#[derive(Debug, Clone, Hash)]
pub struct World {
    node: Node,
    connections: Vec<Connection>,
    homes: [HomeDac; 2],
    relay: Option<Relay>,
    /// Faults so far.
    faults: u8,
}

/// Upper bounds of the events.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Besides the one that the ring drops.
    pub samples: u64,
    /// Crashes, connections that the node gives up, and DACs that drain.
    pub faults: u8,
    /// A relay with a reader learns where the node is; otherwise the DACs learn it from each other.
    pub has_relay: bool,
}

/// Number of checks besides those of states.
#[derive(Debug, Default)]
pub struct Checked {
    pub states: Cell<u64>,
    pub hellos: Cell<u64>,
    pub answers: Cell<u64>,
    pub samples_read: Cell<u64>,
}

/// The model.
pub struct Cluster {
    pub bounds: Bounds,
    pub planted: Option<Planted>,
    pub checked: Checked,
}

impl Model for Cluster {
    type State = World;
    type Action = Action;

    fn start(&self) -> World {
        World {
            node: Node::new(self.bounds.samples),
            connections: Vec::new(),
            homes: [HomeDac::new(0), HomeDac::new(1)],
            relay: self.bounds.has_relay.then(Relay::new),
            faults: 0,
        }
    }

    fn actions(&self, world: &World, calm: &mut Vec<Action>, other: &mut Vec<Action>) {
        world.calm_actions(calm);
        for connection in world.connections.iter().filter(|connection| connection.phase == Phase::IsGivenUp) {
            other.push(Action::Lose(connection.attach));
        }
        if world.faults < self.bounds.faults {
            world.faults(other);
        }
    }

    fn next(&self, world: &World, action: Action) -> Result<World, String> {
        let mut next = world.clone();
        next.act(action, self)?;
        Ok(next)
    }

    fn fingerprint(&self, world: &World) -> u64 {
        let mut mixer = Mixer::default();
        world.hash(&mut mixer);
        mixer.finish()
    }

    fn check(&self, world: &World) -> Result<(), String> {
        count(&self.checked.states);
        world.check()
    }

    fn check_settled(&self, world: &World) -> Result<(), String> {
        world.check_settled()
    }
}

fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

impl World {
    fn present(&self) -> Option<&Connection> {
        self.connections.last().filter(|connection| connection.phase != Phase::IsGivenUp)
    }

    fn present_mut(&mut self) -> Option<&mut Connection> {
        self.connections.last_mut().filter(|connection| connection.phase != Phase::IsGivenUp)
    }

    /// Adds the actions without faults, in the order in which they happen if nothing else does.
    fn calm_actions(&self, calm: &mut Vec<Action>) {
        for connection in &self.connections {
            if !connection.to_dac.is_empty() {
                calm.push(Action::Receive(connection.attach));
            } else if connection.phase == Phase::IsGivenUp {
                calm.push(Action::Lose(connection.attach));
            }
        }
        match self.present() {
            None => {
                // The DACs are alike: the first connection is to the first one.
                let homes = if self.node.attach == 0 { 0..1 } else { 0..2 };
                calm.extend(homes.filter(|at| !self.homes[*at].is_draining).map(Action::Connect));
            }
            Some(present) if present.phase == Phase::IsRegistered => {
                let home = &self.homes[present.home];
                if present.owes_answer || home.safe() > present.told_safe {
                    calm.push(Action::Answer);
                }
                if home.is_draining && self.node.is_settled() {
                    calm.push(Action::Leave);
                }
                if self.node.has_unsent() {
                    calm.push(Action::Ship);
                }
            }
            Some(_) => {}
        }
        for at in 0..2 {
            self.calm_actions_of(at, calm);
        }
    }

    /// Adds the actions of a DAC, and those of others with it.
    fn calm_actions_of(&self, at: usize, calm: &mut Vec<Action>) {
        let home = &self.homes[at];
        if home.has_news_for_the_archive() {
            calm.push(Action::Commit(at));
        }
        // Once it has no connections; its archive has everything then.
        if home.is_draining && !self.connections.iter().any(|connection| connection.home == at) {
            calm.push(Action::End(at));
        }
        let is_news = |known, listed: Option<Standing>| {
            listed.is_some_and(|listed| replaced(known, listed).is_some_and(|news| known != Some(news)))
        };
        let Some(relay) = &self.relay else {
            if is_news(home.known, self.homes[1 - at].listed()) {
                calm.push(Action::Learn(at));
            }
            return;
        };
        if is_news(relay.known, home.listed()) {
            calm.push(Action::List(at));
        }
        if relay.wants_change(at) {
            calm.push(Action::Follow(at));
        }
        if relay.has_unread(at, home) {
            calm.push(Action::Read(at));
        }
    }

    fn faults(&self, other: &mut Vec<Action>) {
        if self.present().is_some() {
            other.push(Action::GiveUp);
        }
        for at in 0..2 {
            if self.homes[at].has_something_to_lose() {
                other.push(Action::Crash(at));
            }
            let is_home = self.present().is_some_and(|present| present.home == at);
            if is_home && !self.homes.iter().any(|home| home.is_draining) {
                other.push(Action::Drain(at));
            }
        }
    }

    fn act(&mut self, action: Action, cluster: &Cluster) -> Result<(), String> {
        match action {
            Action::Connect(home) => self.connect(home),
            Action::GiveUp => {
                self.faults += 1;
                self.give_up();
            }
            Action::Ship => self.ship(),
            Action::Answer => self.answer(cluster)?,
            Action::Leave => self.leave(),
            Action::Receive(attach) => self.receive(attach, cluster)?,
            Action::Lose(attach) => self.close(attach),
            Action::Commit(at) => self.homes[at].commit(cluster.planted)?,
            Action::Crash(at) => {
                self.faults += 1;
                self.restart(at);
            }
            Action::Drain(at) => {
                self.faults += 1;
                self.homes[at].is_draining = true;
            }
            Action::End(at) => self.end(at, cluster)?,
            Action::Learn(at) => {
                if let Some(listed) = self.homes[1 - at].listed() {
                    self.homes[at].learn(listed);
                }
            }
            Action::List(at) => {
                if let (Some(relay), Some(listed)) = (&mut self.relay, self.homes[at].listed()) {
                    relay.list(listed);
                }
            }
            Action::Follow(at) => self.relay.iter_mut().for_each(|relay| relay.follow(at, &self.homes[at])),
            Action::Read(at) => {
                if let Some(relay) = &mut self.relay
                    && relay.read(at, &self.homes[at], self.node.dropped, cluster.planted)?
                {
                    count(&cluster.checked.samples_read);
                }
            }
        }
        Ok(())
    }

    fn connect(&mut self, home: usize) {
        self.node.attach += 1;
        self.connections.push(Connection {
            home,
            attach: self.node.attach,
            phase: Phase::SaysHello,
            to_dac: vec![ToDac::Hello],
            has_counters: false,
            owes_answer: false,
            told_safe: 0,
        });
    }

    fn give_up(&mut self) {
        let Some(present) = self.present_mut() else { return };
        (present.phase, present.owes_answer, present.told_safe) = (Phase::IsGivenUp, false, 0);
        self.node.disconnected();
    }

    fn ship(&mut self) {
        let Some((told, first, dropped_before)) = self.node.ship() else { return };
        let Some(present) = self.present_mut() else { return };
        present.to_dac.extend(told.map(ToDac::Counters));
        present.to_dac.push(ToDac::Batch { first, dropped_before });
    }

    /// A DAC reads from a connection, the present one of the node or one that it has given up.
    fn receive(&mut self, attach: u64, cluster: &Cluster) -> Result<(), String> {
        let Some(at) = self.connections.iter().position(|connection| connection.attach == attach) else {
            return Ok(());
        };
        let connection = &mut self.connections[at];
        let home = &mut self.homes[connection.home];
        match connection.to_dac.remove(0) {
            ToDac::Hello => {
                if !home.accept(attach, cluster.planted)? {
                    self.connections.remove(at);
                } else if connection.phase == Phase::SaysHello {
                    connection.phase = Phase::IsRegistered;
                    connection.to_dac.push(ToDac::Counters(self.node.registered(home, cluster.planted)));
                }
                count(&cluster.checked.hellos);
            }
            ToDac::Counters(told) => {
                home.counters(told, !connection.has_counters);
                connection.has_counters = true;
            }
            ToDac::Batch { first, dropped_before } => {
                home.batch(first, dropped_before)?;
                connection.owes_answer = connection.phase == Phase::IsRegistered;
            }
        }
        Ok(())
    }

    /// Answers with received and safe numbers. The node hears both at once. An answer that it does not hear was not given.
    fn answer(&mut self, cluster: &Cluster) -> Result<(), String> {
        let Some(Connection { home, owes_answer, told_safe, .. }) = self.present().cloned() else {
            return Ok(());
        };
        let (topic, received, safe) = {
            let home = &self.homes[home];
            (home.topic(), home.ledger.last_sequence, home.safe())
        };
        if let Some(number) = (1..=safe).find(|number| !self.exists(*number)) {
            return Err(format!("{number} is called safe, and no archive has it"));
        }
        count(&cluster.checked.answers);
        if owes_answer {
            self.node.acknowledge(topic, received);
            if cluster.planted == Some(Planted::ReceivedTakenForSafe) {
                self.node.safe(topic, received);
            }
        }
        if safe > told_safe {
            self.node.safe(topic, safe);
        }
        let Some(present) = self.present_mut() else { return Ok(()) };
        (present.owes_answer, present.told_safe) = (false, safe);
        Ok(())
    }

    fn leave(&mut self) {
        let Some(present) = self.present() else { return };
        let attach = present.attach;
        self.give_up();
        self.close(attach);
    }

    fn close(&mut self, attach: u64) {
        self.connections.retain(|connection| connection.attach != attach);
        self.homes.iter_mut().for_each(|home| home.close(attach));
    }

    fn end(&mut self, at: usize, cluster: &Cluster) -> Result<(), String> {
        self.homes[at].commit(cluster.planted)?;
        self.restart(at);
        Ok(())
    }

    fn restart(&mut self, at: usize) {
        if self.present().is_some_and(|present| present.home == at) {
            self.give_up();
        }
        self.connections.retain(|connection| connection.home != at);
        self.homes[at].restart();
        self.homes[1 - at].lose(at);
        self.relay.iter_mut().for_each(|relay| relay.lose(at));
    }

    fn is_stored(&self, number: u64) -> bool {
        self.homes.iter().any(|home| home.stored.has(number))
    }

    /// Whether a copy exists, or the node itself has dropped it.
    fn exists(&self, number: u64) -> bool {
        self.is_stored(number) || self.node.dropped.has(number)
    }

    /// Checks the conditions of each state.
    fn check(&self) -> Result<(), String> {
        for number in 1..=self.node.released() {
            let is_declared = self.homes.iter().any(|home| home.declared.has(number));
            match self.node.dropped.has(number) {
                false if !self.is_stored(number) => {
                    return Err(format!("{number} has left the spool, and no archive has it"));
                }
                true if !is_declared => return Err(format!("{number} was dropped, and nobody says so")),
                _ => {}
            }
        }
        self.homes.iter().try_for_each(|home| home.check(|number| self.exists(number), self.node.dropped))
    }

    /// Checks the conditions once nothing is left to happen.
    fn check_settled(&self) -> Result<(), String> {
        let Some(present) = self.present().filter(|present| present.phase == Phase::IsRegistered) else {
            return Err("the node is connected to nobody".into());
        };
        if self.connections.len() > 1 || !self.node.is_finished() {
            return Err("the node is not done".into());
        }
        let Some(number) = (1..=self.node.taken).find(|number| !self.exists(*number)) else {
            self.check_knowledge(present)?;
            return self.check_reader(present);
        };
        Err(format!("{number} was not delivered"))
    }

    /// Both DACs and the relay name the home of the node.
    fn check_knowledge(&self, present: &Connection) -> Result<(), String> {
        let homes = self.homes.iter().enumerate().map(|(at, home)| (Some(at), home.known));
        let everybody = homes.filter(|(at, _)| self.relay.is_none() || *at == Some(present.home));
        for (at, known) in everybody.chain(self.relay.iter().map(|relay| (None, relay.known))) {
            let upstream = (at != Some(present.home)).then_some(present.home as u64);
            let is_right = known.is_some_and(|known| {
                known.is_online && known.upstream == upstream && known.since.0 == present.attach
            });
            if !is_right {
                let who = at.map_or("the relay".into(), |at| format!("DAC {at}"));
                return Err(format!("{who} knows the node as {known:?}, and it is at DAC {}", present.home));
            }
        }
        Ok(())
    }

    /// The reader has all that the log of the node's home has.
    fn check_reader(&self, present: &Connection) -> Result<(), String> {
        let Some(relay) = &self.relay else { return Ok(()) };
        match self.homes[present.home].log.last() {
            Some(last) if *last > relay.last => {
                Err(format!("the reader waits for {last} after {}", relay.last))
            }
            _ => Ok(()),
        }
    }
}
