//! The variables of the benchmark, as one cell sets them.

use super::rival::Rival;
use crate::{cpu, experiment::Cell};
use anyhow::Context;
use std::{net::IpAddr, time::Duration};

/// The values of all variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The server.
    pub rival: Rival,
    /// `WORKERS`: processes, or shards.
    pub workers: usize,
    /// `CLIENTS`: processes of the load.
    pub clients: usize,
    /// `RATE`: new connections a second of each client.
    pub rate: usize,
    /// `RAMP`: for how long connections are opened.
    pub ramp: Duration,
    /// `HOLD`: for how long all of them stay open then.
    pub hold: Duration,
    /// `PERIOD`: mean time between two pings of a connection.
    pub period: Duration,
    /// `FILE`: bytes of the file that answers a ping; 0 for the worker's counter.
    pub file: usize,
    /// Cores of the server; all if absent.
    pub server_cores: Option<usize>,
    /// `SERVER_HOST`: where it listens.
    pub server_host: IpAddr,
    /// `SEED` of the periods.
    pub seed: u64,
}

impl Settings {
    /// The values of a cell.
    pub fn of(cell: &Cell) -> anyhow::Result<Self> {
        Ok(Self {
            rival: cell.server.parse()?,
            workers: cell.count("WORKERS")?.max(1),
            clients: cell.count("CLIENTS")?.max(1),
            rate: cell.count("RATE")?.max(1),
            ramp: cell.time("RAMP", 1_000)?,
            hold: cell.time("HOLD", 1_000)?,
            period: cell.time("PERIOD", 1)?,
            file: cell.count("FILE")?,
            server_cores: Some(cell.count("SERVER_CORES")?).filter(|cores| *cores > 0),
            server_host: cell.text("SERVER_HOST")?.parse().context("SERVER_HOST is no address")?,
            seed: cell.whole("SEED")?,
        })
    }

    /// Returns the duration of a cell without its overhead.
    pub fn length(&self) -> Duration {
        self.ramp + self.hold
    }

    /// Connections that the cell asks for.
    pub fn wanted(&self) -> usize {
        self.clients * self.wanted_of_a_client()
    }

    /// Connections of each client: what is asked for, or what the limit of open files allows it and the server's processes.
    pub fn connections_of_a_client(&self) -> usize {
        let most = cpu::most_connections();
        let of_the_server = match self.rival {
            // As many processes as are needed.
            Rival::Oasis => usize::MAX,
            Rival::EngineIo | Rival::SocketCluster => most.saturating_mul(self.workers) / self.clients,
        };
        self.wanted_of_a_client().min(most).min(of_the_server)
    }

    /// Connections of all clients.
    pub fn connections(&self) -> usize {
        self.clients * self.connections_of_a_client()
    }

    fn wanted_of_a_client(&self) -> usize {
        self.rate * usize::try_from(self.ramp.as_secs()).unwrap_or(usize::MAX)
    }
}
