//! Measures the number of watchers that relays hold: a node, a DAC, relays, and processes of clients that count what they receive.
//!
//! `experiment.toml` declares it. A [`cell`] reads the machine's [`limits`], starts the [`site`] and its [`watchers`], sends samples, and measures; [`holder`]
//! is a process of clients.

mod cell;
mod holder;
mod limits;
mod settings;
mod site;
#[cfg(test)]
mod tests;
mod watchers;

pub use holder::Orders;

use crate::experiment::{Cell, CellContext, Downloads, Measured, Method, Readiness};
use settings::Settings;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Starting and ending processes.
const CELL_OVERHEAD: Duration = Duration::from_secs(5);

/// The experiment.
#[derive(Debug)]
pub struct Million;

impl Method for Million {
    fn declaration(&self) -> &'static str {
        include_str!("experiment.toml")
    }

    fn prepare(&self, servers: &[String], _: Downloads) -> BTreeMap<String, Readiness> {
        servers.iter().map(|server| (server.clone(), site::readiness())).collect()
    }

    fn expected(&self, cell: &Cell) -> Duration {
        Settings::of(cell).map_or(CELL_OVERHEAD, |settings| settings.length() + CELL_OVERHEAD)
    }

    fn measure(&self, cell: &Cell, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured> {
        cell::measure(&Settings::of(cell)?, folder, context)
    }
}
