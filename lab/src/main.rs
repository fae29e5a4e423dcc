//! The lab: compares the doors with other WebSocket servers and measures the cost of probes, in one run on the same machine; and injects [`faults`] and [`attacks`].
//!
//! Each [`scenarios`] file measures one thing and returns a section of the report. It measures [`station`]s: a server in a process of its
//! own ([`child`], [`servers`], [`node`]) on one core, and a [`crowd`] of subscribers on the other. Servers publish on order ([`order`]); the
//! crowd counts messages, and `/proc` has the cost ([`cpu`]).
//!
//! An [`experiment`] repeats a publication's: it is declared, run, recorded and reported. [`experiments`] has a folder for each.

mod attacks;
mod certificates;
mod child;
mod cli;
mod cpu;
mod crowd;
mod dac_http;
mod entrance;
mod experiment;
mod experiments;
mod faults;
mod listing;
mod node;
mod nodejs;
mod order;
mod outlets;
mod overhead;
mod packet;
mod program;
mod report;
mod scenarios;
mod servers;
mod station;
mod statistics;
mod stream;
mod subscribers;
mod table;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oasis-lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}
