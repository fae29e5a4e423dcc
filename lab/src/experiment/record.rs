//! The record of a run: what is run, on which machine, with which versions and limits.

use super::{
    declaration::Experiment,
    method::Readiness,
    plan::{Cell, Choice},
};
use crate::cpu;
use jiff::{Timestamp, tz::TimeZone};
use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, process::Command};

/// The content of `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its experiment.
    pub experiment: String,
    /// When it began (RFC 3339).
    pub began: String,
    /// Choices on the command line.
    pub choice: Choice,
    /// The version of OASIS.
    pub version: String,
    /// The commit of its sources, if they are here.
    pub commit: String,
    /// Whether the lab was built with optimizations.
    pub is_release: bool,
    /// The machine.
    pub machine: Machine,
    /// Its servers.
    pub servers: BTreeMap<String, Readiness>,
    /// Its plan.
    pub cells: Vec<Cell>,
}

/// A machine and its limits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    /// Processor, cores and kernel.
    pub description: String,
    /// Memory, in megabytes.
    pub memory_mb: u64,
    /// Open files of a process, at most.
    pub open_files: u64,
    /// Connections that wait to be accepted, at most.
    pub backlog: u64,
    /// First and last port of outgoing connections.
    pub ports: String,
}

impl RunRecord {
    /// Creates the record of a run that begins now.
    pub fn new(
        experiment: &Experiment,
        choice: Choice,
        servers: BTreeMap<String, Readiness>,
        cells: Vec<Cell>,
    ) -> Self {
        Self {
            experiment: experiment.name.clone(),
            began: now(),
            choice,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: commit(),
            is_release: !cfg!(debug_assertions),
            machine: Machine::here(),
            servers,
            cells,
        }
    }

    /// `frizelle-quick-20261123-154500`.
    pub fn folder_name(&self) -> String {
        let began = self.began.parse().unwrap_or_else(|_| Timestamp::now());
        let date = began.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S");
        format!("{}-{}-{date}", self.experiment, self.choice.plan)
    }
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let text = |path: &str| {
            fs::read_to_string(path).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        Self {
            description: cpu::machine(),
            memory_mb: cpu::memory("MemTotal").unwrap_or_default() / 1_000_000,
            open_files: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
            backlog: text("/proc/sys/net/core/somaxconn").parse().unwrap_or_default(),
            ports: text("/proc/sys/net/ipv4/ip_local_port_range"),
        }
    }
}

/// The time of the clock (RFC 3339), to a millisecond.
pub fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

fn commit() -> String {
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty"])
        .output();
    let known = git.ok().filter(|output| output.status.success());
    known.map_or_else(|| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
