//! Cost of one flush for the watched thread, policy by policy and kind by kind, beside other uses of a sample by a program: a ring of plain structs, channels, a `tracing`
//! event. All of them read the clock and take the same seven numbers; no listener receives the event. `cargo bench -p oasis-probe --bench flush`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench, whose macros make functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use oasis_channel::{Connector, Receiver, Sender};
use oasis_probe::{
    Deadbands, NodeBuilder, NodeConfig, Overflow, Probe, ProbeType, PushedKind, RingConfig, RowProbe, now_ns,
};
use oasis_wire::schema::{Metric, MetricType};
use std::{
    hint::black_box,
    io,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Samples between two rests, in which whoever listens takes them.
const BURST: u64 = 1_000;
const BURST_INTERVAL: Duration = Duration::from_millis(3);
const RING: usize = 1024 * 1024;

/// As large as `LinuxProcessorProbe`.
#[derive(Debug, Clone, Copy)]
struct Sample {
    time: u64,
    metrics: [u64; 7],
}

fn sample(number: u64) -> Sample {
    Sample { time: now_ns(), metrics: std::array::from_fn(|metric| number + metric as u64) }
}

/// No DAC is there: what the node does with samples is not measured.
struct Nowhere;

impl Connector for Nowhere {
    fn connect(&mut self) -> io::Result<(Box<dyn Sender>, Box<dyn Receiver>)> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn target(&self) -> String {
        "nowhere".into()
    }
}

fn processor() -> ProbeType {
    let metrics = (0..7).map(|number| Metric::new(format!("time_{number}"), MetricType::Uint64)).collect();
    ProbeType {
        name: "Bench::Processor".into(),
        uuid: "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d02".parse().unwrap(),
        version: "1.0".into(),
        doc: None,
        rate: None,
        metrics,
    }
}

fn flush(probe: &mut RowProbe, number: u64) -> bool {
    let sample = sample(number);
    probe.flush_at(sample.time, |row| sample.metrics.iter().for_each(|&metric| row.u64(metric)))
}

/// Times bursts, not the rests between them.
fn bursts(iterations: u64, mut work: impl FnMut(u64)) -> Duration {
    let mut took = Duration::ZERO;
    for burst in 0..iterations.div_ceil(BURST) {
        let first = burst * BURST;
        let began = Instant::now();
        (first..iterations.min(first + BURST)).for_each(&mut work);
        took += began.elapsed();
        thread::sleep(BURST_INTERVAL);
    }
    took
}

fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flush");
    let mut measure = |name: &str, kind: PushedKind, bytes: usize, overflow: Overflow| {
        let mut builder = NodeBuilder::new("bench", NodeConfig::default());
        let ring = RingConfig { bytes, overflow };
        let mut probe = builder.pushed_rows("processor", processor(), kind, ring).unwrap();
        let node = builder.start(Nowhere).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                bursts(iterations, |number| _ = black_box(flush(&mut probe, black_box(number))))
            });
        });
        drop(node);
    };
    let on_change = || PushedKind::OnChange(Deadbands::any_change());
    let still = (0..7)
        .fold(Deadbands::any_change(), |bands, metric| bands.with(format!("time_{metric}"), f64::INFINITY));
    measure("drop newest", PushedKind::Pushed, RING, Overflow::DropNewest);
    measure("drop newest, full", PushedKind::Pushed, 4_096, Overflow::DropNewest);
    measure("drop oldest", PushedKind::Pushed, RING, Overflow::DropOldest);
    measure("drop oldest, overwriting", PushedKind::Pushed, 4_096, Overflow::DropOldest);
    measure("block, with room", PushedKind::Pushed, RING, Overflow::Block(Duration::from_millis(1)));
    measure("event", PushedKind::Event, RING, Overflow::DropNewest);
    measure("on change, kept", on_change(), RING, Overflow::DropNewest);
    measure("on change, within its deadbands", PushedKind::OnChange(still), RING, Overflow::DropNewest);
    group.finish();
}

/// A sample of a control loop, declared in Rust.
#[derive(Probe)]
#[probe(type = "Bench::Loop")]
struct Derived {
    turns: u64,
    #[probe(unit = "us", min = 0)]
    lateness: f64,
    rate: f32,
    is_tracking: bool,
    axes: Vec<f64>,
}

/// The same, as the generator writes it of PDL.
struct Generated {
    turns: u64,
    lateness: f64,
    rate: f32,
    is_tracking: bool,
    axes: Vec<f64>,
}

impl oasis_probe::Sample for Generated {
    const NAME: &'static str = Derived::NAME;
    const UUID: &'static str = Derived::UUID;
    const SCHEMA: &'static str = Derived::SCHEMA;

    fn write(&self, row: &mut oasis_probe::RowWriter<'_>) {
        row.u64(self.turns);
        row.f64(self.lateness);
        row.f32(self.rate);
        row.boolean(self.is_tracking);
        row.vector(self.axes.len());
        for element in &self.axes {
            row.f64(*element);
        }
    }

    fn read(row: &mut oasis_probe::Reader<'_>) -> Result<Self, oasis_probe::Malformed> {
        Ok(Self {
            turns: row.array().map(u64::from_le_bytes)?,
            lateness: row.array().map(f64::from_le_bytes)?,
            rate: row.array().map(f32::from_le_bytes)?,
            is_tracking: row.boolean()?,
            axes: (0..row.count()?).map(|_| row.array().map(f64::from_le_bytes)).collect::<Result<_, _>>()?,
        })
    }
}

/// A type that is derived costs what one costs that is generated.
fn types(criterion: &mut Criterion) {
    fn measure<S: oasis_probe::Sample>(
        criterion: &mut Criterion,
        name: &str,
        mut sample: S,
        count: fn(&mut S, u64),
    ) {
        let mut builder = NodeBuilder::new("bench", NodeConfig::default());
        let mut probe = builder.pushed::<S>("loop", RING).unwrap();
        let node = builder.start(Nowhere).unwrap();
        criterion.benchmark_group("types").bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                bursts(iterations, |number| {
                    count(&mut sample, black_box(number));
                    black_box(probe.flush(&sample));
                })
            });
        });
        drop(node);
    }
    let (lateness, rate, is_tracking) = (1.5, 2.5, true);
    let generated = Generated { turns: 0, lateness, rate, is_tracking, axes: vec![0.5; 3] };
    measure(criterion, "generated", generated, |sample, number| sample.turns = number);
    let derived = Derived { turns: 0, lateness, rate, is_tracking, axes: vec![0.5; 3] };
    measure(criterion, "derived", derived, |sample, number| sample.turns = number);
}

/// Others keep their records until a reader takes them: here a thread, between bursts.
fn rivals(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("beside");
    group.bench_function("the clock alone", |bencher| {
        bencher.iter_custom(|iterations| bursts(iterations, |_| _ = black_box(now_ns())));
    });
    group.bench_function("rtrb, structs", |bencher| {
        let (mut producer, mut consumer) = rtrb::RingBuffer::<Sample>::new(BURST as usize * 4);
        let taking = thread::spawn(move || {
            while !consumer.is_abandoned() {
                while consumer.pop().map(black_box).is_ok() {}
                thread::sleep(Duration::from_millis(1));
            }
        });
        bencher.iter_custom(|iterations| {
            bursts(iterations, |number| _ = black_box(producer.push(sample(black_box(number))).is_ok()))
        });
        drop(producer);
        taking.join().unwrap();
    });
    group.bench_function("crossbeam channel, bounded", |bencher| {
        let (sender, receiver) = crossbeam_channel::bounded(BURST as usize * 4);
        let taking = thread::spawn(move || receiver.iter().for_each(|sample: Sample| _ = black_box(sample)));
        bencher.iter_custom(|iterations| {
            bursts(iterations, |number| _ = black_box(sender.try_send(sample(black_box(number))).is_ok()))
        });
        drop(sender);
        taking.join().unwrap();
    });
    group.bench_function("std channel, bounded", |bencher| {
        let (sender, receiver) = mpsc::sync_channel(BURST as usize * 4);
        let taking = thread::spawn(move || receiver.iter().for_each(|sample: Sample| _ = black_box(sample)));
        bencher.iter_custom(|iterations| {
            bursts(iterations, |number| _ = black_box(sender.try_send(sample(black_box(number))).is_ok()))
        });
        drop(sender);
        taking.join().unwrap();
    });
    group.bench_function("tracing event, written nowhere", |bencher| {
        let subscriber = tracing_subscriber::fmt().with_writer(io::sink).finish();
        tracing::subscriber::with_default(subscriber, || {
            bencher.iter_custom(|iterations| {
                bursts(iterations, |number| {
                    let Sample { time, metrics: [a, b, c, d, e, f, g] } = sample(black_box(number));
                    tracing::info!(time, a, b, c, d, e, f, g);
                })
            });
        });
    });
    group.finish();
}

criterion_group!(benches, policies, types, rivals);
criterion_main!(benches);
