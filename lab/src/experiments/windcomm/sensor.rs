//! The sensor: a simulated WindSonic on a pseudo-terminal, and a node that reads it as it would read a real one.

#[path = "../../../../crates/probes/examples/windsonic_simulator/simulator.rs"]
#[allow(dead_code, reason = "it is an example's, which uses all of it")]
mod simulator;

use crate::order::ready;
use anyhow::Context;
use clap::Args;
use oasis_probe::{NodeBuilder, NodeConfig, TcpConnector};
use oasis_probes::{WindSonic, windsonic::Mode};
pub use simulator::Simulator;
use std::io;

/// The node's name.
pub const NODE: &str = "mast";
/// The instance's name.
pub const INSTANCE: &str = "wind";
/// Room for samples between the probe and its node.
const RING: usize = 16 * 1024;

/// A process with a simulated anemometer and its node; the end of its standard input ends it.
#[derive(Debug, Args)]
pub struct Sensor {
    /// Address of the data channel of the DAC.
    channel: String,
}

impl Sensor {
    /// Sends readings until there is no more input.
    pub fn run(&self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let line = folder.path().join("line");
        let _simulator = Simulator::plug_in(&line, false).context("cannot make a pseudo-terminal")?;
        let mut builder = NodeBuilder::new(NODE, NodeConfig::default());
        let probe = builder.pushed(INSTANCE, RING)?;
        WindSonic { port: line, baud: 9_600, mode: Mode::Continuous, configuration: None }.start(probe)?;
        let node = builder.start(TcpConnector::new(&self.channel))?;
        ready(&[])?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        node.shutdown();
        Ok(())
    }
}
