//! SQL over the PostgreSQL protocol: psql, psycopg, and the queries of Grafana and DBeaver.

use crate::{
    harness::{Guarded, eventually, oasis, repository},
    tls::Site,
};
use serde_json::{Value, json};
use std::{
    fs,
    process::{Command, Output},
};

/// Runs psql as this user, with this password and these arguments.
pub fn psql(address: &str, (user, password): (&str, &str), arguments: &[&str]) -> Output {
    let (host, port) = address.rsplit_once(':').unwrap();
    let mut command = Command::new("psql");
    command.args(["-X", "-w", "-h", host, "-p", port, "-U", user, "-d", "plant"]).args(arguments);
    command.env("PGPASSWORD", password).env("PGSSLMODE", "disable").env("PGCONNECT_TIMEOUT", "20");
    command.output().unwrap_or_else(|error| panic!("psql: {error}; make postgresql installs it"))
}

/// The rows of a query, with a line for each.
fn lines(guarded: &Guarded, user: (&str, &str), query: &str) -> String {
    let output = psql(guarded.dac.fact("postgresql"), user, &["-A", "-t", "-F", ",", "-c", query]);
    assert!(output.status.success(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(guarded: &Guarded, user: (&str, &str), query: &str) -> String {
    let output = psql(guarded.dac.fact("postgresql"), user, &["-v", "VERBOSITY=verbose", "-c", query]);
    assert!(!output.status.success(), "{query}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn psql_gets_the_rows_of_the_http_query() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let (_b, _) = guarded.node("b", 2);
    let me = ("me", "");
    for query in [
        "SELECT node, instance, sequence, state, run, epoch FROM beat ORDER BY node, sequence",
        "SELECT node, count(*), max(sequence), avg(sequence) FROM beat GROUP BY node ORDER BY node",
        "SELECT name FROM nodes ORDER BY name",
        "SELECT node, cause, count FROM gaps ORDER BY node",
        "SELECT count(*) FROM beat WHERE time > '2026-05-04' AND node = 'a'",
    ] {
        let over_http = guarded.json("", "POST", "/api/v1/sql", Some(&json!({"query": query})));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let rows = over_http["rows"].as_array().unwrap().iter().map(|row| {
            let values: Vec<_> = row.as_array().unwrap().iter().map(text).collect();
            values.join(",").replace(".0", "") + "\n"
        });
        assert_eq!(lines(&guarded, me, query), rows.collect::<String>(), "{query}");
    }
    assert_eq!(
        lines(&guarded, me, "SELECT time FROM beat WHERE node = 'a' LIMIT 1"),
        "2026-05-04 12:00:00+00\n",
        "microseconds, in UTC"
    );
    let recorded = "SELECT count(*) > 0 FROM audit_log WHERE action = 'sql' AND arguments LIKE '%SELECT name FROM nodes%'";
    assert_eq!(lines(&guarded, me, recorded), "1\n");
    let listed = guarded.json("", "GET", "/api/v1/handlers", None);
    let server =
        listed["handlers"].as_array().unwrap().iter().find(|h| h["name"] == "postgresql_protocol").unwrap();
    assert!(
        server["state"]["queries"].as_u64().unwrap() >= 7 && server["state"]["answer_bytes"] == 0,
        "{server}"
    );
    // Stopped and started, it is at the same port.
    guarded.json("", "POST", "/api/v1/handlers/postgresql_protocol/stop", None);
    eventually("nothing listens", || {
        (!psql(guarded.dac.fact("postgresql"), me, &["-c", "SELECT 1"]).status.success()).then_some(())
    });
    guarded.json("", "POST", "/api/v1/handlers/postgresql_protocol/start", None);
    eventually("it listens again", || {
        psql(guarded.dac.fact("postgresql"), me, &["-c", "SELECT 1"]).status.success().then_some(())
    });
}

#[test]
fn queries_of_psql_grafana_and_dbeaver_are_answered() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    for name in ["psql", "grafana", "dbeaver"] {
        let path = repository().join(format!("tests/end_to_end/postgresql_protocol/{name}.sql"));
        let path = path.display().to_string();
        let output =
            psql(guarded.dac.fact("postgresql"), ("me", ""), &["-q", "-v", "ON_ERROR_STOP=1", "-f", &path]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let me = ("me", "");
    let tables =
        "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public'";
    assert!(lines(&guarded, me, tables).lines().any(|name| name == "beat"));
    let columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'beat' AND ordinal_position < 5 ORDER BY ordinal_position";
    let wanted = "time,timestamp with time zone\nnode,text\ninstance,text\nsequence,bigint\n";
    assert_eq!(lines(&guarded, me, columns), wanted);
    let described = psql(guarded.dac.fact("postgresql"), me, &["-A", "-t", "-c", "\\d beat"]);
    assert!(String::from_utf8_lossy(&described.stdout).starts_with("time|timestamp with time zone|"));
}

#[test]
fn each_query_of_the_dashboard_of_grafana_is_answered() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let path = repository().join("packaging/grafana/dashboards/oasis.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let targets =
        dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let queries = targets
        .filter_map(|target| target["rawSql"].as_str())
        .chain(variables.filter_map(|variable| variable["query"].as_str()));
    let mut asked = 0;
    for query in queries {
        let expanded = expand(query);
        assert!(!expanded.contains("$"), "{expanded}");
        let rows = lines(&guarded, ("me", ""), &expanded);
        assert!(!rows.is_empty() || query.contains("alarms") || query.contains("gaps"), "{expanded}");
        asked += 1;
    }
    assert!(asked >= 5, "{asked}");
}

/// Expands the macros and variables of a panel as Grafana does, over the hour of the samples.
fn expand(query: &str) -> String {
    let times = "BETWEEN '2026-05-04T11:30:00Z' AND '2026-05-04T12:30:00Z'";
    [
        ("$__timeFilter(time)", format!("time {times}")),
        (
            "$__timeGroupAlias(time,$__interval)",
            "floor(extract(epoch from time)/60)*60 AS \"time\"".to_owned(),
        ),
        ("$__timeFrom()", "'2026-05-04T11:30:00Z'".to_owned()),
        ("$__timeTo()", "'2026-05-04T12:30:00Z'".to_owned()),
        ("${type}", "beat".to_owned()),
        ("${node:sqlstring}", "'a'".to_owned()),
    ]
    .into_iter()
    .fold(query.to_owned(), |query, (part, by)| query.replace(part, &by))
}

#[test]
fn psycopg_reads_text_and_binary_and_understands_errors() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let python = std::env::var("OASIS_TEST_PYTHON")
        .unwrap_or_else(|_| repository().join("target/venv/bin/python").to_string_lossy().into_owned());
    let script = repository().join("tests/end_to_end/postgresql_protocol/client.py");
    let port = guarded.dac.fact("postgresql").rsplit_once(':').unwrap().1.to_owned();
    let done = Command::new(&python).arg(script).arg(port).output();
    let done = done.unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = json!([
        ["2026-05-04T12:00:00+00:00", "a", 1, 0.5, null],
        ["2026-05-04T12:00:00+00:00", "a", 3, 1.5, null]
    ]);
    assert_eq!((&found["text"], &found["binary"]), (&rows, &rows));
    assert_eq!(found["types"], json!([1184, 25, 20, 701, 17, 25]));
    assert_eq!((&found["streamed"], &found["many"]), (&json!(2_500), &json!(2_500 * 2_501 / 2)));
    assert_eq!((&found["array"], &found["nested"]), (&json!(1), &json!(1)));
    assert_eq!(found["prepared"], json!([1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!((&found["number as text"], &found["unknown as number"]), (&json!(1), &json!(1)));
    assert_eq!(found["pipeline"], json!([0, 1, 2, 3, 4]));
    let errors = json!([["42703", "8"], ["25P02", null], ["42P01", "15"], ["25006", "1"], ["0A000", "13"]]);
    assert_eq!(found["errors"], errors);
}

#[test]
fn accounts_and_tokens_have_their_own_rights() {
    let guarded = Guarded::new();
    let (_a, _) = guarded.node("a", 1);
    let (_b, _) = guarded.node("b", 2);
    let token = guarded.token("a", &["read a/*", "sql */*"]);
    let of_token = ("token", token.as_str());
    assert_eq!(lines(&guarded, of_token, "SELECT DISTINCT node FROM beat"), "a\n");
    assert!(!lines(&guarded, of_token, "SELECT tablename FROM pg_tables").contains("audit_log"));
    let wrong = refusal(&guarded, ("token", "oasis_00000000_x"), "SELECT 1");
    assert!(wrong.contains("password") || wrong.contains("token"), "{wrong}");
    let reader = guarded.token("reader", &["read */*"]);
    let refused = refusal(&guarded, ("token", &reader), "SELECT 1");
    assert!(refused.contains("sql"), "{refused}");
    for (query, code) in [
        ("SELECT * FROM nope", "42P01"),
        ("INSERT INTO beat VALUES (1)", "25006"),
        ("CREATE TABLE x (y int)", "25006"),
        ("SELECT load_extension('x')", "42501"),
        ("COPY beat TO STDOUT", "0A000"),
        ("SELECT seq FROM audit_log", "42P01"),
        ("SELECT pg_sleep(1)", "42883"),
        ("SELECT 1 FROM beat WHERE", "42601"),
        ("SET TimeZone TO nowhere; SET nonsense = 1", "42704"),
    ] {
        let refused = refusal(&guarded, of_token, query);
        assert!(refused.contains(code), "{query}: {refused}");
    }
}

#[test]
fn a_dac_with_a_certificate_speaks_tls() {
    let site = Site::new();
    let config = site.folder.path().join("oasis.toml");
    let archive = site.folder.path().join("archive").display().to_string();
    fs::write(&config, "[postgresql_protocol]\nlisten = \"127.0.0.1:0\"\n").unwrap();
    let dac = site.dac(&["--config", &config.display().to_string(), "--archive", &archive]);
    let port = dac.fact("postgresql").rsplit_once(':').unwrap().1.to_owned();
    let asked = |mode: &str, ca: &str| {
        let mut command = Command::new("psql");
        command.args([
            "-X",
            "-w",
            "-h",
            "localhost",
            "-p",
            &port,
            "-U",
            "me",
            "-d",
            "plant",
            "-A",
            "-t",
            "-c",
            "SELECT 1",
        ]);
        command.env("PGSSLMODE", mode).env("PGSSLROOTCERT", ca).output().unwrap()
    };
    let verified = asked("verify-full", &site.ca());
    assert_eq!(
        String::from_utf8_lossy(&verified.stdout),
        "1\n",
        "{}",
        String::from_utf8_lossy(&verified.stderr)
    );
    assert!(!asked("verify-full", "/nonexistent").status.success());
    assert!(asked("disable", "").status.success(), "on this host");
}

#[test]
fn a_dac_without_an_archive_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("oasis.toml");
    fs::write(&config, "[postgresql_protocol]\nlisten = \"127.0.0.1:0\"\n").unwrap();
    let dac = ["dac", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0", "--config"];
    let refused = oasis().args(dac).arg(&config).output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && error.contains("--archive DIR"), "{error}");
}
