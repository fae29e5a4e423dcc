//! The spooler, step by step, compared with a plain list: whatever happens to connection and disk, each sample is
//! delivered in order or counted.

use super::*;
use crate::{
    file_spool::{Directory, tests::announcement},
    intake::Intake,
    spool::{MetDac, Missing, NewBatch, Spool},
};
use oasis_channel::SafeWhen;
use oasis_wire::{batch::Header, quantity::TopicId};
use proptest::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

const INSTANCES: usize = 2;

/// An event of the test.
#[derive(Debug, Clone)]
enum Event {
    /// The collector adds a batch: instance, samples, bytes, samples that the ring dropped before it.
    Batch(usize, u16, usize, u32),
    /// The spooler runs one step.
    Turn,
    /// The shipper sends at most this many batches, and the DAC acknowledges them or not.
    Send(usize, bool),
    /// The shipper sends a batch ahead. The DAC keeps it or not, and its answer arrives.
    Ahead(bool),
    /// The connection breaks and is restored.
    Reconnect,
    /// The DAC stores what it has received.
    Store,
    /// The DAC is killed. The next one has what was stored.
    NewDac,
    /// The disk is full, or has space again.
    Disk(bool),
    /// The spooler panics between two steps.
    Panic,
}

fn events(disk_fails: bool, dac_dies: bool) -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..INSTANCES, 1..9_u16, 0..400_usize, prop_oneof![4 => Just(0), 1 => 1..5_u32])
            .prop_map(|(instance, count, bytes, dropped)| Event::Batch(instance, count, bytes, dropped)),
        3 => Just(Event::Turn),
        2 => (1..8_usize, any::<bool>()).prop_map(|(count, is_heard)| Event::Send(count, is_heard)),
        2 => any::<bool>().prop_map(Event::Ahead),
        1 => Just(Event::Reconnect),
        1 => Just(Event::Store),
        1 => Just(Event::Panic),
        1 => Just(if dac_dies { Event::NewDac } else { Event::Reconnect }),
        1 => any::<bool>().prop_map(move |is_full| Event::Disk(disk_fails && is_full)),
    ];
    proptest::collection::vec(event, 1..200)
}

/// State of an instance at a DAC.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    /// Last sequence number.
    last: u64,
    /// Samples that it has.
    received: u64,
    /// Samples that the node reported as dropped.
    told: u64,
}

/// A node without threads, and the DAC's ledger of it as plain numbers.
struct Model {
    outbox: Arc<Outbox>,
    next: [u64; INSTANCES],
    received: [Account; INSTANCES],
    stored: [Account; INSTANCES],
    /// Batches that the DAC keeps until their turn, by topic and first sequence number.
    kept: BTreeMap<(TopicId, u64), Header>,
}

impl Account {
    /// The DAC reads a batch: a duplicate changes nothing, a gap must be reported.
    fn read(&mut self, header: Header) {
        let end = header.first_sequence + u64::from(header.count) - 1;
        if end > self.last {
            let hole = header.first_sequence.checked_sub(self.last + 1).expect("no overlap");
            // Before a batch that was sent earlier the node may report more drops: the DAC has those samples.
            assert!(u64::from(header.dropped_before) >= hole, "a hole that nobody told of: {header:?}");
            self.told += hole;
            self.received += u64::from(header.count);
            self.last = end;
        }
    }
}

impl Model {
    fn new(spool: Spool) -> Self {
        let outbox = Outbox::new(spool, Vec::new());
        let (received, stored, kept) = Default::default();
        let mut model = Self { outbox, next: [1; 2], received, stored, kept };
        model.connect(false);
        model
    }

    fn connect(&mut self, is_new: bool) {
        self.kept.clear();
        let topics = (0..INSTANCES).map(|instance| (instance, TopicId(instance as u32)));
        let dac = MetDac { is_new, safe_when: Some(SafeWhen::Stored), takes_ahead: true };
        self.outbox.with(|held| held.spool.connected(topics, dac));
    }

    fn store(&mut self) {
        self.stored = self.received;
        self.outbox.with(|held| {
            for (topic, stored) in self.stored.iter().enumerate() {
                held.spool.safe(TopicId(topic as u32), stored.last);
            }
        });
    }

    fn batch(&mut self, instance: usize, count: u16, length: usize, ring_full: u32) {
        let first_sequence = self.next[instance] + u64::from(ring_full);
        self.next[instance] = first_sequence + u64::from(count);
        // A header as the encoder writes it, and some bytes after it.
        let mut bytes = vec![0; 48 + length];
        (bytes[0], bytes[1]) = (1, 1);
        bytes[8..16].copy_from_slice(&first_sequence.to_le_bytes());
        bytes[44..46].copy_from_slice(&count.to_le_bytes());
        let batch = NewBatch {
            instance,
            first_sequence,
            count,
            before: Missing { ring_full: ring_full.into(), ..Missing::default() },
            bytes: Arc::new(bytes),
        };
        self.outbox.with(|held| held.spool.push(batch));
    }

    /// The DAC reads what was sent in order.
    fn send(&mut self, max: usize, is_heard: bool) {
        let shipment = self.outbox.with(|held| held.spool.take(max, |_| true));
        assert!(shipment.pieces() <= max);
        for release in shipment.releases {
            let (mut next, mut dropped_before) = (release.from_sequence, release.dropped_before);
            while next <= release.to_sequence {
                let kept = self.kept.remove(&(release.topic, next)).expect("a batch that the DAC keeps");
                next += u64::from(kept.count);
                let header = Header { dropped_before: std::mem::take(&mut dropped_before), ..kept };
                self.received[release.topic.0 as usize].read(header);
            }
        }
        for bytes in shipment.batches {
            let header = Header::parse(&bytes).unwrap();
            self.kept.retain(|&(topic, first), _| topic.0 != header.topic || first > header.first_sequence);
            self.received[header.topic as usize].read(header);
        }
        if is_heard {
            self.outbox.with(|held| {
                for (topic, account) in self.received.iter().enumerate() {
                    held.spool.acknowledge(TopicId(topic as u32), account.last);
                }
            });
        }
    }

    fn send_ahead(&mut self, is_kept: bool) {
        let Some(bytes) = self.outbox.with(|held| held.spool.take_ahead()) else { return };
        let header = Header::parse(&bytes).unwrap();
        let topic = TopicId(header.topic);
        if is_kept && header.first_sequence > self.received[header.topic as usize].last {
            self.kept.insert((topic, header.first_sequence), header);
            self.outbox.with(|held| held.spool.kept_ahead(topic, header.first_sequence));
        }
    }

    fn run(&mut self, events: Vec<Event>, spooler: &mut Spooler<&Outbox>) {
        for event in events {
            match event {
                Event::Batch(instance, count, bytes, dropped) => self.batch(instance, count, bytes, dropped),
                Event::Turn => {
                    spooler.turn(Instant::now());
                    spooler.settle();
                }
                Event::Send(count, is_heard) => self.send(count, is_heard),
                Event::Ahead(is_kept) => self.send_ahead(is_kept),
                Event::Reconnect => self.connect(false),
                Event::Store => self.store(),
                Event::Panic => spooler.begin_again(),
                Event::NewDac => {
                    self.received = self.stored;
                    self.connect(true);
                }
                Event::Disk(is_full) => {
                    spooler.journal.obstruct(is_full);
                    // Not a second later, but now.
                    spooler.retry = spooler.retry.map(|_| Instant::now());
                    spooler.retry_read = spooler.retry_read.map(|_| Instant::now());
                }
            }
        }
        spooler.journal.obstruct(false);
        spooler.retry = spooler.retry.map(|_| Instant::now());
        spooler.retry_read = spooler.retry_read.map(|_| Instant::now());
        for instance in 0..INSTANCES {
            self.batch(instance, 1, 0, 0);
        }
        for _ in 0..1_000 {
            spooler.turn(Instant::now());
            self.send(100, true);
            self.store();
        }
        assert!(self.outbox.with(|held| held.spool.is_finished()), "all is stored");
        spooler.settle();
        let left: usize = spooler.journal.segments();
        assert!(left <= 1, "{left} segments are left");
    }

    /// Samples that the DAC has, and those that the node reported as dropped.
    fn counts(&self) -> (u64, u64) {
        let sum = |of: fn(&Account) -> u64| self.received.iter().map(of).sum();
        (sum(|account| account.received), sum(|account| account.told))
    }

    fn taken(&self) -> u64 {
        self.next.iter().map(|next| next - 1).sum()
    }
}

fn spooler<'a>(model: &'a Arc<Outbox>, folder: &std::path::Path) -> Spooler<&'a Outbox> {
    let directory = Arc::new(Directory::open(folder, 1024 * 1024).unwrap());
    let journal = Journal::begin(directory, announcement(INSTANCES));
    Spooler::new(&**model, journal)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn with_room_on_the_disk_only_the_ring_drops_even_if_dacs_die(events in events(false, true), limit in 500..5_000_usize) {
        let folder = tempfile::tempdir().unwrap();
        // Memory for the batches between two steps; the file must take everything else.
        let mut model = Model::new(Spool::with_intake(Intake::new(400_000), limit, INSTANCES).for_link(Some(1)));
        let outbox = model.outbox.clone();
        let mut spooler = spooler(&outbox, folder.path());
        let ring: u64 = events.iter().map(|event| match event { Event::Batch(.., dropped) => (*dropped).into(), _ => 0_u64 }).sum();
        model.run(events, &mut spooler);
        let (received, told) = model.counts();
        prop_assert_eq!((received + told, told), (model.taken(), ring));
    }

    #[test]
    fn with_little_memory_and_a_failing_disk_each_sample_is_delivered_or_counted(events in events(true, false), limit in 1_000..20_000_usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut model = Model::new(Spool::before_a_file(limit, INSTANCES).for_link(Some(1)));
        let outbox = model.outbox.clone();
        let mut spooler = spooler(&outbox, folder.path());
        model.run(events, &mut spooler);
        let (received, told) = model.counts();
        prop_assert_eq!(received + told, model.taken());
    }
}
