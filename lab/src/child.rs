//! A measured process: started on its core, controlled with orders, ended on drop.

use crate::{cpu, order::Order};
use anyhow::{Context, bail};
use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{self, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

/// A process that is ready.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    orders: ChildStdin,
    places: Vec<String>,
    /// Kept open: a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
}

impl Child {
    /// One of the lab's own processes.
    pub fn lab(core: usize, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments);
        Self::start(core, command)
    }

    /// Starts a process on one core and waits until it is ready.
    pub fn start(core: usize, command: Command) -> anyhow::Result<Self> {
        Self::start_confined(command, || cpu::confine(core))
    }

    /// Starts a process on the first cores and waits until it is ready.
    pub fn start_on(cores: usize, command: Command) -> anyhow::Result<Self> {
        Self::start_confined(command, || cpu::confine_to_first(cores))
    }

    fn start_confined(
        mut command: Command,
        confine: impl Fn() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        // A process inherits the cores of the thread that starts it.
        confine()?;
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        cpu::confine(cpu::CLIENTS)?;
        let name = command.get_program().display().to_string();
        let mut process = spawned.with_context(|| format!("cannot start {name}"))?;
        let orders = process.stdin.take().context("a process without input")?;
        let mut stdout = BufReader::new(process.stdout.take().context("a process without output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Some(places) = places(&line) else { bail!("{name} did not start: {}", process.wait()?) };
        Ok(Self { process, orders, places, _stdout: stdout })
    }

    /// The address with this index among those that it printed.
    pub fn place(&self, index: usize) -> anyhow::Result<&str> {
        self.places.get(index).map(String::as_str).context("the process printed too few addresses")
    }

    /// The addresses that it printed, and what else.
    pub fn places(&self) -> &[String] {
        &self.places
    }

    /// Sends an order.
    pub fn order(&mut self, order: Order) -> anyhow::Result<()> {
        writeln!(self.orders, "{order}").context("the process has ended")
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Processor time since it began.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        cpu::time(self.process.id())
    }

    /// Memory in use, bytes.
    pub fn resident(&self) -> anyhow::Result<u64> {
        cpu::resident(self.process.id())
    }
}

/// The addresses in the line of a process that is ready: after a word, or as `oasis --ready-json` writes them.
fn places(line: &str) -> Option<Vec<String>> {
    if let Ok(ready) = serde_json::from_str::<serde_json::Value>(line) {
        let http = ready["http"].as_str()?.trim_start_matches("http://");
        let channel = ready["channel"].as_str();
        return Some([http].into_iter().chain(channel).map(str::to_owned).collect());
    }
    let mut words = line.split_ascii_whitespace().map(str::to_owned);
    (words.next()? == "ready").then(|| words.collect())
}

impl Drop for Child {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
