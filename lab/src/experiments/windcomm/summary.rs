//! Summary of a cell: the latencies of each door, beside the expected ones.

use super::{
    super::{monitor::Watched, relay::Delays},
    model,
    pages::PageResult,
    settings::{Door, PERIOD, Settings},
};
use crate::{experiment::Measured, statistics::Sample};

/// Half a period of the sensor, milliseconds: from here on a reading may wait for a request.
const HALF_A_PERIOD: f64 = 125.0;

/// The measures of one door, or of all with their names in front.
pub fn measured(
    settings: &Settings,
    results: &[PageResult],
    delays: &Delays,
    watched: &[Watched],
) -> Measured {
    let mut measured = Measured::default();
    let mut samples = Vec::new();
    for result in results {
        let Ok(door) = result.door.parse::<Door>() else { continue };
        let prefix = if results.len() > 1 { format!("{}_", door.name()) } else { String::new() };
        add(&mut measured, &prefix, door, result, settings, delays);
        samples.push((door, Sample::of(&result.latencies)));
    }
    measured.notes.extend(results.first().map(|result| result.browser.clone()));
    compare(&mut measured, &samples);
    let mut put = |name: &str, value: f64| {
        measured.measures.insert(name.into(), value);
    };
    put("link_down_ms", mean(&delays.down));
    put("link_up_ms", mean(&delays.up));
    let seconds = watched.len().max(1) as f64;
    put("server_cpu_percent", watched.iter().map(|second| second.server_cpu).sum::<f64>() / seconds);
    measured
}

fn add(
    measured: &mut Measured,
    prefix: &str,
    door: Door,
    result: &PageResult,
    settings: &Settings,
    delays: &Delays,
) {
    let mut sorted = result.latencies.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let Sample { mean: average, deviation, count } = Sample::of(&result.latencies);
    let handover = mean(&result.handovers);
    let (expected, formula) = (
        model::expected(door, delays, handover, settings),
        model::formula(door, mean(&delays.down), settings),
    );
    let values = [
        ("latency_mean_ms", average),
        ("latency_sd_ms", deviation),
        ("latency_q1_ms", at(0.25)),
        ("latency_median_ms", at(0.5)),
        ("latency_q3_ms", at(0.75)),
        ("latency_max_ms", at(1.0)),
        ("readings", count as f64),
        ("delivered_after_s", result.delivered_after / 1e3),
        ("handover_ms", handover),
        ("model_ms", expected),
        ("model_formula_ms", formula),
        ("off_model_percent", if expected > 0.0 { (average / expected - 1.0) * 100.0 } else { 0.0 }),
        ("beyond_link_ms", average - mean(&delays.down)),
        ("clock_before_ms", result.offsets[0]),
        ("clock_after_ms", result.offsets[1]),
    ];
    for (name, value) in values {
        measured.measures.insert(format!("{prefix}{name}"), value);
    }
    if door == Door::LongPoll {
        let (number, said) = case(average);
        measured.notes.push(format!("{}: {said}", door.name()));
        let late = result.latencies.iter().filter(|latency| **latency > HALF_A_PERIOD).count();
        let of_all = late as f64 / result.latencies.len().max(1) as f64;
        measured.measures.insert(format!("{prefix}long_poll_case"), number);
        measured.measures.insert(format!("{prefix}beyond_half_a_period_percent"), of_all * 100.0);
        let paper = if average > HALF_A_PERIOD { 1.5 * mean(&delays.down) } else { formula };
        measured.measures.insert(format!("{prefix}model_of_the_paper_ms"), paper);
    }
    let times = result.latencies.iter().enumerate();
    let series = times.map(|(number, latency)| (PERIOD.as_secs_f64() * number as f64, *latency));
    measured.series.insert(format!("{prefix}latency_ms"), series.collect());
    let distribution = (0..=100).map(|percent| (f64::from(percent), at(f64::from(percent) / 100.0)));
    measured.distributions.insert(format!("{prefix}latency_ms"), distribution.collect());
}

/// The publication's three cases of a long poll.
fn case(mean: f64) -> (f64, &'static str) {
    match mean {
        ..=HALF_A_PERIOD => (1.0, "the first case, a request waits for each reading"),
        ..=250.0 => (2.0, "the second case, readings wait now and then for a request"),
        _ => (3.0, "the third case, readings wait for requests"),
    }
}

/// Tests each pair of doors that were measured at the same time.
fn compare(measured: &mut Measured, samples: &[(Door, Sample)]) {
    for (index, (one, first)) in samples.iter().enumerate() {
        for (other, second) in &samples[index + 1..] {
            if let Some(test) = first.welch(second) {
                measured.notes.push(format!("{} minus {}: {test}", one.name(), other.name()));
            }
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
