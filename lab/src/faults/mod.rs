//! The fault lab: scenarios with a real DAC and real nodes. Each injects a fault, ends it, waits for the recovery and checks the invariants.
//!
//! [`scenarios`] has a file for each family of faults. A scenario works on a [`world`]: processes of a [`system`]. Its parameters are
//! [`random`] and follow from the seed. The [`judge`] compares the archive with what was generated. `docs/evidence/faults.md` describes
//! scenarios and invariants.

mod cluster;
mod judge;
pub mod random;
mod scenarios;
mod system;
mod waiting;
mod world;

pub use scenarios::{open, subscribed, websocket};
pub use system::{
    peer::{Peer, numbers},
    source::SourceSettings,
};
pub use world::World;

use crate::{cpu, listing, program, table::Table};
use anyhow::{Context, bail};
use clap::Args;
use judge::outcome::{Outcome, totals};
use random::Random;
use scenarios::Scenario;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Scenarios with faults, and what becomes of samples, memory and health.
#[derive(Debug, Clone, Args)]
pub struct Faults {
    /// Seed of all parameters: the same seed injects the same faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Long faults take this share of their time; kills are a fifth at 0.1.
    #[arg(long, default_value_t = 0.1)]
    scale: f64,
    /// Only these scenarios.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Only the scenarios that continuous integration runs.
    #[arg(long, conflicts_with = "only")]
    quick: bool,
    /// List the scenarios.
    #[arg(long)]
    list: bool,
    /// Scenarios at the same time: most of them wait most of the time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Start no scenario after this many seconds.
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
    /// Keep the folders of failed scenarios, with the log of the DAC.
    #[arg(long)]
    keep: bool,
    /// The binary of the DAC; without it, the one beside this program.
    #[arg(long, value_name = "FILE", env = "OASIS_BIN")]
    oasis: Option<PathBuf>,
}

impl Faults {
    /// Runs the scenarios, and prints the table.
    ///
    /// # Errors
    /// If an invariant broke.
    pub fn run(&self, record: Option<&Path>) -> anyhow::Result<()> {
        let chosen = self.chosen()?;
        if self.list {
            let lines = chosen.iter().map(|scenario| format!("{:<22} {}\n", scenario.name, scenario.about));
            return Ok(listing::print(&lines.collect::<String>())?);
        }
        let oasis = self.oasis.clone().map_or_else(program::oasis, program::existing)?;
        cpu::raise_open_files()?;
        let record = record.map(File::create).transpose().context("cannot write the record")?;
        let outcomes = self.run_all(&chosen, &oasis, record)?;
        let mut table = Table::new(Outcome::HEADINGS);
        outcomes.iter().flatten().for_each(|outcome| table.row(outcome.row()));
        print!("{table}");
        println!("\n{}", totals(outcomes.iter().flatten()));
        let left = chosen.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_none());
        let left: Vec<_> = left.map(|(scenario, _)| scenario.name).collect();
        if !left.is_empty() {
            println!("\nNot run within the budget: {}", left.join(", "));
        }
        let failed = outcomes.iter().flatten().filter(|outcome| outcome.is_failed());
        let failed: Vec<_> = failed.map(|outcome| outcome.scenario).collect();
        if !failed.is_empty() {
            bail!("{} broke an invariant: {}", failed.len(), failed.join(", "));
        }
        Ok(())
    }

    /// Runs scenarios side by side. Those for which there was no time have no outcome.
    fn run_all(
        &self,
        chosen: &[&'static Scenario],
        oasis: &Path,
        record: Option<File>,
    ) -> anyhow::Result<Vec<Option<Outcome>>> {
        let began = Instant::now();
        let is_over = || self.budget.is_some_and(|budget| began.elapsed() > Duration::from_secs(budget));
        let (next, outcomes, record) =
            (AtomicUsize::new(0), Mutex::new(vec![None; chosen.len()]), Mutex::new(record));
        let work = || -> anyhow::Result<()> {
            while !is_over()
                && let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(scenario) = chosen.get(index)
            {
                let outcome = self.run_one(scenario, oasis);
                let seconds = outcome.length.as_secs_f64();
                eprintln!("  {} ({seconds:.0} s): {}", scenario.name, outcome.verdict());
                if let Some(record) = &mut *lock(&record) {
                    writeln!(record, "{}", outcome.json())?;
                }
                lock(&outcomes)[index] = Some(outcome);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let jobs: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            jobs.into_iter().try_for_each(|job| job.join().unwrap_or_else(|_| bail!("a scenario panicked")))
        })?;
        Ok(outcomes.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn chosen(&self) -> anyhow::Result<Vec<&'static Scenario>> {
        let all = || scenarios::ALL.iter().copied().flatten();
        if let Some(unknown) = self.only.iter().find(|name| all().all(|scenario| scenario.name != **name)) {
            bail!("no scenario is called {unknown:?}; --list shows all");
        }
        let is_chosen = |scenario: &&Scenario| match self.only.is_empty() {
            true => !self.quick || scenario.is_quick,
            false => self.only.iter().any(|name| name == scenario.name),
        };
        Ok(all().filter(is_chosen).collect())
    }

    /// A world without a fault, for the program beside this one.
    ///
    /// # Errors
    /// If the program is not there.
    pub fn world(name: &'static str) -> anyhow::Result<World> {
        World::new(program::oasis()?, 1.0, Random::new(1, name), Outcome::default())
    }

    fn run_one(&self, scenario: &'static Scenario, oasis: &Path) -> Outcome {
        let began = Instant::now();
        let empty = Outcome { scenario: scenario.name, seed: self.seed, ..Outcome::default() };
        let random = Random::new(self.seed, scenario.name);
        let mut world = match World::new(oasis.to_owned(), self.scale, random, empty.clone()) {
            Ok(world) => world,
            Err(error) => return Outcome { failures: vec![format!("{error:#}")], ..empty },
        };
        let mut run = (scenario.run)(&mut world);
        if run.is_err() {
            world.give_up();
        }
        if world.outcome.skipped.is_none() {
            run = run.and(world.judge());
        }
        if let Err(error) = run {
            world.outcome.failures.push(format!("{error:#}"));
        }
        world.note_peak();
        world.outcome.length = began.elapsed();
        let outcome = world.outcome.clone();
        if self.keep && outcome.is_failed() {
            eprintln!("  kept: {}", world.keep().display());
        }
        outcome
    }
}

/// A panic of one scenario does not end the others.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
