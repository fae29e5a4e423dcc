//! The commands: list, run, report, compare.

use super::{
    CellContext, Choice, Downloads, Experiment, Hosts, Interrupt, Method, Readiness,
    folder::RunFolder,
    live::Recorder,
    record::{Machine, RunRecord},
    report,
    run::{self, Ending},
    value::Lists,
};
use crate::listing;
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    net::IpAddr,
    path::{Path, PathBuf},
};

/// Folder that keeps runs.
pub const RUNS: &str = "lab-runs";

/// Lists the experiments, their plans and variables.
#[derive(Debug, Args)]
pub struct List {}

/// Runs an experiment, and reports it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oasis lab run frizelle                                        one small cell for each server
  oasis lab run frizelle --quick                                twelve cells, under five minutes
  oasis lab run frizelle --set SERVER=oasis,node --set NUMTHREADS=1000,5000 --repeat 3
  oasis lab run frizelle --paper                                nights; Ctrl-C ends it, --resume goes on
  oasis lab run frizelle --paper --only NUMTHREADS=20000 --set TEST_DURATION=60
  oasis lab run mueller --quick                                 workers beside engine.io and SocketCluster
  oasis lab run windcomm --set BROWSER=firefox                  WebSocket, polls and streams over a slow way
  oasis lab run oasis-2013 --set TEST=bytes                     AJAX beside WebSockets: bytes on the wire
  oasis lab run million --set WATCHERS=20000,100000             how many WebSockets relays hold, and in how much memory
  oasis lab run oasis-2013 --plan million                       how many samples a second one tab takes
  oasis lab run --resume lab-runs/frizelle-paper-20261123-220000")]
pub struct Run {
    /// The experiment, of those that `list` shows.
    #[arg(required_unless_present = "resume")]
    name: Option<String>,
    /// A plan of a few minutes.
    #[arg(long, conflicts_with = "paper")]
    quick: bool,
    /// The plan of the publication.
    #[arg(long)]
    paper: bool,
    /// Another plan, of those that `list` shows.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["quick", "paper"])]
    plan: Option<String>,
    /// Value of a variable in place of the plan's, or several, separated by commas; SERVER chooses servers.
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
    /// Only cells with these values.
    #[arg(long, value_name = "K=V")]
    only: Vec<String>,
    /// Times that each cell is run.
    #[arg(long, default_value_t = 1, value_name = "N")]
    repeat: usize,
    /// Build no server from what must be downloaded: it is absent.
    #[arg(long)]
    offline: bool,
    /// Resume a run that was ended.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["name", "quick", "paper", "plan", "set", "only", "repeat"])]
    resume: Option<PathBuf>,
    /// Folder for runs.
    #[arg(long, default_value = RUNS, value_name = "FOLDER")]
    runs: PathBuf,
    /// Other hosts that the load comes from, each with `oasis-lab host`. They must reach --listen and SERVER_HOST.
    #[arg(long, default_value_t = 0, value_name = "N")]
    hosts: usize,
    /// Address of the DAC that records the run.
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    listen: IpAddr,
}

/// Serves the pages of an experiment, to be opened by hand, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oasis lab show windcomm                                       wind by each door, over the way to Edmonton
  oasis lab show windcomm --set LINK=nagaoka
  oasis lab show oasis-2013 --set SERVER=ajax-file --set RATE=2000   the dashboard of 2012 at 2 Hz")]
pub struct Show {
    /// The experiment, of those that `list` shows.
    name: String,
    /// Value of a variable in place of its default; SERVER chooses the door.
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
}

/// Reports runs of one experiment: HTML, Markdown, figures and raw data.
#[derive(Debug, Args)]
pub struct Report {
    /// Folders of runs; cells with the same values are repetitions.
    #[arg(required = true)]
    run: Vec<PathBuf>,
    /// Folder for the report; the first run's if absent.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

/// Compares two runs of one experiment, cell by cell.
#[derive(Debug, Args)]
pub struct Compare {
    /// The folder of a run.
    before: PathBuf,
    /// The folder of another one.
    after: PathBuf,
}

impl List {
    /// Prints the list.
    pub fn run(&self, methods: &[&dyn Method]) -> anyhow::Result<()> {
        let mut text = String::new();
        for method in methods {
            describe(&Experiment::parse(method.declaration())?, &mut text)?;
        }
        Ok(listing::print(&text)?)
    }
}

/// Adds what an experiment offers.
fn describe(experiment: &Experiment, text: &mut String) -> fmt::Result {
    writeln!(text, "{}: {}\n  {}\n", experiment.name, experiment.title, experiment.source)?;
    for plan in &experiment.plans {
        writeln!(text, "  plan {:11} {}", plan.name, plan.what)?;
        if !plan.figures.is_empty() {
            writeln!(text, "  {:16} completes figures {}", "", plan.figures.join(", "))?;
        }
    }
    for server in &experiment.servers {
        writeln!(text, "  server {:14} {}", server.name, server.what)?;
    }
    for variable in &experiment.variables {
        let unit = if variable.unit.is_empty() { String::new() } else { format!(" {}", variable.unit) };
        writeln!(text, "  {}={}{unit}: {}", variable.name, variable.default, variable.meaning)?;
    }
    writeln!(text)
}

impl Run {
    /// Runs or resumes the experiment, and writes its report.
    pub fn run(&self, methods: &[&dyn Method]) -> anyhow::Result<()> {
        let (method, folder) = match &self.resume {
            Some(path) => resumed(methods, path, self.downloads())?,
            None => self.begun(methods)?,
        };
        run::announce(method, &folder)?;
        let interrupt = Interrupt::install()?;
        let recorder = recorder(&folder, self.listen);
        let hosts = match (&recorder, self.hosts) {
            (_, 0) => None,
            (Some(recorder), count) => Some(Hosts::wait(recorder, count, &interrupt)?),
            (None, _) => bail!("load from other hosts needs the DAC of the run"),
        };
        let context =
            CellContext { interrupt: &interrupt, recorder: recorder.as_ref(), hosts: hosts.as_ref() };
        let ending = run::run(method, &folder, &context)?;
        recorder.map_or(Ok(()), Recorder::finish)?;
        let experiment = Experiment::parse(method.declaration())?;
        let written = report::write(&experiment, std::slice::from_ref(&folder), folder.path())?;
        println!("{}", written.display());
        if ending == Ending::Interrupted {
            let path = folder.path().display();
            bail!("interrupted: finished cells are kept; go on with: oasis lab run --resume {path}");
        }
        Ok(())
    }

    fn downloads(&self) -> Downloads {
        if self.offline { Downloads::Refused } else { Downloads::Allowed }
    }

    fn begun<'a>(&self, methods: &[&'a dyn Method]) -> anyhow::Result<(&'a dyn Method, RunFolder)> {
        let (method, experiment) = find(methods, self.name.as_deref().unwrap_or_default())?;
        ensure!(self.repeat > 0, "--repeat 0: each cell is run once at least");
        let plan = if let Some(plan) = &self.plan {
            plan
        } else if self.paper {
            "paper"
        } else if self.quick {
            "quick"
        } else {
            "default"
        };
        let lists = |texts: &[String]| -> anyhow::Result<Lists> {
            texts.iter().map(|text| Choice::parse_list(&experiment, text)).collect()
        };
        let choice = Choice {
            plan: plan.into(),
            set: lists(&self.set)?,
            only: lists(&self.only)?,
            repeat: self.repeat,
        };
        let cells = choice.cells(&experiment)?;
        let servers = method.prepare(&run::servers(&cells), self.downloads());
        Ok((method, RunFolder::create(&self.runs, RunRecord::new(&experiment, choice, servers, cells))?))
    }
}

/// Records the run; a run that cannot be recorded has its figures in files all the same.
fn recorder(folder: &RunFolder, listen: IpAddr) -> Option<Recorder> {
    let started = Recorder::start(&folder.archive(), listen).and_then(|recorder| {
        eprintln!("live at http://{}", recorder.page()?);
        Ok(recorder)
    });
    started.inspect_err(|error| eprintln!("not live: {error:#}")).ok()
}

/// Returns a run to resume; servers that were absent may be there now.
fn resumed<'a>(
    methods: &[&'a dyn Method],
    path: &Path,
    downloads: Downloads,
) -> anyhow::Result<(&'a dyn Method, RunFolder)> {
    let mut folder = RunFolder::open(path)?;
    let (method, experiment) = find(methods, &folder.record.experiment)?;
    let (began, here) = (&folder.record.machine, Machine::here());
    ensure!(
        began.is_same(&here),
        "the run began on another machine ({}, {} MB): begin another run here",
        began.description,
        began.memory_mb
    );
    let record = &folder.record;
    let fresh = RunRecord::new(&experiment, record.choice.clone(), BTreeMap::new(), Vec::new());
    if let Some(reason) = record.other_build(&fresh) {
        bail!("{reason}: begin another run here, --only chooses its cells");
    }
    folder.record.servers = method.prepare(&run::servers(&folder.record.cells), downloads);
    folder.write_record()?;
    Ok((method, folder))
}

impl Show {
    /// Serves the pages.
    pub fn run(&self, methods: &[&dyn Method]) -> anyhow::Result<()> {
        let (method, experiment) = find(methods, &self.name)?;
        let set = self.set.iter().map(|text| Choice::parse_list(&experiment, text));
        let choice = Choice {
            plan: "default".into(),
            set: set.collect::<anyhow::Result<Lists>>()?,
            only: Lists::default(),
            repeat: 1,
        };
        let cells = choice.cells(&experiment)?;
        let cell = cells.first().context("no cell has these values")?;
        for (server, readiness) in method.prepare(std::slice::from_ref(&cell.server), Downloads::Allowed) {
            if let Readiness::Absent(reason) = readiness {
                bail!("{server}: {reason}");
            }
        }
        let say = |text: &str| Ok(listing::print(&format!("{text}\n"))?);
        method.show(cell, &Interrupt::install()?, &say)
    }
}

impl Report {
    /// Writes the report.
    pub fn run(&self, methods: &[&dyn Method]) -> anyhow::Result<()> {
        let folders =
            self.run.iter().map(|path| RunFolder::open(path)).collect::<anyhow::Result<Vec<_>>>()?;
        let first = folders.first().context("no run")?;
        let (_, experiment) = find(methods, &first.record.experiment)?;
        ensure_same(&folders)?;
        let written = report::write(&experiment, &folders, self.to.as_deref().unwrap_or(first.path()))?;
        println!("{}", written.display());
        Ok(())
    }
}

impl Compare {
    /// Prints the comparison.
    pub fn run(&self) -> anyhow::Result<()> {
        let folders = [RunFolder::open(&self.before)?, RunFolder::open(&self.after)?];
        ensure_same(&folders)?;
        let [before, after] = &folders;
        print!("{}", report::compare(before, after)?);
        Ok(())
    }
}

fn ensure_same(folders: &[RunFolder]) -> anyhow::Result<()> {
    let experiments: BTreeMap<&str, &RunFolder> =
        folders.iter().map(|folder| (&*folder.record.experiment, folder)).collect();
    ensure!(experiments.len() <= 1, "the runs are of different experiments: {:?}", experiments.keys());
    Ok(())
}

fn find<'a>(methods: &[&'a dyn Method], name: &str) -> anyhow::Result<(&'a dyn Method, Experiment)> {
    let mut known = Vec::new();
    for method in methods {
        let experiment = Experiment::parse(method.declaration())?;
        if experiment.name == name {
            return Ok((*method, experiment));
        }
        known.push(experiment.name);
    }
    bail!("no experiment {name}: there are {}", known.join(", "))
}
