//! Read-only SQL over an archive: each probe type is a table, each sample a row (`docs/guides/query-with-sql.md`).
//!
//! The tables of samples are *virtual tables* of SQLite: [`cursor`] reads rows from the segment files on demand. The conditions
//! on node, instance and time are known before reading ([`plan`]), so that files without matching samples stay closed.

mod cursor;
mod plan;
mod table;
mod views;

use oasis_format::table::{Names, Table};
use oasis_store::{History, OpenError, ReadError, catalogue::reading};
use oasis_wire::schema::ProbeType;
use rusqlite::{Connection, types::ValueRef};
use std::{path::Path, sync::Arc};
use table::{SAMPLES, Samples, TIMES, columns_of, compare_times};

/// Errors of a query.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The archive cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The error of SQLite.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It would write.
    #[error("the archive is read-only: start the statement with SELECT or WITH")]
    Writes,
    /// No such table.
    #[error("no table {0:?}: list tables with .tables")]
    UnknownTable(String),
    /// The output failed.
    #[error("{0}")]
    Output(std::io::Error),
}

/// A table that queries can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name in queries.
    pub name: String,
    /// The meaning of its rows.
    pub about: String,
    /// Its columns, followed by their unit, if any.
    pub columns: Vec<(String, Option<String>)>,
}

/// Receives the result of a query, row by row.
pub trait Rows {
    /// Receives the names of the columns, once, before any row.
    ///
    /// # Errors
    /// If they cannot be written.
    fn begin(&mut self, columns: &[String]) -> std::io::Result<()>;
    /// Receives a row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()>;
}

/// An archive for queries. Samples of files that are created later are not visible.
pub struct Sql {
    connection: Connection,
    history: History,
    tables: Vec<TableInfo>,
}

impl Sql {
    /// Opens an archive, also while a DAC writes to it.
    ///
    /// # Errors
    /// If there is none, or its catalogue cannot be read.
    pub fn open(directory: &Path) -> Result<Self, SqlError> {
        let history = History::open(directory)?;
        // The other connection also keeps the lock against writers, if one is needed.
        let connection = reading::open(directory).map_err(OpenError::Catalogue)?.connection;
        connection.create_collation(TIMES, compare_times)?;
        let mut tables = views::create(&connection, &history.0.open_shares(), &history.0.open_gaps())?;
        // Other tables of the file keep their names.
        let mut taken = all_names(&connection)?;
        taken.extend(tables.iter().map(|table| table.name.clone()));
        taken.extend(views::OPEN.map(str::to_owned));
        let mut names = Names::new(taken.iter().map(String::as_str));
        for probe_type in history.types()? {
            let name = names.unique(&oasis_format::table::table_name(&probe_type.name));
            tables.push(add_samples(&connection, &history, name, probe_type)?);
        }
        // The connection is read-only: databases cannot be attached, and files cannot be created.
        connection.pragma_update(None, "query_only", true)?;
        connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        Ok(Self { connection, history, tables })
    }

    /// All tables: samples and other data of the catalogue.
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// Returns a table.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn table(&self, name: &str) -> Result<&TableInfo, SqlError> {
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::UnknownTable(name.into()))
    }

    /// How often a segment file was opened to read samples.
    pub fn file_reads(&self) -> u64 {
        self.history.file_reads()
    }

    /// Runs one query, row by row, in bounded memory; SQLite sorts large results in temporary files.
    ///
    /// # Errors
    /// If the query is invalid or would write, the archive cannot be read, or the output fails.
    pub fn query(&self, sql: &str, rows: &mut dyn Rows) -> Result<(), SqlError> {
        let mut statement = self.connection.prepare(sql).map_err(refusal)?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(SqlError::Writes);
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        rows.begin(&columns).map_err(SqlError::Output)?;
        let mut answer = statement.query([])?;
        while let Some(row) = answer.next()? {
            let values = (0..columns.len()).map(|at| row.get_ref(at)).collect::<Result<Vec<_>, _>>()?;
            rows.row(&values).map_err(SqlError::Output)?;
        }
        Ok(())
    }
}

/// Replaces SQLite's messages about tables that cannot be written: they depend on how the tables are implemented.
fn refusal(error: rusqlite::Error) -> SqlError {
    let said = error.to_string();
    let changes = ["cannot modify", "may not be modified", "may not be dropped", "use DROP", "readonly"];
    if changes.iter().any(|change| said.contains(change)) { SqlError::Writes } else { error.into() }
}

fn all_names(connection: &Connection) -> Result<Vec<String>, SqlError> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

fn add_samples(
    connection: &Connection,
    history: &History,
    name: String,
    probe_type: Arc<ProbeType>,
) -> Result<TableInfo, SqlError> {
    let table = Table::new(&probe_type);
    let about = format!("samples of {} {}", probe_type.name, probe_type.version);
    let columns = columns_of(&table).map(|(name, unit)| (name.to_owned(), unit.map(str::to_owned))).collect();
    let samples = Samples::new(history.clone(), probe_type, table);
    connection.create_module(name.as_str(), &SAMPLES, Some(samples))?;
    Ok(TableInfo { name, about, columns })
}
