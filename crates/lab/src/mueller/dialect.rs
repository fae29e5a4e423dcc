//! How each server is spoken to: bytes and meaning, no sockets.

use super::plan::Rival;
use serde_json::{Value, json};

/// What a server sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Pings can be sent from now on.
    Ready,
    /// The answer to the oldest ping without one; with the number of the worker, if the server tells it.
    Answer(Option<usize>),
    /// Something that wants this reply, such as a heartbeat.
    Reply(String),
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

    /// A ping.
    pub fn ping(self, number: u64) -> String {
        match self {
            Self::Oasis => json!({"op": "ping", "id": number, "client_time": 0}).to_string(),
            Self::EngineIo => "4ping".into(),
            Self::SocketCluster => json!({"event": "ping", "data": {"param": "pong"}}).to_string(),
        }
    }

    /// Reads a message.
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
}
