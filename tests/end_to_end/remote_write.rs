//! Every sample for Debian's Prometheus, by remote write (`docs/guides/send-to-prometheus.md`).

use crate::harness::{
    Oasis, eventually, eventually_shown, has_program, instance, kills, ledger, oasis, wait_for_eviction,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Times that Prometheus and the DAC are killed, each.
const KILLS: u32 = 3;
const STALE_FREE: &str = "Prometheus answers no markers of the end of a series in a range";

/// Prometheus, which takes remote write.
struct Prometheus {
    child: Child,
    address: String,
    folder: PathBuf,
}

impl Prometheus {
    fn start(folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self::start_at(folder, &free)
    }

    fn start_at(folder: &Path, address: &str) -> Self {
        let config = folder.join("prometheus.yml");
        fs::write(&config, "global: {scrape_interval: 1h}\n").unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--web.enable-remote-write-receiver")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let peer = Self { child, address: address.to_owned(), folder: folder.to_owned() };
        eventually("Prometheus answers", || {
            ureq::get(format!("http://{}/-/ready", peer.address)).call().ok().map(|_| ())
        });
        peer
    }

    fn killed_and_started(mut self) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let (folder, address) = (self.folder.clone(), self.address.clone());
        drop(self);
        Self::start_at(&folder, &address)
    }

    fn url(&self) -> String {
        format!("http://{}/api/v1/write", self.address)
    }

    fn query(&self, query: &str) -> Value {
        let url = format!("http://{}/api/v1/query", self.address);
        let mut answer = ureq::get(url).query("query", query).call().unwrap();
        answer.body_mut().read_json::<Value>().unwrap()["data"]["result"].clone()
    }

    /// All samples of a series of an instance: times in milliseconds, and values.
    fn samples(&self, series: &str, instance: &str) -> Vec<(u64, f64)> {
        let result = self.query(&format!("{series}{{node=\"plant\",instance=\"{instance}\"}}[1h]"));
        assert!(result.as_array().unwrap().len() <= 1, "{STALE_FREE}: {result}");
        let values = result[0]["values"].as_array().cloned().unwrap_or_default();
        let sample = |pair: &Value| {
            let milliseconds = (pair[0].as_f64().unwrap() * 1_000.0).round() as u64;
            (milliseconds, pair[1].as_str().unwrap().parse().unwrap())
        };
        values.iter().map(sample).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Setup {
    folder: TempDir,
    config: PathBuf,
    archive: PathBuf,
}

impl Setup {
    fn new(peer: &Prometheus) -> Self {
        Self::sending_to(&peer.url(), "1.0")
    }

    fn sending_to(url: &str, version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [config, archive, positions] =
            ["oasis.toml", "archive", "positions"].map(|name| folder.path().join(name));
        // A log of a fraction of a minute: after an outage samples come from the archive.
        let text = format!(
            "[log]\ntopic_bytes = 65536\n\n[rules]\nenabled = false\n\n[remote_write]\nurl = {url:?}\nversion = {version:?}\nstate_file = {positions:?}\n",
        );
        fs::write(&config, text).unwrap();
        Self { folder, config, archive }
    }

    fn arguments(&self) -> [&str; 4] {
        ["--config", self.config.to_str().unwrap(), "--archive", self.archive.to_str().unwrap()]
    }

    /// All samples of an instance in the archive, by time in milliseconds: number and a metric.
    fn stored(&self, instance: &str, metric: &str) -> BTreeMap<u64, (f64, f64)> {
        let (is_done, out, said) = crate::recordings::run("export", &self.archive, &["--format", "jsonl"]);
        assert!(is_done, "{said}");
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|line| line["instance"] == instance)
            .map(|line| {
                let nanoseconds = line["time"].as_u64().unwrap();
                let sequence = line["sequence"].as_f64().unwrap();
                (nanoseconds / 1_000_000, (sequence, line["metrics"][metric].as_f64().unwrap()))
            })
            .collect()
    }
}

/// The state of the handler.
fn state(dac: &Oasis) -> Value {
    let output = oasis().args(["handlers", "--json", "--url", dac.http()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.find(|handler| handler["name"] == "remote_write").unwrap()["state"].clone()
}

fn all_is_sent(dac: &Oasis) -> Value {
    eventually_shown("all samples are sent, and the series have ended", || {
        let state = state(dac);
        let is_done = state["behind"] == 0 && state["ended_instances"].as_u64() > Some(0);
        if is_done { Ok(state) } else { Err(state) }
    })
}

#[test]
fn prometheus_has_the_series_of_metrics_with_each_sample_and_their_end() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let peer_folder = tempfile::tempdir().unwrap();
    let peer = Prometheus::start(peer_folder.path());
    let setup = Setup::new(&peer);
    let dac = Oasis::dac(&setup.arguments());
    let node = Oasis::node(dac.channel(), &["--probe", "processor@50"]);
    ledger(&dac, "plant", "processor", "a hundred samples", |ledger| ledger["received"].as_u64() > Some(100));
    let mut scraped = ureq::get(format!("{}/metrics", dac.http())).call().unwrap();
    let scraped = scraped.body_mut().read_to_string().unwrap();
    let of_instance = "{node=\"plant\",instance=\"processor\"}";
    let names: Vec<&str> = scraped.lines().filter_map(|line| Some(line.split_once(of_instance)?.0)).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.starts_with("oasis_dac_")).collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in &names {
        let newest =
            || peer.query(&format!("{name}{of_instance}"))[0]["value"][1].as_str().map(str::to_owned);
        eventually(name, newest);
    }

    node.stop();
    let state = all_is_sent(&dac);
    let idle = names.iter().find(|name| name.contains("idle_time")).unwrap();
    assert_eq!(peer.query(&format!("{idle}{of_instance}")), serde_json::json!([]), "the series has ended");
    assert!(dac.stop().success());
    let stored = setup.stored("processor", "idle_time");
    let expected = |value: fn(&(f64, f64)) -> f64| -> Vec<(u64, f64)> {
        stored.iter().map(|(time, pair)| (*time, value(pair))).collect()
    };
    assert_eq!(peer.samples(idle, "processor"), expected(|(_, idle)| *idle));
    assert_eq!(peer.samples("oasis_sample_sequence", "processor"), expected(|(sequence, _)| *sequence));
    let counted = (&state["refused_samples"], &state["unconfirmed_samples"], &state["not_sent"]);
    assert_eq!(counted, (&0.into(), &0.into(), &serde_json::json!({})), "{state:#}");
    assert!(instance_count(&state) > 0 && setup.folder.path().join("positions").exists());
}

fn instance_count(state: &Value) -> u64 {
    state["instances"].as_u64().unwrap()
}

#[test]
fn after_an_outage_samples_come_from_the_archive() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let peer_folder = tempfile::tempdir().unwrap();
    let peer = Prometheus::start(peer_folder.path());
    let (folder, address) = (peer.folder.clone(), peer.address.clone());
    let setup = Setup::new(&peer);
    drop(peer);
    let dac = Oasis::dac(&setup.arguments());
    let node = Oasis::node(dac.channel(), &["--probe", "processor@1000"]);
    wait_for_eviction(&dac, "plant", "processor");
    node.stop();
    assert!(state(&dac)["failed_requests"].as_u64() > Some(0));
    let peer = Prometheus::start_at(&folder, &address);
    let state = all_is_sent(&dac);
    assert!(dac.stop().success());
    // One of several samples of a millisecond is sent.
    let stored: Vec<u64> = setup.stored("processor", "idle_time").into_keys().collect();
    let sent = peer.samples("oasis_sample_sequence", "processor");
    assert_eq!(sent.iter().map(|(time, _)| *time).collect::<Vec<_>>(), stored, "{state:#}");
    assert!(sent.is_sorted_by(|before, after| before.1 < after.1));
}

#[test]
fn each_sample_is_there_once_although_prometheus_and_the_dac_are_killed() {
    if !has_program("prometheus", "prometheus") {
        return;
    }
    let kills = kills(KILLS);
    let peer_folder = tempfile::tempdir().unwrap();
    let mut peer = Prometheus::start(peer_folder.path());
    let setup = Setup::new(&peer);
    let mut dac = Oasis::dac(&setup.arguments());
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = Oasis::node(&channel, &["--probe", "processor@50"]);
    let more_is_sent = |dac: &Oasis| {
        let before = state(dac)["samples"].as_u64().unwrap();
        eventually_shown("more samples are sent", || {
            let state = state(dac);
            if state["samples"].as_u64() > Some(before + 20) { Ok(()) } else { Err(state) }
        });
    };
    for _ in 0..kills {
        more_is_sent(&dac);
        peer = peer.killed_and_started();
        more_is_sent(&dac);
        dac.kill();
        dac = Oasis::dac_at(&listen, &channel, &setup.arguments());
        eventually("the node is back", || {
            (instance(&dac, "plant", "processor")?["state"] == "online").then_some(())
        });
    }
    more_is_sent(&dac);
    node.stop();
    let state = all_is_sent(&dac);
    assert!(dac.stop().success());
    let stored = setup.stored("processor", "idle_time");
    let sent = peer.samples("oasis_sample_sequence", "processor");
    for (time, sequence) in &sent {
        assert_eq!(stored.get(time).map(|(stored, _)| stored), Some(sequence), "at {time}");
    }
    println!("{kills} kills of each: {} samples, {} of them there; {state}", stored.len(), sent.len());
    assert_eq!(sent.len(), stored.len(), "{state:#}");
}

#[test]
fn a_dac_takes_both_versions_of_another_dac() {
    for version in ["1.0", "2.0"] {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("receiver.toml");
        let text = "[rules]\nenabled = false\n\n[doors]\nrate_limit = 0\n\n[prometheus]\nenabled = true\nnode_label = \"node\"\n";
        fs::write(&config, text).unwrap();
        let receiver = Oasis::dac(&["--config", config.to_str().unwrap()]);
        let setup = Setup::sending_to(&format!("{}/api/v1/write", receiver.http()), version);
        let dac = Oasis::dac(&setup.arguments());
        let node = Oasis::node(dac.channel(), &["--probe", "processor@50"]);
        let sequence = "oasis_sample_sequence,instance=processor";
        eventually("samples arrive", || {
            let found = instance(&receiver, "prometheus-plant", sequence)?;
            (found["ledger"]["received"].as_u64() > Some(50)).then_some(())
        });
        node.stop();
        let state = all_is_sent(&dac);
        assert_eq!(
            (&state["refused_samples"], &state["not_sent"]),
            (&0.into(), &serde_json::json!({})),
            "{state:#}"
        );
        eventually("the end of the series takes the node offline", || {
            (instance(&receiver, "prometheus-plant", sequence)?["state"] == "offline").then_some(())
        });
        let found = instance(&receiver, "prometheus-plant", sequence).unwrap();
        // The end of the series is a sample there.
        let received = found["ledger"]["received"].as_u64().unwrap();
        assert_eq!(received, state["samples"].as_u64().unwrap() + 1, "version {version}: {state:#}");
        assert!(dac.stop().success());
        assert_eq!(setup.stored("processor", "idle_time").len() as u64 + 1, received);
    }
}
