//! The study of server push of 2011: four calls in several servers, thousands of comet and long-poll requests, and what an emit costs.
//!
//! `experiment.toml` declares it. A [`cell`] starts a server ([`server`], [`rival`]), puts [`load`] on it as its [`test_plan`] says, and watches it. An [`archive`] keeps the answers, if wanted. The form of calls and answers is the same for all servers: `lab/rivals/README.md`.

mod archive;
mod cell;
mod clock;
mod load;
mod rival;
mod server;
mod summary;
mod test_plan;
#[cfg(test)]
mod tests;

pub use load::{LOAD, Orders};
pub use server::PushServer;

use crate::experiment::{Cell, CellContext, Downloads, Measured, Method, Readiness};
use std::{collections::BTreeMap, path::Path, time::Duration};
use test_plan::TestPlan;

/// Starting and stopping a server, and waiting for the last answers.
const CELL_OVERHEAD: Duration = Duration::from_secs(4);

/// The experiment.
#[derive(Debug)]
pub struct Frizelle;

impl Method for Frizelle {
    fn declaration(&self) -> &'static str {
        include_str!("experiment.toml")
    }

    fn prepare(&self, servers: &[String], downloads: Downloads) -> BTreeMap<String, Readiness> {
        servers.iter().map(|server| (server.clone(), rival::prepare(server, downloads))).collect()
    }

    fn expected(&self, cell: &Cell) -> Duration {
        TestPlan::of(cell).map_or(CELL_OVERHEAD, |plan| plan.length() + CELL_OVERHEAD)
    }

    fn measure(&self, cell: &Cell, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured> {
        cell::measure(cell, &TestPlan::of(cell)?, folder, context)
    }
}
