//! A replay has the recorded samples, and is distinguished from live nodes.

use crate::harness::{
    Oasis, PlainNode, eventually, get, instance, ledger, oasis,
    plain_node::{beat, identity, pushed},
    post, request,
};
use oasis_channel::{Counters, DacMessage, Drops, NodeMessage};
use oasis_wire::batch::{Encoder, Fields};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

const PROBES: &[&str] = &["--probe", "processor@100", "--probe", "heartbeat@50"];

pub fn command(arguments: &[&str]) -> Command {
    let mut command = oasis();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn run(arguments: &[&str]) -> Output {
    let output = command(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

pub fn flush(dac: &Oasis) {
    let (status, flushed) = post(dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");
}

/// All samples of an instance in an archive.
pub fn samples(archive: &Path, target: &str) -> Vec<Value> {
    let archive = archive.to_str().unwrap();
    let output = run(&["export", "--archive", archive, target, "--format", "jsonl"]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn stored(ledger: &Value) -> u64 {
    ledger["archive"]["stored"].as_u64().unwrap_or_default()
}

/// An archive with two runs of a node, and a test run `soak`.
pub fn record(archive: &Path) {
    let dac = Oasis::dac(&["--archive", archive.to_str().unwrap()]);
    assert_eq!(post(&dac, "/api/v1/test-runs", &json!({"name": "soak"})).0, 201);
    for enough in [60, 120] {
        let node = Oasis::node(dac.channel(), PROBES);
        for probe in ["processor", "heartbeat"] {
            ledger(&dac, "plant", probe, "samples stored", |ledger| stored(ledger) > enough);
        }
        assert!(node.stop().success());
    }
    let id = get(&dac, "/api/v1/test-runs")["test_runs"][0]["id"].clone();
    assert_eq!(request(&dac, "POST", &format!("/api/v1/test-runs/{id}/stop"), None).0, 200);
    assert!(dac.stop().success());
}

#[test]
fn a_replay_has_every_recorded_sample() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    record(&first);
    let dac = Oasis::dac(&["--archive", second.to_str().unwrap()]);
    let archive = first.to_str().unwrap();
    run(&["replay", "soak", "--archive", archive, "--dac", dac.channel(), "--speed", "10"]);
    flush(&dac);

    for probe in ["processor", "heartbeat"] {
        let recorded = samples(&first, &format!("plant/{probe}"));
        let replayed = samples(&second, &format!("replay:plant/{probe}"));
        assert_eq!(replayed.len(), recorded.len(), "{probe}");
        let time = |sample: &Value| sample["time"].as_u64().unwrap();
        let shift = |replayed: &Value, recorded: &Value| time(replayed) as i64 - (time(recorded) / 10) as i64;
        let first_shift = shift(&replayed[0], &recorded[0]);
        for (replayed, recorded) in replayed.iter().zip(&recorded) {
            for same in ["sequence", "state", "metrics", "instance"] {
                assert_eq!(replayed[same], recorded[same], "{probe}");
            }
            // To the rounding of a float for times of a few seconds.
            assert!(shift(replayed, recorded).abs_diff(first_shift) <= 2, "{probe}: {replayed} {recorded}");
        }
        let account = ledger(&dac, "replay:plant", probe, "a ledger", |_| true);
        assert_eq!((&account["missing"], &account["unexplained"]), (&json!(0), &json!(0)), "{account:#}");
        assert_eq!(account["received"], recorded.len(), "{account:#}");
        let instance = instance(&dac, "replay:plant", probe).unwrap();
        assert_eq!(instance["replay"], true, "{instance}");
    }
    let nodes = get(&dac, "/api/v1/nodes");
    assert_eq!(
        (&nodes["nodes"][0]["name"], &nodes["nodes"][0]["replay"]),
        (&json!("replay:plant"), &json!(true))
    );
}

#[test]
fn samples_missing_in_a_recording_are_reported_with_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    record(&archive);
    let recorded = samples(&archive, "plant/processor");
    let from = recorded[20]["time"].as_u64().unwrap();
    let dac = Oasis::dac(&[]);
    let (from, archive) = (from.to_string(), archive.to_str().unwrap());
    run(&["replay", archive, "plant/processor", "--from", &from, "--dac", dac.channel(), "--speed", "20"]);
    let account = ledger(&dac, "replay:plant", "processor", "a ledger", |_| true);
    let gap = &account["gaps"][0];
    assert_eq!((&gap["cause"], &gap["from_sequence"]), (&json!("not_recorded"), &json!(1)), "{account:#}");
    assert_eq!(gap["count"], recorded[20]["sequence"].as_u64().unwrap() - 1, "{account:#}");
    assert_eq!(
        (account["received"].as_u64().unwrap() as usize, &account["unexplained"]),
        (recorded.len() - 20, &json!(0))
    );
}

/// Sends samples 1 to 10, reports three as dropped by its ring, then sends 14 to 20.
fn node_that_drops(channel: &str) {
    let instances = vec![pushed("beat", &beat())];
    let node = PlainNode::connect(channel, identity("plant", 1), None, (&beat(), instances));
    let PlainNode { mut sender, mut receiver, topics } = node;
    let topic = topics[0];
    let mut send = |numbers: std::ops::RangeInclusive<u64>, ring: u32| {
        let mut encoder = Encoder::new(&beat()).unwrap();
        numbers.clone().for_each(|number| encoder.push(number * 1_000_000, &[]).unwrap());
        let mut batch = Vec::new();
        let (first_sequence, dropped_before) = (*numbers.start(), ring);
        let fields = Fields { topic: topic.0, first_sequence, dropped_before, ..Fields::default() };
        encoder.finish(fields, &mut batch);
        let dropped = Drops { ring_full: ring.into(), ..Drops::default() };
        let counters =
            Counters { topic, taken: *numbers.end(), sent: 0, dropped, after_sent: Drops::default() };
        sender.send(&[NodeMessage::Counters { instances: vec![counters] }], &[&batch]).unwrap();
    };
    send(1..=10, 0);
    send(14..=20, 3);
    while !matches!(receiver.receive().unwrap(), DacMessage::Ack { topics } if topics == [(topic, 20)]) {}
}

#[test]
fn recorded_losses_are_replayed_with_the_same_cause() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let first = Oasis::dac(&["--archive", archive]);
    node_that_drops(first.channel());
    let gaps = |dac: &Oasis, node: &str| {
        let account = ledger(dac, node, "beat", "samples", |ledger| ledger["received"] == 17);
        let gap =
            |gap: &Value| (gap["from_sequence"].as_u64(), gap["to_sequence"].as_u64(), gap["cause"].clone());
        account["gaps"].as_array().unwrap().iter().map(gap).collect::<Vec<_>>()
    };
    let lost = gaps(&first, "plant");
    assert_eq!(lost, [(Some(11), Some(13), json!("ring_full"))]);
    assert!(first.stop().success());
    let second = Oasis::dac(&[]);
    run(&["replay", archive, "--dac", second.channel(), "--speed", "0.1"]);
    assert_eq!(gaps(&second, "replay:plant"), lost);
}

/// Flips a bit in the last batch of an archive.
fn damage_the_last_batch(archive: &Path) {
    let files = fs::read_dir(archive).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|name| name == "oseg")).collect();
    files.sort();
    let file = files.last().unwrap();
    let mut bytes = fs::read(file).unwrap();
    // docs/reference/archive-files.md: the mark; at byte 12 of a record's head its kind, at byte 40 the payload.
    let is_batch = |at: &usize| bytes[*at..].starts_with(b"OREC") && bytes[at + 12] == 3;
    let last = (0..bytes.len() - 40).rev().find(is_batch).unwrap();
    bytes[last + 40] ^= 1;
    fs::write(file, &bytes).unwrap();
}

#[test]
fn damage_and_losses_after_the_last_sample_are_reported_too() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let first = Oasis::dac(&["--archive", archive]);
    node_that_drops(first.channel());
    ledger(&first, "plant", "beat", "samples", |ledger| ledger["received"] == 17);
    assert!(first.stop().success());
    damage_the_last_batch(folder.path());
    let second = Oasis::dac(&[]);
    let replayed = run(&["replay", archive, "--dac", second.channel(), "--speed", "10"]);
    let said = String::from_utf8(replayed.stderr).unwrap();
    let summary =
        "10 samples replayed; 10 more of their runs were not replayed, and the DAC counts them as missing\n";
    assert!(said.ends_with(summary), "{said}");
    let account = ledger(&second, "replay:plant", "beat", "what is missing", |ledger| {
        ledger["gaps"].as_array().is_some_and(|gaps| !gaps.is_empty())
    });
    let gap =
        |gap: &Value| (gap["from_sequence"].as_u64(), gap["to_sequence"].as_u64(), gap["cause"].clone());
    let gaps: Vec<_> = account["gaps"].as_array().unwrap().iter().map(gap).collect();
    assert_eq!(
        gaps,
        [(Some(11), Some(13), json!("ring_full")), (Some(14), Some(20), json!("not_recorded"))],
        "{account:#}"
    );
    // An export agrees.
    let exported = run(&["export", "--archive", archive, "plant/beat", "--format", "jsonl"]);
    let said = String::from_utf8(exported.stderr).unwrap();
    assert!(said.contains("plant/beat: 7 samples are missing, damaged"), "{said}");
}

/// A running replay, which ends on drop.
pub struct Playing(pub Child);

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_replay_in_a_loop_begins_again_takes_no_commands_and_ends_at_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let count = samples(folder.path(), "plant/heartbeat").len() as u64;
    let dac = Oasis::dac(&[]);
    let archive = folder.path().to_str().unwrap();
    let arguments = ["replay", archive, "plant/heartbeat", "--loop", "--speed", "20", "--dac", dac.channel()];
    let mut playing = Playing(command(&arguments).spawn().unwrap());
    let again = |ledger: &Value| ledger["received"].as_u64() > Some(2 * count);
    let account = ledger(&dac, "replay:plant", "heartbeat", "the third time", again);
    assert_eq!(account["unexplained"], 0, "{account:#}");
    let order = json!({"node": "replay:plant", "instance": "heartbeat", "command": "disable"});
    // Between two runs there is no node to refuse.
    eventually("a refusal", || {
        let (status, problem) = post(&dac, "/api/v1/commands", &order);
        assert_eq!(status, 409, "{problem}");
        problem["detail"].as_str().unwrap().contains("take no commands").then_some(())
    });
    kill_process(Pid::from_child(&playing.0), Signal::INT).unwrap();
    let status = playing.0.wait().unwrap();
    assert!(status.success(), "{status}");
    eventually("the node has gone", || {
        (get(&dac, "/api/v1/nodes")["nodes"][0]["state"] == "offline").then_some(())
    });
}

#[test]
fn an_empty_replay_explains_what_to_name() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let archive = folder.path().to_str().unwrap();
    for (arguments, remedy) in [
        (&["replay", "soak"][..], "--archive DIR"),
        (&["replay", "drill", "--archive", archive], "neither a test run"),
        (&["replay", archive, "plant/nothing"], "has no samples of plant/nothing"),
        (&["replay", archive, "--dac", "127.0.0.1:1"], "oasis dac"),
        (&["replay", archive, "--speed", "0"], "from 0.01"),
    ] {
        let output = command(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(remedy), "{arguments:?}: {said}");
    }
}
