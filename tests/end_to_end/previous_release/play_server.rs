//! Plays the server of recorded conversations of HTTP and `oasis.v1` against programs of today.

use super::{
    conversation::{Content, Conversation, Protocol, Side, missing, op},
    record::each_text,
};
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, SystemTime},
};
use tungstenite::{
    Message, WebSocket,
    handshake::server::{Request, Response},
    http::HeaderValue,
};

/// Fields that a request may leave out.
const OPTIONAL: [&str; 5] = ["resume", "names", "rate", "hertz", "deltas"];

/// Fields of requests that the earlier release does not know, and ignores.
const IGNORED: [&str; 2] = ["gaps", "causes"];

/// Paths that the earlier release does not know: a program of today continues without them.
const UNKNOWN: [&str; 1] = ["/api/v1/alarms/events"];

/// A DAC or TEM of the earlier release.
#[derive(Clone)]
pub struct PlayedServer {
    address: String,
    script: Arc<Script>,
}

struct Script {
    conversations: Vec<Conversation>,
    /// Recorded addresses, and their present ones.
    addresses: Vec<(String, String)>,
    /// Messages that the earlier release would not have understood.
    problems: Mutex<Vec<String>>,
    /// Requests so far: `GET /path` without query, or the `op` of a message.
    asked: Mutex<Vec<String>>,
}

impl PlayedServer {
    /// `own` is the recorded address of the server; `others` are addresses that it names, and where they are.
    pub fn start(conversations: Vec<Conversation>, own: &str, others: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let others = others.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned()));
        let addresses = others.chain([(own.to_owned(), address.clone())]).collect();
        let script = Arc::new(Script {
            conversations,
            addresses,
            problems: Mutex::default(),
            asked: Mutex::default(),
        });
        let played = Self { address, script };
        let server = played.clone();
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let server = server.clone();
                thread::spawn(move || server.serve(socket));
            }
        });
        played
    }

    pub fn http(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn has_been_asked(&self, what: &str) -> bool {
        self.script.asked.lock().expect("no thread panics").iter().any(|asked| asked == what)
    }

    /// Fails if a program of today has asked for what the earlier release does not know.
    pub fn assert_understood(&self) {
        let problems = self.script.problems.lock().expect("no thread panics");
        assert!(problems.is_empty(), "{problems:#?}");
    }

    fn serve(&self, mut socket: TcpStream) {
        let mut head = vec![0; 16 * 1024];
        loop {
            let Ok(count) = socket.peek(&mut head) else { return };
            let text = String::from_utf8_lossy(&head[..count]).to_ascii_lowercase();
            if count == 0 {
                return;
            }
            if text.contains("\r\n\r\n") {
                match text.contains("upgrade: websocket") {
                    true => self.converse(socket),
                    false => while self.answer(&mut socket).is_some() {},
                }
                return;
            }
            thread::park_timeout(Duration::from_millis(1));
        }
    }

    fn problem(&self, text: String) {
        self.script.problems.lock().expect("no thread panics").push(text);
    }

    fn note(&self, what: &str) {
        self.script.asked.lock().expect("no thread panics").push(what.into());
    }

    /// Gives the addresses of a recorded message their places of now.
    fn placed(&self, message: &Value) -> Value {
        let mut message = message.clone();
        let change = |text: &mut String| {
            for (from, to) in &self.script.addresses {
                *text = text.replace(from, to);
            }
        };
        each_text(&mut message, &change);
        message
    }

    /// Answers one request as the recorded server did. None once the client has closed.
    fn answer(&self, socket: &mut TcpStream) -> Option<()> {
        let (method, target, body) = request(socket)?;
        let path = target.split('?').next().unwrap_or_default().to_owned();
        self.note(&format!("{method} {path}"));
        let pairs = self.script.conversations.iter().filter(|known| known.protocol == Protocol::Http);
        let pairs = pairs.flat_map(|known| known.messages.windows(2));
        let mut answers = pairs.filter_map(|pair| match (&pair[0].content, &pair[1].content) {
            (
                Content::Request { method: known, path: at, body },
                Content::Answer { status, body: answer },
            ) if *known == method && at.split('?').next() == Some(&path) => Some((at, body, status, answer)),
            _ => None,
        });
        // The same query if there is one like it.
        let first = answers.next();
        let found = first
            .filter(|(at, ..)| **at == target)
            .or_else(|| answers.find(|(at, ..)| **at == target))
            .or(first);
        let Some((_, recorded, status, answer)) = found else {
            if !UNKNOWN.contains(&path.as_str()) {
                self.problem(format!("the earlier release was never asked for {method} {target}"));
            }
            return respond(socket, 404, r#"{"type":"/problems/not_found","detail":"not recorded"}"#);
        };
        if let (Some(recorded), Some(body)) = (recorded, &body) {
            let lost = missing(recorded, body, &OPTIONAL);
            if !lost.is_empty() {
                self.problem(format!("{method} {target}: {lost:?} in {body}"));
            }
        }
        let text = answer.as_ref().map(|answer| self.placed(answer).to_string()).unwrap_or_default();
        respond(socket, *status, &text)
    }

    #[allow(clippy::result_large_err, reason = "the signature of the library")]
    fn converse(&self, socket: TcpStream) {
        let choose = |_: &Request, mut response: Response| {
            let protocol = HeaderValue::from_static("oasis.v1");
            response.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
            Ok(response)
        };
        let mut socket = tungstenite::accept_hdr(socket, choose).expect("a handshake");
        let welcome = self.recorded().find(|message| message.op() == "welcome").expect("a welcome");
        self.send(&mut socket, welcome.control().expect("a message").clone());
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => {
                    self.reply(&mut socket, &serde_json::from_str(&text).expect("JSON"))
                }
                Ok(Message::Close(_)) => return,
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn recorded(&self) -> impl Iterator<Item = &super::conversation::Message> {
        let of = |known: &&Conversation| known.protocol == Protocol::WebSocket;
        self.script.conversations.iter().filter(of).flat_map(|known| &known.messages)
    }

    /// Sends what the recorded server sent after a request like this one.
    fn reply(&self, socket: &mut WebSocket<TcpStream>, request: &Value) {
        self.note(op(request));
        if op(request) == "ping" {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time");
            let now = u64::try_from(now.as_nanos()).expect("this century");
            let pong = json!({"op": "pong", "id": request["id"], "client_time": request["client_time"], "dac_time": now});
            return self.send(socket, pong);
        }
        let is_like = |known: &Value| {
            op(known) == op(request)
                && known["instance"] == request["instance"]
                && known["command"] == request["command"]
        };
        let is_equal = |known: &Value| {
            let [mut known, mut request] = [known, request].map(Value::clone);
            for field in ["id"].iter().chain(&IGNORED) {
                known[field] = Value::Null;
                request[field] = Value::Null;
            }
            known == request
        };
        let of = |known: &&Conversation| known.protocol == Protocol::WebSocket;
        let find = |is_it: &dyn Fn(&Value) -> bool| {
            self.script.conversations.iter().filter(of).find_map(|known| {
                let at = known.messages.iter().position(|message| {
                    message.from == Side::Client && message.control().is_some_and(is_it)
                })?;
                Some((known.messages[at].control()?, &known.messages[at + 1..]))
            })
        };
        // The same request if there is one: what it asks for decides about the answer.
        let found = find(&is_equal).or_else(|| find(&is_like));
        let Some((recorded, after)) = found else {
            return self.problem(format!("the earlier release was never asked {request}"));
        };
        let lost = missing(recorded, request, &OPTIONAL);
        if !lost.is_empty() {
            self.problem(format!("{lost:?} in {request}"));
        }
        let is_next =
            |message: &&super::conversation::Message| message.from == Side::Server || message.op() == "ping";
        for message in after.iter().take_while(is_next) {
            match &message.content {
                Content::Control(answer) if message.from == Side::Server && op(answer) != "pong" => {
                    let mut answer = answer.clone();
                    if answer["id"] == recorded["id"] && !answer["id"].is_null() {
                        answer["id"] = request["id"].clone();
                    }
                    self.send(socket, answer);
                }
                // The send fails if the client has left, which the next read shows.
                Content::Batch(bytes) => drop(socket.send(Message::binary(bytes.clone()))),
                _ => {}
            }
        }
    }

    fn send(&self, socket: &mut WebSocket<TcpStream>, message: Value) {
        let _ = socket.send(Message::text(self.placed(&message).to_string()));
    }
}

/// Reads a request: method, path with query, body.
fn request(socket: &mut TcpStream) -> Option<(String, String, Option<Value>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let text = String::from_utf8(head).expect("text");
    let header = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    if header("expect").is_some() {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let mut body = Vec::new();
    if let Some(length) = header("content-length") {
        body.resize(length.parse().expect("a length"), 0);
        socket.read_exact(&mut body).ok()?;
    } else if header("transfer-encoding").is_some() {
        body = chunks(socket)?;
    }
    let mut words = text.lines().next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some((method, path, (!body.is_empty()).then(|| serde_json::from_slice(&body).expect("JSON"))))
}

/// A body in chunks (RFC 9112 7.1).
fn chunks(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).ok()?;
            line.push(byte[0]);
        }
        let digits = String::from_utf8(line).expect("digits");
        let length = usize::from_str_radix(digits.trim(), 16).expect("a length");
        let mut chunk = vec![0; length + 2];
        socket.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

fn respond(socket: &mut TcpStream, status: u16, body: &str) -> Option<()> {
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let answer = format!("HTTP/1.1 {status} Recorded\r\n{kind}{length}\r\n{body}");
    socket.write_all(answer.as_bytes()).ok()
}
