//! A host of the load: starts processes as the runner orders, and publishes what they print.

use super::{super::live::LoadReport, LoadProcess, ORDERS, REPORTS, RING, RUNNER, node_of, stream::follow};
use crate::cpu;
use anyhow::{Context, ensure};
use clap::Args;
use oasis_probe::{NodeBuilder, NodeConfig, PushedProbe, TcpConnector};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::ChildStdout,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// Puts load on servers for a run on another host: `run --hosts` prints this command.
#[derive(Debug, Args)]
pub struct Host {
    /// The DAC of the run.
    dac: String,
    /// Its data channel.
    channel: String,
    /// Name of this host, another one for each.
    #[arg(long)]
    name: String,
}

type Reports = Arc<Mutex<PushedProbe<LoadReport>>>;

/// Processes that run here.
struct Running {
    cell: u64,
    processes: Vec<LoadProcess>,
    reports: Reports,
}

impl Host {
    /// Works until the DAC ends, which is the end of the run. Only these commands are carried out.
    pub fn run(&self, verbs: &[&str]) -> anyhow::Result<()> {
        cpu::raise_open_files()?;
        let name = node_of(&self.name);
        ensure!(
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
            "--name {}: letters, digits and -",
            self.name
        );
        let mut builder = NodeBuilder::new(name, NodeConfig::default());
        let reports = Arc::new(Mutex::new(builder.pushed(REPORTS, RING)?));
        let _node = builder.start(TcpConnector::new(&self.channel))?;
        let mut running = Running { cell: 0, processes: Vec::new(), reports };
        let mut failed = None;
        eprintln!("{}: waits for orders of {}", self.name, self.dac);
        let ended = follow(&self.dac, RUNNER, ORDERS, |orders| {
            if orders["host"] != *self.name {
                return true;
            }
            failed = running.start(orders, verbs).err();
            failed.is_none()
        });
        match (failed, ended) {
            (Some(error), _) => Err(error),
            // The end of the run.
            (None, Err(error)) if running.cell > 0 => {
                eprintln!("{}: {error:#}", self.name);
                Ok(())
            }
            (None, ended) => {
                ended.context("the run has not begun: start it with --hosts, and this host when it says so")
            }
        }
    }
}

impl Running {
    fn start(&mut self, orders: &Value, verbs: &[&str]) -> anyhow::Result<()> {
        let number = |name: &str| orders[name].as_u64().with_context(|| format!("orders without {name}"));
        let text = |name: &str| orders[name].as_str().with_context(|| format!("orders without {name}"));
        let (cell, task, verb) = (number("cell")?, number("task")?, text("verb")?);
        ensure!(verbs.contains(&verb), "a command that no load has: {verb}");
        if cell != self.cell {
            self.cell = cell;
            self.processes.clear();
        }
        let (process, stdout) = LoadProcess::start(verb, text("orders")?)?;
        self.processes.push(process);
        let reports = self.reports.clone();
        thread::spawn(move || publish(task, stdout, &reports));
        Ok(())
    }
}

fn publish(task: u64, stdout: ChildStdout, reports: &Reports) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let is_taken =
            reports.lock().unwrap_or_else(PoisonError::into_inner).flush(&LoadReport { task, line });
        if !is_taken {
            eprintln!("a report was dropped: it is larger than the room of its probe");
        }
    }
}
