//! Vehicles that pymavlink speaks for.

use crate::harness::{Oasis, eventually_shown, get, instance, ledger, own_address, repository};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::UdpSocket,
    path::Path,
    process::{Child, Command, Stdio},
};

fn python(script: &str, arguments: &[&str]) -> Command {
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let mut command = Command::new(python);
    command.arg(repository().join(script)).args(arguments);
    command
}

fn output_of(mut command: Command) -> String {
    let done =
        command.output().unwrap_or_else(|error| panic!("{error}: make table-readers installs pymavlink"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn dac(folder: &Path, settings: &str) -> Oasis {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    fs::write(&config, format!("[mavlink]\n{settings}\n{others}")).unwrap();
    let archive = folder.join("archive");
    Oasis::dac(&["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()])
}

/// The entry of the handler.
fn handler(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found = handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "mavlink");
    found.unwrap_or_else(|| panic!("no handler in {handlers}")).clone()
}

fn until(dac: &Oasis, what: &str, is_met: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let handler = handler(dac);
        if is_met(&handler["state"]) { Ok(handler["state"].clone()) } else { Err(handler) }
    })
}

/// A vehicle with a port of its own, and the port of the DAC.
struct Vehicle {
    own: String,
    to: String,
}

impl Vehicle {
    fn of(dac: &Oasis) -> Self {
        let state = until(dac, "the link", |state| state["links"][0]["open"] == true);
        let port = |address: &str| address.rsplit_once(':').unwrap().1.to_owned();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = port(&socket.local_addr().unwrap().to_string());
        Self { own, to: port(state["links"][0]["local"].as_str().unwrap()) }
    }

    fn sends(&self, what: &str, more: &[&str]) -> String {
        let arguments = [&[what, &*self.own, &*self.to], more].concat();
        output_of(python("tests/end_to_end/mavlink/vehicle.py", &arguments))
    }
}

/// The metrics of all samples of an instance.
fn samples(dac: &Oasis, node: &str, instance: &str) -> Vec<Value> {
    let document = get(dac, &format!("/api/v1/samples?node={node}&instance={instance}&from=earliest"));
    let messages = document["messages"].as_array().cloned().unwrap_or_default();
    let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
    samples.map(|sample| sample["metrics"].clone()).collect()
}

/// Whether a value is the one that was sent. Reals of 32 bits have fewer digits.
fn is_same(found: &Value, sent: &Value) -> bool {
    match (found, sent) {
        (Value::Array(found), Value::Array(sent)) => {
            found.len() == sent.len() && found.iter().zip(sent).all(|(found, sent)| is_same(found, sent))
        }
        (Value::Number(found), Value::Number(sent)) if found.is_f64() || sent.is_f64() => {
            found.as_f64() == sent.as_f64()
        }
        _ => found == sent,
    }
}

#[test]
fn the_table_of_messages_is_what_its_script_makes() {
    let folder = "crates/sources/mavlink";
    output_of(python(
        &format!("{folder}/make_messages.py"),
        &["--check", repository().join(folder).join("src/messages.txt").to_str().unwrap()],
    ));
}

#[test]
fn each_field_of_each_message_of_pymavlink_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "links = ['udpin:127.0.0.1:0']");
    let vehicle = Vehicle::of(&dac);
    let sent: Value = serde_json::from_str(&vehicle.sends("every", &[])).unwrap();
    let sent = sent.as_object().unwrap();
    assert!(sent.len() > 290, "{}", sent.len());
    let state = until(&dac, "all messages", |state| state["frames"] == sent.len());
    assert_eq!(state["secret_messages"], 1, "{state}");
    assert_eq!(state["samples"], sent.len() - 1, "{state}");
    assert_eq!((&state["missing_frames"], &state["damaged_frames"]), (&json!(0), &json!(0)), "{state}");
    let mut fields = 0;
    for (message, values) in sent.iter().filter(|(message, _)| *message != "SETUP_SIGNING") {
        let found = samples(&dac, "mavlink-1-1", message);
        assert_eq!(found.len(), 1, "{message}");
        for (field, value) in values.as_object().unwrap() {
            assert!(
                is_same(&found[0][field], value),
                "{message}.{field}: sent {value}, found {}",
                found[0][field]
            );
            fields += 1;
        }
    }
    assert!(fields > 2_000, "{fields}");
    assert!(instance(&dac, "mavlink-1-1", "SETUP_SIGNING").is_none(), "a key is not kept");
    let heartbeat = instance(&dac, "mavlink-1-1", "HEARTBEAT").unwrap().to_string();
    assert!(heartbeat.contains("MAV_TYPE_QUADROTOR"), "{heartbeat}");
    let position = instance(&dac, "mavlink-1-1", "GLOBAL_POSITION_INT").unwrap().to_string();
    assert!(position.contains("\"unit\":\"10*-7.deg\""), "{position}");
}

#[test]
fn losses_are_exact_and_a_restart_is_none() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than another process takes to start: a vehicle that returns after that has not restarted.
    let dac = dac(folder.path(), "links = ['udpin:127.0.0.1:0']\noffline_after = 600.0");
    let vehicle = Vehicle::of(&dac);
    vehicle.sends("numbers", &["250", "1", "0", "3", "100", "200"]);
    let messages = ledger(&dac, "mavlink-1-1", "messages", "all frames", |ledger| ledger["received"] == 12);
    assert_eq!(messages["missing"], 304, "{messages}");
    let gaps: Vec<_> = messages["gaps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gap| {
            assert_eq!(gap["cause"], "network", "{gap}");
            gap["to_sequence"].as_u64().unwrap() - gap["from_sequence"].as_u64().unwrap() + 1
        })
        .collect();
    assert_eq!(gaps, [1, 3, 100, 200]);

    // Another process at the same port: it begins with 0, and its clock with 100 ms.
    vehicle.sends("numbers", &["0", "2"]);
    let messages = ledger(&dac, "mavlink-1-1", "messages", "the restart", |ledger| ledger["received"] == 16);
    assert_eq!(messages["missing"], 306, "{messages}");
    let state = until(&dac, "the state", |state| state["restarts"] == 1);
    assert_eq!(state["missing_frames"], 306, "{state}");
}

#[test]
fn a_vehicle_that_was_offline_has_lost_an_unknown_number() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "links = ['udpin:127.0.0.1:0']\noffline_after = 1.5");
    let vehicle = Vehicle::of(&dac);
    vehicle.sends("numbers", &["250"]);
    eventually_shown("the node is offline", || {
        let found = instance(&dac, "mavlink-1-1", "ATTITUDE").unwrap_or_default();
        if found["state"] == "offline" { Ok(()) } else { Err(json!(found["state"])) }
    });
    vehicle.sends("numbers", &["77"]);
    let state = until(&dac, "its return", |state| state["samples"] == 4);
    assert_eq!(state["missing_frames"], 0, "the number of lost frames is unknown: {state}");
}

#[test]
fn both_versions_and_signed_frames_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "links = ['udpin:127.0.0.1:0']");
    let vehicle = Vehicle::of(&dac);
    vehicle.sends("old", &[]);
    let state = until(&dac, "all frames", |state| state["samples"] == 4);
    assert_eq!((&state["signed_frames"], &state["missing_frames"]), (&json!(2), &json!(0)), "{state}");
    assert_eq!(samples(&dac, "mavlink-1-1", "STATUSTEXT")[0]["text"], "caf\u{e9}");
    let versions: Vec<_> =
        samples(&dac, "mavlink-1-1", "messages").iter().map(|one| one["version"].clone()).collect();
    assert_eq!(versions, [1, 1, 2, 2]);
}

#[test]
fn noise_damage_and_floods_harm_no_other_frame() {
    let folder = tempfile::tempdir().unwrap();
    let dac = dac(folder.path(), "links = ['udpin:127.0.0.1:0']\nmax_nodes = 20");
    let vehicle = Vehicle::of(&dac);
    let sent: Value = serde_json::from_str(&vehicle.sends("hostile", &[])).unwrap();
    let frames = sent["frames"].as_u64().unwrap();
    let state = until(&dac, "the flood", |state| state["refused_messages"] == 254 - 19);
    assert_eq!((&state["nodes"], &state["frames"]), (&json!(20), &json!(frames + 19)), "{state}");
    assert_eq!(state["unknown_messages"], json!({"70000": 1}), "{state}");
    // The damaged and the truncated one; a jump without a clock is decided later.
    until(&dac, "the losses", |state| state["missing_frames"] == 2);
    let messages =
        ledger(&dac, "mavlink-1-1", "messages", "all frames", |ledger| ledger["received"] == frames);
    assert_eq!(messages["missing"], 2, "{messages}");
    assert!(state["newest_refusal"].to_string().contains("mavlink.max_nodes"), "{state}");
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_vehicle_that_listens_is_reached_and_sees_no_ground_station() {
    let folder = tempfile::tempdir().unwrap();
    let address = own_address();
    let port = address.rsplit_once(':').unwrap().1.to_owned();
    let mut command = python("tests/end_to_end/mavlink/vehicle.py", &["serve", &port]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    let dac = dac(folder.path(), &format!("links = ['udpout:127.0.0.1:{port}']"));
    let state = until(&dac, "the answer", |state| state["samples"] == 2);
    assert_eq!(state["links"][0]["open"], true, "{state}");
    let done = child.wait_with_output().unwrap();
    let heard: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(heard, json!({"type": 18, "system": 254, "component": 191}));
    assert_eq!(samples(&dac, "mavlink-9-0", "ATTITUDE").len(), 1);
}

#[test]
fn a_serial_line_is_read_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = python("tests/end_to_end/mavlink/vehicle.py", &["serial"]);
    let mut line = Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut path = String::new();
    BufReader::new(line.0.stdout.take().unwrap()).read_line(&mut path).unwrap();
    let dac = dac(folder.path(), &format!("links = ['serial:{}']", path.trim()));
    until(&dac, "the line", |state| state["links"][0]["open"] == true);
    writeln!(line.0.stdin.as_mut().unwrap()).unwrap();
    let state = until(&dac, "all frames", |state| state["samples"] == 100);
    assert_eq!((&state["missing_frames"], &state["skipped_bytes"]), (&json!(0), &json!(19)), "{state}");
    drop(line);
    eventually_shown("the line is gone", || {
        let link = &handler(&dac)["state"]["links"][0];
        if link["open"] == false && link["newest_failure"].is_string() { Ok(()) } else { Err(link.clone()) }
    });
}
