//! Points a second that the source takes on one thread: `cargo bench -p oasis-influxdb --features source`.
//!
//! Requests have 5,000 points of 100 series with ten fields each, as Telegraf sends them. The bench leaves HTTP and the archive out.

#![allow(clippy::expect_used, reason = "a benchmark stops at the first surprise")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use oasis_dac::{Config, Dac};
use oasis_handler::{ConfiguredHandler, Handler, InletRequest, Supervisor};
use oasis_influxdb::{Influxdb, InfluxdbConfig};
use std::{fmt::Write, sync::Arc, time::Instant};

const SERIES: u64 = 100;
const POINTS: u64 = 5_000;
const REQUESTS: u64 = 40;
const RUNS: usize = 9;

fn body(request: u64) -> String {
    let mut body = String::new();
    for point in 0..POINTS {
        let number = request * POINTS + point;
        let (series, time) = (number % SERIES, 1_700_000_000_000_000_000 + number * 1_000);
        // A string takes every character.
        let _ = write!(body, "cpu,cpu=cpu{},host=host-{} ", series % 10, series / 10);
        for field in 0..10 {
            let comma = if field == 0 { "" } else { "," };
            let _ = write!(body, "{comma}usage_{field}={}.{}", number % 97, field);
        }
        let _ = writeln!(body, " {time}");
    }
    body
}

fn run() -> f64 {
    let dac = Dac::new(Config::default());
    let config = InfluxdbConfig { enabled: true, ..InfluxdbConfig::default() };
    let source: Arc<dyn Handler> = Arc::new(Influxdb::configured(config).expect("valid").expect("enabled"));
    let supervisor = Supervisor::new(dac, None, vec![source]);
    supervisor.start_all();
    let bodies: Vec<String> = (0..REQUESTS).map(body).collect();
    let receive = |body: &str| {
        let header = |_: &str| None;
        let request = InletRequest {
            method: "POST",
            path: "/api/v2/write",
            query: "bucket=b",
            header: &header,
            body: body.as_bytes(),
            may_write: &|_, _| true,
        };
        supervisor.receive(&request).map(|answer| answer.status)
    };
    while receive("").is_none() {
        std::thread::yield_now();
    }
    let began = Instant::now();
    for body in &bodies {
        assert_eq!(receive(body), Some(204));
    }
    let seconds = began.elapsed().as_secs_f64();
    supervisor.stop_all();
    (REQUESTS * POINTS) as f64 / seconds
}

fn main() {
    // Tests of the workspace call benchmarks without `--bench`: they only check that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut speeds: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    speeds.sort_by(f64::total_cmp);
    let [slowest, median, fastest] = [0, RUNS / 2, RUNS - 1].map(|at| speeds[at]);
    println!("{median:.0} points of ten fields a second ({slowest:.0} to {fastest:.0}, {RUNS} runs)");
    println!("{:.0} values a second", median * 10.0);
}
