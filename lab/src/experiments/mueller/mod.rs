//! The benchmark of Mueller 2014, chapter 3: clients open connections at a rate, each pings at its own random period, and a server with several workers answers.
//!
//! `experiment.toml` declares it. A [`cell`] starts a server ([`servers`], [`rival`]) and a [`load`] as its [`settings`] say, and watches all processes;
//! [`dialect`] has what each server says, [`summary`] what comes of it.

mod cell;
mod dialect;
mod load;
mod rival;
mod servers;
mod settings;
mod summary;
#[cfg(test)]
mod tests;

pub use load::{LOAD, Orders};

use crate::experiment::{Cell, CellContext, Downloads, Measured, Method, Readiness};
use settings::Settings;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Starting and stopping a server, and waiting for the last answers.
const CELL_OVERHEAD: Duration = Duration::from_secs(3);

/// The experiment.
#[derive(Debug)]
pub struct Mueller;

impl Method for Mueller {
    fn declaration(&self) -> &'static str {
        include_str!("experiment.toml")
    }

    fn prepare(&self, servers: &[String], _: Downloads) -> BTreeMap<String, Readiness> {
        let readiness = |server: &str| match server.parse::<rival::Rival>() {
            Ok(rival) => rival.readiness(),
            Err(error) => Readiness::Absent(format!("{error:#}")),
        };
        servers.iter().map(|server| (server.clone(), readiness(server))).collect()
    }

    fn expected(&self, cell: &Cell) -> Duration {
        Settings::of(cell).map_or(CELL_OVERHEAD, |settings| settings.length() + CELL_OVERHEAD)
    }

    fn measure(&self, cell: &Cell, folder: &Path, context: &CellContext<'_>) -> anyhow::Result<Measured> {
        cell::measure(cell, &Settings::of(cell)?, folder, context)
    }
}
