//! The measured servers: each is a process that publishes on order.

pub mod archive;
mod axum;
mod bare;
pub mod log_records;
mod oasis;
mod tungstenite;

use crate::{certificates::of_server, outlets::OutletKind, packet::Stamp};
use clap::ValueEnum;
use oasis_tls::ServerFiles;
use std::{net::IpAddr, path::PathBuf, time::Duration};

pub use oasis::{Feed, INSTANCE, NODE, greeting, register, sample};

/// A server of the lab's own binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Server {
    /// An event loop that writes prepared bytes, and nothing else.
    Bare,
    /// axum's WebSocket.
    Axum,
    /// tokio-tungstenite.
    Tungstenite,
    /// DAC and doors, fed in their own process.
    Oasis,
    /// DAC and doors, fed by nodes.
    Dac,
}

impl Server {
    /// Serves until there are no more orders.
    pub fn serve(self, settings: &DacSettings) -> anyhow::Result<()> {
        match self {
            Self::Bare => bare::serve(of_server(settings.tls.as_ref())?),
            Self::Axum => axum::serve(of_server(settings.tls.as_ref())?),
            Self::Tungstenite => tungstenite::serve(of_server(settings.tls.as_ref())?),
            Self::Oasis => oasis::serve(settings, true),
            Self::Dac => oasis::serve(settings, false),
        }
    }
}

/// Settings of a DAC.
#[derive(Debug)]
pub struct DacSettings {
    /// Certificate and key, if it speaks TLS.
    pub tls: Option<ServerFiles>,
    /// Whether it has accounts: then its last addresses are a token, and the cookie of a session.
    pub has_accounts: bool,
    /// Longest rest between two rounds of writes.
    pub flush: Option<Duration>,
    /// Folder of an archive.
    pub archive: Option<PathBuf>,
    /// Threads that write to WebSockets.
    pub shards: usize,
    /// Another way to browsers.
    pub outlet: Option<OutletKind>,
    /// Origins whose pages may read, besides its own.
    pub origins: Vec<String>,
    /// Address of doors and data channel.
    pub host: IpAddr,
}

/// Numbers the packets of a server.
#[derive(Debug, Default)]
struct Packets {
    sequence: u32,
}

impl Packets {
    /// The next `burst` packets, taken now.
    fn burst(&mut self, burst: usize) -> impl Iterator<Item = Vec<u8>> {
        (0..burst).map(|_| {
            self.sequence += 1;
            let mut packet = Vec::new();
            Stamp::now(self.sequence).write(&mut packet);
            packet
        })
    }
}

/// Runtime of a tokio server: as many threads as it has cores, and here that is one.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
