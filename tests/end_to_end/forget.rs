//! A node is forgotten with all its data, while the DAC runs or after it has ended.

use crate::harness::{Guarded, Native, oasis};
use serde_json::{Value, json};
use std::process::Stdio;

fn rows(guarded: &Guarded, query: &str) -> Value {
    guarded.json("", "POST", "/api/v1/sql", Some(&json!({"query": query})))["rows"].clone()
}

/// All that names a node, but the audit log.
fn traces(guarded: &Guarded, node: &str) -> Vec<String> {
    let paths = [
        "/api/v1/nodes",
        "/api/v1/instances",
        "/api/v1/registry",
        "/api/v1/ledger",
        "/api/v1/audit",
        "/api/v1/archive/instances",
        "/api/v1/commands",
        "/api/v1/annotations",
    ];
    let named = format!("\"{node}\"");
    let is_in = |path: &&str| {
        let mut answer = guarded.json("", "GET", path, None);
        // Readers of the registry learn what is gone by its name.
        answer["removed"] = Value::Null;
        answer.to_string().contains(&named)
    };
    let mut found: Vec<String> =
        paths.iter().filter(|path| is_in(path)).map(|path| (*path).to_owned()).collect();
    for table in ["beat", "nodes", "instances", "gaps", "commands", "annotations"] {
        let text = rows(guarded, &format!("SELECT * FROM {table}")).to_string();
        if text.contains(&named) || text.contains(&format!("\\\"{node}\\\"")) {
            found.push(table.into());
        }
    }
    found
}

#[test]
fn an_administrator_forgets_a_node_while_the_dac_runs() {
    let guarded = Guarded::new();
    let reader = guarded.token("reader", &["read */*", "command,runs,annotations,sql */*"]);
    let (_a, _) = guarded.node("keeps", 1);
    let (gone, topic) = guarded.node("goes", 2);
    let (status, refused) = guarded.request("", "DELETE", "/api/v1/nodes/goes", None);
    assert!(status == 409 && refused.contains("node_connected"), "{status} {refused}");
    for node in ["keeps", "goes"] {
        let note = json!({"text": "x", "targets": [{"node": node, "instance": "beat"}], "time": 5});
        guarded.json("", "POST", "/api/v1/annotations", Some(&note));
        let command = json!({"node": node, "instance": "beat", "command": "trigger"});
        guarded.request("", "POST", "/api/v1/commands", Some(&command));
    }
    let mut client = Native::connect(&guarded.dac.url());
    client.request(json!({"op": "subscribe", "node": "goes", "instance": "beat"}));
    assert!(traces(&guarded, "goes").len() >= 10, "{:?}", traces(&guarded, "goes"));
    assert_eq!(guarded.request(&reader, "DELETE", "/api/v1/nodes/goes", None).0, 403);
    drop(gone);
    guarded.waits_until_offline("goes");
    let forgotten = guarded.json("", "DELETE", "/api/v1/nodes/goes", None);
    assert_eq!((&forgotten["samples"], &forgotten["topics"]), (&json!(2), &json!(1)), "{forgotten}");
    assert_eq!(traces(&guarded, "goes"), [] as [&str; 0]);
    assert_eq!(client.control("unsubscribed")["topic"], topic.0);
    assert_eq!(rows(&guarded, "SELECT sequence FROM beat WHERE node = 'keeps'"), json!([[1], [3]]));
    // Only the sample of the other node that never came.
    assert_eq!(guarded.json("", "GET", "/api/v1/audit", None)["undeclared"], 1);
    assert_eq!(guarded.request("", "DELETE", "/api/v1/nodes/goes", None).0, 404);
    let records = guarded.json("", "GET", "/api/v1/audit-log?action=forget&target=goes", None);
    let results: Vec<_> =
        records["records"].as_array().unwrap().iter().map(|record| record["result"].clone()).collect();
    assert!(results.contains(&json!("done")) && results.contains(&json!("begun")), "{results:?}");
    // The archive continues, and a start brings nothing back.
    let (_c, _) = guarded.node("comes", 3);
    let again = guarded.killed_and_started();
    assert_eq!(traces(&again, "goes"), [] as [&str; 0]);
    assert_eq!(rows(&again, "SELECT DISTINCT node FROM beat ORDER BY 1"), json!([["comes"], ["keeps"]]));
}

#[test]
fn a_node_is_forgotten_from_an_archive_without_a_dac() {
    let guarded = Guarded::new();
    for (run, node) in [(1, "keeps"), (2, "goes")] {
        drop(guarded.node(node, run));
    }
    let archive = guarded.folder.path().join("archive").display().to_string();
    let access = guarded.folder.path().join("access").display().to_string();
    let forget = |arguments: &[&str]| {
        let mut command = oasis();
        command.args(["forget", "--archive", &archive, "--access", &access]).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        (output.status.success(), said)
    };
    let (is_done, said) = forget(&["goes", "--yes"]);
    assert!(!is_done && said.contains("is open in another process"), "{said}");
    assert!(said.contains("DELETE /api/v1/nodes/goes"), "{said}");
    let (is_done, said) = forget(&["goes/beat", "--yes"]);
    assert!(!is_done && said.contains("DELETE /api/v1/instances/ID"), "{said}");
    let Guarded { dac, folder, .. } = guarded;
    assert!(dac.stop().success());
    for (arguments, expected) in [
        (&["nobody", "--yes"][..], "has nothing of nobody"),
        (&["goes"], "confirm with --yes"),
        (&["goes/*", "--yes"], "patterns are not permitted"),
    ] {
        let (is_done, said) = forget(arguments);
        assert!(!is_done && said.contains(expected), "{said}");
    }
    let (is_done, said) = forget(&["goes", "--yes"]);
    assert!(is_done && said.contains("samples: 2") && said.contains("1 written again"), "{said}");
    let printed = |arguments: &[&str]| {
        let output = oasis().args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let query = "SELECT node, sequence FROM beat";
    assert_eq!(printed(&["sql", "--archive", &archive, query]), "node,sequence\nkeeps,1\nkeeps,3\n");
    assert!(!printed(&["archive", "check", "--archive", &archive]).contains("damaged"));
    let exported = printed(&["export", "--archive", &archive, "--access", &access, "--format", "jsonl"]);
    assert_eq!(exported.lines().count(), 2);
    let records = printed(&["audit-log", "show", "--access", &access, "--format", "json"]);
    for action in ["forget", "export"] {
        let of = records.lines().filter(|line| line.contains(&format!("\"action\":\"{action}\""))).count();
        assert!(of >= 2, "{action}: {records}");
    }
    drop(folder);
}
