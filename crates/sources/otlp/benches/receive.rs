//! Data points a second that the source takes on one thread: `cargo bench -p oasis-otlp --features source`.
//!
//! Requests have 5,000 data points of a sum in 100 series with two attributes each, as the Collector sends them. The bench leaves HTTP and the
//! archive out.

#![allow(clippy::expect_used, reason = "a benchmark stops at the first surprise")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use oasis_dac::{Config, Dac};
use oasis_handler::InletRequest;
use oasis_otlp::{OtlpConfig, OtlpSource};
use std::{fmt::Write, time::Instant};

const SERIES: u64 = 100;
const POINTS: u64 = 5_000;
const REQUESTS: u64 = 40;
const RUNS: usize = 9;
const START: u64 = 1_700_000_000_000_000_000;

/// Returns a field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}

fn attribute(key: &str, value: &str) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat()
}

fn protobuf(request: u64) -> Vec<u8> {
    let mut sum = vec![2 << 3, 2, 3 << 3, 1];
    for number in request * POINTS..(request + 1) * POINTS {
        let mut point = vec![2 << 3 | 1];
        point.extend_from_slice(&START.to_le_bytes());
        point.push(3 << 3 | 1);
        point.extend_from_slice(&(START + number * 1_000).to_le_bytes());
        point.push(4 << 3 | 1);
        point.extend_from_slice(&(number as f64 * 0.1).to_le_bytes());
        point.extend(field(7, &attribute("cpu", &format!("cpu{}", number % SERIES))));
        point.extend(field(7, &attribute("state", "idle")));
        sum.extend(field(1, &point));
    }
    let metric = [field(1, b"system.cpu.time"), field(3, b"s"), field(7, &sum)].concat();
    let resource = field(1, &field(1, &attribute("service.name", "host-1")));
    field(1, &[resource, field(2, &field(2, &metric))].concat())
}

fn json(request: u64) -> Vec<u8> {
    let mut points = String::new();
    for number in request * POINTS..(request + 1) * POINTS {
        let comma = if points.is_empty() { "" } else { "," };
        let (time, value, cpu) = (START + number * 1_000, number as f64 * 0.1, number % SERIES);
        // A string takes every character.
        let _ = write!(
            points,
            r#"{comma}{{"startTimeUnixNano":"{START}","timeUnixNano":"{time}","asDouble":{value},"attributes":[{{"key":"cpu","value":{{"stringValue":"cpu{cpu}"}}}},{{"key":"state","value":{{"stringValue":"idle"}}}}]}}"#
        );
    }
    format!(
        r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{"name":"system.cpu.time","unit":"s","sum":{{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{points}]}}}}]}}]}}]}}"#
    )
    .into_bytes()
}

/// Returns data points a second.
fn run(content_type: &str, bodies: &[Vec<u8>]) -> f64 {
    let source = OtlpSource::new(OtlpConfig::default());
    source.open(Dac::new(Config::default()), None);
    let header = |name: &str| (name == "content-type").then_some(content_type);
    let began = Instant::now();
    for body in bodies {
        let request = InletRequest {
            method: "POST",
            path: "/v1/metrics",
            query: "",
            header: &header,
            body,
            may_write: &|_, _| true,
        };
        assert_eq!(source.receive(&request).map(|answer| answer.status), Some(200));
    }
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(source.state()["data_points"], REQUESTS * POINTS);
    (REQUESTS * POINTS) as f64 / seconds
}

fn main() {
    // Tests of the workspace call benchmarks without `--bench`: they only check that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for content_type in ["application/x-protobuf", "application/json"] {
        let body = if content_type.ends_with("json") { json } else { protobuf };
        let bodies: Vec<Vec<u8>> = (0..REQUESTS).map(body).collect();
        let mut speeds: Vec<f64> = (0..RUNS).map(|_| run(content_type, &bodies)).collect();
        speeds.sort_by(f64::total_cmp);
        let [slowest, median, fastest] = [0, RUNS / 2, RUNS - 1].map(|at| speeds[at]);
        println!(
            "{content_type}: {median:.0} data points a second ({slowest:.0} to {fastest:.0}, {RUNS} runs)"
        );
    }
}
