//! Programs that log with their usual libraries, and the output of `oasis tail`.

use crate::harness::{
    Oasis, Program, assert_explained, cargo_build, compile_with, installed, instance, ledger, oasis,
};
use serde_json::Value;
use tempfile::TempDir;

/// The first samples of an instance as `oasis tail` prints them for programs.
fn tail(dac: &Oasis, instance: &str, count: &str) -> Vec<Value> {
    let mut command = oasis();
    command.args(["tail", instance, "--from-earliest", "--format", "json", "--count", count]);
    let output = command.args(["--url", &dac.url()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn wait_for(dac: &Oasis, node: &str, instance: &str, samples: u64) -> Value {
    ledger(dac, node, instance, "samples", |ledger| ledger["received"].as_u64() >= Some(samples))
}

#[test]
fn a_program_in_rust_shows_what_it_logs_and_how_long_its_spans_take() {
    let program = cargo_build("logging").join("logging");
    let dac = Oasis::dac(&[]);
    let _program = Program::start(&program, &[dac.channel()]);
    assert_explained(&wait_for(&dac, "logger", "log", 4));
    let lines = tail(&dac, "logger/log", "4");
    let texts = |name: &str| -> Vec<&str> {
        lines.iter().map(|line| line["metrics"][name].as_str().unwrap()).collect()
    };
    // With tracing and with log, one as the other; and nothing below INFO.
    let says = ["the pump runs", "the valve is closed", "the pump runs", "the valve is open"];
    assert_eq!(texts("message"), says);
    assert_eq!(texts("target"), ["logging"; 4]);
    assert_eq!(texts("span")[0], "run");
    assert!(texts("file").iter().all(|file| file.ends_with("src/main.rs")), "{lines:?}");

    wait_for(&dac, "logger", "spans", 1);
    let span = &tail(&dac, "logger/spans", "1")[0]["metrics"];
    assert_eq!((span["name"].as_str(), span["outcome"].as_u64()), (Some("run"), Some(0)));
    assert!(span["duration"].as_u64() > Some(0), "{span}");
    let instance = instance(&dac, "logger", "log").unwrap();
    assert_eq!(instance["type"], "OASIS::Program::LogProbe");
}

#[test]
fn a_program_in_cpp_shows_what_it_logs_with_spdlog() {
    let Some(spdlog) = installed("spdlog", "libspdlog-dev") else { return };
    let folder = TempDir::new().unwrap();
    let source = "examples/logging/cpp/logging.cpp";
    let program = compile_with("c++", "-std=c++17", folder.path(), source, &spdlog);
    let dac = Oasis::dac(&[]);
    let _program = Program::start(&program, &[dac.channel()]);
    assert_explained(&wait_for(&dac, "logger-cpp", "log", 4));
    let lines = tail(&dac, "logger-cpp/log", "4");
    let of = |name: &str| -> Vec<&Value> { lines.iter().map(|line| &line["metrics"][name]).collect() };
    assert_eq!(
        of("message"),
        ["the valve is closed", "the valve is open", "the valve is closed", "the filter is dirty"]
    );
    assert_eq!(of("level"), [9, 9, 9, 17]);
    assert_eq!((of("file")[0], of("file")[3]), (&Value::from(""), &Value::from(source)));
    assert!(of("line")[3].as_u64() > Some(0), "{lines:?}");
}
