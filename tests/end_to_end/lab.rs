//! `oasis lab` becomes the program beside it.

use crate::harness::{oasis, program};
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// A copy of the binary in a folder of its own.
fn alone(folder: &Path) -> std::process::Command {
    let binary = folder.join("oasis");
    fs::copy(env!("CARGO_BIN_EXE_oasis"), &binary).expect("the binary can be copied");
    program(&binary)
}

#[test]
fn without_the_lab_the_error_says_how_to_build_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = alone(folder.path()).args(["lab", "list"]).output().expect("the binary runs");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success());
    assert!(text.contains("oasis-lab beside oasis") && text.contains("cargo build"), "{text}");
}

#[test]
fn arguments_and_exit_status_are_those_of_the_lab() {
    let folder = tempfile::tempdir().expect("a folder");
    let lab = folder.path().join("oasis-lab");
    fs::write(&lab, "#!/bin/sh\necho \"$@\"\nexit 7\n").expect("a script");
    fs::set_permissions(&lab, fs::Permissions::from_mode(0o755)).expect("an executable");
    let arguments = ["lab", "run", "frizelle", "--quick", "--set", "SERVER=oasis", "--help"];
    let output = alone(folder.path()).args(arguments).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let passed = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(passed, "run frizelle --quick --set SERVER=oasis --help\n");
}

#[test]
fn relays_hold_some_thousand_watchers_and_each_receives_every_sample_once() {
    let lab = Path::new(env!("CARGO_BIN_EXE_oasis")).with_file_name("oasis-lab");
    assert!(lab.exists(), "no {}: cargo build -p oasis-lab", lab.display());
    let runs = tempfile::tempdir().expect("a folder");
    let output = oasis()
        .args([
            "lab",
            "run",
            "million",
            "--set",
            "WATCHERS=3000",
            "--set",
            "SOCKETS=1500",
            "--set",
            "SAMPLES=3",
        ])
        .arg("--runs")
        .arg(runs.path())
        .output()
        .expect("the lab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let run = fs::read_dir(runs.path()).expect("runs").next().expect("a run").expect("a folder").path();
    let cells = fs::read_dir(run.join("cells")).expect("cells").map(|cell| cell.expect("a cell").path());
    let cell =
        cells.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).expect("a file")).next();
    let cell: Value = serde_json::from_str(&cell.expect("a finished cell")).expect("JSON");
    let measures = &cell["outcome"]["measured"]["measures"];
    let of = |name: &str| measures[name].as_f64().unwrap_or_else(|| panic!("{name} in {cell}"));
    assert_eq!((of("held"), of("ended"), of("lost"), of("twice")), (3_000.0, 0.0, 0.0, 0.0), "{cell}");
    assert!(of("sample_to_all_s") > 0.0 && of("memory_bytes_per_watcher") > 0.0, "{cell}");
}

#[test]
fn watchers_that_a_process_cannot_open_are_refused_with_what_to_raise() {
    let runs = tempfile::tempdir().expect("a folder");
    let output = oasis()
        .args(["lab", "run", "million", "--set", "WATCHERS=50000000", "--runs"])
        .arg(runs.path())
        .output()
        .expect("the lab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("do not fit") && said.contains("fs.file-max"), "{said}");
}
