//! Costs of having a batch in a file before it is sent: the same samples through the same node, with and without a spool directory.
//!
//! The DAC acknowledges at once, so what differs is the spool. What counts is processor time: by the clock both wait for the linger time. `cargo bench -p oasis-probe`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench, whose macros make functions"
)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use oasis_channel::{Connector, DacMessage, NodeMessage, Receiver, Sender, TopicAssignment};
use oasis_probe::{Node, NodeBuilder, NodeConfig, ProbeType, PushedKind, RowProbe, now_ns};
use oasis_wire::{
    batch::Header,
    quantity::{Epoch, TopicId},
};
use rustix::time::{ClockId, clock_gettime};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Samples in one measurement.
const SAMPLES: u64 = 100_000;
const SCHEMA: &str = r#"{"name": "Loop", "uuid": "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01", "version": "1.0",
    "metrics": [{"name": "turns", "type": "uint64"}, {"name": "level", "type": "real64"}]}"#;

/// A DAC that has everything as soon as it is sent.
struct Sink(Arc<AtomicU64>);

struct SinkSender {
    last: Arc<AtomicU64>,
    answers: Option<mpsc::Sender<DacMessage>>,
}

struct SinkReceiver(mpsc::Receiver<DacMessage>);

impl Connector for Sink {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        let (answers, to_node) = mpsc::channel();
        let sender = SinkSender { last: self.0.clone(), answers: Some(answers) };
        Ok((Box::new(sender), Box::new(SinkReceiver(to_node))))
    }

    fn target(&self) -> String {
        "sink".into()
    }
}

impl Sender for SinkSender {
    fn send(&mut self, control: &[NodeMessage], batches: &[&[u8]]) -> io::Result<()> {
        let Some(answers) = &self.answers else { return Ok(()) };
        for message in control {
            let answer = match message {
                NodeMessage::Hello { .. } => DacMessage::Welcome {
                    protocol: 1,
                    epoch: Epoch(1),
                    software: "sink".into(),
                    datagrams: None,
                    safe: None,
                    ahead: false,
                },
                NodeMessage::Register { instances, .. } => {
                    let topic = |(number, name): (usize, &str)| TopicAssignment {
                        instance: name.into(),
                        topic: TopicId(number as u32),
                    };
                    let names = instances.iter().map(|instance| instance.name.as_str());
                    DacMessage::Registered { topics: names.enumerate().map(topic).collect() }
                }
                _ => continue,
            };
            answers.send(answer).map_err(io::Error::other)?;
        }
        if let Some(bytes) = batches.last() {
            let header = Header::parse(bytes).map_err(io::Error::other)?;
            let last = header.first_sequence + u64::from(header.count) - 1;
            let ack = DacMessage::Ack { topics: vec![(TopicId(header.topic), last)] };
            answers.send(ack).map_err(io::Error::other)?;
            self.last.store(last, Ordering::Release);
        }
        Ok(())
    }

    fn close(&mut self) {
        self.answers = None;
    }
}

impl Receiver for SinkReceiver {
    fn receive(&mut self) -> io::Result<DacMessage> {
        self.0.recv().map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }
}

struct Running {
    probe: RowProbe,
    last: Arc<AtomicU64>,
    node: Node,
}

fn start(config: NodeConfig) -> Running {
    let probe_type: ProbeType = serde_json::from_str(SCHEMA).expect("a schema");
    let last = Arc::new(AtomicU64::new(0));
    let mut builder = NodeBuilder::new("bench", config);
    let probe =
        builder.pushed_rows("loop", probe_type, PushedKind::Pushed, 8 * 1024 * 1024).expect("a probe");
    let node = builder.start(Sink(last.clone())).expect("a node");
    Running { probe, last, node }
}

/// Processor time of the whole process from the first sample pushed to the last one with the DAC.
fn deliver(running: &mut Running) -> Duration {
    let target = running.last.load(Ordering::Acquire) + SAMPLES;
    let before = processor_time();
    for turn in 0..SAMPLES {
        let has_room = running.probe.flush_at(now_ns(), |row| {
            row.packed(&turn.to_le_bytes());
            row.packed(&(turn as f64).sqrt().to_le_bytes());
        });
        assert!(has_room, "the ring takes all of one measurement");
    }
    while running.last.load(Ordering::Acquire) < target {
        thread::sleep(Duration::from_millis(1));
    }
    processor_time() - before
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn spool(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut group = criterion.benchmark_group("samples through a node");
    group.throughput(Throughput::Elements(SAMPLES)).sample_size(20);
    for batch_samples in [16, 1_024] {
        let linger = Duration::from_millis(10);
        let memory = NodeConfig { batch_samples, linger, ..NodeConfig::default() };
        let files = NodeConfig { spool_directory: Some(folder.path().to_owned()), ..memory.clone() };
        for (name, config) in [("memory", memory), ("files", files)] {
            let mut running = start(config);
            let id = BenchmarkId::new(name, format!("{batch_samples} a batch"));
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| deliver(&mut running)).sum())
            });
            running.node.shutdown();
        }
    }
    group.finish();
}

criterion_group!(benches, spool);
criterion_main!(benches);
