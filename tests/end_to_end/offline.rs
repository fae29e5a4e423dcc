//! The history of offline nodes, which a starting DAC restores from the archive (`docs/guides/keep-samples-on-disk.md`).

use crate::harness::{Native, Oasis, get, instance, ledger, oasis};
use crate::recordings::run;
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
};

const LOAD: [&str; 2] = ["--probe", "processor@500"];

fn archived(folder: &Path) -> [&str; 2] {
    ["--archive", folder.to_str().unwrap()]
}

/// Stores some seconds of a node's samples and stops the node. Returns their sequence numbers from an export.
fn record(folder: &Path) -> Vec<u64> {
    let dac = Oasis::dac(&archived(folder));
    let node = Oasis::node(dac.channel(), &LOAD);
    let is_stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(300);
    ledger(&dac, "plant", "processor", "samples stored", is_stored);
    assert!(node.stop().success() && dac.stop().success());
    let (is_done, lines, said) = run("export", folder, &["--format", "jsonl"]);
    assert!(is_done, "{said}");
    let lines = String::from_utf8(lines).unwrap();
    lines.lines().map(|line| sequence(&serde_json::from_str(line).unwrap())).collect()
}

fn sequence(sample: &Value) -> u64 {
    sample["sequence"].as_u64().unwrap_or_else(|| panic!("no sequence number in {sample}"))
}

/// Sequence numbers of the first `count` samples in an instance's history, from a text door.
fn streamed(dac: &Oasis, node: &str, count: usize) -> Vec<u64> {
    let url = format!("{}/api/v1/samples/stream?node={node}&instance=processor&from=0", dac.http());
    let mut lines = BufReader::new(ureq::get(url).call().unwrap().into_body().into_reader()).lines();
    let mut sequences = Vec::new();
    while sequences.len() < count {
        let line = lines.next().expect("a stream that goes on").unwrap();
        if !line.trim().is_empty() {
            let message: Value = serde_json::from_str(&line).unwrap();
            sequences.extend(message["samples"].as_array().into_iter().flatten().map(sequence));
        }
    }
    sequences
}

#[test]
fn a_node_that_does_not_return_is_offline_and_its_history_is_readable_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(folder.path());
    let dac = Oasis::dac(&archived(folder.path()));

    let node = &get(&dac, "/api/v1/nodes")["nodes"][0];
    assert_eq!(
        (&node["name"], &node["state"], &node["pid"]),
        (&json!("plant"), &json!("offline"), &Value::Null)
    );
    assert!(node["uuid"].is_string() && node["host"] != "" && node["since"].as_u64() > Some(0), "{node}");
    let processor = instance(&dac, "plant", "processor").unwrap();
    assert_eq!((&processor["state"], &processor["run"]), (&json!("offline"), &Value::Null), "{processor}");

    assert_eq!(streamed(&dac, "plant", recorded.len()), recorded);
    let points = "/api/v1/samples?node=plant&instance=processor&from=-1h&points=30";
    let points = &get(&dac, points)["messages"][0];
    let counted: u64 = points["samples"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(counted, recorded.len() as u64, "{points}");
    let mut client = Native::connect(&dac.url());
    client.subscribe("processor", json!({"from": "-1h"}));
    let (samples, _) = client.samples(recorded.len());
    assert!(samples.iter().map(|sample| sample.sequence).eq(recorded.iter().copied()));
    let count = recorded.len().to_string();
    let tail = ["tail", "plant/processor", "--from", "-1h", "--count", &count, "--format", "json", "--url"];
    let tailed = oasis().args(tail).arg(dac.url()).output().unwrap();
    assert!(tailed.status.success(), "{}", String::from_utf8_lossy(&tailed.stderr));
    assert_eq!(String::from_utf8(tailed.stdout).unwrap().lines().count(), recorded.len());
    // Without a name and a time it requests live samples, and there are none.
    let live = oasis().args(["tail", "--url"]).arg(dac.url()).output().unwrap();
    let said = String::from_utf8_lossy(&live.stderr);
    assert!(!live.status.success() && said.contains("no instance is online"), "{said}");
    let newest = oasis().args(["tail", "-n", "2", "--count", "2", "--url"]).arg(dac.url()).output().unwrap();
    assert!(newest.status.success(), "{}", String::from_utf8_lossy(&newest.stderr));
}

#[test]
fn a_reader_of_the_history_continues_without_a_seam_when_the_node_returns() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(folder.path());
    let dac = Oasis::dac(&archived(folder.path()));
    let mut client = Native::connect(&dac.url());
    let subscribed = client.subscribe("processor", json!({"from": 0}));
    let (samples, _) = client.samples(recorded.len());
    assert!(samples.iter().map(|sample| sample.sequence).eq(recorded.iter().copied()));

    let _node = Oasis::node(dac.channel(), &LOAD);
    let (samples, controls) = client.samples(100);
    assert_eq!(controls.iter().filter(|control| control["op"] == "epoch").count(), 1, "{controls:?}");
    assert!(controls.iter().all(|control| control["op"] != "gap"), "{controls:?}");
    assert!(samples.iter().zip(1..).all(|(sample, sequence)| sample.sequence == sequence));
    let now = instance(&dac, "plant", "processor").unwrap();
    assert_eq!((&now["state"], &now["id"]), (&json!("online"), &subscribed["topic"]));
}

/// An archive into which another one was imported.
fn import(recorded: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (is_done, _, said) = run("import", folder.path(), &["--name", "bench", recorded.to_str().unwrap()]);
    assert!(is_done, "{said}");
    folder
}

#[test]
fn imported_instances_are_restored_too() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(folder.path());
    let other = import(folder.path());
    let dac = Oasis::dac(&archived(other.path()));
    assert_eq!(streamed(&dac, "bench:plant", recorded.len()), recorded);
    let node = &get(&dac, "/api/v1/nodes")["nodes"][0];
    assert_eq!((&node["name"], &node["pid"]), (&json!("bench:plant"), &Value::Null), "{node}");
    assert!(node["uuid"].is_string() && node["host"] != "", "what its own archive knew of it: {node}");
}

#[test]
fn living_nodes_come_before_those_that_are_known_from_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(folder.path());
    let other = import(folder.path());
    let config = folder.path().join("small.toml");
    fs::write(&config, "[channel]\nmax_nodes = 1\n").unwrap();
    let [flag, archive] = archived(other.path());
    let dac = Oasis::dac(&[flag, archive, "--config", config.to_str().unwrap()]);
    assert_eq!(streamed(&dac, "bench:plant", recorded.len()), recorded);
    let _node = Oasis::node(dac.channel(), &LOAD);
    ledger(&dac, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(0));
    assert_eq!(get(&dac, "/api/v1/nodes")["nodes"].as_array().unwrap().len(), 1);
}
