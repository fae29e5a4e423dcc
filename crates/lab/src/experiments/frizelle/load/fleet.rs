//! The processes of the load, as the runner sees them.

use super::{
    generator::Orders,
    tally::{Second, Tally},
};
use crate::experiment::Interrupt;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Between two looks at Ctrl-C.
const LOOK: Duration = Duration::from_millis(200);
/// How late a process may be with its summary.
const LATE: Duration = Duration::from_secs(30);

/// A line of a process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// Each second.
    Second(Second),
    /// At the end.
    Summary(Tally),
}

/// What all processes saw.
#[derive(Debug, Default)]
pub struct Summary {
    /// Sums of all processes, by second.
    pub seconds: BTreeMap<u64, Second>,
    /// Sums of all processes.
    pub tally: Tally,
}

/// Running processes; they end when this is dropped.
#[derive(Debug)]
pub struct Fleet {
    processes: Vec<Process>,
    reports: Receiver<Report>,
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

impl Fleet {
    /// Starts a process for each order.
    pub fn start(orders: &[Orders]) -> anyhow::Result<Self> {
        let longest = orders.iter().map(|orders| orders.duration + orders.drain).max().unwrap_or_default();
        let (sender, reports) = mpsc::channel();
        let processes =
            orders.iter().map(|orders| start(orders, sender.clone())).collect::<anyhow::Result<_>>()?;
        Ok(Self { processes, reports, deadline: Instant::now() + longest + LATE })
    }

    /// Waits until the summary rests: every process has reported its own. Each second goes to the function when all have reported it.
    pub fn wait(&mut self, interrupt: &Interrupt, mut each: impl FnMut(&Second)) -> anyhow::Result<Summary> {
        let mut summary = Summary::default();
        let mut reported: BTreeMap<u64, usize> = BTreeMap::new();
        let mut summaries = 0;
        while summaries < self.processes.len() {
            interrupt.check()?;
            ensure!(Instant::now() < self.deadline, "the load does not end");
            match self.reports.recv_timeout(LOOK) {
                Ok(Report::Second(second)) => {
                    let sum = summary.add(&second);
                    let count = reported.entry(second.second).or_default();
                    *count += 1;
                    if *count == self.processes.len() {
                        each(sum);
                    }
                }
                Ok(Report::Summary(tally)) => {
                    summary.tally.add(&tally);
                    summaries += 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("a process of the load ended without a summary"),
            }
        }
        Ok(summary)
    }
}

impl Summary {
    fn add(&mut self, second: &Second) -> &Second {
        let sum = self
            .seconds
            .entry(second.second)
            .or_insert(Second { second: second.second, ..Second::default() });
        sum.active += second.active;
        sum.responses += second.responses;
        sum.errors += second.errors;
        sum.emit_duration = sum.emit_duration.max(second.emit_duration);
        sum
    }
}

fn start(orders: &Orders, reports: Sender<Report>) -> anyhow::Result<Process> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("push-load").arg(serde_json::to_string(orders)?).stdin(Stdio::null()).stdout(Stdio::piped());
    // Ctrl-C is for the runner, which ends its processes.
    command.process_group(0);
    let mut process = Process(command.spawn().context("cannot start a process of the load")?);
    let stdout = process.0.stdout.take().context("a process without output")?;
    thread::spawn(move || pass_on(stdout, &reports));
    Ok(process)
}

/// Until the process ends, or writes what is no report.
fn pass_on(stdout: ChildStdout, reports: &Sender<Report>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(report) = serde_json::from_str(&line) else { return };
        if reports.send(report).is_err() {
            return;
        }
    }
}
