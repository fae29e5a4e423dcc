//! Settings that last over runs of nodes and of the DAC, and labels.

use crate::harness::{
    Guarded, Oasis, eventually, eventually_shown, get, instance, ledger, oasis, post, request,
};
use serde_json::{Value, json};
use std::path::Path;

const COMMANDS: &str = "/api/v1/commands";

fn dac(folder: &Path) -> Oasis {
    Oasis::dac(&["--config", &config(folder)])
}

/// A file that says where settings are.
fn config(folder: &Path) -> String {
    let path = folder.join("oasis.toml");
    let settings = folder.join("settings");
    std::fs::write(&path, format!("[channel]\nsettings_dir = {settings:?}\n")).unwrap();
    path.display().to_string()
}

fn node(dac: &Oasis, name: &str) -> Oasis {
    let probes = ["--probe", "processor", "--probe", "memory"];
    let arguments = [&["node", "--name", name, "--dac", dac.channel()][..], &probes].concat();
    let node = Oasis::start_as_written(oasis(), &arguments);
    ledger(dac, name, "memory", "a sample", |ledger| ledger["received"] != 0);
    node
}

/// Kills a node and starts it again. Until the DAC knows of the new run, it shows the state of the old one.
fn another_run(dac: &Oasis, name: &str, old: Oasis) -> Oasis {
    let is = |state: &str| {
        let nodes = get(dac, "/api/v1/nodes");
        let found = nodes["nodes"].as_array().into_iter().flatten().find(|node| node["name"] == name);
        if found.is_some_and(|node| node["state"] == state) { Ok(()) } else { Err(nodes) }
    };
    old.kill();
    eventually_shown("the node is offline", || is("offline"));
    let new = node(dac, name);
    eventually_shown("the node is online", || is("online"));
    new
}

fn give(dac: &Oasis, node: &str, command: Value) -> Value {
    let mut body = json!({"node": node, "instance": "processor"});
    body.as_object_mut().unwrap().extend(command.as_object().unwrap().clone());
    let (status, answer) = post(dac, COMMANDS, &body);
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

/// The states of the settings of an instance, by their names.
fn states(dac: &Oasis, node: &str) -> Vec<(String, String)> {
    let found = instance(dac, node, "processor").unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("run").to_owned();
    let all = found["settings"].as_array().into_iter().flatten();
    all.map(|setting| (text(&setting["setting"]), text(&setting["kept"]["state"]))).collect()
}

fn has(name: &str, state: &str) -> (String, String) {
    (name.into(), state.into())
}

fn hertz(dac: &Oasis, node: &str) -> Value {
    instance(dac, node, "processor").unwrap_or_default()["hertz"].clone()
}

#[test]
fn what_is_kept_outlives_runs_of_the_node_and_a_killed_dac_and_a_reset_returns_to_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let first = dac(folder.path());
    let plant = node(&first, "plant");
    let other = node(&first, "other");
    give(&first, "plant", json!({"command": "hertz", "hertz": 5, "keep": true}));
    give(&first, "plant", json!({"command": "disable"}));
    assert_eq!(states(&first, "plant"), [has("rate", "applied"), has("enabled", "run")]);
    assert_eq!(states(&first, "other"), [], "the same instance of another node");

    // Another run of the node.
    let plant = another_run(&first, "plant", plant);
    // The run before has this rate too, but it is disabled: an enabled instance is the new run.
    let is_enabled = || instance(&first, "plant", "processor").unwrap()["enabled"] == true;
    eventually("it is enabled: that was for one run", || is_enabled().then_some(()));
    eventually("the kept rate", || (hertz(&first, "plant") == 5.0).then_some(()));
    eventually("it is noted", || (states(&first, "plant") == [has("rate", "applied")]).then_some(()));
    assert_eq!(hertz(&first, "other"), 1.0);
    let journal = get(&first, COMMANDS);
    let by = journal["commands"].as_array().unwrap().iter().any(|entry| entry["who"] == "kept by local");
    assert!(by, "{journal}");

    // A user sets another rate for this run; the same run connects to the DAC that comes back after a kill.
    give(&first, "plant", json!({"command": "hertz", "hertz": 7}));
    assert_eq!(states(&first, "plant"), [has("rate", "replaced")]);
    let (listen, channel) = (first.listen().to_owned(), first.channel().to_owned());
    first.kill();
    let second = Oasis::dac_at(&listen, &channel, &["--config", &config(folder.path())]);
    eventually("the node is back", || (hertz(&second, "plant") == 7.0).then_some(()));
    assert_eq!(states(&second, "plant"), [has("rate", "replaced")], "the run goes on as it was");

    // The next run has it again, at this DAC too.
    let plant = another_run(&second, "plant", plant);
    eventually("the kept rate", || (hertz(&second, "plant") == 5.0).then_some(()));
    let answer = give(&second, "plant", json!({"command": "reset"}));
    assert_eq!(answer["hertz"], 1.0, "as the program has declared: {answer}");
    assert_eq!(states(&second, "plant"), []);
    let _plant = another_run(&second, "plant", plant);
    assert_eq!(hertz(&second, "plant"), 1.0);
    assert_eq!(get(&second, "/api/v1/settings"), json!({"kept_in": "disk", "settings": []}));
    drop(other);
}

#[test]
fn a_stale_setting_waits_is_listed_and_can_be_reset() {
    let folder = tempfile::tempdir().unwrap();
    let first = dac(folder.path());
    let plant = node(&first, "plant");
    give(&first, "plant", json!({"command": "hertz", "hertz": 5, "keep": true}));
    plant.kill();
    let (listen, channel) = (first.listen().to_owned(), first.channel().to_owned());
    first.kill();
    let second = Oasis::dac_at(&listen, &channel, &["--config", &config(folder.path())]);
    // The next program has no such probe.
    let _plant = Oasis::node(second.channel(), &["--probe", "memory"]);
    ledger(&second, "plant", "memory", "a sample", |ledger| ledger["received"] != 0);
    let settings = get(&second, "/api/v1/settings");
    let [stale] = settings["settings"].as_array().unwrap().as_slice() else { panic!("{settings}") };
    assert_eq!((&stale["instance"], &stale["known"]), (&json!("processor"), &json!(false)));
    assert_eq!(stale["kept"]["state"], "waiting");
    let said = run(&second, &["settings", "list"]);
    assert!(said.contains("plant/processor") && said.contains("(waiting)"), "{said}");
    run(&second, &["settings", "reset", "plant/processor"]);
    assert_eq!(get(&second, "/api/v1/settings")["settings"], json!([]));
    let (status, problem) =
        post(&second, COMMANDS, &json!({"node": "plant", "instance": "processor", "command": "reset"}));
    assert_eq!(status, 404, "{problem}");
    let body = json!({"node": "plant", "instance": "memory", "command": "sample-now", "keep": true});
    let (status, problem) = post(&second, COMMANDS, &body);
    assert_eq!(status, 409, "there is nothing to keep: {problem}");
}

/// Returns the output of a command for this DAC.
fn run(dac: &Oasis, arguments: &[&str]) -> String {
    let output = oasis().args(arguments).args(["--url", &dac.url()]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_line_keeps_lists_resets_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path());
    let _plant = node(&dac, "plant");
    assert_eq!(
        run(&dac, &["command", "plant/processor", "hertz", "5", "--keep"]),
        "plant/processor: 5 Hz, enabled, kept for the next runs\n"
    );
    let listed = run(&dac, &["settings", "list"]);
    assert!(listed.contains("plant/processor  rate     5.0 Hz  1.0 Hz   5.0 Hz by local, "), "{listed}");
    assert!(run(&dac, &["settings", "reset", "plant/*", "rate"]).contains("plant/processor: 1 Hz"));

    assert_eq!(run(&dac, &["label", "set", "plant", "site=graz", "rack=7"]), "plant: rack=7, site=graz\n");
    assert_eq!(run(&dac, &["label", "set", "plant/pro*", "rack=8"]), "plant/processor: rack=8\n");
    let list = run(&dac, &["list"]);
    let of = |instance: &str| list.lines().find(|line| line.contains(instance)).unwrap().to_owned();
    assert!(of("processor").ends_with("rack=8, site=graz"), "{list}");
    assert!(of("memory").ends_with("rack=7, site=graz"), "{list}");
    assert_eq!(run(&dac, &["list", "rack=8"]).lines().count(), 2, "its head, and one instance");
    run(&dac, &["label", "remove", "plant/processor", "rack"]);
    assert_eq!(run(&dac, &["label", "list", "rack="]).lines().count(), 2);
}

#[test]
fn hostile_labels_are_text_or_refused_and_a_refused_change_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path());
    let _plant = node(&dac, "plant");
    let change = |body: Value| request(&dac, "PATCH", "/api/v1/labels", Some(&body));
    let text = "<img src=x onerror=alert(1)> \"';--";
    let (status, answer) = change(json!({"node": "plant", "labels": {"__proto__": text, "site": "graz"}}));
    assert_eq!((status, &answer["labels"]["__proto__"]), (200, &json!(text)), "{answer}");
    let many: serde_json::Map<_, _> = (0..33).map(|number| (format!("k{number}"), json!("v"))).collect();
    for (labels, wanted) in [
        (json!({"ok": "1", "a=b": "v"}), 422),
        (json!({"ok": "1", "key": "\u{1b}[2J"}), 422),
        (json!({"ok": "1", "key": "v".repeat(257)}), 422),
        (Value::Object(many), 422),
        (json!(["ok"]), 422),
    ] {
        let (status, problem) = change(json!({"node": "plant", "labels": labels}));
        assert_eq!(status, wanted, "{problem}");
    }
    assert_eq!(change(json!({"node": "nobody", "labels": {}})).0, 404);
    assert_eq!(change(json!({"node": "plant", "instance": "nobody", "labels": {}})).0, 404);
    let labels = get(&dac, "/api/v1/labels");
    assert_eq!(labels["labels"].as_array().unwrap().len(), 2, "{labels}");
    let (status, _) = change(json!({"node": "plant", "labels": {"__proto__": null, "site": null}}));
    assert_eq!((status, &get(&dac, "/api/v1/labels")["labels"]), (200, &json!([])));
}

#[test]
fn who_only_watches_neither_keeps_nor_resets_nor_labels_and_it_is_recorded() {
    let guarded = Guarded::new();
    let _plain = guarded.node("plant", 1);
    let viewer = guarded.token("watcher", &["read *", "command:sample-now *"]);
    let keep = json!({"node": "plant", "instance": "beat", "command": "disable", "keep": true});
    let reset = json!({"node": "plant", "instance": "beat", "command": "reset"});
    let label = json!({"node": "plant", "instance": "beat", "labels": {"site": "graz"}});
    for (method, path, body) in
        [("POST", COMMANDS, &keep), ("POST", COMMANDS, &reset), ("PATCH", "/api/v1/labels", &label)]
    {
        let (status, problem) = guarded.request(&viewer, method, path, Some(body));
        assert_eq!(status, 403, "{problem}");
    }
    let log = guarded.run(&["audit-log", "show", "--format", "json"]);
    for action in ["command:disable", "command:reset", "PATCH /api/v1/labels"] {
        assert!(log.contains(action), "{log}");
    }
}
