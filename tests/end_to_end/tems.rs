//! Several TEMs: each lists every DAC, whichever of them ends, hangs or restarts.

use crate::harness::{Oasis, eventually_shown, get, oasis, request};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::net::TcpListener;
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
fn each_tem_of_a_line_lists_every_dac() {
    let first = Oasis::tem(&[]);
    let second = Oasis::tem(&["--peer", first.http()]);
    let third = Oasis::tem(&["--peer", second.http()]);
    let (hall_1, hall_3) = (dac(&[&first], "hall-1"), dac(&[&third], "hall-3"));
    let _node = Oasis::node(hall_3.channel(), &["--probe", "heartbeat"]);
    for tem in [&first, &second, &third] {
        assert_eq!(until_live(tem, "hall-1")["doors"], hall_1.http());
        until(tem, "hall-3", "the node of a DAC that another TEM hears", |dac| {
            dac["nodes"] == json!(["plant"])
        });
    }
    // The entry comes from the neighbor, and names it.
    assert_eq!(listed(&third, "hall-1")["via"], second.http());
    assert_eq!(listed(&third, "hall-3")["via"], Value::Null);
    let tems = get(&second, "/api/v1/tem")["tems"].clone();
    assert!(
        tems.as_array().unwrap().iter().any(|tem| tem["doors"] == first.http() && tem["state"] == "live"),
        "{tems}"
    );

    assert!(hall_1.stop().success());
    for tem in [&first, &second, &third] {
        until(tem, "hall-1", "no DAC that has ended", Value::is_null);
    }
    let address = hall_3.http().to_owned();
    hall_3.kill();
    for tem in [&first, &second, &third] {
        assert_eq!(until_late(tem, "hall-3")["doors"], address);
    }
}

#[test]
fn a_dac_is_in_the_lists_of_all_tems_that_it_names() {
    let (first, second) = (Oasis::tem(&[]), Oasis::tem(&[]));
    let hall = dac(&[&first, &second, &first], "hall-1");
    for tem in [&first, &second] {
        assert_eq!(until_live(tem, "hall-1")["via"], Value::Null, "it came here itself");
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
fn a_tem_that_was_killed_gets_its_list_back_from_its_peers() {
    let first = Oasis::tem(&[]);
    let second = Oasis::tem(&["--peer", first.http()]);
    let _hall = dac(&[&first], "hall-1");
    until_live(&second, "hall-1");
    let second_listen = second.listen().to_owned();
    second.kill();
    let second =
        Oasis::start_as_written(oasis(), &["tem", "--listen", &second_listen, "--peer", first.http()]);
    until_live(&second, "hall-1");
    // With its peer gone, it knows by its own clock that nothing moves.
    let first_listen = first.listen().to_owned();
    first.kill();
    until_late(&second, "hall-1");
    until_warned(&second, &["does not exchange its list"]);
    // The DAC comes back by the TEM that it names.
    let first = Oasis::tem_again(&first_listen);
    until_live(&first, "hall-1");
    until_live(&second, "hall-1");
    until_content(&second);
}

#[test]
fn a_tem_that_hangs_delays_no_other() {
    // A process that is stopped may keep the files of its accounts locked.
    let folder = tempfile::tempdir().unwrap();
    let first = Oasis::tem(&["--access", folder.path().join("access").to_str().unwrap()]);
    let second = Oasis::tem(&["--peer", first.http()]);
    let hall = dac(&[&first, &second], "hall-1");
    let other = dac(&[&first], "hall-2");
    until_live(&second, "hall-2");
    signal(&first, Signal::STOP);
    until_late(&second, "hall-2");
    until_live(&second, "hall-1");
    until_warned(&hall, &["not listed"]);
    // A DAC that comes meanwhile is in both lists as soon as the other one continues.
    let third = dac(&[&second], "hall-3");
    until_live(&second, "hall-3");
    signal(&first, Signal::CONT);
    for name in ["hall-1", "hall-2", "hall-3"] {
        until_live(&first, name);
        until_live(&second, name);
    }
    drop((other, third));
}

#[test]
fn a_peer_that_is_the_tem_itself_or_named_twice_is_reported() {
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let itself = format!("http://{listen}");
    let tem = Oasis::start_as_written(oasis(), &["tem", "--listen", &listen, "--peer", &itself]);
    until_warned(&tem, &["is the TEM itself", "--peer"]);
    let port = tem.listen().rsplit_once(':').unwrap().1;
    let twice = Oasis::tem(&["--peer", tem.http(), "--peer", &format!("http://localhost:{port}")]);
    until_warned(&twice, &["a peer already", "once", "--peer"]);
    let _hall = dac(&[&tem], "hall-1");
    until_live(&twice, "hall-1");
    let refused = oasis().args(["tem", "--peer", "http://192.0.2.1:7000"]).output().unwrap();
    let reason = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && reason.contains("without TLS") && reason.contains("--peer"),
        "{reason}"
    );
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

#[test]
fn a_hostile_peer_changes_nothing_that_this_tem_hears() {
    let tem = Oasis::tem(&[]);
    let hall = dac(&[&tem], "hall-1");
    let before = until_live(&tem, "hall-1");
    let epoch = before["epoch"].as_str().unwrap();
    let heartbeat = |epoch: &str| {
        json!({"epoch": epoch, "beat": 1_000_000, "doors": "http://203.0.113.66:1", "channel": "203.0.113.66:2",
            "software": "x", "health": "ok", "names_revision": 9, "names": {"online": ["forged"]}})
    };
    let report = |more: Value| {
        let mut report = json!({"tem": "00000000000000aa", "doors": "http://203.0.113.66:7000",
            "place": {"tem": "00000000000000aa", "revision": 1, "pulses": 1}});
        more.as_object().unwrap().iter().for_each(|(key, value)| report[key] = value.clone());
        request(&tem, "POST", "/api/v1/tem/exchange", Some(&report))
    };
    for hostile in [
        json!({"members": [{"name": "hall-1", "silent_ms": 0, "heartbeat": heartbeat(epoch)}]}),
        json!({"members": [{"name": "hall-1", "silent_ms": 0, "heartbeat": heartbeat("00000000000000bb")}]}),
        json!({"pulses": [{"name": "hall-1", "epoch": epoch, "beat": 1_000_000, "silent_ms": 0, "health": "failing"}]}),
        json!({"left": [{"name": "hall-1", "epoch": epoch, "beat": 1_000_000}]}),
    ] {
        assert_eq!(report(hostile.clone()).0, 200, "{hostile}");
        let after = listed(&tem, "hall-1");
        for field in ["epoch", "doors", "nodes", "health"] {
            assert_eq!(after[field], before[field], "{hostile}");
        }
    }
    for (broken, status) in [
        (json!({"doors": "javascript:alert(1)"}), 422),
        (json!({"place": 7}), 422),
        (json!({"members": [{"name": "a b"}]}), 422),
    ] {
        assert_eq!(report(broken.clone()).0, status, "{broken}");
    }
    hall.kill();
    until_late(&tem, "hall-1");
    let dead = json!({"members": [{"name": "hall-1", "silent_ms": 0, "heartbeat": heartbeat(epoch)}]});
    assert_eq!(report(dead).0, 200);
    let after = listed(&tem, "hall-1");
    assert_eq!((&after["state"], &after["doors"]), (&json!("late"), &before["doors"]), "no peer revives it");
    assert!(get(&tem, "/api/v1/tem")["counters"]["forged"].as_u64() > Some(0));
    // DACs that were never heard take bounded room, and are late when their numbers do not move.
    let many: Vec<Value> = (0..1_500)
        .map(|number| json!({"name": format!("x-{number}"), "silent_ms": 0, "heartbeat": heartbeat(epoch)}))
        .collect();
    assert_eq!(report(json!({"members": many})).0, 200);
    let dacs = get(&tem, "/api/v1/tem")["dacs"].as_array().unwrap().len();
    assert_eq!(dacs, 1_000);
    until_late(&tem, "x-1");
    let _newcomer = dac(&[&tem], "hall-2");
    until_live(&tem, "hall-2");
}
