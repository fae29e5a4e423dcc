//! `oasis node VERB`: enrolls a node, and says which nodes may connect.

pub mod dacs;
mod enroll;
pub mod state;

use crate::access::node::{self, List, Revoke, Token};
use clap::Subcommand;
use enroll::Enroll;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Get a certificate for this host's node. Its key is made here and never leaves the host.
    #[command(after_help = "Examples:
  oasis node enroll --url https://192.0.2.7:7070 --ca ca.pem --name plant-7 --token-file plant-7.token
  oasis node                                 from now on: name, DAC and certificate are known

Run it again with a new token before the certificate expires: the key stays, and a running node needs no restart.")]
    Enroll(Enroll),
    /// Make a token that enrolls one node, on the DAC's host.
    #[command(after_help = "Examples:
  oasis node token plant-7 --token-file plant-7.token
  oasis node token 'plant-*' --expires 10m   one node whose name begins so")]
    Token(Token),
    /// List the certificates of nodes, on the DAC's host.
    #[command(after_help = "Examples:
  oasis node list
  oasis node list --json | jq -r 'select(.state == \"active\").node'")]
    List(List),
    /// Revoke all certificates of a node, on the DAC's host. A running DAC closes its connection within 5 s.
    #[command(after_help = "Examples:
  oasis node revoke plant-7
  oasis node revoke plant-9 --unknown        a certificate of `oasis ca issue node` that was never used")]
    Revoke(Revoke),
}

/// Runs a subcommand.
pub fn run(verb: Verb) -> anyhow::Result<()> {
    match verb {
        Verb::Enroll(arguments) => enroll::run(&arguments),
        Verb::Token(arguments) => node::token(arguments),
        Verb::List(arguments) => node::list(arguments),
        Verb::Revoke(arguments) => node::revoke(arguments),
    }
}
