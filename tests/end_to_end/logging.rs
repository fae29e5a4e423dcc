//! Programs that log with their usual libraries, and the output of `oasis tail`.

use crate::harness::{
    Oasis, Program, assert_explained, built, compile_with, installed, instance, ledger, oasis, post,
};
use serde_json::{Value, json};
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
    let program = built("logging");
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
fn records_are_found_by_level_text_and_field() {
    let program = built("logging");
    let folder = TempDir::new().unwrap();
    let dac = Oasis::dac(&["--archive", folder.path().to_str().unwrap()]);
    let program = Program::start(&program, &[dac.channel()]);
    wait_for(&dac, "logger", "log", 4);
    // The program would log more meanwhile.
    drop(program);
    let found = |request: Value| {
        let (status, answer) = post(&dac, "/api/v1/search", &request);
        assert_eq!((status, &answer["next"]), (200, &Value::Null), "{answer}");
        let records = answer["records"].as_array().unwrap().iter();
        let message = |record: &Value| record["metrics"]["message"].as_str().unwrap_or_default().to_owned();
        records.map(message).filter(|message| !message.is_empty()).collect::<Vec<_>>()
    };
    let all = ["the pump runs", "the valve is closed", "the pump runs", "the valve is open"];
    assert_eq!(found(json!({"level": "TRACE", "order": "oldest"}))[..4], all);
    let valves = found(json!({"text": "VALVE the"}));
    assert!(valves.len() >= 2 && valves.iter().all(|message| message.contains("the valve is")), "{valves:?}");
    let open = found(json!({"fields": ["message=the valve is open"]}));
    assert!(!open.is_empty() && open.iter().all(|message| message == "the valve is open"), "{open:?}");
    assert!(found(json!({"level": "FATAL"})).is_empty());
    assert!(found(json!({"text": "valve", "instances": [{"node": "other*", "instance": "*"}]})).is_empty());
    assert!(found(json!({"text": "valve", "until": 1})).is_empty());
    for (request, place) in [
        (json!({"fields": ["message"]}), "fields: a field is written NAME=VALUE"),
        (json!({"after": "x"}), "after: it is no cursor"),
        (json!({"level": "NOPE"}), "use one of DEBUG, ERROR, FATAL, INFO, TRACE, WARN"),
        (json!({"instances": [{"node": "", "instance": "*"}]}), "a pattern has 1 to 256 bytes"),
    ] {
        let (status, problem) = post(&dac, "/api/v1/search", &request);
        assert_eq!(status, 422, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(place), "{problem}");
    }
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
