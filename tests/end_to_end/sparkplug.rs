//! Sparkplug B over Mosquitto.

use crate::{
    harness::{eventually_shown, has_program, instance, ledger},
    mqtt::{Broker, MOSQUITTO, dac, until, until_subscribed, values},
};
use serde_json::json;
use std::{io::Write, process::Stdio};

const NODE: &str = "plant:hall";

/// A field of Protocol Buffers with bytes, shorter than 128.
fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 128);
    [&[field << 3 | 2, content.len() as u8], content].concat()
}

fn double(value: f64) -> Vec<u8> {
    [&[13 << 3 | 1][..], &value.to_le_bytes()].concat()
}

/// A payload without a time.
fn payload(sequence: u8, metric: &[u8]) -> Vec<u8> {
    let number = if sequence < 128 { vec![sequence] } else { vec![sequence, 1] };
    [bytes(2, metric), vec![3 << 3], number].concat()
}

/// The birth of an edge node, whose connection has this number.
fn node_birth(session: u8) -> Vec<u8> {
    payload(0, &[bytes(1, b"bdSeq"), vec![4 << 3, 8, 11 << 3, session]].concat())
}

/// The birth of a tank, whose level in meters has the alias 1.
fn tank_birth(sequence: u8, level: f64) -> Vec<u8> {
    let unit = [bytes(1, b"engUnit"), bytes(2, &[vec![8, 12], bytes(8, b"m")].concat())].concat();
    let metric = [bytes(1, b"level"), vec![2 << 3, 1, 4 << 3, 10], bytes(9, &unit), double(level)];
    payload(sequence, &metric.concat())
}

fn level(sequence: u8, level: f64) -> Vec<u8> {
    payload(sequence, &[vec![2 << 3, 1], double(level)].concat())
}

fn publish(broker: &Broker, topic: &str, payload: &[u8]) {
    let topic = format!("spBv1.0/plant/{topic}");
    let mut command = broker.client("mosquitto_pub", &["-t", &topic, "-s"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn births_data_gaps_and_deaths_of_an_edge_node_are_followed() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start("allow_anonymous true\nqueue_qos0_messages true");
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "url = 'mqtt://{}'\nsubscribe = [{{ topic = 'spBv1.0/#', format = 'sparkplug' }}]\n",
        broker.address
    );
    let dac = dac(folder.path(), &settings);
    until_subscribed(&dac);

    // Data without a birth: the DAC asks for births. The broker keeps that for a session which begins here.
    let session = ["-i", "edge", "-c", "-q", "1", "-t", "spBv1.0/plant/NCMD/hall"];
    assert!(broker.client("mosquitto_sub", &session).arg("-E").status().unwrap().success());
    publish(&broker, "DDATA/hall/tank", &level(5, 1.0));
    let commands = broker.client("mosquitto_sub", &session).args(["-C", "1", "-W", "60"]).output().unwrap();
    let said = String::from_utf8_lossy(&commands.stdout).into_owned();
    assert!(said.contains("Node Control/Rebirth"), "{said}");

    publish(&broker, "NBIRTH/hall", &node_birth(3));
    publish(&broker, "DBIRTH/hall/tank", &tank_birth(1, 1.5));
    publish(&broker, "DDATA/hall/tank", &level(2, 2.0));
    publish(&broker, "DDATA/hall/tank", &level(7, 2.5));
    let messages = ledger(&dac, NODE, "messages", "all messages", |ledger| ledger["received"] == 5);
    assert_eq!(messages["missing"], 4, "{messages}");
    assert_eq!(messages["gaps"][0]["cause"], "network", "{messages}");
    assert_eq!(values(&dac, NODE, "tank", "level"), [1.5, 2.0, 2.5]);
    let tank = instance(&dac, NODE, "tank").unwrap();
    assert!(tank.to_string().contains("\"unit\":\"m\""), "{tank}");
    let state = until(&dac, "the state", |state| state["missing_messages"] == 4);
    assert_eq!(state["lost_samples"], 0, "{state}");

    let death = bytes(2, &[bytes(1, b"bdSeq"), vec![4 << 3, 8, 11 << 3, 3]].concat());
    publish(&broker, "NDEATH/hall", &death);
    eventually_shown("the node is offline", || {
        let tank = instance(&dac, NODE, "tank").unwrap_or_default();
        if tank["state"] == "offline" { Ok(()) } else { Err(json!(tank["state"])) }
    });
    publish(&broker, "NBIRTH/hall", &node_birth(4));
    publish(&broker, "DBIRTH/hall/tank", &tank_birth(1, 3.0));
    eventually_shown("the node is back with the next number", || {
        let all = values(&dac, NODE, "tank", "level");
        if all == [1.5, 2.0, 2.5, 3.0] { Ok(()) } else { Err(json!(all)) }
    });
}
