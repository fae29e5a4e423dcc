//! First steps with OASIS: a demo, metrics of the host, an archive that is created by default.

use crate::harness::{Oasis, causes, eventually, get, ledger, oasis};
use serde_json::Value;
use std::{path::Path, process::Output};

fn with_data_in(folder: &Path, arguments: &[&str]) -> Output {
    oasis().args(arguments).env("XDG_DATA_HOME", folder).output().unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_demo_has_alarms_losses_and_logs() {
    let demo = Oasis::demo(&[]);
    for (node, instance) in
        [("boiler-1", "boiler"), ("pump-2", "pump"), ("robot-3", "position"), ("robot-3", "log")]
    {
        ledger(&demo, node, instance, "a sample", |ledger| ledger["received"] != 0);
    }
    let lossy = ledger(&demo, "robot-3", "arm", "a loss", |ledger| !causes(ledger).is_empty());
    assert!(causes(&lossy).iter().all(|cause| *cause == "ring_full"), "{lossy}");
    let hot = eventually("an alarm", || {
        let alarms = get(&demo, "/api/v1/alarms");
        alarms["alarms"].as_array()?.iter().find(|alarm| alarm["rule"] == "Hot").cloned()
    });
    assert_eq!(hot["node"], "pump-2", "{hot}");
    assert!(demo.stop().success());
}

#[test]
fn up_keeps_an_archive_that_other_commands_find() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = oasis();
    command.env("XDG_DATA_HOME", folder.path());
    let ports = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let arguments = [&["up", "--name", "plant", "--probe", "processor@50"], &ports[..]].concat();
    let up = Oasis::start_as_written(command, &arguments);
    ledger(&up, "plant", "processor", "stored samples", |ledger| {
        ledger["archive"]["stored"].as_u64() > Some(10)
    });
    // A second one says who has it, and what to do.
    let second = said(&with_data_in(folder.path(), &arguments));
    assert!(second.contains("oasis/archive"), "{second}");
    assert!(up.stop().success());
    assert!(folder.path().join("oasis/archive").is_dir());
    let query = "SELECT count(*) AS n FROM oasis_system_linux_processor_probe";
    let table = with_data_in(folder.path(), &["sql", "--format", "json", query]);
    let row: Value = serde_json::from_slice(&table.stdout).unwrap_or_else(|_| panic!("{}", said(&table)));
    assert!(row["n"].as_u64() > Some(10), "{row}");
}

#[test]
fn without_an_archive_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = oasis();
    command.env("XDG_DATA_HOME", folder.path());
    let ports = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let up = Oasis::start_as_written(command, &[&["up", "--no-archive"], &ports[..]].concat());
    assert!(up.stop().success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let nothing = with_data_in(folder.path(), &["sql", "SELECT 1"]);
    assert!(!nothing.status.success() && said(&nothing).contains("--archive DIR"), "{}", said(&nothing));
}

#[test]
fn no_archive_overrides_the_environment_and_excludes_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = oasis();
    let named = folder.path().join("named");
    command.env("XDG_DATA_HOME", folder.path()).env("OASIS_ARCHIVE", &named);
    let ports = ["--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"];
    let up = Oasis::start_as_written(command, &[&["up", "--no-archive"], &ports[..]].concat());
    assert!(up.fact("archive").starts_with("none"), "{}", up.fact("archive"));
    assert!(up.stop().success() && !named.exists());
    let both = with_data_in(folder.path(), &["up", "--no-archive", "--archive", named.to_str().unwrap()]);
    assert!(!both.status.success() && said(&both).contains("exclude each other"), "{}", said(&both));
}

#[test]
fn a_second_one_says_what_runs_at_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&[]);
    let second = with_data_in(folder.path(), &["up", "--no-archive", "--listen", dac.listen()]);
    let text = said(&second);
    let page = format!("a DAC runs there already: open http://{}", dac.listen());
    assert!(!second.status.success() && text.contains(&page) && text.contains("--listen"), "{text}");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let text = said(&with_data_in(folder.path(), &["up", "--no-archive", "--listen", &taken]));
    assert!(text.contains("another program has this port"), "{text}");
}

#[test]
fn the_name_of_a_node_has_no_sign_of_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["rack/3", "plant-*"] {
        let text = said(&with_data_in(folder.path(), &["up", "--no-archive", "--name", name]));
        assert!(text.contains("no / and no *") && text.contains(name), "{text}");
    }
}

#[test]
fn a_doctor_names_what_is_in_use_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    let dac = Oasis::dac(&[]);
    let text = format!("[doors]\nlisten = \"127.0.0.1:0\"\n[channel]\nlisten = {:?}\n", dac.channel());
    std::fs::write(&config, text).unwrap();
    let found = with_data_in(folder.path(), &["doctor", "--config", config.to_str().unwrap()]);
    let text = said(&found);
    assert!(!found.status.success(), "{text}");
    assert!(
        text.contains("problem  data channel") && text.contains("remedy: choose another address"),
        "{text}"
    );
    // A second start with a DAC that runs already is no error.
    let text = format!("[doors]\nlisten = {:?}\n[channel]\nlisten = {:?}\n", dac.listen(), dac.channel());
    std::fs::write(&config, text).unwrap();
    let found = with_data_in(folder.path(), &["doctor", "--config", config.to_str().unwrap()]);
    assert!(said(&found).contains("a DAC runs at"), "{}", said(&found));
}
