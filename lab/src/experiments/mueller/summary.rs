//! Makes measures, series and the distribution of ping times of what load and monitor saw.

use super::{
    super::{
        fleet::{Second, Summary},
        monitor::{Part, Watched},
    },
    load::Pings,
    settings::Settings,
};
use crate::experiment::Measured;
use std::{collections::BTreeMap, time::Duration};

/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;
/// The distribution's tail, after each whole percent.
const TAIL_PERCENTILES: [f64; 4] = [99.5, 99.9, 99.99, 100.0];

/// All that is known of a cell.
#[derive(Debug)]
pub struct CellObservations {
    /// Summary of the clients.
    pub summary: Summary<Pings>,
    /// Each second of processes and threads.
    pub watched: Vec<Watched>,
    /// Parts of the seconds.
    pub parts: Vec<Part>,
    /// Resident memory of the server before the load, in bytes.
    pub idle: u64,
    /// Processor time of the whole server.
    pub cpu: Duration,
    /// Processor time of each worker.
    pub worker_cpu: Vec<Duration>,
    /// Duration of the load.
    pub elapsed: Duration,
    /// Processes of the server that take connections.
    pub processes: usize,
}

/// The measurements of a cell.
pub fn measured(settings: &Settings, seen: &CellObservations) -> Measured {
    let mut measured = Measured::default();
    pings(&mut measured, seen);
    work(&mut measured, settings, seen);
    over_time(&mut measured, seen);
    measured.notes = notes(settings, seen);
    measured
}

fn pings(measured: &mut Measured, seen: &CellObservations) {
    let pings = &seen.summary.tally;
    measured.measures.extend(named([
        ("responses", pings.answers() as f64),
        ("errors", pings.errors() as f64),
        ("connections", pings.opened as f64),
        ("refused", pings.refused as f64),
        ("lost", pings.lost as f64),
        ("pings", pings.pings as f64),
        ("answers_per_second", pings.answers() as f64 / seen.elapsed.as_secs_f64().max(1e-3)),
        ("ping_p50_ms", pings.quantile_ms(50.0)),
        ("ping_p90_ms", pings.quantile_ms(90.0)),
        ("ping_p99_ms", pings.quantile_ms(99.0)),
        ("ping_p999_ms", pings.quantile_ms(99.9)),
        ("ping_max_ms", pings.quantile_ms(100.0)),
    ]));
    let percents = (0..100).map(f64::from).chain(TAIL_PERCENTILES);
    let distribution = percents.map(|percent| (percent, pings.quantile_ms(percent))).collect();
    if pings.answers() > 0 {
        measured.distributions.insert("ping_ms".into(), distribution);
    }
}

/// Adds the processor time and memory of server and load.
fn work(measured: &mut Measured, settings: &Settings, seen: &CellObservations) {
    let (answers, elapsed) = (seen.summary.tally.answers() as f64, seen.elapsed.as_secs_f64().max(1e-3));
    let workers: Vec<f64> = seen.worker_cpu.iter().map(Duration::as_secs_f64).collect();
    let (busiest, cpu) = (highest(workers.iter().copied()), seen.cpu.as_secs_f64());
    let memory = highest(seen.watched.iter().map(|second| second.server_memory as f64));
    let grown = (memory - seen.idle as f64).max(0.0);
    let of_parts = |is_wanted: fn(&Part) -> bool| {
        highest(seen.watched.iter().flat_map(|second| {
            seen.parts.iter().zip(&second.parts).filter(|(part, _)| is_wanted(part)).map(|(_, cpu)| *cpu)
        }))
    };
    measured.measures.extend(named([
        ("server_cpu_percent", cpu / elapsed * 100.0),
        ("busiest_worker_cpu_percent", busiest / elapsed * 100.0),
        ("busiest_worker_cpu_percent_max", of_parts(|part| part.name.starts_with("worker"))),
        ("load_cpu_percent_max", of_parts(is_client)),
        ("server_memory_mb_idle", seen.idle as f64 / MEGABYTE),
        ("server_memory_mb_max", memory / MEGABYTE),
        ("memory_kb_per_connection", grown / 1e3 / settings.connections().max(1) as f64),
    ]));
    if cpu > 0.0 {
        measured.measures.insert("answers_per_cpu_second".into(), answers / cpu);
    }
    if busiest > 0.0 {
        // Answers that the server could give if all workers were as loaded as that one can be.
        measured.measures.insert("capacity_per_second".into(), answers / busiest);
    }
    measured.measures.extend(imbalance(&workers).map(|imbalance| ("imbalance".into(), imbalance)));
    let by_worker: Vec<f64> = seen.summary.tally.by_worker.values().map(|answers| *answers as f64).collect();
    measured.measures.extend(imbalance(&by_worker).map(|imbalance| ("imbalance_answers".into(), imbalance)));
}

fn over_time(measured: &mut Measured, seen: &CellObservations) {
    let at = |second: &Second| (second.second + 1) as f64;
    let seconds = || seen.summary.seconds.values();
    let before = std::iter::once(0).chain(seconds().map(|second| second.responses));
    measured.series.extend(named([
        ("connections", seconds().map(|second| (at(second), second.active as f64)).collect()),
        ("errors", seconds().map(|second| (at(second), second.errors as f64)).collect()),
        ("longest_ping_ms", seconds().map(|second| (at(second), second.longest)).collect()),
        (
            "answers_per_second",
            seconds()
                .zip(before)
                .map(|(second, before)| (at(second), second.responses.saturating_sub(before) as f64))
                .collect(),
        ),
    ]));
    let watched = |value: fn(&Watched) -> f64| {
        seen.watched.iter().map(|second| (second.at, value(second))).collect::<Vec<_>>()
    };
    measured.series.extend(named([
        ("server_cpu_percent", watched(|second| second.server_cpu)),
        ("server_memory_mb", watched(|second| second.server_memory as f64 / MEGABYTE)),
        ("system_cpu_percent", watched(|second| second.system_cpu)),
    ]));
    for (index, part) in seen.parts.iter().enumerate() {
        let group = if is_client(part) { "load_cpu_percent" } else { "cpu_percent" };
        let cpu = seen.watched.iter().filter_map(|second| Some((second.at, *second.parts.get(index)?)));
        measured.series.insert(format!("{group}.{}", part.name), cpu.collect());
    }
}

fn notes(settings: &Settings, seen: &CellObservations) -> Vec<String> {
    let mut notes = Vec::new();
    let (had, wanted) = (settings.connections(), settings.wanted());
    if had < wanted {
        notes.push(format!("{had} connections instead of {wanted}: {}", settings.rival.limit()));
    }
    if seen.processes > 1 {
        notes.push(format!("{} processes: {}", seen.processes, settings.rival.limit()));
    }
    let tally = &seen.summary.tally;
    notes.extend(tally.failures.iter().map(|(why, count)| format!("{count} connections {why}")));
    notes
}

/// Returns the imbalance of loads: the largest as a multiple of the mean. 1 is even; none without a load.
fn imbalance(loads: &[f64]) -> Option<f64> {
    let mean = loads.iter().sum::<f64>() / loads.len().max(1) as f64;
    (mean > 0.0).then(|| highest(loads.iter().copied()) / mean)
}

fn is_client(part: &Part) -> bool {
    part.name.starts_with("client")
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn named<T, const N: usize>(values: [(&str, T); N]) -> BTreeMap<String, T> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_loads_have_no_imbalance() {
        assert_eq!(imbalance(&[2.0, 2.0]), Some(1.0));
        assert_eq!(imbalance(&[3.0, 1.0]), Some(1.5));
        assert_eq!((imbalance(&[]), imbalance(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn the_capacity_is_that_of_the_busiest_worker() {
        let mut tally = Pings::new().unwrap();
        (0..3_000).for_each(|_| tally.answered(Some(0), Duration::from_millis(2)));
        let seen = CellObservations {
            summary: Summary { seconds: BTreeMap::new(), tally },
            watched: Vec::new(),
            parts: Vec::new(),
            idle: 0,
            cpu: Duration::from_secs(1),
            worker_cpu: vec![Duration::from_millis(500), Duration::from_millis(250)],
            elapsed: Duration::from_secs(10),
            processes: 1,
        };
        let settings = super::super::tests::settings();
        let measures = measured(&settings, &seen).measures;
        let of = |name: &str| measures[name];
        assert_eq!((of("capacity_per_second"), of("answers_per_cpu_second")), (6_000.0, 3_000.0));
        assert_eq!((of("busiest_worker_cpu_percent"), of("answers_per_second")), (5.0, 300.0));
        assert!((of("imbalance") - 4.0 / 3.0).abs() < 1e-9 && of("imbalance_answers") == 1.0);
    }
}
