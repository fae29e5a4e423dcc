//! Queries of an archive from the command line, while its DAC runs.

use crate::harness::{Oasis, eventually, get, ledger, oasis, post};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
};

const TABLE: &str = "oasis_system_linux_processor_probe";

fn sql(arguments: &[&str]) -> Output {
    oasis().args(["sql", "--archive"]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = sql(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_query_is_answered_as_csv_as_json_or_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    let dac = Oasis::dac(&["--archive", archive]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@100", "--probe", "memory"]);
    let stored = |ledger: &Value| ledger["archive"]["stored"].as_u64() > Some(50);
    ledger(&dac, "plant", "processor", "samples stored", stored);
    let name = "=1+1 \u{202e}<b>";
    assert_eq!(post(&dac, "/api/v1/test-runs", &json!({"name": name})).0, 201);

    let tables = printed(&[archive, ".tables"]);
    for wanted in [TABLE, "oasis_system_linux_memory_probe", "test_runs", "annotations", "gaps", "nodes"] {
        assert!(tables.lines().any(|line| line.starts_with(&format!("{wanted} "))), "{wanted}: {tables}");
    }
    assert!(printed(&[archive, &format!(".schema {TABLE}")]).contains("\n  idle_time  ["));
    let query =
        format!("SELECT node, sequence, typeof(idle_time) AS t FROM {TABLE} WHERE node = 'plant' LIMIT 2");
    assert_eq!(printed(&[archive, &query]), "node,sequence,t\nplant,1,integer\nplant,2,integer\n");
    assert_eq!(
        printed(&[archive, &query, "--format", "jsonl"]),
        "{\"node\":\"plant\",\"sequence\":1,\"t\":\"integer\"}\n{\"node\":\"plant\",\"sequence\":2,\"t\":\"integer\"}\n"
    );
    let text = printed(&[archive, &query, "--format", "table"]);
    assert_eq!(text, "node   sequence  t\nplant  1         integer\nplant  2         integer\n2 rows\n");
    // Times work in any part of a query.
    for time in ["2026-05-04 12:00", "2100-01-01T02:00+01:00"] {
        let conditions = [
            format!("time >= '{time}'"),
            format!("NOT (time < '{time}')"),
            format!("time >= '{time}' OR node = 'x'"),
        ];
        let rows = |query: String| printed(&[archive, &query]).lines().count() > 1;
        for condition in conditions {
            let limited = format!("SELECT 1 FROM {TABLE} WHERE {condition} LIMIT 1");
            assert_eq!(rows(limited), time.starts_with("2026"), "{condition}");
        }
        assert_eq!(
            rows(format!("SELECT 1 FROM test_runs WHERE started > '{time}'")),
            time.starts_with("2026")
        );
    }
    // Names are escaped for spreadsheets and terminals.
    let named = "SELECT name FROM test_runs";
    assert_eq!(printed(&[archive, named]), format!("name\n'{name}\n"));
    assert!(printed(&[archive, named, "--format", "table"]).contains("=1+1 \\u{202e}<b>"));
    // At least as many as the API reported as stored before.
    let of_api = get(&dac, "/api/v1/archive")["stored"].as_u64().unwrap();
    let count = |table: &str| -> u64 {
        let answer = printed(&[archive, &format!("SELECT count(*) FROM {table}")]);
        answer.lines().nth(1).unwrap().parse().unwrap()
    };
    assert!(count(TABLE) + count("oasis_system_linux_memory_probe") >= of_api);
}

#[test]
fn a_failed_query_explains_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().to_str().unwrap();
    assert!(Oasis::dac(&["--archive", archive]).stop().success());
    for (arguments, remedy) in [
        (&[archive, "SELECT * FROM motors"][..], ".tables"),
        (&[archive, "SELECT speed FROM test_runs"], ".schema"),
        (&[archive, "DELETE FROM test_runs"], "read-only"),
        (&[archive, "DROP TABLE node"], "read-only"),
        (&[archive], ".help"),
        (&[archive, " "], ".help"),
        (&[archive, ".nothing"], ".help"),
        (&[archive, ".schema nothing"], ".tables"),
        (&["/nowhere", "SELECT 1"], "/nowhere"),
    ] {
        let output = sql(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(remedy), "{arguments:?}: {said}");
    }
}

#[test]
fn an_alarm_is_acknowledged_by_node_and_instance() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.rules"), RULES).unwrap();
    let (archive, rules) = (path("samples").display().to_string(), path("a.rules").display().to_string());
    let dac = Oasis::dac(&["--archive", &archive, "--rules", &rules]);
    let log = fs::File::create(path("node.log")).unwrap();
    let arguments = ["--name", "rack 3", "--dac", dac.channel(), "--probe", "processor@20"];
    let _node = Oasis::node_started_by(oasis(), log, &arguments);
    eventually("an alarm", || (get(&dac, "/api/v1/alarms")["alarms"].as_array()?.len() == 1).then_some(()));
    let ack = |arguments: &[&str]| {
        let url = dac.url();
        oasis().args(["alarms", "--url", &url, "ack", "Runs"]).args(arguments).output().unwrap()
    };
    for wrong in [&["--node", "rack 3"][..], &[], &["--instance", "processor"]] {
        assert!(!ack(wrong).status.success(), "{wrong:?}");
    }
    let done = ack(&["--node", "rack 3", "--instance", "processor"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(get(&dac, "/api/v1/alarms")["alarms"][0]["acknowledged"], true);
}

/// Raised by the first sample.
const RULES: &str = r#"input cpu = "*/processor" : OASIS::System::LinuxProcessorProbe;

alarm Runs {
  raise cpu.idle_time >= 0;
  message "it runs";
}
"#;

#[test]
fn alarms_and_their_journal_are_tables_while_the_dac_runs_and_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (archive, rules) = (path("samples"), path("a.rules"));
    fs::write(&rules, RULES).unwrap();
    let dac = Oasis::dac(&["--archive", &archive, "--rules", &rules]);
    let _node = Oasis::node(dac.channel(), &["--probe", "processor@20"]);
    eventually("an alarm", || (get(&dac, "/api/v1/alarms")["alarms"].as_array()?.len() == 1).then_some(()));

    let queries = [
        "SELECT * FROM alarms",
        "SELECT * FROM Events ORDER BY id",
        "SELECT alarms.state, events.kind FROM alarms JOIN events USING (rule, node, instance)",
    ];
    let of_dac = queries.map(|query| {
        let output = oasis().args(["sql", "--url", &dac.url(), "--format", "csv", query]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(of_dac[2], "state,kind\nactive,raised\n");
    assert_eq!(queries.map(|query| printed(&[&archive, query])), of_dac);
    let names = |tables: String| tables.matches("\nalarms ").count() + tables.matches("\nevents ").count();
    assert_eq!(names(printed(&[&archive, ".tables"])), 2);
    assert!(printed(&[&archive, ".schema events"]).contains("\n  missing\n"));
    assert!(dac.stop().success());
    let named = path("samples-rules");
    assert_eq!(printed(&[&archive, "--rules", &named, queries[0]]), of_dac[0]);
    assert_eq!(printed(&[&archive, queries[1]]), of_dac[1]);

    // The folder that a configuration names.
    fs::rename(&named, path("elsewhere")).unwrap();
    fs::write(path("oasis.toml"), "[archive]\ndirectory = \"gone\"\n[rules]\ndirectory = \"elsewhere\"\n")
        .unwrap();
    assert_eq!(printed(&[&archive, "--config", &path("oasis.toml"), queries[0]]), of_dac[0]);

    // Without it, other tables are there; what is missing is said.
    let failed = |arguments: &[&str]| {
        let output = sql(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(names(printed(&[&archive, ".tables"])), 0);
    assert!(failed(&[&archive, queries[0]]).contains("--rules-dir DIR"));
    let error = failed(&[&archive, "--rules", &named, "SELECT 1"]);
    assert!(error.contains("samples-rules has no alarms"), "{error}");
    assert!(!Path::new(&named).exists());

    // A damaged database hides no other table.
    let damaged = path("elsewhere/alarms.sqlite3");
    fs::write(&damaged, b"no database at all".repeat(500)).unwrap();
    // The log may contain all pages again.
    let _ = fs::remove_file(format!("{damaged}-wal"));
    let config = path("oasis.toml");
    assert_eq!(printed(&[&archive, "--config", &config, "SELECT 1 AS one"]), "one\n1\n");
    let error = failed(&[&archive, "--config", &config, queries[0]]);
    assert!(error.contains("elsewhere/alarms.sqlite3 is damaged"), "{error}");
}
