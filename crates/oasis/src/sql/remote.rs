//! Queries that a running DAC answers.

use super::{HELP, print_schema, print_tables, rows_of};
use crate::broken_pipe::is_broken_pipe;
use anyhow::{Context, bail};
use oasis_client::{Api, Server};
use oasis_format::{Format, table::Cell};
use oasis_query::TableInfo;
use oasis_site::api;
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use ureq::http::Method;

/// Answers one query, or a command that starts with a dot.
pub fn run(server: &Server, query: &str, format: Option<&'static Format>) -> anyhow::Result<()> {
    let api = api::at(server)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match query.strip_prefix('.') {
        Some(about) => print_about(&api, about, &mut out).and_then(|()| Ok(out.flush()?)),
        None => answer(&api, query, format, &mut out),
    };
    match done {
        // `oasis sql | head` is not an error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn answer(
    api: &Api,
    query: &str,
    format: Option<&'static Format>,
    mut out: &mut impl Write,
) -> anyhow::Result<()> {
    let format = rows_of(format)?;
    let body = json!({"query": query});
    let answer = api.send(Method::POST, "/sql", Some(&body)).context("the query failed")?;
    let mut writer = (format.open)(&mut out);
    let columns: Vec<String> = serde_json::from_value(answer["columns"].clone())?;
    writer.begin(&columns)?;
    for row in answer["rows"].as_array().into_iter().flatten() {
        let cells: Vec<_> = row.as_array().into_iter().flatten().map(cell).collect();
        writer.row(&cells)?;
    }
    writer.finish()?;
    drop(writer);
    if answer["more"] == true {
        eprintln!("the answer is cut at the limits of the DAC: aggregate, or add conditions or LIMIT");
    }
    Ok(())
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Nothing,
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cell::Int(whole),
            None => Cell::Real64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cell::Text(text.as_str().into()),
        other => Cell::Text(other.to_string().into()),
    }
}

fn print_about(api: &Api, about: &str, out: &mut impl Write) -> anyhow::Result<()> {
    match about.split_whitespace().collect::<Vec<_>>()[..] {
        ["tables"] => print_tables(&tables(api)?, out)?,
        ["schema", name] => {
            let all = tables(api)?;
            let table = all.iter().find(|table| table.name.eq_ignore_ascii_case(name));
            print_schema(
                table.with_context(|| format!("no table {name:?}: list tables with .tables"))?,
                out,
            )?;
        }
        ["help"] => writeln!(out, "{HELP}")?,
        _ => bail!("unknown command .{about}: use .tables, .schema TABLE or .help"),
    }
    Ok(())
}

fn tables(api: &Api) -> anyhow::Result<Vec<TableInfo>> {
    let answer = api.get("/sql", &[])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let column = |column: &Value| (text(&column["name"]), column["unit"].as_str().map(str::to_owned));
    let table = |table: &Value| TableInfo {
        name: text(&table["name"]),
        about: text(&table["about"]),
        columns: table["columns"].as_array().into_iter().flatten().map(column).collect(),
        types: Vec::new(),
    };
    Ok(answer["tables"].as_array().into_iter().flatten().map(table).collect())
}
