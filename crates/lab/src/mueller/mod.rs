//! The benchmark of Mueller 2014, chapter 3: clients open connections at a rate, each pings at its own random period, and a server with several workers answers.
//!
//! [`plan`] has the experiments with the paper's values, [`server`] starts a rival, [`load`] is the load generator with [`dialect`] for what it says and [`tally`]
//! for what it saw, [`scaling`] fits speed-ups. Each piece can be used alone.

mod dialect;
mod load;
mod outcome;
mod plan;
mod scaling;
mod server;
mod tally;

pub use load::Load;

use crate::{cpu, table::Table};
use anyhow::bail;
use clap::Args;
use outcome::Outcome;
use plan::{Cell, EXPERIMENTS, Experiment, Rival};
use scaling::{Fit, amdahl, fit, gustafson};
use server::Server;
use std::time::{Duration, Instant};

/// The benchmark of many cores of Mueller 2014, against engine.io and SocketCluster.
#[derive(Debug, Args)]
pub struct Mueller {
    /// A twelfth of the time, and so of the connections.
    #[arg(long)]
    quick: bool,
    /// Experiments, separated by commas [default: all but concurrent].
    #[arg(value_delimiter = ',')]
    experiments: Vec<String>,
    /// Servers, separated by commas [default: all].
    #[arg(long, value_delimiter = ',')]
    rivals: Vec<Rival>,
    /// Seed of the periods.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Mueller {
    /// The sections of the report.
    pub fn run(&self) -> anyhow::Result<Vec<String>> {
        cpu::raise_open_files()?;
        let experiments = chosen(&self.experiments)?;
        let rivals = match self.rivals.as_slice() {
            [] => vec![Rival::Oasis, Rival::EngineIo, Rival::SocketCluster],
            rivals => rivals.to_vec(),
        };
        eprintln!("{} at least", minutes(self.length(&experiments, rivals.len())));
        experiments.into_iter().map(|experiment| self.experiment(experiment, &rivals)).collect()
    }

    /// How long the cells take, without starts and ends.
    fn length(&self, experiments: &[&Experiment], rivals: usize) -> Duration {
        let cells = experiments.iter().flat_map(|experiment| experiment.cells(self.quick));
        cells.map(|cell| 2 * cell.ramp * u32::try_from(rivals).unwrap_or(u32::MAX)).sum()
    }

    fn experiment(&self, experiment: &Experiment, rivals: &[Rival]) -> anyhow::Result<String> {
        let mut table = Table::new(outcome::HEADINGS);
        let (mut measured, mut absent, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for cell in experiment.cells(self.quick) {
            for &rival in rivals {
                let (name, connections) = (rival.name(), cell.connections());
                eprintln!("{}: {name}, {} workers, {connections} connections", experiment.name, cell.workers);
                match measure(rival, &cell, self.seed)? {
                    Ok(outcome) => {
                        let failure = outcome.seen.first_failure.iter();
                        failures.extend(
                            failure.map(|why| format!("- {name}, {} workers: {why}.\n", cell.workers)),
                        );
                        table.row(outcome.row(rival, &cell));
                        measured.push((rival, cell, outcome));
                    }
                    Err(why) => absent.push(format!("- {}: {why}.\n", rival.name())),
                }
            }
        }
        absent.dedup();
        let Experiment { name, figures, question, variable, .. } = experiment;
        let head = format!(
            "## {question}\n\nExperiment `{name}`, figures {figures} of the paper. {variable}.\n\n{table}"
        );
        let speed_ups: String = rivals.iter().filter_map(|rival| speed_up(*rival, &measured)).collect();
        let notes = [speed_ups, failures.concat(), absent.concat()].concat();
        Ok(if notes.is_empty() { head } else { format!("{head}\n{notes}") })
    }
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Experiment>> {
    if names.is_empty() {
        return Ok(EXPERIMENTS.iter().filter(|experiment| experiment.name != "concurrent").collect());
    }
    names
        .iter()
        .map(|name| match EXPERIMENTS.iter().find(|experiment| experiment.name == name) {
            Some(experiment) => Ok(experiment),
            None => {
                let known: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
                bail!("no experiment {name:?}: there are {}", known.join(", "))
            }
        })
        .collect()
}

/// Measures one cell of one server; or says why the server is absent.
fn measure(rival: Rival, cell: &Cell, seed: u64) -> anyhow::Result<Result<Outcome, String>> {
    let server = match Server::start(rival, cell)? {
        Ok(server) => server,
        Err(absent) => return Ok(Err(absent)),
    };
    let (begun, cpu, workers) = (Instant::now(), server.cpu()?, server.worker_cpu()?);
    let seen = Load::apply(server.address, rival, cell, seed)?;
    let spent =
        server.worker_cpu()?.into_iter().zip(workers).map(|(after, before)| after.saturating_sub(before));
    let (workers, cpu) = (spent.collect(), server.cpu()?.saturating_sub(cpu));
    Ok(Ok(Outcome { seen, cpu, workers, elapsed: begun.elapsed() }))
}

/// What the fits say of a server that was measured with several numbers of workers.
fn speed_up(rival: Rival, measured: &[(Rival, Cell, Outcome)]) -> Option<String> {
    let of = measured.iter().filter(|(measured, ..)| *measured == rival);
    let capacities: Vec<_> =
        of.filter_map(|(_, cell, outcome)| Some((cell.workers, outcome.capacity()?))).collect();
    let (_, alone) = capacities.iter().find(|(workers, _)| *workers == 1)?;
    let points: Vec<_> =
        capacities.iter().map(|(workers, capacity)| (*workers as f64, capacity / alone)).collect();
    if points.iter().all(|(workers, _)| *workers == 1.0) {
        return None;
    }
    let said: Vec<_> = points.iter().map(|(workers, times)| format!("{workers}: {times:.2}")).collect();
    let law = |law| {
        fit(law, &points)
            .map_or("–".into(), |Fit { parallel, error }| format!("{parallel:.3} (error {error:.2})"))
    };
    Some(format!(
        "- {}: speed-up by workers {}; parallel share by Amdahl {}, by Gustafson {}.\n",
        rival.name(),
        said.join(", "),
        law(amdahl),
        law(gustafson),
    ))
}

fn minutes(length: Duration) -> String {
    format!("{:.1} minutes", length.as_secs_f64() / 60.0)
}
