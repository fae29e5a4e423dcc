//! Interface of an experiment: the measurement of one cell.

use super::{
    Cell, Hosts, Interrupt, Measured,
    live::{CellNode, Recorder},
};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

/// Runs the cells of an experiment.
pub trait Method: Sync {
    /// The declaration, a TOML file.
    fn declaration(&self) -> &'static str;

    /// Builds these servers as needed, and says which are ready.
    fn prepare(&self, servers: &[String], downloads: Downloads) -> BTreeMap<String, Readiness>;

    /// Returns the expected duration of a cell.
    fn expected(&self, cell: &Cell) -> Duration;

    /// Measures a cell. Files that it keeps go to `folder`. It returns early, with an error, when the run is interrupted.
    fn measure(&self, cell: &Cell, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured>;

    /// Serves the pages of a cell, if it has some, for people to open by hand, until the run is interrupted. `say` gets their addresses.
    fn show(
        &self,
        cell: &Cell,
        _interrupt: &Interrupt,
        _say: &dyn Fn(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        bail!("{} has no pages", cell.server)
    }
}

/// Context in which a cell is measured.
#[derive(Debug, Clone, Copy)]
pub struct CellContext<'a> {
    /// Whether the run should end.
    pub interrupt: &'a Interrupt,
    /// Recorder of the run, if it is recorded.
    pub recorder: Option<&'a Recorder>,
    /// Hosts of the load; none if it comes from this one.
    pub hosts: Option<&'a Hosts>,
}

impl CellContext<'_> {
    /// Address at which processes of the load reach the runner: that of the DAC of the run.
    pub fn address(&self) -> anyhow::Result<IpAddr> {
        let Some(recorder) = self.recorder else { return Ok(Ipv4Addr::LOCALHOST.into()) };
        let dac: SocketAddr = recorder.page()?.parse().context("the address of the run's DAC")?;
        Ok(dac.ip())
    }

    /// The node of a cell whose server has workers that are watched.
    pub fn node(&self, cell: &Cell, workers: usize) -> anyhow::Result<CellNode> {
        self.recorder.map_or(Ok(CellNode::default()), |recorder| recorder.node(&cell.server, workers))
    }
}

/// Whether a server may be built from what must be downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Downloads {
    /// The server may be absent.
    Allowed,
    /// The server is absent if something is missing.
    Refused,
}

/// Whether a server can be measured on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Ready, and its version.
    Ready(String),
    /// Absent, and why.
    Absent(String),
}
