//! The push servers of the lab's own binary.
//!
//! [`calls`] knows the requests, [`answer`] the answers; [`oasis`], [`axum`] and [`bare`] are three ways to serve them.

mod answer;
mod axum;
mod bare;
mod calls;
mod oasis;

use clap::ValueEnum;
use std::{io, net::SocketAddr};

/// Connections that wait to be accepted; the system may allow fewer.
const BACKLOG: u32 = 4096;

/// A push server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PushServer {
    /// hyper on tokio, as the text doors.
    Oasis,
    /// axum, as its users write servers.
    Axum,
    /// An event loop that writes answers and does nothing else.
    Bare,
}

impl PushServer {
    /// Serves until the end of the standard input.
    pub fn serve(self, address: SocketAddr, cores: usize) -> anyhow::Result<()> {
        match self {
            Self::Oasis => oasis::serve(address, cores),
            Self::Axum => axum::serve(address, cores),
            Self::Bare => bare::serve(address),
        }
    }
}

/// Ends the process when its parent closes the input, or ends.
fn end_with_input() {
    std::thread::spawn(|| {
        // An error ends it as well.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
}
