//! Relays: readers of any DAC see the nodes of another one, with every loss and every age.

use crate::harness::{
    Incoming, Native, Oasis, PlainNode, eventually, eventually_shown, get, instance, ledger, oasis,
    plain_node::{beat, identity, pushed},
    post, request, small_log,
};
use oasis_channel::{Counters, Drops, NodeMessage};
use oasis_wire::batch::{Encoder, Fields};
use serde_json::{Value, json};
use std::{fs, ops::Deref, process::Output, thread};
use tempfile::NamedTempFile;

/// A relay. None of its tasks may fail, also if it is started again at once.
struct Relay {
    process: Oasis,
    log: NamedTempFile,
}

impl Relay {
    fn start(arguments: &[&str]) -> Self {
        Self::at("127.0.0.1:0", arguments)
    }

    fn at(listen: &str, arguments: &[&str]) -> Self {
        let log = NamedTempFile::new().unwrap();
        Self { process: Oasis::relay_at(listen, log.reopen().unwrap(), arguments), log }
    }

    fn of(upstreams: &[&Oasis]) -> Self {
        let flags: Vec<&str> = upstreams.iter().flat_map(|dac| ["--upstream", dac.http()]).collect();
        Self::start(&flags)
    }
}

impl Deref for Relay {
    type Target = Oasis;

    fn deref(&self) -> &Oasis {
        &self.process
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let log = fs::read_to_string(self.log.path()).unwrap_or_default();
        assert!(thread::panicking() || !log.contains("panicked"), "{log}");
    }
}

/// The entry of `plant` in the list of nodes; null without one.
fn plant(dac: &Oasis) -> Value {
    let nodes = get(dac, "/api/v1/nodes");
    nodes["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["name"] == "plant")
        .cloned()
        .unwrap_or_default()
}

fn until(dac: &Oasis, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let plant = plant(dac);
        if is_so(&plant) { Ok(plant) } else { Err(plant) }
    })
}

fn until_online(dac: &Oasis) -> Value {
    until(dac, "the node", |node| node["state"] == "online")
}

fn until_listed(dac: &Oasis, instance: &str) {
    eventually_shown("an instance", || {
        let instances = get(dac, "/api/v1/instances");
        let has =
            instances["instances"].as_array().unwrap().iter().any(|known| known["instance"] == instance);
        if has { Ok(()) } else { Err(instances) }
    });
}

fn said(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = oasis().args(arguments).output().unwrap();
    assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

fn numbers(client: &mut Native, count: usize) -> Vec<u64> {
    let (samples, controls) = client.samples(count);
    assert!(controls.is_empty(), "{controls:?}");
    samples.iter().map(|sample| sample.sequence).collect()
}

fn assert_follow(numbers: &[u64]) {
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
}

#[test]
fn readers_of_two_relays_in_a_row_see_a_node_as_at_its_home() {
    let home = Oasis::dac(&[]);
    let _node = Oasis::node(home.channel(), &["--probe", "heartbeat@50"]);
    let first = Relay::of(&[&home]);
    let second = Relay::of(&[&first]);
    for dac in [&*first, &second] {
        until_listed(dac, "heartbeat");
    }
    let mut clients = [&home, &*first, &second].map(|dac| Native::connect(&dac.url()));
    for client in &mut clients {
        client.subscribe("heartbeat", json!({}));
    }
    for client in &mut clients {
        assert_follow(&numbers(client, 50));
    }
    // Two readers more need no other subscription.
    let open = || get(&home, "/api/v1/ledger")["doors"]["open"].as_u64().unwrap();
    let before = open();
    let mut more = [&second, &second].map(|dac| Native::connect(&dac.url()));
    for client in &mut more {
        client.subscribe("heartbeat", json!({}));
        assert_follow(&numbers(client, 10));
    }
    assert_eq!(open(), before);

    let path = plant(&second)["path"].clone();
    let dacs: Vec<_> = path.as_array().unwrap().iter().map(|hop| hop["dac"].as_str().unwrap()).collect();
    assert_eq!(dacs, [home.listen(), first.listen()]);
    let measured = until(&second, "its clock", |node| node["clock_offset_ns"].is_i64());
    assert!(
        measured["path"].as_array().unwrap().iter().all(|hop| hop["round_trip_ns"].is_u64()),
        "{measured}"
    );
    assert_eq!(plant(&home).get("path"), None);

    let command = ["command", "--url", second.http(), "plant/heartbeat", "hertz", "20"];
    assert!(said(&command).contains("20 Hz"));
    let journal = get(&home, "/api/v1/commands");
    assert!(journal.to_string().contains("\"hertz\":20"), "{journal}");
    let unknown = oasis().args(["command", "--url", second.http(), "plant/pump", "enable"]).output().unwrap();
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("pump"));
}

#[test]
fn each_gap_has_the_cause_of_its_home_behind_two_relays() {
    let home = Oasis::dac(&[]);
    let beat = beat();
    let instances = vec![pushed("beat", &beat)];
    let mut node = PlainNode::connect(home.channel(), identity("plant", 7), None, (&beat, instances));
    let topic = node.topics[0];
    let first = Relay::of(&[&home]);
    let second = Relay::of(&[&first]);
    until_listed(&second, "beat");
    let mut client = Native::connect(&second.url());
    client.subscribe("beat", json!({}));
    let mut send = |first: u64, count: u64, dropped: u32| {
        let mut encoder = Encoder::new(&beat).unwrap();
        (0..count).for_each(|number| encoder.push(first + number, &[]).unwrap());
        let mut batch = Vec::new();
        let fields =
            Fields { topic: topic.0, first_sequence: first, dropped_before: dropped, ..Fields::default() };
        encoder.finish(fields, &mut batch);
        let drops = Drops { ring_full: dropped.into(), ..Drops::default() };
        let counters = Counters {
            topic,
            taken: first + count - 1,
            sent: first - 1,
            dropped: drops,
            after_sent: Drops::default(),
        };
        node.sender.send(&[NodeMessage::Counters { instances: vec![counters] }], &[&batch]).unwrap();
    };
    send(1, 3, 0);
    assert_eq!(numbers(&mut client, 3), [1, 2, 3]);
    send(8, 2, 4);
    assert_eq!(numbers(&mut client, 2), [8, 9]);
    let at_home = ledger(&home, "plant", "beat", "both batches", |ledger| ledger["received"] == 5);
    assert_eq!(at_home["causes"], json!({"ring_full": 4}));
    for dac in [&*first, &second] {
        let relayed = ledger(dac, "plant", "beat", "the gap", |ledger| ledger["causes"] == at_home["causes"]);
        assert_eq!(relayed["gaps"], at_home["gaps"]);
        assert_eq!((&relayed["missing"], &relayed["unexplained"]), (&json!(4), &json!(0)));
    }
    assert_eq!(get(&second, "/api/v1/audit")["undeclared"], 0);
}

#[test]
fn readers_of_a_relay_go_on_when_the_dac_behind_it_is_started_again() {
    let home = Oasis::dac(&[]);
    let (listen, channel) = (home.listen().to_owned(), home.channel().to_owned());
    let _node = Oasis::node(&channel, &["--probe", "heartbeat@50"]);
    let relay = Relay::of(&[&home]);
    until_listed(&relay, "heartbeat");
    let mut client = Native::connect(&relay.url());
    client.subscribe("heartbeat", json!({}));
    let before = numbers(&mut client, 20);
    home.kill();
    until(&relay, "the end", |node| node["state"] == "offline");
    let warnings = get(&relay, "/api/v1/health")["warnings"].to_string();
    assert!(warnings.contains("not relayed"), "{warnings}");
    let _home = Oasis::dac_again(&listen, &channel);
    until_online(&relay);
    let (samples, _) = client.samples(50);
    let after: Vec<_> = samples.iter().map(|sample| sample.sequence).collect();
    assert!(after[0] > before[19], "{before:?} {after:?}");
    assert_follow(&[&before[..], &after].concat());
    assert_eq!(get(&relay, "/api/v1/health")["warnings"], json!([]));
}

#[test]
fn dacs_that_relay_each_other_relay_no_sample_twice() {
    let folder = tempfile::tempdir().unwrap();
    let configured = |name: &str, upstream: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("[relay]\nupstreams = [\"{upstream}\"]\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // The ports must be known before the processes: the first one shows where it was.
    let (listen, channel) = {
        let dac = Oasis::dac(&[]);
        (dac.listen().to_owned(), dac.channel().to_owned())
    };
    let far = Oasis::dac(&["--config", &configured("far", &format!("http://{listen}"))]);
    let near = Oasis::dac_at(&listen, &channel, &["--config", &configured("near", far.http())]);
    let _node = Oasis::node(near.channel(), &["--probe", "heartbeat@50"]);
    until_online(&far);
    let mut client = Native::connect(&far.url());
    until_listed(&far, "heartbeat");
    client.subscribe("heartbeat", json!({}));
    assert_follow(&numbers(&mut client, 100));
    assert_eq!(plant(&near).get("path"), None);
    assert_eq!(plant(&far)["path"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_relay_of_itself_is_refused() {
    let listen = Oasis::dac(&[]).listen().to_owned();
    let relay = Relay::at(&listen, &["--upstream", &format!("http://{listen}")]);
    eventually_shown("the refusal", || {
        let warnings = get(&relay, "/api/v1/health")["warnings"].clone();
        if warnings.to_string().contains("this DAC itself") { Ok(()) } else { Err(warnings) }
    });
    let (code, health) = request(&relay, "GET", "/readyz", None);
    assert_eq!((code, &health["status"]), (503, &json!("degraded")), "{health}");
    let reason = &health["reasons"][0];
    assert!(reason["reason"].as_str().unwrap().contains("nothing is relayed: "), "{health}");
    let nothing = oasis().args(["relay", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("--upstream URL"));
}

#[test]
fn a_relay_and_a_node_log_that_they_are_connected_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| fs::File::create(folder.path().join(name)).unwrap();
    let verbose = || {
        let mut command = oasis();
        command.env("OASIS_LOG", "warn");
        command
    };
    let home = Oasis::dac(&[]);
    let (listen, channel) = (home.listen().to_owned(), home.channel().to_owned());
    let node = ["--name", "plant", "--dac", &channel, "--probe", "heartbeat"];
    let _node = Oasis::node_started_by(verbose(), file("node"), &node);
    let relay = Oasis::relay_started_by(verbose(), file("relay"), &["--upstream", home.http()]);
    until_online(&relay);
    let logged = |name: &str, what: &str| {
        eventually_shown(what, || {
            let log = fs::read_to_string(folder.path().join(name)).unwrap();
            if log.contains(what) { Ok(log) } else { Err(json!(log)) }
        })
    };
    let first = ["node", "relay"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(first, ["", ""], "what works from the start is no news");
    home.kill();
    logged("node", "lost the connection to the DAC");
    logged("relay", "is not relayed");
    let (status, _) = request(&relay, "GET", "/readyz", None);
    assert_eq!(status, 503);
    let _home = Oasis::dac_at(&listen, &channel, &[]);
    assert!(logged("node", "connected to the DAC again").contains(&channel));
    assert!(logged("relay", "is relayed again").contains(&listen));
    until_online(&relay);
    eventually("a relay that is ready", || (request(&relay, "GET", "/readyz", None).0 == 200).then_some(()));
}

#[test]
fn a_node_is_found_wherever_it_is_connected() {
    let tem = Oasis::tem(&[]);
    let dac = |name: &str| Oasis::dac(&["--tem", tem.http(), "--dac-name", name]);
    let (hall_1, hall_2) = (dac("hall-1"), dac("hall-2"));
    let relay = Relay::start(&["--tem", tem.http()]);
    let node = Oasis::node(hall_1.channel(), &["--probe", "heartbeat@50"]);
    let at =
        |name: &'static str| move |node: &Value| node["state"] == "online" && node["path"][0]["dac"] == name;
    until(&relay, "the first DAC", at("hall-1"));
    let mut client = Native::connect(&relay.url());
    until_listed(&relay, "heartbeat");
    client.subscribe("heartbeat", json!({}));
    numbers(&mut client, 10);
    drop(node);
    let _node = Oasis::node(hall_2.channel(), &["--probe", "heartbeat@50"]);
    until(&relay, "the second DAC", at("hall-2"));
    // A process begins to count anew, and the reader stays.
    let numbers: Vec<_> = client.samples(100).0.iter().map(|sample| sample.sequence).collect();
    assert!(numbers.contains(&1), "{numbers:?}");
    // Each DAC lists its own nodes.
    let listed = get(&tem, "/api/v1/tem");
    let is_dac = |member: &&Value| member["kind"] == "dac";
    assert_eq!(listed["dacs"].as_array().unwrap().iter().filter(is_dac).count(), 2, "{listed}");
}

#[test]
fn a_new_reader_after_a_pause_begins_with_the_newest_sample_and_without_a_gap() {
    let home = Oasis::dac(&[]);
    let _node = Oasis::node(home.channel(), &["--probe", "heartbeat@50"]);
    let relay = Relay::of(&[&home]);
    until_listed(&relay, "heartbeat");
    let mut first = Native::connect(&relay.url());
    let began = first.subscribe("heartbeat", json!({}));
    let last = *numbers(&mut first, 10).last().unwrap();
    drop(first);
    // The subscription ends after 10 s, and the home continues.
    let seen = eventually_shown("a pause", || {
        let shown = instance(&relay, "plant", "heartbeat").unwrap_or_default();
        let newest = shown["latest"]["sequence"].as_u64();
        let received = shown["ledger"]["received"].as_u64();
        let pause = newest.zip(received).filter(|(newest, received)| *received > newest + 150);
        pause.map(|(newest, _)| newest).ok_or(shown)
    });
    assert!(seen >= last);
    let mut new = Native::connect(&relay.url());
    new.subscribe("heartbeat", json!({}));
    let (samples, controls) = new.samples(20);
    assert!(samples[0].sequence > seen + 150, "{}, {seen}", samples[0].sequence);
    assert!(controls.iter().all(|message| message["op"] != "gap"), "{controls:?}");
    // A reader that resumes where the first one began learns that samples are missing.
    let resume = format!("{}:{}", began["epoch"].as_str().unwrap(), began["offset"]);
    let mut resumed = Native::connect(&relay.url());
    resumed.subscribe("heartbeat", json!({"resume": resume}));
    let gap = resumed.control("gap");
    assert_eq!(gap["cause"], "log_retention", "{gap}");
}

#[test]
fn the_past_comes_from_the_archive_of_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = Oasis::dac(&small_log(folder.path()).each_ref().map(String::as_str));
    let _node = Oasis::node(home.channel(), &["--probe", "heartbeat@100"]);
    let relay = Relay::of(&[&home]);
    until_listed(&relay, "heartbeat");
    ledger(&home, "plant", "heartbeat", "samples", |ledger| ledger["received"].as_u64() > Some(300));
    let lines = said(&["tail", "--url", relay.http(), "plant/heartbeat", "--from", "-1h", "--count", "350"]);
    let number = |line: &str| line.split_once('#').unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let all: Vec<u64> = lines.lines().map(number).collect();
    assert_eq!((all.len(), all[0]), (350, 1), "{lines}");
    assert_follow(&all);
    let last = said(&["tail", "--url", relay.http(), "plant/heartbeat", "-n", "5", "--count", "30"]);
    assert_follow(&last.lines().map(number).collect::<Vec<_>>());

    // A reader that stays keeps the samples that the log here has.
    let mut reader = Native::connect(&relay.url());
    reader.subscribe("heartbeat", json!({}));
    reader.samples(200);
    let of = |query: &str| {
        let answer = get(&relay, &format!("/api/v1/samples?node=plant&instance=heartbeat&{query}"));
        let messages = answer["messages"].as_array().unwrap();
        assert!(messages.iter().all(|message| message["cause"] != "archive_error"), "{answer}");
        let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
        samples.filter_map(|sample| sample["sequence"].as_u64()).collect::<Vec<_>>()
    };
    // Samples that are still on their way have an earlier time than now.
    assert_eq!(of("last=3&to=-1s").len(), 3);
    assert!(of("last=1").len() < 50);
    let recent = of("from=-1s");
    assert!((1..=300).contains(&recent.len()), "{recent:?}");
    assert_follow(&recent);

    let stored = "/api/v1/archive/instances?node=plant&instance=heartbeat";
    let oldest = |dac: &Oasis| get(dac, stored)["instances"][0]["oldest_time"].clone();
    assert_eq!((oldest(&relay), oldest(&home).is_u64()), (oldest(&home), true));
    let points = "/api/v1/samples?node=plant&instance=heartbeat&from=-1m&to=-0s&points=20";
    let (at_home, relayed) = (get(&home, points), get(&relay, points));
    let first = |answer: &Value| answer["messages"][0].clone();
    assert_eq!(first(&relayed)["level"], first(&at_home)["level"], "{relayed} {at_home}");
    let mut client = Native::connect(&relay.url());
    client.subscribe("heartbeat", json!({"from": "-1m", "points": 20}));
    let points = client.control("points");
    assert!(points["samples"].as_array().is_some_and(|samples| !samples.is_empty()), "{points}");
    let next = loop {
        if let Incoming::Batch(_) = client.next() {
            break true;
        }
    };
    assert!(next);
}

#[test]
fn a_reader_resumes_at_another_dac_by_run_and_number() {
    let home = Oasis::dac(&[]);
    let _node = Oasis::node(home.channel(), &["--probe", "heartbeat@50"]);
    let relays = [Relay::of(&[&home]), Relay::of(&[&home])];
    for relay in &relays {
        until_listed(relay, "heartbeat");
    }
    let mut other = Native::connect(&relays[1].url());
    other.subscribe("heartbeat", json!({}));
    numbers(&mut other, 1);
    let mut client = Native::connect(&relays[0].url());
    let run = client.subscribe("heartbeat", json!({}))["instance"]["run"].as_str().unwrap().to_owned();
    let before = numbers(&mut client, 10);
    numbers(&mut other, 20);
    let mut client = Native::connect(&relays[1].url());
    client.subscribe("heartbeat", json!({"resume": format!("{run}@{}", before[9] + 1)}));
    let after = numbers(&mut client, 10);
    assert_follow(&[before, after].concat());
    let wrong =
        client.request(json!({"op": "subscribe", "node": "plant", "instance": "heartbeat", "resume": "x@1"}));
    assert!(wrong["message"].as_str().unwrap().contains("RUN@SEQUENCE"), "{wrong}");
}

#[test]
fn a_command_that_comes_twice_is_executed_once() {
    let dac = Oasis::dac(&[]);
    // With an audit log of its own: that of other DACs has their commands.
    let folder = tempfile::tempdir().unwrap();
    let relay = Relay::start(&["--upstream", dac.http(), "--access", folder.path().to_str().unwrap()]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    eventually("the node at the relay", || instance(&relay, "plant", "processor"));
    let named = |number: u8, what: &str| {
        let uuid = format!("6f2c1e0a-5d0c-4a53-9d0e-2b1f6c0f7a{number:02}");
        json!({"node": "plant", "instance": "processor", "command": what, "uuid": uuid})
    };
    assert_eq!(post(&dac, "/api/v1/commands", &named(0, "disable")).0, 200);
    let taken = || instance(&dac, "plant", "processor").unwrap()["ledger"]["received"].as_u64().unwrap();
    let before = ledger(&dac, "plant", "processor", "all taken samples", |ledger| {
        ledger["node"]["taken"] == ledger["received"]
    })["received"]
        .as_u64()
        .unwrap();
    // Once through the relay and once without it: the node knows it.
    for at in [&*relay, &dac, &dac] {
        assert_eq!(post(at, "/api/v1/commands", &named(1, "sample-now")).0, 200);
    }
    assert_eq!(post(&dac, "/api/v1/commands", &named(2, "sample-now")).0, 200);
    eventually("two samples", || (taken() >= before + 2).then_some(()));
    let (status, problem) = post(&dac, "/api/v1/commands", &named(1, "enable"));
    assert_eq!((status, taken()), (409, before + 2), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("names another command"), "{problem}");
    let mut wrong = named(3, "enable");
    wrong["uuid"] = json!("7");
    let (status, problem) = post(&dac, "/api/v1/commands", &wrong);
    assert_eq!(status, 422, "{problem}");
    let journal = get(&relay, "/api/v1/commands");
    assert_eq!(journal["commands"][0]["uuid"], named(1, "")["uuid"], "{journal}");
}

#[test]
fn relays_of_a_tem_name_each_other_as_pages_at_which_readers_go_on() {
    let tem = Oasis::tem(&[]);
    let relays = ["relay-1", "relay-2"].map(|name| Relay::start(&["--tem", tem.http(), "--dac-name", name]));
    let _dac = Oasis::dac(&["--tem", tem.http(), "--dac-name", "hall-1"]);
    let named = |relay: &Oasis, other: &str, at: &Oasis| {
        let wanted = json!([{"name": other, "address": at.http()}]);
        eventually_shown("the page of the other relay", || {
            let pages = get(relay, "/api/v1/other-pages");
            if pages["pages"] == wanted { Ok(()) } else { Err(pages) }
        });
    };
    let [first, second] = relays;
    named(&first, "relay-2", &second);
    named(&second, "relay-1", &first);
    // One that has ended is named until the TEM has missed its heartbeats.
    drop(second);
    eventually_shown("no other page", || {
        let pages = get(&first, "/api/v1/other-pages");
        if pages["pages"] == json!([]) { Ok(()) } else { Err(pages) }
    });
}
