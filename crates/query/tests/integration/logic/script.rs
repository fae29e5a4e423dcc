//! Files in the format of sqllogictest: a query, a line `----`, and its rows with a tab between cells.
//!
//! A record is lines without an empty line between them:
//!
//! ```text
//! # A comment.
//! skipif duckdb # division
//! query IRT rowsort
//! SELECT value, level, text FROM plant_pump
//! ----
//! 1 (tab) 0.5 (tab) a
//! ```
//!
//! `I`, `R` and `T` are an integer, a real and a text. `statement error PART` expects an error whose text has the part. The word after `#` of `skipif` and
//! `onlyif` is the difference of the engines, a row of the table in `docs/reference/sql-engines.md`.

use std::fmt::Write;

/// The result that a record expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Rows, as lines. The letters are the types of the columns.
    Rows { types: String, is_sorted: bool, rows: Vec<String> },
    /// An error whose text has this part.
    Error(String),
}

/// A query and its expected result.
#[derive(Debug, Clone)]
pub struct Record {
    /// Number of the line of the query.
    pub line: usize,
    /// The lines before the query.
    head: Vec<String>,
    pub sql: String,
    pub expected: Expected,
    /// Engines, each with a difference.
    skipped: Vec<(String, String)>,
    only: Option<(String, String)>,
}

impl Record {
    /// Whether an engine runs the query.
    pub fn is_for(&self, engine: &str) -> bool {
        let is_skipped = self.skipped.iter().any(|(skipped, _)| skipped == engine);
        !is_skipped && self.only.as_ref().is_none_or(|(only, _)| only == engine)
    }

    /// The differences of engines that the record names.
    pub fn differences(&self) -> impl Iterator<Item = &str> {
        self.skipped.iter().chain(&self.only).map(|(_, difference)| difference.as_str())
    }

    /// The text of the record.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.head.iter().chain([&self.sql]) {
            writeln!(text, "{line}").unwrap();
        }
        if let Expected::Rows { rows, .. } = &self.expected {
            text += "----\n";
            for row in rows {
                writeln!(text, "{row}").unwrap();
            }
        }
        text
    }
}

/// Reads a file. Comments without a query are records of their own, as text.
pub fn parse(name: &str, text: &str) -> Vec<Result<Record, String>> {
    let mut records = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    for (at, line) in text.lines().chain([""]).enumerate() {
        if !line.is_empty() {
            block.push(line);
        } else if !block.is_empty() {
            records.push(record(name, 1 + at - block.len(), &block));
            block.clear();
        }
    }
    records
}

fn record(name: &str, first: usize, lines: &[&str]) -> Result<Record, String> {
    let (mut skipped, mut only) = (Vec::new(), None);
    for (at, line) in lines.iter().enumerate() {
        let place = format!("{name}:{}", first + at);
        let condition = |rest: &str| {
            let (engine, difference) =
                rest.split_once(" # ").unwrap_or_else(|| panic!("{place}: no difference"));
            (engine.to_owned(), difference.to_owned())
        };
        let expected = match line.split_once(' ').unwrap_or((line, "")) {
            ("#", _) => continue,
            ("skipif", rest) => {
                skipped.push(condition(rest));
                continue;
            }
            ("onlyif", rest) => {
                only = Some(condition(rest));
                continue;
            }
            ("statement", rest) => {
                let part = rest.strip_prefix("error ").unwrap_or_else(|| panic!("{place}: {line}"));
                Expected::Error(part.to_owned())
            }
            ("query", rest) => {
                let (types, sorting) = rest.split_once(' ').unwrap_or((rest, "nosort"));
                assert!(["nosort", "rowsort"].contains(&sorting), "{place}: {sorting}");
                let dashes = lines.iter().position(|line| *line == "----").unwrap_or(lines.len());
                let rows = lines.iter().skip(dashes + 1).map(|row| (*row).to_owned()).collect();
                Expected::Rows { types: types.to_owned(), is_sorted: sorting == "rowsort", rows }
            }
            _ => panic!("{place}: {line}"),
        };
        let end = lines.iter().position(|line| *line == "----").unwrap_or(lines.len());
        let head = lines[..=at].iter().map(|line| (*line).to_owned()).collect();
        let sql = lines[at + 1..end].join("\n");
        return Ok(Record { line: first + at, head, sql, expected, skipped, only });
    }
    Err(lines.join("\n") + "\n")
}
