//! The folder of an archive vanishes while a DAC writes to it, and comes back.

use crate::{
    archive::{Promises, at, history, sequences},
    harness::{Oasis, eventually, get, ledger, post},
};
use serde_json::json;
use std::fs;

#[test]
fn a_dac_whose_folder_is_gone_reports_nothing_as_stored_until_it_is_back() {
    let around = tempfile::tempdir().unwrap();
    let (folder, away) = (around.path().join("archive"), around.path().join("away"));
    let dac = Oasis::up(&[&at(&folder)[..], &["--name", "plant", "--probe", "heartbeat@200"]].concat());
    let archive = || get(&dac, "/api/v1/archive");
    let flush = || post(&dac, "/api/v1/archive/flush", &json!({}));
    let stored_offset = || {
        let book = get(&dac, "/api/v1/ledger?node=plant&instance=heartbeat");
        book["instances"][0]["ledger"]["archive"]["stored_offset"].as_u64()
    };
    eventually("a stored sample", || stored_offset().filter(|&stored| stored > 0));
    assert_eq!(flush().0, 200);
    fs::rename(&folder, &away).unwrap();
    let (status, problem) = flush();
    assert_eq!((status, &problem["type"]), (507, &json!("/problems/archive_gone")), "{problem}");
    let before = stored_offset();
    for (path, body) in
        [("/api/v1/test-runs", json!({"name": "lost"})), ("/api/v1/annotations", json!({"text": "lost"}))]
    {
        let (status, problem) = post(&dac, path, &body);
        assert_eq!((status, &problem["type"]), (507, &json!("/problems/archive_gone")), "{path} {problem}");
    }
    assert_eq!(archive()["condition"], "gone");
    let health = get(&dac, "/api/v1/health");
    assert_eq!((&health["status"], &health["reasons"][0]["part"]), (&json!("degraded"), &json!("archive")));
    // Samples still come, and none counts as stored.
    ledger(&dac, "plant", "heartbeat", "more received samples", |ledger| {
        ledger["received"].as_u64().unwrap() > before.unwrap() + 100
    });
    assert_eq!(stored_offset(), before);
    assert!(!folder.exists(), "a folder is made");
    fs::rename(&away, &folder).unwrap();
    eventually("an archive that stores again", || (flush().0 == 200).then_some(()));
    assert_eq!(archive()["condition"], "storing");
    assert_eq!(post(&dac, "/api/v1/test-runs", &json!({"name": "kept"})).0, 201);
    let mut promises = Promises::default();
    promises.note(&get(&dac, "/api/v1/ledger"));
    assert!(dac.stop().success());
    let history = history(&folder);
    promises.check(&history);
    let ranges = sequences(&history, "heartbeat");
    assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "each sample once: {ranges:?}");
}
