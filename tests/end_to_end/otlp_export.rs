//! Newest values and alarms for a collector of OpenTelemetry (`docs/guides/send-to-opentelemetry.md`), which reads them with the definitions of the
//! protocol.

use crate::{
    harness::{Oasis, TEST_TIMEOUT, eventually, oasis, repository},
    notify::Pump,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

const RULES: &str = r#"input pump = "*/pump" : Pump;

derive Double every 1s { twice = pump.temperature * 2; }

alarm Hot {
  raise pump.temperature > 95;
  clear pump.temperature < 90;
  message "{node} is hot";
}
"#;

/// The collector of `otlp/collector.py`; it ends with this.
struct Collector {
    child: Child,
    port: u64,
    lines: Receiver<Value>,
}

impl Collector {
    fn start(port: u64) -> Self {
        let installed = || repository().join("target/venv/bin/python").into_os_string();
        let mut child = Command::new(std::env::var_os("OASIS_TEST_PYTHON").unwrap_or_else(installed))
            .arg(repository().join("tests/end_to_end/otlp/collector.py"))
            .arg(port.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let first: Value = lines.recv_timeout(TEST_TIMEOUT).expect("the collector does not start");
        Self { child, port: first["port"].as_u64().unwrap(), lines }
    }

    /// The next line for which this holds.
    fn next(&self, what: &str, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        eventually(what, || self.lines.recv_timeout(TEST_TIMEOUT).ok().filter(&mut is_it))
    }

    fn value(&self, metric: &str, value: f64) -> Value {
        self.next(metric, |line| line["metric"] == metric && line["value"].as_f64() == Some(value))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn dac(folder: &Path, port: u64) -> Oasis {
    let [rules, state, config] = ["a.rules", "state", "oasis.toml"].map(|name| folder.join(name));
    fs::write(&rules, RULES).unwrap();
    let token = folder.join("token");
    fs::write(&token, "hush\n").unwrap();
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let text = format!(
        "[rules]\nfiles = [{rules:?}]\ndirectory = {state:?}\n\
         [otlp_export]\nendpoint = \"http://127.0.0.1:{port}\"\ninstances = [\"*\"]\ninterval_seconds = 1\ntoken_file = {token:?}\n\
         [notify.collector]\nkind = \"otlp\"\nurl = \"http://127.0.0.1:{port}/\"\n"
    );
    fs::write(&config, text).unwrap();
    Oasis::dac(&["--config", config.to_str().unwrap()])
}

/// The state of the handler.
fn state(dac: &Oasis) -> Value {
    let output = oasis().args(["handlers", "--json", "--url", dac.http()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.find(|handler| handler["name"] == "otlp_export").unwrap()
}

#[test]
fn values_with_units_results_of_rules_and_alarms_reach_a_collector_that_is_away_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start(0);
    let port = collector.port;
    let dac = dac(folder.path(), port);
    let mut pump = Pump::connect(&dac);
    pump.send(21.5);

    let value = collector.value("pump.temperature", 21.5);
    let found = (&value["node"], &value["oasis.instance"], &value["unit"], &value["kind"]);
    assert_eq!(found, (&json!("plant"), &json!("pump"), &json!("Cel"), &json!("gauge")));
    assert_eq!(value["authorization"], "Bearer hush");
    // A period ends with a sample after it.
    let derived = collector.next("the derived instance", |line| {
        pump.send(21.5);
        line["node"] == "rules" && line["value"] == 43.0
    });
    assert_eq!((&derived["metric"], &derived["unit"]), (&json!("oasis_rules_double.twice"), &json!("Cel")));

    pump.send(96.0);
    let alarm = collector.next("the alarm", |line| line["event"] == "oasis.alarm.raised");
    assert_eq!((&alarm["body"], &alarm["severity"]), (&json!("plant is hot"), &json!("WARN")));
    assert_eq!((&alarm["oasis.node"], &alarm["oasis.alarm.value"]), (&json!("plant"), &json!(96.0)));

    drop(collector);
    pump.send(80.0);
    eventually("requests fail", || {
        (state(&dac)["state"]["failed_requests"].as_u64() > Some(0)).then_some(())
    });
    let collector = Collector::start(port);
    // Both come in any order: the newest value at an interval, the alarm when its destination is tried again.
    let (mut has_value, mut has_clear) = (false, false);
    collector.next("the newest value, and the alarm that has cleared", |line| {
        has_value |= line["metric"] == "pump.temperature" && line["value"] == 80.0;
        has_clear |= line["event"] == "oasis.alarm.cleared";
        has_value && has_clear
    });
    assert_eq!(state(&dac)["state"]["rejected_points"], 0);
}
