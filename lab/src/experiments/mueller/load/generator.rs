//! One process of clients: opens connections at a rate, and keeps all of them until the end.

use super::{
    super::rival::Rival,
    client::Client,
    tally::{Pings, Shared},
};
use crate::{
    cpu,
    experiments::fleet::{Report, Second},
    faults::random::Random,
};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::{
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
    time::Duration,
};
use tokio::time::{Instant, interval_at, sleep_until};

/// Shortest time between two pings of a connection; the paper's clients may draw 0.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);
/// Connections from one source address: a machine has 28,000 ports for each.
const PORTS: usize = 10_000;
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Orders for a process of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// The processes of the server under test: one client after the other connects to each.
    pub servers: Vec<SocketAddr>,
    /// Server whose protocol is spoken.
    pub rival: Rival,
    /// The number of the process.
    pub process: usize,
    /// Its connections.
    pub connections: usize,
    /// New connections a second.
    pub rate: usize,
    /// After this time all connections end.
    pub duration: Duration,
    /// Mean milliseconds between two pings: each connection draws its own between 0 and twice this.
    pub period_ms: u64,
    /// Whether a file answers a ping. Then a client that waits for its file does not ping again.
    pub is_file: bool,
    /// Seed of the periods.
    pub seed: u64,
}

impl FromStr for Orders {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Orders {
    /// Carries the orders out, and reports on standard output.
    pub fn run(&self) -> anyhow::Result<()> {
        cpu::raise_open_files()?;
        let pings = Shared::new()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            tokio::select! {
                // Fails if the reports are no longer read.
                failed = report_seconds(&pings) => failed,
                () = self.connect_all(&pings) => Ok(()),
            }
        })?;
        Report::Summary(pings.take()?).print()
    }

    async fn connect_all(&self, pings: &Shared) {
        let mut random = Random::new(self.seed.wrapping_add(self.process as u64), "mueller");
        let begin = Instant::now();
        let mut clients = Vec::new();
        for number in 0..self.connections {
            sleep_until(begin + Duration::from_secs_f64(number as f64 / self.rate.max(1) as f64)).await;
            let Some(server) = self.servers.get(number % self.servers.len().max(1)) else { break };
            let client = Client {
                server: *server,
                source: self.source(number),
                rival: self.rival,
                is_file: self.is_file,
                pings: pings.clone(),
                period: random.millis(0..2 * self.period_ms + 1).max(SHORTEST_PERIOD),
                end: begin + self.duration,
            };
            clients.push(tokio::spawn(client.run()));
        }
        for client in clients {
            // A panic of a client is a connection without its pings.
            let _ = client.await;
        }
    }

    /// Addresses of the loopback network: one has too few ports.
    fn source(&self, number: usize) -> Ipv4Addr {
        let [process, group] = [self.process + 1, number / PORTS + 1].map(|part| (part % 250) as u8);
        Ipv4Addr::new(127, 1, process, group)
    }
}

/// Reports each second until that fails.
async fn report_seconds(pings: &Shared) -> anyhow::Result<()> {
    let mut seconds = interval_at(Instant::now() + REPORT_INTERVAL, REPORT_INTERVAL);
    for second in 0.. {
        seconds.tick().await;
        let second = pings.with(|pings| Second {
            second,
            active: pings.open,
            responses: pings.answers(),
            errors: pings.errors(),
            longest: std::mem::take(&mut pings.longest),
        });
        Report::<Pings>::Second(second).print().context("nobody reads the reports")?;
    }
    Ok(())
}
