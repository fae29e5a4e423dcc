//! A small cell of the push experiment for each server, with real processes, and what becomes of a run.

use crate::support::{archived, fill, index, interrupted, is_absent, json, lab, measure, results};
use oasis_store::History;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Small settings, still with several emits.
const SMALL_SETTINGS: [&str; 5] =
    ["NUMTHREADS=40", "RAMPUP=1", "TEST_DURATION=3", "EMIT_INTERVAL=250", "REQUEST_TYPE=comet,poll"];
/// Servers of the lab's own binary.
const OURS: [&str; 3] = ["oasis", "axum", "bare"];

/// Runs small cells of a server; returns the run's folder.
fn run(server: &str, runs: &Path) -> PathBuf {
    let server = format!("SERVER={server}");
    let sets: Vec<&str> = SMALL_SETTINGS.into_iter().chain([&*server]).collect();
    crate::support::run("frizelle", &sets, runs)
}

/// Every client is served in some cycle, and nothing goes wrong.
fn check(server: &str) {
    let runs = tempfile::tempdir().unwrap();
    let run = run(server, runs.path());
    for result in results(&run) {
        if is_absent(&result) {
            assert!(!OURS.contains(&server), "{result}");
            continue;
        }
        let of = |name: &str| measure(&result, name);
        // Tomcat 6 closes some long polls that are answered while its own thread still handles them.
        let allowed = if server == "tc6" { of("responses") / 20.0 } else { 0.0 };
        assert!(of("errors") <= allowed && of("unexpected_timeouts") == 0.0, "{result}");
        // Holds on a loaded machine too: the load waits until everybody has an answer.
        assert!(of("clients_served") == 40.0 && of("responses") >= 40.0, "{result}");
        assert!(of("connections_peak") >= 1.0 && of("server_memory_mb_idle") > 1.0, "{result}");
    }
}

#[test]
fn a_small_cell_of_oasis() {
    check("oasis");
}

#[test]
fn a_small_cell_of_the_bare_loop() {
    check("bare");
}

#[test]
fn a_small_cell_of_axum() {
    check("axum");
}

#[test]
fn a_small_cell_of_node() {
    check("node");
}

#[test]
fn a_small_cell_of_a_cluster_of_node() {
    check("cluster");
}

#[test]
fn a_small_cell_of_each_tomcat_and_of_jetty() {
    // One after the other: the first builds all.
    ["tc6", "tc7", "tc11", "jetty"].iter().for_each(|server| check(server));
}

#[test]
fn long_polls_without_events_end_with_a_timeout() {
    let runs = tempfile::tempdir().unwrap();
    let sets = [
        "SERVER=oasis,axum,bare",
        "NUMTHREADS=20",
        "RAMPUP=1",
        "TEST_DURATION=2",
        "REQUEST_TYPE=poll",
        "EVENT_SET_ENABLED=false",
        "REQUEST_DURATION=200",
    ];
    for result in results(&crate::support::run("frizelle", &sets, runs.path())) {
        let measures = &result["outcome"]["measured"]["measures"];
        assert_eq!(measures["errors"], 0.0, "{result}");
        assert_eq!(measures["timeouts"], measures["responses"], "{result}");
        assert_eq!(measures["clients_served"], 20.0, "{result}");
    }
}

#[test]
fn each_cell_has_an_archive_of_its_answers() {
    let (runs, archives) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = format!("REQUEST_RESPONSE_LOG_DIR={}", archives.path().display());
    let sets: Vec<&str> = SMALL_SETTINGS.into_iter().chain(["SERVER=bare", &*folder]).collect();
    let run = crate::support::run("frizelle", &sets, runs.path());
    let results = results(&run);
    for result in &results {
        let lines = archived(archives.path(), result["cell"]["id"].as_str().unwrap());
        assert_eq!(lines.len() as f64, measure(result, "responses"), "{result}");
        assert_eq!(lines.len() as f64, measure(result, "archived_answers"), "{result}");
    }
    assert_eq!((results.len(), fs::read_dir(archives.path()).unwrap().count()), (2, 2));
}

#[test]
fn a_run_is_resumed_reported_and_compared() {
    let runs = tempfile::tempdir().unwrap();
    let run = run("bare", runs.path());
    let cells = run.join("cells");
    let kept = || {
        let mut files: Vec<_> = fs::read_dir(&cells).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        files
    };
    let [first, second] = &kept()[..] else { panic!("{:?}", kept()) };
    let before = fs::read(first).unwrap();
    fs::remove_file(second).unwrap();
    let path = run.to_str().unwrap();
    let output = lab(&["run", "--resume", path]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 of 2 cells to run"), "{output:?}");
    assert_eq!((kept().len(), fs::read(first).unwrap()), (2, before));

    // Another machine does not continue it.
    let file = run.join("run.json");
    let record = fs::read_to_string(&file).unwrap();
    let mut elsewhere = json(&file);
    elsewhere["machine"]["memory_mb"] = 1.into();
    fs::write(&file, elsewhere.to_string()).unwrap();
    let output = lab(&["run", "--resume", path]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("began on another machine"), "{output:?}");
    fs::write(&file, record).unwrap();

    let to = runs.path().join("report");
    let output = lab(&["report", path, path, "--to", to.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(to.join("report.html")).unwrap();
    assert!(page.contains("Figure 17 for OASIS") || page.contains("<h2 id=\"index\">"), "{page}");
    assert!(!page.contains("src=") && !page.contains("<link"), "the page needs other files");
    assert!(fs::read_to_string(to.join("data/series.csv")).unwrap().lines().count() > 10);

    let output = lab(&["compare", path, path]);
    let compared = String::from_utf8(output.stdout).unwrap();
    assert!(
        compared.contains("responses_per_second") && compared.contains("2 cells compared, 0"),
        "{compared}"
    );
}

/// Ctrl-C leaves a run that can be reported; and if every cell of the study's plan has a result, so has every figure.
#[test]
fn all_cells_make_all_figures() {
    let runs = tempfile::tempdir().unwrap();
    let run = interrupted("frizelle", 260, runs.path());
    let series = [
        "server_memory_mb",
        "server_cpu_percent",
        "emit_duration_ms",
        "responses_sent",
        "requests_per_cycle",
        "gc_pause_ms",
        "gc_heap_mb",
    ];
    let measures = ["responses", "responses_per_second", "requests_per_cycle", "requests_per_cycle_max"];
    fill(&run, &measures, &series, &[]);
    let output = lab(&["report", run.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    let rows = index(&report);
    assert_eq!(rows.len(), 33, "{rows:?}");
    for row in &rows[4..] {
        // The server has one core of the study's four.
        assert!(row.contains("| scaled: ") && row.contains("SERVER_CORES=1 for 4"), "{row}");
    }
    // The numbers of the study have ours beside them.
    let facts = report.split("## Cells").next().unwrap();
    assert!(facts.contains("| Node.js | 650 | 2 | 0.00 | SERVER_CORES=1 for 4 |"), "{facts}");
}

#[test]
fn a_run_is_recorded_through_oasis() {
    let runs = tempfile::tempdir().unwrap();
    let history = History::open(&run("bare", runs.path()).join("archive")).unwrap();
    let names = ["load", "server"].map(|instance| ("bare".to_owned(), instance.to_owned()));
    assert_eq!(history.instances().unwrap(), names);
}

#[test]
fn wrong_names_are_explained() {
    for (arguments, said) in [
        (&["run", "nothing"][..], "frizelle"),
        (&["run", "frizelle", "--set", "THREADS=1"], "NUMTHREADS"),
        (&["run", "frizelle", "--set", "SERVER=apache"], "tc7"),
        (&["run", "frizelle", "--set", "NUMTHREADS=many"], "whole number"),
        (&["report", "/nonexistent"], "run.json"),
    ] {
        let output = lab(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(said), "{arguments:?}: {text}");
    }
}
