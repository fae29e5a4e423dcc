//! The native WebSocket protocol, request by request (`docs/reference/websocket.md`).

use crate::harness::{Incoming, Native, Oasis, eventually, get, instance, ledger};
use serde_json::json;
use std::fs;
use tungstenite::Message;

fn up(arguments: &[&str]) -> Oasis {
    let up = Oasis::up(
        &[&["--name", "plant", "--probe", "processor@50", "--probe", "memory@50"], arguments].concat(),
    );
    for name in ["processor", "memory"] {
        ledger(&up, "plant", name, "a sample", |ledger| ledger["received"] != 0);
    }
    up
}

#[test]
fn a_client_is_welcomed_and_shown_the_registry() {
    let up = up(&[]);
    let mut client = Native::connect(&up.url());
    assert_eq!(client.welcome["protocol"], 1);
    assert_eq!(client.welcome["epoch"], get(&up, "/api/v1/ledger")["epoch"]);
    client.send(Message::text(r#"{"op":"watch","id":1}"#));
    let registry = client.control("registry");
    let mut nodes = get(&up, "/api/v1/nodes")["nodes"].take();
    // The backlog changes each second, so the registry has none.
    assert!(nodes[0].as_object_mut().unwrap().remove("backlog").is_some());
    assert_eq!(registry["nodes"], nodes);
    let names: Vec<_> =
        registry["instances"].as_array().unwrap().iter().map(|one| &one["instance"]).collect();
    assert_eq!(names, ["processor", "memory"]);
    // And again when something changes.
    client.request(json!({"op": "command", "node": "plant", "instance": "processor", "command": "disable"}));
    let seen = eventually("the change", || {
        let registry = client.control("registry");
        registry["instances"].as_array()?.iter().find(|one| one["enabled"] == false).cloned()
    });
    assert_eq!(seen["instance"], "processor");
}

#[test]
fn the_clock_of_the_dac_can_be_queried() {
    let up = up(&[]);
    let pong = Native::connect(&up.url()).request(json!({"op": "ping", "client_time": 12.5}));
    assert_eq!((&pong["op"], &pong["client_time"]), (&json!("pong"), &json!(12.5)));
    assert!(pong["dac_time"].as_u64() > Some(1_700_000_000_000_000_000));
}

#[test]
fn samples_come_in_order_and_agree_with_the_api() {
    let up = up(&[]);
    let mut client = Native::connect(&up.url());
    let subscribed = client.subscribe("processor", json!({"from": "earliest"}));
    let (samples, controls) = client.samples(30);
    assert!(controls.is_empty(), "{controls:?}");
    let first = &samples[0];
    assert_eq!((first.sequence, first.offset), (1, 0));
    assert!(
        samples.iter().zip(0..).all(|(sample, index)| (sample.sequence, sample.offset) == (1 + index, index))
    );
    let shown = instance(&up, "plant", "processor").unwrap();
    assert_eq!(shown["id"], subscribed["topic"]);
    assert_eq!(shown["schema"], subscribed["instance"]["schema"]);
    assert!(shown["latest"]["metrics"]["idle_time"].is_u64(), "{shown:#}");

    let topic = &subscribed["topic"];
    assert_eq!(client.request(json!({"op": "unsubscribe", "topic": topic}))["op"], "unsubscribed");
    client.subscribe("memory", json!({}));
    // Batches of the processor would not be read by the schema of the memory.
    client.samples(10);
}

/// The first batches of the processor, as received.
fn batches(url: &str, count: usize) -> Vec<Vec<u8>> {
    let mut client = Native::connect(url);
    client.subscribe("processor", json!({"from": "earliest"}));
    std::iter::from_fn(|| Some(client.next()))
        .filter_map(|incoming| match incoming {
            Incoming::Batch(bytes) => Some(bytes),
            _ => None,
        })
        .take(count)
        .collect()
}

#[test]
fn every_subscriber_gets_the_same_bytes() {
    let up = up(&[]);
    let first = batches(&up.url(), 30);
    assert_eq!(first, batches(&up.url(), 30));
    // They are the node's own batches, with a version and a number of samples.
    assert!(first.iter().all(|bytes| bytes[..2] == [1, 1] && bytes[44..46] != [0, 0]));
}

#[test]
fn a_late_reader_receives_the_missed_range() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("small.toml");
    fs::write(&config, "[log]\ntopic_bytes = 16384\n").unwrap();
    let up =
        Oasis::up(&["--name", "plant", "--probe", "processor@1000", "--config", config.to_str().unwrap()]);
    let evicted =
        ledger(&up, "plant", "processor", "evicted samples", |ledger| ledger["log"]["evicted"] != 0);
    assert!(evicted["log"]["bytes"].as_u64() <= Some(16_384), "{evicted:#}");
    let mut client = Native::connect(&up.url());
    let epoch = client.welcome["epoch"].as_str().unwrap().to_owned();
    let subscribed = client.subscribe("processor", json!({"resume": format!("{epoch}:0")}));
    let gap = client.control("gap");
    assert_eq!(gap["cause"], "log_retention", "{gap}");
    assert_eq!((&gap["topic"], &gap["from"]), (&subscribed["topic"], &json!(0)), "{gap}");
    assert_eq!(client.samples(1).0[0].offset, gap["to"].as_u64().unwrap());
    assert_eq!(gap["count"], gap["to"]);
}

#[test]
fn a_failed_request_gets_a_named_error() {
    let up = up(&[]);
    let mut client = Native::connect(&up.url());
    let mut code = |request| client.request(request)["code"].as_str().unwrap_or("none").to_owned();
    let subscribe = |node, instance| json!({"op": "subscribe", "node": node, "instance": instance});
    assert_eq!(code(subscribe("nowhere", "processor")), "unknown_instance");
    assert_eq!(code(subscribe("plant", "engine")), "unknown_instance");
    assert_eq!(code(subscribe("plant", "processor")), "none");
    assert_eq!(code(subscribe("plant", "processor")), "already_subscribed");
    assert_eq!(code(json!({"op": "unsubscribe", "topic": 999})), "unknown_topic");
    assert_eq!(code(json!({"op": "dance"})), "bad_request");
    assert_eq!(code(json!({"op": "subscribe", "node": "plant"})), "bad_request");
    assert_eq!(
        code(json!({"op": "subscribe", "node": "plant", "instance": "memory", "resume": "x:y:z"})),
        "bad_request"
    );
    let command = |hertz| json!({"op": "command", "node": "plant", "instance": "processor", "command": "hertz", "hertz": hertz});
    assert_eq!(code(command(0.001)), "bad_request");
    assert_eq!(code(command(100.0)), "none");
    // The connection still works.
    let seen = client.subscribe("memory", json!({}));
    assert_eq!(seen["instance"]["instance"], "memory");
}

#[test]
fn subscriptions_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("one.toml");
    fs::write(&config, "[doors]\nmax_subscriptions = 1\n").unwrap();
    let up = up(&["--config", config.to_str().unwrap()]);
    let mut client = Native::connect(&up.url());
    client.subscribe("processor", json!({}));
    let refused = client.request(json!({"op": "subscribe", "node": "plant", "instance": "memory"}));
    assert_eq!(refused["code"], "too_many_subscriptions");
    assert!(refused["message"].as_str().unwrap().contains("doors.max_subscriptions"), "{refused}");
}
