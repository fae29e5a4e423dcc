//! The queries of `tests/sql` have one answer, whichever engine gives it: `oasis sql`, SQL over HTTP, SQLite over tables of the same rows, and DuckDB over the
//! Parquet export.
//!
//! `OASIS_UPDATE_SQL=1` writes the answers of the two others to the files.

mod archive;
mod cell;
mod engines;
mod random;
mod script;

pub use cell::{Cell, CellRows};
pub use engines::EngineAnswer;
use engines::{ARCHIVE, DUCKDB, GUARDED, TABLES, Tables};
use oasis_query::Sql;
use oasis_store::History;
use script::{Expected, Record};
use std::{collections::BTreeSet, env, fs, path::PathBuf};

/// Queries that the files have at least.
const MIN_QUERIES: usize = 300;

/// Tables of the catalogue.
const VIEWS: [&str; 3] = ["instances", "gaps", "nodes"];

/// Names and texts of the files, in order.
fn files() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The answer as a file has it.
fn shown(answer: EngineAnswer, expected: &Expected) -> Expected {
    match (answer, expected) {
        (Err(error), Expected::Error(part)) if error.contains(part) => Expected::Error(part.clone()),
        (Err(error), _) => Expected::Error(error),
        (Ok(rows), Expected::Rows { types, is_sorted, .. }) => {
            let row = |row: &Vec<Cell>| {
                assert_eq!(row.len(), types.len(), "{types}: {row:?}");
                row.iter()
                    .zip(types.chars())
                    .map(|(cell, letter)| cell.show(letter))
                    .collect::<Vec<_>>()
                    .join("\t")
            };
            let mut rows: Vec<String> = rows.iter().map(row).collect();
            if *is_sorted {
                rows.sort();
            }
            Expected::Rows { types: types.clone(), is_sorted: *is_sorted, rows }
        }
        (Ok(rows), Expected::Error(_)) => Expected::Rows {
            types: String::new(),
            is_sorted: false,
            rows: vec![format!("{} rows", rows.len())],
        },
    }
}

/// The answers of all engines to all queries.
struct Engines {
    folder: tempfile::TempDir,
    sql: Sql,
    tables: Tables,
}

impl Engines {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        archive::create(&folder.path().join("archive"));
        let sql = Sql::open(&folder.path().join("archive")).unwrap();
        let tables = Tables::copy(&sql);
        Self { folder, sql, tables }
    }

    fn duckdb(&self, records: &[&Record]) -> Vec<Option<EngineAnswer>> {
        let of_duckdb: Vec<_> = records.iter().filter(|record| record.is_for(DUCKDB)).collect();
        let queries: Vec<_> = of_duckdb.iter().map(|record| record.sql.as_str()).collect();
        let mut answers = engines::query_duckdb(self.folder.path(), &self.sql, &queries).into_iter();
        records.iter().map(|record| record.is_for(DUCKDB).then(|| answers.next().unwrap())).collect()
    }

    fn of(&self, history: &History, engine: &str, query: &str) -> EngineAnswer {
        match engine {
            ARCHIVE => engines::query(&self.sql, query),
            GUARDED => engines::query_guarded(history, query),
            _ => self.tables.query(query),
        }
    }
}

#[test]
fn all_engines_have_the_answers_of_the_files() {
    let is_update = env::var_os("OASIS_UPDATE_SQL").is_some();
    let answers = Engines::new();
    let history = History::open(&answers.folder.path().join("archive")).unwrap();
    let mut parsed: Vec<_> = files()
        .into_iter()
        .map(|(path, text)| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let records = script::parse(&name, &text);
            (path, name, records)
        })
        .collect();
    let all: Vec<&Record> = parsed.iter().flat_map(|(.., records)| records).flatten().collect();
    let mut of_duckdb = answers.duckdb(&all).into_iter();
    let (mut queries, mut compared, mut wrong) = (0, 0, Vec::new());
    for (path, name, records) in &mut parsed {
        for record in records.iter_mut().flatten() {
            let of_duckdb = of_duckdb.next().unwrap().map(|answer| shown(answer, &record.expected));
            let of = |engine: &str| {
                record
                    .is_for(engine)
                    .then(|| shown(answers.of(&history, engine, &record.sql), &record.expected))
            };
            // Each query opens the archive anew, which takes longest. Only tables of the catalogue differ from those of a folder.
            let is_guarded = queries % 4 == 0 || VIEWS.iter().any(|view| record.sql.contains(view));
            let guarded = is_guarded.then(|| of(GUARDED)).flatten();
            let found = [of(ARCHIVE), guarded, of(TABLES), of_duckdb];
            if is_update && let [archive, _, tables, duckdb] = &found {
                record.expected = duckdb.clone().or(tables.clone()).or(archive.clone()).unwrap();
            }
            for (engine, found) in [ARCHIVE, GUARDED, TABLES, DUCKDB].iter().zip(&found) {
                let Some(found) = found else { continue };
                compared += 1;
                if *found != record.expected {
                    wrong.push(format!(
                        "{name}:{} {engine}\n{}\n{found:#?}\nexpected {:#?}",
                        record.line, record.sql, record.expected
                    ));
                }
            }
            queries += 1;
        }
        if is_update {
            let text =
                |record: &Result<Record, String>| record.as_ref().map_or_else(Clone::clone, Record::text);
            fs::write(path, records.iter().map(text).collect::<Vec<_>>().join("\n")).unwrap();
        }
    }
    println!("{queries} queries, {compared} answers, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(queries >= MIN_QUERIES, "{queries} queries");
}

#[test]
fn each_difference_of_the_engines_is_documented() {
    let page = include_str!("../../../../../docs/reference/sql-engines.md");
    let documented: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(difference, _)| difference)
        .collect();
    let files = files();
    let records: Vec<_> = files.iter().flat_map(|(_, text)| script::parse("", text)).flatten().collect();
    let used: BTreeSet<&str> = records.iter().flat_map(Record::differences).collect();
    assert_eq!(used, documented);
}
