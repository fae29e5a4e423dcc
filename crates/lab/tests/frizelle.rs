//! A small cell of the push experiment for each server, with real processes, and what becomes of a run.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_store::History;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Small, and still with several emits.
const SMALL: [&str; 5] =
    ["NUMTHREADS=40", "RAMPUP=1", "TEST_DURATION=3", "EMIT_INTERVAL=250", "REQUEST_TYPE=comet,poll"];
/// Servers of the lab's own binary.
const OURS: [&str; 2] = ["oasis", "bare"];

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oasis-lab")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs small cells of a server; returns the run's folder.
fn run(server: &str, runs: &Path) -> PathBuf {
    let server = format!("SERVER={server}");
    let sets = SMALL.into_iter().chain([&*server]).flat_map(|set| ["--set", set]);
    let runs = runs.to_str().unwrap();
    let arguments: Vec<_> =
        ["run", "frizelle", "--offline", "--runs", runs].into_iter().chain(sets).collect();
    let output = lab(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let report = String::from_utf8(output.stdout).unwrap();
    Path::new(report.trim()).parent().unwrap().to_owned()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The results of a run, in the order of its plan.
fn results(run: &Path) -> Vec<Value> {
    let record = json(&run.join("run.json"));
    let cells = record["cells"].as_array().unwrap();
    cells
        .iter()
        .map(|cell| json(&run.join("cells").join(format!("{}.json", cell["id"].as_str().unwrap()))))
        .collect()
}

/// Every client is served in some cycle, and nothing goes wrong.
fn check(server: &str) {
    let runs = tempfile::tempdir().unwrap();
    let run = run(server, runs.path());
    for result in results(&run) {
        if let Some(reason) = result["outcome"]["absent"].as_str() {
            assert!(!OURS.contains(&server), "{server} is absent: {reason}");
            println!("{server} is absent: {reason}");
            continue;
        }
        let measures = &result["outcome"]["measured"]["measures"];
        let of = |name: &str| {
            measures[name].as_f64().unwrap_or_else(|| panic!("{server} has no {name}: {result}"))
        };
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
fn a_small_cell_of_node() {
    check("node");
}

#[test]
fn a_small_cell_of_a_cluster_of_node() {
    check("cluster");
}

#[test]
fn a_small_cell_of_each_tomcat() {
    // One after the other: the first builds all.
    ["tc6", "tc7", "tc11"].iter().for_each(|server| check(server));
}

#[test]
fn long_polls_without_events_end_with_a_timeout() {
    let runs = tempfile::tempdir().unwrap();
    let path = runs.path().to_str().unwrap();
    let sets = ["SERVER=oasis,bare", "NUMTHREADS=20", "RAMPUP=1", "TEST_DURATION=2", "REQUEST_TYPE=poll"];
    let sets = sets
        .iter()
        .chain(&["EVENT_SET_ENABLED=false", "REQUEST_DURATION=200"])
        .flat_map(|set| ["--set", set]);
    let arguments: Vec<_> = ["run", "frizelle", "--runs", path].into_iter().chain(sets).collect();
    let output = lab(&arguments);
    let report = String::from_utf8(output.stdout).unwrap();
    for result in results(Path::new(report.trim()).parent().unwrap()) {
        let measures = &result["outcome"]["measured"]["measures"];
        assert_eq!(measures["errors"], 0.0, "{result}");
        assert_eq!(measures["timeouts"], measures["responses"], "{result}");
        assert_eq!(measures["clients_served"], 20.0, "{result}");
    }
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

/// The run of the study's whole plan, ended by Ctrl-C as soon as it has begun.
fn interrupted(runs: &Path) -> PathBuf {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_oasis-lab"))
        .args(["run", "frizelle", "--paper", "--offline", "--runs", runs.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(lab.stderr.take().unwrap());
    while !said.contains("[1/260]") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    kill_process(Pid::from_child(&lab), Signal::INT).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    let output = lab.wait_with_output().unwrap();
    assert!(!output.status.success() && said.contains("--resume"), "{said}");
    assert!(said.contains("260 of 260 cells to run, about 4"), "it states its length: {said}");
    let report = String::from_utf8(output.stdout).unwrap();
    Path::new(report.trim()).parent().unwrap().to_owned()
}

/// Ctrl-C leaves a run that can be reported; and if every cell of the study's plan has a result, so has every figure.
#[test]
fn all_cells_make_all_figures() {
    let runs = tempfile::tempdir().unwrap();
    let run = interrupted(runs.path());
    let series = [
        "server_memory_mb",
        "server_cpu_percent",
        "emit_duration_ms",
        "responses_sent",
        "requests_per_cycle",
    ];
    let series: Value =
        series.into_iter().map(|name| (name.to_owned(), json!([[1.0, 2.0], [2.0, 3.0]]))).collect();
    for cell in json(&run.join("run.json"))["cells"].as_array().unwrap() {
        let file = run.join("cells").join(format!("{}.json", cell["id"].as_str().unwrap()));
        let measures = json!({"responses": 6.0, "responses_per_second": 3.0, "requests_per_cycle": 2.0, "requests_per_cycle_max": 2.0});
        let measured = json!({"measured": {"measures": measures, "series": series, "notes": []}});
        let result =
            json!({"cell": cell, "began": "2026-11-23T22:00:00Z", "seconds": 600.0, "outcome": measured});
        fs::write(file, result.to_string()).unwrap();
    }
    let output = lab(&["report", run.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    let index = report.split("## Index of figures").nth(1).unwrap().split("\n### ").next().unwrap();
    let rows: Vec<_> =
        index.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| figure")).collect();
    assert_eq!(rows.len(), 31, "{index}");
    for row in rows.iter().skip(4) {
        assert!(row.ends_with("| reproduced |"), "{row}");
    }
    // The numbers of the study have ours beside them.
    let facts = report.split("## Cells").next().unwrap();
    assert!(facts.contains("| Node.js | 650 | 3.00 |"), "{facts}");
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
