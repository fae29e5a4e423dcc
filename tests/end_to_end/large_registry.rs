//! Thousands of instances: the registry has megabytes, and clients that are slow still get it.

use crate::harness::{Incoming, Native, Oasis, eventually, get};
use oasis_channel::{
    Connector, DacMessage, InstanceState, NodeIdentity, NodeMessage, PROTOCOL, ProbeKind, Receiver,
    RegisteredInstance, ResumeSecret, Sender, tcp::TcpConnector,
};
use oasis_wire::schema::ProbeType;
use serde_json::{Value, json};
use tungstenite::Message;
use uuid::Uuid;

const INSTANCES: usize = 2_500;
/// Reconnects of the node while the client reads nothing.
const RECONNECTS: usize = 10;

fn beat() -> ProbeType {
    let json = r#"{"name": "Beat", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0", "metrics": []}"#;
    serde_json::from_str(json).unwrap()
}

/// Connects the node and registers its instances.
fn connect(channel: &str, secret: ResumeSecret) -> (Box<dyn Sender>, Box<dyn Receiver>) {
    let (mut sender, mut receiver) = TcpConnector::new(channel).connect().unwrap();
    let node = NodeIdentity {
        name: "plant".into(),
        uuid: Uuid::nil(),
        run: Uuid::from_u128(1),
        host: "h".into(),
        software: "test".into(),
        pid: 1,
    };
    let instance = |number| RegisteredInstance {
        name: format!("{}{number}", "a-long-name-".repeat(70)),
        probe_type: beat().uuid,
        kind: ProbeKind::Pushed,
        demand: None,
        state: InstanceState { hertz: None, enabled: true, recorder: None },
    };
    let instances = (0..INSTANCES).map(instance).collect();
    let hello = NodeMessage::Hello { protocol: PROTOCOL, node, secret: Some(secret) };
    sender.send(&[hello, NodeMessage::Register { types: vec![beat()], instances }], &[]).unwrap();
    while !matches!(receiver.receive().unwrap(), DacMessage::Registered { .. }) {}
    (sender, receiver)
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
        link.0.close();
        link = connect(dac.channel(), secret);
    }
    let whole = registry(&mut client);
    assert_eq!(whole["instances"].as_array().unwrap().len(), INSTANCES);
    assert!(whole.to_string().len() > 2 * 1024 * 1024);
    // The client takes pictures until it has the last state.
    link.0.close();
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
    let pong = client.ask(json!({"op": "ping", "client_time": 1}));
    assert_eq!(pong["op"], "pong");
    assert_eq!(get(&dac, "/api/v1/ledger")["doors"]["refused"], json!({}));
}
