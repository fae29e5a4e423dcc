//! DuckDB over the Parquet export gives the same answers as SQL over the archive.
//!
//! `OASIS_QUERY_SEED=7` asks other questions of another archive.

use crate::{
    logic::{Cell, CellRows, EngineAnswer},
    plant::{EPOCH, Plant, number},
};
use fastrand::Rng;
use oasis_format::Source;
use oasis_history::{SampleOrMissing, Samples};
use oasis_query::Sql;
use oasis_store::{History, Series};
use oasis_wire::schema::ProbeType;
use serde_json::{Map, Value, json};
use std::{
    env,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

/// Queries of one run.
const QUERIES: usize = 300;

/// Writes all samples of a type to a Parquet file.
pub fn export(history: &History, path: &Path, of: &ProbeType) {
    let format = oasis_format::find("parquet").unwrap().samples.as_ref().unwrap();
    let mut file = File::create(path).unwrap();
    let mut writer = (format.open)(&mut file, &oasis_format::WriteOptions::default()).unwrap();
    for (node, instance) in history.instances().unwrap() {
        let mut samples = Samples::new(history, (&node, &instance), 0, None, 1 << 20);
        while let Some(item) = samples.next().unwrap() {
            let SampleOrMissing::Sample(series, state, sample) = item else { continue };
            if *series.probe_type != *of {
                continue;
            }
            let Series { node, instance, kind, run, epoch, probe_type } = Series::clone(&series);
            let source = Arc::new(Source { node, instance, kind, run, epoch, probe_type });
            writer.sample(&source, state, &sample).unwrap();
        }
    }
    writer.finish().unwrap();
}

fn condition(random: &mut Rng, depth: usize) -> String {
    if depth > 0 && random.u8(..3) > 0 {
        let word = ["AND", "OR"][random.usize(..2)];
        let not = if random.u8(..5) == 0 { "NOT " } else { "" };
        return format!("{not}({} {word} {})", condition(random, depth - 1), condition(random, depth - 1));
    }
    let operator = ["=", "<", "<=", ">", ">=", "<>"][random.usize(..6)];
    match random.u8(..9) {
        0 => format!("node {operator} 'plant'"),
        1 => "instance IN ('a', 'none')".to_owned(),
        2 => format!("value {operator} {}", random.u32(..60)),
        3 => format!("level {operator} {}", random.i32(-40..40)),
        4 => format!("count {operator} {}", random.i32(-40..40)),
        5 => format!("text LIKE '%{}%'", ['a', 'ä', '%', 'z'][random.usize(..4)]),
        6 => format!("level IS {}NULL", ["", "NOT "][random.usize(..2)]),
        7 => {
            let from = EPOCH + random.u64(..300);
            format!("time_ns BETWEEN {from} AND {}", from + random.u64(..100))
        }
        _ => format!("time_ns {operator} {}", EPOCH - 20 + random.u64(..420)),
    }
}

fn query(random: &mut Rng) -> String {
    let condition = condition(random, 3);
    let grouped = ["node", "node, instance", "instance, epoch", "text", "value % 7"][random.usize(..5)];
    match random.u8(..5) {
        0 => format!(
            "SELECT node, instance, run, sequence, time_ns, value, level, count, text FROM probe WHERE {condition}"
        ),
        1 => format!(
            "SELECT count(*), count(level), min(time_ns), max(time_ns) - min(time_ns), sum(count), avg(level), max(text) FROM probe WHERE {condition}"
        ),
        2 => format!(
            "SELECT {grouped}, count(*), min(level), max(value), sum(value) FROM probe WHERE {condition} GROUP BY {grouped} HAVING count(*) > {}",
            random.u8(..4)
        ),
        3 => format!("SELECT DISTINCT {grouped} FROM probe WHERE {condition}"),
        _ => format!(
            "SELECT a.sequence, b.sequence, a.level FROM probe a JOIN probe b ON a.time_ns = b.time_ns AND a.run = b.run AND a.node = b.node AND a.instance = b.instance WHERE a.value < 9 AND ({})",
            condition_of("a", &condition)
        ),
    }
}

/// The same of one side of a join.
fn condition_of(table: &str, condition: &str) -> String {
    ["node", "instance", "value", "level", "count", "text", "time_ns"]
        .iter()
        .fold(condition.to_owned(), |text, column| {
            text.replace(&format!("{column} "), &format!("{table}.{column} "))
        })
}

/// Asks DuckDB about Parquet files, each a table, after other statements.
pub fn answers(tables: &[(String, PathBuf)], statements: &[String], queries: &[&str]) -> Vec<EngineAnswer> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let python = env::var("OASIS_TEST_PYTHON").unwrap_or_else(|_| format!("{root}/target/venv/bin/python"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/ask_duckdb.py");
    let mut child = Command::new(&python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{python}: {error}; make table-readers installs what is needed"));
    let tables: Map<String, Value> = tables.iter().map(|(name, path)| (name.clone(), json!(path))).collect();
    let asked = json!({"tables": tables, "statements": statements, "queries": queries}).to_string();
    child.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    let answers: Vec<Value> = serde_json::from_slice(&done.stdout).unwrap();
    let answer = |answer: Value| match answer {
        Value::String(error) => Err(error),
        answer => {
            let row = |row: &Value| row.as_array().unwrap().iter().map(Cell::of_duckdb).collect();
            Ok(answer.as_array().unwrap().iter().map(row).collect())
        }
    };
    answers.into_iter().map(answer).collect()
}

/// Sorts the rows, and rounds reals: sums have another order.
fn in_order(rows: Vec<Vec<Cell>>) -> Vec<String> {
    let cell = |cell: &Cell| match cell {
        Cell::Integer(number) => format!("{:.9e}", *number as f64),
        Cell::Real(number) => format!("{:.9e}", number + 0.0),
        other => format!("{other:?}"),
    };
    let mut rows: Vec<String> =
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect();
    rows.sort();
    rows
}

#[test]
fn queries_have_the_answers_of_duckdb() {
    let seed = number("OASIS_QUERY_SEED", 0);
    let mut random = Rng::with_seed(seed);
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let plant = Plant::with_all_metrics();
    for _ in 0..6 {
        plant.import(&archive, &mut random);
    }
    let parquet = folder.path().join("samples.parquet");
    export(&History::open(&archive).unwrap(), &parquet, &plant.probe_type);
    let queries: Vec<String> = (0..QUERIES).map(|_| query(&mut random)).collect();
    let sql = Sql::open(&archive).unwrap();
    let mut with_rows = 0;
    let asked: Vec<&str> = queries.iter().map(String::as_str).collect();
    for (query, expected) in queries.iter().zip(answers(&[("probe".into(), parquet)], &[], &asked)) {
        let mut found = CellRows::default();
        sql.query(query, &mut found).unwrap_or_else(|error| panic!("{query}: {error}"));
        let expected = expected.unwrap_or_else(|error| panic!("{query}: {error}"));
        with_rows += usize::from(found.0.len() > 1);
        assert_eq!(in_order(found.0), in_order(expected), "OASIS_QUERY_SEED={seed}: {query}");
    }
    assert!(with_rows > QUERIES / 4, "only {with_rows} queries have rows");
}
