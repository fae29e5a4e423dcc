//! The Model Context Protocol: the official client over HTTP and through `oasis mcp`, and what an assistant may do.

use crate::harness::{Guarded, Oasis, eventually, instance, oasis, post, post_from, repository};
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn the_official_client_reads_and_commands_in_both_eras_of_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive").display().to_string();
    let probe = ["--name", "plant-7", "--probe", "processor=pump@50"];
    let dac = Oasis::up(&[&["--archive", &archive], &probe[..]].concat());
    eventually("the archive has the instance", || {
        let stored = instance(&dac, "plant-7", "pump")?;
        let found = post(&dac, "/api/v1/sql", &json!({"query": "SELECT instance FROM instances"}));
        (stored["state"] == "online" && found.1["rows"].to_string().contains("pump")).then_some(())
    });
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let script = repository().join("tests/end_to_end/mcp/client.py");
    let done = Command::new(&python).arg(script).args([dac.http()]).arg(oasis().get_program()).output();
    let done = done.unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    let ways = ["http 2026-07-28", "http 2025-11-25", "stdio 2026-07-28", "stdio 2025-11-25"];
    // Each way has read later samples than the one before.
    let numbers = ways.map(|way| found[way].as_u64().unwrap_or_else(|| panic!("{way}: {found}")));
    assert!(numbers.is_sorted() && numbers[0] > 0, "{numbers:?}");
}

fn call(dac: &Guarded, token: &str, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    dac.json(token, "POST", "/mcp", Some(&message))["result"].take()
}

/// The text of a tool, and whether it is an error.
fn tool(dac: &Guarded, token: &str, name: &str, arguments: Value) -> (String, bool) {
    let result = call(dac, token, "tools/call", json!({"name": name, "arguments": arguments}));
    (result["content"][0]["text"].as_str().unwrap_or_default().to_owned(), result["isError"] == true)
}

#[test]
fn an_assistant_may_do_what_its_token_permits() {
    let dac = Guarded::new();
    let _plant = dac.node("plant-7", 1);
    let _other = dac.node("secret", 2);
    let viewer = dac.token("viewer-of-plant-7", &["read plant-7/*"]);
    let operator = dac.token("operator-of-plant-7", &["read,command plant-7/*"]);

    let listed = tool(&dac, &viewer, "list_instances", json!({})).0;
    assert!(listed.contains("plant-7") && !listed.contains("secret"), "{listed}");
    let (refused, is_error) =
        tool(&dac, &viewer, "describe_instance", json!({"node": "secret", "instance": "beat"}));
    assert!(is_error && refused.contains("there is no instance secret/beat"), "{refused}");
    let tools = call(&dac, &viewer, "tools/list", json!({})).to_string();
    assert!(!tools.contains("send_command"), "{tools}");
    let tools = call(&dac, &operator, "tools/list", json!({})).to_string();
    assert!(tools.contains("send_command"), "{tools}");

    let mut command = json!({"node": "plant-7", "instance": "beat", "command": "disable"});
    for confirmation in [Value::Null, "disable of plant-7/beat".into()] {
        command["confirmation"] = confirmation;
        let (refused, is_error) = tool(&dac, &viewer, "send_command", command.clone());
        assert!(is_error && refused.contains("no permission command"), "{refused}");
    }
}

#[test]
fn strangers_and_pages_of_other_sites_are_refused() {
    let dac = Guarded::new();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(dac.request("", "POST", "/mcp", Some(&ping)).0, 200);
    assert_eq!(dac.request("no-token", "POST", "/mcp", Some(&ping)).0, 401);
    assert_eq!(post_from(&dac.dac, "/mcp", &ping, "https://elsewhere.example").0, 403);
    assert_eq!(dac.request("", "GET", "/mcp", None).0, 405);
}
