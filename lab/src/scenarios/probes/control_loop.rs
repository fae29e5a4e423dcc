//! A control loop of 1 kHz, without probes and with ten, in turns.

use crate::{
    cpu,
    scenarios::progress,
    servers::sample,
    statistics::{median, ratios, spread},
    table::Table,
};
use hdrhistogram::Histogram;
use oasis_probe::{Grant, NodeBuilder, NodeConfig, PushedProbe, RealTime, TcpConnector};
use oasis_probes::LinuxProcessorProbe;
use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const PROBES: usize = 10;
const TURNS: u64 = 2_000;
/// Turns before the other loop has its own.
const STRETCH: u64 = 50;
const PERIOD: Duration = Duration::from_millis(1);
/// Priority of the loop among real-time threads.
const PRIORITY: u8 = 50;
/// Processor time that the loop computes in a turn.
const WORK: Duration = Duration::from_micros(100);

/// A table of errors of the period, and their ratio.
pub fn measure(channel: &str, pairs: usize, ring_bytes: usize) -> anyhow::Result<String> {
    let away = RealTime { cores: Some(vec![cpu::SERVERS]), ..RealTime::default() };
    let mut builder =
        NodeBuilder::new("control loop", NodeConfig { real_time: away, ..NodeConfig::default() });
    let probes: Result<Vec<_>, _> =
        (0..PROBES).map(|number| builder.pushed(format!("loop/{number}"), ring_bytes)).collect();
    let mut probes: Vec<PushedProbe<LinuxProcessorProbe>> = probes?;
    let node = builder.start(TcpConnector::new(channel))?;
    let load = Load::start();
    let runs = thread::scope(|scope| {
        let control = scope.spawn(|| {
            let urgent =
                RealTime { cores: Some(vec![cpu::CLIENTS]), priority: Some(PRIORITY), ..RealTime::default() };
            let granted = urgent.apply("control loop").priority;
            let runs: anyhow::Result<Vec<_>> = (0..pairs).map(|pair| run_pair(pair, &mut probes)).collect();
            (granted, runs)
        });
        control.join().map_err(|_| anyhow::anyhow!("the control loop panicked"))
    })?;
    drop(load);
    node.shutdown();
    let (granted, runs) = (runs.0, runs.1?);
    let mut flushes = Histogram::<u64>::new(3)?;
    runs.iter().try_for_each(|run| flushes.add(&run.flushes))?;
    let mut table = Table::new(["loop", "p99 period error, us: median of runs", "lowest to highest"]);
    let begin: fn(&Errors) -> &Histogram<u64> = |errors| &errors.begin;
    for (end, of) in [("begin", begin), ("end", |errors| &errors.end)] {
        let p99 = |errors: &Errors| of(errors).value_at_quantile(0.99) as f64 / 1e3;
        let bare: Vec<f64> = runs.iter().map(|run| p99(&run.bare)).collect();
        let watched: Vec<f64> = runs.iter().map(|run| p99(&run.watched)).collect();
        table.row(row(format!("cycle {end}: bare"), &bare, 1));
        table.row(row(format!("cycle {end}: with ten probes"), &watched, 1));
        table.row(row(format!("cycle {end}: ratio, pair by pair"), &ratios(&watched, &bare), 2));
    }
    let urgency = match granted {
        Grant::Yes => format!("real-time priority {PRIORITY}"),
        _ => "no real-time priority (not granted by this host)".into(),
    };
    Ok(format!(
        "## A control loop of 1 kHz\n\n{pairs} pairs of runs of {TURNS} cycles, without probes and with {PROBES} that are flushed in each cycle, alternating every {STRETCH} cycles, on core {} with {urgency}; a busy thread on each core, the node's collector and the DAC on core {}. A cycle computes for {} us. Period errors are measured between starts of consecutive cycles, and between their ends, minus 1 ms. Rings have {ring_bytes} bytes.\n\n{table}\nThe ten flushes of a cycle, with their samples and times, take {} us (median) and {} us (p99); their memory was not accessed for a millisecond before.\n",
        cpu::CLIENTS,
        cpu::SERVERS,
        WORK.as_micros(),
        flushes.value_at_quantile(0.5) as f64 / 1e3,
        flushes.value_at_quantile(0.99) as f64 / 1e3
    ))
}

fn row(name: String, values: &[f64], digits: usize) -> Vec<String> {
    let (low, high) = spread(values).unwrap_or_default();
    let median = median(values).unwrap_or_default();
    vec![name, format!("{median:.digits$}"), format!("{low:.digits$} to {high:.digits$}")]
}

/// Errors of the period, in nanoseconds.
struct Errors {
    /// When the loop wakes up.
    begin: Histogram<u64>,
    /// When it has computed and flushed.
    end: Histogram<u64>,
}

struct Pair {
    bare: Errors,
    watched: Errors,
    /// Durations of the flushes of a turn, in nanoseconds.
    flushes: Histogram<u64>,
}

/// Without and with probes. They alternate often, so that other load affects both.
fn run_pair(number: usize, probes: &mut [PushedProbe<LinuxProcessorProbe>]) -> anyhow::Result<Pair> {
    progress(format_args!("pair {} of runs of the control loop", number + 1));
    let times = || Histogram::new_with_max(10_000_000_000, 3);
    let errors = || anyhow::Ok(Errors { begin: times()?, end: times()? });
    let mut pair = Pair { bare: errors()?, watched: errors()?, flushes: times()? };
    let mut nothing = times()?;
    for _ in 0..TURNS / STRETCH {
        run(&mut [], &mut pair.bare, &mut nothing);
        run(probes, &mut pair.watched, &mut pair.flushes);
    }
    Ok(pair)
}

fn run(probes: &mut [PushedProbe<LinuxProcessorProbe>], errors: &mut Errors, flushes: &mut Histogram<u64>) {
    let began = Instant::now();
    let mut before = None;
    for turn in 1..=STRETCH {
        let due = PERIOD * turn as u32;
        thread::sleep(due.saturating_sub(began.elapsed()));
        let begin = Instant::now();
        while begin.elapsed() < WORK {
            black_box(turn);
        }
        let computed = Instant::now();
        probes.iter_mut().for_each(|probe| _ = probe.flush(&sample(turn)));
        let end = Instant::now();
        flushes.saturating_record((end - computed).as_nanos() as u64);
        if let Some((begun, ended)) = before.replace((begin, end)) {
            let error = |from: Instant, to: Instant| (to - from).abs_diff(PERIOD).as_nanos() as u64;
            errors.begin.saturating_record(error(begun, begin));
            errors.end.saturating_record(error(ended, end));
        }
    }
}

/// A thread on each core that never rests.
struct Load {
    ended: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn start() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let busy = |core| {
            let ended = ended.clone();
            thread::spawn(move || {
                // The core matters less than that the loop runs.
                let _ = cpu::confine(core);
                while !ended.load(Ordering::Relaxed) {
                    black_box(core);
                }
            })
        };
        let threads = [cpu::SERVERS, cpu::CLIENTS].map(busy).into();
        Self { ended, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
