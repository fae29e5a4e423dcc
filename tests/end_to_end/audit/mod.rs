//! The accounting identity (`docs/reference/audit.md`).

mod differential;
mod reader;

use crate::harness::{Oasis, get, ledger, oasis};
use serde_json::Value;

const LOAD: &[&str] = &["--probe", "processor@1000", "--probe", "heartbeat@100"];

/// Audits a DAC with the command, which fails if a sample is undeclared, and adds up the answer of the API.
fn assert_balanced(dac: &Oasis) {
    let audited = oasis().args(["audit", "--url", dac.http()]).output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&audited.stdout), String::from_utf8_lossy(&audited.stderr));
    assert!(audited.status.success(), "{said}{wrong}");
    assert!(said.contains("plant/processor: "), "{said}");
    let report = get(dac, "/api/v1/audit");
    for instance in report["instances"].as_array().unwrap() {
        let count = |key: &str| instance[key].as_u64().unwrap();
        let causes = instance["declared"].as_object().unwrap().values();
        let declared: u64 = causes.map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(
            count("generated"),
            count("received") + declared + count("spooled") + count("in_flight"),
            "{instance:#}"
        );
        let archive = |key: &str| instance["archive"][key].as_u64().unwrap();
        assert_eq!(
            (count("undeclared"), archive("undeclared"), archive("missing")),
            (0, 0, 0),
            "{instance:#}"
        );
        assert!(archive("stored") > 0);
    }
}

fn stored(dac: &Oasis, samples: u64) {
    let is_stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(samples);
    ledger(dac, "plant", "processor", "stored samples", is_stored);
    ledger(dac, "plant", "heartbeat", "stored samples", |ledger| {
        ledger["archive"]["stored"].as_u64() > Some(0)
    });
}

#[test]
fn every_sample_is_accounted_for_over_kills_of_node_and_dac() {
    let folder = tempfile::tempdir().unwrap();
    let archive = ["--archive", folder.path().to_str().unwrap()];
    let dac = Oasis::dac(&archive);
    let (listen, channel) = (dac.listen().to_owned(), dac.channel().to_owned());
    let node = Oasis::node(&channel, LOAD);
    stored(&dac, 300);
    assert_balanced(&dac);

    node.kill();
    let _node = Oasis::node(&channel, LOAD);
    stored(&dac, 700);
    assert_balanced(&dac);

    dac.kill();
    let dac = Oasis::dac_at(&listen, &channel, &archive);
    stored(&dac, 300);
    assert_balanced(&dac);
}
