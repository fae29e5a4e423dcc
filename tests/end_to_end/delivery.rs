//! Delivery options and overflow policies on the native WebSocket.

use crate::harness::{Incoming, Native, Oasis, eventually, ledger};
use serde_json::{Value, json};
use std::fs;

fn up() -> Oasis {
    let up = Oasis::up(&["--name", "plant", "--probe", "processor@200"]);
    ledger(&up, "plant", "processor", "samples", |ledger| ledger["received"].as_u64() > Some(20));
    up
}

/// Offsets covered by samples and gaps, in the order of arrival, up to a count.
fn covered(client: &mut Native, count: usize, causes: &[&str]) -> Vec<u64> {
    let mut covered = Vec::new();
    while covered.len() < count {
        let (samples, gaps) = client.samples(1);
        for gap in gaps.iter().filter(|gap| gap["op"] == "gap") {
            assert!(causes.iter().any(|cause| gap["cause"] == *cause), "{gap}");
            covered.extend(gap["from"].as_u64().unwrap()..gap["to"].as_u64().unwrap());
        }
        covered.extend(samples.iter().map(|sample| sample.offset));
    }
    covered
}

#[test]
fn a_reader_of_the_newest_receives_the_skipped_range() {
    let up = up();
    let mut client = Native::connect(&up.url());
    let subscribed = client.subscribe("processor", json!({"delivery": "latest", "from": "earliest"}));
    let covered = covered(&mut client, 60, &["latest"]);
    let first = subscribed["offset"].as_u64().unwrap();
    assert_eq!(covered, (first..first + covered.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_thinned_topic_has_the_positions_of_its_source() {
    let up = up();
    let mut client = Native::connect(&up.url());
    let subscribed = client.subscribe("processor", json!({"delivery": "max_hz=20", "from": "earliest"}));
    let (samples, _) = client.samples(6);
    // 200 a second, of which 20: the first of each 50 ms, by the probe's own clock. If nothing arrives for so long, the last one too.
    let periods: Vec<u64> = samples.iter().map(|sample| sample.time / 50_000_000).collect();
    assert!(periods.is_sorted() && periods.windows(3).all(|three| three[0] < three[2]), "{periods:?}");
    // A busy machine takes fewer than 200, but offsets are the same for all readers.
    let mut source = Native::connect(&up.url());
    source.subscribe("processor", json!({"from": "earliest"}));
    let (every, _) = source.samples(samples[5].offset as usize + 1);
    for sample in &samples {
        assert_eq!(every[sample.offset as usize].time, sample.time, "{samples:?}");
    }
    // The same for all readers.
    let again = Native::connect(&up.url())
        .subscribe("processor", json!({"delivery": "max_hz=20", "from": "earliest"}));
    assert_eq!(again["topic"], subscribed["topic"]);
}

#[test]
fn an_envelope_has_minimum_and_maximum() {
    let up = up();
    let mut client = Native::connect(&up.url());
    let subscribed = client.subscribe("processor", json!({"delivery": "envelope=10"}));
    let names: Vec<&str> = subscribed["instance"]["schema"]["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|metric| metric["name"].as_str())
        .collect();
    for wanted in ["idle_time.min", "idle_time.max", "idle_time"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
    assert_eq!(client.samples(2).0.len(), 2);
}

#[test]
fn readers_at_different_positions_get_their_own_samples() {
    let up = up();
    let mut readers: Vec<Native> = (0..12)
        .map(|place| {
            let mut client = Native::connect(&up.url());
            let resume = format!("{}:{place}", client.welcome["epoch"].as_str().unwrap());
            client.subscribe("processor", json!({"resume": resume}));
            client
        })
        .collect();
    for (place, client) in readers.iter_mut().enumerate() {
        let (samples, gaps) = client.samples(30);
        assert!(gaps.is_empty(), "{gaps:?}");
        let wanted = samples.iter().map(|sample| sample.offset).skip_while(|&offset| offset < place as u64);
        let wanted: Vec<u64> = wanted.collect();
        assert_eq!(wanted, (place as u64..place as u64 + wanted.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn an_invalid_delivery_is_a_bad_request() {
    let up = up();
    let mut client = Native::connect(&up.url());
    let request = json!({"op": "subscribe", "node": "plant", "instance": "processor", "delivery": "some"});
    let answer = client.request(request);
    assert_eq!(answer["code"], "bad_request", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("max_hz=N"), "{answer}");
}

/// A DAC with a log so small that its start is evicted.
fn forgetful() -> Oasis {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[log]\ntopic_bytes = 2000\n").unwrap();
    let up =
        Oasis::up(&["--config", config.to_str().unwrap(), "--name", "plant", "--probe", "processor@200"]);
    ledger(&up, "plant", "processor", "evictions", |ledger| ledger["log"]["evicted"].as_u64() > Some(10));
    up
}

fn resume(up: &Oasis, overflow: &str) -> (Native, Value) {
    let mut client = Native::connect(&up.url());
    let resume = format!("{}:0", client.welcome["epoch"].as_str().unwrap());
    let subscribed = client.subscribe("processor", json!({"resume": resume, "overflow": overflow}));
    (client, subscribed)
}

#[test]
fn a_subscription_ends_by_its_policy() {
    let up = forgetful();
    let (mut client, subscribed) = resume(&up, "close");
    assert_eq!(client.control("gap")["cause"], "log_retention");
    assert_eq!(client.control("unsubscribed")["topic"], subscribed["topic"]);
}

#[test]
fn a_subscription_continues_with_the_newest_by_its_policy() {
    let up = forgetful();
    let (mut client, _) = resume(&up, "latest");
    let gap = client.control("gap");
    assert_eq!((&gap["cause"], &gap["from"]), (&json!("log_retention"), &json!(0)));
    let next = eventually("a batch", || match client.next() {
        Incoming::Batch(bytes) => Some(bytes),
        _ => None,
    });
    let offset = u64::from_le_bytes(next[16..24].try_into().unwrap());
    assert_eq!(gap["to"], offset);
}
