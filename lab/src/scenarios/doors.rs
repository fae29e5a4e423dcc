//! The five doors side by side at equal load, and the WebSocket with packets of 2012.

use super::progress;
use crate::{
    child::Child,
    cpu,
    crowd::{Crowd, Dialect, Tally, TextCrowd, TextDoor},
    order::Order,
    table::{Table, millis, short},
};
use clap::Args;
use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

/// Time for samples that are still on their way at the end; a door that lags gets it several times.
const DRAIN_TIME: Duration = Duration::from_millis(500);
/// Upper bound of these times.
const MAX_DRAINS: u32 = 20;

/// The doors at equal load: processor time and bytes of a delivery, age, loss, memory of a client.
#[derive(Debug, Clone, Args)]
pub struct Doors {
    /// Clients of a door, one measurement each.
    #[arg(long, value_delimiter = ',', default_value = "1,100,10000")]
    clients: Vec<usize>,
    /// Samples a second.
    #[arg(long, default_value_t = 4)]
    hertz: u32,
    /// Length of each measurement, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    WebSocket(Dialect),
    Text(TextDoor),
}

const KINDS: [(&str, Kind); 6] = [
    ("WebSocket", Kind::WebSocket(Dialect::Native)),
    ("WebSocket of 2012", Kind::WebSocket(Dialect::Eisa)),
    ("server-sent events", Kind::Text(TextDoor::Events)),
    ("streaming", Kind::Text(TextDoor::Stream)),
    ("long poll", Kind::Text(TextDoor::LongPoll)),
    ("poll", Kind::Text(TextDoor::Poll)),
];

/// Clients of either kind.
enum Clients {
    WebSocket(Crowd),
    Text(TextCrowd),
}

impl Clients {
    fn connect(kind: Kind, server: SocketAddr, count: usize) -> anyhow::Result<Self> {
        match kind {
            Kind::WebSocket(dialect) => {
                Ok(Self::WebSocket(Crowd::connect(server, None::<IpAddr>, dialect, count)?))
            }
            Kind::Text(door) => Ok(Self::Text(TextCrowd::connect(server, door, count)?)),
        }
    }

    fn linger(&mut self, length: Duration) -> anyhow::Result<()> {
        match self {
            Self::WebSocket(crowd) => crowd.linger(length),
            Self::Text(crowd) => crowd.linger(length),
        }
    }

    fn count_into(&mut self, tally: Tally) {
        match self {
            Self::WebSocket(crowd) => crowd.count_into(tally),
            Self::Text(crowd) => crowd.count_into(tally),
        }
    }

    fn tally(&self) -> &Tally {
        match self {
            Self::WebSocket(crowd) => &crowd.tally,
            Self::Text(crowd) => &crowd.tally,
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::WebSocket(crowd) => crowd.bytes,
            Self::Text(crowd) => crowd.bytes,
        }
    }

    fn lost(&self) -> u64 {
        match self {
            Self::WebSocket(crowd) => crowd.lost(),
            Self::Text(crowd) => crowd.lost(),
        }
    }
}

impl Doors {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        cpu::raise_open_files()?;
        let mut table = Table::new([
            "door",
            "clients",
            "samples",
            "lost",
            "CPU a delivery",
            "bytes a sample",
            "p50",
            "p99",
            "memory a client",
        ]);
        for &clients in &self.clients {
            for (name, kind) in KINDS {
                progress(format_args!("{name}, {clients} clients"));
                let row = self.measure(kind, clients).unwrap_or_else(|error| {
                    eprintln!("  {name} skipped: {error:#}");
                    vec!["–".into(); 7]
                });
                table.row([name.into(), short(clients as f64)].into_iter().chain(row).collect());
            }
        }
        Ok(format!(
            "## Doors\n\nA DAC with its default configuration on one core, fed within its process with {} samples a second of seven counters; clients on the other core. \
             The age is from the DAC's receipt until the client has read it. Polling clients rest 250 ms after each answer. Bytes are those of the stream, heads of answers included; \
             memory is the growth of the DAC's resident memory.\n\n{table}",
            self.hertz
        ))
    }

    fn measure(&self, kind: Kind, count: usize) -> anyhow::Result<Vec<String>> {
        let mut server = Child::lab(cpu::SERVERS, &["serve", "oasis"])?;
        server.order(Order::Round { burst: 1 })?;
        let before = server.resident()?;
        let mut clients = Clients::connect(kind, server.place(0)?.parse()?, count)?;
        clients.linger(DRAIN_TIME)?;
        let memory = server.resident()?.saturating_sub(before) as f64 / count as f64;
        clients.count_into(Tally::with_ages()?);
        let (began, cpu) = (Instant::now(), server.cpu()?);
        let period = Duration::from_secs(1) / self.hertz.max(1);
        let rounds = u32::try_from(self.seconds)?.saturating_mul(self.hertz);
        for round in 1..=rounds {
            server.order(Order::Round { burst: 1 })?;
            clients.linger((began + period * round).saturating_duration_since(Instant::now()))?;
        }
        for _ in 0..MAX_DRAINS {
            clients.linger(DRAIN_TIME)?;
            if clients.tally().samples >= u64::from(rounds) * count as u64 {
                break;
            }
        }
        let cpu = server.cpu()?.saturating_sub(cpu);
        let tally = clients.tally();
        let samples = tally.samples.max(1) as f64;
        let ages = tally.ages();
        let age = |age: Option<Duration>| age.map_or("–".into(), millis);
        Ok(vec![
            tally.samples.to_string(),
            clients.lost().to_string(),
            format!("{:.1} us", cpu.as_secs_f64() * 1e6 / samples),
            format!("{:.0}", clients.bytes() as f64 / samples),
            age(ages.map(|ages| ages.p50)),
            age(ages.map(|ages| ages.p99)),
            format!("{:.1} kB", memory / 1e3),
        ])
    }
}
