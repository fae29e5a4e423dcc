//! Topics of Mosquitto.

use crate::harness::{
    Oasis, eventually, eventually_shown, get, has_program, instance as find_instance, oasis, own_address,
};
use oasis_tls::{Authority, Lifetime};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write,
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

pub const MOSQUITTO: &str = "/usr/sbin/mosquitto";

/// Mosquitto, which keeps sessions on disk.
pub struct Broker {
    child: Child,
    pub address: String,
    config: PathBuf,
    folder: TempDir,
}

impl Broker {
    pub fn start(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = own_address();
        let port = address.rsplit_once(':').unwrap().1;
        let config = folder.path().join("mosquitto.conf");
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        // Without the user, a broker of root could not write there.
        let user = std::env::var("USER").unwrap_or_else(|_| "root".into());
        let text = format!(
            "user {user}\nlistener {port} 127.0.0.1\npersistence true\npersistence_location {}/\n\
             autosave_interval 1\nautosave_on_changes true\n{settings}\n",
            data.display()
        );
        fs::write(&config, text).unwrap();
        let child = Self::run(&config, &address);
        Self { child, address, config, folder }
    }

    fn run(config: &Path, address: &str) -> Child {
        let mut command = Command::new(MOSQUITTO);
        command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        eventually_shown("Mosquitto listens", || {
            TcpStream::connect(address).map(drop).map_err(|error| json!(error.to_string()))
        });
        child
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it, after it has stored sessions and messages.
    pub fn stop(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }

    pub fn restart(&mut self) {
        self.child = Self::run(&self.config, &self.address);
    }

    /// A client of Mosquitto, not yet started.
    pub fn client(&self, program: &str, arguments: &[&str]) -> Command {
        let port = self.address.rsplit_once(':').unwrap().1;
        let mut command = Command::new(program);
        command.args(["-h", "127.0.0.1", "-p", port]).args(arguments);
        command
    }

    pub fn publish(&self, topic: &str, lines: &str, more: &[&str]) {
        let mut command = self.client("mosquitto_pub", &["-q", "1", "-t", topic, "-l"]);
        let mut child = command.args(more).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn config(folder: &Path, settings: &str) -> Vec<String> {
    let config = folder.join("oasis.toml");
    let others = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n";
    fs::write(&config, format!("[mqtt]\n{settings}\n{others}")).unwrap();
    let archive = folder.join("archive");
    ["--config", config.to_str().unwrap(), "--archive", archive.to_str().unwrap()].map(Into::into).into()
}

pub fn dac(folder: &Path, settings: &str) -> Oasis {
    let arguments = config(folder, settings);
    Oasis::dac(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The entry of the handler.
pub fn handler(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found = handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "mqtt");
    found.unwrap_or_else(|| panic!("no handler in {handlers}")).clone()
}

pub fn until(dac: &Oasis, what: &str, is_met: impl Fn(&Value) -> bool) -> Value {
    eventually_shown(what, || {
        let handler = handler(dac);
        if is_met(&handler["state"]) { Ok(handler["state"].clone()) } else { Err(handler) }
    })
}

pub fn until_subscribed(dac: &Oasis) {
    until(dac, "the subscription", |state| state["subscribed"] == true);
}

/// The values of one metric in all samples of an instance that have it.
pub fn values(dac: &Oasis, node: &str, instance: &str, metric: &str) -> Vec<f64> {
    let instance = instance.replace('/', "%2F");
    let document =
        get(dac, &format!("/api/v1/samples?node={node}&instance={instance}&from=2020-01-01T00:00:00Z"));
    let messages = document["messages"].as_array().cloned().unwrap_or_default();
    let samples = messages.iter().filter_map(|message| message["samples"].as_array()).flatten();
    samples.filter_map(|sample| sample["metrics"][metric].as_f64()).collect()
}

pub fn until_values(dac: &Oasis, node: &str, instance: &str, expected: &[f64]) {
    eventually_shown("the values", || {
        let is_known = find_instance(dac, node, instance).is_some();
        let values = if is_known { values(dac, node, instance, "value") } else { Vec::new() };
        if values == expected { Ok(()) } else { Err(json!([values.len(), values.last(), handler(dac)])) }
    });
}

fn lines(range: std::ops::Range<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

fn numbers(range: std::ops::Range<u32>) -> Vec<f64> {
    range.map(f64::from).collect()
}

#[test]
fn each_message_is_a_sample_in_both_versions() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    for version in ["3.1.1", "5"] {
        let broker = Broker::start("allow_anonymous true\nmax_queued_messages 0");
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "url = 'mqtt://{}'\nversion = '{version}'\nsubscribe = [\n\
             {{ topic = 'plant/+/level', format = 'number', node = 'plant-{{1}}', instance = 'level' }},\n\
             {{ topic = 'plant/+/state', node = 'plant-{{1}}', instance = 'state', time = 't' }},\n]\n",
            broker.address
        );
        broker.publish("plant/tank/level", "7\n", &["-r"]);
        let dac = dac(folder.path(), &settings);
        until_subscribed(&dac);
        broker.publish("plant/tank/level", &lines(0..500), &[]);
        until_values(&dac, "plant-tank", "level", &numbers(0..500));
        assert_eq!(
            values(&dac, "plant-tank", "level", "value"),
            numbers(0..500),
            "in their order, each once"
        );

        // Messages that are no samples harm no others.
        broker.publish("plant/tank/level", "on\n", &[]);
        broker.publish("plant/tank/state", &format!("{{\"a\": \"{}\"}}\n", "x".repeat(2 << 20)), &[]);
        broker.publish(
            "plant/tank/state",
            "{\"t\": 1764424800123, \"pump\": {\"on\": true}, \"rpm\": 900}\n",
            &[],
        );
        let state = until(&dac, "the last message", |state| state["samples"] == 501);
        assert_eq!(state["refused_messages"], 2, "{state}");
        let newest = state["newest_refusal"].as_str().unwrap();
        assert!(newest.starts_with("\"plant/tank/state\": ") && newest.contains("1 MiB"), "{newest}");
        assert_eq!(values(&dac, "plant-tank", "state", "rpm"), [900.0]);
        let document = get(&dac, "/api/v1/samples?node=plant-tank&instance=state&from=earliest");
        let sample = &document["messages"][0]["samples"][0];
        assert_eq!(sample["time"], 1_764_424_800_123_000_000_u64, "{document}");
        assert_eq!(sample["metrics"]["pump.on"], true);
    }
}

#[test]
fn messages_whose_members_clash_are_refused_with_topic_and_member() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start("allow_anonymous true");
    let folder = tempfile::tempdir().unwrap();
    let dac =
        dac(folder.path(), &format!("url = 'mqtt://{}'\nsubscribe = [{{ topic = '#' }}]\n", broker.address));
    until_subscribed(&dac);
    for (number, (message, member)) in [
        (r#"{"a.b": 3, "a": {"b": 4}}"#, "\"a.b\""),
        (r#"{"p": {"x": 1, "x": 2}}"#, "\"p.x\" occurs twice"),
        (r#"{"ok": 1, "x": 1e400}"#, "\"x\": number out of range"),
    ]
    .into_iter()
    .enumerate()
    {
        broker.publish("plant/tank", &format!("{message}\n"), &[]);
        let state = until(&dac, member, |state| state["refused_messages"] == number + 1);
        let newest = state["newest_refusal"].as_str().unwrap();
        assert!(newest.starts_with("\"plant/tank\": ") && newest.contains(member), "{newest}");
        assert_eq!(state["samples"], 0);
    }
}

#[test]
fn names_with_a_backslash_are_the_same_everywhere() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let broker = Broker::start("allow_anonymous true");
    let folder = tempfile::tempdir().unwrap();
    let subscribe = "{ topic = 'plant/+/#', node = 'plant-{1}', instance = '{topic}' }";
    let dac = dac(folder.path(), &format!("url = 'mqtt://{}'\nsubscribe = [{subscribe}]\n", broker.address));
    until_subscribed(&dac);
    broker.publish(r"plant/a\b/x\n", "{\"v\\\\w\": 7}\n", &[]);
    until(&dac, "the sample", |state| state["samples"] == 1);
    let run = |arguments: &[&str]| {
        let output = oasis().args(arguments).args(["--url", dac.http()]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = run(&["list", r"a\b/x\n"]);
    assert!(listed.contains(r"plant-a\b/plant/a\b/x\n"), "{listed}");
    let tail = ["tail", r"plant-a\b/plant/a\b/x\n", "--last", "1", "--to", "now"];
    assert!(run(&tail).contains(r"plant-a\b/plant/a\b/x\n #1 v\w=7"), "{}", run(&tail));
    let query = r#"SELECT "v\w" FROM plant WHERE node = 'plant-a\b' AND instance = 'plant/a\b/x\n'"#;
    eventually("the row", || (run(&["sql", query]) == "v\\w\n7\n").then_some(()));
    let metrics =
        ureq::get(format!("{}/metrics", dac.http())).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(metrics.contains(r#"plant_v_w{node="plant-a\\b",instance="plant/a\\b/x\\n"} 7"#), "{metrics}");
}

#[test]
fn a_broker_and_a_dac_that_are_killed_lose_nothing() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let mut broker = Broker::start("allow_anonymous true\nmax_queued_messages 0");
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "url = 'mqtt://{}'\nsubscribe = [{{ topic = 'plant/#', format = 'number' }}]\n",
        broker.address
    );
    let first = dac(folder.path(), &settings);
    until_subscribed(&first);
    broker.publish("plant/level", &lines(0..100), &[]);
    until_values(&first, "mqtt", "plant/level", &numbers(0..100));

    // The broker keeps messages while the DAC is away.
    let (listen, channel) = (first.listen().to_owned(), first.channel().to_owned());
    first.kill();
    broker.publish("plant/level", &lines(100..200), &[]);
    let arguments = config(folder.path(), &settings);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let second = Oasis::dac_at(&listen, &channel, &arguments);
    until_values(&second, "mqtt", "plant/level", &numbers(0..200));

    broker.kill();
    until(&second, "the broken connection", |state| state["connected"] == false);
    broker.restart();
    until_subscribed(&second);
    broker.publish("plant/level", &lines(200..300), &[]);
    until_values(&second, "mqtt", "plant/level", &numbers(0..300));
    assert_eq!(handler(&second)["state"]["refused_messages"], 0);
}

/// Mosquitto with TLS and the user `oasis`, with the password `a secret`; the file of the CA.
pub fn secure_broker(keys: &Path) -> (Broker, String) {
    let authority = Authority::create(&keys.join("ca")).unwrap();
    let issued = authority.issue_server(&["127.0.0.1".into()], Lifetime::days(30)).unwrap();
    let passwords = keys.join("passwords");
    let mut made = Command::new("mosquitto_passwd");
    made.args(["-b", "-c"]).arg(&passwords).args(["oasis", "a secret"]);
    assert!(made.status().unwrap().success());
    let ca = authority.certificate().display().to_string();
    let broker = Broker::start(&format!(
        "cafile {ca}\ncertfile {}\nkeyfile {}\npassword_file {}\nallow_anonymous false",
        issued.certificate.display(),
        issued.key.display(),
        passwords.display()
    ));
    (broker, ca)
}

#[test]
fn tls_and_a_password_prove_both_sides() {
    if !has_program(MOSQUITTO, "mosquitto mosquitto-clients") {
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let password = keys.path().join("password");
    fs::write(&password, "wrong\n").unwrap();
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).unwrap();
    let (broker, ca) = secure_broker(keys.path());
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "url = 'mqtts://{}'\nuser = 'oasis'\npassword_file = '{}'\nca_file = '{ca}'\n\
         subscribe = [{{ topic = 'plant/#', format = 'number' }}]\n",
        broker.address,
        password.display()
    );
    let dac = dac(folder.path(), &settings);
    eventually_shown("the broker refuses the password", || {
        let handler = handler(&dac);
        if handler.to_string().contains("password_file") { Ok(()) } else { Err(handler) }
    });
    fs::write(&password, "a secret\n").unwrap();
    until_subscribed(&dac);
    broker.publish("plant/level", &lines(0..10), &["--cafile", &ca, "-u", "oasis", "-P", "a secret"]);
    until_values(&dac, "mqtt", "plant/level", &numbers(0..10));
    assert!(!handler(&dac).to_string().contains("a secret"));
    assert!(broker.folder.path().exists());
}
