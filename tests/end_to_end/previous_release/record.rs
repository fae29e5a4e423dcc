//! Records real conversations of the processes under test.

use super::{
    conversation::{self, Content, Conversation, Protocol},
    tap::Tap,
};
use crate::harness::{Native, Oasis, eventually, eventually_shown, get, ledger, oasis};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tungstenite::Message;

/// Addresses in recordings: page of the DAC, its data channel, and the TEM.
pub const ADDRESSES: [&str; 3] = ["127.0.0.1:7070", "127.0.0.1:7071", "127.0.0.1:7072"];
/// Name of a host in recordings.
const HOST: &str = "plant-host";

/// The files of a release, with what is in them.
pub const FILES: [(&str, &str); 5] = [
    ("node.txt", "Node and DAC: one connection until the node ends, and one until the DAC ends."),
    ("reader.txt", "A reader of oasis.v1 and a DAC."),
    ("relay.txt", "A relay and a DAC."),
    ("tools.txt", "Commands and requests of the page, and a DAC."),
    ("tem.txt", "Heartbeats of a DAC, commands and a node, and a TEM."),
];

/// Requests of the page and of scripts.
const REQUESTS: [&str; 14] = [
    "/api/v1/session",
    "/api/v1/health",
    "/api/v1/nodes",
    "/api/v1/instances?node=plant",
    "/api/v1/registry",
    "/api/v1/ledger",
    "/api/v1/audit",
    "/api/v1/tem",
    "/api/v1/commands",
    "/api/v1/test-runs",
    "/api/v1/annotations",
    "/api/v1/layouts",
    "/api/v1/handlers",
    "/api/v1/shards",
];

/// Writes the files of one release into a folder.
pub fn record(to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join("archive").display().to_string();
    let tem = Oasis::tem(&[]);
    let at_tem = Tap::on(tem.listen());
    let dac = Oasis::dac(&["--archive", &archive, "--tem", &at_tem.http(), "--dac-name", "hall"]);
    let channel = Tap::on(dac.channel());
    let node = Oasis::node(channel.address(), &["--probe", "heartbeat@20", "--probe", "processor@5"]);
    ledger(&dac, "plant", "heartbeat", "samples", |ledger| ledger["received"].as_u64() >= Some(20));

    let at_reader = Tap::on(dac.listen());
    read_as_a_page(&at_reader);
    said(&["tail", "--url", &at_reader.http(), "--from-earliest", "--count", "5", "plant/heartbeat"]);

    let at_relay = Tap::on(dac.listen());
    relay_to_a_reader(&at_relay);

    let at_tools = Tap::on(dac.listen());
    use_tools(&at_tools);
    find_by_the_tem(&at_tem);

    assert!(node.stop().success());
    let again = Oasis::node(channel.address(), &["--probe", "heartbeat@20"]);
    eventually_shown("the node again", || {
        let nodes = get(&dac, "/api/v1/nodes");
        let all = nodes["nodes"].as_array().expect("a list");
        let is_back = all.iter().any(|node| node["name"] == "plant" && node["state"] == "online");
        if is_back { Ok(()) } else { Err(nodes) }
    });
    let addresses = [dac.listen().to_owned(), dac.channel().to_owned(), tem.listen().to_owned()];
    assert!(dac.stop().success());
    drop(again);

    let with = |taps: &[(&Tap, bool)]| -> Vec<Conversation> {
        taps.iter().flat_map(|(tap, is_channel)| tap.conversations(*is_channel)).collect()
    };
    let taken = [&channel, &at_reader, &at_relay, &at_tools, &at_tem];
    for ((file, about), tap) in FILES.into_iter().zip(taken) {
        let mut conversations = with(&[(tap, file == "node.txt")]);
        let mut seen = Vec::new();
        for conversation in &mut conversations {
            rename(conversation, &addresses);
            shorten(conversation, &mut seen);
        }
        conversations.retain(|conversation| !conversation.messages.is_empty());
        conversation::write(&to.join(file), about, &conversations);
    }
}

/// Runs a command, which must succeed.
fn said(arguments: &[&str]) {
    let done = oasis().args(arguments).output().expect("it starts");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// As the page does: the registry by changes, schemas once, charts, and commands.
fn read_as_a_page(tap: &Tap) {
    let mut client = Native::connect(&format!("ws://{}/ws", tap.address()));
    client.send(Message::text(
        json!({"op": "watch", "id": 1000, "deltas": true, "statistics": true, "schemas": "once"}).to_string(),
    ));
    client.control("registry_delta");
    client.control("statistics");
    let pong = client.request(json!({"op": "ping", "client_time": 1.5}));
    assert_eq!(pong["op"], "pong");
    let mut subscribe = |more: Value| {
        let mut request = json!({"op": "subscribe", "node": "plant", "instance": "heartbeat"});
        more.as_object().expect("an object").iter().for_each(|(key, value)| request[key] = value.clone());
        let answer = client.request(request);
        assert_eq!(answer["op"], "subscribed", "{answer}");
        let topic = answer["topic"].clone();
        if more.get("points").is_none() {
            while !matches!(client.next(), crate::harness::Incoming::Batch(_)) {}
        }
        client.request(json!({"op": "rate", "topic": topic, "hertz": 10.0}));
        let done = client.request(json!({"op": "unsubscribe", "topic": topic}));
        assert_eq!(done["op"], "unsubscribed", "{done}");
    };
    subscribe(json!({"from": "earliest"}));
    subscribe(json!({"delivery": "latest"}));
    subscribe(json!({"delivery": "max_hz=5"}));
    subscribe(json!({"delivery": "envelope=5"}));
    subscribe(json!({"from": "-1h", "points": 10}));
    for command in [
        json!({"command": "hertz", "hertz": 25}),
        json!({"command": "sample-now"}),
        json!({"command": "trigger"}),
    ] {
        let mut request = json!({"op": "command", "node": "plant", "instance": "heartbeat"});
        command.as_object().expect("an object").iter().for_each(|(key, value)| request[key] = value.clone());
        client.request(request);
    }
    let unknown = client.request(json!({"op": "subscribe", "node": "plant", "instance": "pump"}));
    assert_eq!(unknown["op"], "error", "{unknown}");
    // A reader of whole pictures.
    let mut older = Native::connect(&format!("ws://{}/ws", tap.address()));
    older.send(Message::text(json!({"op": "watch", "id": 1}).to_string()));
    older.control("registry");
}

fn relay_to_a_reader(tap: &Tap) {
    let log = tempfile::tempfile().expect("a file");
    let relay = Oasis::relay_at("127.0.0.1:0", log, &["--upstream", &tap.http()]);
    eventually("an instance at the relay", || crate::harness::instance(&relay, "plant", "heartbeat"));
    let mut client = Native::connect(&relay.url());
    client.subscribe("heartbeat", json!({}));
    client.samples(10);
    client.request(
        json!({"op": "command", "node": "plant", "instance": "heartbeat", "command": "hertz", "hertz": 20}),
    );
    let answer = client.request(json!({"op": "unsubscribe", "topic": 1}));
    assert_eq!(answer["op"], "unsubscribed", "{answer}");
    let is_over = |tap: &Tap| {
        tap.conversations(false)
            .iter()
            .any(|conversation| conversation.messages.iter().any(|message| message.op() == "unsubscribe"))
    };
    eventually("the end of the subscription upstream", || is_over(tap).then_some(()));
}

fn use_tools(tap: &Tap) {
    let url = tap.http();
    said(&["list", "--url", &url]);
    said(&["audit", "--url", &url]);
    said(&["handlers", "--url", &url]);
    said(&["shards", "--url", &url]);
    said(&["run", "start", "soak", "--url", &url]);
    said(&["annotation", "add", "valve open", "--url", &url]);
    said(&["run", "stop", "soak", "--url", &url]);
    said(&["command", "--url", &url, "plant/heartbeat", "hertz", "20"]);
    for path in REQUESTS {
        let status = ureq::get(format!("{url}{path}")).call().expect("an answer").status();
        assert_eq!(status, 200, "{path}");
    }
}

fn find_by_the_tem(tap: &Tap) {
    let url = tap.http();
    said(&["list", "--dacs", "--url", &url]);
    let mill = Oasis::start_as_written(
        oasis(),
        &["node", "--name", "mill", "--tem", &url, "--probe", "heartbeat@2"],
    );
    let has_both = || {
        tap.conversations(false).iter().rev().any(|conversation| {
            conversation.messages.iter().any(|message| match &message.content {
                Content::Request { body: Some(body), .. } => {
                    body["names"]["online"].as_array().is_some_and(|names| names.len() == 2)
                }
                _ => false,
            })
        })
    };
    eventually("both nodes in a heartbeat", || has_both().then_some(()));
    assert!(mill.stop().success());
}

/// Gives addresses and the host the same names in all recordings.
fn rename(conversation: &mut Conversation, addresses: &[String; 3]) {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let renamed = |text: &mut String| {
        for (address, name) in addresses.iter().zip(ADDRESSES) {
            *text = text.replace(address.as_str(), name);
        }
        if *text == host.trim() {
            HOST.clone_into(text);
        }
    };
    for message in &mut conversation.messages {
        match &mut message.content {
            Content::Control(body) => each_text(body, &renamed),
            Content::Request { body: Some(body), .. } | Content::Answer { body: Some(body), .. } => {
                each_text(body, &renamed);
            }
            _ => {}
        }
    }
}

/// Changes each text of a document.
pub fn each_text(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(members) => members.values_mut().for_each(|item| each_text(item, change)),
        _ => {}
    }
}

/// Leaves out what comes again and again: the third heartbeat of a kind and later ones, with their answers.
fn shorten(conversation: &mut Conversation, seen: &mut Vec<(String, String, bool)>) {
    if conversation.protocol != Protocol::Http {
        return;
    }
    let mut is_kept = true;
    conversation.messages.retain(|message| {
        if let Content::Request { method, path, body } = &message.content {
            let has_names = body.as_ref().is_some_and(|body| body.get("names").is_some());
            let kind = (method.clone(), path.clone(), has_names);
            is_kept = seen.iter().filter(|known| **known == kind).count() < 2 || method == "DELETE";
            seen.push(kind);
        }
        is_kept
    });
}
