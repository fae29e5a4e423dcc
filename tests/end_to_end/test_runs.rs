//! Test runs and annotations over the API and the command line.

use crate::harness::{Oasis, eventually, get, ledger, oasis, post, post_from, request};
use serde_json::{Value, json};
use std::fs;

const HOSTILE: &str = "<script>alert(1)</script> \u{202e}../..%2f'; DROP TABLE test_run; --";

#[test]
fn a_test_run_is_started_stopped_described_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--archive", folder.path().to_str().unwrap()];
    let dac = Oasis::dac(&flags);
    let (status, run) = post(
        &dac,
        "/api/v1/test-runs",
        &json!({"name": HOSTILE, "notes": "a\nb", "tags": ["night", "line 3"]}),
    );
    assert_eq!(status, 201, "{run}");
    assert_eq!(
        (&run["name"], &run["stopped"], &run["pinned"]),
        (&json!(HOSTILE), &Value::Null, &json!(false))
    );
    assert_eq!(run["tags"], json!(["line 3", "night"]));
    assert!(run["who"].as_str().unwrap().starts_with("http 127.0.0.1:"), "{run}");
    let path = format!("/api/v1/test-runs/{}", run["id"]);
    let (status, problem) = post(&dac, "/api/v1/test-runs", &json!({"name": HOSTILE}));
    assert_eq!((status, &problem["type"]), (409, &json!("/problems/test_run_name_taken")), "{problem}");
    for (body, status) in [
        (json!({"name": ""}), 422),
        (json!({"name": "x".repeat(10_000)}), 422),
        (json!({"name": "a\u{1b}[2J"}), 422),
        (json!({"name": "a", "notes": "x".repeat(20_000)}), 422),
        (json!({"name": "a", "note": "misspelt"}), 422),
        (json!("name"), 422),
    ] {
        assert_eq!(post(&dac, "/api/v1/test-runs", &body).0, status, "{body}");
    }
    let (status, stopped) = post(&dac, &format!("{path}/stop"), &json!({}));
    assert_eq!(status, 200, "{stopped}");
    assert!(stopped["stopped"].as_u64() >= stopped["started"].as_u64(), "{stopped}");
    assert_eq!(post(&dac, &format!("{path}/stop"), &json!({})).0, 409);
    let (status, pinned) = request(&dac, "PATCH", &path, Some(&json!({"pinned": true})));
    assert_eq!((status, &pinned["pinned"], &pinned["notes"]), (200, &json!(true), &json!("a\nb")));

    let second = post(&dac, "/api/v1/test-runs", &json!({"name": "b"})).1;
    let names = |query: &str| -> Vec<String> {
        let list = get(&dac, &format!("/api/v1/test-runs{query}"));
        let names = list["test_runs"].as_array().unwrap().iter();
        names.map(|run| run["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(""), ["b", HOSTILE]);
    assert_eq!(names(&format!("?limit=1&before={}", second["id"])), [HOSTILE]);
    assert_eq!(get(&dac, "/api/v1/test-runs?limit=1")["next"], second["id"]);
    assert_eq!(get(&dac, "/api/v1/test-runs?limit=2")["next"], Value::Null, "nothing follows");
    assert_eq!(names("?tag=line%203"), [HOSTILE]);
    assert_eq!(names("?name=b"), ["b"]);
    assert!(dac.stop().success());

    let dac = Oasis::dac(&flags);
    assert_eq!(get(&dac, &path), pinned);
    assert_eq!(request(&dac, "DELETE", &path, None).0, 204);
    for (method, path) in [("GET", &*path), ("DELETE", &path), ("GET", "/api/v1/test-runs/first")] {
        let (status, problem) = request(&dac, method, path, None);
        assert_eq!((status, &problem["type"]), (404, &json!("/problems/unknown_test_run")), "{problem}");
    }
}

#[test]
fn annotations_are_written_listed_by_time_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--archive", folder.path().to_str().unwrap()]);
    let add = |body: Value| post(&dac, "/api/v1/annotations", &body);
    let about = json!([{"node": "plant", "instance": "cpu"}]);
    let (status, span) = add(json!({"time": 100, "until": "200", "text": HOSTILE, "targets": about}));
    assert_eq!(status, 201, "{span}");
    assert_eq!((&span["time"], &span["until"], &span["text"]), (&json!(100), &json!(200), &json!(HOSTILE)));
    assert!(span["who"].as_str().unwrap().starts_with("http 127.0.0.1:"), "{span}");
    let (_, moment) = add(json!({"text": "now"}));
    assert_eq!((&moment["until"], &moment["targets"]), (&Value::Null, &json!([])));
    for bad in [
        json!({"text": ""}),
        json!({"text": "x", "time": "then"}),
        json!({"text": "x", "time": 2, "until": 1}),
        json!({"text": "x".repeat(5_000)}),
        json!({"time": 1}),
    ] {
        let (status, problem) = add(bad.clone());
        assert_eq!((status, &problem["type"]), (422, &json!("/problems/bad_request")), "{bad}: {problem}");
    }
    let ids = |query: &str| {
        let list = get(&dac, &format!("/api/v1/annotations?{query}"));
        list["annotations"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(""), [span["id"].clone(), moment["id"].clone()]);
    assert_eq!(ids("from=150&to=300"), [span["id"].clone()]);
    assert_eq!(ids("from=-1h"), [moment["id"].clone()]);
    assert_eq!(ids("node=plant&instance=memory"), [moment["id"].clone()]);
    let first = get(&dac, "/api/v1/annotations?limit=1");
    let next = first["next"].as_str().unwrap();
    assert_eq!(ids(&format!("after={next}")), [moment["id"].clone()]);
    assert_eq!(get(&dac, "/api/v1/annotations?limit=2")["next"], Value::Null, "nothing follows");
    for query in ["from=then", "after=1", "limit=many"] {
        let (status, problem) = request(&dac, "GET", &format!("/api/v1/annotations?{query}"), None);
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/bad_parameter")), "{problem}");
    }
    let path = format!("/api/v1/annotations/{}", span["id"]);
    assert_eq!(request(&dac, "DELETE", &path, None).0, 204);
    assert_eq!(request(&dac, "DELETE", &path, None).0, 404);
    assert_eq!(ids(""), [moment["id"].clone()]);
}

#[test]
fn pages_of_other_sites_change_neither_test_runs_nor_annotations() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--archive", folder.path().to_str().unwrap()]);
    for (path, body) in [
        ("/api/v1/test-runs", json!({"name": "a"})),
        ("/api/v1/test-runs/1/stop", json!({})),
        ("/api/v1/annotations", json!({"text": "a"})),
    ] {
        let (status, problem) = post_from(&dac, path, &body, "http://evil.example");
        assert_eq!((status, &problem["type"]), (403, &json!("/problems/origin")), "{path}: {problem}");
    }
    let without = Oasis::dac(&[]);
    for path in ["/api/v1/test-runs", "/api/v1/annotations"] {
        let (status, problem) = request(&without, "GET", path, None);
        assert_eq!((status, &problem["type"]), (404, &json!("/problems/no_archive")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("--archive"), "{problem}");
    }
}

#[test]
fn retention_leaves_a_pinned_run_alone_until_it_is_unpinned() {
    let folder = tempfile::tempdir().unwrap();
    let (config, archive) = (folder.path().join("oasis.toml"), folder.path().join("archive"));
    let little = "[archive]\nsegment_bytes = 4096\npinned_percent = 90\nretention = [{ instances = \"*\", bytes = 40960 }]\n";
    fs::write(&config, little).unwrap();
    let archive = archive.to_str().unwrap();
    let dac = Oasis::dac(&["--config", config.to_str().unwrap(), "--archive", archive]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@500"]);
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    ledger(&dac, "plant", "processor", "samples stored", |ledger| stored(ledger) > 20);
    let (_, run) = post(&dac, "/api/v1/test-runs", &json!({"name": "keep", "pinned": true}));
    let before = stored(&ledger(&dac, "plant", "processor", "a ledger", |_| true));
    // Some samples in flight at the start of the run are before it.
    ledger(&dac, "plant", "processor", "more stored", |ledger| stored(ledger) > before + 200);
    let path = format!("/api/v1/test-runs/{}", run["id"]);
    assert_eq!(post(&dac, &format!("{path}/stop"), &json!({})).0, 200);
    let removed = || get(&dac, "/api/v1/archive")["removed_files"].as_u64().unwrap_or_default();
    // Before and after the run: some samples of each are evicted with several files.
    eventually("retention lets go of files", || (removed() >= 5).then_some(()));
    let kept =
        || printed(&["export", "--archive", archive, "--run", "keep", "--format", "jsonl"]).lines().count();
    let (now, comparison) = (kept(), get(&dac, &format!("{path}/comparison")));
    assert!(now >= 100, "{now} samples are left");
    assert_eq!(comparison["instances"][0]["summary"]["samples"], now, "{comparison:#}");
    assert_eq!(comparison["instances"][0]["summary"]["lost"], json!({}), "{comparison:#}");
    assert_eq!(request(&dac, "PATCH", &path, Some(&json!({"pinned": false}))).0, 200);
    eventually("it goes when nobody holds it any more", || (kept() == 0).then_some(()));
}

/// Standard output of `oasis …`.
fn printed(arguments: &[&str]) -> String {
    let output = oasis().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of `oasis …` when it fails.
fn refused(arguments: &[&str]) -> String {
    let output = oasis().args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn two_runs_are_compared_and_exported_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let dac = Oasis::dac(&["--archive", archive]);
    let _node = Oasis::node(dac.channel(), &["--probe", "heartbeat@100"]);
    let url = dac.url();
    let run = |arguments: &[&str]| printed(&[&["run", "--url", &url], arguments].concat());
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64().unwrap_or_default();
    for name in [HOSTILE, "second"] {
        run(&["start", name, "--tag", "night", "--notes", "what for"]);
        eventually("samples of this run", || {
            let shown: Value = serde_json::from_str(&run(&["show", name, "--format", "json"])).unwrap();
            shown["instances"][0]["summary"]["samples"].as_u64().filter(|samples| *samples > 50)
        });
        assert!(run(&["stop", name]).contains("started by http 127.0.0.1:"));
    }
    // Samples are stored in order: if one long after the end is stored, all before it are.
    let at_end = stored(&ledger(&dac, "plant", "heartbeat", "a ledger", |_| true));
    ledger(&dac, "plant", "heartbeat", "samples after the end", |ledger| stored(ledger) > at_end + 100);
    let (status, flushed) = post(&dac, "/api/v1/archive/flush", &json!({}));
    assert_eq!(status, 200, "{flushed}");
    assert!(refused(&["run", "--url", &url, "start", "second"]).contains("already exists"));
    assert!(refused(&["run", "--url", &url, "stop", "third"]).contains("oasis run list"));
    assert!(run(&["pin", "second"]).contains("  pinned  [night]"));
    assert!(!run(&["unpin", "second"]).contains("pinned"));
    assert!(run(&["edit", "second", "--name", "later", "--notes", "moved"]).contains("moved"));
    assert_eq!(run(&["list", "--tag", "night"]).lines().count(), 2);
    assert_eq!(run(&["list", "--tag", "day"]), "");
    assert!(refused(&["run", "--url", &url, "edit", "later"]).contains("--notes TEXT"));

    let text = run(&["compare", HOSTILE, "later"]);
    assert!(text.contains("plant/heartbeat\n") && text.contains("  later  change\n  samples "), "{text}");
    let comparison: Value =
        serde_json::from_str(&run(&["compare", HOSTILE, "later", "--format", "json"])).unwrap();
    let [heartbeat] = &comparison["instances"].as_array().unwrap()[..] else { panic!("{comparison}") };
    for (side, name) in [("summary", HOSTILE), ("with", "later")] {
        let lines = printed(&["export", "--archive", archive, "--run", name, "--format", "jsonl"]);
        let samples = &heartbeat[side]["samples"];
        assert_eq!(samples, lines.lines().count(), "{name}: {heartbeat:#}");
        assert!(samples.as_u64() > Some(40), "{heartbeat:#}");
        assert!(heartbeat[side]["intervals"]["p50"].as_u64() > Some(0), "{heartbeat:#}");
        assert_eq!(heartbeat[side]["lost"], json!({}), "{heartbeat:#}");
    }
    assert!(
        run(&["show", "later", "--node", "plant", "--instance", "heartbeat"]).contains("plant/heartbeat\n")
    );
    for who in [["--node", "plan"], ["--instance", "heart"]] {
        let said = refused(&[&["run", "--url", &url, "compare", HOSTILE, "later"][..], &who].concat());
        assert!(said.contains(&format!("{:?}", who[1])) && said.contains("oasis list"), "{said}");
    }
    assert!(run(&["delete", "later"]).contains("retention still applies"));
    assert!(
        refused(&["export", "--archive", archive, "--run", "later"]).contains("no test run with the name")
    );
}

#[test]
fn annotations_are_added_listed_and_deleted_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let dac = Oasis::dac(&["--archive", folder.path().to_str().unwrap()]);
    let url = dac.url();
    let annotation = |arguments: &[&str]| printed(&[&["annotation", "--url", &url], arguments].concat());
    let added =
        annotation(&["add", "valve stuck", "plant-7/processor", "plant-8", "--time", "2026-05-04T12:00:00Z"]);
    assert_eq!(added, "1  2026-05-04T12:00:00Z  valve stuck  [plant-7/processor, plant-8]\n");
    annotation(&["add", "rain", "--time", "2026-05-04T14:00:00+02:00", "--until", "2026-05-04T15:00:00Z"]);
    annotation(&["add", HOSTILE]);
    assert_eq!(annotation(&["list", "--from", "2026-05-04", "--to", "2026-05-05"]).lines().count(), 2);
    let of_node = annotation(&["list", "--node", "plant-9", "--format", "jsonl"]);
    let texts: Vec<Value> =
        of_node.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].clone()).collect();
    assert_eq!(texts, ["rain", HOSTILE]);
    assert_eq!(annotation(&["delete", "1"]), "1: deleted\n");
    let refused = |arguments: &[&str]| refused(&[&["note", "--url", &url], arguments].concat());
    assert!(refused(&["delete", "1"]).contains("1"));
    assert!(refused(&["add", ""]).contains("text"));
    assert!(refused(&["add", "x", "--time", "yesterday"]).contains("yesterday"));
    assert!(refused(&["add", "x", "plant/"]).contains("NODE/INSTANCE"));
}
