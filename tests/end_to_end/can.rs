//! Frames of a CAN bus: `vcan` where the kernel has it, otherwise the same frames through a Unix socket.

use crate::harness::{Oasis, eventually_shown, get, instance, ledger, repository};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

/// Databases of the corpus, each with a log.
const CASES: [&str; 11] = [
    "abs",
    "floating_point",
    "foobar",
    "issue_184_extended_mux_cascaded",
    "issue_184_extended_mux_multiple_values",
    "j1939",
    "long_names",
    "motohawk",
    "multiplex_2",
    "signed",
    "socialledge",
];

fn dac(folder: &Path, settings: &str) -> Oasis {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    fs::write(&config, format!("[can]\n{settings}\n{others}")).unwrap();
    let archive = folder.join("archive");
    Oasis::dac(&["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()])
}

/// An interface `vcan` of this test, or the path of a socket.
struct Bus {
    name: String,
    is_interface: bool,
}

impl Bus {
    fn new(folder: &Path) -> Self {
        let name = format!("oasis{}", std::process::id() % 100_000);
        let ip = |arguments: &[&str]| {
            Command::new("ip").args(arguments).output().is_ok_and(|done| done.status.success())
        };
        let is_interface =
            ip(&["link", "add", "dev", &name, "type", "vcan"]) && ip(&["link", "set", &name, "up"]);
        if is_interface {
            Self { name, is_interface }
        } else {
            Self { name: folder.join("bus.can").to_str().unwrap().to_owned(), is_interface }
        }
    }

    fn setting(&self) -> String {
        if self.is_interface { self.name.clone() } else { format!("socket:{}", self.name) }
    }

    fn node(&self) -> String {
        format!("can-{}", if self.is_interface { &self.name } else { "bus" })
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        if self.is_interface {
            let _ = Command::new("ip").args(["link", "delete", &self.name]).status();
        }
    }
}

fn state(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found = handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "can");
    found.unwrap_or_else(|| panic!("no handler in {handlers}"))["state"]["interfaces"][0].clone()
}

fn until(dac: &Oasis, what: &str, is_met: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let state = state(dac);
        if is_met(&state) { Ok(state) } else { Err(state) }
    })
}

/// The metrics of all samples of an instance.
fn samples(dac: &Oasis, node: &str, instance: &str) -> Vec<Value> {
    let document = get(dac, &format!("/api/v1/samples?node={node}&instance={instance}&from=earliest"));
    let messages = document["messages"].as_array().cloned().unwrap_or_default();
    let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
    samples.map(|sample| sample["metrics"].clone()).collect()
}

/// Sends the frames of a log. Returns what cantools decodes.
fn send(bus: &Bus, case: &str) -> Value {
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let corpus = repository().join("crates/format/tests/corpus/candump");
    let mut command = Command::new(&python);
    command.arg(repository().join("tests/end_to_end/can/bus.py")).arg(&bus.name);
    command.arg(corpus.join(format!("{case}.dbc"))).arg(corpus.join(format!("{case}.log")));
    let done =
        command.output().unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn is_same(found: &Value, sent: &Value) -> bool {
    match (found.as_f64(), sent.as_f64()) {
        (Some(found), Some(sent)) => (found - sent).abs() <= sent.abs() * 1e-12,
        _ => found == sent,
    }
}

#[test]
fn signals_of_recorded_frames_are_those_of_cantools() {
    let mut compared = 0;
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let bus = Bus::new(folder.path());
        let dbc = repository().join(format!("crates/format/tests/corpus/candump/{case}.dbc"));
        let settings = format!("interfaces = ['{}']\ndbc = ['{}']", bus.setting(), dbc.display());
        let dac = dac(folder.path(), &settings);
        until(&dac, "the interface", |state| state["open"] == true);
        let sent = send(&bus, case);
        let frames =
            ledger(&dac, &bus.node(), "frames", "all frames", |ledger| ledger["received"] == sent["frames"]);
        assert_eq!(frames["missing"], 0, "{frames}");
        for (message, expected) in sent["values"].as_object().unwrap() {
            let expected: Vec<_> =
                expected.as_array().unwrap().iter().filter(|values| !values.is_null()).collect();
            if expected.is_empty() {
                continue;
            }
            let found = samples(&dac, &bus.node(), message);
            assert_eq!(found.len(), expected.len(), "{case} {message}: {}", state(&dac));
            for (found, expected) in found.iter().zip(expected) {
                for (signal, value) in expected.as_object().unwrap() {
                    assert!(
                        is_same(&found[signal], value),
                        "{case} {message}.{signal}: {value}, found {}",
                        found[signal]
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_bus_has_figures_and_frames_are_not_kept_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let bus = Bus::new(folder.path());
    let dac = dac(
        folder.path(),
        &format!("interfaces = ['{}']\nframes = false\nbit_rate = 500_000", bus.setting()),
    );
    until(&dac, "the interface", |state| state["open"] == true);
    let sent = send(&bus, "socialledge");
    let state = until(&dac, "all frames", |state| state["frames"] == sent["frames"]);
    assert_eq!(state["undescribed_frames"], sent["frames"], "no database describes them: {state}");
    assert!(instance(&dac, &bus.node(), "frames").is_none());
    eventually_shown("the figures", || {
        let figures = samples(&dac, &bus.node(), "bus").pop().unwrap_or_default();
        if figures["frames"] == sent["frames"] && figures["load"].is_number() { Ok(()) } else { Err(figures) }
    });
}

#[test]
fn an_interface_that_is_missing_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "interfaces = ['nocan0']");
    let state = until(&dac, "the failure", |state| state["newest_failure"].is_string());
    assert_eq!(state["open"], json!(false), "{state}");
}
