//! Ready-made probes in configuration files.

use oasis_ei_node::{NodeSettings, SettingsError};
use oasis_probes::PROBES;
use std::fs;

fn builder(text: &str) -> Result<(), SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.toml");
    fs::write(&path, text).unwrap();
    NodeSettings::load(Some(&path))?.builder(PROBES).map(drop)
}

#[test]
fn a_file_sets_importance_and_the_flight_recorder_of_a_probe() {
    let probe = |record: &str| {
        builder(&format!(
            "[node]\noverhead_budget = 0.02\nprobes = [{{ probe = \"memory\", importance = 5, record = {record} }}]\n"
        ))
    };
    probe("{ before_s = 2, after_s = 0.5, triggers = [\"physical_memory_avail < 100000\"] }").unwrap();
    for (record, wanted) in [
        ("{ before = 2 }", "before"),
        ("{ before_s = -1 }", "before_s"),
        ("{ triggers = [\"free is low\"] }", "free is low"),
        ("{ triggers = [\"nothing < 1\"] }", "nothing"),
    ] {
        let message = probe(record).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn an_unknown_probe_is_an_error_that_lists_the_known_ones() {
    let message = builder("[node]\nprobes = [{ probe = \"dance\" }]\n").unwrap_err().to_string();
    assert!(message.contains("dance"), "{message}");
    assert!(PROBES.iter().all(|probe| message.contains(probe.name)), "{message}");
}

#[test]
fn an_unknown_parameter_is_an_error_that_lists_the_known_ones() {
    let message =
        builder("[node]\nprobes = [{ probe = \"process\", nmae = \"x\" }]\n").unwrap_err().to_string();
    assert!(message.contains("nmae") && message.contains("name, pid"), "{message}");
}
