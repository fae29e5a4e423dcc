//! Commands to probes by topics, with the rights of a token.

use super::{OPEN, Peer, arguments, metric, until};
use crate::{
    harness::{Oasis, eventually_shown, has_program, instance, oasis},
    mqtt::{Broker, MOSQUITTO},
};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A DAC and a node with a probe, and a token that may set its rate.
fn start(folder: &Path, broker: &Broker, settings: &str) -> (Oasis, Oasis) {
    let at = |name: &str| folder.join(name).display().to_string();
    let create = [
        "token",
        "create",
        "scada",
        "--role",
        "operator",
        "--scope",
        "command:hertz plant/*",
        "--scope",
        "read plant/*",
        "--expires",
        "never",
        "--access",
    ];
    let created = oasis().args(create).args([&at("access"), "--token-file", &at("token")]).output().unwrap();
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let settings = format!("commands = 'oasis/commands'\ntoken_file = '{}'\n{settings}", at("token"));
    let mut arguments = arguments(folder, broker, &settings);
    let access = format!("\n[access]\ndirectory = '{}'\n", at("access"));
    let config = fs::read_to_string(at("oasis.toml")).unwrap() + &access;
    fs::write(at("oasis.toml"), config).unwrap();
    arguments.retain(|argument| !argument.is_empty());
    let dac = Oasis::dac(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1", "--probe", "memory@1"]);
    eventually_shown("the probe", || instance(&dac, "plant", "processor").map(drop).ok_or(Value::Null));
    until(&dac, "the connection", |state| state["connected"] == true);
    (dac, node)
}

fn command(instance: &str, command: &str, more: &Value) -> String {
    let mut command = json!({"node": "plant", "instance": instance, "command": command});
    command.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    command.to_string()
}

#[test]
fn a_command_needs_the_permission_of_the_token_and_is_answered_where_it_asks() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start(OPEN);
    let folder = tempfile::tempdir().unwrap();
    // A retained command is of the past, and would be carried out at each start.
    let mut peer = Peer::start(&broker, "5", "scada", &["oasis/answers/#", "plant/#"]);
    let old = command("processor", "hertz", &json!({"hertz": 77}));
    peer.publish(&json!({"topic": "oasis/commands", "payload": old, "retain": true}));
    let (dac, _node) = start(folder.path(), &broker, "");
    let hertz = || instance(&dac, "plant", "processor").unwrap()["hertz"].clone();
    assert_eq!(hertz(), 1.0);

    let faster = command("processor", "hertz", &json!({"hertz": 5}));
    let ask = |topic: &str, payload: &str| json!({"topic": "oasis/commands", "payload": payload, "response_topic": topic, "correlation": "0a0b"});
    peer.publish(&ask("oasis/answers/scada", &faster));
    let answer = peer.next("the answer", |line| line["topic"] == "oasis/answers/scada");
    assert_eq!((&answer["json"]["done"], &answer["correlation"]), (&json!(true), &json!("0a0b")), "{answer}");
    assert_eq!((&answer["json"]["state"]["hertz"], hertz()), (&json!(5.0), json!(5.0)));

    for (payload, code) in [
        (command("processor", "disable", &json!({})), "forbidden"),
        (command("nothing", "hertz", &json!({"hertz": 5})), "unknown_instance"),
        (command("processor", "hertz", &json!({"hertz": -5})), "bad_request"),
        ("no JSON".into(), "bad_request"),
    ] {
        // Another topic would be written with the rights of the DAC.
        peer.publish(&ask("plant/valve", &payload));
        let answer = peer.next("the refusal", |line| line.get("topic").is_some());
        assert_eq!(
            (&answer["topic"], &answer["json"]["code"]),
            (&json!("oasis/answers"), &json!(code)),
            "{answer}"
        );
    }
    assert_eq!(instance(&dac, "plant", "processor").unwrap()["enabled"], true);
    let state = until(&dac, "the counters", |state| state["refused_commands"] == 4);
    assert_eq!(state["commands"], 1, "{state}");
    let audit = fs::read_dir(folder.path().join("access/audit")).unwrap();
    let audit: String =
        audit.map(|file| fs::read_to_string(file.unwrap().path()).unwrap_or_default()).collect();
    assert!(
        audit.contains("scada") && audit.contains("command:hertz") && audit.contains("command:disable"),
        "{audit}"
    );

    // A token that is revoked has no rights from then on.
    let access = folder.path().join("access").display().to_string();
    assert!(oasis().args(["token", "revoke", "scada", "--access", &access]).status().unwrap().success());
    eventually_shown("the token has ended", || {
        peer.publish(&ask("oasis/answers/again", &faster));
        let answer = peer.next("an answer", |line| line["topic"] == "oasis/answers/again");
        if answer["json"]["code"] == "bad_token" { Ok(()) } else { Err(answer) }
    });
}

#[test]
fn a_host_of_sparkplug_writes_the_rate_and_sees_what_is_in_force() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start(OPEN);
    let folder = tempfile::tempdir().unwrap();
    let mut peer = Peer::start(&broker, "5", "host", &["spBv1.0/#", "oasis/answers"]);
    let (dac, _node) = start(folder.path(), &broker, "format = 'sparkplug'\ninstances = ['plant/processor']");
    let birth = peer.next("the birth", |line| line["topic"] == "spBv1.0/oasis/DBIRTH/oasis/plant:processor");
    let hertz = metric(&birth, "Device Control/hertz").clone();
    assert_eq!((&hertz["value"], &hertz["datatype"]), (&json!(1.0), &json!(10)), "{birth}");
    let to = "spBv1.0/oasis/DCMD/oasis/plant:processor";
    peer.publish(&json!({"topic": to, "metrics": [["Device Control/hertz", 4.0]]}));
    let has_rate = |line: &Value, rate: f64| {
        let metrics = line["sparkplug"]["metrics"].as_array().cloned().unwrap_or_default();
        metrics.iter().any(|metric| metric["alias"] == hertz["alias"] && metric["value"] == rate)
    };
    peer.next("the rate in force", |line| {
        line["topic"].as_str().unwrap().contains("DDATA") && has_rate(line, 4.0)
    });
    assert_eq!(instance(&dac, "plant", "processor").unwrap()["hertz"], 4.0);
    peer.publish(&json!({"topic": to, "metrics": [["Device Control/enabled", false]]}));
    let refused =
        peer.next("the refusal", |line| line["topic"] == "oasis/answers" && line["json"]["done"] == false);
    assert_eq!(refused["json"]["code"], "forbidden", "{refused}");
    peer.publish(&json!({"topic": to, "metrics": [["user", 1.0]]}));
    peer.next("the refusal of a metric", |line| line["json"]["code"] == "bad_request");
}
