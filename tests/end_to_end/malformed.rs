//! Malformed input: the sender receives the reason and is closed and counted, others are not affected, memory does not grow.

use crate::harness::{
    Incoming, Native, Oasis, TEST_TIMEOUT, assert_explained, eventually, get, ledger, oasis, open, read,
};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
};
use tungstenite::Message;

/// Allowed growth of memory while hundreds of peers misbehave: less than any of them could claim.
const GROWTH: u64 = 24 * 1024 * 1024;
const UUID: &str = "6f1b7c1e-3a55-4d5e-8c57-2f6e4f1f9d01";

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 1).to_le_bytes().to_vec();
    bytes.push(kind);
    bytes.extend_from_slice(body);
    bytes
}

fn control(message: &Value) -> Vec<u8> {
    frame(2, message.to_string().as_bytes())
}

fn hello(name: &str) -> Vec<u8> {
    let node = json!({"name": name, "uuid": UUID, "run": UUID, "host": "h", "software": "test", "pid": 1});
    control(&json!({"op": "hello", "protocol": 1, "node": node}))
}

fn register() -> Vec<u8> {
    let probe_type =
        json!({"name": "T", "uuid": UUID, "version": "1.0", "metrics": [{"name": "value", "type": "uint8"}]});
    let instance = json!({"name": "one", "type": UUID, "kind": "pushed", "enabled": true});
    control(&json!({"op": "register", "types": [probe_type], "instances": [instance]}))
}

/// A native batch of one sample for a topic.
fn batch(topic: u32, first: u64) -> Vec<u8> {
    let mut bytes = vec![0; 48];
    (bytes[0], bytes[1], bytes[44], bytes[46]) = (1, 1, 1, 2);
    bytes[4..8].copy_from_slice(&topic.to_le_bytes());
    bytes[8..16].copy_from_slice(&first.to_le_bytes());
    bytes.extend_from_slice(&[5, 5, 0, 2]);
    bytes
}

/// Returns the messages of the DAC to a peer that sends these bytes, until it closes.
fn answers(dac: &Oasis, bytes: &[u8]) -> Vec<Value> {
    let mut stream = TcpStream::connect(dac.channel()).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    // The DAC may close before it has read all of it.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let mut rest = all.as_slice();
    let mut messages = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (body, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
        messages.push(serde_json::from_slice(&body[1..]).unwrap());
        rest = behind;
    }
    messages
}

fn with_innocent() -> (Oasis, Oasis) {
    let dac = Oasis::dac(&[]);
    let node = Oasis::node(dac.channel(), &["--probe", "processor@200"]);
    ledger(&dac, "plant", "processor", "a sample", |ledger| ledger["received"] != 0);
    (dac, node)
}

/// Runs the abuse and checks that the innocent node and a reader of its samples are not affected.
fn unnoticed(dac: &Oasis, abuse: impl FnOnce()) {
    let mut reader = Native::connect(&dac.url());
    reader.subscribe("processor", json!({}));
    // Once before, for allocations on first use.
    answers(dac, &hello(""));
    let before = dac.resident();
    abuse();
    let after = dac.resident();
    println!("resident: {before} bytes before, {after} after");
    assert!(after < before + GROWTH, "memory grew from {before} to {after}");
    let (samples, controls) = reader.samples(200);
    assert!(samples.windows(2).all(|pair| pair[1].sequence == pair[0].sequence + 1));
    assert!(controls.iter().all(|message| message["op"] != "gap"), "{controls:?}");
    let ledger = ledger(dac, "plant", "processor", "the ledger", |_| true);
    assert_explained(&ledger);
    assert_eq!(ledger["missing"], 0);
}

#[test]
fn an_http_client_of_the_data_channel_is_told_so_and_logged_once() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = oasis();
    command.env("OASIS_LOG", "warn");
    let dac = Oasis::dac_started_by(command, log.reopen().unwrap(), &[]);
    for _ in 0..20 {
        let mut client = TcpStream::connect(dac.channel()).unwrap();
        client.write_all(b"GET /ws HTTP/1.1\r\nhost: plant\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("is for nodes"), "{answer}");
    }
    let counted = eventually("the count", || {
        let refused = get(&dac, "/api/v1/ledger")["channel"]["refused"].clone();
        (refused["http_client"] == 20).then_some(refused)
    });
    assert_eq!(counted["frame_too_long"], Value::Null);
    let logged = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(logged.matches("an HTTP client has connected to the data channel").count(), 1, "{logged}");
    assert!(!logged.contains("frame too large"), "{logged}");
}

#[test]
fn a_node_that_breaks_the_rules_is_refused_by_name_and_counted() {
    let (dac, _node) = with_innocent();
    let said = |parts: &[Vec<u8>]| parts.concat();
    let mut protocol = json!({"op": "hello", "protocol": 99});
    protocol["node"] =
        json!({"name": "v", "uuid": UUID, "run": UUID, "host": "h", "software": "s", "pid": 1});
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("frame_empty", vec![0; 8]),
        ("frame_too_long", vec![0xff; 64]),
        ("frame_kind", frame(9, b"x")),
        ("not_json", frame(2, b"{\"op\":")),
        ("not_json", frame(2, &[0xff, 0xfe])),
        ("unknown_message", control(&json!({"op": "dance"}))),
        ("unknown_message", control(&json!({"op": "hello"}))),
        ("protocol_version", control(&protocol)),
        ("name_invalid", hello("")),
        ("name_invalid", hello(&"x".repeat(1_025))),
        ("name_taken", hello("plant")),
        ("hello_expected", frame(1, &batch(0, 1))),
        ("hello_expected", register()),
        ("topic_foreign", said(&[hello("a"), frame(1, &batch(12_345, 1))])),
        ("batch_invalid", said(&[hello("b"), register(), frame(1, &[1, 9])])),
        (
            "type_missing",
            said(&[
                hello("c"),
                control(&json!({"op": "register", "types": [], "instances": [
            {"name": "one", "type": UUID, "kind": "pushed", "enabled": true}]})),
            ]),
        ),
    ];
    unnoticed(&dac, || {
        for (code, bytes) in &cases {
            let answers = answers(&dac, bytes);
            let last = answers.last().unwrap_or(&Value::Null);
            assert_eq!((&last["op"], &last["code"]), (&json!("refused"), &json!(code)), "{answers:?}");
            assert!(last["message"].as_str().is_some_and(|message| message.len() > 10), "{last}");
        }
    });
    let counted = get(&dac, "/api/v1/ledger")["channel"]["refused"].clone();
    for (code, _) in &cases {
        let times = cases.iter().filter(|(other, _)| other == code).count() as u64;
        // The first measurement also refused a name.
        let times = if *code == "name_invalid" { times + 1 } else { times };
        assert_eq!(counted[*code], times, "{code} in {counted}");
    }
}

/// Pseudo-random numbers, the same in every run.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    std::iter::successors(Some(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), |state| {
        let state = state ^ state << 13;
        let state = state ^ state >> 7;
        Some(state ^ state << 17)
    })
    .map(|state| (state >> 32) as u8)
}

#[test]
fn noise_and_partial_sessions_affect_no_other_peer() {
    let (dac, _node) = with_innocent();
    let conversation =
        [hello("half"), register(), control(&json!({"op": "goodbye", "reason": "done"}))].concat();
    unnoticed(&dac, || {
        for seed in 0..200 {
            answers(&dac, &noise(seed).take(2_000).collect::<Vec<_>>());
        }
        for end in 0..conversation.len() {
            answers(&dac, &conversation[..end]);
        }
        for seed in 0..200 {
            // A valid session with a few changed bytes.
            let mut spoilt = conversation.clone();
            for pair in noise(seed).take(8).collect::<Vec<_>>().chunks(2) {
                let at = usize::from(pair[0]) * 7 % spoilt.len();
                spoilt[at] = pair[1];
            }
            answers(&dac, &spoilt);
        }
    });
}

#[test]
fn a_long_frame_that_never_arrives_takes_no_memory() {
    let (dac, _node) = with_innocent();
    unnoticed(&dac, || {
        // Each claims the greatest length, and sends one byte.
        let claim = [&(4 * 1024 * 1024_u32 + 1).to_le_bytes()[..], &[2, b'{']].concat();
        let claims: Vec<TcpStream> = (0..200)
            .map(|_| {
                let mut stream = TcpStream::connect(dac.channel()).unwrap();
                stream.write_all(&claim).unwrap();
                stream
            })
            .collect();
        eventually("all are connected", || {
            (get(&dac, "/api/v1/ledger")["channel"]["open"].as_u64() > Some(200)).then_some(())
        });
        drop(claims);
    });
}

#[test]
fn a_websocket_client_that_breaks_the_rules_is_closed_by_name_and_counted() {
    let (dac, _node) = with_innocent();
    let native = |bad: Vec<Message>| {
        let mut client = Native::connect(&dac.url());
        bad.into_iter().for_each(|message| client.send(message));
        client.closed()
    };
    let eisa = |message| {
        let mut socket = open(&dac.url(), None);
        socket.send(message).unwrap();
        match read(&mut socket) {
            Ok(Message::Close(Some(frame))) => (u16::from(frame.code), frame.reason.to_string()),
            other => panic!("not closed: {other:?}"),
        }
    };
    unnoticed(&dac, || {
        assert_eq!(native(vec![Message::binary(vec![1, 2, 3])]).0, 1003);
        assert_eq!(native(vec![Message::text("x".repeat(100_000))]).0, 1009);
        assert_eq!(native(vec![Message::text("{"); 101]), (1008, "more than 100 bad requests".into()));
        assert_eq!(eisa(Message::text("hello")).0, 1003);
        let (code, reason) = eisa(Message::binary(vec![1; 255]));
        assert!((code, reason.contains("255")) == (1002, true), "{reason}");
        let (code, reason) = eisa(Message::binary(vec![9; 256]));
        assert!((code, reason.contains("0x09")) == (1002, true), "{reason}");
        assert_eq!(eisa(Message::binary(vec![1; 256])).0, 1002);
        let raw = |bytes: &[u8]| {
            let mut socket = open(&dac.url(), Some("oasis.v1"));
            socket.get_mut().write_all(bytes).unwrap();
            let closed = std::iter::from_fn(|| Some(read(&mut socket)))
                .find(|read| !matches!(read, Ok(Message::Text(_) | Message::Pong(_))));
            match closed {
                Some(Ok(Message::Close(Some(frame)))) => u16::from(frame.code),
                other => panic!("not closed: {other:?}"),
            }
        };
        // No mask, reserved bits set: an invalid frame for a client.
        assert_eq!(raw(&[0xf1, 0x02, b'{', b'}']), 1002);
        // Enough for a second to have too many, wherever one ends and the next begins.
        assert_eq!(raw(&[0x89, 0x80, 1, 2, 3, 4].repeat(250)), 1008);
        // A message of empty fragments that never ends.
        let fragments = [&[0x01, 0x80, 1, 2, 3, 4][..], &[0x00, 0x80, 1, 2, 3, 4].repeat(2_000)].concat();
        assert_eq!(raw(&fragments), 1008);
    });
    let counted = get(&dac, "/api/v1/ledger")["doors"]["refused"].clone();
    for (word, times) in [
        ("message_kind", 2),
        ("message_too_big", 1),
        ("abuse", 2),
        ("websocket_protocol", 4),
        ("too_many_fragments", 1),
    ] {
        assert_eq!(counted[word], times, "{word} in {counted}");
    }
}

#[test]
fn noise_on_the_doors_affects_no_other_peer() {
    let (dac, _node) = with_innocent();
    unnoticed(&dac, || {
        for seed in 0..100 {
            let mut client = Native::connect(&dac.url());
            let text: String = noise(seed).take(500).map(|byte| char::from(byte % 95 + 32)).collect();
            client.send(Message::text(text));
            assert!(matches!(client.next(), Incoming::Control(error) if error["code"] == "bad_request"));
        }
        for seed in 0..100 {
            // Not even HTTP.
            let mut stream = TcpStream::connect(dac.listen()).unwrap();
            stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
            let _ = stream.write_all(&noise(seed).take(2_000).collect::<Vec<_>>());
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
}

#[test]
fn pages_of_other_sites_and_unknown_subprotocols_are_refused() {
    let dac = Oasis::dac(&[]);
    let status = |headers: &str| {
        let mut stream = TcpStream::connect(dac.listen()).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
            dac.listen()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).unwrap();
        String::from_utf8_lossy(&line[9..]).into_owned()
    };
    assert_eq!(status("Sec-WebSocket-Protocol: oasis.v1\r\n"), "101");
    assert_eq!(
        status(&format!("Origin: http://{}\r\nSec-WebSocket-Protocol: oasis.v1\r\n", dac.listen())),
        "101"
    );
    assert_eq!(status("Origin: http://evil.example\r\nSec-WebSocket-Protocol: oasis.v1\r\n"), "403");
    assert_eq!(status("Sec-WebSocket-Protocol: chat\r\n"), "400");
}
