//! The lab: measures the project's doors beside other WebSocket servers, and what probes cost the threads they watch, in one run, on the same machine.
//!
//! A [`scenarios`] file measures one thing and answers a section of the report. What it measures are [`station`]s: a server in a process of its
//! own ([`child`], [`servers`], [`node`]) on one core, and a [`crowd`] of subscribers on the other. Servers publish when they are told to ([`order`]); the
//! crowd knows when everybody has got everything, and `/proc` what it cost ([`cpu`]).

mod child;
mod cli;
mod cpu;
mod crowd;
mod dac_http;
mod node;
mod order;
mod packet;
mod report;
mod scenarios;
mod servers;
mod station;
mod statistics;
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
