//! SQL that a running DAC answers, by the permissions of its author.

use crate::harness::{Guarded, eventually, oasis};
use serde_json::{Value, json};
use std::{
    io::Write,
    net::TcpStream,
    process::{Output, Stdio},
};

fn rows(guarded: &Guarded, token: &str, query: &str) -> Value {
    guarded.json(token, "POST", "/api/v1/sql", Some(&json!({"query": query})))["rows"].clone()
}

/// Status, code and details of a refusal.
fn refusal(guarded: &Guarded, token: &str, query: &str) -> (u16, String, String) {
    let (status, text) = guarded.request(token, "POST", "/api/v1/sql", Some(&json!({"query": query})));
    let problem: Value = serde_json::from_str(&text).unwrap();
    let text = |name: &str| problem[name].as_str().unwrap_or_default().to_owned();
    (status, text("type").replace("/problems/", ""), text("detail"))
}

#[test]
fn the_tables_have_what_their_reader_may_read() {
    let guarded = Guarded::new();
    let a = guarded.token("a", &["read a/*", "sql */*"]);
    let (_a, _) = guarded.node("a", 1);
    let (_b, _) = guarded.node("b", 2);
    let on = |node: &str| json!([{"node": node, "instance": "beat"}]);
    for (text, targets) in [("of a", on("a")), ("of b", on("b")), ("of all", json!([]))] {
        let note = json!({"text": text, "targets": targets, "time": 1_777_896_000_000_000_000_u64});
        guarded.json("", "POST", "/api/v1/annotations", Some(&note));
    }
    let both = json!([{"node": "a"}, {"node": "b", "instance": "beat"}]);
    let note = json!({"text": "of both", "targets": both, "time": 1_777_896_000_000_000_001_u64});
    guarded.json("", "POST", "/api/v1/annotations", Some(&note));
    let all = "SELECT node, instance, sequence FROM beat ORDER BY node, sequence";
    assert_eq!(
        rows(&guarded, "", all),
        json!([["a", "beat", 1], ["a", "beat", 3], ["b", "beat", 1], ["b", "beat", 3]])
    );
    assert_eq!(rows(&guarded, &a, all), json!([["a", "beat", 1], ["a", "beat", 3]]));
    assert_eq!(rows(&guarded, &a, "SELECT count(*) FROM beat WHERE node = 'b'"), json!([[0]]));
    for table in ["nodes", "instances", "gaps"] {
        let column = if table == "nodes" { "name" } else { "node" };
        let query = format!("SELECT DISTINCT {column} FROM {table}");
        eventually(table, || (rows(&guarded, "", &query).as_array()?.len() == 2).then_some(()));
        assert_eq!(rows(&guarded, &a, &query), json!([["a"]]), "{table}");
    }
    let notes = "SELECT text, targets FROM annotations ORDER BY text";
    let seen = rows(&guarded, &a, notes);
    assert_eq!(
        seen,
        json!([
            ["of a", r#"[{"node":"a","instance":"beat"}]"#],
            ["of all", "[]"],
            ["of both", r#"[{"node":"a","instance":null}]"#]
        ])
    );
    // Neither the catalogue's tables nor lists of tables say more.
    for table in ["main.node", "node", "segment", "loss", "instance", "audit_log", "temp.open_share"] {
        let (status, code, detail) = refusal(&guarded, &a, &format!("SELECT * FROM {table}"));
        assert_eq!((status, code.as_str()), (422, "bad_query"), "{table}: {detail}");
        assert!(detail.starts_with("no such table"), "{detail}");
    }
    assert_eq!(
        rows(&guarded, &a, "SELECT name FROM sqlite_schema UNION ALL SELECT name FROM sqlite_temp_schema"),
        json!([])
    );
    assert!(!rows(&guarded, "", "SELECT seq FROM audit_log").as_array().unwrap().is_empty());
    let names = |token: &str| {
        let tables = guarded.json(token, "GET", "/api/v1/sql", None);
        let tables = tables["tables"].as_array().unwrap().clone();
        tables.iter().map(|table| table["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names("").contains(&"audit_log".into()) && !names(&a).contains(&"audit_log".into()));
    assert!(names(&a).contains(&"beat".into()));
    let c = guarded.token("c", &["read c/*", "sql */*"]);
    assert!(!names(&c).contains(&"beat".into()), "a type without visible instances is not there");
    assert_eq!(refusal(&guarded, &c, "SELECT 1 FROM beat").2, "no such table: beat (line 1, column 15)");
    let reader = guarded.token("reader", &["read */*"]);
    assert_eq!(refusal(&guarded, &reader, "SELECT 1").1, "forbidden");
    let recorded = rows(
        &guarded,
        "",
        "SELECT arguments FROM audit_log WHERE principal = 'program:a' AND action = 'sql'",
    );
    assert!(recorded.to_string().contains("FROM instances"), "{recorded}");
}

#[test]
fn a_query_is_one_select_and_ends_at_its_limits() {
    let guarded = Guarded::new();
    let a = guarded.token("a", &["read a/*", "sql */*"]);
    let (_a, _) = guarded.node("a", 1);
    for forbidden in [
        "PRAGMA table_list",
        "SELECT * FROM pragma_table_list",
        "ATTACH 'file:x' AS x",
        "SELECT load_extension('x')",
        "SELECT count(*) FROM dbstat",
        "SELECT * FROM sqlite_stmt",
        "CREATE TEMP TABLE t (x)",
        "CREATE VIRTUAL TABLE t USING fts5(x)",
        "DELETE FROM test_runs",
        "INSERT INTO beat VALUES (1)",
        "DROP TABLE beat",
        "BEGIN",
        "VACUUM INTO '/tmp/x'",
        "SELECT 1; SELECT 2",
        "",
    ] {
        for token in ["", &a] {
            let (status, code, detail) = refusal(&guarded, token, forbidden);
            assert_eq!((status, code.as_str()), (422, "bad_query"), "{forbidden}: {detail}");
        }
    }
    assert_eq!(
        refusal(&guarded, &a, "SELECT node,\n  speed FROM beat").2,
        "no such column: speed (line 2, column 3)"
    );
    let long = format!("SELECT '{}'", "x".repeat(70_000));
    assert_eq!(refusal(&guarded, &a, &long).0, 413);
    let counted =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n";
    let answer =
        guarded.json(&a, "POST", "/api/v1/sql", Some(&json!({"query": counted, "integers": "string"})));
    assert_eq!((answer["rows"].as_array().unwrap().len(), &answer["more"]), (100_000, &json!(true)));
    assert_eq!(answer["rows"][1], json!(["2"]));
    let csv = json!({"query": "SELECT node, sequence, '=1' AS x FROM beat", "format": "csv"});
    assert_eq!(
        guarded.request(&a, "POST", "/api/v1/sql", Some(&csv)).1,
        "node,sequence,x\na,1,'=1\na,3,'=1\n"
    );
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (status, code, _) = refusal(&guarded, &a, endless);
    assert_eq!((status, code.as_str()), (504, "query_time"));
}

#[test]
fn a_query_ends_when_its_client_leaves() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let body = json!({"query": endless}).to_string();
    let authority = guarded.dac.http().trim_start_matches("http://").to_owned();
    let mut clients: Vec<_> = (0..2)
        .map(|_| {
            let mut client = TcpStream::connect(&authority).unwrap();
            let (host, length) = (&authority, body.len());
            write!(
                client,
                "POST /api/v1/sql HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
            client
        })
        .collect();
    eventually("both queries run", || {
        let begun = guarded.json("", "GET", "/api/v1/audit-log?action=sql&result=begun", None);
        (begun["records"].as_array()?.len() == 2).then_some(())
    });
    assert_eq!(refusal_or_rows(&guarded), 429);
    clients.clear();
    eventually("their turns are free", || (refusal_or_rows(&guarded) == 200).then_some(()));
    // Each says so after it has given its turn back.
    let failed = "SELECT count(*) FROM audit_log WHERE action = 'sql' AND result LIKE '%nobody waits%'";
    eventually("both have ended", || (rows(&guarded, "", failed) == json!([[2]])).then_some(()));
}

fn refusal_or_rows(guarded: &Guarded) -> u16 {
    guarded.request("", "POST", "/api/v1/sql", Some(&json!({"query": "SELECT 1"}))).0
}

#[test]
fn the_command_line_sends_queries_to_a_dac() {
    let guarded = Guarded::new();
    let a = guarded.token("a", &["read a/*", "sql */*"]);
    let (_a, _) = guarded.node("a", 1);
    let sql = |arguments: &[&str]| -> Output {
        let mut command = oasis();
        command.args(["sql", "--url", guarded.dac.http()]).args(arguments).env("OASIS_TOKEN", &a);
        command.stdin(Stdio::null()).output().unwrap()
    };
    let printed = |arguments: &[&str]| {
        let output = sql(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        printed(&["SELECT node, sequence, 0.5 AS half, NULL AS n FROM beat"]),
        "node,sequence,half,n\na,1,0.5,\na,3,0.5,\n"
    );
    assert!(printed(&[".tables"]).contains("\nbeat "));
    assert!(printed(&[".schema beat"]).contains("\n  sequence\n"));
    let failed = sql(&["SELECT * FROM motors"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && said.contains("no such table: motors (line 1, column 15)"), "{said}");
    let archive = guarded.folder.path().join("archive").display().to_string();
    let access = guarded.folder.path().join("access").display().to_string();
    let counted = guarded.run(&[
        "sql",
        "--archive",
        &archive,
        "--access",
        &access,
        "SELECT count(*) > 0 FROM audit_log",
    ]);
    assert_eq!(counted, "count(*) > 0\n1\n");
}
