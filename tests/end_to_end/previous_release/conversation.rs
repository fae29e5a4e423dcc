//! The text form of recorded conversations (`vectors/README.md`): a line a message, `>` from the client.

use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

/// Protocol of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Node and DAC.
    DataChannel,
    /// A reader of `oasis.v1` and a DAC.
    WebSocket,
    /// A tool or a DAC, and a DAC or a TEM.
    Http,
}

impl Protocol {
    const ALL: [Self; 3] = [Self::DataChannel, Self::WebSocket, Self::Http];

    fn word(self) -> &'static str {
        match self {
            Self::DataChannel => "data-channel",
            Self::WebSocket => "websocket",
            Self::Http => "http",
        }
    }
}

/// Sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// Content of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A control message: JSON.
    Control(Value),
    /// A native batch.
    Batch(Vec<u8>),
    /// A request of HTTP: method, path with query, and body.
    Request { method: String, path: String, body: Option<Value> },
    /// Its answer.
    Answer { status: u16, body: Option<Value> },
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub from: Side,
    pub content: Content,
}

impl Message {
    /// The `op` of a control message; empty for all others.
    pub fn op(&self) -> &str {
        self.control().map_or("", op)
    }

    pub fn control(&self) -> Option<&Value> {
        match &self.content {
            Content::Control(message) => Some(message),
            _ => None,
        }
    }
}

pub fn op(message: &Value) -> &str {
    message["op"].as_str().unwrap_or_default()
}

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    pub protocol: Protocol,
    pub messages: Vec<Message>,
}

/// Reads the conversations of a file.
pub fn read(path: &Path) -> Vec<Conversation> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut found: Vec<Conversation> = Vec::new();
    for (number, line) in
        text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
    {
        let place = || format!("{}:{}: {line:.80}", path.display(), number + 1);
        if let Some(protocol) = Protocol::ALL.into_iter().find(|protocol| protocol.word() == line) {
            found.push(Conversation { protocol, messages: Vec::new() });
            continue;
        }
        let message = parse(line).unwrap_or_else(|| panic!("{}", place()));
        found.last_mut().unwrap_or_else(|| panic!("{}", place())).messages.push(message);
    }
    found
}

fn parse(line: &str) -> Option<Message> {
    let (from, rest) = line.split_at_checked(2)?;
    let from = if from == "> " { Side::Client } else { Side::Server };
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let body = |text: &str| (!text.is_empty()).then(|| serde_json::from_str(text).expect("JSON"));
    let content = match word {
        "control" => Content::Control(body(rest)?),
        "batch" => Content::Batch(bytes(rest)?),
        _ if from == Side::Server => Content::Answer { status: word.parse().ok()?, body: body(rest) },
        method => {
            let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
            Content::Request { method: method.into(), path: path.into(), body: body(text) }
        }
    };
    Some(Message { from, content })
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Writes the conversations of a file, below lines about them.
pub fn write(path: &Path, about: &str, conversations: &[Conversation]) {
    let mut text: String = about.lines().map(|line| format!("# {line}\n")).collect();
    for Conversation { protocol, messages } in conversations {
        writeln!(text, "\n{}", protocol.word()).expect("memory");
        messages.iter().for_each(|message| writeln!(text, "{}", line(message)).expect("memory"));
    }
    fs::write(path, text).expect("a file");
}

fn line(Message { from, content }: &Message) -> String {
    let arrow = if *from == Side::Client { ">" } else { "<" };
    let with = |body: &Option<Value>| body.as_ref().map_or_else(String::new, |body| format!(" {body}"));
    match content {
        Content::Control(message) => format!("{arrow} control {message}"),
        Content::Batch(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{arrow} batch {digits}")
        }
        Content::Request { method, path, body } => format!("{arrow} {method} {path}{}", with(body)),
        Content::Answer { status, body } => format!("{arrow} {status}{}", with(body)),
    }
}

/// Says what a message of today lacks of a recorded one: a program of that release reads each field. `optional` are
/// fields that a message may leave out.
pub fn missing(recorded: &Value, today: &Value, optional: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    compare("", recorded, today, optional, &mut found);
    found
}

fn compare(path: &str, recorded: &Value, today: &Value, optional: &[&str], found: &mut Vec<String>) {
    match (recorded, today) {
        (Value::Object(recorded), Value::Object(today)) => {
            for (key, value) in recorded {
                let path = format!("{path}.{key}");
                match today.get(key) {
                    Some(other) => compare(&path, value, other, optional, found),
                    // A reader takes an absent field as null.
                    None if value.is_null() || optional.contains(&key.as_str()) => {}
                    None => found.push(format!("{path} is gone")),
                }
            }
        }
        (Value::Array(recorded), Value::Array(today)) => {
            if let (Some(one), Some(other)) = (recorded.first(), today.first()) {
                compare(&format!("{path}[]"), one, other, optional, found);
            }
        }
        (Value::Null, _) | (_, Value::Null) => {}
        (recorded, today) if std::mem::discriminant(recorded) != std::mem::discriminant(today) => {
            found.push(format!("{path} was {recorded:.60} and is {today:.60}"));
        }
        _ => {}
    }
}

#[test]
fn a_field_that_is_gone_or_has_another_type_is_named() {
    let recorded = serde_json::json!({"op": "pong", "at": [{"x": 1}], "late": null, "maybe": 2});
    let today = serde_json::json!({"op": 3, "at": [{"y": 1}], "new": true});
    assert_eq!(missing(&recorded, &recorded, &[]), [""; 0]);
    let mut found = missing(&recorded, &today, &["maybe"]);
    found.sort();
    assert_eq!(found, [".at[].x is gone", ".op was \"pong\" and is 3"], "{found:?}");
}
