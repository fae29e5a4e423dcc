//! Readers that stop: what the others notice of them, and what they cost in memory.

use super::progress;
use crate::{
    crowd::Tally,
    order::Order,
    station::{CHAIN, Station},
    statistics::median,
    table::{Table, millis, ratio},
};
use anyhow::Context;
use clap::Args;
use std::time::Duration;

/// Time for samples that are still on their way when the probe has ended.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Readers that stop among others that do not.
#[derive(Debug, Clone, Args)]
pub struct Slow {
    /// Subscribers.
    #[arg(long, default_value_t = 1_000)]
    subscribers: usize,
    /// Subscribers that stop.
    #[arg(long, default_value_t = 100)]
    stopped: usize,
    /// Samples a second.
    #[arg(long, default_value_t = 1_000)]
    hertz: u32,
    /// Runs with and without stopped readers, in turn.
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// Length of one run, in seconds.
    #[arg(long, default_value_t = 5)]
    length_s: u64,
}

struct Run {
    p50: Duration,
    p99: Duration,
    lost: u64,
    /// At its end, bytes.
    resident: u64,
}

impl Slow {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        let mut station = Station::start(CHAIN, None, self.subscribers)?;
        station.crowd.watch(self.stopped..self.subscribers);
        // The memory of the log grows to its bound with or without readers: a first run lets the allocator have it.
        self.publish(&mut station)?;
        let mut table = Table::new([
            "run",
            "stopped",
            "p50 of the others",
            "p99 of the others",
            "lost by them",
            "server RSS",
        ]);
        let mut ratios = Vec::new();
        for repetition in 1..=self.repetitions {
            progress(format_args!("stopped readers, repetition {repetition} of {}", self.repetitions));
            let without = self.publish(&mut station)?;
            station.crowd.stop(0..self.stopped)?;
            let with = self.publish(&mut station)?;
            station.crowd.resume(0..self.stopped)?;
            station.crowd.settle()?;
            ratios.push(with.p99.as_secs_f64() / without.p99.as_secs_f64());
            table.row(without.row(repetition, 0));
            table.row(with.row(repetition, self.stopped));
        }
        Ok(format!(
            "## Stopped readers\n\n{} Hz from a node through a DAC to {} subscribers, {} s each run; {} of them stop reading in every other run. Ages and losses are those of the other {}. Memory grows from run to run until the topic log reaches its bound of 8 MiB; the difference within a pair of runs is due to stopped readers. Ratio of p99 with stopped readers to p99 without, median: {}.\n\n{table}",
            self.hertz,
            self.subscribers,
            self.length_s,
            self.stopped,
            self.subscribers - self.stopped,
            ratio(median(&ratios)),
        ))
    }

    fn publish(&self, station: &mut Station) -> anyhow::Result<Run> {
        let Station { served, crowd } = station;
        crowd.count_into(Tally::with_ages()?);
        let length = Duration::from_secs(self.length_s);
        served.order(Order::Run { hertz: self.hertz, length })?;
        crowd.linger(length + DRAIN_TIME)?;
        let ages = crowd.tally.ages().context("ages are kept")?;
        let (lost, resident) = (crowd.lost(), served.server.resident()?);
        Ok(Run { p50: ages.p50, p99: ages.p99, lost, resident })
    }
}

impl Run {
    fn row(&self, repetition: usize, stopped: usize) -> Vec<String> {
        vec![
            repetition.to_string(),
            stopped.to_string(),
            millis(self.p50),
            millis(self.p99),
            self.lost.to_string(),
            format!("{:.1} MiB", self.resident as f64 / 1_048_576.0),
        ]
    }
}
