//! A node that goes from one DAC to another while both are killed: the spool of the node and the ledgers of the DACs, step by
//! step, from a seed. The archives together have each sample that was not dropped, and the ledgers explain everything else.

use fastrand::Rng;
use oasis_channel::{Counters, Drops, SafeWhen};
use oasis_dac::{Ledger, Verdict};
use oasis_probe::simulation::{MetDac, Missing, NewBatch, Spool};
use oasis_wire::{
    batch::{Encoder, Fields, Header},
    loss::Cause,
    quantity::{Nanos, TopicId},
    schema::ProbeType,
    stored::StoredRun,
};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};
use uuid::Uuid;

const SEEDS: u64 = 3_000;
const STEPS: usize = 150;
const INSTANCES: usize = 2;
const RUN: Uuid = Uuid::from_u128(7);
const NOW: Nanos = Nanos(0);

/// On its way to a DAC.
enum ToDac {
    Counters(Vec<Counters>),
    Batch(Arc<Vec<u8>>),
}

/// On its way to the node.
enum ToNode {
    Ack(TopicId, u64),
    Safe(TopicId, u64),
}

/// A DAC with its archive.
#[derive(Default)]
struct Dac {
    epoch: u64,
    ledgers: [Ledger; INSTANCES],
    /// Received and not stored.
    memory: Vec<(usize, u64)>,
    stored: [BTreeSet<u64>; INSTANCES],
    /// Numbers that the archive declares dropped by the node.
    declared: [BTreeSet<u64>; INSTANCES],
    has_counters: bool,
}

impl Dac {
    fn kill(&mut self) {
        self.memory.clear();
        self.epoch += 1;
        for (ledger, stored) in self.ledgers.iter_mut().zip(&self.stored) {
            *ledger = Ledger::default();
            if let Some(&last_sequence) = stored.last() {
                ledger.restore_runs(&[StoredRun { run: RUN, last_sequence, taken: 0 }]);
            }
        }
    }

    fn receive(&mut self, message: ToDac, answers: &mut VecDeque<ToNode>) {
        match message {
            ToDac::Counters(counters) => {
                let is_first = !std::mem::replace(&mut self.has_counters, true);
                for Counters { topic, taken, sent, dropped, after_sent: _ } in counters {
                    let ledger = &mut self.ledgers[instance(topic)];
                    if is_first {
                        ledger.connected(sent, dropped, NOW);
                    }
                    ledger.counters(taken, sent, dropped);
                }
            }
            ToDac::Batch(bytes) => {
                let header = Header::parse(&bytes).unwrap();
                let (topic, first, count) =
                    (TopicId(header.topic), header.first_sequence, u64::from(header.count));
                let ledger = &mut self.ledgers[instance(topic)];
                match ledger.batch(first, count, header.dropped_before.into(), NOW) {
                    Verdict::New => {
                        self.memory.extend((first..first + count).map(|number| (instance(topic), number)))
                    }
                    Verdict::Duplicate => {}
                    other => panic!("{other:?} of {first} with {count}"),
                }
                answers.push_back(ToNode::Ack(topic, ledger.last_sequence));
            }
        }
    }

    fn commit(&mut self, answers: &mut VecDeque<ToNode>) {
        for (instance, number) in self.memory.drain(..) {
            assert!(self.stored[instance].insert(number), "{number} is stored twice");
        }
        for (at, ledger) in self.ledgers.iter().enumerate() {
            let dropped = ledger.gaps.iter().filter(|gap| gap.cause == Cause::RingFull);
            self.declared[at].extend(dropped.flat_map(|gap| gap.from_sequence..=gap.to_sequence));
            if ledger.run() == Some(RUN) {
                answers.push_back(ToNode::Safe(topic(at), ledger.last_sequence));
            }
        }
    }
}

fn topic(instance: usize) -> TopicId {
    TopicId(instance as u32 + 10)
}

fn instance(topic: TopicId) -> usize {
    topic.0 as usize - 10
}

/// The node, its two DACs, and what is on its way between them.
struct World {
    random: Rng,
    spool: Spool,
    taken: [u64; INSTANCES],
    /// Numbers that the ring dropped.
    dropped: [BTreeSet<u64>; INSTANCES],
    dacs: [Dac; 2],
    /// The DAC that the node is connected to.
    home: Option<usize>,
    /// The life of a DAC that the node met last.
    met: Option<(usize, u64)>,
    to_dac: VecDeque<ToDac>,
    to_node: VecDeque<ToNode>,
    encoder: Encoder,
    counts: Counts,
}

/// Counts of events and checks.
#[derive(Debug, Default)]
struct Counts {
    samples: u64,
    dropped: u64,
    kills: u64,
    drains: u64,
    ledgers: u64,
    safe: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.dropped += other.dropped;
        self.kills += other.kills;
        self.drains += other.drains;
        self.ledgers += other.ledgers;
        self.safe += other.safe;
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let beat = ProbeType {
            name: "Beat".into(),
            uuid: Uuid::nil(),
            version: "1.0".into(),
            doc: None,
            rate: None,
            metrics: Vec::new(),
        };
        Self {
            random: Rng::with_seed(seed),
            spool: Spool::new(1 << 24, INSTANCES),
            taken: [0; INSTANCES],
            dropped: Default::default(),
            dacs: Default::default(),
            home: None,
            met: None,
            to_dac: VecDeque::new(),
            to_node: VecDeque::new(),
            encoder: Encoder::new(&beat).unwrap(),
            counts: Counts::default(),
        }
    }

    fn step(&mut self) {
        match self.random.u32(0..100) {
            0..30 => self.take(),
            30..50 => self.ship(),
            50..70 => self.receive(),
            70..82 => self.hear(),
            82..88 => self.commit(),
            88..91 => self.cut(),
            91..94 => {
                let dac = self.random.usize(0..2);
                self.kill(dac);
            }
            94..95 => self.drain(),
            _ => {
                let dac = self.random.usize(0..2);
                self.connect(dac);
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
        self.encoder.finish(Fields { first_sequence, ..Fields::default() }, &mut bytes);
        let before = Missing { ring_full: lost, ..Missing::default() };
        self.spool.push(NewBatch { instance: at, first_sequence, count, before, bytes: Arc::new(bytes) });
    }

    fn counters(&self) -> ToDac {
        let of = |at: usize| {
            let sent = self.spool.sent(at);
            Counters {
                topic: topic(at),
                taken: self.taken[at],
                sent: sent.sequence,
                dropped: sent.dropped,
                after_sent: Drops::default(),
            }
        };
        ToDac::Counters((0..INSTANCES).map(of).collect())
    }

    fn connect(&mut self, dac: usize) {
        if self.home.is_some() {
            return;
        }
        let now = (dac, self.dacs[dac].epoch);
        let is_new = self.met.replace(now).is_some_and(|before| before != now);
        self.dacs[dac].ledgers.iter_mut().for_each(|ledger| ledger.registered(RUN, NOW));
        self.dacs[dac].has_counters = false;
        let met = MetDac { is_new, safe_when: Some(SafeWhen::Stored), takes_ahead: false };
        self.spool.connected((0..INSTANCES).map(|at| (at, topic(at))), met);
        self.home = Some(dac);
        self.to_dac.push_back(self.counters());
    }

    /// The connection ends, with everything on it.
    fn cut(&mut self) {
        self.home = None;
        self.to_dac.clear();
        self.to_node.clear();
    }

    fn kill(&mut self, dac: usize) {
        self.counts.kills += 1;
        self.dacs[dac].kill();
        if self.home == Some(dac) {
            self.cut();
        }
    }

    fn ship(&mut self) {
        if self.home.is_none() {
            return;
        }
        let shipment = self.spool.take(self.random.usize(1..6), |_| true);
        if shipment.tells_of_drops {
            self.to_dac.push_back(self.counters());
        }
        self.to_dac.extend(shipment.batches.into_iter().map(ToDac::Batch));
    }

    fn receive(&mut self) {
        let (Some(home), Some(message)) = (self.home, self.to_dac.pop_front()) else { return };
        self.dacs[home].receive(message, &mut self.to_node);
    }

    fn hear(&mut self) {
        match self.to_node.pop_front() {
            None => {}
            Some(ToNode::Ack(topic, sequence)) => self.spool.acknowledge(topic, sequence),
            Some(ToNode::Safe(topic, sequence)) => {
                let at = instance(topic);
                for number in 1..=sequence {
                    let is_stored = self.dacs.iter().any(|dac| dac.stored[at].contains(&number));
                    let exists = is_stored || self.dropped[at].contains(&number);
                    assert!(exists, "{number} of {at} is called safe, and no archive has it");
                }
                self.counts.safe += 1;
                self.spool.safe(topic, sequence);
            }
        }
    }

    fn commit(&mut self) {
        for dac in 0..2 {
            let mut answers = VecDeque::new();
            self.dacs[dac].commit(&mut answers);
            if self.home == Some(dac) {
                self.to_node.extend(answers);
            }
        }
    }

    /// The DAC ends in order: the node sends no more, and leaves when all is safe.
    fn drain(&mut self) {
        let Some(home) = self.home else { return };
        while !self.to_dac.is_empty() {
            self.receive();
        }
        self.commit();
        while !self.to_node.is_empty() {
            self.hear();
        }
        assert!(self.spool.is_settled());
        self.counts.drains += 1;
        self.kill(home);
    }

    /// No more faults: everything is delivered and stored.
    fn settle(&mut self) {
        self.connect(0);
        while self.spool.has_unsent() || !self.spool.is_finished() {
            self.ship();
            while !self.to_dac.is_empty() {
                self.receive();
            }
            self.commit();
            while !self.to_node.is_empty() {
                self.hear();
            }
        }
    }

    fn judge(&mut self) {
        for at in 0..INSTANCES {
            let [a, b] = [&self.dacs[0], &self.dacs[1]];
            let is_stored = |number: u64| a.stored[at].contains(&number) || b.stored[at].contains(&number);
            let is_declared =
                |number: u64| a.declared[at].contains(&number) || b.declared[at].contains(&number);
            for number in 1..=self.taken[at] {
                let was_dropped = self.dropped[at].contains(&number);
                assert_eq!(is_stored(number), !was_dropped, "{number} of {at} is stored");
                assert_eq!(is_declared(number), was_dropped, "{number} of {at} is declared");
                self.counts.samples += u64::from(!was_dropped);
                self.counts.dropped += u64::from(was_dropped);
            }
            for ledger in [&a.ledgers[at], &b.ledgers[at]] {
                assert_eq!(ledger.unexplained, 0, "{ledger:?}");
                assert_eq!(ledger.received + ledger.missing, ledger.accounted(), "{ledger:?}");
                self.counts.ledgers += 1;
            }
        }
    }
}

#[test]
fn every_sample_is_in_an_archive_or_declared_whatever_is_killed() {
    let mut sum = Counts::default();
    for seed in 0..SEEDS {
        let result = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            (0..STEPS).for_each(|_| world.step());
            world.settle();
            world.judge();
            world.counts
        });
        sum.add(&result.unwrap_or_else(|_| panic!("seed {seed}")));
    }
    let Counts { samples, dropped, kills, drains, ledgers, safe } = sum;
    println!(
        "{SEEDS} seeds: {samples} samples, 0 undeclared, 0 stored twice; {dropped} dropped and declared; {ledgers} ledgers add up; {safe} times safe, 0 too \
         early; {kills} kills, {drains} ends in order"
    );
    assert!(kills > 0 && drains > 0 && safe > 0, "{sum:?}");
}
