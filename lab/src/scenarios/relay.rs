//! Cost and added age of a relay, beside the DAC that it relays.

use super::{fanout::calm, progress};
use crate::{
    crowd::Tally,
    order::Order,
    station::{CHAIN, RELAYED, Station},
    statistics::{median, ratios, spread},
    table::{Table, with_spread},
};
use anyhow::Context;
use clap::Args;
use std::time::{Duration, Instant};

/// Samples a second of the measured ages.
const HERTZ: u32 = 1_000;
/// Time for samples that are still on their way when the probe has ended.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The cost of a delivery, and the age of samples, with a relay and without one in turn.
#[derive(Debug, Clone, Args)]
pub struct Relay {
    /// Subscribers of each server.
    #[arg(long, default_value_t = 1_000)]
    subscribers: usize,
    /// Samples of a round.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    bursts: Vec<usize>,
    /// Measurements of each kind.
    #[arg(long, default_value_t = 7)]
    repetitions: usize,
    /// Length of one measurement of the cost, in milliseconds.
    #[arg(long, default_value_t = 400)]
    length_ms: u64,
    /// Length of one measurement of ages, in seconds.
    #[arg(long, default_value_t = 6)]
    run_s: u64,
}

/// Ages of one run, milliseconds.
#[derive(Debug, Clone, Copy)]
struct Ages {
    p50: f64,
    p99: f64,
    max: f64,
    lost: u64,
}

impl Relay {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        let start = |contender| Station::start(contender, None, self.subscribers);
        // The one that is not measured has no samples, and so no work.
        let mut stations = [start(CHAIN)?, start(RELAYED)?];
        let mut costs: Vec<[Vec<f64>; 2]> = self.bursts.iter().map(|_| Default::default()).collect();
        let mut ages: Vec<[Ages; 2]> = Vec::new();
        for repetition in 1..=self.repetitions {
            progress(format_args!("relay, repetition {repetition} of {}", self.repetitions));
            for (burst, costs) in self.bursts.iter().zip(&mut costs) {
                for (station, costs) in stations.iter_mut().zip(costs) {
                    costs.push(calm(station, *burst, Duration::from_millis(self.length_ms))?);
                }
            }
            let [dac, relay] = &mut stations;
            ages.push([self.ages(dac)?, self.ages(relay)?]);
        }
        Ok(self.report(&costs, &ages))
    }

    fn ages(&self, Station { served, crowd }: &mut Station) -> anyhow::Result<Ages> {
        crowd.settle()?;
        crowd.count_into(Tally::with_ages()?);
        let length = Duration::from_secs(self.run_s);
        let began = Instant::now();
        served.order(Order::Run { hertz: HERTZ, length })?;
        crowd.linger(length.saturating_sub(began.elapsed()))?;
        crowd.linger(DRAIN_TIME)?;
        let found = crowd.tally.ages().context("no ages")?;
        let millis = |age: Duration| age.as_secs_f64() * 1e3;
        Ok(Ages {
            p50: millis(found.p50),
            p99: millis(found.p99),
            max: millis(found.max),
            lost: crowd.lost(),
        })
    }

    fn report(&self, costs: &[[Vec<f64>; 2]], ages: &[[Ages; 2]]) -> String {
        let mut cost = Table::new(["samples of a round", "DAC", "relay", "relay / DAC"]);
        for (burst, [dac, relay]) in self.bursts.iter().zip(costs) {
            let both = ratios(relay, dac);
            cost.row(vec![burst.to_string(), with_spread(dac), with_spread(relay), figure(&both, 2)]);
        }
        let mut age = Table::new(["age at subscribers", "DAC", "through a relay", "difference of a pair"]);
        let rows: [(&str, Of); 3] =
            [("p50, ms", |ages| ages.p50), ("p99, ms", |ages| ages.p99), ("longest, ms", |ages| ages.max)];
        for (name, of) in rows {
            let [dac, relay] = [0, 1].map(|index| -> Vec<f64> {
                ages.iter().filter_map(|pair| pair.get(index)).map(of).collect()
            });
            let added: Vec<f64> = relay.iter().zip(&dac).map(|(relay, dac)| relay - dac).collect();
            age.row(vec![name.into(), figure(&dac, 2), figure(&relay, 2), figure(&added, 2)]);
        }
        let lost: u64 = ages.iter().flatten().map(|ages| ages.lost).sum();
        format!(
            "## Relay\n\n{} subscribers of a DAC, and as many of a relay of another DAC, in turn; {} measurements of each kind, median (lowest to highest). \
             Both have a node with a pushed probe in its own process, and send EISA packets. DACs and relay run on one core, nodes and subscribers on the other.\n\n\
             Deliveries per second of the processor time of the process with the subscribers; a round ends when all have its samples, and the next one begins 20 ms later:\n\n{cost}\n\
             {HERTZ} samples a second for {} s, {lost} lost:\n\n{age}",
            self.subscribers, self.repetitions, self.run_s
        )
    }
}

/// One of the ages.
type Of = fn(&Ages) -> f64;

/// Median with its spread.
fn figure(values: &[f64], digits: usize) -> String {
    match median(values).zip(spread(values)) {
        Some((median, (least, most))) => format!("{median:.digits$} ({least:.digits$} to {most:.digits$})"),
        None => "–".into(),
    }
}
