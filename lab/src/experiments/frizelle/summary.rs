//! Makes measures and series of what load and monitor saw.

use super::{
    super::{
        fleet::{Second, Summary},
        monitor::Watched,
    },
    load::{Cycle, Tally},
    test_plan::{RequestType, TestPlan},
};
use crate::{experiment::Measured, statistics::median};
use std::collections::BTreeMap;

/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;

/// The measurements of a cell; `idle` is the memory of the server before the load, in bytes.
pub fn measured(plan: &TestPlan, summary: &Summary<Tally>, watched: &[Watched], idle: u64) -> Measured {
    let mut measured = Measured::default();
    responses(&mut measured, plan, summary);
    emits(&mut measured, plan, summary);
    system(&mut measured, plan, watched, idle);
    measured.notes = notes(plan, summary);
    measured
}

fn responses(measured: &mut Measured, plan: &TestPlan, summary: &Summary<Tally>) {
    let tally = &summary.tally;
    // As in the study, the time of the test counts, and answers that come later do too.
    let seconds = plan.test_duration.as_secs_f64().max(1e-3);
    measured.measures.extend(named([
        ("responses", tally.responses as f64),
        ("responses_per_second", tally.responses as f64 / seconds),
        ("clients_served", tally.clients_served as f64),
        ("errors", tally.error_count() as f64),
        ("timeouts", tally.expected_timeouts as f64),
        ("unexpected_timeouts", tally.unexpected_timeouts as f64),
        ("connections", plan.connections() as f64),
        ("connections_peak", tally.connections_peak as f64),
    ]));
    let per_second = |of: fn(&Second) -> u64| {
        summary.seconds.values().map(|second| ((second.second + 1) as f64, of(second) as f64)).collect()
    };
    measured.series.extend(named([
        ("responses_sent", per_second(|second| second.responses)),
        ("connections", per_second(|second| second.active)),
        ("errors", per_second(|second| second.errors)),
    ]));
}

fn emits(measured: &mut Measured, plan: &TestPlan, summary: &Summary<Tally>) {
    let Some((_, interval)) = &plan.event else { return };
    let cycles = summary.tally.merged_cycles(i64::try_from(interval.as_millis() / 2).unwrap_or(i64::MAX));
    let Some((&first, _)) = cycles.first_key_value() else { return };
    // The first emit comes an interval after the event was set, just before the load.
    let at = |created: i64| (created - first) as f64 / 1e3 + interval.as_secs_f64();
    let of = |value: fn(&Cycle) -> f64| -> Vec<(f64, f64)> {
        cycles.iter().map(|(created, cycle)| (at(*created), value(cycle))).collect()
    };
    let (ramp, end) = (plan.ramp_up.as_secs_f64(), plan.test_duration.as_secs_f64());
    let steady = |series: &[(f64, f64)]| -> Vec<f64> {
        series.iter().filter(|(at, _)| *at > ramp && *at <= end).map(|(_, value)| *value).collect()
    };
    let (duration, delivery, received) =
        (of(|cycle| cycle.duration), of(|cycle| cycle.delivery), of(|cycle| cycle.received as f64));
    let whole = steady(&received).iter().filter(|received| **received >= plan.connections() as f64).count();
    let all = steady(&received).len();
    measured.measures.extend(named([
        ("cycles", all as f64),
        ("whole_cycles", whole as f64),
        ("requests_per_cycle", mean(&steady(&received))),
        ("requests_per_cycle_max", highest(&steady(&received))),
        ("emit_duration_ms", median(&steady(&duration)).unwrap_or_default()),
        ("emit_duration_ms_max", highest(&steady(&duration))),
        ("delivery_ms", median(&steady(&delivery)).unwrap_or_default()),
        ("delivery_ms_max", highest(&steady(&delivery))),
    ]));
    measured.series.extend(named([
        ("emit_duration_ms", duration),
        ("delivery_ms", delivery),
        ("requests_per_cycle", received),
    ]));
}

fn system(measured: &mut Measured, plan: &TestPlan, watched: &[Watched], idle: u64) {
    let of = |value: fn(&Watched) -> f64| -> Vec<(f64, f64)> {
        watched.iter().map(|watched| (watched.at, value(watched))).collect()
    };
    let cpu = of(|watched| watched.server_cpu);
    let memory = of(|watched| watched.server_memory as f64 / MEGABYTE);
    let values = |series: &[(f64, f64)]| series.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let most = highest(&values(&memory));
    let grown = (most - idle as f64 / MEGABYTE).max(0.0);
    measured.measures.extend(named([
        ("server_cpu_percent", mean(&values(&cpu))),
        ("server_memory_mb_idle", idle as f64 / MEGABYTE),
        ("server_memory_mb_max", most),
        ("memory_kb_per_connection", grown * 1e3 / plan.connections().max(1) as f64),
    ]));
    measured.series.extend(named([
        ("server_cpu_percent", cpu),
        ("server_memory_mb", memory),
        ("system_cpu_percent", of(|watched| watched.system_cpu)),
        ("system_memory_mb", of(|watched| watched.system_memory as f64 / MEGABYTE)),
    ]));
}

fn notes(plan: &TestPlan, summary: &Summary<Tally>) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.connections() < plan.num_threads {
        let (had, wanted) = (plan.connections(), plan.num_threads);
        notes.push(format!("{had} connections instead of {wanted}: the limit of open files of a process"));
    }
    if plan.request_type == RequestType::Poll && plan.event.is_some() && summary.tally.unexpected_timeouts > 0
    {
        notes.push(format!("{} long polls ended without an event", summary.tally.unexpected_timeouts));
    }
    let (served, clients) = (summary.tally.clients_served, plan.connections() as u64);
    let has_answers = plan.request_type == RequestType::Poll || plan.event.is_some();
    if has_answers && served < clients {
        notes.push(format!("{served} of {clients} clients had an answer: server or machine was overloaded"));
    }
    notes.extend(summary.tally.errors.iter().map(|(kind, count)| format!("{count} errors: {kind}")));
    notes
}

fn named<T, const N: usize>(values: [(&str, T); N]) -> BTreeMap<String, T> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, value| sum + value) / values.len().max(1) as f64
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
