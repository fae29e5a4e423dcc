//! Plays recorded readers, tools and DACs against a DAC or TEM of today.

use super::conversation::{Content, Conversation, Message, Protocol, Side, missing, op};
use crate::harness::{self, Oasis, TEST_TIMEOUT};
use oasis_wire::{
    batch::{Batch, Sample},
    schema::ProbeType,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    net::TcpStream,
    time::{Duration, Instant},
};
use tungstenite::{Error, WebSocket};

/// Fields of `oasis.v1` and of the API that are there only in some states.
const OPTIONAL: [&str; 4] = ["gaps", "annotated", "problem", "runs"];

/// Plays a reader. Each answer of today has the fields of the recorded one, and each sample that the recording has from
/// a subscription of the past is read again.
pub fn reader(conversation: &Conversation, dac: &Oasis) {
    assert_eq!(conversation.protocol, Protocol::WebSocket);
    let mut player = Reader {
        socket: harness::open(&dac.url(), Some("oasis.v1")),
        seen: Vec::new(),
        topics: BTreeMap::new(),
        schemas: BTreeMap::new(),
        samples: BTreeMap::new(),
    };
    player.socket.get_mut().set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    let mut recorded = Recorded::default();
    for message in &conversation.messages {
        match (message.from, &message.content) {
            (Side::Client, Content::Control(request)) => player.send(request),
            (Side::Server, Content::Control(answer)) => {
                recorded.note(answer, &conversation.messages);
                player.expect(answer);
            }
            (_, Content::Batch(bytes)) => recorded.batch(bytes),
            _ => panic!("no message of oasis.v1: {message:?}"),
        }
    }
    for (instance, samples) in &recorded.samples {
        player.until(&format!("the recorded samples of {instance}"), |player| {
            let today = player.samples.get(instance)?;
            samples.iter().all(|sample| today.contains(sample)).then_some(())
        });
    }
}

struct Reader {
    socket: WebSocket<TcpStream>,
    /// Control messages that no recorded one has asked for yet.
    seen: Vec<Value>,
    /// Topics of today by those of the recording.
    topics: BTreeMap<u64, u64>,
    schemas: BTreeMap<u64, (String, ProbeType)>,
    samples: BTreeMap<String, Vec<Sample>>,
}

impl Reader {
    fn send(&mut self, request: &Value) {
        let mut request = request.clone();
        if let Some(topic) = request["topic"].as_u64() {
            request["topic"] = (*self.topics.get(&topic).unwrap_or(&topic)).into();
        }
        // A position of another life of the DAC says nothing here.
        if let Some(members) = request.as_object_mut() {
            members.remove("resume");
        }
        self.socket.send(tungstenite::Message::text(request.to_string())).expect("the DAC reads");
    }

    /// Waits for a message like this one: the answer to the same request, or one of the same kind.
    fn expect(&mut self, recorded: &Value) {
        // A gap, a new epoch and the like depend on times.
        if ["gap", "epoch", "statistics", "registry_delta", "registry"].contains(&op(recorded))
            && self.seen.iter().any(|message| op(message) == op(recorded))
        {
            return;
        }
        if ["gap", "epoch"].contains(&op(recorded)) {
            return;
        }
        let is_same = |message: &Value| op(message) == op(recorded) && message["id"] == recorded["id"];
        let is_error = |message: &Value| recorded["id"].is_i64() && message["id"] == recorded["id"];
        let what = format!("an answer like {recorded:.200}");
        let today = self.until(&what, |player| {
            let at = player.seen.iter().position(|message| is_same(message) || is_error(message))?;
            Some(player.seen[at].clone())
        });
        let lost = missing(recorded, &today, &OPTIONAL);
        assert!(lost.is_empty(), "recorded: {recorded}\ntoday: {today}\n{lost:?}");
        if let (Some(topic), Some(now)) = (recorded["topic"].as_u64(), today["topic"].as_u64()) {
            self.topics.insert(topic, now);
        }
    }

    fn until<T>(&mut self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(
                start.elapsed() < TEST_TIMEOUT,
                "not within {TEST_TIMEOUT:?}: {what}, but {:#?}",
                self.seen
            );
            match self.socket.read() {
                Ok(tungstenite::Message::Text(text)) => self.note(serde_json::from_str(&text).expect("JSON")),
                Ok(tungstenite::Message::Binary(bytes)) => self.batch(&bytes),
                Ok(tungstenite::Message::Close(frame)) => panic!("closed before {what}: {frame:?}"),
                Ok(_) => {}
                Err(Error::Io(error))
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => panic!("closed before {what}: {error}"),
            }
        }
    }

    fn note(&mut self, message: Value) {
        if op(&message) == "subscribed" {
            let schema = schema(&message, &self.seen);
            let instance = message["instance"]["instance"].as_str().expect("a name").to_owned();
            self.schemas.insert(message["topic"].as_u64().expect("a topic"), (instance, schema));
        }
        self.seen.push(message);
    }

    fn batch(&mut self, bytes: &[u8]) {
        if let Some((instance, schema)) = self.schemas.get(&topic(bytes)) {
            let batch = Batch::parse(bytes, schema).expect("a good batch");
            self.samples.entry(instance.clone()).or_default().extend(batch.samples());
        }
    }
}

/// Samples of the recording that come from the past, by instance.
#[derive(Default)]
struct Recorded {
    schemas: BTreeMap<u64, (String, ProbeType)>,
    messages: Vec<Value>,
    samples: BTreeMap<String, Vec<Sample>>,
}

impl Recorded {
    fn note(&mut self, message: &Value, all: &[Message]) {
        if op(message) == "subscribed" {
            let request = all.iter().filter(|other| other.from == Side::Client).filter_map(Message::control);
            let asks_for_past = request.filter(|request| request["id"] == message["id"]).any(|request| {
                request["from"] == "earliest" && request.get("delivery").is_none_or(|how| how == "every")
            });
            let topic = message["topic"].as_u64().expect("a topic");
            if asks_for_past {
                let instance = message["instance"]["instance"].as_str().expect("a name").to_owned();
                self.schemas.insert(topic, (instance, schema(message, &self.messages)));
            } else {
                self.schemas.remove(&topic);
            }
        }
        self.messages.push(message.clone());
    }

    fn batch(&mut self, bytes: &[u8]) {
        if let Some((instance, schema)) = self.schemas.get(&topic(bytes)) {
            let batch = Batch::parse(bytes, schema).expect("a good batch");
            self.samples.entry(instance.clone()).or_default().extend(batch.samples());
        }
    }
}

/// The schema of a subscription: in its answer, or in a message before it.
fn schema(subscribed: &Value, before: &[Value]) -> ProbeType {
    let instance = &subscribed["instance"];
    let inline = instance.get("schema").filter(|schema| schema.is_object());
    let sent = || {
        let of = |message: &&Value| op(message) == "schema" && message["sha256"] == instance["schema_sha256"];
        &before.iter().find(of).expect("a schema")["schema"]
    };
    serde_json::from_value(inline.unwrap_or_else(sent).clone()).expect("a schema")
}

fn topic(batch: &[u8]) -> u64 {
    u32::from_le_bytes(batch[4..8].try_into().expect("4 bytes")).into()
}

/// Plays requests of HTTP. Each answer of today has the same status, and the fields of the recorded one.
pub fn requests(conversation: &Conversation, server: &Oasis, optional: &[&str]) {
    assert_eq!(conversation.protocol, Protocol::Http);
    let mut asked: Option<(u16, Value, String)> = None;
    // Numbers that the DAC gives to what is made, and digests, by those of the recording.
    for message in &conversation.messages {
        match &message.content {
            Content::Request { method, path, body } => {
                let (status, today) = harness::request(server, method, path, body.as_ref());
                asked = Some((status, today, format!("{method} {path}")));
            }
            Content::Answer { status, body } => {
                let (today_status, today, what) = asked.take().expect("a request");
                assert_eq!(*status, today_status, "{what}: {today}");
                let body = body.clone().unwrap_or_default();
                let lost = missing(&body, &today, optional);
                assert!(lost.is_empty(), "{what}\nrecorded: {body}\ntoday: {today}\n{lost:?}");
            }
            _ => panic!("no message of HTTP: {message:?}"),
        }
    }
}
