//! SQL over an archive: every sample a row, nothing changed, and no file opened that cannot matter.

use crate::{
    plant::{Node, Plant, STEP, config},
    rollups::eventually,
};
use oasis_query::{Rows, Sql, SqlValue};
use oasis_store::{Description, Note};
use oasis_wire::quantity::Nanos;
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

const ROOM: usize = 8 * 1024 * 1024;

/// An answer as text: columns, then rows.
#[derive(Default)]
struct Answer(Vec<Vec<String>>);

impl Rows for Answer {
    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.0.push(columns.to_vec());
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        let text = |value: &SqlValue<'_>| match value {
            SqlValue::Null => "-".into(),
            SqlValue::Integer(value) => value.to_string(),
            SqlValue::Real(value) => value.to_string(),
            SqlValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
            SqlValue::Blob(_) => panic!("nothing here is a blob"),
        };
        self.0.push(values.iter().map(text).collect());
        Ok(())
    }
}

fn run_query(sql: &Sql, query: &str) -> Vec<Vec<String>> {
    let mut answer = Answer::default();
    sql.query(query, &mut answer).unwrap_or_else(|error| panic!("{query}: {error}"));
    answer.0.split_off(1)
}

/// The only value of the only row.
pub fn one(sql: &Sql, query: &str) -> String {
    let rows = run_query(sql, query);
    let [row] = &rows[..] else { panic!("{query}: {rows:?}") };
    row.join("|")
}

fn refused(sql: &Sql, query: &str) -> String {
    match sql.query(query, &mut Answer::default()) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("{query} has an answer"),
    }
}

/// An archive of 2,000 samples in several files, and the DAC that continues with it.
fn plant(folder: &std::path::Path) -> (Node, Plant) {
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder), &node, ROOM);
    plant.fill(&mut node, 50);
    (node, plant)
}

#[test]
fn files_that_are_being_written_count_and_nodes_were_last_seen_when_they_were_heard() {
    let folder = tempfile::tempdir().unwrap();
    let (mut node, mut plant) = plant(folder.path());
    let is_listed = || one(&Sql::open(folder.path()).unwrap(), "SELECT count(*) FROM nodes") == "1";
    eventually("the node is listed", is_listed);
    node.take(7);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    let counted = "SELECT node, instance, type, samples, last FROM instances";
    let last = "plant|counter|Counter|2007|1970-01-01T00:00:20.060000000Z";
    assert_eq!(one(&Sql::open(folder.path()).unwrap(), counted), last);
    let heard = plant.dac.registry.node("plant").unwrap().last_heard.0.to_string();
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(one(&sql, "SELECT last_seen_ns FROM nodes"), heard);
    assert_eq!(one(&sql, counted), last, "now it is sealed, and counts once");
}

#[test]
fn nodes_without_instances_do_not_fill_the_catalogue() {
    let folder = tempfile::tempdir().unwrap();
    let (_node, plant) = plant(folder.path());
    (0..100).for_each(|number| plant.visit(&format!("stranger {number}")));
    plant.stop();
    assert_eq!(one(&Sql::open(folder.path()).unwrap(), "SELECT name FROM nodes"), "plant");
}

#[test]
fn every_sample_is_a_row_while_the_dac_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (mut node, mut plant) = plant(folder.path());
    let sql = Sql::open(folder.path()).unwrap();
    let all =
        one(&sql, "SELECT count(*), sum(count), min(sequence), max(sequence), max(length(pad)) FROM counter");
    assert_eq!(all, "2000|1999000|1|2000|19");
    let row = one(
        &sql,
        "SELECT time, node, instance, sequence, state, time_ns, run, \"offset\", count FROM counter WHERE count = 7",
    );
    let run = uuid::Uuid::from_u128(1);
    assert_eq!(row, format!("1970-01-01T00:00:00.070000000Z|plant|counter|8|0|70000000|{run}|7|7"));
    node.take(10);
    plant.send(&mut node, true);
    plant.flush().unwrap();
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(one(&sql, "SELECT count(*) FROM counter"), "2010");
}

#[test]
fn conditions_on_time_and_names_keep_files_closed() {
    let folder = tempfile::tempdir().unwrap();
    let (_node, plant) = plant(folder.path());
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    let reads = |query: &str| {
        let before = sql.file_reads();
        let answer = one(&sql, query);
        (answer, sql.file_reads() - before)
    };
    let (all, everything) = reads("SELECT count(*) FROM counter");
    assert_eq!(all, "2000");
    let late = 1_990 * STEP;
    let by_number = format!("SELECT count(*) FROM counter WHERE time_ns >= {late}");
    // One look for where to begin, and one to read.
    let (count, some) = reads(&by_number);
    assert_eq!(count, "10");
    assert!(some < everything, "{some} of {everything}");
    let by_text =
        "SELECT count(*) FROM counter WHERE time BETWEEN '1970-01-01T00:00:10Z' AND '1970-01-01 00:00:10.09'";
    let (count, some) = reads(by_text);
    assert_eq!(count, "10");
    assert!(some < everything, "{some} of {everything}");
    for nothing in [
        "SELECT count(*) FROM counter WHERE node = 'other'",
        "SELECT count(*) FROM counter WHERE instance = 'other' AND node = 'plant'",
        "SELECT count(*) FROM counter WHERE time > '2020-01-01'",
        "SELECT count(*) FROM counter WHERE time_ns < 10 AND time_ns > 20",
        "SELECT count(*) FROM counter WHERE node = NULL",
    ] {
        assert_eq!(reads(nothing), ("0".into(), 0), "{nothing}");
    }
    assert_eq!(
        one(&sql, "SELECT count(*) FROM counter WHERE node = 'plant' AND instance = 'counter'"),
        "2000"
    );
}

#[test]
fn each_way_to_compare_a_time_takes_the_samples_that_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let (_node, plant) = plant(folder.path());
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    let at = 100 * STEP;
    let text = "'1970-01-01T00:00:01Z'";
    for (operator, count) in [("=", 1), (">=", 1_900), (">", 1_899), ("<=", 101), ("<", 100)] {
        for condition in [
            format!("time_ns {operator} {at}"),
            format!("time {operator} {text}"),
            // Other comparisons than of one column with one value are left to SQLite.
            format!("time_ns + 0 {operator} {at}"),
        ] {
            let query = format!("SELECT count(*) FROM counter WHERE {condition}");
            assert_eq!(one(&sql, &query), count.to_string(), "{query}");
        }
    }
    for (condition, count) in
        [("<= 9e999", 2_000), ("< 1e300", 2_000), ("> 9e999", 0), (">= -9e999", 2_000), ("= 1e300", 0)]
    {
        let query = format!("SELECT count(*) FROM counter WHERE time_ns {condition}");
        assert_eq!(one(&sql, &query), count.to_string(), "{query}");
    }
    assert_eq!(
        one(
            &sql,
            &format!("SELECT count(*) FROM counter WHERE time_ns >= {at}.5 AND time_ns < {at} + {STEP}.5")
        ),
        "1"
    );
    let joined = format!(
        "SELECT count(*) FROM counter AS a JOIN counter AS b ON b.time_ns = a.time_ns + {STEP} WHERE a.time_ns < {at}"
    );
    assert_eq!(one(&sql, &joined), "100");
    assert!(refused(&sql, "SELECT * FROM counter WHERE time > 'noon'").contains("2026-05-04T12:00:00Z"));
    assert!(refused(&sql, "SELECT * FROM counter WHERE time > 5").contains("use time_ns"));
    assert!(refused(&sql, "SELECT * FROM counter WHERE time_ns > 'x'").contains("nanoseconds"));
}

#[test]
fn nothing_is_changed_and_no_other_file_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (_node, plant) = plant(folder.path());
    plant
        .archive
        .test_runs()
        .start(Description { name: "a".into(), ..Description::default() }, "", Nanos(1))
        .unwrap();
    let sql = Sql::open(folder.path()).unwrap();
    let other = folder.path().join("other.sqlite");
    for query in [
        "DELETE FROM test_run".into(),
        "INSERT INTO counter VALUES (1)".into(),
        "DROP TABLE segment".into(),
        "DROP TABLE test_runs".into(),
        "CREATE TABLE x (y)".into(),
        "CREATE TEMP TABLE x (y)".into(),
        "PRAGMA user_version = 9".into(),
        format!("VACUUM INTO '{}'", other.display()),
        format!("ATTACH '{}' AS other", other.display()),
        "SELECT 1; DELETE FROM test_run".into(),
        "".into(),
    ] {
        refused(&sql, &query);
    }
    assert!(!other.exists());
    assert_eq!(one(&sql, "SELECT count(*) FROM test_runs"), "1");
}

#[test]
fn runs_annotations_gaps_and_nodes_are_tables_too() {
    let folder = tempfile::tempdir().unwrap();
    let (mut node, mut plant) = plant(folder.path());
    node.lose(5);
    node.take(1);
    plant.send(&mut node, true);
    let runs = plant.archive.test_runs();
    let run = runs.start(
        Description { name: "soak".into(), tags: vec!["b".into(), "a".into()], ..Description::default() },
        "me",
        Nanos(1_500_000_000),
    );
    runs.stop(run.unwrap().id, Nanos(2_000_000_001)).unwrap();
    let note = Note { time: Nanos(5), until: None, text: "noted".into(), targets: vec![] };
    plant.archive.annotations().add(note, "me", Nanos(6)).unwrap();
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(
        one(&sql, "SELECT name, started, started_ns, stopped, tags, pinned, who FROM test_runs"),
        "soak|1970-01-01T00:00:01.500000000Z|1500000000|1970-01-01T00:00:02.000000001Z|[\"a\",\"b\"]|0|me"
    );
    assert_eq!(one(&sql, "SELECT time_ns, until, text, targets FROM annotations"), "5|-|noted|[]");
    assert_eq!(
        one(&sql, "SELECT node, instance, count, cause, from_sequence FROM gaps"),
        "plant|counter|5|unexplained|2001"
    );
    assert_eq!(one(&sql, "SELECT name, host FROM nodes"), "plant|h");
    assert_eq!(
        one(&sql, "SELECT node, instance, type, samples, table_name FROM instances"),
        "plant|counter|Counter|2001|counter"
    );
    assert_eq!(one(&sql, "SELECT count(*) FROM commands"), "0");
    let joined = "SELECT count(*) FROM test_runs JOIN counter ON time_ns >= started_ns AND time_ns < stopped_ns WHERE name = 'soak'";
    assert_eq!(one(&sql, joined), "51");
    let names: Vec<_> = sql.tables().iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["test_runs", "annotations", "gaps", "nodes", "instances", "commands", "counter"]);
    let columns = &sql.table("COUNTER").unwrap().columns;
    assert_eq!(columns[0].0, "time");
    assert_eq!(columns[9..].iter().map(|column| &*column.0).collect::<Vec<_>>(), ["count", "pad"]);
    assert!(sql.table("nothing").unwrap_err().to_string().contains(".tables"));
}

/// Captured log lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_batch_that_does_not_fit_its_schema_is_skipped_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    node.take(40);
    plant.send(&mut node, true);
    // Its first text is longer than the batch.
    let mut batch = node.batch(plant.topic(), 40, 8);
    let text = batch.iter().position(|byte| *byte == b'x').unwrap();
    batch[text - 1] = 0xff;
    plant.send_batch(&batch);
    plant.flush().unwrap();
    let epoch = plant.epoch();
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    let log = Log::default();
    let to = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || to.clone()).finish();
    let samples =
        tracing::subscriber::with_default(subscriber, || one(&sql, "SELECT count(pad) FROM counter"));
    assert_eq!(samples, "40");
    // Metrics after those that the query reads are not decoded.
    assert_eq!(one(&sql, "SELECT sum(count >= 0) FROM counter"), "48");
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let told = format!(r#"left out node="plant" instance="counter" epoch={epoch} offset=40 samples=8"#);
    assert!(log.contains(&told), "{log}");
}

#[test]
fn text_that_is_not_utf_8_is_readable_with_replacement_characters() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::new(1);
    let mut plant = Plant::start(config(folder.path()), &node, ROOM);
    let mut batch = node.batch(plant.topic(), 0, 8);
    let text = batch.iter().position(|byte| *byte == b'x').unwrap();
    batch[text] = 0xff;
    plant.send_batch(&batch);
    plant.flush().unwrap();
    plant.stop();
    let sql = Sql::open(folder.path()).unwrap();
    assert_eq!(one(&sql, "SELECT count(pad) FROM counter"), "8");
    assert_eq!(one(&sql, "SELECT count(*) FROM counter WHERE instr(pad, char(0xfffd)) = 1"), "1");
}

#[test]
fn gaps_of_the_open_file_are_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut node = Node::new(1);
    // A topic log with little more room than a batch takes, and files that are not sealed before the end.
    let config = oasis_store::ArchiveConfig { segment_bytes: 1 << 20, ..config(folder.path()) };
    let mut plant = Plant::start(config, &node, 2_000);
    plant.fill(&mut node, 1);
    for _ in 0..20 {
        node.take(40);
        plant.send(&mut node, true);
    }
    plant.flush().unwrap();
    let missing = plant.account().missing;
    let query = "SELECT node, instance, cause, sum(count), min(from_offset) FROM gaps GROUP BY 1, 2, 3";
    let expected = format!("plant|counter|archive_lag|{missing}|40");
    assert!(missing > 0);
    assert_eq!(one(&Sql::open(folder.path()).unwrap(), query), expected);
    plant.stop();
    assert_eq!(one(&Sql::open(folder.path()).unwrap(), query), expected);
}
