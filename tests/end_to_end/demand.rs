//! Rates that follow demand: a real DAC, a real node, and readers that come and go.

use crate::harness::{Native, Oasis, eventually, get, instance, ledger, oasis, post};
use oasis_probe::{Hertz, Node, NodeBuilder, NodeConfig, ProbeState, TcpConnector};
use oasis_wire::schema::ProbeType;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const COMMANDS: &str = "/api/v1/commands";
/// Time within which a rate falls after its last reader.
const RATE_DROP_TIMEOUT: Duration = Duration::from_secs(2);

/// A node `plant` in this process, with a probe `beat` that declares `rate(demand, 1, 100)` and was added at 5 Hz.
fn node(dac: &Oasis, config: NodeConfig) -> Node {
    let beat: ProbeType = serde_json::from_value(json!({
        "name": "Plant::Beat", "uuid": "6f2c7d0a-2b1e-4c55-9a1e-5f0c3b7d9e21", "version": "1.0",
        "rate": { "demand": { "min": 1, "max": 100 } }, "metrics": []
    }))
    .unwrap();
    let mut builder = NodeBuilder::new("plant", config);
    builder.periodic_rows("beat", beat, Hertz::new(5.0).unwrap(), None, |_| Ok(ProbeState::NORMAL)).unwrap();
    let node = builder.start(TcpConnector::new(dac.channel())).unwrap();
    ledger(dac, "plant", "beat", "a sample", |ledger| ledger["received"] != 0);
    node
}

fn rate(dac: &Oasis, name: &str) -> f64 {
    instance(dac, "plant", name).unwrap()["hertz"].as_f64().unwrap()
}

/// Returns the time until the node has this rate.
fn until(dac: &Oasis, name: &str, hertz: f64) -> Duration {
    let start = Instant::now();
    eventually(&format!("{hertz} Hz"), || (rate(dac, name) == hertz).then(|| start.elapsed()))
}

fn command(name: &str, mut more: Value) -> Value {
    more["node"] = json!("plant");
    more["instance"] = json!(name);
    more
}

#[test]
fn a_rate_follows_its_readers_and_falls_after_the_last() {
    // With an audit log of its own: that of other DACs has their commands.
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--access", folder.path().to_str().unwrap()]);
    let node = node(&dac, NodeConfig::default());
    until(&dac, "beat", 1.0);
    let mut slow = Native::connect(&dac.url());
    let subscribed = slow.subscribe("beat", json!({"delivery": "max_hz=20"}));
    until(&dac, "beat", 20.0);
    let mut fast = Native::connect(&dac.url());
    fast.subscribe("beat", json!({}));
    let risen = until(&dac, "beat", 100.0);
    // By the probe's clock, and the median: one late sample on a busy machine does not change the rate.
    let times: Vec<u64> = fast.samples(21).0.iter().map(|sample| sample.time).collect();
    let mut spacings: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect();
    spacings.sort_unstable();
    assert!((8..=12).contains(&spacings[10]), "ms between samples: {spacings:?}");

    // One reader closes its connection, the other unsubscribes.
    drop(fast);
    let to_slow = until(&dac, "beat", 20.0);
    slow.request(json!({"op": "unsubscribe", "topic": subscribed["topic"]}));
    let to_none = until(&dac, "beat", 1.0);
    println!("rose after {risen:.0?}, fell after {to_slow:.0?} and {to_none:.0?}");
    assert!(to_slow < RATE_DROP_TIMEOUT && to_none < RATE_DROP_TIMEOUT, "{to_slow:?}, {to_none:?}");

    let journal = get(&dac, COMMANDS);
    let told: Vec<(&Value, &Value)> = journal["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["who"], &entry["hertz"]))
        .collect();
    let demand = json!("demand");
    let rates = [1.0, 20.0, 100.0, 20.0, 1.0].map(|hertz| json!(hertz));
    assert_eq!(told, rates.iter().map(|hertz| (&demand, hertz)).collect::<Vec<_>>(), "{journal:#}");
    node.shutdown();
}

#[test]
fn a_node_can_keep_its_rates_to_itself() {
    let dac = Oasis::dac(&[]);
    let node = node(&dac, NodeConfig { demand: false, ..NodeConfig::default() });
    let mut client = Native::connect(&dac.url());
    let subscribed = client.subscribe("beat", json!({}));
    assert_eq!(subscribed["instance"]["schema"]["rate"]["demand"]["max"], 100.0, "{subscribed}");
    client.samples(5);
    let beat = instance(&dac, "plant", "beat").unwrap();
    assert_eq!((&beat["hertz"], &beat["demand"]), (&json!(5.0), &Value::Null), "{beat:#}");
    node.shutdown();
}

#[test]
fn any_periodic_probe_can_follow_demand() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@5"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let (status, answer) =
        post(&up, COMMANDS, &command("processor", json!({"command": "demand", "min": 2, "max": 50})));
    assert_eq!((status, &answer["status"]), (200, &json!("done")), "{answer}");
    until(&up, "processor", 2.0);
    let mut client = Native::connect(&up.url());
    client.subscribe("processor", json!({"delivery": "envelope=4"}));
    until(&up, "processor", 50.0);
    let demand = &instance(&up, "plant", "processor").unwrap()["demand"];
    assert_eq!(*demand, json!({"min": 2.0, "max": 50.0, "asked": 50.0}));

    let (status, _) = post(&up, COMMANDS, &command("processor", json!({"command": "hertz", "hertz": 7})));
    assert_eq!(status, 200);
    drop(client);
    let processor = instance(&up, "plant", "processor").unwrap();
    assert_eq!((&processor["hertz"], &processor["demand"]), (&json!(7.0), &Value::Null), "a person decides");
    for (wrong, why) in [(json!({"min": 5, "max": 1}), "5 to 1"), (json!({"min": 1}), "max")] {
        let mut wrong = command("processor", wrong);
        wrong["command"] = json!("demand");
        let (status, problem) = post(&up, COMMANDS, &wrong);
        assert!(status == 422 && problem["detail"].as_str().unwrap().contains(why), "{problem}");
    }
}

#[test]
fn the_command_line_sets_demand() {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor"]);
    ledger(&up, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    let run = |words: &[&str]| {
        let mut command = oasis();
        command.args(["command", "plant/processor"]).args(words).args(["--url", &up.url()]);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let told = "plant/processor: 0.5 to 20 Hz on demand of readers, enabled\n";
    assert_eq!(run(&["demand", "0.5", "20"]), (true, told.to_owned()));
    until(&up, "processor", 0.5);
    assert_eq!(run(&["demand", "off"]), (true, "plant/processor: 0.5 Hz, enabled\n".to_owned()));
    assert_eq!(instance(&up, "plant", "processor").unwrap()["demand"], Value::Null);
    for wrong in [&["demand"][..], &["demand", "20", "1"], &["demand", "5"], &["demand", "off", "5"]] {
        assert!(!run(wrong).0, "{wrong:?}");
    }
}
