use super::TEST_TIMEOUT;
use oasis_wire::{
    batch::{Batch, Sample},
    schema::ProbeType,
};
use serde_json::{Value, json};
use std::{io::ErrorKind, net::TcpStream};
use tungstenite::{
    Error, Message, WebSocket, client::IntoClientRequest, handshake::client::generate_key, http::HeaderValue,
};

/// A client as `docs/reference/websocket.md` describes it.
pub struct Native {
    socket: WebSocket<TcpStream>,
    last_id: i64,
    /// The type of the last instance subscribed to.
    schema: Option<ProbeType>,
    pub welcome: Value,
}

/// Message from the DAC.
#[derive(Debug)]
pub enum Incoming {
    Control(Value),
    Batch(Vec<u8>),
    /// Close code and reason.
    Closed(u16, String),
}

impl Native {
    pub fn connect(url: &str) -> Self {
        Self::connect_with(url, None)
    }

    /// Connects with an API token.
    pub fn connect_with(url: &str, token: Option<&str>) -> Self {
        let socket = open_with(url, Some("oasis.v1"), token.filter(|token| !token.is_empty()));
        let mut client = Self { socket, last_id: 0, schema: None, welcome: Value::Null };
        client.welcome = client.control("welcome");
        client
    }

    pub fn send(&mut self, message: Message) {
        self.socket.send(message).expect("the DAC listens");
    }

    /// Sends requests, which name their numbers, in one write.
    pub fn send_together(&mut self, requests: &[Value]) {
        for request in requests {
            self.socket.write(Message::text(request.to_string())).expect("room in the buffer");
        }
        self.socket.flush().expect("the DAC listens");
    }

    /// Sends a request and gives its answer.
    pub fn request(&mut self, mut request: Value) -> Value {
        self.last_id += 1;
        request["id"] = json!(self.last_id);
        self.send(Message::text(request.to_string()));
        loop {
            match self.next() {
                Incoming::Control(message) if message["id"] == self.last_id => return message,
                Incoming::Closed(code, reason) => panic!("closed: {code} {reason}"),
                _ => {}
            }
        }
    }

    /// Subscribes to an instance of the node `plant`; `more` is merged into the request.
    pub fn subscribe(&mut self, instance: &str, more: Value) -> Value {
        let mut request = json!({"op": "subscribe", "node": "plant", "instance": instance});
        more.as_object().expect("an object").iter().for_each(|(key, value)| request[key] = value.clone());
        let answer = self.request(request);
        assert_eq!(answer["op"], "subscribed", "{answer}");
        self.schema = Some(serde_json::from_value(answer["instance"]["schema"].clone()).expect("a schema"));
        answer
    }

    pub fn next(&mut self) -> Incoming {
        loop {
            match read(&mut self.socket) {
                Ok(Message::Text(text)) => {
                    return Incoming::Control(serde_json::from_str(&text).expect("JSON"));
                }
                Ok(Message::Binary(bytes)) => return Incoming::Batch(bytes.into()),
                Ok(Message::Close(frame)) => {
                    return frame.map_or(Incoming::Closed(1005, String::new()), |frame| {
                        Incoming::Closed(frame.code.into(), frame.reason.to_string())
                    });
                }
                Ok(_) => {}
                Err(error) => return Incoming::Closed(1006, error.to_string()),
            }
        }
    }

    /// The next control message of this kind; batches are passed over.
    pub fn control(&mut self, op: &str) -> Value {
        self.control_of(&[op])
    }

    /// The next control message of one of these kinds.
    pub fn control_of(&mut self, ops: &[&str]) -> Value {
        loop {
            match self.next() {
                Incoming::Control(message) if ops.iter().any(|op| message["op"] == *op) => return message,
                Incoming::Closed(code, reason) => panic!("closed before {ops:?}: {code} {reason}"),
                _ => {}
            }
        }
    }

    /// Returns the next `count` samples, or those until the subscription ends, and the control messages between them.
    pub fn samples(&mut self, count: usize) -> (Vec<Sample>, Vec<Value>) {
        let (mut samples, mut controls) = (Vec::new(), Vec::new());
        while samples.len() < count {
            match self.next() {
                Incoming::Batch(bytes) => {
                    let schema = self.schema.as_ref().expect("a subscription");
                    samples.extend(Batch::parse(&bytes, schema).expect("a good batch").samples());
                }
                Incoming::Control(message) => {
                    let is_over = message["op"] == "unsubscribed";
                    controls.push(message);
                    if is_over {
                        break;
                    }
                }
                Incoming::Closed(code, reason) => {
                    panic!("closed after {} samples: {code} {reason}", samples.len())
                }
            }
        }
        (samples, controls)
    }

    /// Reads until the DAC closes: code and reason.
    pub fn closed(&mut self) -> (u16, String) {
        loop {
            if let Incoming::Closed(code, reason) = self.next() {
                return (code, reason);
            }
        }
    }
}

/// Returns the next message. A read with a timeout ends early when the process is stopped and continued: repeated.
pub fn read(socket: &mut WebSocket<TcpStream>) -> tungstenite::Result<Message> {
    loop {
        match socket.read() {
            Err(Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// A WebSocket on loopback, with a subprotocol or without.
pub fn open(url: &str, subprotocol: Option<&'static str>) -> WebSocket<TcpStream> {
    open_with(url, subprotocol, None)
}

fn open_with(url: &str, subprotocol: Option<&'static str>, token: Option<&str>) -> WebSocket<TcpStream> {
    let mut request = url.into_client_request().expect("a URL");
    request.headers_mut().insert("Sec-WebSocket-Key", HeaderValue::from_str(&generate_key()).expect("a key"));
    if let Some(subprotocol) = subprotocol {
        request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(subprotocol));
    }
    if let Some(token) = token {
        let value = HeaderValue::try_from(format!("Bearer {token}")).expect("a token");
        request.headers_mut().insert("Authorization", value);
    }
    let authority = request.uri().authority().expect("host and port").as_str();
    let stream = TcpStream::connect(authority).expect("the DAC listens");
    stream.set_read_timeout(Some(TEST_TIMEOUT)).expect("a timeout");
    tungstenite::client(request, stream).expect("a WebSocket").0
}
