//! The processes of a load, as the runner sees them: each gets its orders as an argument, and reports lines of JSON. They may run on other hosts.

use crate::experiment::{Hosts, Interrupt, LoadProcess};
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Write},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// Interval between two checks of Ctrl-C.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Timeout of a summary, and of all processes together after that: on an overloaded machine a second of work takes many.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(30);

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

/// Summary of all processes.
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
    /// Number of processes, here or on other hosts.
    count: usize,
    /// Processes on this host.
    processes: Vec<LoadProcess>,
    reports: Receiver<Report<T>>,
    deadline: Instant,
}

impl<T: Tally> Fleet<T> {
    /// Starts a process of the lab for each order, here or on other hosts; its work takes so long at most.
    pub fn start<O: Serialize>(
        verb: &str,
        orders: &[O],
        longest: Duration,
        hosts: Option<&Hosts>,
    ) -> anyhow::Result<Self> {
        let (sender, reports) = mpsc::channel();
        let orders = orders.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        let mut processes = Vec::new();
        if let Some(hosts) = hosts {
            hosts.start(verb, &orders, move |line: &str| pass_on(line, &sender))?;
        } else {
            for orders in &orders {
                let (process, stdout) = LoadProcess::start(verb, orders)?;
                processes.push(process);
                let sender = sender.clone();
                thread::spawn(move || {
                    // Until the process ends, or writes what is no report.
                    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
                    while lines.next().is_some_and(|line| pass_on(&line, &sender)) {}
                });
            }
        }
        Ok(Self {
            count: orders.len(),
            processes,
            reports,
            deadline: Instant::now() + longest + SUMMARY_TIMEOUT,
        })
    }

    /// Numbers of the processes here.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(LoadProcess::pid).collect()
    }

    /// Waits until the summary rests: every process has reported its own. Each second goes to the function when all have reported it.
    pub fn wait(
        &mut self,
        interrupt: &Interrupt,
        mut each: impl FnMut(&Second),
    ) -> anyhow::Result<Summary<T>> {
        let mut seconds: BTreeMap<u64, (Second, usize)> = BTreeMap::new();
        let mut tallies: Vec<T> = Vec::new();
        while tallies.len() < self.count {
            interrupt.check()?;
            ensure!(
                Instant::now() < self.deadline,
                "the load does not end: {} of {} processes have reported their summary, the last second is {}",
                tallies.len(),
                self.count,
                seconds.keys().last().map_or(0, |second| second + 1),
            );
            let report = self.reports.recv_timeout(INTERRUPT_POLL_INTERVAL);
            if report.is_ok() {
                // A sign of life: the processes end by themselves.
                self.deadline = self.deadline.max(Instant::now() + SUMMARY_TIMEOUT);
            }
            match report {
                Ok(Report::Second(second)) => {
                    let (sum, count) = seconds.entry(second.second).or_default();
                    sum.add(&second);
                    *count += 1;
                    if *count == self.count {
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

/// Returns whether the line is a report that is awaited.
fn pass_on<T: Tally>(line: &str, reports: &Sender<Report<T>>) -> bool {
    serde_json::from_str(line).is_ok_and(|report| reports.send(report).is_ok())
}
