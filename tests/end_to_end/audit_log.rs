//! The audit log over HTTP.

use crate::harness::Guarded;
use serde_json::{Value, json};

#[test]
fn administrators_page_through_the_audit_log_and_check_it() {
    let guarded = Guarded::new();
    let operator = guarded.token("operator-of-a", &["read a/*", "command a/*"]);
    for node in ["a", "b"] {
        let command = json!({"node": node, "instance": "beat", "command": "enable"});
        assert_eq!(guarded.ask(&operator, "POST", "/api/v1/commands", Some(&command)).0, 404);
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
    assert_eq!(guarded.ask("", "GET", "/api/v1/audit-log?from=then", None).0, 400);
    let check = guarded.json("", "GET", "/api/v1/audit-log/check", None);
    assert_eq!((&check["intact"], &check["records"]), (&json!(true), &json!(all.len())), "{check}");
    for path in ["/api/v1/audit-log", "/api/v1/audit-log/check"] {
        assert_eq!(guarded.ask(&operator, "GET", path, None).0, 403);
    }
}
