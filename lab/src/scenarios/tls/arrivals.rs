//! A probe at 1 kHz to many subscribers: loss, processor time and age of samples, without TLS, with it, and after sign-in.

use super::{Guard, Tls};
use crate::{
    certificates::Certificates,
    crowd::Tally,
    order::Order,
    scenarios::progress,
    station::{CHAIN, Contender, NATIVE_CHAIN, Station},
    statistics::median,
    table::{Table, millis, percent},
};
use std::time::{Duration, Instant};

const HERTZ: u32 = 1_000;
/// Interval between two checks whether everything has arrived when the probe has ended.
const ARRIVAL_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Timeout of arrivals; later samples are lost.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(15);
/// Measurements are long: fewer of them.
const REPETITIONS: usize = 3;

const CASES: [(Contender, Guard); 6] = [
    (CHAIN, Guard::Plain),
    (CHAIN, Guard::Tls),
    (NATIVE_CHAIN, Guard::Plain),
    (NATIVE_CHAIN, Guard::Tls),
    (NATIVE_CHAIN, Guard::Token),
    (NATIVE_CHAIN, Guard::Session),
];

/// Measurements of one case.
#[derive(Default)]
struct Series {
    samples: u64,
    lost: u64,
    share: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
}

/// Measures, and returns a section of the report.
pub fn measure(tls: &Tls, certificates: &Certificates) -> anyhow::Result<String> {
    let mut stations = Vec::new();
    for (contender, guard) in CASES {
        progress(format_args!("starting {}, {}", contender.name, guard.name()));
        let served = contender.serve_with(None, &guard.flags(certificates)?, |server| {
            guard.entrance(certificates, server.places())
        })?;
        stations.push((Station::over(served, contender.dialect(), tls.subscribers)?, Series::default()));
    }
    for repetition in 1..=REPETITIONS.min(tls.repetitions) {
        progress(format_args!("1 kHz, repetition {repetition}"));
        for (station, series) in &mut stations {
            series.add(station, Duration::from_secs(tls.age_s))?;
        }
    }
    let mut table = Table::new(["reader", "deliveries of samples", "lost", "server CPU", "p50", "p99"]);
    for ((contender, guard), (_, series)) in CASES.into_iter().zip(&stations) {
        table.row(series.row(contender, guard));
    }
    Ok(format!(
        "## 1 kHz to {} subscribers\n\nA probe in a node's process, TCP, a DAC with one shard on one core and its default configuration. \
         `eisa` subscribers get a packet of 136 bytes for each sample, `native` ones batches. Age is the time from the sample's timestamp \
         (`native`: the batch's) to the read at the subscriber. The node shares its core with the load generator. \
         {} runs of {} s each, alternating; sum of deliveries and losses, median of the rest. \
         Signed-in subscribers show an API token, or the cookie of a session, in the request that opens their WebSocket.\n\n{table}",
        tls.subscribers,
        REPETITIONS.min(tls.repetitions),
        tls.age_s
    ))
}

impl Series {
    fn add(&mut self, station: &mut Station, length: Duration) -> anyhow::Result<()> {
        let Station { served, crowd } = station;
        crowd.count_into(Tally::with_ages()?);
        let (began, cpu) = (Instant::now(), served.server.cpu()?);
        served.order(Order::Run { hertz: HERTZ, length })?;
        crowd.linger(length)?;
        self.share.push((served.server.cpu()? - cpu).as_secs_f64() / began.elapsed().as_secs_f64());
        let ended = Instant::now();
        crowd.linger(ARRIVAL_CHECK_INTERVAL)?;
        while crowd.lost() > 0 && ended.elapsed() < ARRIVAL_TIMEOUT {
            crowd.linger(ARRIVAL_CHECK_INTERVAL)?;
        }
        self.samples += crowd.tally.samples;
        self.lost += crowd.lost();
        if let Some(ages) = crowd.tally.ages() {
            self.p50.push(ages.p50.as_secs_f64());
            self.p99.push(ages.p99.as_secs_f64());
        }
        Ok(())
    }

    fn row(&self, contender: Contender, guard: Guard) -> Vec<String> {
        let age =
            |ages: &[f64]| median(ages).map_or("–".into(), |age| millis(Duration::from_secs_f64(age)));
        let dialect = if contender == CHAIN { "eisa" } else { "native" };
        vec![
            format!("{dialect}, {}", guard.name()),
            self.samples.to_string(),
            self.lost.to_string(),
            median(&self.share).map_or("–".into(), percent),
            age(&self.p50),
            age(&self.p99),
        ]
    }
}
