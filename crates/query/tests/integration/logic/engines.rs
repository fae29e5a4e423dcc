//! The engines that answer the same queries.

use super::{
    archive,
    cell::{Cell, CellRows},
};
use crate::duckdb;
use oasis_query::{GuardedSql, Sql, SqlLimits, TableInfo, everything};
use oasis_store::History;
use oasis_wire::time::parse_date;
use rusqlite::{Connection, params_from_iter, types::Value};
use std::{cmp::Ordering, path::Path, sync::Arc, time::Duration};

/// Rows of a query, or an error.
pub type EngineAnswer = Result<Vec<Vec<Cell>>, String>;

/// `oasis sql` over a folder.
pub const ARCHIVE: &str = "archive";
/// SQL over HTTP and for clients of PostgreSQL.
pub const GUARDED: &str = "guarded";
/// SQLite over tables of its own, with all rows of those of the archive.
pub const TABLES: &str = "tables";
/// DuckDB over the Parquet export.
pub const DUCKDB: &str = "duckdb";

/// Answers a query over the archive.
pub fn query(sql: &Sql, query: &str) -> EngineAnswer {
    let mut rows = CellRows::default();
    sql.query(query, &mut rows).map_err(|error| error.to_string())?;
    Ok(rows.0)
}

/// Answers a query as a DAC does.
pub fn query_guarded(history: &History, query: &str) -> EngineAnswer {
    let limits = SqlLimits {
        time: Duration::from_secs(60),
        memory: u64::MAX,
        copied: u64::MAX,
        has_left: Arc::default(),
    };
    let sql =
        GuardedSql::open(history, everything(), limits, Vec::new()).map_err(|error| error.to_string())?;
    let mut rows = CellRows::default();
    sql.query(query, &mut rows).map_err(|error| error.to_string())?;
    Ok(rows.0)
}

/// Tables of SQLite with the rows of those of an archive.
pub struct Tables(Connection);

impl Tables {
    /// Copies all tables whose columns have values that SQL can have.
    pub fn copy(sql: &Sql) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.create_collation("times", compare_times).unwrap();
        for table in sql.tables() {
            copy(sql, table, &connection);
        }
        Self(connection)
    }

    pub fn query(&self, query: &str) -> EngineAnswer {
        let answer = || {
            let mut statement = self.0.prepare(query)?;
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                (0..columns)
                    .map(|at| Ok(Cell::of_sqlite(&row.get_ref(at)?)))
                    .collect::<rusqlite::Result<Vec<_>>>()
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        answer().map_err(|error: rusqlite::Error| error.to_string())
    }
}

/// Compares texts as times, without a short cut for any.
fn compare_times(a: &str, b: &str) -> Ordering {
    match (parse_date(a), parse_date(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

fn copy(sql: &Sql, table: &TableInfo, to: &Connection) {
    let is_samples = !table.types.is_empty();
    let quoted: Vec<_> =
        table.columns.iter().map(|(name, _)| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let declared = |name: &String| match (name.as_str(), is_samples) {
        ("\"time\"", _) | ("\"first\"" | "\"last\"" | "\"last_seen\"", false) => {
            format!("{name} TEXT COLLATE times")
        }
        // Has values that are errors.
        ("\"beyond\"", true) => format!("{name} AS (NULL)"),
        _ => name.clone(),
    };
    let columns: Vec<_> = quoted.iter().map(declared).collect();
    to.execute_batch(&format!("CREATE TABLE {} ({})", table.name, columns.join(", "))).unwrap();
    let stored: Vec<_> = quoted.iter().filter(|name| *name != "\"beyond\"").map(String::as_str).collect();
    let is_late = table.name == archive::LATE_TABLE;
    let end = if is_late { "WHERE time_ns <= 9223372036854775807" } else { "" };
    let rows = query(sql, &format!("SELECT {} FROM {} {end}", stored.join(", "), table.name)).unwrap();
    let places = vec!["?"; stored.len()].join(", ");
    let insert = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, stored.join(", "));
    let mut insert = to.prepare(&insert).unwrap();
    for row in rows {
        let value = |cell: &Cell| match cell {
            Cell::Null => Value::Null,
            Cell::Integer(number) => Value::Integer((*number).try_into().unwrap()),
            Cell::Real(number) => Value::Real(*number),
            Cell::Text(text) => Value::Text(text.clone()),
        };
        insert.execute(params_from_iter(row.iter().map(value))).unwrap();
    }
}

/// Asks DuckDB about the Parquet files of the archive.
pub fn query_duckdb(folder: &Path, sql: &Sql, queries: &[&str]) -> Vec<EngineAnswer> {
    let history = History::open(&folder.join("archive")).unwrap();
    let mut files = Vec::new();
    for probe_type in archive::types() {
        let listed = format!(
            "SELECT DISTINCT table_name FROM instances WHERE (type, version) = ('{}', '{}')",
            probe_type.name, probe_type.version
        );
        let [name] = &query(sql, &listed).unwrap()[..] else { panic!("{listed}") };
        let Cell::Text(name) = &name[0] else { panic!("{listed}") };
        if name != archive::LATE_TABLE {
            let path = folder.join(format!("{name}.parquet"));
            duckdb::export(&history, &path, &probe_type);
            files.push((name.clone(), path));
        }
    }
    // The view of instances, made of the samples themselves.
    let instances: Vec<_> = files
        .iter()
        .map(|(name, _)| {
            format!("SELECT node, instance, count(*) AS samples, min(time) AS first, max(time) AS last, '{name}' AS table_name FROM {name} GROUP BY node, instance")
        })
        .collect();
    let view = format!("CREATE VIEW instances AS {}", instances.join(" UNION ALL "));
    duckdb::answers(&files, &[view], queries)
}
