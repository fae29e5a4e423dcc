//! Protocol of each server: bytes and meaning, no sockets.

use super::rival::Rival;
use oasis_wire::batch::Header;
use serde_json::{Value, json};

/// Node and instance of a DAC whose newest sample is a file.
pub const FILE: (&str, &str) = ("lab", "file");

/// Message of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Pings can be sent from now on.
    Ready,
    /// The answer to the oldest ping without one; with the number of the worker, if the server tells it.
    Answer(Option<usize>),
    /// The same, which wants this reply.
    AnswerThen(String),
    /// Something that wants this reply, such as a heartbeat.
    Reply(String),
    /// The server closes the connection, for this reason.
    Closed(String),
    /// Anything else.
    Other,
}

impl Rival {
    /// Path and query of the WebSocket.
    pub fn path(self) -> &'static str {
        match self {
            Self::Oasis => "/ws",
            Self::EngineIo => "/engine.io/?EIO=4&transport=websocket",
            Self::SocketCluster => "/socketcluster/",
        }
    }

    /// The subprotocol that is offered.
    pub fn subprotocol(self) -> Option<&'static str> {
        (self == Self::Oasis).then_some("oasis.v1")
    }

    /// The first message of a client, if it speaks first.
    pub fn greeting(self) -> Option<String> {
        let handshake = json!({"event": "#handshake", "data": {"authToken": null}, "cid": 1});
        (self == Self::SocketCluster).then(|| handshake.to_string())
    }

    /// A ping. A DAC has no files: a client subscribes to an instance whose only sample is as large, and ends the subscription when that has come.
    pub fn ping(self, number: u64, is_file: bool) -> String {
        let (node, instance) = FILE;
        match self {
            Self::Oasis if is_file => {
                let from = "earliest";
                json!({"op": "subscribe", "id": number, "node": node, "instance": instance, "from": from})
                    .to_string()
            }
            Self::Oasis => json!({"op": "ping", "id": number, "client_time": 0}).to_string(),
            Self::EngineIo => "4ping".into(),
            Self::SocketCluster => json!({"event": "ping", "data": {"param": "pong"}}).to_string(),
        }
    }

    /// Reads a binary message.
    pub fn read_binary(self, bytes: &[u8]) -> Incoming {
        match Header::parse(bytes) {
            Ok(header) if self == Self::Oasis => {
                let topic = header.topic;
                Incoming::AnswerThen(json!({"op": "unsubscribe", "id": 0, "topic": topic}).to_string())
            }
            _ => Incoming::Other,
        }
    }

    /// Reads a text message.
    pub fn read(self, text: &str) -> Incoming {
        match self {
            Self::Oasis => oasis(text),
            Self::EngineIo => engine_io(text),
            Self::SocketCluster => socket_cluster(text),
        }
    }
}

fn oasis(text: &str) -> Incoming {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    match message["op"].as_str() {
        Some("welcome") => Incoming::Ready,
        Some("pong") => Incoming::Answer(None),
        _ => Incoming::Other,
    }
}

/// The packets of engine.io's protocol 4 begin with a digit for their type.
fn engine_io(text: &str) -> Incoming {
    match text.split_at_checked(1) {
        Some(("0", _)) => Incoming::Ready,
        Some(("2", _)) => Incoming::Reply("3".into()),
        Some(("4", body)) => Incoming::Answer(worker(body)),
        _ => Incoming::Other,
    }
}

/// The protocol of SocketCluster 15 and later: an empty message is a heartbeat.
fn socket_cluster(text: &str) -> Incoming {
    if text.is_empty() {
        return Incoming::Reply(String::new());
    }
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    match (message["event"].as_str(), message["rid"].as_u64()) {
        (Some("pong"), _) => Incoming::Answer(message["data"].as_str().and_then(worker)),
        (None, Some(1)) if message["error"].is_null() => Incoming::Ready,
        _ => Incoming::Other,
    }
}

/// Answers of Node's workers begin with the worker's number and a colon.
fn worker(body: &str) -> Option<usize> {
    body.split_once(':')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_greets_and_answers_in_its_own_words() {
        for (rival, ready, answer, worker) in [
            (Rival::Oasis, r#"{"op":"welcome","protocol":1}"#, r#"{"op":"pong","id":1}"#, None),
            (Rival::EngineIo, r#"0{"sid":"x","pingInterval":25000}"#, "43:17", Some(3)),
            (
                Rival::SocketCluster,
                r#"{"rid":1,"data":{"id":"x"}}"#,
                r#"{"event":"pong","data":"0:9"}"#,
                Some(0),
            ),
        ] {
            assert_eq!(rival.read(ready), Incoming::Ready, "{rival:?}");
            assert_eq!(rival.read(answer), Incoming::Answer(worker), "{rival:?}");
            assert_eq!(rival.read("?"), Incoming::Other, "{rival:?}");
        }
    }

    #[test]
    fn heartbeats_are_answered() {
        assert_eq!(Rival::EngineIo.read("2"), Incoming::Reply("3".into()));
        assert_eq!(Rival::SocketCluster.read(""), Incoming::Reply(String::new()));
    }

    #[test]
    fn the_file_of_a_dac_is_a_sample_whose_subscription_is_ended() {
        assert!(Rival::Oasis.ping(7, true).contains("subscribe"));
        let (mut encoder, _) = crate::servers::greeting().unwrap();
        let (mut row, mut batch) = (Vec::new(), Vec::new());
        oasis_probe::Sample::write(&crate::servers::sample(1), &mut oasis_probe::RowWriter::new(&mut row));
        encoder.push(1, &row).unwrap();
        encoder.finish(oasis_wire::batch::Fields { topic: 5, ..Default::default() }, &mut batch);
        let Incoming::AnswerThen(reply) = Rival::Oasis.read_binary(&batch) else { panic!("no answer") };
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((&reply["op"], &reply["topic"]), (&json!("unsubscribe"), &json!(5)));
        assert_eq!(Rival::EngineIo.read_binary(&batch), Incoming::Other);
    }
}
