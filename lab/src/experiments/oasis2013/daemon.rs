//! The System Probe Daemon of the publications: a node with a processor probe and a memory probe, which begin on command.

use super::{
    generator::{Generator, Pace},
    settings::Source,
};
use crate::order::ready;
use clap::Args;
use oasis_ei_node::{NodeSettings, ProbeChoice, Rate};
use oasis_probe::Hertz;
use oasis_probes::PROBES;
use std::io;

/// The node's name.
pub const NODE: &str = "host";
/// Ready-made probes, and the names of their instances in the publications.
pub const INSTANCES: [(&str, &str); 2] =
    [("processor", "ProcessorProbe_SmokeTest"), ("memory", "MemoryProbe_SmokeTest")];

/// A node with both probes; the end of its standard input ends it.
#[derive(Debug, Args)]
pub struct Daemon {
    /// Address of the data channel of the DAC.
    channel: String,
    /// Samples a second, or `max`.
    #[arg(long)]
    hertz: Pace,
    /// Samples of each probe.
    #[arg(long)]
    flushes: Option<u64>,
    /// Source of the samples.
    #[arg(long, default_value = "daemon")]
    source: Source,
}

impl Daemon {
    /// Sends samples until there is no more input.
    pub fn run(&self) -> anyhow::Result<()> {
        match self.source {
            Source::Daemon => self.sample(),
            Source::Generator => Generator::new(self.hertz, self.flushes).run(&self.channel),
        }
    }

    fn sample(&self) -> anyhow::Result<()> {
        let hertz = self.hertz.hertz.map_or(Ok(Rate::Max), |hertz| Hertz::new(hertz).map(Rate::Hertz))?;
        let probes = INSTANCES.map(|(probe, instance)| ProbeChoice {
            instance: Some(instance.to_owned()),
            hertz,
            enabled: false,
            ..ProbeChoice::new(probe)
        });
        let settings = NodeSettings {
            name: NODE.into(),
            dac: self.channel.as_str().into(),
            flushes: self.flushes,
            probes: Some(probes.into()),
            ..NodeSettings::default()
        };
        let node = settings.builder(PROBES)?.start(settings.connector())?;
        ready(&[])?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        node.shutdown();
        Ok(())
    }
}
