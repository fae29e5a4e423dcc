//! The processes of a load, as the runner sees them: each gets its orders as an argument, and reports lines of JSON.

use crate::experiment::Interrupt;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    env,
    io::{self, BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Between two looks at Ctrl-C.
const LOOK: Duration = Duration::from_millis(200);
/// How late a process may be with its summary, and how long all may be silent after that: on an overloaded machine a second of work takes many.
const LATE: Duration = Duration::from_secs(30);

/// Counts of a process, which can be added to those of others.
pub trait Tally: DeserializeOwned + Send + 'static {
    /// Adds what another process counted.
    fn add(&mut self, other: &Self);
}

/// One second of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Its number, from 0.
    pub second: u64,
    /// Requests that wait, or connections that are open, at its end.
    pub active: u64,
    /// Answers so far.
    pub responses: u64,
    /// Errors so far.
    pub errors: u64,
    /// The longest duration that an answer of this second has or states, in milliseconds.
    pub longest: f64,
}

/// A line of a process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report<T> {
    /// Each second.
    Second(Second),
    /// At the end.
    Summary(T),
}

impl<T: Serialize> Report<T> {
    /// Reports to the runner.
    pub fn print(&self) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }
}

/// What all processes saw.
#[derive(Debug)]
pub struct Summary<T> {
    /// Sums of all processes, by second.
    pub seconds: BTreeMap<u64, Second>,
    /// Sums of all processes.
    pub tally: T,
}

/// Running processes; they end when this is dropped.
#[derive(Debug)]
pub struct Fleet<T> {
    processes: Vec<Process>,
    reports: Receiver<Report<T>>,
    deadline: Instant,
}

#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl<T: Tally> Fleet<T> {
    /// Starts a process of the lab for each order; its work takes so long at most.
    pub fn start<O: Serialize>(verb: &str, orders: &[O], longest: Duration) -> anyhow::Result<Self> {
        let (sender, reports) = mpsc::channel();
        let processes =
            orders.iter().map(|orders| start(verb, orders, sender.clone())).collect::<anyhow::Result<_>>()?;
        Ok(Self { processes, reports, deadline: Instant::now() + longest + LATE })
    }

    /// Numbers of the processes.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(|process| process.0.id()).collect()
    }

    /// Waits until the summary rests: every process has reported its own. Each second goes to the function when all have reported it.
    pub fn wait(
        &mut self,
        interrupt: &Interrupt,
        mut each: impl FnMut(&Second),
    ) -> anyhow::Result<Summary<T>> {
        let mut seconds: BTreeMap<u64, (Second, usize)> = BTreeMap::new();
        let mut tallies: Vec<T> = Vec::new();
        while tallies.len() < self.processes.len() {
            interrupt.check()?;
            ensure!(
                Instant::now() < self.deadline,
                "the load does not end: {} of {} processes have reported their summary, the last second is {}",
                tallies.len(),
                self.processes.len(),
                seconds.keys().last().map_or(0, |second| second + 1),
            );
            let report = self.reports.recv_timeout(LOOK);
            if report.is_ok() {
                // A sign of life: the processes end by themselves.
                self.deadline = self.deadline.max(Instant::now() + LATE);
            }
            match report {
                Ok(Report::Second(second)) => {
                    let (sum, count) = seconds.entry(second.second).or_default();
                    sum.add(&second);
                    *count += 1;
                    if *count == self.processes.len() {
                        each(sum);
                    }
                }
                Ok(Report::Summary(tally)) => tallies.push(tally),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("a process of the load ended without a summary"),
            }
        }
        let mut tallies = tallies.into_iter();
        let mut tally = tallies.next().context("a load without a process")?;
        tallies.for_each(|other| tally.add(&other));
        let seconds = seconds.into_iter().map(|(number, (second, _))| (number, second)).collect();
        Ok(Summary { seconds, tally })
    }
}

impl Second {
    fn add(&mut self, other: &Self) {
        self.second = other.second;
        self.active += other.active;
        self.responses += other.responses;
        self.errors += other.errors;
        self.longest = self.longest.max(other.longest);
    }
}

fn start<T: Tally>(
    verb: &str,
    orders: &impl Serialize,
    reports: Sender<Report<T>>,
) -> anyhow::Result<Process> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(verb).arg(serde_json::to_string(orders)?).stdin(Stdio::null()).stdout(Stdio::piped());
    // Ctrl-C is for the runner, which ends its processes.
    command.process_group(0);
    let mut process = Process(command.spawn().context("cannot start a process of the load")?);
    let stdout = process.0.stdout.take().context("a process without output")?;
    thread::spawn(move || pass_on(stdout, &reports));
    Ok(process)
}

/// Until the process ends, or writes what is no report.
fn pass_on<T: Tally>(stdout: ChildStdout, reports: &Sender<Report<T>>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(report) = serde_json::from_str(&line) else { return };
        if reports.send(report).is_err() {
            return;
        }
    }
}
