//! Measures how much one client that attacks slows down the readers beside it.
//!
//! A DAC and a node run as processes. A WebSocket and a stream of lines read the node's samples. They are measured in turn
//! without and with an [`attackers`] client, so that both have the same machine. The attacker stands for another machine: it
//! gets processor time that neither DAC nor readers want. Figures are medians of the rounds, because other users of a
//! virtual machine spoil single ones.

mod attackers;
mod grpc;
mod inlets;
mod readers;

use crate::{
    cpu,
    faults::{Faults, World},
    statistics::median,
    table::{Table, ratio},
};
use anyhow::bail;
use attackers::{ATTACKS, Attack};
use clap::Args;
use inlets::{INLET_ATTACKS, Inlets};
use readers::{Ages, Readers};
use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Between a change and a measurement.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// The age of samples at readers, beside a client that attacks and without it.
#[derive(Debug, Clone, Args)]
pub struct Attacks {
    /// Length of each measurement, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Measurements of each kind, in turn.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only these attacks.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

impl Attacks {
    /// Measures, and prints the table.
    ///
    /// # Errors
    /// If a reader is closed, or the DAC ends.
    pub fn run(&self) -> anyhow::Result<()> {
        let all = || ATTACKS.iter().chain(INLET_ATTACKS);
        if let Some(unknown) = self.only.iter().find(|name| all().all(|attack| attack.name != **name)) {
            let names: Vec<_> = all().map(|attack| attack.name).collect();
            bail!("no attack is called {unknown:?}: there are {}", names.join(", "));
        }
        cpu::raise_open_files()?;
        let mut table = Table::new(["attack", "reader", "p50", "p99", "p99 beside it", "ratio", "memory"]);
        let is_chosen =
            |attack: &&Attack| self.only.is_empty() || self.only.iter().any(|name| name == attack.name);
        for attack in all().filter(is_chosen) {
            eprintln!("  {}: {}", attack.name, attack.about);
            self.measure(attack, &mut table)?;
        }
        print!("{table}");
        Ok(())
    }

    fn measure(&self, attack: &'static Attack, table: &mut Table) -> anyhow::Result<()> {
        let mut world = Faults::world(attack.name)?;
        let broker = attack.has_inlets.then(|| Inlets::configure(&mut world)).transpose()?;
        world.start_pair()?;
        let mut readers = Readers::start(world.dac()?.http())?;
        let (mut quiet, mut attacked) = (<[Rounds; 2]>::default(), <[Rounds; 2]>::default());
        let length = Duration::from_secs(self.seconds);
        for _ in 0..self.rounds.max(1) {
            measure_round(&mut readers, length, &mut quiet)?;
            let attacker = Attacker::start(attack, &world, broker.as_ref())?;
            measure_round(&mut readers, length, &mut attacked)?;
            attacker.stop();
        }
        let memory = format!("{} MiB", world.dac()?.peak_memory() >> 20);
        for (reader, (quiet, attacked)) in ["WebSocket", "stream"].iter().zip(quiet.iter().zip(&attacked)) {
            let millis = |age: Option<f64>| age.map_or("–".into(), |age| format!("{age:.2} ms"));
            let (before, beside) = (median(&quiet.p99), median(&attacked.p99));
            let times = before.zip(beside).map(|(before, beside)| beside / before);
            table.row(vec![
                attack.name.into(),
                (*reader).into(),
                millis(median(&quiet.p50)),
                millis(before),
                millis(beside),
                ratio(times),
                memory.clone(),
            ]);
        }
        Ok(())
    }
}

/// Results of each round, milliseconds.
#[derive(Debug, Default)]
struct Rounds {
    p50: Vec<f64>,
    p99: Vec<f64>,
}

fn measure_round(readers: &mut Readers, length: Duration, to: &mut [Rounds; 2]) -> anyhow::Result<()> {
    // Data that waited in the sockets while an attacker began or ended.
    readers.measure(SETTLE_TIME, &mut Default::default())?;
    let mut ages = <[Ages; 2]>::default();
    readers.measure(length, &mut ages)?;
    for (rounds, ages) in to.iter_mut().zip(&mut ages) {
        let mut millis = |percent| ages.percentile(percent).map(|age| age as f64 / 1e6);
        rounds.p50.extend(millis(50));
        rounds.p99.extend(millis(99));
    }
    Ok(())
}

/// A client that attacks until it is stopped.
struct Attacker {
    is_over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Attacker {
    fn start(attack: &'static Attack, world: &World, broker: Option<&TcpListener>) -> anyhow::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let target = attackers::Target {
            http: world.dac()?.http().to_owned(),
            channel: world.dac()?.channel().to_owned(),
            inlets: broker.map(|broker| Inlets::of(world, broker)).transpose()?,
            is_over: is_over.clone(),
        };
        let thread = thread::spawn(move || {
            cpu::give_way();
            // A DAC that closes the connection has won: the attacker connects again.
            while !target.is_over() {
                if (attack.once)(&target).is_err() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        Ok(Self { is_over, thread })
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic of an attacker has ended its attack, no more.
        let _ = self.thread.join();
    }
}
