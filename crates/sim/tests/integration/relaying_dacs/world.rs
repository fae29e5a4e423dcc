//! The node, two DACs that relay each other, and the connections between them.

use super::{
    host::{Host, INSTANCES, NODE, RUN, announced, moment, name},
    relay::Relay,
    watcher::Watched,
};
use fastrand::Rng;
use oasis_channel::{
    Counters, DacMessage, Drops, NodeIdentity, NodeMessage, PROTOCOL, SafeReason, SafeWhen, frame::Frame,
};
use oasis_dac::{Moment, session::NodeSession};
use oasis_probe::simulation::{MetDac, Missing, NewBatch, Spool};
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::TopicId,
    schema::ProbeType,
};
use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    sync::Arc,
};
use tokio::sync::mpsc::{self, error::TryRecvError};
use uuid::Uuid;

/// A bug that the world plants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The node frees what a DAC has received.
    ReceivedTakenForSafe,
    /// The numbers of connections are not reported.
    AttachIgnored,
    /// The DAC calls samples stored that its archive does not have.
    StoredBeforeTheArchive,
    /// The node takes what a DAC keeps ahead of its turn for received.
    KeptTakenForReceived,
}

/// Counts of events.
#[derive(Debug, Default)]
pub struct Counts {
    pub samples: u64,
    pub in_both: u64,
    pub dropped: u64,
    pub kills: u64,
    pub takeovers: u64,
    pub late_batches: u64,
    pub safe_messages: u64,
    pub kept_ahead: u64,
    pub releases: u64,
    /// Ledgers whose account was checked.
    pub ledgers: u64,
    /// Registries that were compared.
    pub registries: u64,
    /// Connections that were compared with those before.
    pub hellos: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.in_both += other.in_both;
        self.dropped += other.dropped;
        self.kills += other.kills;
        self.takeovers += other.takeovers;
        self.late_batches += other.late_batches;
        self.safe_messages += other.safe_messages;
        self.kept_ahead += other.kept_ahead;
        self.releases += other.releases;
        self.ledgers += other.ledgers;
        self.registries += other.registries;
        self.hellos += other.hellos;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            samples,
            in_both,
            dropped,
            kills,
            takeovers,
            late_batches,
            safe_messages,
            kept_ahead,
            releases,
            ledgers,
            registries,
            hellos,
        } = self;
        write!(
            f,
            "{samples} samples, {in_both} in both archives, {dropped} dropped and declared, 0 undeclared, 0 stored twice; {kills} kills, \
             {takeovers} nodes that moved, {late_batches} batches on connections given up, {safe_messages} messages that samples are safe, \
             0 too early; {kept_ahead} batches kept ahead of their turn, {releases} releases; {ledgers} ledgers add up; {registries} registries name the home; \
             {hellos} connections accepted, 0 earlier than another one"
        )
    }
}

enum ToDac {
    Message(NodeMessage),
    Batch(Arc<Vec<u8>>),
    Ahead(Vec<u8>),
}

/// A connection of the node, which may have given it up.
struct Connection {
    host: usize,
    attach: u64,
    session: NodeSession,
    outbound: mpsc::Receiver<DacMessage>,
    to_dac: VecDeque<ToDac>,
    to_node: VecDeque<DacMessage>,
    is_given_up: bool,
    is_registered: bool,
}

pub struct World {
    random: Rng,
    planted: Option<Planted>,
    seconds: u64,
    probe_type: Arc<ProbeType>,
    spool: Spool,
    taken: [u64; INSTANCES],
    dropped: [BTreeSet<u64>; INSTANCES],
    hosts: [Host; 2],
    /// A relay of both, with readers.
    relay: Option<Relay>,
    /// Samples that readers of the DACs have received.
    watched: Watched,
    /// The last one is that of the node, unless it is given up.
    connections: Vec<Connection>,
    attach: u64,
    /// The latest connection that each DAC has accepted in its life.
    accepted: [u64; 2],
    topics: [Option<TopicId>; INSTANCES],
    met: Option<oasis_wire::quantity::Epoch>,
    encoder: Encoder,
    counts: Counts,
}

impl World {
    pub fn new(seed: u64, planted: Option<Planted>) -> Self {
        let beat = ProbeType {
            name: "Beat".into(),
            uuid: Uuid::from_u128(9),
            version: "1.0".into(),
            doc: None,
            rate: None,
            metrics: Vec::new(),
        };
        Self {
            random: Rng::with_seed(seed),
            planted,
            seconds: 0,
            encoder: Encoder::new(&beat).unwrap(),
            probe_type: Arc::new(beat),
            // The slowest link: a few batches are a backlog.
            spool: Spool::new(1 << 24, INSTANCES).for_link(Some(1)),
            taken: [0; INSTANCES],
            dropped: Default::default(),
            hosts: [Host::new(), Host::new()],
            relay: None,
            watched: Watched::default(),
            connections: Vec::new(),
            attach: 0,
            accepted: [0; 2],
            topics: [None; INSTANCES],
            met: None,
            counts: Counts::default(),
        }
    }

    /// The same with a relay of both DACs that has readers.
    pub fn watched(seed: u64) -> Self {
        let mut world = Self::new(seed, None);
        let [a, b] = &mut world.hosts;
        let (first, second) = (a.dac.clone(), b.dac.clone());
        a.connect(&second);
        b.connect(&first);
        world.relay = Some(Relay::new([&first, &second]));
        world
    }

    /// Samples that readers of the relay, and of the DACs, have received.
    pub fn received(&self) -> [Watched; 2] {
        [self.relay.as_ref().map_or(Watched::default(), |relay| relay.watched), self.watched]
    }

    fn now(&self) -> Moment {
        moment(self.seconds)
    }

    /// Runs one step of the relay and its readers.
    fn step_relay(&mut self) {
        let Some(relay) = &mut self.relay else { return };
        let [a, b] = &mut self.hosts;
        match self.random.u32(0..12) {
            0..2 => a.carry(&mut self.random),
            2..4 => b.carry(&mut self.random),
            4..9 => relay.step(&mut self.random, [&a.dac, &b.dac], &self.probe_type),
            9 => a.read(|| self.random.bool(), &self.dropped, &mut self.watched),
            10 => b.read(|| self.random.bool(), &self.dropped, &mut self.watched),
            _ => relay.read(&self.dropped),
        }
    }

    fn lose_upstream(&mut self, host: usize) {
        self.hosts[host].lose_upstream();
        if self.relay.is_some() {
            let other = self.hosts[1 - host].dac.clone();
            self.hosts[host].connect(&other);
        }
    }

    pub fn step(&mut self) {
        (0..4).for_each(|_| self.step_relay());
        self.seconds += u64::from(self.random.u32(0..4) == 0);
        match self.random.u32(0..100) {
            0..22 => self.take(),
            22..36 => self.ship(),
            36..60 => self.receive(),
            60..70 => self.hear(),
            70..77 => {
                let host = self.random.usize(0..2);
                self.commit(host);
            }
            77..86 => {
                let (host, with_instances) = (self.random.usize(0..2), self.random.u32(0..4) > 0);
                self.relay(host, with_instances);
            }
            86..89 => self.give_up(),
            89..91 => {
                let host = self.random.usize(0..2);
                self.kill(host);
            }
            91..92 => self.hosts[self.random.usize(0..2)].end_relay(),
            92..93 => {
                let host = self.random.usize(0..2);
                self.lose_upstream(host);
                if let Some(relay) = &mut self.relay {
                    relay.lose(host);
                }
            }
            _ => {
                let host = self.random.usize(0..2);
                self.connect(host);
            }
        }
    }

    /// The probe is flushed; now and then its ring is full before that.
    fn take(&mut self) {
        let (at, count) = (self.random.usize(0..INSTANCES), self.random.u16(1..5));
        let lost = if self.random.u32(0..5) == 0 { self.random.u64(1..4) } else { 0 };
        let first_sequence = self.taken[at] + lost + 1;
        self.dropped[at].extend(self.taken[at] + 1..first_sequence);
        self.taken[at] = first_sequence - 1 + u64::from(count);
        (0..count).for_each(|time| self.encoder.push(time.into(), &[]).unwrap());
        let mut bytes = Vec::new();
        self.encoder
            .finish(Fields { first_sequence, dropped_before: lost as u32, ..Fields::default() }, &mut bytes);
        let before = Missing { ring_full: lost, ..Missing::default() };
        self.spool.push(NewBatch { instance: at, first_sequence, count, before, bytes: Arc::new(bytes) });
    }

    fn present(&mut self) -> Option<&mut Connection> {
        self.connections.last_mut().filter(|connection| !connection.is_given_up)
    }

    fn connect(&mut self, host: usize) {
        if self.present().is_some() {
            return;
        }
        self.attach += 1;
        let (sender, outbound) = mpsc::channel(64);
        let node = NodeIdentity {
            name: NODE.into(),
            uuid: Uuid::nil(),
            run: RUN,
            host: "h".into(),
            software: "test".into(),
            pid: 1,
        };
        let attach = Some(self.attach).filter(|_| self.planted != Some(Planted::AttachIgnored));
        let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach, drains: false };
        let instances = (0..INSTANCES).map(|at| announced(at, &self.probe_type)).collect();
        let register = NodeMessage::Register { types: vec![(*self.probe_type).clone()], instances };
        let messages = [hello, NodeMessage::KeepUntilSafe, register];
        self.connections.push(Connection {
            host,
            attach: self.attach,
            session: NodeSession::new(self.hosts[host].dac.clone(), sender),
            outbound,
            to_dac: messages.into_iter().map(ToDac::Message).collect(),
            to_node: VecDeque::new(),
            is_given_up: false,
            is_registered: false,
        });
    }

    /// The node takes its DAC for silent: what is on the way may still arrive there.
    fn give_up(&mut self) {
        let is_lost = self.random.bool();
        if let Some(connection) = self.present() {
            connection.is_given_up = true;
            connection.to_node.clear();
            if is_lost {
                connection.to_dac.clear();
            }
        }
    }

    fn kill(&mut self, host: usize) {
        self.counts.kills += 1;
        self.connections.retain(|connection| connection.host != host);
        self.accepted[host] = 0;
        let (probe_type, now) = (self.probe_type.clone(), self.now());
        self.hosts[host].restart(&probe_type, now);
        self.lose_upstream(1 - host);
        if let Some(relay) = &mut self.relay {
            relay.lose(host);
            let other = self.hosts[1 - host].dac.clone();
            self.hosts[host].connect(&other);
        }
    }

    fn counters(&self) -> ToDac {
        let of = |at: usize| {
            let sent = self.spool.sent(at);
            let topic = self.topics[at].unwrap();
            Counters {
                topic,
                taken: self.taken[at],
                sent: sent.sequence,
                dropped: sent.dropped,
                after_sent: Drops::default(),
            }
        };
        ToDac::Message(NodeMessage::Counters { instances: (0..INSTANCES).map(of).collect() })
    }

    fn ship(&mut self) {
        if !self.present().is_some_and(|connection| connection.is_registered) {
            return;
        }
        let ahead = self.spool.take_ahead();
        let most = self.random.usize(0..6);
        let shipment = self.spool.take(most, |_| true);
        let counters = shipment.tells_of_drops.then(|| self.counters());
        self.counts.releases += shipment.releases.len() as u64;
        let Some(connection) = self.present() else { return };
        connection.to_dac.extend(ahead.map(ToDac::Ahead));
        connection.to_dac.extend(counters);
        let releases = shipment.releases.into_iter().map(NodeMessage::Release);
        connection.to_dac.extend(releases.map(ToDac::Message));
        connection.to_dac.extend(shipment.batches.into_iter().map(ToDac::Batch));
    }

    /// A DAC reads from a connection, the present one of the node or one that it has given up.
    fn receive(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        let now = self.now();
        let at = self.random.usize(0..self.connections.len());
        let (is_heeded, is_acknowledged) = (self.random.bool(), self.random.bool());
        let connection = &mut self.connections[at];
        let is_replaced = matches!(connection.outbound.try_recv(), Err(TryRecvError::Disconnected));
        let has_begun = connection.session.node().is_some();
        let mut out = Vec::new();
        let ended = match connection.to_dac.pop_front() {
            // A session notices that another one has replaced it, sooner or later.
            _ if is_replaced && has_begun && is_heeded => true,
            None => connection.is_given_up,
            Some(message) => {
                self.counts.late_batches +=
                    u64::from(connection.is_given_up && matches!(message, ToDac::Batch(_)));
                let handled = match message {
                    ToDac::Message(message) => {
                        let json = serde_json::to_vec(&message).unwrap();
                        connection.session.handle(Frame::Control(&json), now, &mut out)
                    }
                    ToDac::Batch(bytes) => connection.session.handle(Frame::Batch(&bytes), now, &mut out),
                    ToDac::Ahead(bytes) => connection.session.handle(Frame::Ahead(&bytes), now, &mut out),
                };
                if let Err(failure) = &handled {
                    let is_of_failover = ["node_moved", "run_replaced"].contains(&failure.code.as_str());
                    assert!(is_of_failover, "{failure:?}");
                }
                handled.is_err()
            }
        };
        if !has_begun && !ended && connection.session.node().is_some() {
            let accepted = &mut self.accepted[connection.host];
            assert!(connection.attach > *accepted, "an earlier connection has replaced a later one");
            self.counts.hellos += 1;
            *accepted = connection.attach;
        }
        if is_acknowledged && !ended {
            connection.session.acknowledge(now, &mut out);
        }
        self.answer(at, out);
        if ended {
            let mut connection = self.connections.remove(at);
            connection.session.close(now.wall);
        }
    }

    /// Answers of a DAC: nothing may be called stored that its archive does not have.
    fn answer(&mut self, at: usize, answers: Vec<DacMessage>) {
        let connection = &mut self.connections[at];
        let host = &self.hosts[connection.host];
        for answer in &answers {
            if let DacMessage::Safe { reason: SafeReason::Stored, topics } = answer {
                self.counts.safe_messages += 1;
                for (topic, sequence) in topics {
                    let Some(instance) = host.dac.registry.instance(*topic) else { continue };
                    let at = super::host::number(&instance);
                    for number in 1..=*sequence {
                        let is_stored = self.hosts.iter().any(|host| host.stored[at].contains(&number));
                        let was_dropped = self.dropped[at].contains(&number);
                        assert!(is_stored || was_dropped, "{number} of {at} is called stored, and is not");
                    }
                }
            }
        }
        if !connection.is_given_up {
            connection.to_node.extend(answers);
        }
    }

    fn hear(&mut self) {
        let planted = self.planted;
        let Some(connection) = self.present() else { return };
        let Some(message) = connection.to_node.pop_front() else { return };
        let epoch = self.hosts[self.connections.last().unwrap().host].dac.epoch();
        match message {
            DacMessage::Registered { topics } => {
                for assignment in topics {
                    let at = (0..INSTANCES).find(|at| name(*at) == assignment.instance).unwrap();
                    self.topics[at] = Some(assignment.topic);
                }
                let before = self.met.replace(epoch);
                self.counts.takeovers += u64::from(before.is_some_and(|before| before != epoch));
                let is_new = before.is_some_and(|before| before != epoch);
                let met = MetDac { is_new, safe_when: Some(SafeWhen::Stored), takes_ahead: true };
                let topics = self.topics;
                self.spool.connected((0..INSTANCES).map(|at| (at, topics[at].unwrap())), met);
                let counters = self.counters();
                let connection = self.connections.last_mut().unwrap();
                connection.is_registered = true;
                connection.to_dac.push_back(counters);
            }
            DacMessage::Ack { topics } => {
                for (topic, sequence) in topics {
                    self.spool.acknowledge(topic, sequence);
                    if planted == Some(Planted::ReceivedTakenForSafe) {
                        self.spool.safe(topic, sequence);
                    }
                }
            }
            DacMessage::KeptAhead { topics } => {
                for (topic, first) in topics {
                    self.counts.kept_ahead += 1;
                    self.spool.kept_ahead(topic, first);
                    if planted == Some(Planted::KeptTakenForReceived) {
                        self.spool.acknowledge(topic, first);
                    }
                }
            }
            DacMessage::Safe { topics, .. } => {
                topics.into_iter().for_each(|(topic, sequence)| self.spool.safe(topic, sequence));
            }
            _ => {}
        }
    }

    fn commit(&mut self, host: usize) {
        if self.planted == Some(Planted::StoredBeforeTheArchive) {
            for instance in self.hosts[host].dac.registry.home_instances() {
                let mut ledger = instance.ledger();
                let (run, last) = (ledger.run(), ledger.last_sequence);
                ledger.note_stored(instance.log.next(), run.map(|run| (run, last)), false);
            }
        } else {
            let random = &mut self.random;
            self.hosts[host].commit(|| random.u32(0..4) > 0);
        }
        self.report_safe(host);
    }

    fn report_safe(&mut self, host: usize) {
        let now = self.now();
        for at in 0..self.connections.len() {
            if self.connections[at].host == host {
                let mut out = Vec::new();
                self.connections[at].session.report_safe(now, &mut out);
                self.answer(at, out);
            }
        }
    }

    fn relay(&mut self, host: usize, with_instances: bool) {
        let keeps_attach = self.planted != Some(Planted::AttachIgnored);
        let [first, second] = &self.hosts;
        let (own, other) = if host == 0 { (first, second) } else { (second, first) };
        own.relay(other, keeps_attach, with_instances);
    }

    /// No more faults: everything is delivered and stored, and both DACs learn where the node is.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            self.seconds += 1;
            if self.present().is_none() {
                self.connect(0);
            }
            for _ in 0..20 {
                self.ship();
                self.receive();
                self.hear();
            }
            for host in 0..2 {
                self.hosts[host].commit(|| true);
                self.report_safe(host);
            }
            while self.present().is_some_and(|connection| !connection.to_node.is_empty()) {
                self.hear();
            }
            self.relay(0, true);
            self.relay(1, true);
            let is_alone = self.connections.len() == 1;
            let is_read = self.connections.iter().all(|connection| connection.to_dac.is_empty());
            if is_alone && is_read && !self.spool.has_unsent() && self.spool.is_finished() {
                return self.settle_relay();
            }
        }
        let instances = self.hosts.iter().flat_map(|host| host.dac.registry.home_instances());
        let ledgers: Vec<_> = instances.map(|instance| instance.ledger().known_runs()).collect();
        panic!("not settled, unsent: {}, ledgers: {ledgers:?}", self.spool.has_unsent());
    }

    fn settle_relay(&mut self) {
        let Some(relay) = &mut self.relay else { return };
        let [a, b] = &mut self.hosts;
        // Their last samples: whoever subscribes now receives the newest.
        for _ in 0..20 {
            a.settle_line();
            b.settle_line();
            relay.settle([&a.dac, &b.dac], &self.probe_type);
            relay.read(&self.dropped);
            a.read(|| true, &self.dropped, &mut self.watched);
            b.read(|| true, &self.dropped, &mut self.watched);
        }
        for at in 0..INSTANCES {
            let newest = (1..=self.taken[at]).rfind(|number| !self.dropped[at].contains(number));
            let (newest, last) = (newest.unwrap_or(0), relay.last()[at]);
            assert_eq!(newest, last, "a reader of {at} does not receive the newest sample");
        }
    }

    pub fn judge(&mut self) -> Counts {
        let [a, b] = &self.hosts;
        for at in 0..INSTANCES {
            for number in 1..=self.taken[at] {
                let places = [&a, &b].map(|host| host.stored[at].contains(&number));
                let is_declared = [&a, &b].iter().any(|host| host.declared[at].contains(&number));
                let was_dropped = self.dropped[at].contains(&number);
                assert_eq!(places.contains(&true), !was_dropped, "{number} of {at} is stored");
                assert_eq!(is_declared, was_dropped, "{number} of {at} is declared");
                self.counts.samples += u64::from(!was_dropped);
                self.counts.dropped += u64::from(was_dropped);
                self.counts.in_both += u64::from(places == [true, true]);
            }
        }
        let home = self.hosts[self.connections.last().unwrap().host].dac.epoch();
        for host in &self.hosts {
            assert_eq!(host.home(), Some(home), "both registries name the home of the node");
            self.counts.registries += 1;
            for instance in host.dac.registry.home_instances() {
                let ledger = instance.ledger();
                assert_eq!(ledger.received + ledger.missing, ledger.accounted(), "{ledger:?}");
                assert_eq!(ledger.causes.values().sum::<u64>(), ledger.missing, "{ledger:?}");
                self.counts.ledgers += 1;
            }
        }
        std::mem::take(&mut self.counts)
    }
}
