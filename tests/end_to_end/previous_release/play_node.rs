//! Plays the node of a recorded conversation against a DAC of today.

use super::conversation::{Content, Conversation, Message, Side, missing, op};
use crate::harness::{Oasis, TEST_TIMEOUT, eventually_shown, get};
use oasis_channel::frame;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

/// Range of the topic in a batch.
const TOPIC: std::ops::Range<usize> = 4..8;
/// Fields that a DAC may leave out.
const OPTIONAL: [&str; 1] = ["safe"];
/// A node pings every second; the DAC gives it up after 5 s.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two looks whether the test is over.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A node of the earlier release that is connected.
pub struct PlayedNode {
    socket: TcpStream,
    from_dac: mpsc::Receiver<Value>,
    /// Messages of the DAC that were not asked for yet.
    waiting: VecDeque<Value>,
    /// Topics of today by those of the recording.
    topics: BTreeMap<u64, u64>,
    /// Last numbers that the DAC has acknowledged, by its topics: received, and safe.
    pub acknowledged: Arc<Mutex<[BTreeMap<u64, u64>; 2]>>,
    /// The number of the last command, as the DAC of today gave it.
    command: u64,
    ping: Value,
    pinged: Instant,
}

impl PlayedNode {
    pub fn connect(dac: &Oasis) -> Self {
        let socket = TcpStream::connect(dac.channel()).expect("the DAC listens");
        let (to_player, from_dac) = mpsc::channel();
        let acknowledged: Arc<Mutex<[BTreeMap<u64, u64>; 2]>> = Arc::default();
        let (reading, noted) = (socket.try_clone().expect("a socket"), acknowledged.clone());
        thread::spawn(move || listen(reading, &to_player, &noted));
        Self {
            socket,
            from_dac,
            waiting: VecDeque::new(),
            topics: BTreeMap::new(),
            acknowledged,
            command: 0,
            ping: json!({"op": "ping", "node_time": 1, "clock_offset_ns": null, "round_trip_ns": null}),
            pinged: Instant::now(),
        }
    }

    /// Plays all but the node's goodbye.
    pub fn play(&mut self, conversation: &Conversation, dac: &Oasis) {
        let last = conversation.messages.iter().rposition(|message| message.op() == "goodbye");
        let until = last.unwrap_or(conversation.messages.len());
        let instances = instances(conversation);
        for message in &conversation.messages[..until] {
            match message.from {
                Side::Client => self.send(message),
                Side::Server => self.expect(message, dac, &instances),
            }
        }
    }

    /// Sends a message of the node with the topics of today.
    fn send(&mut self, message: &Message) {
        match &message.content {
            Content::Batch(bytes) => {
                let mut bytes = bytes.clone();
                let recorded = u32::from_le_bytes(bytes[TOPIC].try_into().expect("4 bytes"));
                let today = u32::try_from(self.topic(u64::from(recorded))).expect("a topic");
                bytes[TOPIC].copy_from_slice(&today.to_le_bytes());
                let header = frame::batch_header(bytes.len());
                self.write(&[&header[..], &bytes].concat());
            }
            Content::Control(control) => {
                let mut control = control.clone();
                if message.op() == "counters" {
                    for entry in control["instances"].as_array_mut().expect("a list") {
                        let recorded = entry["topic"].as_u64().expect("a topic");
                        entry["topic"] = self.topic(recorded).into();
                    }
                }
                match message.op() {
                    "result" => control["id"] = self.command.into(),
                    "ping" => self.ping = control.clone(),
                    _ => {}
                }
                self.control(&control);
            }
            other => panic!("no message of a node: {other:?}"),
        }
    }

    /// Waits for a message of the DAC like the recorded one.
    fn expect(&mut self, message: &Message, dac: &Oasis, instances: &BTreeMap<String, u64>) {
        let recorded = message.control().expect("a control message");
        match message.op() {
            // At the end everything is acknowledged.
            "ack" | "safe" => {}
            "drain" => {
                dac.ask_to_stop();
                self.next("drain");
            }
            "command" => {
                let issued = issue(dac, recorded);
                let today = self.next("command");
                let lost = missing(recorded, &today, &[]);
                assert!(lost.is_empty(), "{recorded} and {today}: {lost:?}");
                assert_eq!((&recorded["command"], &recorded["hertz"]), (&today["command"], &today["hertz"]));
                self.command = today["id"].as_u64().expect("a number");
                drop(issued);
            }
            known => {
                let today = self.next(known);
                let lost = missing(recorded, &today, &OPTIONAL);
                assert!(lost.is_empty(), "{recorded} and {today}: {lost:?}");
                for assigned in
                    today["topics"].as_array().into_iter().flatten().filter(|_| known == "registered")
                {
                    let instance = assigned["instance"].as_str().expect("a name");
                    let topic = assigned["topic"].as_u64().expect("a topic");
                    self.topics.insert(instances[instance], topic);
                }
            }
        }
    }

    /// Waits until the DAC has acknowledged all that the recorded one had.
    pub fn until_acknowledged(&mut self, conversation: &Conversation) {
        for (index, kind) in ["ack", "safe"].into_iter().enumerate() {
            let mut wanted = BTreeMap::new();
            for message in conversation.messages.iter().filter(|message| message.op() == kind) {
                let pairs = message.control().expect("a control message")["topics"].clone();
                let pairs: Vec<(u64, u64)> = serde_json::from_value(pairs).expect("pairs");
                wanted.extend(pairs.into_iter().map(|(topic, sequence)| (self.topic(topic), sequence)));
            }
            assert!(!wanted.is_empty(), "the recording has no {kind}");
            eventually_shown(kind, || {
                self.keep_alive();
                let today = self.acknowledged.lock().expect("no thread panics")[index].clone();
                let is_done = wanted.iter().all(|(topic, sequence)| today.get(topic) >= Some(sequence));
                if is_done { Ok(()) } else { Err(json!({"wanted": wanted, "today": today})) }
            });
        }
    }

    /// Answers a command with the recorded result of such a command, if one waits.
    pub fn answer_commands(&mut self, results: &BTreeMap<String, Value>) {
        match self.from_dac.recv_timeout(POLL_INTERVAL) {
            Ok(message) if op(&message) == "command" => {
                let command = message["command"].as_str().expect("a command");
                let mut result = results[command].clone();
                result["id"] = message["id"].clone();
                self.control(&result);
            }
            _ => {}
        }
    }

    /// Says goodbye as recorded; the DAC closes then.
    pub fn leave(mut self, conversation: &Conversation) {
        let goodbye = conversation.messages.iter().find(|message| message.op() == "goodbye");
        self.send(goodbye.expect("a goodbye"));
        while self.from_dac.recv_timeout(TEST_TIMEOUT).is_ok() {}
    }

    /// Pings once a second, as the recorded node does.
    pub fn keep_alive(&mut self) {
        if self.pinged.elapsed() > PING_INTERVAL {
            self.pinged = Instant::now();
            let ping = self.ping.clone();
            self.control(&ping);
        }
    }

    fn topic(&self, recorded: u64) -> u64 {
        *self.topics.get(&recorded).unwrap_or_else(|| panic!("topic {recorded} is not registered"))
    }

    /// The next message with this `op`. A refusal ends the test.
    fn next(&mut self, wanted: &str) -> Value {
        let start = Instant::now();
        loop {
            if let Some(at) = self.waiting.iter().position(|message| op(message) == wanted) {
                return self.waiting.remove(at).expect("it is there");
            }
            self.keep_alive();
            match self.from_dac.recv_timeout(PING_INTERVAL) {
                Ok(message) if op(&message) == "refused" => panic!("refused before {wanted}: {message}"),
                Ok(message) => self.waiting.push_back(message),
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("closed before {wanted}"),
                Err(_) => assert!(start.elapsed() < TEST_TIMEOUT, "no {wanted} from the DAC"),
            }
        }
    }

    fn control(&mut self, message: &Value) {
        let body = message.to_string();
        let length = u32::try_from(body.len() + 1).expect("a length");
        self.write(&[&length.to_le_bytes()[..], &[2], body.as_bytes()].concat());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("the DAC reads");
    }
}

fn message_of(message: &Message) -> Value {
    message.control().cloned().unwrap_or_default()
}

/// Topics of the recording by instance.
fn instances(conversation: &Conversation) -> BTreeMap<String, u64> {
    let registered = conversation.messages.iter().filter(|message| message.op() == "registered");
    let entries =
        registered.flat_map(|message| message_of(message)["topics"].as_array().cloned().unwrap_or_default());
    entries
        .map(|entry| {
            (
                entry["instance"].as_str().expect("a name").to_owned(),
                entry["topic"].as_u64().expect("a topic"),
            )
        })
        .collect()
}

/// Sends a recorded command through the API of today. It waits for the answer, so it has a thread.
fn issue(dac: &Oasis, recorded: &Value) -> thread::JoinHandle<()> {
    let mut request = recorded.clone();
    let members = request.as_object_mut().expect("an object");
    members.remove("op");
    members.remove("id");
    request["node"] = get(dac, "/api/v1/nodes")["nodes"][0]["name"].clone();
    let url = format!("{}/api/v1/commands", dac.http());
    thread::spawn(move || {
        let _ = ureq::post(url).send_json(request);
    })
}

fn listen(mut socket: TcpStream, to_player: &mpsc::Sender<Value>, noted: &Mutex<[BTreeMap<u64, u64>; 2]>) {
    let mut length = [0; 4];
    while socket.read_exact(&mut length).is_ok() {
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        if socket.read_exact(&mut body).is_err() {
            return;
        }
        let message: Value = serde_json::from_slice(&body[1..]).expect("JSON");
        let index = match op(&message) {
            "ack" => 0,
            "safe" => 1,
            _ => {
                let _ = to_player.send(message);
                continue;
            }
        };
        let pairs: Vec<(u64, u64)> = serde_json::from_value(message["topics"].clone()).expect("pairs");
        let mut noted = noted.lock().expect("no thread panics");
        for (topic, sequence) in pairs {
            let last = noted[index].entry(topic).or_default();
            *last = sequence.max(*last);
        }
    }
}
