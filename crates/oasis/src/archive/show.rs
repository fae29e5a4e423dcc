//! `oasis archive show`: shows the content of an archive.

use super::{count, size};
use crate::output_format::Format;
use anyhow::Context;
use oasis_format::visible::Visible;
use oasis_query::{Rows, Sql, SqlValue};
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Write},
    path::Path,
};

/// The content of the catalogue and of open files, as one JSON text.
const QUERY: &str = "SELECT json_object(
  'samples', (SELECT coalesce(sum(samples), 0) FROM instances),
  'instances', json((SELECT json_group_array(json_object('node', node, 'instance', instance, 'type', type, 'version', version,
      'samples', samples, 'first', first, 'last', last)) FROM (SELECT * FROM instances ORDER BY node, instance, first))),
  'missing', json((SELECT json_group_array(json_object('cause', cause, 'samples', samples, 'places', places))
      FROM (SELECT cause, sum(count) AS samples, count(*) AS places FROM gaps GROUP BY cause ORDER BY cause))),
  'test_runs', (SELECT count(*) FROM test_runs),
  'annotations', (SELECT count(*) FROM annotations))";

/// Prints it.
pub fn run(folder: &Path, format: Format) -> anyhow::Result<()> {
    let mut answer = Answer::default();
    Sql::open(folder)?.query(QUERY, &mut answer)?;
    let mut archive: Value =
        serde_json::from_str(&answer.0).context("the catalogue returned invalid JSON")?;
    let (segments, rollups) = (files(folder, "oseg")?, files(folder, "oroll")?);
    archive["segment_files"] = json!({"files": segments.0, "bytes": segments.1});
    archive["rollup_files"] = json!({"files": rollups.0, "bytes": rollups.1});
    let mut out = io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{archive}")?,
        Format::Text => print(&mut out, folder, &archive)?,
    }
    Ok(())
}

/// Receives the result, a single text.
#[derive(Default)]
struct Answer(String);

impl Rows for Answer {
    fn begin(&mut self, _: &[String]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> io::Result<()> {
        if let Some(SqlValue::Text(text)) = values.first() {
            self.0 = String::from_utf8_lossy(text).into_owned();
        }
        Ok(())
    }
}

/// Number and bytes of files with this extension.
fn files(folder: &Path, ending: &str) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == ending) {
            files += 1;
            // An evicted file has no size.
            bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        }
    }
    Ok((files, bytes))
}

fn print(out: &mut impl Write, folder: &Path, archive: &Value) -> io::Result<()> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let of = |kind: &str, one: &str, many: &str| {
        let files = &archive[kind];
        format!("{}, {}", count(number(&files["files"]), one, many), size(number(&files["bytes"])))
    };
    let samples = number(&archive["samples"]);
    writeln!(
        out,
        "{}: {}{} in {}; {}",
        folder.display(),
        count(samples, "sample", "samples"),
        each(number(&archive["segment_files"]["bytes"]), samples),
        of("segment_files", "segment file", "segment files"),
        of("rollup_files", "roll-up file", "roll-up files")
    )?;
    let rows: Vec<_> = list(archive, "instances").map(row).collect();
    columns(out, &rows)?;
    let missing: Vec<_> = list(archive, "missing")
        .map(|of| {
            format!(
                "{} {} ({})",
                number(&of["samples"]),
                Visible(text(of, "cause")),
                count(number(&of["places"]), "place", "places")
            )
        })
        .collect();
    if !missing.is_empty() {
        writeln!(out, "missing: {}", missing.join(", "))?;
    }
    let [runs, notes] = ["test_runs", "annotations"].map(|key| number(&archive[key]));
    if runs + notes > 0 {
        let (runs, notes) = (count(runs, "test run", "test runs"), count(notes, "annotation", "annotations"));
        writeln!(out, "{runs}, {notes}")?;
    }
    Ok(())
}

/// Formats the bytes of a sample.
fn each(bytes: u64, samples: u64) -> String {
    if samples == 0 { String::new() } else { format!(" ({:.1} bytes each)", bytes as f64 / samples as f64) }
}

fn list<'a>(archive: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    archive[key].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn row(instance: &Value) -> [String; 5] {
    let name = format!("{}/{}", text(instance, "node"), text(instance, "instance"));
    let probe_type = format!("{} {}", text(instance, "type"), text(instance, "version"));
    let samples = instance["samples"].to_string();
    // To the millisecond: the column has nanoseconds.
    let time = |key| text(instance, key).get(..23).map(|time| format!("{time}Z")).unwrap_or_default();
    [name, probe_type, samples, time("first"), time("last")].map(|cell| Visible(&cell).to_string())
}

fn columns(out: &mut impl Write, rows: &[[String; 5]]) -> io::Result<()> {
    let head = ["INSTANCE", "TYPE", "SAMPLES", "OLDEST", "NEWEST"].map(str::to_owned);
    let all = || std::iter::once(&head).filter(|_| !rows.is_empty()).chain(rows);
    let width = |at: usize| all().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2, 3, 4].map(width);
    for row in all() {
        let [name, probe_type, samples, first, last] = row;
        let [a, b, c, d, _] = widths;
        writeln!(out, "{name:a$}  {probe_type:b$}  {samples:>c$}  {first:d$}  {last}")?;
    }
    Ok(())
}
