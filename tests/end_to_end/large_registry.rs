//! Thousands of instances: the registry has megabytes, and clients that are slow still get it.

use crate::harness::{
    Incoming, Native, Oasis, PlainNode, eventually, get,
    plain_node::{beat, identity, pushed},
};
use oasis_channel::ResumeSecret;
use serde_json::{Value, json};
use tungstenite::Message;

const INSTANCES: usize = 2_500;
/// Reconnects of the node while the client reads nothing.
const RECONNECTS: usize = 4;

/// Connects the node and registers its instances.
fn connect(channel: &str, secret: ResumeSecret) -> PlainNode {
    let instance = |number| pushed(format!("{}{number}", "a-long-name-".repeat(70)), &beat());
    let instances = (0..INSTANCES).map(instance).collect();
    PlainNode::connect(channel, identity("plant", 1), Some(secret), (&beat(), instances))
}

fn registry(client: &mut Native) -> Value {
    loop {
        match client.next() {
            Incoming::Control(message) if message["op"] == "registry" => return message,
            Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
            _ => {}
        }
    }
}

#[test]
fn a_slow_client_gets_a_registry_of_megabytes_and_stays_connected() {
    let dac = Oasis::dac(&[]);
    let secret = ResumeSecret::random();
    let mut link = connect(dac.channel(), secret);
    let mut client = Native::connect(&dac.url());
    client.send(Message::text(json!({"op": "watch", "id": 1}).to_string()));
    for _ in 0..RECONNECTS {
        link.sender.close();
        link = connect(dac.channel(), secret);
    }
    let whole = registry(&mut client);
    assert_eq!(whole["instances"].as_array().unwrap().len(), INSTANCES);
    assert!(whole.to_string().len() > 2 * 1024 * 1024);
    // The client takes pictures until it has the last state.
    link.sender.close();
    eventually("the node offline", || {
        (get(&dac, "/api/v1/nodes")["nodes"][0]["state"] == "offline").then_some(())
    });
    let mut pictures = 1;
    while registry(&mut client)["nodes"][0]["state"] != "offline" {
        pictures += 1;
    }
    assert!(
        pictures <= RECONNECTS,
        "each picture was sent, though the client could not take them: {pictures}"
    );
    let pong = client.request(json!({"op": "ping", "client_time": 1}));
    assert_eq!(pong["op"], "pong");
    assert_eq!(get(&dac, "/api/v1/ledger")["doors"]["refused"], json!({}));
}
