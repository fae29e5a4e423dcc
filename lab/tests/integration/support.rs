//! Runs of the lab, with real processes.

use flate2::read::MultiGzDecoder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

pub fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oasis-lab")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs an experiment with values for its variables; returns the run's folder.
pub fn run(experiment: &str, sets: &[&str], runs: &Path) -> PathBuf {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let runs = runs.to_str().unwrap();
    let arguments: Vec<_> =
        ["run", experiment, "--offline", "--runs", runs].into_iter().chain(sets).collect();
    let output = lab(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let report = String::from_utf8(output.stdout).unwrap();
    Path::new(report.trim()).parent().unwrap().to_owned()
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The results of a run, in the order of its plan.
pub fn results(run: &Path) -> Vec<Value> {
    let record = json(&run.join("run.json"));
    let cells = record["cells"].as_array().unwrap();
    cells
        .iter()
        .map(|cell| json(&run.join("cells").join(format!("{}.json", cell["id"].as_str().unwrap()))))
        .collect()
}

/// The answers in the archive of a cell.
pub fn archived(folder: &Path, cell: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let end = format!("-{cell}.jsonl.gz");
    let of_cell = |path: &PathBuf| path.to_str().unwrap().ends_with(&end);
    let [path] = &files.filter(of_cell).collect::<Vec<_>>()[..] else { panic!("one archive of {cell}") };
    let mut text = String::new();
    MultiGzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Whether the server of a cell is absent; then that is printed.
pub fn is_absent(result: &Value) -> bool {
    let reason = result["outcome"]["absent"].as_str();
    if let Some(reason) = reason {
        println!("{} is absent: {reason}", result["cell"]["server"]);
    }
    reason.is_some()
}

/// A measure of a cell.
pub fn measure(result: &Value, name: &str) -> f64 {
    result["outcome"]["measured"]["measures"][name]
        .as_f64()
        .unwrap_or_else(|| panic!("there is no {name}: {result}"))
}

/// The run of the publication's whole plan, ended by Ctrl-C as soon as it has begun.
pub fn interrupted(experiment: &str, cells: usize, runs: &Path) -> PathBuf {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_oasis-lab"))
        .args(["run", experiment, "--paper", "--offline", "--runs", runs.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(lab.stderr.take().unwrap());
    let first = format!("1/{cells}]");
    while !said.contains(&first) {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    kill_process(Pid::from_child(&lab), Signal::INT).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    let output = lab.wait_with_output().unwrap();
    assert!(!output.status.success() && said.contains("--resume"), "{said}");
    assert!(
        said.contains(&format!("{cells} of {cells} cells to run, about ")),
        "it states its length: {said}"
    );
    let report = String::from_utf8(output.stdout).unwrap();
    Path::new(report.trim()).parent().unwrap().to_owned()
}

/// Gives each cell of a run a result with these measures, series and distributions.
pub fn fill(run: &Path, measures: &[&str], series: &[&str], distributions: &[&str]) {
    let points = json!([[1.0, 2.0], [2.0, 3.0]]);
    let named = |names: &[&str], value: Value| -> Value {
        names.iter().map(|name| ((*name).to_owned(), value.clone())).collect()
    };
    for cell in json(&run.join("run.json"))["cells"].as_array().unwrap() {
        let file = run.join("cells").join(format!("{}.json", cell["id"].as_str().unwrap()));
        let measured = json!({"measured": {
            "measures": named(measures, json!(2.0)), "series": named(series, points.clone()),
            "distributions": named(distributions, points.clone()), "notes": [],
        }});
        let result =
            json!({"cell": cell, "began": "2026-11-23T22:00:00Z", "seconds": 600.0, "outcome": measured});
        fs::write(file, result.to_string()).unwrap();
    }
}

/// The rows of a report's index of figures.
pub fn index(report: &str) -> Vec<&str> {
    let index = report.split("## Index of figures").nth(1).unwrap().split("\n### ").next().unwrap();
    index.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| figure")).collect()
}
