//! Samples in a real NATS JetStream, started here on a port of its own (Debian's package `nats-server`; `make nats-server` installs it).
//! `OASIS_NATS_SERVER` names the binary of another version.

mod failover;
mod server;

use crate::{
    failover::Union,
    harness::{Oasis, eventually, eventually_shown, get, ledger, oasis},
    tls::year,
};
use oasis_tls::Authority;
use oasis_wire::loss::Cause;
use serde_json::Value;
use server::Nats;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const INSTANCE: &str = "heartbeat";

/// The state of the handler.
fn copy(dac: &Oasis) -> Value {
    let handlers = get(dac, "/api/v1/handlers");
    let found = handlers["handlers"].as_array().unwrap().iter().find(|handler| handler["name"] == "nats");
    found.unwrap_or_else(|| panic!("no handler in {handlers}"))["state"].clone()
}

fn copied(dac: &Oasis) -> u64 {
    copy(dac)["copied"].as_u64().unwrap()
}

/// Waits until this many samples are copied.
fn until_copied(dac: &Oasis, samples: u64) {
    eventually_shown("copied samples", || {
        let state = copy(dac);
        if state["copied"].as_u64() >= Some(samples) { Ok(()) } else { Err(state) }
    });
}

fn node(dac: &Oasis, hertz: u32) -> Oasis {
    Oasis::node(dac.channel(), &["--probe", &format!("{INSTANCE}@{hertz}")])
}

fn archive(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

/// `oasis import --nats`, and what it says.
fn import(url: &str, archive: &Path) -> String {
    let output = oasis().args(["import", "--nats", url, "--archive"]).arg(archive).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Imports everything, and compares it with what the DAC received.
fn assert_all_copied(nats: &Nats, folder: &TempDir, received: u64) -> Union {
    let filled = archive(folder, "filled");
    let said = import(&nats.url(), &filled);
    let union = Union::of(&[filled]);
    union.assert_whole();
    assert_eq!(union.samples.len() as u64, received, "{said}");
    union
}

/// Waits until the DAC knows that its node has gone and all that came is copied. Returns how much it received.
fn settled(dac: &Oasis) -> u64 {
    eventually_shown("everything copied", || {
        let (state, received) = (copy(dac), crate::failover::received(dac));
        let is_settled = state["copied"] == received && state["in_flight"] == 0;
        if is_settled && !crate::failover::is_online(dac) { Ok(received) } else { Err(state) }
    })
}

#[test]
fn an_archive_is_filled_from_copies_once_and_no_sample_is_missing_or_there_twice() {
    let (nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let dac = Oasis::dac(&["--nats", &nats.url()]);
    let node = node(&dac, 500);
    until_copied(&dac, 500);
    assert!(node.stop().success());
    let received = settled(&dac);
    assert!(dac.stop().success());
    assert_all_copied(&nats, &folder, received);
    let again = import(&nats.url(), &archive(&folder, "filled"));
    assert!(again.contains(": 0 samples imported"), "{again}");
}

#[test]
fn a_server_that_hangs_stalls_only_what_is_safe_and_health_says_so() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let dac = Oasis::dac(&["--nats", &nats.url()]);
    let node = node(&dac, 500);
    until_copied(&dac, 100);
    nats.pause();
    let before = copied(&dac);
    let problem = |dac: &Oasis| get(dac, "/api/v1/health").to_string();
    eventually_shown("a problem in the health", || {
        let health = problem(&dac);
        if health.contains("nats") { Ok(()) } else { Err(health.into()) }
    });
    let received = crate::failover::received(&dac);
    ledger(&dac, "plant", INSTANCE, "live samples", |ledger| {
        ledger["received"].as_u64() > Some(received + 500)
    });
    assert!(copied(&dac) < before + 500, "nobody acknowledged them");
    nats.resume();
    eventually_shown("no problem in the health", || {
        let health = problem(&dac);
        if health.contains("nats") { Err(health.into()) } else { Ok(()) }
    });
    assert!(node.stop().success());
    let received = settled(&dac);
    assert_eq!(copy(&dac)["lost"], serde_json::json!({}));
    assert_all_copied(&nats, &folder, received);
}

#[test]
fn a_server_that_is_killed_and_started_again_has_all_copies() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let dac = Oasis::dac(&["--nats", &nats.url()]);
    let node = node(&dac, 500);
    for _ in 0..3 {
        until_copied(&dac, copied(&dac) + 100);
        nats.kill();
        let received = crate::failover::received(&dac);
        ledger(&dac, "plant", INSTANCE, "live samples", |ledger| {
            ledger["received"].as_u64() > Some(received + 100)
        });
        nats.start_again();
    }
    until_copied(&dac, copied(&dac) + 100);
    assert!(node.stop().success());
    let received = settled(&dac);
    assert_all_copied(&nats, &folder, received);
}

#[test]
fn a_dac_starts_without_its_server_and_copies_once_it_is_there() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    nats.kill();
    let dac = Oasis::dac(&["--nats", &nats.url()]);
    let node = node(&dac, 100);
    ledger(&dac, "plant", INSTANCE, "live samples", |ledger| ledger["received"].as_u64() > Some(100));
    assert_eq!(copy(&dac)["condition"], "failing");
    nats.start_again();
    until_copied(&dac, 200);
    assert!(node.stop().success());
    let received = settled(&dac);
    assert_all_copied(&nats, &folder, received);
}

#[test]
fn what_the_log_evicts_before_it_is_copied_is_counted_and_declared() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[log]\ntopic_bytes = 20000\n").unwrap();
    let dac = Oasis::dac(&["--nats", &nats.url(), "--config", config.to_str().unwrap()]);
    let node = node(&dac, 1_000);
    until_copied(&dac, 100);
    nats.kill();
    // More than the messages that may be in flight.
    let is_evicted = |ledger: &Value| ledger["log"]["evicted"].as_u64() > Some(0);
    ledger(&dac, "plant", INSTANCE, "evicted samples", is_evicted);
    nats.start_again();
    until_copied(&dac, copied(&dac) + 1_000);
    assert!(node.stop().success());
    eventually("everything sent", || (copy(&dac)["in_flight"] == 0).then_some(()));
    let state = copy(&dac);
    let lost = state["lost"]["copy_lag"].as_u64().unwrap_or_default();
    let received = crate::failover::received(&dac);
    eventually_shown("all copied or lost", || {
        let state = copy(&dac);
        if state["copied"].as_u64() == Some(received - lost) { Ok(()) } else { Err(state) }
    });
    let filled = archive(&folder, "filled");
    import(&nats.url(), &filled);
    let union = Union::of(&[filled]);
    union.assert_whole();
    let is_of_copy = |missing: &&oasis_store::Missing| missing.cause == Cause::CopyLag;
    let declared: u64 = union.declared.iter().filter(is_of_copy).map(|missing| missing.count).sum();
    assert_eq!(declared, lost, "{:?}", union.declared);
}

#[test]
fn a_batch_that_the_server_does_not_take_is_declared_and_never_called_copied() {
    let (nats, folder) = (Nats::with("max_payload: 1200\n"), tempfile::tempdir().unwrap());
    let dac = Oasis::dac(&["--nats", &nats.url()]);
    let node = node(&dac, 100);
    eventually_shown("refused samples", || {
        let state = copy(&dac);
        if state["lost"]["copy_refused"].as_u64() > Some(10) { Ok(()) } else { Err(state) }
    });
    let health = get(&dac, "/api/v1/health").to_string();
    assert!(health.contains("max_payload"), "{health}");
    assert!(node.stop().success());
    let state = copy(&dac);
    assert_eq!(state["copied"], 0, "{state}");
    let said = import(&nats.url(), &archive(&folder, "filled"));
    assert!(said.contains("0 samples imported"), "{said}");
}

#[test]
fn a_dac_that_was_killed_catches_up_from_copies_what_its_archive_lacks() {
    let (nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let config = folder.path().join("oasis.toml");
    // The archive commits so rarely that a killed DAC has not stored what is copied.
    fs::write(&config, "[archive]\ncommit_ms = 3000\n").unwrap();
    let stored = archive(&folder, "archive");
    let arguments =
        ["--nats", &nats.url(), "--config", config.to_str().unwrap(), "--archive", stored.to_str().unwrap()];
    let dac = Oasis::dac(&arguments);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = node(&dac, 500);
    until_copied(&dac, 2_000);
    let before = copied(&dac);
    dac.kill();
    // No one sends anything again.
    node.kill();
    let dac = Oasis::dac_at(&listen, &channel, &arguments);
    assert!(dac.stop().success());
    let union = Union::of(&[stored]);
    assert!(union.samples.len() as u64 >= before, "{} stored, {before} were copied", union.samples.len());
    union.assert_whole();
}

#[test]
fn a_node_that_outlives_its_dac_fills_the_holes_between_copies() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let stored = archive(&folder, "archive");
    let arguments = ["--nats", &nats.url(), "--archive", stored.to_str().unwrap()];
    let mut dac = Oasis::dac(&arguments);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = node(&dac, 1_000);
    for _ in 0..3 {
        until_copied(&dac, 300);
        nats.kill();
        dac.kill();
        nats.start_again();
        dac = Oasis::dac_at(&listen, &channel, &arguments);
    }
    until_copied(&dac, 300);
    assert!(node.stop().success());
    assert!(dac.stop().success());
    Union::of(&[stored]).assert_whole();
}

#[test]
fn tls_and_a_password_from_a_file_are_used_and_no_secret_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(&folder.path().join("ca")).unwrap();
    let issued = authority.issue_server(&["127.0.0.1".into()], year()).unwrap();
    let (certificate, key) = (issued.certificate.display(), issued.key.display());
    let nats = Nats::with(&format!(
        "tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}\nauthorization {{ user: oasis, password: kasserolle }}\n"
    ));
    let password = folder.path().join("password");
    fs::write(&password, "kasserolle\n").unwrap();
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).unwrap();
    let url = nats.url().replace("nats://", "tls://");
    let settings = |user: &str| {
        let ca = authority.certificate();
        let config = folder.path().join(format!("{user}.toml"));
        let text = format!("[nats]\nuser = \"{user}\"\npassword_file = {password:?}\nca_file = {ca:?}\n");
        fs::write(&config, text).unwrap();
        config.to_str().unwrap().to_owned()
    };
    let log = folder.path().join("log");
    let dac = Oasis::dac_logging_to(
        fs::File::create(&log).unwrap(),
        &["--nats", &url, "--config", &settings("oasis")],
    );
    let plant = node(&dac, 100);
    until_copied(&dac, 100);
    assert!(plant.stop().success());
    let filled = archive(&folder, "filled");
    let output = oasis()
        .args(["import", "--nats", &url, "--config", &settings("oasis"), "--archive"])
        .arg(&filled)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stranger = Oasis::dac_logging_to(
        fs::File::create(&log).unwrap(),
        &["--nats", &url, "--config", &settings("stranger")],
    );
    eventually("a refusal", || (copy(&stranger)["condition"] == "failing").then_some(()));
    let shown = [copy(&stranger).to_string(), copy(&dac).to_string(), fs::read_to_string(&log).unwrap()];
    assert!(shown[0].contains("authorization"), "{}", shown[0]);
    assert!(shown.iter().all(|text| !text.contains("kasserolle")), "{shown:?}");
}

#[test]
fn an_address_with_a_password_or_without_tls_is_refused_with_the_remedy() {
    let refused = |url: &str| {
        let output = oasis().args(["dac", "--listen", "127.0.0.1:0", "--nats", url]).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused("nats://ada:kasserolle@127.0.0.1:4222");
    assert!(said.contains("nats.password_file") && !said.contains("kasserolle"), "{said}");
    assert!(refused("nats://192.0.2.7:4222").contains("tls://"));
    assert!(refused("http://127.0.0.1").contains("nats://HOST:PORT"));
}

/// Settings of a DAC in a file.
fn settings(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_node_connects_through_nats_takes_commands_and_loses_nothing_when_the_server_is_killed() {
    let (mut nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let config = settings(&folder, "dac.toml", "[nats]\nchannel = true\ncopy = false\n");
    let dac = Oasis::dac(&["--nats", &nats.url(), "--config", &config, "--dac-name", "hall-1"]);
    let log = fs::File::create(folder.path().join("node.log")).unwrap();
    let probe = format!("{INSTANCE}@500");
    let arguments = [
        "--name",
        "plant",
        "--probe",
        &probe,
        "--channel",
        "nats",
        "--nats",
        &nats.url(),
        "--dac-name",
        "hall-1",
    ];
    let node = Oasis::node_started_by(oasis(), log, &arguments);
    let received = |least: u64| {
        ledger(&dac, "plant", INSTANCE, "samples through NATS", |ledger| {
            ledger["received"].as_u64() > Some(least)
        })
    };
    received(500);
    let answered = oasis()
        .args(["command", "--url", dac.http(), &format!("plant/{INSTANCE}"), "hertz", "1000"])
        .output()
        .unwrap();
    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    for _ in 0..3 {
        let before = received(0)["received"].as_u64().unwrap();
        nats.kill();
        nats.start_again();
        received(before + 1_000);
    }
    assert!(node.stop().success());
    eventually("a DAC that knows that the node has gone", || {
        (!crate::failover::is_online(&dac)).then_some(())
    });
    let ledger = received(0);
    crate::harness::assert_explained(&ledger);
    assert_eq!(ledger["unexplained"], 0);
    let lost = crate::harness::causes(&ledger);
    assert!(lost.iter().all(|cause| *cause == "not_taken"), "{ledger:#}");
}

#[test]
fn a_node_that_finds_no_dac_through_nats_says_so_and_goes_on_trying() {
    let (nats, folder) = (Nats::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("node.log");
    let log = fs::File::create(&path).unwrap();
    let mut command = oasis();
    command.env("OASIS_LOG", "info");
    let arguments =
        ["--name", "plant", "--probe", "heartbeat@100", "--channel", "nats", "--nats", &nats.url()];
    let node = Oasis::node_started_by(command, log, &arguments);
    eventually_shown("a reason in the log", || {
        let log = fs::read_to_string(&path).unwrap();
        if log.contains("any DAC does not answer") { Ok(()) } else { Err(log.into()) }
    });
    let config = settings(&folder, "dac.toml", "[nats]\nchannel = true\n");
    let dac = Oasis::dac(&["--nats", &nats.url(), "--config", &config]);
    ledger(&dac, "plant", INSTANCE, "samples", |ledger| ledger["received"].as_u64() > Some(100));
    assert!(node.stop().success());
}
