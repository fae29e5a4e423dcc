//! Records a run through OASIS itself: a DAC with an archive in the run's folder, and for each cell a node with a probe for the load, for the server, and for each
//! of its workers.
//!
//! They run on the core of the load, and once a second have little to do.

use crate::{child::Child, cpu, dac_http};
use anyhow::Context;
use oasis_probe::{Node, NodeBuilder, NodeConfig, PushedProbe, TcpConnector};
use std::{env, net::IpAddr, os::unix::process::CommandExt, path::Path, process::Command};

/// Generated from `lab.pdl`.
mod probes {
    include!(concat!(env!("OUT_DIR"), "/probes.rs"));
}
pub use probes::lab::{Load, LoadOrders, LoadReport, Server, Worker};

/// Room for samples between a probe and its node: minutes of them.
const RING: usize = 64 * 1024;

/// The DAC of a run.
#[derive(Debug)]
pub struct Recorder {
    dac: Child,
}

/// The node of a cell; without a recorder it has no probes.
#[derive(Debug, Default)]
pub struct CellNode {
    /// Probe of the clients.
    pub load: Option<PushedProbe<Load>>,
    /// Probe of the server's processor time and memory.
    pub server: Option<PushedProbe<Server>>,
    /// Probes of each of its workers.
    pub workers: Vec<PushedProbe<Worker>>,
    node: Option<Node>,
}

impl Recorder {
    /// Starts a DAC at this address that stores what it receives in this folder.
    pub fn start(archive: &Path, listen: IpAddr) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["serve", "dac", "--host", &listen.to_string(), "--archive"]).arg(archive);
        // Ctrl-C is for the runner, which ends its processes.
        command.process_group(0);
        Ok(Self {
            dac: Child::start(cpu::CLIENTS, command).context("cannot start a DAC that records the run")?,
        })
    }

    /// The address of the page.
    pub fn page(&self) -> anyhow::Result<&str> {
        self.dac.place(0)
    }

    /// The address of the data channel.
    pub fn channel(&self) -> anyhow::Result<&str> {
        self.dac.place(1)
    }

    /// Connects the node of a cell, named after its server, with this number of workers.
    pub fn node(&self, server: &str, workers: usize) -> anyhow::Result<CellNode> {
        let mut builder = NodeBuilder::new(server, NodeConfig::default());
        let (load, measured) = (builder.pushed("load", RING)?, builder.pushed("server", RING)?);
        let workers = (0..workers)
            .map(|number| builder.pushed(format!("worker {number}"), RING))
            .collect::<Result<_, _>>()?;
        let node = builder.start(TcpConnector::new(self.channel()?))?;
        Ok(CellNode { load: Some(load), server: Some(measured), workers, node: Some(node) })
    }

    /// Stores everything, and ends the DAC.
    pub fn finish(self) -> anyhow::Result<()> {
        dac_http::text(self.dac.place(0)?, "POST", "/api/v1/archive/flush")
            .map(drop)
            .context("the DAC did not store the last samples")
    }
}

impl CellNode {
    /// Sends the last samples.
    pub fn finish(self) {
        if let Some(node) = self.node {
            node.shutdown();
        }
    }
}
