//! Plays the DAC of a recorded conversation with a node against a node of today.

use super::conversation::{Content, Conversation, Side, missing, op};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

/// Messages of a node that a DAC of the first recordings knows. A later node may send others only if `welcome` offers
/// something that allows it.
const KNOWN: [&str; 11] = [
    "hello",
    "register",
    "replay",
    "missing",
    "datagrams",
    "keep-until-safe",
    "counters",
    "result",
    "ping",
    "goodbye",
    "batch",
];
/// Fields that a node may leave out.
const OPTIONAL: [&str; 8] =
    ["overhead", "budget", "lowered", "demand", "recorder", "hertz", "clock_offset_ns", "round_trip_ns"];
/// Longest silence of a node.
const NODE_TIMEOUT: Duration = Duration::from_secs(60);

/// A DAC of the earlier release.
pub struct PlayedDac {
    pub channel: String,
    /// Answers of the node until now.
    results: Arc<AtomicUsize>,
    played: JoinHandle<Report>,
}

/// Messages of the node, counted by kind.
#[derive(Debug, Default)]
pub struct Report {
    /// Samples by topic: the last number.
    pub last: BTreeMap<u64, u64>,
    /// Answers to commands.
    pub results: Vec<Value>,
    pub said_goodbye: bool,
}

impl PlayedDac {
    pub fn start(conversation: &Conversation) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let channel = listener.local_addr().expect("an address").to_string();
        let conversation = conversation.clone();
        let results: Arc<AtomicUsize> = Arc::default();
        let counted = results.clone();
        let played = thread::spawn(move || {
            let (socket, _) = listener.accept().expect("a node");
            socket.set_read_timeout(Some(NODE_TIMEOUT)).expect("a timeout");
            let (topics, report) = (BTreeMap::new(), Report::default());
            Player { socket, topics, counted, report }.play(&conversation)
        });
        Self { channel, results, played }
    }

    /// Waits until the node has left.
    pub fn finished(self) -> Report {
        self.played.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Returns the number of commands that the node has answered.
    pub fn results(&self) -> usize {
        self.results.load(Ordering::Acquire)
    }

    pub fn is_finished(&self) -> bool {
        self.played.is_finished()
    }
}

struct Player {
    socket: TcpStream,
    /// Instances by topic, as the recorded DAC has numbered them.
    topics: BTreeMap<String, u64>,
    counted: Arc<AtomicUsize>,
    report: Report,
}

impl Player {
    fn play(mut self, conversation: &Conversation) -> Report {
        let recorded = |kind: &str| {
            let of = |message: &&super::conversation::Message| message.op() == kind;
            conversation.messages.iter().find(of).and_then(|message| message.control()).cloned()
        };
        // After that everything is acknowledged at once, so that the node can end whenever the test says so.
        let last =
            conversation.messages.iter().rposition(|message| ["command", "drain"].contains(&message.op()));
        let script = &conversation.messages[..=last.expect("a command or a drain")];
        for message in script.iter().filter(|message| message.from == Side::Server) {
            let Content::Control(answer) = &message.content else {
                panic!("no message of a DAC: {message:?}")
            };
            match op(answer) {
                "welcome" => drop(self.until("hello", recorded("hello").as_ref())),
                "registered" => {
                    let asked = self.until("register", recorded("register").as_ref());
                    for entry in answer["topics"].as_array().expect("topics") {
                        let name = entry["instance"].as_str().expect("a name");
                        self.topics.insert(name.into(), entry["topic"].as_u64().expect("a topic"));
                    }
                    let names: Vec<_> = asked["instances"]
                        .as_array()
                        .expect("instances")
                        .iter()
                        .map(|one| &one["name"])
                        .collect();
                    assert_eq!(names.len(), self.topics.len(), "{names:?}");
                }
                // Waits until the node has sent this many samples.
                "ack" | "safe" => self.until_sent(answer),
                // Each ping is answered.
                "pong" => continue,
                _ => {}
            }
            self.send(answer);
            if op(answer) == "command" {
                let of = |message: &&super::conversation::Message| {
                    message.op() == "result"
                        && message.control().is_some_and(|result| result["id"] == answer["id"])
                };
                let known = conversation.messages.iter().find(of).and_then(|message| message.control());
                let result = self.until("result", known);
                assert_eq!(result["id"], answer["id"]);
                self.report.results.push(result);
                self.counted.fetch_add(1, Ordering::Release);
            }
        }
        loop {
            let topics: Vec<_> = self.report.last.iter().collect();
            let (ack, safe) = (
                json!({"op": "ack", "topics": topics}),
                json!({"op": "safe", "reason": "stored", "topics": topics}),
            );
            self.send(&ack);
            self.send(&safe);
            if self.report.said_goodbye || self.read().is_none() {
                return self.report;
            }
        }
    }

    fn until_sent(&mut self, answer: &Value) {
        let pairs: Vec<(u64, u64)> = serde_json::from_value(answer["topics"].clone()).expect("pairs");
        let is_sent =
            |last: &BTreeMap<u64, u64>| pairs.iter().all(|(topic, number)| last.get(topic) >= Some(number));
        while !is_sent(&self.report.last) && !self.report.said_goodbye {
            self.read().expect("more samples");
        }
    }

    /// Reads until a message of this kind. It has the fields of the recorded one.
    fn until(&mut self, kind: &str, recorded: Option<&Value>) -> Value {
        loop {
            let message = self.read().unwrap_or_else(|| panic!("the node left before {kind}"));
            if op(&message) == kind {
                let lost =
                    recorded.map(|recorded| missing(recorded, &message, &OPTIONAL)).unwrap_or_default();
                assert!(lost.is_empty(), "{message}: {lost:?}");
                return message;
            }
        }
    }

    /// The next message; none once the node has closed.
    fn read(&mut self) -> Option<Value> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        self.fill(&mut body)?;
        if body[0] == 1 {
            let number = |range: std::ops::Range<usize>| {
                let mut bytes = [0; 8];
                bytes[..range.len()].copy_from_slice(&body[1..][range]);
                u64::from_le_bytes(bytes)
            };
            let (topic, last) = (number(4..8), number(8..16) + number(44..46) - 1);
            assert!(self.topics.values().any(|known| *known == topic), "topic {topic} was not registered");
            self.report.last.insert(topic, last);
            return Some(json!({"op": "batch"}));
        }
        let message: Value = serde_json::from_slice(&body[1..]).expect("JSON");
        assert!(KNOWN.contains(&op(&message)), "a DAC of the earlier release refuses {message}");
        match op(&message) {
            "ping" => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time");
                let now = u64::try_from(now.as_nanos()).expect("this century");
                self.send(&json!({"op": "pong", "node_time": message["node_time"], "dac_time": now}));
            }
            "goodbye" => self.report.said_goodbye = true,
            _ => {}
        }
        Some(message)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Option<()> {
        let begun = Instant::now();
        match self.socket.read_exact(bytes) {
            Ok(()) => Some(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                panic!("silence for {:?}", begun.elapsed())
            }
            Err(_) => None,
        }
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let length = u32::try_from(body.len() + 1).expect("a length");
        // The write fails if the node has left, which the next read shows.
        let _ = self.socket.write_all(&[&length.to_le_bytes()[..], &[2], body.as_bytes()].concat());
    }
}
