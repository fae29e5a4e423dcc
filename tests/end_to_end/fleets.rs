//! A fleet: many instances at a glance, in one subscription.

use crate::harness::{
    Incoming, Native, Oasis, PlainNode, eventually, get,
    plain_node::{identity, pushed},
};
use oasis_channel::ResumeSecret;
use oasis_wire::{
    batch::{Encoder, Fields},
    schema::ProbeType,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tungstenite::Message;

/// More than a connection may subscribe to.
const INSTANCES: usize = 2_500;

fn counter() -> ProbeType {
    let json = r#"{"name": "Counter", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
        "metrics": [{"name": "count", "type": "uint64"}]}"#;
    serde_json::from_str(json).unwrap()
}

fn connect(dac: &Oasis, name: &str, instances: usize) -> PlainNode {
    let instances = (0..instances).map(|number| pushed(format!("beat {number}"), &counter())).collect();
    PlainNode::connect(
        dac.channel(),
        identity(name, 1),
        Some(ResumeSecret::random()),
        (&counter(), instances),
    )
}

/// A reader of a fleet, with what it knows of it.
struct Reader {
    client: Native,
    fleet: Value,
    /// Rows by name of the instance.
    rows: BTreeMap<String, Value>,
    names: BTreeMap<u64, String>,
    longest: usize,
}

impl Reader {
    fn start(dac: &Oasis, wanted: Value) -> Self {
        let mut client = Native::connect(&dac.url());
        let mut request = json!({"op": "fleet", "id": 1, "period": 0.25});
        wanted.as_object().unwrap().iter().for_each(|(key, value)| request[key] = value.clone());
        client.send(Message::text(request.to_string()));
        let answer = message(&mut client, "fleet");
        let (rows, names, longest) = Default::default();
        let mut reader = Self { client, fleet: answer["fleet"].clone(), rows, names, longest };
        reader.take();
        reader
    }

    /// Takes the messages of one round.
    fn take(&mut self) {
        loop {
            let message = message(&mut self.client, "fleet_rows");
            assert_eq!(message["fleet"], self.fleet);
            let list = |key: &str| message[key].as_array().cloned().unwrap_or_default();
            for member in list("members") {
                let name = member[2].as_str().unwrap().to_owned();
                self.names.insert(member[0].as_u64().unwrap(), name);
            }
            self.longest = self.longest.max(list("rows").len());
            for row in list("rows") {
                let name = &self.names[&row[0].as_u64().unwrap()];
                self.rows.insert(name.clone(), row);
            }
            if message["more"] == false {
                return;
            }
        }
    }

    /// Takes rounds until one satisfies a condition.
    fn until(&mut self, what: &str, is_so: impl Fn(&BTreeMap<String, Value>) -> bool) {
        // The harness gives up a client that receives nothing for long.
        while !is_so(&self.rows) {
            println!("waiting for {what}");
            self.take();
        }
    }
}

fn message(client: &mut Native, op: &str) -> Value {
    loop {
        match client.next() {
            Incoming::Control(message) if message["op"] == op => return message,
            Incoming::Control(message) if message["op"] == "error" => panic!("refused: {message}"),
            Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
            _ => {}
        }
    }
}

/// Sends samples of an instance, from a sequence number on.
fn send(node: &mut PlainNode, instance: usize, first_sequence: u64, count: u64) {
    let mut encoder = Encoder::new(&counter()).unwrap();
    for number in 0..count {
        let row = (first_sequence + number).to_le_bytes();
        encoder.push(number, &row).unwrap();
    }
    let (topic, mut batch) = (node.topics[instance].0, Vec::new());
    encoder.finish(Fields { topic, first_sequence, ..Fields::default() }, &mut batch);
    node.sender.send(&[], &[&batch]).unwrap();
}

#[test]
fn a_reader_sees_more_instances_than_it_could_subscribe_to() {
    let dac = Oasis::dac(&[]);
    let mut node = connect(&dac, "plant", INSTANCES);
    let mut reader = Reader::start(&dac, json!({"metrics": ["count"]}));
    assert_eq!((reader.rows.len(), reader.longest), (INSTANCES, 1_000));
    assert!(reader.rows.values().all(|row| row[1] == "online" && row[3].is_null()));

    send(&mut node, 7, 1, 3);
    // Two samples are missing, and the node does not say why.
    send(&mut node, 7, 6, 1);
    reader.until("samples", |rows| rows["beat 7"][4] == 4);
    let row = reader.rows["beat 7"].as_array().unwrap();
    assert_eq!(row[5..], [json!(0), json!(2), json!(0), json!(6)]);

    drop(node);
    reader.until("the end of the node", |rows| rows.values().all(|row| row[1] == "offline"));
    let ledger = get(&dac, "/api/v1/ledger");
    assert_eq!(ledger["doors"]["refused"], json!({}));
}

#[test]
fn readers_share_a_fleet_and_it_ends_with_the_last_of_them() {
    let dac = Oasis::dac(&[]);
    let _node = connect(&dac, "plant", 3);
    let mut one = Reader::start(&dac, json!({"instances": "beat 1"}));
    let other = Reader::start(&dac, json!({"instances": "beat 1"}));
    assert_eq!(one.fleet, other.fleet);
    assert_eq!(one.rows.keys().collect::<Vec<_>>(), ["beat 1"]);
    let another = Reader::start(&dac, json!({"instances": "beat 2"}));
    assert_ne!(one.fleet, another.fleet);

    let again = one.client.request(json!({"op": "fleet", "instances": "beat 1", "period": 0.25}));
    assert_eq!(again["code"], "already_subscribed", "{again}");
    let ended = one.client.request(json!({"op": "end-fleet", "fleet": one.fleet}));
    assert_eq!(ended["op"], "fleet_ended", "{ended}");
    let ended = one.client.request(json!({"op": "end-fleet", "fleet": one.fleet}));
    assert_eq!(ended["code"], "unknown_fleet", "{ended}");
    drop((one, other));
    eventually("a new fleet", || {
        let next = Reader::start(&dac, json!({"instances": "beat 1"}));
        (next.fleet.as_u64() > another.fleet.as_u64()).then_some(())
    });
}

#[test]
fn what_is_not_allowed_is_refused_and_the_connection_stays_open() {
    let dac = Oasis::dac(&[]);
    let mut client = Native::connect(&dac.url());
    for (wanted, words) in [
        (json!({"period": 0.01}), "period is \"0.01\""),
        (json!({"metrics": ["a", "b", "c", "d"]}), "at most 3"),
        (json!({"metrics": [7]}), "invalid type"),
        (json!({"nodes": "x".repeat(600)}), "600 bytes"),
    ] {
        let mut request = wanted.clone();
        request["op"] = "fleet".into();
        let answer = client.request(request);
        assert_eq!(answer["code"], "bad_request", "{wanted}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains(words), "{answer}");
    }
    for number in 0..4 {
        let answer = client.request(json!({"op": "fleet", "nodes": format!("{number}*")}));
        assert_eq!(answer["op"], "fleet", "{answer}");
    }
    assert_eq!(client.request(json!({"op": "fleet"}))["code"], "too_many_fleets");
    assert_eq!(client.request(json!({"op": "ping", "client_time": 1}))["op"], "pong");
}
