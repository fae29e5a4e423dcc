//! The cost of probes for the watched thread: one flush, in time and in instructions, a million of them a second, a control loop with ten.

mod control_loop;
mod flush;
mod instructions;
mod million;

pub use instructions::Flush;

use crate::{child::Child, cpu};
use clap::Args;
use std::time::Duration;

/// Probes in this process, and a DAC in another.
#[derive(Debug, Clone, Args)]
pub struct Probes {
    /// Flushes that are timed one by one, for each policy.
    #[arg(long, default_value_t = 1_000_000)]
    flushes: u64,
    /// Length of the run at a million samples a second, in seconds.
    #[arg(long, default_value_t = 10)]
    million_s: u64,
    /// Pairs of runs of the control loop, without and with probes, two seconds each.
    #[arg(long, default_value_t = 15)]
    pairs: usize,
    /// Bytes of each ring of the control loop.
    #[arg(long, default_value_t = 64 * 1024)]
    ring_bytes: usize,
}

impl Probes {
    /// Measures, and returns sections of the report.
    pub fn run(&self) -> anyhow::Result<Vec<String>> {
        let dac = Child::lab(cpu::SERVERS, &["serve", "dac"])?;
        Ok(vec![
            flush::measure(dac.place(1)?, self.flushes)?,
            instructions::measure()?,
            million::measure(dac.place(0)?, dac.place(1)?, Duration::from_secs(self.million_s))?,
            control_loop::measure(dac.place(1)?, self.pairs, self.ring_bytes)?,
        ])
    }
}
