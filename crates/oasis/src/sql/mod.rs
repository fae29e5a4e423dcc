//! `oasis sql`: queries over an archive (`docs/guides/query-with-sql.md`).

#[cfg(feature = "live")]
mod alarms;
mod arguments;
#[cfg(feature = "live")]
mod remote;

pub use arguments::Arguments;

use crate::broken_pipe::is_broken_pipe;
use anyhow::{Context, bail};
use oasis_format::{Format, RowFormat, visible::Visible};
use oasis_query::{Answer, Sql, SqlError, TableInfo};
use std::io::{self, BufWriter, IsTerminal, Read, Write};

/// Longest query on standard input, in bytes.
const MAX_QUERY_BYTES: u64 = 1024 * 1024;

const HELP: &str = "A query is one SELECT of SQLite's SQL, such as
  SELECT node, count(*), avg(idle_time) FROM oasis_system_linux_processor_probe WHERE time >= '2026-05-04' GROUP BY node
and these are about the tables:
  .tables        all tables
  .schema TABLE  its columns and their units
  .help          this";

/// Answers one query.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let query = match &arguments.query {
        Some(query) => query.clone(),
        None => from_standard_input()?,
    };
    if query.trim().is_empty() {
        bail!("no query: pass one as an argument or on standard input, or use .tables or .help");
    }
    #[cfg(feature = "live")]
    if let Some(server) = arguments.server()? {
        return remote::run(&server, query.trim(), arguments.format());
    }
    let archive = arguments.archive.find()?;
    let mut sql = Sql::open(&archive)?;
    add_audit_log(&mut sql, arguments, &query)?;
    #[cfg(feature = "live")]
    alarms::add(&mut sql, arguments, &archive, &query)?;
    let out = BufWriter::new(io::stdout().lock());
    match answer(&sql, query.trim(), arguments.format(), out) {
        // `oasis sql | head` is not an error.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        other => other?,
    }
    if arguments.stats {
        eprintln!("a segment file was opened {} times", sql.file_reads());
    }
    Ok(())
}

/// Adds the audit log, if its folder is named.
fn add_audit_log(sql: &mut Sql, arguments: &Arguments, query: &str) -> anyhow::Result<()> {
    let Some(access) = &arguments.access else { return Ok(()) };
    let audit = access.join("audit");
    if !audit.is_dir() {
        bail!("there is no audit log at {}: is it the folder that --access names?", audit.display());
    }
    Ok(sql.add(oasis_query::audit_log(audit), query)?)
}

fn from_standard_input() -> anyhow::Result<String> {
    if io::stdin().is_terminal() {
        return Ok(".tables".into());
    }
    let mut query = String::new();
    let read = io::stdin().take(MAX_QUERY_BYTES + 1).read_to_string(&mut query)?;
    if read as u64 > MAX_QUERY_BYTES {
        bail!("the query on standard input exceeds {MAX_QUERY_BYTES} bytes");
    }
    Ok(query)
}

fn answer(
    sql: &Sql,
    query: &str,
    format: Option<&'static Format>,
    mut out: impl Write,
) -> anyhow::Result<()> {
    if let Some(about) = query.strip_prefix('.') {
        print_about(sql, about, &mut out)?;
        return Ok(out.flush()?);
    }
    let format = rows_of(format)?;
    let mut writer = (format.open)(&mut out);
    run_query(sql, query, &mut Answer(&mut *writer))?;
    Ok(writer.finish()?)
}

fn run_query(sql: &Sql, query: &str, rows: &mut Answer<'_>) -> anyhow::Result<()> {
    match sql.query(query, rows) {
        Err(SqlError::Output(error)) => Err(error.into()),
        Err(error @ (SqlError::Sqlite(_) | SqlError::Statement { .. })) => {
            let error = error.to_string();
            let says = |what: &str| error.contains(what);
            let remedy = match () {
                () if says("no such table: alarms") || says("no such table: events") => {
                    " (the DAC's rules have a directory of their own: name it with --rules-dir DIR)"
                }
                () if says("no such table") || says("no such column") => {
                    " (.tables and .schema TABLE list names)"
                }
                () if says("Multiple statements") => " (write one SELECT at a time)",
                () => "",
            };
            bail!("the query failed: {error}{remedy}")
        }
        other => Ok(other?),
    }
}

/// Returns the format of rows; without one that which suits the output.
fn rows_of(format: Option<&'static Format>) -> anyhow::Result<&'static RowFormat> {
    let default = oasis_format::find(if io::stdout().is_terminal() { "table" } else { "csv" });
    let format = format.or(default).and_then(|format| format.rows.as_ref());
    format.context("the format does not support query results")
}

/// Prints what a command that starts with a dot asks for.
fn print_about(sql: &Sql, about: &str, out: &mut impl Write) -> anyhow::Result<()> {
    match about.split_whitespace().collect::<Vec<_>>()[..] {
        ["tables"] => print_tables(sql.tables(), out)?,
        ["schema", name] => print_schema(sql.table(name)?, out)?,
        ["help"] => writeln!(out, "{HELP}")?,
        _ => bail!("unknown command .{about}: use .tables, .schema TABLE or .help"),
    }
    Ok(())
}

fn print_tables(tables: &[TableInfo], out: &mut impl Write) -> io::Result<()> {
    let width = tables.iter().map(|table| table.name.len()).max().unwrap_or_default();
    tables
        .iter()
        .try_for_each(|TableInfo { name, about, .. }| writeln!(out, "{name:width$}  {}", Visible(about)))
}

fn print_schema(table: &TableInfo, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}: {}", table.name, Visible(&table.about))?;
    table.columns.iter().try_for_each(|(column, unit)| {
        let unit = unit.as_ref().map(|unit| format!("  [{unit}]")).unwrap_or_default();
        writeln!(out, "  {}{}", Visible(column), Visible(&unit))
    })
}
