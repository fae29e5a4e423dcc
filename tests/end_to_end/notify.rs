//! Notifications of alarms (`docs/guides/get-notified-of-alarms.md`): from a sample to a webhook, with real processes.

use crate::harness::{
    Oasis, PlainNode, TEST_TIMEOUT, eventually, oasis,
    plain_node::{identity, pushed},
};
use oasis_wire::{
    batch::{Encoder, Fields},
    schema::ProbeType,
    value::RowWriter,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

const RULES: &str = r#"input pump = "*/pump" : Pump;

alarm Hot {
  raise pump.temperature > 95;
  clear pump.temperature < 90;
  message "{node} is hot";
}

alarm Quiet {
  raise pump.temperature > 95;
  notify none;
}
"#;

/// A pump whose temperature the test chooses.
pub struct Pump {
    node: PlainNode,
    pump: ProbeType,
    next: u64,
}

impl Pump {
    pub fn connect(dac: &Oasis) -> Self {
        let json = r#"{"name": "Pump", "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11", "version": "1.0",
            "metrics": [{"name": "temperature", "type": "real64", "unit": "Cel"}]}"#;
        let pump: ProbeType = serde_json::from_str(json).unwrap();
        let instances = vec![pushed("pump", &pump)];
        let node = PlainNode::connect(dac.channel(), identity("plant", 1), None, (&pump, instances));
        Self { node, pump, next: 1 }
    }

    /// Sends a sample that was taken now.
    pub fn send(&mut self, temperature: f64) {
        let mut encoder = Encoder::new(&self.pump).unwrap();
        let mut row = Vec::new();
        RowWriter::new(&mut row).f64(temperature);
        let now = oasis_dac::now().0;
        encoder.push(now, &row).unwrap();
        let mut batch = Vec::new();
        let topic = self.node.topics[0].0;
        encoder.finish(
            Fields { topic, first_sequence: self.next, node_time: now, ..Fields::default() },
            &mut batch,
        );
        self.node.sender.send(&[], &[&batch]).unwrap();
        self.next += 1;
    }
}

/// A webhook that answers everything with 204.
pub struct Webhook {
    pub address: String,
    pub bodies: Receiver<(SystemTime, Value)>,
}

impl Webhook {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, bodies) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                thread::spawn(move || {
                    while let Some(body) = answer(&stream) {
                        let _ = sender.send((SystemTime::now(), body));
                    }
                });
            }
        });
        Self { address, bodies }
    }

    /// The next body, and when it came.
    pub fn next(&self) -> (SystemTime, Value) {
        self.bodies.recv_timeout(TEST_TIMEOUT).expect("no notification came")
    }
}

fn answer(mut stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?
            }
            Some(_) => {}
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
    serde_json::from_slice(&body).ok()
}

fn dac(folder: &TempDir, notify: &str) -> Oasis {
    fs::write(folder.path().join("a.rules"), RULES).unwrap();
    let (rules, state) = (folder.path().join("a.rules"), folder.path().join("state"));
    let config = folder.path().join("oasis.toml");
    fs::write(
        &config,
        format!("[rules]\nfiles = [{rules:?}]\ndirectory = {state:?}\n[tem]\nname = \"hall-1\"\n{notify}"),
    )
    .unwrap();
    Oasis::dac(&["--config", config.to_str().unwrap()])
}

fn notify(dac: &Oasis, arguments: &[&str]) -> (bool, String) {
    let output = oasis().arg("notify").args(arguments).args(["--url", dac.http()]).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), text)
}

/// Prints a figure; a loaded machine takes longer.
#[test]
fn an_alarm_of_a_sample_reaches_a_webhook_and_the_command_line_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let webhook = Webhook::start();
    let table = "kind = \"webhook\"\nprivate = true\nper_minute = 60000\n";
    let config = format!("[notify.pager]\n{table}url = \"http://{}/\"\n", webhook.address);
    let dac = dac(&folder, &config);
    let mut pump = Pump::connect(&dac);
    let mut ages = Vec::new();
    for number in 1..=100 {
        pump.send(99.0);
        let (at, body) = webhook.next();
        assert_eq!(
            (&body["rule"], &body["node"], &body["dac"]),
            (&"Hot".into(), &"plant".into(), &"hall-1".into())
        );
        assert_eq!((&body["event"], &body["message"]), (&"raised".into(), &"plant is hot".into()));
        assert_eq!(body["sequence"], 2 * number - 1);
        let taken = SystemTime::UNIX_EPOCH + Duration::from_nanos(body["raised_ns"].as_u64().unwrap());
        ages.push(at.duration_since(taken).unwrap_or_default());
        pump.send(20.0);
        assert_eq!(webhook.next().1["event"], "cleared");
    }
    ages.sort();
    eprintln!("from a sample to the webhook: median {:?}, p99 {:?}, most {:?}", ages[50], ages[98], ages[99]);
    let (is_good, list) = notify(&dac, &["list"]);
    assert!(
        is_good && list.lines().nth(1).unwrap().starts_with("pager             webhook       ok"),
        "{list}"
    );
    let (is_good, json) = notify(&dac, &["list", "--format", "json"]);
    assert!(
        is_good && serde_json::from_str::<Value>(&json).unwrap()["delivered"].as_u64() >= Some(100),
        "{json}"
    );
    assert_eq!(notify(&dac, &["test", "pager"]), (true, "pager has accepted the test\n".into()));
    assert_eq!(webhook.next().1["event"], "test");
    let (is_good, error) = notify(&dac, &["test", "fax"]);
    assert!(!is_good && error.contains("fax") && error.contains("pager"), "{error}");
}

#[test]
fn a_destination_that_fails_is_a_reason_of_health_and_its_test_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dac = dac(
        &folder,
        &format!("[notify.pager]\nkind = \"webhook\"\nprivate = true\nurl = \"http://{nobody}/\"\n"),
    );
    Pump::connect(&dac).send(99.0);
    eventually("a failing destination", || {
        let (_, list) = notify(&dac, &["list"]);
        list.contains("failing").then_some(())
    });
    let (is_good, error) = notify(&dac, &["test", "pager"]);
    assert!(!is_good && error.contains("refused"), "{error}");
    let health = crate::harness::get(&dac, "/api/v1/health").to_string();
    assert!(health.contains("pager gets no notifications"), "{health}");
}

#[test]
fn settings_that_cannot_be_used_end_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    let refused = |text: &str| {
        fs::write(&config, text).unwrap();
        let output = oasis()
            .args(["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused(
        "[rules]\nenabled = false\n[notify.pager]\nkind = \"webhook\"\nurl = \"https://example.org\"\n",
    );
    assert!(error.contains("[notify] needs rules"), "{error}");
    let error = refused("[notify.pager]\nkind = \"webhook\"\nurl = \"http://example.org\"\n");
    assert!(error.contains("notify.pager.url") && error.contains("https://"), "{error}");
    let error = refused("[notify.pager]\nkind = \"webhook\"\nsecret = \"x\"\n");
    assert!(error.contains("secret_file"), "{error}");
}
