//! Nodes that connect through DDS.

use super::cyclone::{Subscriber, free_domain};
use crate::{
    failover::{Union, is_online},
    harness::{Oasis, assert_explained, causes, eventually, eventually_shown, get, instance, ledger, oasis},
};
use serde_json::Value;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const INSTANCE: &str = "heartbeat";

/// A domain, and files of those who meet there.
struct Site {
    domain: u16,
    folder: TempDir,
}

impl Site {
    fn new() -> Self {
        Self { domain: free_domain(), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Arguments of a DAC that accepts nodes through DDS and stores their samples.
    fn arguments(&self) -> Vec<String> {
        let config = self.path("dac.toml");
        fs::write(&config, format!("[dds]\nchannel = true\ndomain = {}\n", self.domain)).unwrap();
        let paths = [config, self.path("archive")].map(|path| path.to_str().unwrap().to_owned());
        let [config, archive] = paths;
        ["--config", &config, "--archive", &archive, "--dac-name", "hall-1"].map(str::to_owned).into()
    }

    fn dac(&self) -> Oasis {
        let arguments = self.arguments();
        Oasis::dac(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn dac_at(&self, listen: &str, channel: &str) -> Oasis {
        let arguments = self.arguments();
        Oasis::dac_at(listen, channel, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn node(&self, probe: &str) -> Oasis {
        let log = File::create(self.path("node.log")).unwrap();
        let domain = self.domain.to_string();
        let mut command = oasis();
        command.env("OASIS_LOG", "info,rustdds=off");
        let arguments = [
            "--name",
            "plant",
            "--probe",
            probe,
            "--channel",
            "dds",
            "--dds",
            &domain,
            "--dac-name",
            "hall-1",
        ];
        Oasis::node_started_by(command, log, &arguments)
    }

    fn log_of_node(&self) -> String {
        fs::read_to_string(self.path("node.log")).unwrap()
    }
}

/// Waits until the DAC has received more samples than these.
fn until_received(dac: &Oasis, least: u64) -> u64 {
    let ledger = ledger(dac, "plant", INSTANCE, "samples through DDS", |ledger| {
        ledger["received"].as_u64() > Some(least)
    });
    ledger["received"].as_u64().unwrap()
}

fn command(dac: &Oasis, words: &[&str]) {
    let mut command = oasis();
    command.args(["command", "--url", dac.http(), &format!("plant/{INSTANCE}")]).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_node_connects_through_dds_and_takes_rates_and_commands() {
    let site = Site::new();
    let dac = site.dac();
    let node = site.node(&format!("{INSTANCE}@500"));
    until_received(&dac, 500);
    command(&dac, &["hertz", "50"]);
    let shown = instance(&dac, "plant", INSTANCE).unwrap();
    assert_eq!(shown["hertz"], 50.0);
    command(&dac, &["disable"]);
    let silent = ledger(&dac, "plant", INSTANCE, "all taken samples", |ledger| {
        ledger["node"]["taken"] == ledger["received"]
    });
    command(&dac, &["sample-now"]);
    let silent = silent["received"].as_u64().unwrap();
    assert_eq!(until_received(&dac, silent), silent + 1, "the sample that was asked for");
    command(&dac, &["enable"]);
    until_received(&dac, silent + 10);
    assert!(node.stop().success());
    eventually("a DAC that knows that the node has gone", || (!is_online(&dac)).then_some(()));
    let ledger = ledger(&dac, "plant", INSTANCE, "the end", |ledger| !ledger["received"].is_null());
    assert_explained(&ledger);
    assert_eq!(ledger["unexplained"], 0);
    assert_eq!(ledger["duplicates"], 0, "it has connected once: {ledger:#}");
}

#[test]
fn each_sample_is_stored_or_declared_when_the_dac_is_killed_and_started_again() {
    let site = Site::new();
    let mut dac = site.dac();
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = site.node(&format!("{INSTANCE}@500"));
    for _ in 0..3 {
        let received = until_received(&dac, 0);
        until_received(&dac, received + 500);
        dac.kill();
        dac = site.dac_at(&listen, &channel);
    }
    let received = until_received(&dac, 0);
    until_received(&dac, received + 500);
    assert!(node.stop().success());
    eventually("a DAC that knows that the node has gone", || (!is_online(&dac)).then_some(()));
    let ledger = ledger(&dac, "plant", INSTANCE, "the end", |ledger| !ledger["received"].is_null());
    let causes = causes(&ledger);
    assert!(causes.iter().all(|cause| ["not_taken", "before_epoch"].contains(cause)), "{ledger:#}");
    assert!(dac.stop().success());
    let union = Union::of(&[site.path("archive")]);
    union.assert_whole();
    assert!(union.samples.len() >= 2_000, "{} samples", union.samples.len());
}

#[test]
fn messages_of_a_stranger_cost_a_node_and_its_dac_nothing() {
    let site = Site::new();
    let domain = site.domain.to_string();
    let dac = site.dac();
    let node = site.node(&format!("{INSTANCE}@500"));
    until_received(&dac, 100);
    // A program of another vendor, made from the IDL of the reference.
    let source = Path::new("tests/end_to_end/dds/stranger.c");
    let stranger = Subscriber::of_the_channel(site.folder.path(), source, &[&domain, "spoil"]);
    let mut kinds = [0_u64; 256];
    while kinds[1] < 100 || kinds[2] < 20 {
        let line = stranger.line();
        let kind = line.split(' ').nth(1).and_then(|kind| kind.parse::<usize>().ok());
        kinds[kind.unwrap_or_else(|| panic!("{line}"))] += 1;
    }
    let received = until_received(&dac, 0);
    until_received(&dac, received + 1_000);
    drop(stranger);
    let log = site.log_of_node();
    assert!(!log.contains("has ended"), "{log}");
    let shown: Value = get(&dac, "/api/v1/nodes");
    assert_eq!(shown["nodes"][0]["state"], "online", "{shown}");
    assert!(node.stop().success());
    eventually("a DAC that knows that the node has gone", || (!is_online(&dac)).then_some(()));
    let ledger = ledger(&dac, "plant", INSTANCE, "the end", |ledger| !ledger["received"].is_null());
    assert_explained(&ledger);
    assert_eq!((&ledger["unexplained"], &ledger["duplicates"]), (&0.into(), &0.into()), "{ledger:#}");
}

#[test]
fn a_node_passes_over_a_stranger_that_pretends_to_be_its_dac() {
    let site = Site::new();
    let dac = site.dac();
    let source = Path::new("tests/end_to_end/dds/stranger.c");
    let _stranger =
        Subscriber::of_the_channel(site.folder.path(), source, &[&site.domain.to_string(), "spoil"]);
    let node = site.node(&format!("{INSTANCE}@100"));
    until_received(&dac, 100);
    assert!(node.stop().success());
}

#[test]
fn a_node_that_finds_no_dac_through_dds_says_so_and_goes_on_trying() {
    let site = Site::new();
    let node = site.node(&format!("{INSTANCE}@100"));
    eventually_shown("a reason in the log", || {
        let log = site.log_of_node();
        if log.contains("hall-1 does not answer in DDS domain") { Ok(()) } else { Err(log.into()) }
    });
    let dac = site.dac();
    until_received(&dac, 100);
    assert!(node.stop().success());
}

#[test]
fn a_dac_that_requires_certificates_takes_no_nodes_through_dds() {
    let site = Site::new();
    let config = site.path("dac.toml");
    let text = format!("[dds]\nchannel = true\ndomain = {}\n[tls]\nnode_ca = \"ca.pem\"\n", site.domain);
    fs::write(&config, text).unwrap();
    let authority = oasis_tls::Authority::create(&site.path("ca")).unwrap();
    let issued = authority.issue_server(&["127.0.0.1".into()], crate::tls::year()).unwrap();
    let mut dac = oasis();
    dac.args(["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0", "--config"]).arg(&config);
    dac.arg("--tls-certificate").arg(&issued.certificate).arg("--tls-key").arg(&issued.key);
    let output = dac.arg("--node-ca").arg(authority.certificate()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("set dds.channel = false"), "{said}");
}
