//! Peers of the PostgreSQL protocol that do not follow it, or ask for too much.

use crate::{
    harness::{Guarded, TEST_TIMEOUT, eventually},
    postgresql_protocol::psql,
};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// A connection without a client library.
struct Raw(TcpStream);

impl Raw {
    fn open(guarded: &Guarded) -> Self {
        let stream = TcpStream::connect(guarded.dac.fact("postgresql")).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        Self(stream)
    }

    /// Connects, and sends the first message.
    fn starting(guarded: &Guarded, user: &str) -> Self {
        let mut raw = Self::open(guarded);
        let body = format!("\0\x03\0\0user\0{user}\0database\0plant\0\0");
        raw.send(&[&(body.len() as u32 + 4).to_be_bytes()[..], body.as_bytes()].concat());
        raw
    }

    /// Connects and signs in; also returns number and secret of the connection.
    fn session(guarded: &Guarded) -> (Self, Vec<u8>) {
        let mut raw = Self::starting(guarded, "me");
        let messages = raw.until(b'Z');
        let key = messages.into_iter().find(|(kind, _)| *kind == b'K').unwrap().1;
        (raw, key)
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    fn message(&mut self, kind: u8, content: &[u8]) {
        let length = (content.len() as u32 + 4).to_be_bytes();
        self.send(&[&[kind][..], &length, content].concat());
    }

    fn query(&mut self, query: &str) {
        self.message(b'Q', format!("{query}\0").as_bytes());
    }

    /// Reads messages up to one of this type.
    fn until(&mut self, last: u8) -> Vec<(u8, Vec<u8>)> {
        let mut messages = Vec::new();
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).unwrap();
            let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4;
            let mut content = vec![0; length];
            self.0.read_exact(&mut content).unwrap();
            messages.push((head[0], content));
            if head[0] == last {
                return messages;
            }
        }
    }

    /// Reads until the server closes.
    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset after the last byte is an end too.
        let _ = self.0.read_to_end(&mut rest);
        rest
    }
}

fn state(guarded: &Guarded) -> Value {
    let listed = guarded.json("", "GET", "/api/v1/handlers", None);
    let all = listed["handlers"].as_array().unwrap().clone();
    all.into_iter().find(|handler| handler["name"] == "postgresql_protocol").unwrap()["state"].clone()
}

/// The code of the first error.
fn code(messages: &[(u8, Vec<u8>)]) -> String {
    let error = messages
        .iter()
        .find(|(kind, _)| *kind == b'E')
        .map(|(_, content)| content.clone())
        .unwrap_or_default();
    let fields = error.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    fields.into_iter().find_map(|field| field.strip_prefix('C').map(str::to_owned)).unwrap_or_default()
}

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn bad_lengths_and_bytes_that_are_no_message_end_only_their_connection() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let (mut good, _) = Raw::session(&guarded);
    for bytes in [
        &b"\0\0\0\x03"[..],
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\0\0\0\x08\0\x03\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"\0\0\0\x0d\0\x03\0\0user\0",
    ] {
        let mut raw = Raw::open(&guarded);
        raw.send(bytes);
        let _ = raw.0.shutdown(std::net::Shutdown::Write);
        raw.rest();
    }
    for bytes in [
        &b"Q\0\0\0\x03"[..],
        b"Q\x7f\xff\xff\xff",
        b"!\0\0\0\x04",
        b"B\0\0\0\x0c\0\0\0\0\xff\xff\0\0",
        b"Q\0\0\0\x05x",
    ] {
        let (mut raw, _) = Raw::session(&guarded);
        raw.send(bytes);
        raw.rest();
    }
    // A client may leave in the middle of a message.
    let (mut half, _) = Raw::session(&guarded);
    half.send(b"Q\0\0\x01\0SELECT");
    drop(half);
    good.query("SELECT count(*) FROM beat");
    assert!(good.until(b'Z').iter().any(|(kind, row)| *kind == b'D' && row.ends_with(b"2")));
    eventually("the others have ended", || (state(&guarded)["open"] == 1).then_some(()));
}

#[test]
fn a_client_that_is_silent_or_has_no_password_is_closed() {
    let guarded = Guarded::new();
    let mut silent = Raw::open(&guarded);
    // The length of a first message that never comes, and a password that never comes.
    let mut half = Raw::open(&guarded);
    half.send(b"\0\0\0");
    let mut undecided = Raw::starting(&guarded, "token");
    undecided.until(b'R');
    for raw in [&mut silent, &mut half, &mut undecided] {
        assert_eq!(raw.rest(), b"");
    }
    assert_eq!(state(&guarded)["open"], 0);
    let mut wrong = Raw::starting(&guarded, "token");
    wrong.until(b'R');
    wrong.message(b'p', b"oasis_00000000_x\0");
    assert!(wrong.rest().starts_with(b"E"));
}

#[test]
fn a_connection_may_nothing_once_its_token_is_revoked() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let token = guarded.token("reader", &["read */*", "sql */*"]);
    let mut raw = Raw::starting(&guarded, "token");
    raw.until(b'R');
    raw.message(b'p', format!("{token}\0").as_bytes());
    raw.until(b'Z');
    raw.query("SELECT count(*) FROM beat");
    assert_eq!(code(&raw.until(b'Z')), "");
    guarded.run(&["token", "revoke", "reader"]);
    eventually("the token is revoked", || {
        raw.query("SELECT count(*) FROM beat");
        (code(&raw.until(b'Z')) == "28000").then_some(())
    });
}

#[test]
fn only_the_secret_of_a_connection_cancels_its_query() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let (mut raw, key) = Raw::session(&guarded);
    raw.query(ENDLESS);
    let cancel = |key: &[u8]| {
        let mut other = Raw::open(&guarded);
        other.send(&[&16_u32.to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), key].concat());
        assert!(other.rest().is_empty());
    };
    for at in 0..20 {
        let mut wrong = key.clone();
        wrong[4 + at % 4] ^= 1 << (at / 4);
        cancel(&wrong);
    }
    assert_eq!(state(&guarded)["wrong_cancels"], 20);
    cancel(&key);
    assert_eq!(code(&raw.until(b'Z')), "57014");
    assert_eq!(state(&guarded)["canceled"], 1);
    // The session continues, and a client that leaves gives its turn back.
    raw.query("SELECT 1");
    assert_eq!(code(&raw.until(b'Z')), "");
    for _ in 0..6 {
        let (mut leaver, _) = Raw::session(&guarded);
        leaver.query(ENDLESS);
        eventually("it runs", || (state(&guarded)["open"] == 2).then_some(()));
        drop(leaver);
        eventually("it has left", || (state(&guarded)["open"] == 1).then_some(()));
    }
}

#[test]
fn connections_portals_and_answers_have_bounds() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let (mut raw, _) = Raw::session(&guarded);
    // Portals that are never closed.
    raw.query("BEGIN");
    raw.until(b'Z');
    raw.message(b'P', b"s\0SELECT 1\0\0\0");
    for at in 0..65 {
        raw.message(b'B', &[format!("p{at}\0s\0").as_bytes(), &[0; 6]].concat());
    }
    raw.message(b'S', b"");
    assert_eq!(code(&raw.until(b'Z')), "54000");
    raw.query("ROLLBACK");
    raw.until(b'Z');
    // A portal is read in parts.
    raw.message(b'P', b"\0SELECT i FROM generate_series(1, 5) AS i\0\0\0");
    raw.message(b'B', &[0; 8]);
    raw.message(b'E', &[0, 0, 0, 0, 2]);
    raw.message(b'E', &[0, 0, 0, 0, 0]);
    raw.message(b'S', b"");
    let kinds: Vec<u8> = raw.until(b'Z').into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(String::from_utf8(kinds).unwrap(), "12DDsDDDCZ");
    // Answers end at 100,000 rows, with an error after the last.
    raw.query("SELECT i FROM generate_series(1, 200000) AS i");
    let messages = raw.until(b'Z');
    assert_eq!(messages.iter().filter(|(kind, _)| *kind == b'D').count(), 100_000);
    assert_eq!(code(&messages), "54000");
    raw.query(&format!("SELECT '{}'", "x".repeat(70_000)));
    assert_eq!(code(&raw.until(b'Z')), "54000");
    raw.query("SET statement_timeout = 50");
    raw.until(b'Z');
    raw.query(ENDLESS);
    assert_eq!(code(&raw.until(b'Z')), "57014");
    // Sessions, and connections that never say anything.
    let sessions: Vec<_> = (0..31).map(|_| Raw::session(&guarded)).collect();
    let mut more = Raw::open(&guarded);
    let body = b"\0\x03\0\0user\0me\0\0";
    more.send(&[&(body.len() as u32 + 4).to_be_bytes()[..], body].concat());
    assert!(more.rest().windows(5).any(|part| part == b"53300"));
    let silent: Vec<_> = (0..16).map(|_| Raw::open(&guarded)).collect();
    let refused = eventually("the seventeenth of this address is refused", || {
        let refused = Raw::open(&guarded).rest();
        (!refused.is_empty()).then_some(refused)
    });
    assert!(refused.windows(5).any(|part| part == b"53300"));
    raw.query("SELECT 2");
    assert_eq!(code(&raw.until(b'Z')), "");
    drop((sessions, silent));
    eventually("they have ended", || (state(&guarded)["open"] == 1).then_some(()));
    assert_eq!(state(&guarded)["answer_bytes"], json!(0));
    let again = eventually("psql connects", || {
        let output = psql(guarded.dac.fact("postgresql"), ("me", ""), &["-A", "-t", "-c", "SELECT 3"]);
        output.status.success().then_some(output)
    });
    assert_eq!(again.stdout, b"3\n");
}
