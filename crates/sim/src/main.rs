//! `oasis-sim`: runs seeds, and reports what it finds.

use clap::Parser;
use oasis_sim::{
    plan::Plan,
    planted::Planted,
    run::{Options, Outcome, run},
};
use std::{
    process::ExitCode,
    str::FromStr,
    time::{Duration, Instant},
};

/// Interval between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Simulates nodes, channel, DAC and archive under faults. A seed decides everything, and repeats it.
#[derive(Debug, Parser)]
#[command(
    name = "oasis-sim",
    version,
    after_help = "Examples:
  oasis-sim                           seeds 1 to 1,000
  oasis-sim --minutes 10              as many seeds as ten minutes allow
  oasis-sim --seeds 5000..6000        these seeds
  oasis-sim --seed 4711 --trace       one seed, with every event
  oasis-sim --planted missing-sync    until a planted bug is found

The exit status is 1 if something is wrong. Rerun the seed that is printed."
)]
struct Arguments {
    /// Runs this seed
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "minutes"])]
    seed: Option<u64>,

    /// Runs the seeds from A on, before B
    #[arg(long, value_name = "A..B")]
    seeds: Option<Seeds>,

    /// Runs for so long, instead of a number of seeds
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,

    /// Plants a bug, and stops when it is found
    #[arg(long, value_name = "BUG")]
    planted: Option<Planted>,

    /// Prints each event
    #[arg(long)]
    trace: bool,

    /// Keeps the files of the disks, and says where
    #[arg(long)]
    keep_files: bool,

    /// Continues after a seed that found something
    #[arg(long)]
    keep_going: bool,

    /// Prints the log of the code under test of this level, such as info
    #[arg(long, value_name = "LEVEL")]
    log: Option<tracing_subscriber::filter::LevelFilter>,
}

/// Seeds from one on, before another.
#[derive(Debug, Clone, Copy)]
struct Seeds(u64, u64);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        parsed
            .filter(|(from, to)| from < to)
            .map(|(from, to)| Self(from, to))
            .ok_or_else(|| format!("{text:?} is no range of seeds: write 1..1000"))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(level) = arguments.log {
        tracing_subscriber::fmt().with_max_level(level).without_time().init();
    }
    let Seeds(first, end) = match (arguments.seed, arguments.seeds, arguments.minutes) {
        (Some(seed), _, _) => Seeds(seed, seed.saturating_add(1)),
        (None, Some(seeds), _) => seeds,
        (None, None, Some(_)) => Seeds(1, u64::MAX),
        (None, None, None) => Seeds(1, 1_001),
    };
    let limit = arguments.minutes.map(|minutes| Duration::from_secs_f64(minutes.clamp(0.0, 1e6) * 60.0));
    let options =
        Options { planted: arguments.planted, is_shown: arguments.trace, keeps_files: arguments.keep_files };
    let began = Instant::now();
    let mut progress = Progress::default();
    for seed in first..end {
        if limit.is_some_and(|limit| began.elapsed() >= limit) {
            break;
        }
        let outcome = run(seed, options);
        progress.add(&outcome, began);
        if outcome.findings.is_empty() {
            continue;
        }
        report(&outcome, options, began, &progress);
        if !arguments.keep_going {
            break;
        }
    }
    progress.print(began);
    if progress.failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("seeds with findings: {:?}", progress.failed);
    ExitCode::FAILURE
}

fn report(outcome: &Outcome, options: Options, began: Instant, progress: &Progress) {
    println!("seed {} failed at step {}; the last events:", outcome.seed, outcome.steps);
    outcome.last.iter().for_each(|event| println!("  {event}"));
    let plan = Plan::of(outcome.seed);
    plan.nodes.iter().for_each(|node| println!("plan: {node:?}"));
    plan.faults.iter().for_each(|(at, fault)| println!("plan: {:>13.6} {fault:?}", *at as f64 / 1e9));
    outcome.findings.iter().for_each(|finding| println!("FOUND {finding}"));
    if let Some(planted) = options.planted {
        let seconds = began.elapsed().as_secs_f64();
        println!("planted {planted:?}: found after {} seeds, {seconds:.1} s", progress.seeds);
    }
    println!("rerun: oasis-sim --seed {}", outcome.seed);
}

/// Sums over all seeds.
#[derive(Debug, Default)]
struct Progress {
    seeds: u64,
    generated: u64,
    stored: u64,
    changes: u64,
    simulated: u64,
    failed: Vec<u64>,
    printed: Duration,
}

impl Progress {
    fn add(&mut self, outcome: &Outcome, began: Instant) {
        self.seeds += 1;
        self.generated += outcome.account.generated;
        self.stored += outcome.account.stored;
        self.changes += outcome.changes;
        self.simulated += outcome.simulated;
        if !outcome.findings.is_empty() {
            self.failed.push(outcome.seed);
        }
        if began.elapsed() - self.printed >= PROGRESS_INTERVAL {
            self.printed = began.elapsed();
            self.print(began);
        }
    }

    fn print(&self, began: Instant) {
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{} seeds in {seconds:.0} s ({:.0} an hour), {:.1} h simulated, {} samples generated, {} stored, {} changes of disks, {} findings",
            self.seeds,
            self.seeds as f64 / seconds.max(0.001) * 3_600.0,
            self.simulated as f64 / 3.6e12,
            self.generated,
            self.stored,
            self.changes,
            self.failed.len()
        );
    }
}
