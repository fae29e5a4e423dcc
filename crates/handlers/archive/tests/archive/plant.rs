//! A node without a socket: what the tests of the archive stand on.

use oasis_archive::{Archive, LiveImport, NotImported};
use oasis_channel::{
    Counters, Drops, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, RegisteredInstance, frame::Frame,
};
use oasis_dac::{Config, Dac, config::LogConfig, now, session::NodeSession};
use oasis_handler::Supervisor;
use oasis_recordings::import::ImportTotals;
use oasis_store::{ArchiveConfig, Clock, Past, PastItem, Series, clock::SystemClock};
use oasis_wire::{
    batch::{Batch, Encoder, Fields},
    probe_kind::ProbeKind,
    quantity::{Epoch, Position, TopicId},
    schema::ProbeType,
    value::{RowWriter, Value},
};
use std::{collections::BTreeMap, path::Path, sync::Arc};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Time from one sample to the next.
pub const STEP: u64 = 10_000_000;

pub fn counter() -> ProbeType {
    let json = r#"{"name": "Counter", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "count", "type": "uint64"}, {"name": "pad", "type": "string"}]}"#;
    serde_json::from_str(json).unwrap()
}

/// The counter of a node in one of its runs, as an import knows it.
pub fn counter_of(node: &str, run: u128) -> Series {
    Series {
        node: node.into(),
        instance: "counter".into(),
        kind: ProbeKind::Pushed,
        run: Uuid::from_u128(run),
        epoch: Epoch(0),
        probe_type: counter().into(),
    }
}

/// Takes numbers, and keeps what the DAC has not acknowledged, as the spool of a node does.
pub struct Node {
    taken: u64,
    unacknowledged: Vec<(u64, u64)>,
    /// Samples that the ring dropped ahead of the batch that begins with this one.
    dropped: BTreeMap<u64, u64>,
    run: Uuid,
}

impl Node {
    pub fn new(run: u128) -> Self {
        Self { taken: 0, unacknowledged: Vec::new(), dropped: BTreeMap::new(), run: Uuid::from_u128(run) }
    }

    /// Returns the samples that it would send now.
    pub fn unacknowledged(&self) -> impl Iterator<Item = u64> {
        self.unacknowledged.iter().flat_map(|(first, count)| *first..first + count)
    }

    /// Takes `count` samples and puts them into a batch.
    pub fn take(&mut self, count: u64) {
        self.unacknowledged.push((self.taken, count));
        self.taken += count;
    }

    /// Takes `count` samples that never reach a batch, for no known cause.
    pub fn lose(&mut self, count: u64) {
        self.taken += count;
    }

    /// Takes `count` samples that its ring has no room for.
    pub fn drop_samples(&mut self, count: u64) {
        self.taken += count;
        self.dropped.insert(self.taken, count);
    }

    /// Samples taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    pub fn batch(&self, topic: u32, first: u64, count: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(&counter()).unwrap();
        for number in first..first + count {
            let mut row = Vec::new();
            let mut writer = RowWriter::new(&mut row);
            writer.u64(number);
            writer.string(&"x".repeat(number as usize % 20));
            encoder.push(number * STEP, &row).unwrap();
        }
        let dropped_before = self.dropped.get(&first).map_or(0, |dropped| u32::try_from(*dropped).unwrap());
        let fields =
            Fields { topic, first_sequence: first + 1, dropped_before, node_time: 7, ..Fields::default() };
        let mut batch = Vec::new();
        encoder.finish(fields, &mut batch);
        batch
    }
}

/// A DAC with an archive.
pub struct Plant {
    pub dac: Arc<Dac>,
    pub archive: Arc<Archive>,
    handlers: Supervisor,
    runtime: Runtime,
    session: NodeSession,
    topic: u32,
}

pub fn config(directory: &Path) -> ArchiveConfig {
    ArchiveConfig {
        directory: directory.to_str().unwrap().into(),
        // Only on request: tests decide what is stored.
        commit_ms: 3_600_000,
        segment_bytes: 16 * 1024,
        min_free_bytes: 0,
        // The samples are of 1970.
        plausible_past_days: 0,
        // Batches stay as they arrived: when they are grouped depends on the time.
        group_batches: false,
        ..ArchiveConfig::default()
    }
}

fn hello(name: &str, run: Uuid) -> NodeMessage {
    let (host, software) = ("h".into(), "test".into());
    let node = NodeIdentity { name: name.into(), uuid: Uuid::nil(), run, host, software, pid: 1 };
    NodeMessage::Hello { protocol: PROTOCOL, node, secret: None, attach: None, drains: false }
}

impl Plant {
    pub fn start(config: ArchiveConfig, node: &Node, topic_bytes: usize) -> Self {
        Self::start_at(config, node, topic_bytes, Arc::new(SystemClock))
    }

    /// Starts with another clock for retention by age.
    pub fn start_at(config: ArchiveConfig, node: &Node, topic_bytes: usize, clock: Arc<dyn Clock>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let opened = oasis_store::open_with(config, clock).unwrap();
        let log = LogConfig { topic_bytes, ..LogConfig::default() };
        let dac = Dac::new(Config { log, ..Config::default() });
        oasis_archive::restore(&opened, &dac.registry).unwrap();
        let archive = Arc::new(Archive::new(opened));
        let handlers = Supervisor::new(dac.clone(), None, vec![archive.clone()]);
        handlers.start("archive").unwrap();
        let session = NodeSession::new(dac.clone(), tokio::sync::mpsc::channel(1).0);
        let mut plant = Self { dac, archive, handlers, runtime, session, topic: 0 };
        plant.register(node);
        plant
    }

    /// Ends the node's process, which has taken `taken` samples, and begins another one.
    pub fn restart_node(&mut self, taken: u64, again: &Node) {
        let counters = Counters {
            topic: TopicId(self.topic),
            taken,
            sent: 0,
            dropped: Drops::default(),
            after_sent: Drops::default(),
        };
        self.send_message(&NodeMessage::Counters { instances: vec![counters] });
        self.session.close(now());
        self.session = NodeSession::new(self.dac.clone(), tokio::sync::mpsc::channel(1).0);
        self.register(again);
    }

    fn register(&mut self, node: &Node) {
        self.send_message(&hello("plant", node.run));
        self.register_as(counter());
    }

    /// A node that says hello, and leaves.
    pub fn visit(&self, name: &str) {
        let mut session = NodeSession::new(self.dac.clone(), tokio::sync::mpsc::channel(1).0);
        let hello = serde_json::to_vec(&hello(name, Uuid::from_u128(7))).unwrap();
        session.handle(Frame::Control(&hello), now(), &mut Vec::new()).unwrap();
        session.close(now());
    }

    /// The node says that its counter is of this type.
    fn register_as(&mut self, probe_type: ProbeType) {
        let instance = RegisteredInstance {
            demand: None,
            declared: None,
            name: "counter".into(),
            probe_type: probe_type.uuid,
            kind: ProbeKind::Pushed,
            state: InstanceState { hertz: None, enabled: true, recorder: None },
        };
        self.send_message(&NodeMessage::Register { types: vec![probe_type], instances: vec![instance] });
        self.topic = self.dac.registry.find("plant", "counter").unwrap().topic.0;
    }

    /// The counter becomes one of another type: another topic takes its place.
    pub fn change_type(&mut self) {
        self.register_as(ProbeType { name: "Other".into(), uuid: Uuid::from_u128(9), ..counter() });
    }

    fn send_message(&mut self, message: &NodeMessage) {
        let json = serde_json::to_vec(message).unwrap();
        self.session.handle(Frame::Control(&json), now(), &mut Vec::new()).unwrap();
    }

    /// The node sends what is not acknowledged. Its acknowledgement arrives, or is lost.
    pub fn send(&mut self, node: &mut Node, is_acknowledged: bool) {
        for (first, count) in &node.unacknowledged {
            let batch = node.batch(self.topic, *first, *count);
            self.session.handle(Frame::Batch(&batch), now(), &mut Vec::new()).unwrap();
        }
        self.session.acknowledge(now(), &mut Vec::new());
        if is_acknowledged {
            node.unacknowledged.clear();
        }
    }

    /// The node sends a batch whatever is in it.
    pub fn send_batch(&mut self, batch: &[u8]) {
        self.session.handle(Frame::Batch(batch), now(), &mut Vec::new()).unwrap();
    }

    /// Number that the DAC has given the counter.
    pub fn topic(&self) -> u32 {
        self.topic
    }

    /// Sends `batches` batches of 40 samples, each stored before the next.
    pub fn fill(&mut self, node: &mut Node, batches: u64) {
        for _ in 0..batches {
            node.take(40);
            self.send(node, true);
            self.flush().unwrap();
        }
    }

    /// Begins an import beside the samples that arrive.
    pub fn begin_import(&self) -> LiveImport {
        self.runtime.block_on(self.archive.begin_import(&self.dac)).unwrap()
    }

    /// Makes an import part of the archive.
    pub fn finish_import(&self, import: LiveImport) -> Result<ImportTotals, NotImported> {
        self.runtime.block_on(self.archive.finish_import(import))
    }

    pub fn flush(&self) -> Result<(), oasis_archive::NotStored> {
        self.runtime.block_on(self.archive.flush())
    }

    /// Ends cleanly. The archive can still be queried for its state.
    pub fn stop(self) -> Arc<Archive> {
        self.pause();
        self.archive.close().unwrap();
        self.archive
    }

    /// Stops the archive while the DAC runs.
    pub fn pause(&self) {
        self.handlers.stop("archive").unwrap();
    }

    /// Starts it again.
    pub fn resume(&self) {
        self.handlers.start("archive").unwrap();
    }

    /// The same of one that cannot store what it has.
    pub fn stop_unstored(self) {
        self.pause();
        self.archive.close().unwrap_err();
    }

    pub fn epoch(&self) -> Epoch {
        self.dac.epoch()
    }

    /// Samples received in this epoch, duplicates not counted.
    pub fn received(&self) -> u64 {
        self.dac.registry.find("plant", "counter").unwrap().ledger().received
    }

    pub fn account(&self) -> oasis_store::Account {
        self.archive.account(TopicId(self.topic)).unwrap_or_default()
    }

    /// All that is stored from `time` on.
    pub fn past(&self, time: u64, until: Option<u64>) -> Read {
        Read::all(self.archive.history().past_from("plant", "counter", time, until).unwrap())
    }

    /// All that is stored of another node's counter.
    pub fn past_of(&self, node: &str) -> Read {
        Read::all(self.archive.history().past_from(node, "counter", 0, None).unwrap())
    }

    /// The newest samples of a time, of those that were received before an offset of this epoch.
    pub fn newest(&self, times: std::ops::Range<u64>, samples: u64, before: u64) -> Read {
        let mut newest = oasis_store::Newest::new(times, samples);
        let before = Position { epoch: self.epoch(), offset: oasis_wire::quantity::Offset(before) };
        Read::all(self.archive.history().past_newest("plant", "counter", &mut newest, before).unwrap())
    }

    pub fn past_at(&self, at: Position) -> Read {
        Read::all(self.archive.history().past_at("plant", "counter", at, None).unwrap())
    }
}

/// All that an archive holds, read without a DAC.
pub fn read_alone(directory: &Path) -> Read {
    let history = oasis_store::History::open(directory).unwrap();
    Read::all(history.past_from("plant", "counter", 0, None).unwrap())
}

/// Result of a reader of the past.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    /// Numbers of the samples, as contiguous ranges: first one, and the one after the last.
    pub numbers: Vec<(u64, u64)>,
    /// Offsets that were reported missing, and why.
    pub gaps: Vec<(u64, u64, &'static str)>,
    /// Number of times that another epoch began.
    pub epochs: usize,
}

impl Read {
    fn all(past: Option<Past>) -> Self {
        let mut read = Self::default();
        let Some(mut past) = past else { return read };
        let mut next = past.position().offset.0;
        let mut numbers = Vec::new();
        loop {
            let pieces = past.read(1_000).unwrap();
            if pieces.is_empty() {
                read.numbers = runs(numbers);
                return read;
            }
            for piece in pieces {
                match piece {
                    PastItem::Epoch(_) => {
                        read.epochs += 1;
                        next = 0;
                    }
                    PastItem::Gap { offsets, cause, .. } => {
                        assert_eq!(offsets.start.0, next);
                        next = offsets.end.0;
                        read.gaps.push((offsets.start.0, offsets.end.0, cause.word()));
                    }
                    PastItem::Samples { series, batch, wanted, .. } => {
                        assert_eq!(wanted.start.0, next);
                        next = wanted.end.0;
                        let batch = Batch::parse(&batch, &series.probe_type).unwrap();
                        for sample in batch.samples() {
                            let [Value::Uint(number), _] = sample.values[..] else { panic!("{sample:?}") };
                            assert_eq!((sample.sequence, sample.time), (number + 1, number * STEP));
                            if (wanted.start.0..wanted.end.0).contains(&sample.offset) {
                                numbers.push(number);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Numbers as runs without a hole.
pub fn runs(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(last) if last.1 == number => last.1 += 1,
            _ => runs.push((number, number + 1)),
        }
    }
    runs
}
