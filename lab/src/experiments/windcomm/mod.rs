//! WindComm, the experiment of Pimentel and Nickerson 2012: how old the readings of a wind sensor are when a browser far away gets them.
//!
//! `experiment.toml` declares it. A [`cell`] starts a sensor ([`sensor`]) with a DAC, a relay that is as slow as the way to a city, a site with the [`pages`],
//! and a browser that opens one of them for each door. The pages post their latencies, [`summary`] says what comes of them, and [`model`] what was to be expected. A [`bare`] server is the limit.

mod bare;
mod cell;
mod model;
mod pages;
mod sensor;
mod settings;
mod summary;
#[cfg(test)]
mod tests;

pub use bare::BareServer;
pub use sensor::Sensor;

use crate::experiment::{Cell, CellContext, Downloads, Interrupt, Measured, Method, Readiness};
use settings::Settings;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Starting DAC, sensor and browser.
const CELL_OVERHEAD: Duration = Duration::from_secs(4);

/// The experiment.
#[derive(Debug)]
pub struct WindComm;

impl Method for WindComm {
    fn declaration(&self) -> &'static str {
        include_str!("experiment.toml")
    }

    fn prepare(&self, servers: &[String], _: Downloads) -> BTreeMap<String, Readiness> {
        // Which browser a cell needs is a variable: a cell whose browser is missing fails, and says so.
        let ours = format!("of oasis-lab {}", env!("CARGO_PKG_VERSION"));
        servers.iter().map(|server| (server.clone(), Readiness::Ready(ours.clone()))).collect()
    }

    fn expected(&self, cell: &Cell) -> Duration {
        Settings::of(cell).map_or(CELL_OVERHEAD, |settings| settings.length() + CELL_OVERHEAD)
    }

    fn measure(&self, cell: &Cell, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured> {
        cell::measure(cell, &Settings::of(cell)?, folder, context)
    }

    fn show(
        &self,
        cell: &Cell,
        interrupt: &Interrupt,
        say: &dyn Fn(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        cell::show(&Settings::of(cell)?, interrupt, say)
    }
}
