//! `oasis archive retention`: controls how a DAC evicts old samples.

use crate::live::locate::Located;
use clap::{Args, Subcommand};
use oasis_site::api;
use std::io::{self, Write};
use ureq::http::Method;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Confirm that the DAC's wall clock is right after it has jumped: samples are evicted by age again.
    #[command(after_help = "Examples:
  oasis archive retention confirm
  oasis archive retention confirm --url http://plant:7070")]
    Confirm(Located),
}

/// Asks the DAC.
pub fn run(Arguments { act: Act::Confirm(located) }: &Arguments) -> anyhow::Result<()> {
    let answer = api::at(&located.server(&[])?)?.send(Method::POST, "/archive/retention/confirm", None)?;
    let is_confirmed = answer["status"] == "confirmed";
    let text = match answer["clock_jump"]["seconds"].as_i64() {
        _ if !is_confirmed => "the wall clock has not jumped: nothing to confirm".to_owned(),
        Some(seconds) => format!("confirmed: the wall clock had jumped by {seconds} s"),
        None => "confirmed: the wall clock had jumped before the machine started".to_owned(),
    };
    Ok(writeln!(io::stdout(), "{text}")?)
}
