//! The registry as changes since a revision: a reader gets each change once, and a picture in pieces.

use crate::harness::{
    Incoming, Native, Oasis, PlainNode, get,
    plain_node::{beat, identity, pushed},
    request,
};
use oasis_channel::ResumeSecret;
use oasis_wire::batch::{Encoder, Fields};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tungstenite::Message;

const INSTANCES: usize = 3_000;

fn connect(dac: &Oasis, instances: usize, secret: ResumeSecret) -> PlainNode {
    let instances = (0..instances).map(|number| pushed(format!("beat {number}"), &beat())).collect();
    PlainNode::connect(dac.channel(), identity("plant", 1), Some(secret), (&beat(), instances))
}

/// A reader of changes, with the picture that it has made of them.
struct Reader {
    client: Native,
    nodes: BTreeMap<String, Value>,
    instances: BTreeMap<u64, Value>,
    position: String,
    messages: usize,
    /// Bytes of all messages, and of the longest one.
    bytes: usize,
    longest: usize,
}

impl Reader {
    fn start(dac: &Oasis, resume: Option<&str>) -> Self {
        let mut client = Native::connect(&dac.url());
        let mut watch = json!({"op": "watch", "id": 1, "deltas": true});
        if let Some(resume) = resume {
            watch["resume"] = resume.into();
        }
        client.send(Message::text(watch.to_string()));
        let (nodes, instances, position) = Default::default();
        let mut reader = Self { client, nodes, instances, position, messages: 0, bytes: 0, longest: 0 };
        while reader.take()["more"] == true {}
        reader
    }

    /// Applies the next message.
    fn take(&mut self) -> Value {
        let message = match self.client.next() {
            Incoming::Control(message) => message,
            other => panic!("no message, but {other:?}"),
        };
        assert_eq!(message["op"], "registry_delta", "{message}");
        let length = message.to_string().len();
        (self.messages, self.bytes, self.longest) =
            (self.messages + 1, self.bytes + length, self.longest.max(length));
        if message["from"] == 0 {
            (self.nodes, self.instances) = Default::default();
        }
        let list = |value: &Value| value.as_array().unwrap().clone();
        for node in list(&message["nodes"]) {
            self.nodes.insert(node["name"].as_str().unwrap().into(), node);
        }
        for instance in list(&message["instances"]) {
            let index = instance["type"].as_u64().unwrap() as usize;
            assert_eq!(message["types"][index]["type"], "Beat");
            self.instances.insert(instance["id"].as_u64().unwrap(), instance);
        }
        for node in list(&message["removed"]["nodes"]) {
            self.nodes.remove(node.as_str().unwrap());
        }
        for id in list(&message["removed"]["instances"]) {
            self.instances.remove(&id.as_u64().unwrap());
        }
        self.position = message["position"].as_str().unwrap().into();
        message
    }

    /// Applies messages until the picture is as wanted.
    fn until(&mut self, wanted: impl Fn(&Self) -> bool) {
        while !wanted(self) {
            self.take();
        }
    }
}

#[test]
fn a_reader_gets_the_picture_in_pieces_and_then_only_changes() {
    let dac = Oasis::dac(&[]);
    let secret = ResumeSecret::random();
    let mut node = connect(&dac, INSTANCES, secret);
    let mut reader = Reader::start(&dac, None);
    assert_eq!((reader.nodes.len(), reader.instances.len()), (1, INSTANCES));
    assert!(reader.messages > 5 && reader.longest < 128 * 1024, "{} of {}", reader.messages, reader.longest);
    let whole = reader.bytes;
    for _ in 0..10 {
        node.sender.close();
        reader.until(|reader| reader.nodes["plant"]["online"] == false);
        node = connect(&dac, INSTANCES, secret);
        reader.until(|reader| reader.nodes["plant"]["online"] == true);
    }
    assert!(reader.bytes - whole < 20_000, "nothing but the node has changed: {}", reader.bytes - whole);

    // A reader that was away gets what it missed, one of another epoch everything.
    let position = reader.position.clone();
    drop(reader);
    node.sender.close();
    let mut late = Reader::start(&dac, Some(&position));
    late.until(|reader| reader.nodes.contains_key("plant") && reader.nodes["plant"]["online"] == false);
    assert_eq!(late.instances.len(), 0, "no instance has changed");
    let other = Reader::start(&dac, Some("0000000000000001:7"));
    assert_eq!(other.instances.len(), INSTANCES);
}

#[test]
fn changes_are_read_over_http_too() {
    let dac = Oasis::dac(&[]);
    let _node = connect(&dac, INSTANCES, ResumeSecret::random());
    let (mut count, mut path) = (0, "/api/v1/registry".to_owned());
    loop {
        let answer = get(&dac, &path);
        count += answer["instances"].as_array().unwrap().len();
        path = format!("/api/v1/registry?resume={}", answer["position"].as_str().unwrap());
        if answer["more"] == false {
            break;
        }
    }
    assert_eq!(count, INSTANCES);
    let (status, problem) = request(&dac, "GET", "/api/v1/registry?resume=yesterday", None);
    assert_eq!((status, &problem["type"]), (400, &json!("/problems/bad_parameter")), "{problem}");
}

#[test]
fn a_schema_comes_once_in_a_connection_and_is_served_by_its_hash() {
    let dac = Oasis::dac(&[]);
    let _node = connect(&dac, 2, ResumeSecret::random());
    let mut client = Native::connect(&dac.url());
    client.send(Message::text(json!({"op": "watch", "id": 1, "schemas": "once"}).to_string()));
    for number in 0..2 {
        let subscribe =
            json!({"op": "subscribe", "id": 7, "node": "plant", "instance": format!("beat {number}")});
        client.send(Message::text(subscribe.to_string()));
    }
    let mut seen = Vec::new();
    while seen.iter().filter(|message: &&Value| message["op"] == "subscribed").count() < 2 {
        seen.push(client.control_of(&["schema", "subscribed"]));
    }
    let ops: Vec<_> = seen.iter().map(|message| message["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["schema", "subscribed", "subscribed"]);
    let hash = seen[0]["sha256"].as_str().unwrap();
    for message in &seen[1..] {
        assert_eq!(
            (&message["instance"]["schema_sha256"], &message["instance"]["schema"]),
            (&json!(hash), &Value::Null)
        );
    }
    assert_eq!(get(&dac, &format!("/api/v1/schemas/{hash}")), seen[0]["schema"]);
    assert_eq!(get(&dac, "/api/v1/registry")["types"][0]["schema"], hash);
    assert_eq!(request(&dac, "GET", &format!("/api/v1/schemas/{}", "0".repeat(64)), None).0, 404);
}

#[test]
fn statistics_come_apart_from_the_registry_and_only_if_something_has_changed() {
    let dac = Oasis::dac(&[]);
    let mut node = connect(&dac, 2, ResumeSecret::random());
    let mut client = Native::connect(&dac.url());
    let watch = json!({"op": "watch", "id": 1, "deltas": true, "statistics": true});
    client.send(Message::text(watch.to_string()));
    let first = client.control("statistics");
    assert_eq!(first["instances"].as_array().unwrap().len(), 2, "{first}");
    let topic = node.topics[1].0;
    let mut encoder = Encoder::new(&beat()).unwrap();
    (1..=5).for_each(|number| encoder.push(number, &[]).unwrap());
    let mut batch = Vec::new();
    encoder.finish(Fields { topic, first_sequence: 4, ..Fields::default() }, &mut batch);
    node.sender.send(&[], &[&batch]).unwrap();
    let second = loop {
        let message = client.control_of(&["statistics", "registry_delta"]);
        assert!(
            message["op"] == "statistics" || message["from"] == 0,
            "samples change no structure: {message}"
        );
        if message["instances"].as_array().is_some_and(|rows| !rows.is_empty())
            && message["op"] == "statistics"
        {
            break message;
        }
    };
    let rows = second["instances"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "the other instance has not changed: {second}");
    assert_eq!((&rows[0][0], &rows[0][1]), (&json!(topic), &json!(5)));
    assert_eq!(rows[0][2], get(&dac, &format!("/api/v1/instances/{topic}"))["ledger"]["missing"]);
}
