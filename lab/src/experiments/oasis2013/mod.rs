//! The experiments of the thesis and the paper that introduced OASIS (2012, 2013): AJAX beside WebSockets in the memory of a tab, in bytes, throughput and age.
//!
//! `experiment.toml` declares them. A [`cell`] starts a DAC with [`crate::outlets`], the [`daemon`] with the probes of the publications (or a [`generator`] of their samples), the [`pages`] with the
//! dashboard of 2012, and a browser that shows it through one door. The page reports what it shows; [`summary`] says what comes of it, and [`arrival`] how old samples should be.

mod arrival;
mod cell;
mod daemon;
mod generator;
mod pages;
mod settings;
mod summary;
#[cfg(test)]
mod tests;

pub use daemon::Daemon;

use crate::experiment::{Cell, CellContext, Downloads, Interrupt, Measured, Method, Readiness};
use settings::{Door, Settings};
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Starting DAC, probes and browser, and the last messages.
const CELL_OVERHEAD: Duration = Duration::from_secs(8);

/// The experiment.
#[derive(Debug)]
pub struct Oasis2013;

impl Method for Oasis2013 {
    fn declaration(&self) -> &'static str {
        include_str!("experiment.toml")
    }

    fn prepare(&self, servers: &[String], downloads: Downloads) -> BTreeMap<String, Readiness> {
        let ours = format!("of oasis-lab {}", env!("CARGO_PKG_VERSION"));
        let needs_sdk = servers.iter().any(|server| server.parse().is_ok_and(Door::needs_sdk));
        let sdk = if needs_sdk { pages::build_sdk(downloads) } else { Ok(()) };
        let ready = |server: &String| match (&sdk, server.parse().is_ok_and(Door::needs_sdk)) {
            (Err(error), true) => Readiness::Absent(format!("{error:#}")),
            _ => Readiness::Ready(ours.clone()),
        };
        servers.iter().map(|server| (server.clone(), ready(server))).collect()
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
