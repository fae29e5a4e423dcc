//! Commands over HTTP: executed, refused, and recorded.

use crate::harness::{Native, Oasis, eventually, get, instance, ledger, post, post_from};
use serde_json::{Value, json};

const COMMANDS: &str = "/api/v1/commands";

fn command(instance: &str, command: &str) -> Value {
    json!({"node": "plant", "instance": instance, "command": command})
}

fn hertz(instance: &str, hertz: impl Into<Value>) -> Value {
    let mut body = command(instance, "hertz");
    body["hertz"] = hertz.into();
    body
}

fn up() -> Oasis {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor", "--probe", "memory"]);
    ledger(&up, "plant", "memory", "a sample", |ledger| ledger["received"] != 0);
    up
}

#[test]
fn a_rate_takes_effect_when_the_response_arrives() {
    let up = up();
    let mut client = Native::connect(&up.url());
    client.subscribe("processor", json!({}));
    let (status, answer) = post(&up, COMMANDS, &hertz("processor", 10));
    assert_eq!((status, &answer["hertz"]), (200, &json!(10.0)), "{answer}");
    assert_eq!(instance(&up, "plant", "processor").unwrap()["hertz"], 10.0);
    let times: Vec<u64> = client.samples(9).0.iter().map(|sample| sample.time).collect();
    let mut spacings: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect();
    spacings.sort_unstable();
    // By the probe's clock, and the median: one late sample on a busy machine does not change the rate.
    assert!((60..=140).contains(&spacings[spacings.len() / 2]), "ms between samples: {spacings:?}");
}

#[test]
fn a_disabled_probe_is_silent_but_for_the_samples_asked_for() {
    let up = up();
    let taken = || instance(&up, "plant", "processor").unwrap()["ledger"]["received"].as_u64().unwrap();
    let (status, answer) = post(&up, COMMANDS, &command("processor", "disable"));
    assert_eq!((status, &answer["enabled"]), (200, &json!(false)), "{answer}");
    // All samples counted by the node arrive.
    let silent = ledger(&up, "plant", "processor", "all taken samples", |ledger| {
        ledger["node"]["taken"] == ledger["received"]
    })["received"]
        .as_u64()
        .unwrap();
    for expected in silent + 1..=silent + 3 {
        assert_eq!(post(&up, COMMANDS, &command("processor", "sample-now")).0, 200);
        eventually("the sample asked for", || (taken() == expected).then_some(()));
    }
    assert_eq!(post(&up, COMMANDS, &command("processor", "enable")).1["enabled"], true);
    eventually("samples again", || (taken() > silent + 3).then_some(()));
}

#[test]
fn failed_commands_are_explained_and_recorded() {
    let dac = Oasis::dac(&[]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let refused = |body: &Value, wanted: u16| {
        let (status, problem) = post(&dac, COMMANDS, body);
        assert_eq!((status, &problem["status"]), (wanted, &json!(wanted)), "{problem}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    };
    assert!(refused(&command("engine", "enable"), 404).contains("engine"));
    assert!(refused(&hertz("processor", 0), 422).contains("0.01"));
    assert!(refused(&hertz("processor", 1_000.5), 422).contains("1000"));
    refused(&hertz("processor", "fast"), 422);
    refused(&command("processor", "hertz"), 422);
    refused(&command("processor", "explode"), 422);
    refused(&json!([]), 422);
    let (status, problem) = post_from(&dac, COMMANDS, &hertz("processor", 10), "http://evil.example");
    assert_eq!(status, 403, "{problem}");
    assert_eq!(instance(&dac, "plant", "processor").unwrap()["hertz"], 1.0, "nothing of this took effect");
    node.kill();
    eventually("the node is seen to be gone", || {
        (get(&dac, "/api/v1/nodes")["nodes"][0]["state"] == "offline").then_some(())
    });
    assert!(refused(&hertz("processor", 10), 409).contains("plant"));

    let journal = get(&dac, COMMANDS);
    let last = journal["commands"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["node"], &last["instance"]), (&json!("plant"), &json!("processor")), "{journal:#}");
    assert!(last["who"].as_str().unwrap().contains("127.0.0.1"), "{journal:#}");
}
