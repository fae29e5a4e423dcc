//! Line protocol: the official client of InfluxDB, tokens, kills.

use crate::harness::{Oasis, eventually, get, kill_beneath, oasis, repository, run_in_accounts};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path, process::Command};
use ureq::Agent;

/// The options of a DAC with the inlet and an archive.
fn options(folder: &Path) -> Vec<String> {
    let config = folder.join("oasis.toml");
    fs::write(&config, "[influxdb]\nenabled = true\n\n[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n")
        .unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    vec!["--config".into(), path(&config), "--archive".into(), path(&folder.join("archive"))]
}

fn dac(folder: &Path, more: &[&str]) -> Oasis {
    let options = options(folder);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let dac = Oasis::dac(&[&options, more].concat());
    eventually("the handler runs", || (write(&dac, "/write", "", "").0 != 404).then_some(()));
    dac
}

fn write(dac: &Oasis, path: &str, token: &str, body: &str) -> (u16, String) {
    write_to(&format!("{}{path}", dac.http()), token, body)
}

/// Returns the status and the body of the answer; status 0 if the DAC has ended.
fn write_to(url: &str, token: &str, body: &str) -> (u16, String) {
    let agent: Agent =
        Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let mut request = agent.post(url);
    if !token.is_empty() {
        request = request.header("authorization", token);
    }
    match request.send(body) {
        Ok(mut answer) => (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap_or_default()),
        // The process was killed.
        Err(_) => (0, String::new()),
    }
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

/// All samples of a node as field values, by instance, time and field.
fn fields(folder: &Path, node: &str) -> BTreeMap<(String, u64, String), Value> {
    let tables = sql(folder, &[".tables"]);
    let tables = tables.lines().filter_map(|line| line.split_whitespace().next());
    let mut found = BTreeMap::new();
    for table in tables.filter(|table| table.starts_with("pump")) {
        let query = format!("SELECT * FROM {table} WHERE node = '{node}'");
        for row in rows(folder, &query) {
            let absent = row["oasis.absent"].as_str().unwrap_or_default().to_owned();
            for (name, value) in row.as_object().unwrap() {
                if ["rpm", "starts", "is_on", "note"].contains(&&**name)
                    && !absent.contains(&format!("{name:?}"))
                {
                    let time = row["time_ns"].as_u64().unwrap();
                    let key = (row["instance"].as_str().unwrap().to_owned(), time, name.clone());
                    assert!(found.insert(key, value.clone()).is_none(), "{row} is there twice");
                }
            }
        }
    }
    found
}

#[test]
fn the_official_client_finds_each_value_in_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), &[]);
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let script = repository().join("tests/end_to_end/influxdb/client.py");
    let done = Command::new(&python).arg(script).args([dac.http(), ""]).output();
    let done = done.unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut expected = BTreeMap::new();
    for line in String::from_utf8(done.stdout).unwrap().lines() {
        let (series, time, field, value): (String, u64, String, Value) = serde_json::from_str(line).unwrap();
        expected.insert((series, time, field), value);
    }
    assert_eq!(expected.len(), 620);
    let found = fields(folder.path(), "influxdb-hall-1");
    assert_eq!(found.len(), expected.len());
    for (key, value) in &expected {
        // SQLite has no booleans.
        let value = value.as_bool().map_or(value.clone(), |is_true| u8::from(is_true).into());
        assert_eq!(found[key], value, "{key:?}");
    }
}

#[test]
fn a_token_that_may_write_is_needed_once_there_are_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access");
    let access = access.to_str().unwrap();
    let run = |arguments: &[&str]| run_in_accounts(access, arguments);
    let dac = dac(folder.path(), &["--access", access, "--local", "token"]);
    run(&["role", "set", "telegraf", "--allow", "write *"]);
    let writer = run(&["token", "create", "telegraf", "--role", "telegraf"]);
    run(&["role", "set", "hall-1", "--allow", "write influxdb-hall-1/*"]);
    let restricted = run(&["token", "create", "hall-1", "--role", "hall-1"]);
    let viewer = run(&["token", "create", "viewer", "--role", "viewer"]);
    eventually("the DAC has read the tokens", || {
        (write(&dac, "/write", &format!("Bearer {viewer}"), "").0 != 401).then_some(())
    });
    let status = |token: &str, body: &str| write(&dac, "/api/v2/write?bucket=b", token, body).0;
    let (unauthorized, body) = write(&dac, "/api/v2/write?bucket=b", "", "cpu v=1");
    assert!(unauthorized == 401 && body.contains(r#""code":"unauthorized""#), "{body}");
    assert!(body.contains(r#""message":"#), "{body}");
    assert_eq!(status(&format!("Token {viewer}"), "cpu v=1"), 403);
    assert_eq!(status(&format!("Token {writer}"), "cpu v=1"), 204);
    assert_eq!(status(&format!("Bearer {restricted}"), "cpu,host=hall-1 v=1"), 204);
    assert_eq!(status(&format!("Token {restricted}"), "cpu,host=hall-2 v=1"), 403);
}

#[test]
fn pages_of_other_sites_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), &[]);
    let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
    let foreign =
        agent.post(format!("{}/write", dac.http())).header("origin", "https://evil.example").send("cpu v=1");
    assert_eq!(foreign.unwrap().status(), 403);
}

/// Points of three series, each with a time of its own.
fn body(number: u64) -> String {
    let line = |at: u64| {
        let time = 1_700_000_000_000_000_000 + number * 1_000 + at;
        format!("pump,host=a,series={} number={number}i,at={at}i {time}\n", at % 3)
    };
    (0..60).map(line).collect()
}

#[test]
fn a_request_that_a_killed_dac_did_not_answer_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = dac(folder.path(), &[]);
    assert_eq!(write(&first, "/write", "", &body(0)).0, 204);
    first.kill();
    // The sender does not know that.
    let second = dac(folder.path(), &[]);
    assert_eq!(write(&second, "/write", "", &body(0)).0, 204);
    assert_eq!(write(&second, "/write", "", &body(1)).0, 204);
    let handlers = get(&second, "/api/v1/handlers");
    let state = &handlers["handlers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "influxdb")
        .unwrap()["state"];
    assert_eq!(
        (&state["repeated_samples"], &state["repeated_requests"]),
        (&Value::from(60), &Value::from(0)),
        "{state}"
    );
    drop(second);
    let found = rows(
        folder.path(),
        "SELECT count(*) AS n, count(DISTINCT time_ns) AS times, max(sequence) AS last FROM pump",
    );
    assert_eq!(found[0], serde_json::json!({"n": 120, "times": 120, "last": 20}));
}

#[test]
fn what_is_acknowledged_is_stored_once_whenever_the_dac_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let acknowledged = kill_beneath(&options, |http, number| {
        write_to(&format!("http://{http}/write"), "", &body(number)).0 == 204
    });
    let found = rows(
        folder.path(),
        "SELECT number, count(*) AS n, count(DISTINCT at) AS different FROM pump GROUP BY number",
    );
    let expected: Vec<_> = (0..acknowledged)
        .map(|number| serde_json::json!({"number": number, "n": 60, "different": 60}))
        .collect();
    assert_eq!(found, expected);
}
