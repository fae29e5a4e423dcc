//! Age of samples when subscribers get them, through node, channel and DAC.

use super::progress;
use crate::{
    crowd::Tally,
    order::Order,
    station::{CHAIN, Contender, PERIODIC, RELAYED, Station},
    table::{Table, millis, percent},
};
use clap::Args;
use std::time::{Duration, Instant};

/// Time for samples that are still on their way when the probe has ended.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// A probe at a steady rate, and the age of its samples at the subscribers.
#[derive(Debug, Clone, Args)]
pub struct Latency {
    /// Length of the fast run, in seconds.
    #[arg(long, default_value_t = 8)]
    fast_s: u64,
    /// Length of each slow run, in seconds.
    #[arg(long, default_value_t = 6)]
    slow_s: u64,
    /// Most subscribers.
    #[arg(long, default_value_t = 1_000)]
    subscribers: usize,
}

struct Load {
    contender: Contender,
    hertz: u32,
    subscribers: usize,
    length: Duration,
}

impl Latency {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        let (fast, slow) = (Duration::from_secs(self.fast_s), Duration::from_secs(self.slow_s));
        let load = |contender, hertz, subscribers, length| Load { contender, hertz, subscribers, length };
        let few = [1, 100.min(self.subscribers), self.subscribers];
        let mut loads =
            vec![load(CHAIN, 1_000, self.subscribers, fast), load(RELAYED, 1_000, self.subscribers, fast)];
        loads.extend(few.map(|subscribers| load(PERIODIC, 4, subscribers, slow)));
        loads.push(load(CHAIN, 4, 1, slow));
        let mut table =
            Table::new(["probe", "subscribers", "deliveries", "lost", "server CPU", "p50", "p99", "max"]);
        for load in &loads {
            progress(format_args!("{} Hz to {} subscribers", load.hertz, load.subscribers));
            table.row(measure(load)?);
        }
        Ok(format!(
            "## Latency\n\nA probe in a node's process, TCP, a DAC with one shard and its default configuration, EISA packets to subscribers. \
             Age is the time from the sample's timestamp in the packet to the read at the subscriber. The node shares its core with the load generator, and a relay that of its DAC. Server CPU is that of the process with the subscribers.\n\n{table}"
        ))
    }
}

fn measure(load: &Load) -> anyhow::Result<Vec<String>> {
    let Station { mut served, mut crowd } = Station::start(load.contender, None, load.subscribers)?;
    crowd.count_into(Tally::with_ages()?);
    let (began, cpu) = (Instant::now(), served.server.cpu()?);
    served.order(Order::Run { hertz: load.hertz, length: load.length })?;
    crowd.linger(load.length)?;
    let share = (served.server.cpu()? - cpu).as_secs_f64() / began.elapsed().as_secs_f64();
    crowd.linger(DRAIN_TIME)?;
    let ages = crowd.tally.ages();
    let relayed = if load.contender == RELAYED { ", through a relay" } else { "" };
    let age = |age: Option<Duration>| age.map_or("–".into(), millis);
    Ok(vec![
        format!(
            "{} at {} Hz{}",
            if load.contender == PERIODIC { "periodic" } else { "pushed" },
            load.hertz,
            relayed
        ),
        load.subscribers.to_string(),
        crowd.tally.messages.to_string(),
        crowd.lost().to_string(),
        percent(share),
        age(ages.map(|ages| ages.p50)),
        age(ages.map(|ages| ages.p99)),
        age(ages.map(|ages| ages.max)),
    ])
}
