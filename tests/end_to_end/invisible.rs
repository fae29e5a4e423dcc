//! Objects that a principal may not see cannot be inferred: all answers are the same whether they exist or not.

use crate::harness::{Guarded, Native, eventually};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tungstenite::Message;

/// Numbers that count everything, or are of the moment. `docs/reference/permissions.md` names those that count.
const MASKED: [&str; 10] = [
    "dac_time",
    "age_ns",
    "position",
    "revision",
    "from",
    "csrf_token",
    "log_bytes",
    "next_offset_time",
    "server_time",
    "silent_ms",
];

fn masked(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = if MASKED.contains(&name.as_str()) { Value::Null } else { masked(value) };
                (name, value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(entries) => entries.into_iter().map(masked).collect(),
        other => other,
    }
}

/// The parameters of paths, and requests besides those of the OpenAPI document.
fn requests(guarded: &Guarded, topic: u32) -> Vec<(String, Option<Value>)> {
    let document = guarded.json("", "GET", "/openapi.json", None);
    let mut paths: Vec<String> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        // Streams without end.
        let is_endless = [
            "/api/v1/alarms/events",
            "/api/v1/stream.sse",
            "/api/v1/samples/stream",
            "/api/v1/samples/events",
            "/ws",
        ];
        if methods["get"].is_object() && !is_endless.contains(&path.as_str()) {
            paths.push(path.clone());
        }
    }
    assert!(paths.len() > 25, "{paths:?}");
    let hash =
        guarded.json("", "GET", "/api/v1/registry", None)["types"][0]["schema"].as_str().unwrap().to_owned();
    let own_topic = topic.to_string();
    let mut all = Vec::new();
    for path in paths {
        let fill = |path: &str, id: &str, hash: &str| {
            [("{id}", id), ("{hash}", hash), ("{name}", "x"), ("{test_run}", "1"), ("{annotation}", "1")]
                .iter()
                .fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
        };
        all.push(fill(&path, &own_topic, &hash));
        all.push(fill(&path, "99", &"0".repeat(64)));
        for node in ["a", "b", "c"] {
            let query = format!("node={node}&instance=beat&timeout_ms=0&from=earliest&to=2026-12-31");
            all.push(format!("{}?{query}", fill(&path, &own_topic, &hash)));
            all.push(format!("{}?node={node}", fill(&path, &own_topic, &hash)));
        }
    }
    let mut all: Vec<_> = all.into_iter().map(|path| (path, None)).collect();
    for query in [
        "SELECT * FROM beat",
        "SELECT * FROM nodes",
        "SELECT * FROM instances",
        "SELECT * FROM gaps",
        "SELECT * FROM annotations",
        "SELECT * FROM commands",
        "SELECT * FROM test_runs",
        "SELECT * FROM other",
        "SELECT * FROM audit_log",
        "SELECT * FROM sqlite_schema",
        "EXPLAIN QUERY PLAN SELECT * FROM beat WHERE node = 'b'",
    ] {
        all.push(("/api/v1/sql".into(), Some(json!({"query": query}))));
    }
    for node in ["b", "c"] {
        let command = json!({"node": node, "instance": "beat", "command": "enable"});
        all.push(("/api/v1/commands".into(), Some(command)));
        let note = json!({"text": "x", "targets": [{"node": node, "instance": "beat"}]});
        all.push(("/api/v1/annotations".into(), Some(note)));
    }
    all
}

/// All answers to a principal, by request.
fn answers(guarded: &Guarded, token: &str, requests: &[(String, Option<Value>)]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (path, body) in requests {
        let method = if body.is_some() { "POST" } else { "GET" };
        let (status, text) = guarded.request(token, method, path, body.as_ref());
        let text = match serde_json::from_str::<Value>(&text) {
            Ok(document) => masked(document).to_string(),
            Err(_) => text,
        };
        let body = body.as_ref().map(Value::to_string).unwrap_or_default();
        all.insert(format!("{method} {path} {body}"), format!("{status} {text}"));
    }
    for watch in [json!({"op": "watch"}), json!({"op": "watch", "deltas": true, "statistics": true})] {
        let mut client = Native::connect_with(&guarded.dac.url(), Some(token));
        let mut said = vec![masked(client.welcome.clone())];
        let mut request = watch.clone();
        request["id"] = json!(1);
        client.send(Message::text(request.to_string()));
        let wanted: &[&[&str]] = match watch["deltas"] == true {
            true => &[&["registry_delta"], &["statistics"]],
            false => &[&["error", "registry"]],
        };
        said.extend(wanted.iter().map(|ops| masked(client.control_of(ops))));
        for node in ["b", "c"] {
            let subscribe = json!({"op": "subscribe", "node": node, "instance": "beat"});
            said.push(masked(client.request(subscribe)));
            let command = json!({"op": "command", "node": node, "instance": "beat", "command": "enable"});
            said.push(masked(client.request(command)));
        }
        all.insert(format!("WebSocket {watch}"), Value::from(said).to_string());
    }
    all
}

/// The TEM learns names of nodes from heartbeats.
fn wait_until_tem_lists(guarded: &Guarded, list: &str, node: &str) {
    eventually("a node in the list of the TEM", || {
        let tem = guarded.json("", "GET", "/api/v1/tem", None);
        let names = tem["dacs"][0][list].as_array()?;
        names.contains(&json!(node)).then_some(())
    });
}

#[test]
fn answers_are_the_same_whether_a_hidden_node_exists_or_not() {
    let guarded = Guarded::new();
    let rules = ["read,export,annotations,command a/*", "sql */*"];
    let token = guarded.token("of-a", &rules);
    let (a, topic) = guarded.node("a", 1);
    drop(a);
    guarded.waits_until_offline("a");
    wait_until_tem_lists(&guarded, "offline_nodes", "a");
    guarded.json("", "POST", "/api/v1/test-runs", Some(&json!({"name": "soak"})));
    let on = |node: &str| json!({"text": "note", "targets": [{"node": node, "instance": "beat"}], "time": 5});
    guarded.json("", "POST", "/api/v1/annotations", Some(&on("a")));
    let requests = requests(&guarded, topic.0);
    // The first answers leave text with the topic logs, whose size is in later ones.
    answers(&guarded, &token, &requests);
    let before = answers(&guarded, &token, &requests);
    let allowed = before.values().filter(|answer| answer.starts_with("200")).count();
    assert!(allowed > 20, "{before:#?}");
    // The hidden node has samples, a gap, an annotation, a command, a stream that is derived, and is in a whole test run.
    let (_b, _) = guarded.node("b", 2);
    // Now: it answers nothing, so the DAC will take it for gone.
    wait_until_tem_lists(&guarded, "nodes", "b");
    guarded.json("", "POST", "/api/v1/annotations", Some(&on("b")));
    let command = json!({"node": "b", "instance": "beat", "command": "enable"});
    guarded.request("", "POST", "/api/v1/commands", Some(&command));
    let mut derived = Native::connect(&guarded.dac.url());
    let delivery = json!({"max_hz": 1});
    derived.request(json!({"op": "subscribe", "node": "b", "instance": "beat", "delivery": delivery}));
    let after = answers(&guarded, &token, &requests);
    for (request, answer) in &before {
        assert_eq!(answer, &after[request], "{request}");
    }
    let whole = answers(&guarded, "", &requests);
    let differs = before.iter().filter(|(request, answer)| whole[*request] != **answer).count();
    assert!(differs > 10, "the test sees what differs: {differs}");
}

#[test]
fn who_sees_a_part_learns_who_did_something_and_not_from_where() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let reader = guarded.token("reader", &["read a/*", "sql */*"]);
    guarded.json("", "POST", "/api/v1/test-runs", Some(&json!({"name": "night"})));
    let note = json!({"text": "a mark", "targets": [{"node": "a"}]});
    guarded.json("", "POST", "/api/v1/annotations", Some(&note));
    for list in ["test-runs", "annotations"] {
        let who = |token| {
            let found = guarded.json(token, "GET", &format!("/api/v1/{list}"), None);
            found[list.replace('-', "_")][0]["who"].as_str().unwrap().to_owned()
        };
        assert_eq!(who(&reader), "http");
        assert!(who("").starts_with("http 127.0.0.1:"), "{}", who(""));
    }
    let query = json!({"query": "SELECT who FROM test_runs UNION ALL SELECT who FROM annotations"});
    let answer = guarded.json(&reader, "POST", "/api/v1/sql", Some(&query));
    assert_eq!(answer["rows"], json!([["http"], ["http"]]));
}
