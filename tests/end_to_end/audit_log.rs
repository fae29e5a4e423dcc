//! The audit log over HTTP.

use crate::harness::{Guarded, eventually};
use serde_json::{Value, json};
use std::fs;

#[test]
fn administrators_page_through_the_audit_log_and_check_it() {
    let guarded = Guarded::new();
    let operator = guarded.token("operator-of-a", &["read a/*", "command a/*"]);
    for node in ["a", "b"] {
        let command = json!({"node": node, "instance": "beat", "command": "enable"});
        assert_eq!(guarded.request(&operator, "POST", "/api/v1/commands", Some(&command)).0, 404);
    }
    let list = |query: &str| guarded.json("", "GET", &format!("/api/v1/audit-log?{query}"), None);
    let sequence = |record: &Value| record["seq"].as_u64().unwrap();
    let all: Vec<u64> = list("")["records"].as_array().unwrap().iter().map(sequence).collect();
    assert!(all.len() >= 5 && all.is_sorted_by(|a, b| a > b), "{all:?}");
    let (mut paged, mut before) = (Vec::new(), String::new());
    loop {
        let page = list(&format!("limit=2{before}"));
        paged.extend(page["records"].as_array().unwrap().iter().map(sequence));
        let Some(next) = page["next"].as_u64() else { break };
        before = format!("&before={next}");
    }
    assert_eq!(paged, all);
    let refused = list("action=command:&result=hidden");
    assert_eq!(refused["records"][0]["target"], "b/beat", "{refused}");
    assert_eq!(refused["records"].as_array().unwrap().len(), 1);
    assert_eq!(list("principal=program:operator-of-a&target=a/")["records"].as_array().unwrap().len(), 2);
    assert_eq!(list("to=2020-01-01")["records"], json!([]));
    assert_eq!(guarded.request("", "GET", "/api/v1/audit-log?from=then", None).0, 400);
    let check = guarded.json("", "GET", "/api/v1/audit-log/check", None);
    assert_eq!((&check["intact"], &check["records"]), (&json!(true), &json!(all.len())), "{check}");
    for path in ["/api/v1/audit-log", "/api/v1/audit-log/check"] {
        assert_eq!(guarded.request(&operator, "GET", path, None).0, 403);
    }
}

#[test]
fn a_refused_request_is_recorded_with_what_is_missing() {
    let guarded = Guarded::new();
    let reader = guarded.token("reader", &["read a/*"]);
    let command = json!({"node": "a", "instance": "beat", "command": "enable"});
    let (status, problem) = guarded.request(&reader, "POST", "/api/v1/commands", Some(&command));
    assert_eq!(status, 403);
    assert!(problem.contains("program:reader has no permission command: see"), "{problem}");
    let problem = guarded.request(&reader, "GET", "/api/v1/shards", None).1;
    assert!(problem.contains("has no permission read-live or read-past: see"), "{problem}");
    assert_eq!(guarded.request("oasis_00000000_x", "GET", "/api/v1/nodes", None).0, 401);

    let list = |query: &str| guarded.json("", "GET", &format!("/api/v1/audit-log?{query}"), None);
    let requests = list("action=request")["records"].clone();
    let seen: Vec<_> = requests.as_array().unwrap().iter().rev().map(|record| &record["target"]).collect();
    assert_eq!(seen, ["POST /api/v1/commands", "GET /api/v1/shards"], "{requests}");
    let first = &requests[1];
    assert_eq!((&first["principal"], &first["address"]), (&json!("program:reader"), &json!("127.0.0.1")));
    assert!(first["result"].as_str().unwrap().starts_with("forbidden: program:reader has no permission"));
    let tokens = list("action=token&principal=stranger")["records"].clone();
    assert_eq!(tokens[0]["target"], "GET /api/v1/nodes", "{tokens}");
    assert_eq!(tokens[0]["result"], "the token is unknown or was revoked");
}

#[test]
fn a_log_that_was_cut_is_a_reason_of_health_and_nothing_is_done_without_it() {
    let guarded = Guarded::new();
    guarded.token("reader", &["read a/*"]);
    let health = || guarded.json("", "GET", "/api/v1/health", None);
    assert_eq!(health()["reasons"], json!([]));
    let log = guarded.folder.path().join("access/audit/audit-00000000000000000001.jsonl");
    fs::OpenOptions::new().write(true).open(log).unwrap().set_len(10).unwrap();
    let reason = eventually("a reason", || health()["reasons"].as_array()?.first().cloned());
    assert_eq!(reason["part"], "audit log");
    assert!(reason["reason"].as_str().unwrap().contains("the audit log is damaged at "), "{reason}");
    let command = json!({"node": "a", "instance": "beat", "command": "enable"});
    let (status, problem) = guarded.request("", "POST", "/api/v1/commands", Some(&command));
    assert!(status == 503 && problem.contains("not_recorded"), "{status} {problem}");
    assert_eq!(guarded.request("", "GET", "/readyz", None).0, 503);
}

#[test]
fn accounts_that_cannot_be_read_again_are_a_reason_of_health() {
    let guarded = Guarded::new();
    let reader = guarded.token("reader", &["read a/*"]);
    let file = guarded.folder.path().join("access/access.toml");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, "version = [").unwrap();
    let health = || guarded.json("", "GET", "/api/v1/health", None);
    let reason = eventually("a reason", || health()["reasons"].as_array()?.first().cloned());
    assert_eq!(reason["part"], "accounts");
    assert_eq!(guarded.request(&reader, "GET", "/api/v1/nodes", None).0, 200, "rights stay as they were");
    fs::write(&file, whole).unwrap();
    eventually("all is well again", || (health()["status"] == "ok").then_some(()));
}

#[test]
fn commands_of_earlier_runs_stay_in_the_history() {
    let guarded = Guarded::new();
    let (_node, _) = guarded.node("a", 1);
    let operator = guarded.token("operator-of-a", &["read a/*", "command a/*"]);
    let reader = guarded.token("reader-of-b", &["read b/*"]);
    for (node, instance) in [("a", "beat"), ("a", "nothing")] {
        let command = json!({"node": node, "instance": instance, "command": "hertz", "hertz": 3});
        assert_ne!(guarded.request(&operator, "POST", "/api/v1/commands", Some(&command)).0, 403);
    }
    let listed = |guarded: &Guarded, token: &str| {
        let answer = guarded.json(token, "GET", "/api/v1/commands", None);
        answer["commands"].as_array().unwrap().clone()
    };
    let before = listed(&guarded, &operator);
    assert_eq!(before.len(), 1, "{before:?}");
    let guarded = guarded.killed_and_started();
    let after = eventually("the history", || {
        let found = listed(&guarded, &operator);
        (!found.is_empty()).then_some(found)
    });
    assert_eq!(after.len(), 1, "{after:?}");
    for (name, value) in
        [("instance", json!("beat")), ("hertz", json!(3.0)), ("uuid", before[0]["uuid"].clone())]
    {
        assert_eq!(after[0][name], value, "{after:?}");
    }
    assert_eq!(after[0]["who"], "program:operator-of-a");
    assert!(!after[0]["outcome"].as_str().unwrap().is_empty());
    assert_eq!(listed(&guarded, &reader).len(), 0);
}
