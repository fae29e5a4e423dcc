//! The flags of `oasis ca`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
    /// Folder of the CA: its key and certificate, and those that it has issued.
    #[arg(long, value_name = "DIR", default_value = "oasis-ca", env = "OASIS_CA_DIR", global = true)]
    pub ca_dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Create a CA, valid for 10 years.
    #[command(after_help = "Examples:
  oasis ca init
  oasis ca init --ca-dir /etc/oasis/ca")]
    Init,
    /// Issue a certificate with its private key. An earlier one of the same name is replaced; a running DAC takes the new one by itself.
    Issue {
        #[command(subcommand)]
        subject: Subject,
    },
    /// Print how browsers, this system and OASIS come to trust the CA.
    #[command(after_help = "Examples:
  oasis ca trust
  oasis ca trust --ca-dir /etc/oasis/ca")]
    Trust,
}

#[derive(Debug, Subcommand)]
pub enum Subject {
    /// For a DAC: page, API, doors and data channel.
    #[command(after_help = "Examples:
  oasis ca issue server dac.example.org
  oasis ca issue server dac.example.org 192.0.2.7 localhost 127.0.0.1
  oasis ca issue server '*.plant.example.org' --days 90")]
    Server {
        /// Host names and addresses that clients use, without a port; the first one names the files.
        #[arg(required = true)]
        names: Vec<String>,
        #[command(flatten)]
        days: Days,
    },
    /// For a node, which shows it to a DAC with tls.node_ca.
    #[command(after_help = "Examples:
  oasis ca issue node plant-7
  oasis ca issue node plant-7 --days 30")]
    Node {
        /// Name of the node.
        name: String,
        #[command(flatten)]
        days: Days,
    },
}

#[derive(Debug, Args)]
pub struct Days {
    /// Lifetime in days, at most 825: some clients refuse certificates that live longer.
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=825))]
    pub days: u32,
}
