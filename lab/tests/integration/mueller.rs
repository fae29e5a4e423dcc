//! A small cell of the benchmark of many cores for each server, with real processes.

use crate::support::{fill, index, interrupted, is_absent, lab, measure, results, run};
use oasis_store::History;
use serde_json::Value;
use std::{fs, path::Path};

/// Small settings: two clients with 15 connections each.
const SMALL_SETTINGS: [&str; 6] = ["WORKERS=2", "CLIENTS=2", "RATE=15", "RAMP=1", "HOLD=2", "PERIOD=300"];

/// Runs a small cell, in which no connection fails.
fn check(server: &str, sets: &[&str], runs: &Path) -> Option<Value> {
    let server = format!("SERVER={server}");
    let sets: Vec<&str> = SMALL_SETTINGS.iter().chain(sets).copied().chain([&*server]).collect();
    let run = run("mueller", &sets, runs);
    let result = results(&run).remove(0);
    if is_absent(&result) {
        return None;
    }
    let of = |name: &str| measure(&result, name);
    assert!(of("errors") == 0.0 && of("connections") == 30.0, "{result}");
    // Holds on a loaded machine too: a client waits for the answers to all its pings.
    assert!(of("responses") == of("pings") && of("pings") > 0.0, "{result}");
    assert!(of("ping_p50_ms") <= of("ping_p99_ms") && of("ping_p99_ms") <= of("ping_max_ms"), "{result}");
    let series = result["outcome"]["measured"]["series"].as_object().unwrap();
    for name in ["connections", "cpu_percent.worker_1", "load_cpu_percent.client_1"] {
        assert!(series.contains_key(name), "no series {name}: {:?}", series.keys().collect::<Vec<_>>());
    }
    Some(result)
}

#[test]
fn a_small_cell_of_oasis_is_recorded() {
    let runs = tempfile::tempdir().unwrap();
    check("oasis", &[], runs.path()).unwrap();
    let run = fs::read_dir(runs.path()).unwrap().next().unwrap().unwrap().path();
    let history = History::open(&run.join("archive")).unwrap();
    let names = ["load", "server", "worker 0", "worker 1"];
    assert_eq!(history.instances().unwrap(), names.map(|instance| ("oasis".to_owned(), instance.to_owned())));
    let quantiles = fs::read_to_string(run.join("data/distributions.csv")).unwrap();
    assert!(quantiles.contains("percent") && quantiles.lines().count() > 100, "{quantiles}");
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("| 3.14 |") && report.contains("| speed-up |"), "{report}");
}

#[test]
fn a_small_cell_of_oasis_with_files() {
    let runs = tempfile::tempdir().unwrap();
    check("oasis", &["FILE=1000"], runs.path()).unwrap();
}

#[test]
fn a_small_cell_of_engine_io() {
    let runs = tempfile::tempdir().unwrap();
    if let Some(result) = check("engineio", &[], runs.path()) {
        assert!(measure(&result, "imbalance_answers") >= 1.0, "{result}");
    }
}

#[test]
fn a_small_cell_of_socketcluster() {
    let runs = tempfile::tempdir().unwrap();
    check("socketcluster", &["FILE=1000"], runs.path());
}

/// If every cell of the paper's plan has a result, so has every figure that is drawn.
#[test]
fn all_cells_make_all_figures() {
    let runs = tempfile::tempdir().unwrap();
    let run = interrupted("mueller", 45, runs.path());
    let series = ["cpu_percent.worker_0", "load_cpu_percent.client_0", "connections"];
    fill(&run, &["capacity_per_second", "imbalance", "connections"], &series, &["ping_ms"]);
    let output = lab(&["report", run.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    for row in index(&report) {
        let has_reason = row.contains("| not reproduced: ") && !row.contains("no cell of these runs");
        // One machine of any number of cores stands for machines of eight and more.
        assert!(row.contains("| scaled: ") && row.contains("SERVER_CORES=") || has_reason, "{row}");
    }
    let speed_up = fs::read_to_string(run.join("figures/speed-up-oasis.svg")).unwrap();
    assert!(speed_up.contains("Amdahl: 0.0 % parallel") && speed_up.contains("Gustafson: 0.0"), "{speed_up}");
}
