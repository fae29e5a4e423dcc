//! Samples on topics of Mosquitto, read by paho-mqtt (`docs/guides/publish-to-mqtt.md`).

mod commands;
mod kills;
mod peer;

use crate::{
    harness::{Oasis, eventually_shown, get, has_program, oasis},
    mqtt::{Broker, MOSQUITTO, secure_broker},
    notify::Pump,
};
use peer::Peer;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// Settings of a broker without limits that tests would reach.
const OPEN: &str = "allow_anonymous true\nmax_queued_messages 0";

fn arguments(folder: &Path, broker: &Broker, settings: &str) -> Vec<String> {
    arguments_of(folder, &format!("url = 'mqtt://{}'\n{settings}", broker.address))
}

fn arguments_of(folder: &Path, settings: &str) -> Vec<String> {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    let text = format!("[mqtt_publish]\n{settings}\n{others}");
    fs::write(&config, text).unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    ["--config".into(), at("oasis.toml"), "--archive".into(), at("archive")].into()
}

fn dac(folder: &Path, broker: &Broker, settings: &str) -> Oasis {
    let arguments = arguments(folder, broker, settings);
    Oasis::dac(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The entry of the handler.
fn handler(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found =
        handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "mqtt_publish");
    found.unwrap_or_else(|| panic!("no handler in {handlers}")).clone()
}

fn until(dac: &Oasis, what: &str, is_met: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let handler = handler(dac);
        if is_met(&handler["state"]) { Ok(handler["state"].clone()) } else { Err(handler) }
    })
}

#[test]
fn a_subscription_to_what_the_dac_publishes_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        "url = 'mqtt://127.0.0.1:1'\n[mqtt]\nurl = 'mqtt://localhost:1'\nsubscribe = [{ topic = '#' }]";
    let arguments = arguments_of(folder.path(), settings);
    let refused = oasis().arg("dac").args(arguments).args(["--listen", "127.0.0.1:0"]).output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{error}");
    assert!(error.contains("mqtt.subscribe") && error.contains("mqtt_publish.topic"), "{error}");
}

#[test]
fn each_sample_is_a_message_in_both_versions_and_the_newest_is_retained() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    for version in ["3.1.1", "5"] {
        let broker = Broker::start(OPEN);
        let mut peer = Peer::start(&broker, version, "reader", &["oasis/#"]);
        let folder = tempfile::tempdir().unwrap();
        let dac = dac(folder.path(), &broker, &format!("version = '{version}'\nunits = true\nretain = true"));
        let mut pump = Pump::connect(&dac);
        for number in 1..=300 {
            pump.send(f64::from(number) / 2.0);
            let message = peer.next("a sample", |line| line["topic"] == "oasis/plant/pump");
            let sample = &message["json"];
            let found = (&sample["sequence"], &sample["metrics"]["temperature"], &message["qos"]);
            assert_eq!(found, (&json!(number), &json!(f64::from(number) / 2.0), &json!(1)), "{message}");
            assert_eq!((&sample["units"]["temperature"], &sample["type"]), (&json!("Cel"), &json!("Pump")));
        }
        let state = until(&dac, "all acknowledgments", |state| {
            state["published_samples"] == 300 && state["in_flight"] == 0
        });
        let others = (&state["repeated_samples"], &state["refused_samples"]);
        assert_eq!(others, (&json!(0), &json!(0)), "{state}");
        let mut later = Peer::start(&broker, version, "later", &["oasis/plant/#"]);
        let newest = later.next("the retained message", |line| line["json"]["sequence"] == 300);
        assert_eq!(newest["retained"], true);
    }
}

#[test]
fn samples_reach_a_broker_with_tls_and_a_password() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let (broker, ca) = secure_broker(keys.path());
    let password = keys.path().join("password");
    fs::write(&password, "a secret\n").unwrap();
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "url = 'mqtts://{}'\nuser = 'oasis'\npassword_file = '{}'\nca_file = '{ca}'",
        broker.address,
        password.display()
    );
    let arguments = arguments_of(folder.path(), &settings);
    let dac = Oasis::dac(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut pump = Pump::connect(&dac);
    for number in 1..=200 {
        pump.send(f64::from(number));
        until(&dac, "the acknowledgment", |state| state["published_samples"] == number);
    }
    assert!(!handler(&dac).to_string().contains("a secret"));
}

#[test]
fn a_broker_that_permits_nothing_is_a_warning_and_the_samples_are_declared() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("acl");
    fs::write(&rules, "topic read #\ntopic write oasis/missing\n").unwrap();
    let broker = Broker::start(&format!("{OPEN}\nacl_file {}", rules.display()));
    let mut peer = Peer::start(&broker, "5", "reader", &["oasis/#"]);
    let dac = dac(folder.path(), &broker, "");
    let mut pump = Pump::connect(&dac);
    pump.send(1.0);
    let state = until(&dac, "the refusal", |state| state["refused_samples"] == 1);
    assert_eq!(state["published_samples"], 0, "{state}");
    let gap = peer.next("the gap", |line| line["topic"] == "oasis/missing");
    let expected = (&json!("copy_refused"), &json!(1), &json!(1));
    assert_eq!((&gap["json"]["cause"], &gap["json"]["from_sequence"], &gap["json"]["to_sequence"]), expected);
    assert!(handler(&dac).to_string().contains("access rules"), "{}", handler(&dac));
}

/// The metrics of a message of Sparkplug B: one of this name.
fn metric<'v>(message: &'v Value, name: &str) -> &'v Value {
    let metrics = message["sparkplug"]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn a_dac_is_an_edge_node_with_births_data_and_deaths_that_another_dac_reads() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start(OPEN);
    let mut peer = Peer::start(&broker, "5", "host", &["spBv1.0/#"]);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let subscribe = format!(
        "url = 'mqtt://{}'\nsubscribe = [{{ topic = 'spBv1.0/#', format = 'sparkplug' }}]\n",
        broker.address
    );
    let reader = crate::mqtt::dac(folders[1].path(), &subscribe);
    crate::mqtt::until_subscribed(&reader);

    let dac = dac(folders[0].path(), &broker, "format = 'sparkplug'\ngroup = 'plant'\nedge = 'hall'");
    let birth = peer.next("the birth of the edge node", |line| line["topic"] == "spBv1.0/plant/NBIRTH/hall");
    assert_eq!((&birth["sparkplug"]["seq"], &birth["qos"]), (&json!(0), &json!(0)), "{birth}");
    let session = metric(&birth, "bdSeq")["value"].clone();
    let mut pump = Pump::connect(&dac);
    let device =
        peer.next("the birth of the pump", |line| line["topic"] == "spBv1.0/plant/DBIRTH/hall/plant:pump");
    let temperature = metric(&device, "temperature");
    assert_eq!((&temperature["datatype"], &temperature["unit"]), (&json!(10), &json!("Cel")), "{device}");
    for (number, sequence) in (1..=300).zip(2_u32..) {
        pump.send(f64::from(number));
        let data = peer.next("data", |line| line["topic"] == "spBv1.0/plant/DDATA/hall/plant:pump");
        assert_eq!(data["sparkplug"]["seq"], sequence & 0xff, "{data}");
        let of = |name: &str| {
            let metrics = data["sparkplug"]["metrics"].as_array().unwrap();
            metrics.iter().find(|found| found["alias"] == metric(&device, name)["alias"]).unwrap()["value"]
                .clone()
        };
        assert_eq!((of("temperature"), of("oasis/sequence")), (json!(f64::from(number)), json!(number)));
    }

    peer.publish(&json!({"topic": "spBv1.0/plant/NCMD/hall", "metrics": [["Node Control/Rebirth", true]]}));
    let again = peer.next("another birth", |line| line["topic"] == "spBv1.0/plant/NBIRTH/hall");
    assert_eq!((&again["sparkplug"]["seq"], &metric(&again, "bdSeq")["value"]), (&json!(0), &session));
    peer.next("the devices again", |line| line["topic"] == "spBv1.0/plant/DBIRTH/hall/plant:pump");
    drop(pump);
    peer.next("the death of the pump", |line| line["topic"] == "spBv1.0/plant/DDEATH/hall/plant:pump");

    dac.kill();
    let death = peer.next("the will", |line| line["topic"] == "spBv1.0/plant/NDEATH/hall");
    assert_eq!((&death["sparkplug"]["seq"], &metric(&death, "bdSeq")["value"]), (&Value::Null, &session));
    eventually_shown("the other DAC has all values", || {
        let mut all = crate::mqtt::values(&reader, "plant:hall", "plant:pump", "oasis/sequence");
        // Births and deaths have no number of their own.
        all.retain(|number| *number > 0.0);
        all.dedup();
        if all.len() == 300 { Ok(()) } else { Err(json!([all.len(), all.last()])) }
    });
    let messages = crate::harness::instance(&reader, "plant:hall", "messages").unwrap();
    assert_eq!(messages["ledger"]["missing"], 0, "{messages}");
}
