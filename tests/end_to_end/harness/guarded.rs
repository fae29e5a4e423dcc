//! A DAC with an archive, accounts, and tokens of roles.

use super::{
    Oasis, PlainNode, eventually, oasis,
    plain_node::{beat, identity, pushed},
};
use oasis_wire::{
    batch::{Encoder, Fields},
    quantity::TopicId,
};
use serde_json::Value;
use std::{fs, process::Stdio};
use tempfile::TempDir;
use ureq::{Agent, http::Request};

/// A server of the PostgreSQL protocol.
const SQL_SERVER: &str = "[postgresql_protocol]\nlisten = \"127.0.0.1:0\"\n";

/// A DAC with accounts.
pub struct Guarded {
    pub dac: Oasis,
    pub folder: TempDir,
    agent: Agent,
}

impl Guarded {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let dac = Self::start(&folder);
        let agent =
            Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
        Self { dac, folder, agent }
    }

    fn start(folder: &TempDir) -> Oasis {
        let [archive, access] =
            ["archive", "access"].map(|name| folder.path().join(name).display().to_string());
        // A test asks more often than a user may.
        let config = folder.path().join("oasis.toml");
        let sql = if cfg!(feature = "postgresql-protocol") { SQL_SERVER } else { "" };
        fs::write(&config, format!("[doors]\nrate_limit = 0\nrate_limit_expensive = 0\n{sql}"))
            .expect("a file");
        Oasis::dac(&["--config", &config.display().to_string(), "--archive", &archive, "--access", &access])
    }

    /// Starts the DAC again after it was killed.
    #[must_use]
    pub fn killed_and_started(self) -> Self {
        let Self { dac, folder, agent } = self;
        dac.kill();
        Self { dac: Self::start(&folder), folder, agent }
    }

    /// Runs a command with the folder of accounts, and returns what it prints.
    pub fn run(&self, arguments: &[&str]) -> String {
        let mut command = oasis();
        command.args(arguments).env("OASIS_ACCESS", self.folder.path().join("access")).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// A token of a new role with these rules, which the DAC knows already.
    pub fn token(&self, name: &str, rules: &[&str]) -> String {
        let allow: Vec<&str> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
        self.run(&[&["role", "set", name][..], &allow].concat());
        let token = self.run(&["token", "create", name, "--role", name]).trim().to_owned();
        eventually("the DAC has read the token", || {
            (self.request(&token, "GET", "/api/v1/nodes", None).0 != 401).then_some(())
        });
        token
    }

    /// Status and text of an answer. Without a token the request comes from this host.
    pub fn request(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.dac.http()));
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut answer = self.agent.run(request.body(body).expect("a request")).expect("an answer");
        // Some answers are files of other formats.
        let bytes = answer.body_mut().read_to_vec().expect("a body");
        (answer.status().as_u16(), String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A document that must exist.
    pub fn json(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, text) = self.request(token, method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Waits until the DAC has noticed that a node is gone.
    pub fn waits_until_offline(&self, name: &str) {
        eventually("it is offline", || {
            let nodes = self.json("", "GET", "/api/v1/nodes", None);
            let node = nodes["nodes"].as_array()?.iter().find(|node| node["name"] == name)?.clone();
            (node["state"] == "offline").then_some(())
        });
    }

    /// Connects a node with one instance `beat`, sends three samples and one gap, and waits until they are stored.
    pub fn node(&self, name: &str, run: u128) -> (PlainNode, TopicId) {
        let mut node = PlainNode::connect(
            self.dac.channel(),
            identity(name, run),
            None,
            (&beat(), vec![pushed("beat", &beat())]),
        );
        let topic = node.topics[0];
        for first in [1_u64, 3] {
            let mut encoder = Encoder::new(&beat()).expect("a type");
            encoder.push(1_777_896_000_000_000_000 + first, &[]).expect("a sample");
            let mut batch = Vec::new();
            encoder.finish(Fields { topic: topic.0, first_sequence: first, ..Fields::default() }, &mut batch);
            node.sender.send(&[], &[&batch]).expect("the DAC reads");
        }
        eventually("its samples are stored", || {
            let list = self.json("", "GET", &format!("/api/v1/ledger?node={name}"), None);
            (list["instances"][0]["ledger"]["archive"]["stored"] == 2).then_some(())
        });
        (node, topic)
    }
}
