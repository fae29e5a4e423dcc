//! A tap on connections: passes bytes on, and decodes afterwards what was said.

use super::conversation::{Content, Conversation, Message, Protocol, Side};
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Bytes of one connection in the order in which they passed.
type CapturedBytes = Arc<Mutex<Vec<(Side, Vec<u8>)>>>;

/// Listens in place of a server.
pub struct Tap {
    address: String,
    connections: Arc<Mutex<Vec<CapturedBytes>>>,
}

impl Tap {
    /// For the server at this address. Its threads end with their connections.
    pub fn on(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let connections: Arc<Mutex<Vec<CapturedBytes>>> = Arc::default();
        let (all, server) = (connections.clone(), server.to_owned());
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&server)) else { continue };
                let taken = CapturedBytes::default();
                all.lock().expect("no thread panics").push(taken.clone());
                pass(&client, &server, Side::Client, &taken);
                pass(&server, &client, Side::Server, &taken);
            }
        });
        Self { address, connections }
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn http(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the messages until now, connection by connection.
    pub fn conversations(&self, is_data_channel: bool) -> Vec<Conversation> {
        let connections = self.connections.lock().expect("no thread panics").clone();
        let decoded = connections.iter().map(|taken| {
            let taken = taken.lock().expect("no thread panics").clone();
            decode(&taken, is_data_channel)
        });
        decoded.filter(|conversation| !conversation.messages.is_empty()).collect()
    }
}

fn pass(from: &TcpStream, to: &TcpStream, side: Side, taken: &CapturedBytes) {
    let (mut from, mut to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
    let taken = taken.clone();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            // Before the other end can answer.
            taken.lock().expect("no thread panics").push((side, buffer[..count].to_vec()));
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// Incomplete message of a direction.
#[derive(Default)]
struct Pending {
    client: Vec<u8>,
    server: Vec<u8>,
}

fn decode(taken: &[(Side, Vec<u8>)], is_data_channel: bool) -> Conversation {
    let mut protocol = if is_data_channel { Protocol::DataChannel } else { Protocol::Http };
    let (mut pending, mut messages) = (Pending::default(), Vec::new());
    for (side, bytes) in taken {
        let buffer = if *side == Side::Client { &mut pending.client } else { &mut pending.server };
        buffer.extend_from_slice(bytes);
        loop {
            let next = match protocol {
                Protocol::DataChannel => frame(buffer),
                Protocol::WebSocket => websocket(buffer),
                Protocol::Http => http(buffer),
            };
            let Some(next) = next else { break };
            match next {
                Some(Content::Answer { status: 101, .. }) => {
                    protocol = Protocol::WebSocket;
                    messages.clear();
                }
                // The interim answer to `Expect`.
                Some(Content::Answer { status: 100, .. }) | None => {}
                Some(content) => messages.push(Message { from: *side, content }),
            }
        }
    }
    Conversation { protocol, messages }
}

/// A frame of the data channel.
fn frame(buffer: &mut Vec<u8>) -> Option<Option<Content>> {
    let length = u32::from_le_bytes(buffer.get(..4)?.try_into().ok()?) as usize;
    let body = buffer.get(4..4 + length)?.to_vec();
    buffer.drain(..4 + length);
    Some(Some(match body[0] {
        1 => Content::Batch(body[1..].to_vec()),
        _ => Content::Control(serde_json::from_slice(&body[1..]).expect("JSON")),
    }))
}

/// A frame of RFC 6455, not fragmented. None inside for what is neither text nor binary.
fn websocket(buffer: &mut Vec<u8>) -> Option<Option<Content>> {
    let (opcode, second) = (buffer.first()? & 15, *buffer.get(1)?);
    let (length, mut at) = match second & 127 {
        126 => (u16::from_be_bytes(buffer.get(2..4)?.try_into().ok()?) as usize, 4),
        127 => (u64::from_be_bytes(buffer.get(2..10)?.try_into().ok()?) as usize, 10),
        short => (short as usize, 2),
    };
    let mut mask = [0; 4];
    if second & 128 != 0 {
        mask = buffer.get(at..at + 4)?.try_into().ok()?;
        at += 4;
    }
    let mut body = buffer.get(at..at + length)?.to_vec();
    body.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    buffer.drain(..at + length);
    Some(match opcode {
        1 => Some(Content::Control(serde_json::from_slice(&body).expect("JSON"))),
        2 => Some(Content::Batch(body)),
        _ => None,
    })
}

/// A request or an answer of HTTP/1.1.
fn http(buffer: &mut Vec<u8>) -> Option<Option<Content>> {
    let head = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let text = String::from_utf8(buffer[..head].to_vec()).expect("text");
    let header = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let (body, end) = match header("content-length") {
        Some(length) => {
            let end = head + length.parse::<usize>().expect("a length");
            (buffer.get(head..end)?.to_vec(), end)
        }
        None if header("transfer-encoding").is_some() => chunks(buffer, head)?,
        None => (Vec::new(), head),
    };
    buffer.drain(..end);
    let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_slice(&body).expect("JSON"));
    let words: Vec<&str> = text.lines().next()?.split(' ').collect();
    Some(Some(match words[0].starts_with("HTTP/") {
        true => Content::Answer { status: words[1].parse().expect("a status"), body },
        false => Content::Request { method: words[0].into(), path: words[1].into(), body },
    }))
}

/// A body in chunks (RFC 9112 7.1), and where it ends.
fn chunks(buffer: &[u8], mut at: usize) -> Option<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    loop {
        let line = buffer[at..].windows(2).position(|bytes| bytes == b"\r\n")?;
        let digits = std::str::from_utf8(&buffer[at..at + line]).expect("digits");
        let length = usize::from_str_radix(digits.trim(), 16).expect("a length");
        at += line + 2;
        body.extend_from_slice(buffer.get(at..at + length)?);
        at += length + 2;
        buffer.get(..at)?;
        if length == 0 {
            return Some((body, at));
        }
    }
}
