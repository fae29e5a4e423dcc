//! Programs of earlier releases work with those of today: recorded conversations (`vectors/conversations`) are played
//! against node, DAC, relay, reader, tools and TEM, and archives (`vectors/archives`) are read and continued.
//! `vectors/README.md` says how a release adds its recordings:
//!
//! ```sh
//! OASIS_RECORD=RELEASE cargo test --locked -p oasis --test end_to_end -- previous_release::record previous_release::archives::record
//! ```

mod archives;
mod conversation;
mod play_clients;
mod play_dac;
mod play_node;
mod play_server;
mod record;
mod tap;

use crate::harness::{Native, Oasis, eventually, eventually_shown, get, instance, ledger, oasis, repository};
use conversation::{Content, Conversation, Protocol};
use play_dac::PlayedDac;
use play_node::PlayedNode;
use play_server::PlayedServer;
use record::{ADDRESSES, FILES};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Fields of answers of HTTP that depend on what has happened.
const OPTIONAL: [&str; 13] = [
    "attached",
    "names",
    "path",
    "code",
    "gaps",
    "last_failure",
    "channel",
    "reason",
    "annotations",
    "last",
    "warnings",
    "moved",
    "declared",
];

/// All recordings: a folder each.
fn releases() -> Vec<PathBuf> {
    let all = fs::read_dir(repository().join("vectors/conversations")).unwrap();
    all.map(|entry| entry.unwrap().path()).collect()
}

fn conversations(release: &Path, file: &str) -> Vec<Conversation> {
    conversation::read(&release.join(file))
}

fn of(protocol: Protocol, all: &[Conversation]) -> impl Iterator<Item = &Conversation> {
    all.iter().filter(move |known| known.protocol == protocol)
}

/// A DAC of today with the node of a recording. The node answers until this value is dropped.
struct Watched {
    dac: Oasis,
    is_over: std::sync::Arc<AtomicBool>,
    node: Option<thread::JoinHandle<PlayedNode>>,
    _folder: tempfile::TempDir,
}

impl Watched {
    fn by(release: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive").display().to_string();
        let dac = Oasis::dac(&["--archive", &archive, "--dac-name", "hall"]);
        let conversation = &conversations(release, "node.txt")[0];
        let mut node = PlayedNode::connect(&dac);
        node.play(conversation, &dac);
        node.until_acknowledged(conversation);
        let is_over = std::sync::Arc::new(AtomicBool::new(false));
        let (ends, results) = (is_over.clone(), results_of(conversation));
        let node = thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                node.keep_alive();
                node.answer_commands(&results);
            }
            node
        });
        Self { dac, is_over, node: Some(node), _folder: folder }
    }

    fn leave(mut self, conversation: &Conversation) -> Oasis {
        self.is_over.store(true, Ordering::Relaxed);
        self.node.take().unwrap().join().unwrap().leave(conversation);
        self.dac
    }
}

/// The node's answers by the words of the commands.
fn results_of(conversation: &Conversation) -> BTreeMap<String, Value> {
    let controls = |op: &'static str| {
        conversation
            .messages
            .iter()
            .filter(move |message| message.op() == op)
            .filter_map(|message| message.control())
    };
    let result = |id: &Value| controls("result").find(|result| result["id"] == *id).cloned();
    let word = |command: &Value| command["command"].as_str().map(str::to_owned);
    controls("command").filter_map(|command| Some((word(command)?, result(&command["id"])?))).collect()
}

/// Numbers of samples by instance, as a recorded node has sent them.
fn sent(conversation: &Conversation) -> Vec<(String, u64)> {
    let registered = conversation.messages.iter().find(|message| message.op() == "registered").unwrap();
    let topics = registered.control().unwrap()["topics"].as_array().unwrap();
    let count = |topic: &Value| -> u64 {
        let batches = conversation.messages.iter().filter_map(|message| match &message.content {
            Content::Batch(bytes) => Some(bytes),
            _ => None,
        });
        let own = batches.filter(|bytes| {
            u64::from(u32::from_le_bytes(bytes[4..8].try_into().unwrap())) == topic.as_u64().unwrap()
        });
        own.map(|bytes| u64::from(u16::from_le_bytes(bytes[44..46].try_into().unwrap()))).sum()
    };
    topics
        .iter()
        .map(|entry| (entry["instance"].as_str().unwrap().to_owned(), count(&entry["topic"])))
        .collect()
}

#[test]
fn record() {
    let Ok(release) = env::var("OASIS_RECORD") else { return };
    let to = repository().join("vectors/conversations").join(release);
    record::record(&to);
    for (file, _) in FILES {
        assert!(!conversations(&to, file).is_empty(), "{file}");
    }
}

#[test]
fn a_dac_takes_all_samples_of_an_earlier_node() {
    for release in releases() {
        let conversation = &conversations(&release, "node.txt")[0];
        let dac = Watched::by(&release).leave(conversation);
        for (name, count) in sent(conversation) {
            let ledger = ledger(&dac, "plant", &name, "the samples", |ledger| ledger["received"] == count);
            assert_eq!((&ledger["unexplained"], &ledger["missing"]), (&json!(0), &json!(0)), "{ledger}");
        }
        eventually_shown("the node has left", || {
            let nodes = get(&dac, "/api/v1/nodes");
            if nodes["nodes"][0]["state"] == "offline" { Ok(()) } else { Err(nodes) }
        });
    }
}

#[test]
fn a_dac_that_ends_hands_an_earlier_node_over() {
    for release in releases() {
        let conversation = conversations(&release, "node.txt").swap_remove(1);
        let dac = Oasis::dac(&[]);
        let mut node = PlayedNode::connect(&dac);
        // Waits for `drain`.
        node.play(&conversation, &dac);
        node.leave(&conversation);
        eventually("the end of the DAC", || dac.has_ended().then_some(()));
    }
}

#[test]
fn a_node_works_with_an_earlier_dac() {
    for release in releases() {
        let conversation = &conversations(&release, "node.txt")[0];
        let dac = PlayedDac::start(conversation);
        let node = Oasis::node(&dac.channel, &["--probe", "heartbeat@20", "--probe", "processor@5"]);
        let results = conversation.messages.iter().filter(|message| message.op() == "command").count();
        eventually("the commands of the earlier DAC", || {
            (dac.results() == results || dac.is_finished()).then_some(())
        });
        let status = node.stop();
        let report = dac.finished();
        assert!(status.success() && report.said_goodbye, "{report:?}");
        assert!(
            report
                .results
                .iter()
                .all(|result| result.get("done").is_some() || result["failed"]["code"] == "no_recorder"),
            "{report:?}"
        );
        assert_eq!(report.last.len(), 2, "{report:?}");
    }
}

#[test]
fn a_node_leaves_an_earlier_dac_that_ends() {
    for release in releases() {
        let conversation = &conversations(&release, "node.txt")[1];
        let dac = PlayedDac::start(conversation);
        let _node = Oasis::node(&dac.channel, &["--probe", "heartbeat@20"]);
        assert!(dac.finished().said_goodbye);
    }
}

#[test]
fn earlier_readers_and_relays_work_with_a_dac() {
    for release in releases() {
        let watched = Watched::by(&release);
        for file in ["reader.txt", "relay.txt"] {
            for conversation in of(Protocol::WebSocket, &conversations(&release, file)) {
                play_clients::reader(conversation, &watched.dac);
            }
            for conversation in of(Protocol::Http, &conversations(&release, file)) {
                play_clients::requests(conversation, &watched.dac, &OPTIONAL);
            }
        }
    }
}

#[test]
fn earlier_commands_and_pages_work_with_a_dac() {
    for release in releases() {
        let watched = Watched::by(&release);
        let all = conversations(&release, "tools.txt");
        for conversation in of(Protocol::Http, &all) {
            play_clients::requests(conversation, &watched.dac, &OPTIONAL);
        }
        for conversation in of(Protocol::WebSocket, &all) {
            play_clients::reader(conversation, &watched.dac);
        }
    }
}

#[test]
fn a_tem_lists_earlier_dacs_and_answers_earlier_commands() {
    for release in releases() {
        let tem = Oasis::tem(&[]);
        let (mut farewells, mut all) = (Vec::new(), conversations(&release, "tem.txt"));
        for conversation in &mut all {
            // The DAC leaves after everybody has asked for it.
            let is_farewell = |message: &conversation::Message| matches!(&message.content, Content::Request { method, .. } if method == "DELETE");
            let at =
                conversation.messages.iter().position(is_farewell).unwrap_or(conversation.messages.len());
            let last = conversation.messages.split_off(at);
            farewells.push(Conversation { messages: last, ..*conversation });
        }
        for conversation in &all {
            play_clients::requests(conversation, &tem, &OPTIONAL);
        }
        let hall = get(&tem, "/api/v1/tem")["dacs"][0].clone();
        let has_plant = hall["nodes"].as_array().unwrap().contains(&json!("plant"));
        assert!(hall["name"] == "hall" && has_plant, "{hall}");
        for conversation in &farewells {
            play_clients::requests(conversation, &tem, &OPTIONAL);
        }
        let left = get(&tem, "/api/v1/tem");
        assert_eq!(left["dacs"], json!([]), "the last message of a DAC removes it: {left}");
    }
}

#[test]
fn a_dac_registers_at_an_earlier_tem_and_tools_understand_it() {
    for release in releases() {
        let [doors, channel, own] = ADDRESSES;
        let dac = Oasis::dac(&[]);
        let places = [(doors, dac.listen()), (channel, dac.channel())];
        let tem = PlayedServer::start(conversations(&release, "tem.txt"), own, &places);
        let registering = Oasis::dac(&["--tem", &tem.http(), "--dac-name", "hall"]);
        eventually("a heartbeat", || tem.has_been_asked("PUT /api/v1/tem/dacs/hall").then_some(()));
        let list = said(&["list", "--dacs", "--url", &tem.http()]);
        assert!(list.contains("hall") && list.contains(dac.listen()), "{list}");
        let _node = Oasis::start_as_written(
            oasis(),
            &["node", "--name", "mill", "--tem", &tem.http(), "--probe", "heartbeat@20"],
        );
        ledger(&dac, "mill", "heartbeat", "a node that the TEM has sent here", |ledger| {
            ledger["received"].as_u64() > Some(0)
        });
        let warnings = get(&registering, "/api/v1/health")["warnings"].clone();
        assert!(!warnings.to_string().contains("\"tem\""), "{warnings}");
        assert!(registering.stop().success());
        assert!(tem.has_been_asked("DELETE /api/v1/tem/dacs/hall"));
        tem.assert_understood();
    }
}

#[test]
fn a_relay_serves_the_nodes_of_an_earlier_dac() {
    for release in releases() {
        let dac = PlayedServer::start(conversations(&release, "relay.txt"), ADDRESSES[0], &[]);
        let log = tempfile::tempfile().unwrap();
        let relay = Oasis::relay_at("127.0.0.1:0", log, &["--upstream", &dac.http()]);
        eventually("an instance of the earlier DAC", || instance(&relay, "plant", "heartbeat"));
        let mut client = Native::connect(&relay.url());
        client.subscribe("heartbeat", json!({}));
        let (samples, _) = client.samples(5);
        assert!(samples.windows(2).all(|pair| pair[1].sequence == pair[0].sequence + 1), "{samples:?}");
        let command = json!({"op": "command", "node": "plant", "instance": "heartbeat", "command": "hertz", "hertz": 20});
        assert_eq!(client.request(command)["status"], "done");
        dac.assert_understood();
    }
}

#[test]
fn commands_understand_an_earlier_dac() {
    for release in releases() {
        let mut known = conversations(&release, "tools.txt");
        known.extend(conversations(&release, "reader.txt"));
        let dac = PlayedServer::start(known, ADDRESSES[0], &[]);
        let url = dac.http();
        let list = said(&["list", "--url", &url]);
        assert!(list.contains("plant/heartbeat"), "{list}");
        said(&["audit", "--url", &url]);
        said(&["handlers", "--url", &url]);
        said(&["shards", "--url", &url]);
        said(&["run", "start", "soak", "--url", &url]);
        said(&["annotation", "add", "valve open", "--url", &url]);
        said(&["run", "stop", "soak", "--url", &url]);
        said(&["command", "--url", &url, "plant/heartbeat", "hertz", "20"]);
        let samples = said(&["tail", "--url", &url, "--from-earliest", "--count", "5", "plant/heartbeat"]);
        assert_eq!(samples.lines().count(), 5, "{samples}");
        dac.assert_understood();
    }
}

fn said(arguments: &[&str]) -> String {
    let done = oasis().args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}
