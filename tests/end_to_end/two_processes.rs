//! `oasis dac` and `oasis node` as separate processes, killed at any time.

use crate::harness::{Native, Oasis, assert_explained, causes, eventually, get, instance, ledger};
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

const RECOVERY_TIMEOUT: Duration = Duration::from_secs(3);
const PROCESSOR: &[&str] = &["--probe", "processor@100"];

fn has_received(count: u64) -> impl Fn(&Value) -> bool {
    move |ledger| ledger["received"].as_u64() >= Some(count)
}

/// Checks that every number of this run, from the first to the last, is received or explained.
fn assert_whole(ledger: &Value) {
    assert_explained(ledger);
    assert_eq!(
        ledger["received"].as_u64().unwrap() + ledger["missing"].as_u64().unwrap(),
        ledger["last_sequence"].as_u64().unwrap(),
        "{ledger:#}"
    );
}

#[test]
fn a_restarted_dac_receives_again_what_was_not_safe() {
    let dac = Oasis::dac(&[]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let began = Instant::now();
    let _node = Oasis::node(&channel, PROCESSOR);
    ledger(&dac, "plant", "processor", "50 samples", has_received(50));
    dac.kill();
    // Without an archive samples are safe after 10 s.
    let none_was_safe = began.elapsed() < Duration::from_secs(10);

    let dac = Oasis::dac_again(&listen, &channel);
    let restarted = Instant::now();
    let after = ledger(&dac, "plant", "processor", "50 samples after the restart", has_received(50));
    let recovered = restarted.elapsed();
    println!("50 samples at 100 Hz were there {recovered:?} after the DAC's restart");
    assert!(recovered < RECOVERY_TIMEOUT, "{recovered:?}");
    assert_whole(&after);
    if none_was_safe {
        assert_eq!((&after["first_sequence"], &after["missing"]), (&json!(1), &json!(0)), "{after:#}");
    } else {
        assert_eq!(causes(&after), ["before_epoch"], "{after:#}");
    }
}

#[test]
fn a_killed_node_comes_back_as_a_new_run() {
    let dac = Oasis::dac(&[]);
    let node = Oasis::node(dac.channel(), PROCESSOR);
    let before = ledger(&dac, "plant", "processor", "50 samples", has_received(50));
    let run = instance(&dac, "plant", "processor").unwrap()["run"].clone();
    node.kill();
    eventually("the node is seen to be gone", || {
        (get(&dac, "/api/v1/nodes")["nodes"][0]["state"] == "offline").then_some(())
    });

    let _node = Oasis::node(dac.channel(), PROCESSOR);
    let restarted = Instant::now();
    let enough = before["received"].as_u64().unwrap() + 100;
    let after = ledger(&dac, "plant", "processor", "more samples after the restart", has_received(enough));
    let recovered = restarted.elapsed();
    println!("100 samples at 100 Hz were there {recovered:?} after the node's restart");
    assert!(recovered < RECOVERY_TIMEOUT, "{recovered:?}");
    assert_explained(&after);
    assert!(causes(&after).iter().all(|cause| *cause == "node_restart"), "{after:#}");
    assert_ne!(instance(&dac, "plant", "processor").unwrap()["run"], run);
}

#[test]
fn samples_dropped_by_a_full_spool_have_that_cause() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("small.toml");
    fs::write(&config, "[node]\nspool_bytes = 4096\n").unwrap();
    let dac = Oasis::dac(&[]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, &["--config", config.to_str().unwrap(), "--probe", "processor@1000"]);
    let mut running = Some(dac);
    // The duration of the outage depends on the machine: repeat as often as necessary.
    let after = eventually("a gap with cause spool_full", || {
        drop(running.take());
        let dac = running.insert(Oasis::dac_again(&listen, &channel));
        let after = ledger(dac, "plant", "processor", "100 samples", has_received(100));
        causes(&after).contains(&"spool_full").then_some(after)
    });
    assert_whole(&after);
    assert!(after["node"]["spool_full"].as_u64() > Some(0), "{after:#}");
}

#[test]
fn a_stopped_node_sends_all_its_samples() {
    let dac = Oasis::dac(&[]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1000"]);
    ledger(&dac, "plant", "processor", "200 samples", has_received(200));
    assert!(node.stop().success());
    let last = ledger(&dac, "plant", "processor", "the node's last word", |ledger| {
        ledger["node"]["taken"] == ledger["received"]
    });
    assert_whole(&last);
    assert_eq!(last["missing"], 0, "{last:#}");
}

#[test]
fn a_stopped_dac_notifies_its_peers_and_ends() {
    let dac = Oasis::dac(&[]);
    let mut client = Native::connect(&dac.url());
    assert!(dac.stop().success());
    assert_eq!(client.closed(), (1001, "the DAC shuts down".into()));
}

#[test]
fn a_resumed_reader_misses_nothing_and_receives_a_new_epoch() {
    let dac = Oasis::dac(&[]);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let _node = Oasis::node(&channel, PROCESSOR);
    ledger(&dac, "plant", "processor", "a first sample", has_received(1));
    let mut client = Native::connect(&dac.url());
    let epoch = client.subscribe("processor", json!({"from": "earliest"}))["epoch"].clone();
    let last = client.samples(20).0.last().unwrap().clone();
    drop(client);

    let position = format!("{}:{}", epoch.as_str().unwrap(), last.offset + 1);
    ledger(&dac, "plant", "processor", "samples that nobody read", has_received(last.sequence + 20));
    let mut client = Native::connect(&dac.url());
    client.subscribe("processor", json!({"resume": position}));
    let (samples, controls) = client.samples(40);
    assert!(controls.is_empty(), "{controls:?}");
    assert!(samples.iter().zip(last.sequence + 1..).all(|(sample, expected)| sample.sequence == expected));

    dac.kill();
    let dac = Oasis::dac_again(&listen, &channel);
    ledger(&dac, "plant", "processor", "samples after the restart", has_received(5));
    let mut client = Native::connect(&dac.url());
    let subscribed = client.subscribe("processor", json!({"resume": position}));
    assert_ne!(subscribed["epoch"], epoch);
    let gap = client.control("gap");
    assert_eq!((&gap["cause"], &gap["topic"]), (&json!("epoch_changed"), &subscribed["topic"]));
    // Then everything of this epoch.
    assert_eq!(client.samples(5).0[0].offset, 0);
}
