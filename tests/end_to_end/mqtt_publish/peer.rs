//! A client of the broker by paho-mqtt.

use crate::{
    harness::{TEST_TIMEOUT, eventually, repository},
    mqtt::Broker,
};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

/// The client of `peer.py`, whose session the broker keeps.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Value>,
}

impl Peer {
    /// Starts a client that has subscribed to these topics.
    pub fn start(broker: &Broker, version: &str, name: &str, topics: &[&str]) -> Self {
        let installed = || repository().join("target/venv/bin/python").into_os_string();
        let port = broker.address.rsplit_once(':').unwrap().1;
        let mut child = Command::new(std::env::var_os("OASIS_TEST_PYTHON").unwrap_or_else(installed))
            .arg(repository().join("tests/end_to_end/mqtt_publish/peer.py"))
            .args([port, version, name])
            .args(topics)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("make table-readers installs paho-mqtt");
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take().unwrap();
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let mut peer = Self { child, input, lines };
        peer.next("the subscription", |line| line["subscribed"] == true);
        peer
    }

    /// The next message for which this holds.
    pub fn next(&mut self, what: &str, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        eventually(what, || self.lines.recv_timeout(TEST_TIMEOUT).ok().filter(&mut is_it))
    }

    /// A message that has come.
    pub fn try_next(&mut self) -> Option<Value> {
        self.lines.try_recv().ok()
    }

    /// Publishes a message.
    pub fn publish(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
