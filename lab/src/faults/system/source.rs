//! A node in a process of its own. The values of a sample name it, so that samples in the archive can be compared with what was generated.

use super::journal::Journal;
use crate::order::ready;
use anyhow::Context;
use clap::Args;
use oasis_probe::{
    Connector, DEFAULT_DATAGRAM, Hertz, NodeBuilder, NodeConfig, Probe, TcpConnector, UdpConnector,
};
use oasis_probes::LinuxProcessorProbe;
use std::{
    io::{self, Read},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Room for seconds of samples between the probe and its node.
const RING: usize = 4 * 1024 * 1024;
/// A source that was stopped for longer does not make up for the samples of that time.
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// Samples that the node sends, and their destination.
#[derive(Debug, Clone, Args)]
pub struct SourceSettings {
    /// Name of the node.
    #[arg(long)]
    pub name: String,
    /// Data channel of the DAC.
    #[arg(long)]
    pub dac: String,
    /// Number of the process among those of its name: a value of each sample.
    #[arg(long)]
    pub life: u64,
    /// Samples a second.
    #[arg(long)]
    pub hertz: u32,
    /// File for the number of generated samples.
    #[arg(long)]
    pub journal: PathBuf,
    /// Directory of the file spool; without it, batches wait in memory.
    #[arg(long)]
    pub spool: Option<PathBuf>,
    /// Memory for batches that wait.
    #[arg(long, default_value_t = 16 * 1024 * 1024)]
    pub spool_bytes: usize,
    /// Whether the node calls the probe, instead of the program.
    #[arg(long)]
    pub periodic: bool,
    /// Whether batches go as datagrams.
    #[arg(long)]
    pub udp: bool,
}

/// The instance of every node.
pub const INSTANCE: &str = "counter";

impl SourceSettings {
    /// The arguments that mean the same.
    pub fn arguments(&self) -> Vec<String> {
        let Self { name, dac, life, hertz, journal, spool, spool_bytes, periodic, udp } = self;
        let mut all = vec![
            format!("--name={name}"),
            format!("--dac={dac}"),
            format!("--life={life}"),
            format!("--hertz={hertz}"),
            format!("--journal={}", journal.display()),
            format!("--spool-bytes={spool_bytes}"),
        ];
        all.extend(spool.iter().map(|spool| format!("--spool={}", spool.display())));
        all.extend(periodic.then(|| "--periodic".to_owned()));
        all.extend(udp.then(|| "--udp".to_owned()));
        all
    }

    /// Publishes. A line on standard input ends the samples, the end of the input the node.
    pub fn run(self) -> anyhow::Result<()> {
        let mut builder = NodeBuilder::new(&self.name, self.config());
        let is_over = Arc::new(AtomicBool::new(false));
        let journal = Journal::create(&self.journal)?;
        let pushing = if self.periodic {
            let hertz = Hertz::new(f64::from(self.hertz)).context("a rate out of range")?;
            let counter = Counter { life: self.life, number: 0, journal, is_over: is_over.clone() };
            builder.periodic(INSTANCE, hertz, counter)?;
            None
        } else {
            let mut probe = builder.pushed::<LinuxProcessorProbe>(INSTANCE, RING)?;
            let (life, hertz, is_over) = (self.life, self.hertz, is_over.clone());
            Some(move || {
                at_rate(hertz, &is_over, |number| {
                    probe.flush(&sample(life, number));
                    // Without a journal the counts would be wrong: the process ends.
                    journal.note(number).is_ok()
                });
            })
        };
        let node = builder.start(self.connector())?;
        let pushing = pushing.map(thread::spawn);
        ready(&[])?;
        io::stdin().read_line(&mut String::new())?;
        is_over.store(true, Ordering::Relaxed);
        if let Some(pushing) = pushing {
            let _ = pushing.join();
        }
        io::stdin().read_to_end(&mut Vec::new())?;
        node.shutdown();
        Ok(())
    }

    fn config(&self) -> NodeConfig {
        let (spool_bytes, spool_directory) = (self.spool_bytes, self.spool.clone());
        NodeConfig { spool_bytes, spool_directory, ..NodeConfig::default() }
    }

    fn connector(&self) -> Box<dyn Connector> {
        match self.udp {
            true => Box::new(UdpConnector::new(&self.dac, DEFAULT_DATAGRAM)),
            false => Box::new(TcpConnector::new(&self.dac)),
        }
    }
}

/// The values that name a sample.
fn sample(life: u64, number: u64) -> LinuxProcessorProbe {
    LinuxProcessorProbe {
        idle_time: number,
        system_time: life,
        user_time: number / 3,
        nice_time: 0,
        iowait_time: number / 50,
        irq_time: 0,
        soft_irq_time: number / 90,
    }
}

/// A probe that the node calls.
struct Counter {
    life: u64,
    number: u64,
    journal: Journal,
    is_over: Arc<AtomicBool>,
}

impl Probe for Counter {
    type Sample = LinuxProcessorProbe;

    fn sample(&mut self) -> io::Result<LinuxProcessorProbe> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(io::Error::other("the samples are over"));
        }
        self.number += 1;
        self.journal.note(self.number)?;
        Ok(sample(self.life, self.number))
    }
}

/// Calls `each` with numbers from 1 on, in groups if the period is too short to sleep.
fn at_rate(hertz: u32, is_over: &AtomicBool, mut each: impl FnMut(u64) -> bool) {
    let group = (hertz / 500).max(1);
    let period = Duration::from_secs(1) * group / hertz.max(1);
    let (mut due, mut number) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..group {
            number += 1;
            if !each(number) {
                return;
            }
        }
        due += period;
        let now = Instant::now();
        if now.saturating_duration_since(due) > LONGEST_DELAY {
            due = now;
        }
        thread::sleep(due.saturating_duration_since(now));
    }
}
