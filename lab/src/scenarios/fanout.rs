//! Bursts to many subscribers: what a delivery costs each server, and how many a second it can make.

use super::progress;
use crate::{
    crowd::Tally,
    order::Order,
    station::{BARE, CONTENDERS, Contender, Station},
    statistics::{median, ratios},
    table::{Table, percent, ratio, short, with_spread},
};
use clap::Args;
use std::time::{Duration, Instant};

/// Pause after a round: longer than that of any server here, so that each round is a write of its own.
const ROUND_PAUSE: Duration = Duration::from_millis(20);
/// Least rounds in a measurement.
const ROUNDS: u32 = 3;
/// Rounds under way when a server is to go as fast as it can.
const AHEAD: u64 = 4;
/// Samples under way at least when they come from a node, which gathers them for some milliseconds.
const AHEAD_OF_NODE: u64 = 1_024;

/// Bursts to many subscribers, every server in turn.
#[derive(Debug, Clone, Args)]
pub struct Fanout {
    /// Subscribers of each server.
    #[arg(long, default_value_t = 1_000)]
    subscribers: usize,
    /// Messages that each gets in a round.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    bursts: Vec<usize>,
    /// Measurements of each kind.
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Length of one measurement, in milliseconds.
    #[arg(long, default_value_t = 400)]
    length_ms: u64,
}

/// One server under both kinds of load.
struct Entry {
    contender: Contender,
    calm: Station,
    /// Ours with no rest between writes; the others have none anyway.
    restless: Option<Station>,
    results: Vec<Series>,
}

/// Measurements of one server with one size of bursts.
#[derive(Default)]
struct Series {
    /// Deliveries a second of the server's processor time.
    calm: Vec<f64>,
    /// Deliveries a second by the clock.
    saturated: Vec<f64>,
    /// The same, if as much was under way as with the others.
    comparable: Vec<f64>,
    /// Deliveries a second of the server's processor time, as fast as it goes.
    saturated_cost: Vec<f64>,
    /// Share of its time for which the load generator was busy.
    generator: Vec<f64>,
}

/// Which of the measurements.
type Of = fn(&Series) -> &Vec<f64>;

impl Fanout {
    /// Measures, and returns a section of the report.
    pub fn run(&self) -> anyhow::Result<String> {
        let mut entries: Vec<Entry> = CONTENDERS.into_iter().filter_map(|one| self.enter(one)).collect();
        for repetition in 1..=self.repetitions {
            progress(format_args!("fan-out, repetition {repetition} of {}", self.repetitions));
            for (index, &burst) in self.bursts.iter().enumerate() {
                entries.retain_mut(|entry| match entry.measure(index, burst, self.length()) {
                    Ok(()) => true,
                    Err(error) => {
                        eprintln!("  {} skipped from here on: {error:#}", entry.contender.name);
                        false
                    }
                });
            }
        }
        Ok(self.report(&entries))
    }

    fn length(&self) -> Duration {
        Duration::from_millis(self.length_ms)
    }

    fn enter(&self, contender: Contender) -> Option<Entry> {
        progress(format_args!("starting {} with {} subscribers", contender.name, self.subscribers));
        let start = |flush| Station::start(contender, flush, self.subscribers);
        let started = start(None).and_then(|calm| {
            let restless = contender.is_ours().then(|| start(Some(Duration::ZERO))).transpose()?;
            Ok((calm, restless))
        });
        let results = self.bursts.iter().map(|_| Series::default()).collect();
        match started {
            Ok((calm, restless)) => Some(Entry { contender, calm, restless, results }),
            Err(error) => {
                eprintln!("  {} skipped: {error:#}", contender.name);
                None
            }
        }
    }

    fn report(&self, entries: &[Entry]) -> String {
        let mut out = format!(
            "## Fan-out\n\n{} subscribers over loopback, binary messages of 136 bytes (`oasis native`: a native batch of one sample each). Servers run on one core, the load generator on the other. {} measurements of each kind, alternating between servers; median (lowest to highest).\n\n",
            self.subscribers, self.repetitions
        );
        for entry in entries {
            out += &format!("- `{}`: {}.\n", entry.contender.name, entry.contender.what);
        }
        out += "\n### Deliveries per second of server CPU time\n\n";
        out += "The core is not saturated: each round ends when all subscribers have received it; the next starts 20 ms later. OASIS uses its default pause between writes.\n\n";
        out += &self.table(entries, |series| &series.calm, |series| &series.calm).to_string();
        out += "\n### Deliveries per second at saturation\n\n";
        out += "Measured at the subscribers, with four rounds in flight (`oasis node`: 1,024 samples, because a node collects them for up to 10 ms, and several for one subscriber may share a write; that row is not compared). OASIS uses no pause between writes (`flush_ms = 0`).\n\n";
        out += &self.table(entries, |series| &series.saturated, |series| &series.comparable).to_string();
        out += "\nThe load generator polls without sleeping. Share of its time spent reading messages, and deliveries per second of server CPU time:\n\n";
        out += &self.generator(entries).to_string();
        out += "\n### OASIS compared with each server\n\nMedian ratio of consecutive measurements: first by CPU time, then by saturated throughput.\n\n";
        out += &self.rivals(entries).to_string();
        out
    }

    fn table(&self, entries: &[Entry], of: Of, compared: Of) -> Table {
        let mut headings = vec!["server".to_owned()];
        for burst in &self.bursts {
            headings.extend([format!("burst {burst}"), "to bare".into()]);
        }
        let mut table = Table::new(headings);
        let bare = entries.iter().find(|entry| entry.contender == BARE);
        for entry in entries {
            let mut row = vec![entry.contender.name.to_owned()];
            for (index, series) in entry.results.iter().enumerate() {
                let bare = bare.and_then(|bare| bare.results.get(index)).map(compared);
                let to_bare = bare.and_then(|bare| median(&ratios(compared(series), bare)));
                row.extend([with_spread(of(series)), ratio(to_bare)]);
            }
            table.row(row);
        }
        table
    }

    fn generator(&self, entries: &[Entry]) -> Table {
        let headings =
            self.bursts.iter().flat_map(|burst| [format!("burst {burst}"), "per CPU second".into()]);
        let mut table = Table::new(std::iter::once("server".to_owned()).chain(headings));
        for entry in entries {
            let cells = entry.results.iter().flat_map(|series| {
                let share = median(&series.generator).map_or("–".into(), percent);
                [share, median(&series.saturated_cost).map_or("–".into(), short)]
            });
            table.row(std::iter::once(entry.contender.name.to_owned()).chain(cells).collect());
        }
        table
    }

    fn rivals(&self, entries: &[Entry]) -> Table {
        let kinds = ["", ", saturated"];
        let headings =
            kinds.iter().flat_map(|kind| self.bursts.iter().map(move |burst| format!("burst {burst}{kind}")));
        let mut table = Table::new(std::iter::once("ratio".to_owned()).chain(headings));
        let of: [Of; 2] = [|series| &series.calm, |series| &series.comparable];
        for ours in entries.iter().filter(|entry| entry.contender.is_ours()) {
            for rival in entries.iter().filter(|entry| !entry.contender.is_ours()) {
                let name = format!("{} / {}", ours.contender.name, rival.contender.name);
                let cells = of.iter().flat_map(|of| {
                    let pairs = ours.results.iter().zip(&rival.results);
                    pairs.map(|(ours, rival)| ratio(median(&ratios(of(ours), of(rival)))))
                });
                table.row(std::iter::once(name).chain(cells).collect());
            }
        }
        table
    }
}

impl Entry {
    fn measure(&mut self, index: usize, burst: usize, length: Duration) -> anyhow::Result<()> {
        let calm = calm(&mut self.calm, burst, length)?;
        let rush = saturate(self.restless.as_mut().unwrap_or(&mut self.calm), burst, length)?;
        if let Some(series) = self.results.get_mut(index) {
            series.calm.push(calm);
            series.saturated.push(rush.throughput);
            series.comparable.extend((!self.calm.served.has_node()).then_some(rush.throughput));
            series.saturated_cost.push(rush.per_cpu);
            series.generator.push(rush.generator);
        }
        Ok(())
    }
}

/// Measures rounds with a pause after each; returns deliveries a second of processor time.
pub(super) fn calm(station: &mut Station, burst: usize, length: Duration) -> anyhow::Result<f64> {
    let Station { served, crowd } = station;
    crowd.count_into(Tally::default());
    let (began, cpu) = (Instant::now(), served.server.cpu()?);
    let mut rounds = 0;
    while rounds < ROUNDS || began.elapsed() < length {
        rounds += 1;
        served.order(Order::Round { burst })?;
        crowd.wait_for(u64::from(rounds) * (burst * crowd.len()) as u64)?;
        crowd.linger(ROUND_PAUSE)?;
    }
    Ok(crowd.tally.messages as f64 / (served.server.cpu()? - cpu).as_secs_f64())
}

struct Rush {
    throughput: f64,
    per_cpu: f64,
    generator: f64,
}

/// Rounds as fast as they are taken.
fn saturate(station: &mut Station, burst: usize, length: Duration) -> anyhow::Result<Rush> {
    let Station { served, crowd } = station;
    crowd.count_into(Tally::default());
    let round = (burst * crowd.len()) as u64;
    let ahead = if served.has_node() { AHEAD.max(AHEAD_OF_NODE / burst.max(1) as u64) } else { AHEAD };
    let (mut published, own) = (0, crowd.busy);
    let (began, cpu) = (Instant::now(), served.server.cpu()?);
    while published < ahead || began.elapsed() < length {
        while published < crowd.tally.messages / round + ahead {
            served.order(Order::Round { burst })?;
            published += 1;
        }
        crowd.turn(Duration::ZERO)?;
    }
    crowd.wait_for(published * round)?;
    let elapsed = began.elapsed().as_secs_f64();
    let messages = crowd.tally.messages as f64;
    Ok(Rush {
        throughput: messages / elapsed,
        per_cpu: messages / (served.server.cpu()? - cpu).as_secs_f64(),
        generator: (crowd.busy - own).as_secs_f64() / elapsed,
    })
}
