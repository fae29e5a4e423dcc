//! `/metrics` and `oasis handlers`, with real processes.

use crate::harness::{Oasis, eventually, get, has_program, oasis, post_from};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Status, media type and text.
fn scrape(dac: &Oasis, accept: &str) -> (u16, String, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut answer = agent.get(format!("{}/metrics", dac.http())).header("Accept", accept).call().unwrap();
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    (answer.status().as_u16(), kind, answer.body_mut().read_to_string().unwrap())
}

fn condition(dac: &Oasis) -> Value {
    get(dac, "/api/v1/handlers")["handlers"][0]["condition"].clone()
}

#[test]
fn prometheus_reads_counters_and_newest_values() {
    let dac = Oasis::up(&["--name", "plant \"7\"\\", "--probe", "memory@20", "--probe", "heartbeat@20"]);
    let text = eventually("values at /metrics", || {
        let (status, kind, text) = scrape(&dac, "text/plain");
        if status == 404 {
            // The handler does not run yet.
            return None;
        }
        assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
        let has = |part: &str| text.contains(part);
        (has("memory_probe_") && has("oasis_dac_samples_received_total{") && has("heartbeat")).then_some(text)
    });
    assert!(text.contains(r#"node="plant \"7\"\\""#), "{text}");
    let (status, kind, newer) = scrape(&dac, "application/openmetrics-text; version=1.0.0");
    assert_eq!((status, &*kind), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(newer.ends_with("# EOF\n"), "{newer}");
    if !has_program("promtool", "prometheus") {
        return;
    }
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let checked = promtool.wait_with_output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
    // 1: cannot be parsed. 3: style of names, such as a unit that is not a base unit.
    assert_ne!(checked.status.code(), Some(1), "{said}\n{text}");
    assert!(!said.contains("oasis_dac_"), "the DAC's own names follow the rules: {said}");
}

#[test]
fn a_handler_is_stopped_and_started_while_the_dac_runs() {
    let dac = Oasis::dac(&[]);
    assert_eq!(condition(&dac), "running");
    let run = |arguments: &[&str]| {
        let output = oasis().arg("handlers").args(arguments).args(["--url", dac.http()]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let all = "openmetrics         running\nnotify              running\nrules               running\n";
    assert_eq!(run(&[]), (true, all.into(), String::new()));
    assert_eq!(run(&["stop", "openmetrics"]).1, "openmetrics         stopped\n");
    let (status, _, problem) = scrape(&dac, "");
    assert_eq!(status, 404);
    assert!(problem.contains("oasis handlers start openmetrics"), "{problem}");
    assert_eq!(run(&["start", "openmetrics"]).1, "openmetrics         running\n");
    eventually("/metrics again", || (scrape(&dac, "").0 == 200).then_some(()));
    let (is_success, _, error) = run(&["stop", "postgres"]);
    assert!(
        !is_success
            && error.contains("unknown handler \"postgres\": configured are openmetrics, notify, rules"),
        "{error}"
    );
}

#[test]
fn pages_of_other_sites_control_no_handler() {
    let dac = Oasis::dac(&[]);
    let (status, problem) =
        post_from(&dac, "/api/v1/handlers/openmetrics/stop", &json!({}), "http://evil.example");
    assert_eq!((status, &problem["type"]), (403, &json!("/problems/origin")));
    assert_eq!(condition(&dac), "running");
}
