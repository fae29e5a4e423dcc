//! The frame of experiments: what an experiment declares, how its plan is run, recorded, resumed and reported.
//!
//! A [`declaration`] is a TOML file: variables, servers, plans, figures. A [`plan`] becomes cells, each a set of values for the variables. A [`Method`] runs
//! one cell, which OASIS itself records ([`live`]); its load may come from other [`hosts`]. A run is a [`folder`]: `run.json` ([`record`]), and a file for each finished cell ([`outcome`]). The [`report`] reads folders and nothing else. Runs that are [`kept`] make the page on the [`papers`].

mod command;
mod declaration;
mod folder;
mod hosts;
mod interrupt;
mod kept;
mod live;
mod method;
mod outcome;
mod papers;
mod plan;
mod progress;
mod record;
mod report;
mod run;
mod value;

pub use command::{Compare, List, Report, Run, Show};
pub use declaration::Experiment;
pub use hosts::{Host, Hosts, LoadProcess};
pub use interrupt::Interrupt;
pub use live::{Load, Server, Worker};
pub use method::{CellContext, Downloads, Method, Readiness};
pub use outcome::Measured;
pub use papers::{Keep, Papers, Unpack};
pub use plan::{Cell, Choice};
#[cfg(test)]
pub use value::Value;
