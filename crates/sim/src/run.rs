//! One run of the simulation: a seed, on a thread of its own.

use crate::{
    judge::{self, Account},
    plan::Plan,
    planted::Planted,
    system,
    world::World,
};
use oasis_dac::Moment;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
};

/// Stack of a run's thread.
const STACK: usize = 8 * 1024 * 1024;
/// A file system in memory, if there is one: real syncs would take most of the time.
const MEMORY: &str = "/dev/shm";

/// Options of the run of a seed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The bug to plant.
    pub planted: Option<Planted>,
    /// Prints each event.
    pub is_shown: bool,
    /// Keeps the files of the disks.
    pub keeps_files: bool,
}

/// Result of a run.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Hash of all events.
    pub hash: u64,
    /// Number of events.
    pub steps: u64,
    /// Simulated nanoseconds.
    pub simulated: u64,
    /// Changes of disks.
    pub changes: u64,
    /// Violations that were found: none if the code under test is right.
    pub findings: Vec<String>,
    /// The last events.
    pub last: Vec<String>,
    /// Fate of the samples.
    pub account: Account,
}

/// Runs a seed.
pub fn run(seed: u64, options: Options) -> Outcome {
    let failed = |what: String| Outcome { seed, findings: vec![what], ..Outcome::default() };
    let folder = match folder() {
        Ok(folder) => folder,
        Err(error) => return failed(format!("no folder for the disks: {error}")),
    };
    let path = folder.path().to_owned();
    // A new thread: the seeds of its hash maps are those of its simulated machine.
    let thread = thread::Builder::new().name("seed".into()).stack_size(STACK);
    let running = thread.spawn(move || simulate(seed, options, &path));
    let joined = running.map(thread::JoinHandle::join);
    if options.keeps_files {
        println!("the disks are in {}", folder.keep().display());
    }
    match joined {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => failed("the simulation panicked".into()),
        Err(error) => failed(format!("no thread: {error}")),
    }
}

fn folder() -> std::io::Result<tempfile::TempDir> {
    let base = if Path::new(MEMORY).is_dir() { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("oasis-sim-").tempdir_in(base)
}

fn simulate(seed: u64, options: Options, folder: &Path) -> Outcome {
    let guard = system::enter(folder, seed);
    // The DAC's steady clock counts from its first use in the process.
    let _ = Moment::now();
    let mut outcome = Outcome { seed, ..Outcome::default() };
    match World::new(Plan::of(seed), seed, options.planted, options.is_shown) {
        Ok(mut world) => {
            finish(&mut world, &mut outcome);
            outcome.changes = system::disk(|disk| disk.all_changes());
            // Its files are closed before the machine is gone.
            drop(world);
        }
        Err(error) => outcome.findings.push(format!("{error:#}")),
    }
    drop(guard);
    outcome
}

fn finish(world: &mut World, outcome: &mut Outcome) {
    let ran = catch_unwind(AssertUnwindSafe(|| world.run()));
    match ran {
        Ok(Ok(())) => match judge::judge(world.archive(), &world.shared.oracle, &world.shared.plan) {
            Ok(account) => {
                outcome.findings.extend(account.findings.iter().cloned());
                outcome.account = account;
            }
            Err(error) => outcome.findings.push(format!("{error:#}")),
        },
        Ok(Err(error)) => outcome.findings.push(format!("{error:#}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            outcome.findings.push(format!("panic: {}", text.unwrap_or_default()));
        }
    }
    let trace = &world.shared.trace;
    (outcome.hash, outcome.steps, outcome.last) = (trace.hash(), trace.steps(), trace.last());
    outcome.simulated = world.shared.now;
}
