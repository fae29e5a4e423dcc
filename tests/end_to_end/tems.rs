//! Several TEMs: each lists every DAC, whichever of them ends, hangs or restarts.

use crate::harness::{Oasis, eventually_shown, get, oasis};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A DAC as a TEM lists it; null if it does not.
fn listed(tem: &Oasis, name: &str) -> Value {
    let list = get(tem, "/api/v1/tem");
    list["dacs"].as_array().unwrap().iter().find(|dac| dac["name"] == name).cloned().unwrap_or_default()
}

/// Waits until a TEM says this of a DAC.
fn until(tem: &Oasis, name: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let found = listed(tem, name);
        if is_so(&found) { Ok(found) } else { Err(found) }
    })
}

fn until_live(tem: &Oasis, name: &str) -> Value {
    until(tem, name, "a live DAC", |dac| dac["state"] == "live")
}

fn until_late(tem: &Oasis, name: &str) -> Value {
    until(tem, name, "a late DAC", |dac| dac["state"] == "late")
}

/// Warnings about TEMs in the health of a process.
fn warnings(process: &Oasis) -> Vec<String> {
    let health = get(process, "/api/v1/health");
    let all = health["warnings"].as_array().unwrap();
    let of_tems = all.iter().filter(|warning| warning["part"] == "tem");
    of_tems.map(|warning| warning["reason"].as_str().unwrap().to_owned()).collect()
}

fn until_warned(process: &Oasis, words: &[&str]) {
    eventually_shown("a warning", || {
        let found = warnings(process);
        let has_all = |reason: &String| words.iter().all(|word| reason.contains(word));
        if found.iter().any(has_all) { Ok(()) } else { Err(json!(found)) }
    });
}

fn until_content(process: &Oasis) {
    eventually_shown("no warning about TEMs", || {
        let found = warnings(process);
        if found.is_empty() { Ok(()) } else { Err(json!(found)) }
    });
}

fn dac(tems: &[&Oasis], name: &str) -> Oasis {
    let mut arguments = vec!["--dac-name", name];
    tems.iter().for_each(|tem| arguments.extend(["--tem", tem.http()]));
    Oasis::dac(&arguments)
}

fn signal(process: &Oasis, signal: Signal) {
    kill_process(Pid::from_raw(process.id().try_into().unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn a_dac_is_in_the_lists_of_all_tems_that_it_names() {
    let (first, second) = (Oasis::tem(&[]), Oasis::tem(&[]));
    let hall = dac(&[&first, &second, &first], "hall-1");
    for tem in [&first, &second] {
        until_live(tem, "hall-1");
    }
    until_content(&hall);
    first.kill();
    until_warned(&hall, &["hall-1", "not listed"]);
    until_live(&second, "hall-1");
    eventually_shown("what the DAC says of its TEMs", || {
        let tems = get(&hall, "/api/v1/tem")["tems"].clone();
        let is_live = |tem: &Value| tem["doors"] == second.http() && tem["state"] == "live";
        if tems.as_array().is_some_and(|tems| tems.iter().any(is_live)) { Ok(()) } else { Err(tems) }
    });
    assert!(hall.stop().success());
    assert_eq!(listed(&second, "hall-1"), Value::Null, "its farewell arrived before it ended");
}

#[test]
fn a_tem_that_was_killed_gets_its_list_back_from_the_dacs() {
    let (first, second) = (Oasis::tem(&[]), Oasis::tem(&[]));
    let hall = dac(&[&first, &second], "hall-1");
    until_live(&first, "hall-1");
    let listen = first.listen().to_owned();
    first.kill();
    until_warned(&hall, &["not listed"]);
    let first = Oasis::tem_again(&listen);
    until_live(&first, "hall-1");
    until_content(&hall);
    // Each TEM knows by its own clock that a DAC has ended.
    hall.kill();
    for tem in [&first, &second] {
        until_late(tem, "hall-1");
    }
}

#[test]
fn a_tem_that_hangs_delays_no_other() {
    // A process that is stopped may keep the files of its accounts locked.
    let folder = tempfile::tempdir().unwrap();
    let first = Oasis::tem(&["--access", folder.path().join("access").to_str().unwrap()]);
    let second = Oasis::tem(&[]);
    let hall = dac(&[&first, &second], "hall-1");
    until_live(&first, "hall-1");
    signal(&first, Signal::STOP);
    until_warned(&hall, &["not listed"]);
    until_live(&second, "hall-1");
    // A DAC that comes meanwhile is in both lists as soon as the other one continues.
    let _other = dac(&[&first, &second], "hall-2");
    until_live(&second, "hall-2");
    signal(&first, Signal::CONT);
    for name in ["hall-1", "hall-2"] {
        until_live(&first, name);
        until_live(&second, name);
    }
}

#[test]
fn settings_of_the_exchange_of_tems_are_refused_with_the_remedy() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    std::fs::write(&config, "[tem]\npeers = [\"http://127.0.0.1:7001\"]\n").unwrap();
    let flag = oasis().args(["tem", "--peer", "http://127.0.0.1:7001"]).output().unwrap();
    let variable = oasis().arg("tem").env("OASIS_PEER", "http://127.0.0.1:7001").output().unwrap();
    let setting = oasis().args(["tem", "--config", config.to_str().unwrap()]).output().unwrap();
    for (refused, name) in [(flag, "--peer"), (variable, "--peer"), (setting, "peers")] {
        let reason = String::from_utf8_lossy(&refused.stderr);
        let names = [name, "no longer exchange", "each DAC", "--tem"];
        assert!(!refused.status.success() && names.iter().all(|part| reason.contains(part)), "{reason}");
    }
}

#[test]
fn a_relay_is_listed_as_one_and_relays_no_relay() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let tem = Oasis::tem(&[]);
    let hall = dac(&[&tem], "hall-1");
    let _node = Oasis::node(hall.channel(), &["--probe", "heartbeat"]);
    let relay = |name: &str| {
        let log = std::fs::File::create(folder.path().join(name)).unwrap();
        Oasis::relay_at("127.0.0.1:0", log, &["--tem", tem.http(), "--dac-name", name])
    };
    let relays = [relay("relay-1"), relay("relay-2")];
    for name in ["relay-1", "relay-2"] {
        assert_eq!(until_live(&tem, name)["kind"], "relay");
    }
    for relay in &relays {
        eventually_shown("the node by one hop", || {
            let nodes = get(relay, "/api/v1/nodes");
            let hops = nodes["nodes"][0]["path"].as_array().map(Vec::len);
            if hops == Some(1) { Ok(()) } else { Err(nodes) }
        });
    }
    // Nodes take DACs alone.
    let dacs = get(&tem, "/api/v1/tem?node=plant")["dacs"].clone();
    assert!(dacs.as_array().unwrap().iter().all(|dac| dac["kind"] == "dac"), "{dacs}");
    let shown = oasis().args(["list", "--dacs", "--tem", tem.http()]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("KIND") && shown.contains("relay-1  relay"), "{shown}");
}
