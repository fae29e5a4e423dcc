//! OTLP: the SDK of Python, JSON, tokens, sizes, kills; gRPC in `grpc`.

mod grpc;

use crate::harness::{
    Oasis, eventually, get, instance, kill_beneath, oasis, own_address, repository, run_in_accounts,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Command, Output},
};
use ureq::Agent;

const JSON: &str = "application/json";
/// Attempts of a request; each waits for the archive for 4 s.
const MAX_ATTEMPTS: usize = 15;

/// The options of a DAC with the inlet and an archive.
fn options(folder: &Path) -> Vec<String> {
    options_with(folder, "")
}

/// The same with more settings of the inlet.
fn options_with(folder: &Path, settings: &str) -> Vec<String> {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    fs::write(&config, format!("[otlp]\nenabled = true\n{settings}\n{others}")).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    vec!["--config".into(), path(&config), "--archive".into(), path(&folder.join("archive"))]
}

fn dac(folder: &Path, more: &[&str]) -> Oasis {
    let options = options(folder);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let dac = Oasis::dac(&[&options, more].concat());
    eventually("the handler runs", || (send(&dac, "", b"{}").0 != 404).then_some(()));
    dac
}

/// The Python that `make table-readers` installs the SDK for.
fn python() -> Command {
    let installed = || repository().join("target/venv/bin/python").into_os_string();
    Command::new(std::env::var_os("OASIS_TEST_PYTHON").unwrap_or_else(installed))
}

/// Sends metrics as JSON. Returns the status and the answer; status 0 if the DAC has ended.
///
/// An archive on a busy machine may take longer than the DAC waits: the request is sent again, as SDKs do.
fn send(dac: &Oasis, token: &str, body: &[u8]) -> (u16, String) {
    let answers = (0..MAX_ATTEMPTS).map(|_| send_once(dac.http(), token, body));
    let mut answers = answers.skip_while(|(status, _)| *status == 503);
    answers.next().unwrap_or_else(|| panic!("503 after {MAX_ATTEMPTS} attempts"))
}

fn send_once(http: &str, token: &str, body: &[u8]) -> (u16, String) {
    let agent: Agent =
        Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let mut request = agent.post(format!("{http}/v1/metrics")).header("content-type", JSON);
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    match request.send(body) {
        Ok(mut answer) => (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap_or_default()),
        Err(_) => (0, String::new()),
    }
}

/// Sends a request up to a part of its body. Returns the beginning of the answer.
fn request(dac: &Oasis, rest: &[u8]) -> String {
    let address = dac.http().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("POST /v1/metrics HTTP/1.1\r\nhost: {address}\r\ncontent-type: {JSON}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(rest).unwrap();
    let mut answer = [0; 2_048];
    let count = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

fn gauge(service: &str, time: u64, value: u64) -> Vec<u8> {
    let points = json!([{ "timeUnixNano": time.to_string(), "asInt": value.to_string() }]);
    let metric = json!({ "name": "level", "gauge": { "dataPoints": points } });
    let service = json!({ "key": "service.name", "value": { "stringValue": service } });
    let resource = json!({ "attributes": [service] });
    let of_resource = json!({ "resource": resource, "scopeMetrics": [{ "metrics": [metric] }] });
    json!({ "resourceMetrics": [of_resource] }).to_string().into_bytes()
}

fn sql(folder: &Path, arguments: &[&str]) -> String {
    let archive = folder.join("archive");
    let output = oasis().args(["sql", "--archive"]).arg(archive).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rows(folder: &Path, query: &str) -> Vec<Value> {
    let text = sql(folder, &["--format", "jsonl", query]);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All samples of a node, by instance and time.
fn samples(folder: &Path, node: &str) -> BTreeMap<(String, u64), Value> {
    let mut found = BTreeMap::new();
    let tables = sql(folder, &[".tables"]);
    // Others are not about samples.
    let tables =
        tables.lines().filter_map(|line| line.split_once(' ')).filter(|(_, of)| of.contains("samples of "));
    for (table, _) in tables {
        for row in rows(folder, &format!("SELECT * FROM {table} WHERE node = '{node}'")) {
            let key = (row["instance"].as_str().unwrap().to_owned(), row["time_ns"].as_u64().unwrap());
            assert!(found.insert(key, row).is_none(), "a sample is there twice");
        }
    }
    found
}

/// Returns a column as the SDK knows its value.
fn column(row: &Value, name: &str) -> Value {
    match &row[name] {
        Value::String(text) if text.starts_with('[') => serde_json::from_str(text).unwrap(),
        value => value.clone(),
    }
}

#[test]
fn the_sdk_of_python_finds_each_value_in_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), &[]);
    let script = repository().join("tests/end_to_end/otlp/client.py");
    let expected = expected(&python().arg(script).arg(dac.http()).output().unwrap());
    // 20 rounds of 11 series, 20 log records, 40 spans.
    assert!(expected.len() >= 20 * 11 + 20 + 40, "{}", expected.len());
    for node in ["otlp-shop-hall-1", "otlp-json-hall-1"] {
        compare(folder.path(), node, &expected);
    }
}

/// Returns the samples that a client expects in the archive: lines of instance, time and columns.
fn expected(done: &Output) -> Vec<(String, u64, Value)> {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = std::str::from_utf8(&done.stdout).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn compare(folder: &Path, node: &str, expected: &[(String, u64, Value)]) {
    let found = samples(folder, node);
    assert_eq!(found.len(), expected.len(), "{node}");
    for (instance, time, columns) in expected {
        let row = &found[&(instance.clone(), *time)];
        for (name, value) in columns.as_object().unwrap() {
            assert!(is_same(&column(row, name), value), "{node}/{instance}: {name} of {row} is not {value}");
        }
    }
}

/// Whether both are equal. Go writes a real without a fraction as a whole number.
fn is_same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => found == expected,
    }
}

mod of_go {
    use super::*;

    /// `make test-go` runs it, where Go is installed.
    #[test]
    fn the_sdk_of_go_finds_each_value_in_the_archive() {
        let folder = tempfile::tempdir().unwrap();
        let dac = dac(folder.path(), &[]);
        send(folder.path(), "http", dac.http().trim_start_matches("http://"));
    }

    #[test]
    fn the_sdk_of_go_finds_each_value_that_it_sent_over_grpc() {
        let folder = tempfile::tempdir().unwrap();
        let (_dac, address) = grpc::dac_with_archive(folder.path());
        send(folder.path(), "grpc", &address);
    }

    /// Sends over a protocol to an address, and compares the archive.
    fn send(folder: &Path, protocol: &str, address: &str) {
        let mut client = Command::new("go");
        client.current_dir(repository().join("tests/end_to_end/otlp/go"));
        let expected = expected(&client.args(["run", ".", protocol, address]).output().unwrap());
        // 10 rounds of 9 series, 20 spans.
        assert_eq!(expected.len(), 10 * 9 + 20);
        compare(folder, "otlp-gopher-hall-2", &expected);
    }
}

#[test]
fn the_program_of_the_guide_becomes_an_instance() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), &[]);
    let guide = fs::read_to_string(repository().join("docs/guides/receive-opentelemetry.md")).unwrap();
    let (_, program) = guide.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let done = python()
        .args(["-c", program])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", dac.http())
        .env("OTEL_SERVICE_NAME", "pump")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let found = samples(folder.path(), "otlp-pump");
    assert!(found.len() >= 3 && found.keys().all(|(name, _)| name == "temperature,pump=p1"), "{found:?}");
    let first: Vec<_> = found.values().take(3).map(|row| row["value"].clone()).collect();
    assert_eq!(first, [21.5, 22.5, 23.5]);
}

/// A DAC with an address for OTLP alone.
fn dac_with_listener(folder: &Path, listen: &str, more: &[&str]) -> Oasis {
    let config = folder.join("oasis.toml");
    let text = format!("[otlp]\nenabled = true\nlisten = {listen:?}\n\n[rules]\nenabled = false\n");
    fs::write(&config, text).unwrap();
    let dac = Oasis::dac(&[&["--config", config.to_str().unwrap()], more].concat());
    assert_eq!(dac.fact("otlp"), listen);
    dac
}

fn status(listen: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
    let mut request = agent.post(format!("http://{listen}{path}")).header("content-type", JSON);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send(&b"{}"[..]).unwrap().status().as_u16()
}

#[test]
fn an_sdk_sends_to_the_address_of_otlp_which_has_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let listen = own_address();
    let dac = dac_with_listener(folder.path(), &listen, &[]);
    let guide = fs::read_to_string(repository().join("docs/guides/receive-opentelemetry.md")).unwrap();
    let (_, program) = guide.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let done = python()
        .args(["-c", program])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{listen}"))
        .env("OTEL_SERVICE_NAME", "pump")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let received = &instance(&dac, "otlp-pump", "temperature,pump=p1").unwrap()["ledger"]["received"];
    assert!(received.as_u64() >= Some(3), "{received}");

    for path in ["/v1/metrics", "/v1/logs", "/v1/traces"] {
        assert_eq!(status(&listen, path, &[]), 200, "{path}");
        // Hosts and origins are checked as at the address of the page.
        assert_eq!(status(&listen, path, &[("host", "foreign.example")]), 421, "{path}");
        assert_eq!(status(&listen, path, &[("origin", "http://evil.example")]), 403, "{path}");
    }
    for path in [
        "/",
        "/api/v1/nodes",
        "/metrics",
        "/healthz",
        "/ws",
        "/api/v1/write",
        "/v1/metrics/",
        "/v1/x",
        "//v1/logs",
    ] {
        assert_eq!(status(&listen, path, &[]), 404, "{path}");
        let got = ureq::get(format!("http://{listen}{path}")).call();
        assert!(matches!(got, Err(ureq::Error::StatusCode(404))), "{path}: {got:?}");
    }
}

#[test]
fn the_address_of_otlp_asks_for_a_token_once_there_are_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access");
    let access = access.to_str().unwrap();
    let run = |arguments: &[&str]| run_in_accounts(access, arguments);
    let listen = own_address();
    let _dac = dac_with_listener(folder.path(), &listen, &["--access", access, "--local", "token"]);
    run(&["role", "set", "sdk", "--allow", "write otlp-pump/*"]);
    let [writer, viewer] = [("sdk", "sdk"), ("viewer", "viewer")]
        .map(|(name, role)| run(&["token", "create", name, "--role", role]));
    let with = |token: &str| status(&listen, "/v1/logs", &[("authorization", &format!("Bearer {token}"))]);
    eventually("the DAC has read the tokens", || (with(&writer) == 200).then_some(()));
    assert_eq!((status(&listen, "/v1/logs", &[]), with("wrong"), with(&viewer)), (401, 401, 403));
}

#[test]
fn a_token_that_may_write_is_needed_once_there_are_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access");
    let access = access.to_str().unwrap();
    let run = |arguments: &[&str]| run_in_accounts(access, arguments);
    let dac = dac(folder.path(), &["--access", access, "--local", "token"]);
    run(&["role", "set", "sdk", "--allow", "write otlp-shop/*"]);
    let writer = run(&["token", "create", "sdk", "--role", "sdk"]);
    let viewer = run(&["token", "create", "viewer", "--role", "viewer"]);
    eventually("the DAC has read the tokens", || (send(&dac, &viewer, b"{}").0 != 401).then_some(()));
    let status = |token: &str, service: &str| send(&dac, token, &gauge(service, 1, 1)).0;
    assert_eq!(status("", "shop"), 401);
    assert_eq!(status(&viewer, "shop"), 403);
    assert_eq!(status(&writer, "shop"), 200);
    assert_eq!(status(&writer, "mail"), 403);
}

#[test]
fn a_body_that_is_too_long_is_refused_and_the_next_one_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), &[]);
    let declared = request(&dac, b"content-length: 9437184\r\n\r\n");
    assert!(declared.starts_with("HTTP/1.1 413 "), "{declared}");
    // Without a length the DAC cannot know whether it is too long or late.
    let too_long = 8 * 1024 * 1024 + 1;
    let head = format!("transfer-encoding: chunked\r\n\r\n{too_long:x}\r\n");
    let undeclared = request(&dac, &[head.as_bytes(), &vec![b' '; too_long], b"\r\n"].concat());
    assert!(undeclared.starts_with("HTTP/1.1 503 "), "{undeclared}");
    assert!(undeclared.contains("retry-after: 1\r\n"), "{undeclared}");
    let (status, answer) = send(&dac, "", b"{\"resourceMetrics\": 1}");
    assert!(status == 400 && answer.starts_with("{\"code\":3,"), "{answer}");
    assert_eq!(send(&dac, "", &gauge("shop", 1, 1)), (200, "{}".into()));
}

/// Points of a sum, each with a time of its own, whose values name the request.
fn sum(number: u64) -> Vec<u8> {
    let point = |at: u64| {
        let state = json!({ "key": "state", "value": { "stringValue": if at.is_multiple_of(2) { "idle" } else { "busy" } } });
        let time = 1_700_000_000_000_000_000 + number * 1_000 + at;
        json!({ "attributes": [state], "timeUnixNano": time.to_string(), "asInt": number.to_string() })
    };
    let points: Vec<_> = (0..40).map(point).collect();
    let sum = json!({ "aggregationTemporality": 1, "isMonotonic": true, "dataPoints": points });
    let of_resource = json!({ "scopeMetrics": [{ "metrics": [{ "name": "work", "sum": sum }] }] });
    json!({ "resourceMetrics": [of_resource] }).to_string().into_bytes()
}

#[test]
fn a_request_that_a_killed_dac_did_not_answer_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = dac(folder.path(), &[]);
    assert_eq!(send(&first, "", &sum(0)).0, 200);
    first.kill();
    // The sender does not know that.
    let second = dac(folder.path(), &[]);
    assert_eq!(send(&second, "", &sum(0)).0, 200);
    assert_eq!(send(&second, "", &sum(1)).0, 200);
    let handlers = get(&second, "/api/v1/handlers");
    let state =
        &handlers["handlers"].as_array().unwrap().iter().find(|one| one["name"] == "otlp").unwrap()["state"];
    assert_eq!(state["repeated_samples"], 40, "{state}");
    drop(second);
    let found = rows(folder.path(), "SELECT count(*) AS n, count(DISTINCT time_ns) AS times FROM work");
    assert_eq!(found[0], json!({ "n": 80, "times": 80 }));
}

#[test]
fn what_is_acknowledged_is_stored_once_whenever_the_dac_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let acknowledged = kill_beneath(&options, |http, number| {
        send_once(&format!("http://{http}"), "", &sum(number)).0 == 200
    });
    let found = rows(
        folder.path(),
        "SELECT value, count(*) AS n, count(DISTINCT time_ns) AS times FROM work GROUP BY value",
    );
    let expected: Vec<_> =
        (0..acknowledged).map(|number| json!({ "value": number, "n": 40, "times": 40 })).collect();
    assert_eq!(found, expected);
}
