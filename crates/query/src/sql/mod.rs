//! Read-only SQL over an archive: each probe type is a table, each sample a row (`docs/guides/query-with-sql.md`).
//!
//! The tables of samples are *virtual tables* of SQLite: [`cursor`] reads rows from the segment files on demand. The conditions
//! on node, instance and time are known before reading ([`plan`]), so that files without matching samples stay closed.

//!
//! Two kinds of authors send queries. Whoever may read the folder itself uses a read-only connection to its catalogue ([`Sql`]). A principal of a DAC
//! uses a connection that has nothing but what it may see ([`GuardedSql`]): tables of the visible types, and copies of the visible rows of the catalogue.

mod answer;
mod audit_log;
mod copied;
mod cursor;
mod functions;
mod guard;
mod guarded;
mod plan;
mod sight;
mod stop;
mod table;
mod views;

pub use answer::{Answer, cell};
pub use audit_log::audit_log;
pub use copied::{ExtraTable, TakeRow, names};
pub use guarded::GuardedSql;
pub use sight::{Sight, everything};
pub use stop::SqlLimits;

use oasis_format::table::{ColumnType, Names};
use oasis_store::{History, OpenError, ReadError, catalogue::reading};
use rusqlite::{
    Connection, ErrorCode, params_from_iter,
    types::{Value, ValueRef},
};
use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};
use stop::Stop;
use table::{SAMPLES, Samples, TIMES, columns_of, compare_times, types_of};

/// Errors of a query.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The archive cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The archive cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The error of SQLite.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A mistake in the statement.
    #[error("{message} (line {line}, column {column})")]
    Statement {
        /// Message of SQLite.
        message: String,
        /// Its line, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
    },
    /// The statement would write.
    #[error("the archive is read-only: start the statement with SELECT or WITH")]
    Writes,
    /// The statement is more than a SELECT.
    #[error("only SELECT is permitted here, without PRAGMA, ATTACH and load_extension")]
    Forbidden,
    /// The query took too long.
    #[error("the query was ended after {} s: add a condition on time, node or instance", .0.as_secs())]
    TimeUp(Duration),
    /// The query needed too much memory.
    #[error("the query was ended: the queries of this DAC need more than {0} bytes of memory")]
    Memory(u64),
    /// A table of the catalogue is too large to be copied.
    #[error("the table {0} is too large for a query over HTTP: query the folder with oasis sql --archive")]
    TooLarge(String),
    /// The client no longer waits for the answer.
    #[error("the query was ended, because nobody waits for its answer")]
    Left,
    /// No such table.
    #[error("no table {0:?}: list tables with .tables")]
    UnknownTable(String),
    /// The output failed.
    #[error("{0}")]
    Output(std::io::Error),
    /// The rows of another table cannot be read.
    #[error("{0}")]
    Other(String),
}

/// A table that queries can use.
#[derive(Debug, Clone, PartialEq)]
pub struct TableInfo {
    /// Its name in queries.
    pub name: String,
    /// The meaning of its rows.
    pub about: String,
    /// Its columns, followed by their unit, if any.
    pub columns: Vec<(String, Option<String>)>,
    /// The types of the columns of samples; empty if the table has none, or they are unknown.
    pub types: Vec<ColumnType>,
}

impl TableInfo {
    /// Describes a table whose columns have no unit.
    pub fn without_units(name: &str, about: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|column| ((*column).to_owned(), None)).collect();
        Self { name: name.into(), about: about.into(), columns, types: Vec::new() }
    }
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
        taken.extend(views::HIDDEN.map(str::to_owned));
        let types = history.types()?.into_iter();
        let samples = types.map(|probe_type| Samples::all(history.clone(), probe_type));
        tables.extend(add_samples(&connection, &connection, samples, &taken)?);
        // The connection is read-only: databases cannot be attached, and files cannot be created.
        connection.pragma_update(None, "query_only", true)?;
        connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        Ok(Self { connection, history, tables })
    }

    /// Adds a table that is not of the archive. Its rows are copied only if the query names it.
    ///
    /// # Errors
    /// If its rows cannot be read, or the archive has a table of this name.
    pub fn add(&mut self, table: ExtraTable, query: &str) -> Result<(), SqlError> {
        self.tables.push(table.info.clone());
        if !names(query, &table.info.name) {
            return Ok(());
        }
        self.connection.pragma_update(None, "query_only", false)?;
        let added = copied::copy_extra(&self.connection, table, &Stop::never());
        self.connection.pragma_update(None, "query_only", true)?;
        added
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

    /// Returns the number of times that a segment file was opened to read samples.
    pub fn file_reads(&self) -> u64 {
        self.history.file_reads()
    }

    /// Runs one query, row by row, in bounded memory; SQLite sorts large results in temporary files.
    ///
    /// # Errors
    /// If the query is invalid or would write, the archive cannot be read, or the output fails.
    pub fn query(&self, sql: &str, rows: &mut dyn Rows) -> Result<(), SqlError> {
        answer(&self.connection, sql, &[], rows)
    }
}

/// Runs one query with values of its parameters.
fn answer(
    connection: &Connection,
    sql: &str,
    parameters: &[Value],
    rows: &mut dyn Rows,
) -> Result<(), SqlError> {
    let mut statement = connection.prepare(sql).map_err(|error| refusal(error, sql))?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(SqlError::Writes);
    }
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    rows.begin(&columns).map_err(SqlError::Output)?;
    let mut answer = statement.query(params_from_iter(parameters))?;
    while let Some(row) = answer.next()? {
        let values = (0..columns.len()).map(|at| row.get_ref(at)).collect::<Result<Vec<_>, _>>()?;
        rows.row(&values).map_err(SqlError::Output)?;
    }
    Ok(())
}

/// Replaces SQLite's messages about tables that cannot be written: they depend on how the tables are implemented.
fn refusal(error: rusqlite::Error, sql: &str) -> SqlError {
    let said = error.to_string();
    let changes = ["cannot modify", "may not be modified", "may not be dropped", "use DROP", "readonly"];
    let is_denied = error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied);
    if is_denied || said.contains("not authorized") {
        return SqlError::Forbidden;
    }
    if changes.iter().any(|change| said.contains(change)) {
        return SqlError::Writes;
    }
    match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            located(msg, sql, usize::try_from(offset).unwrap_or_default())
        }
        rusqlite::Error::SqliteFailure(failure, Some(message)) => match place_of_table(&message, sql) {
            Some(offset) => located(message, sql, offset),
            None => rusqlite::Error::SqliteFailure(failure, Some(message)).into(),
        },
        error => error.into(),
    }
}

/// Returns the position of the name of a missing table: SQLite does not report it.
fn place_of_table(message: &str, sql: &str) -> Option<usize> {
    let table = message.strip_prefix("no such table: ")?.rsplit('.').next()?;
    sql.to_ascii_lowercase().find(&table.to_ascii_lowercase())
}

/// A mistake at a byte of the statement.
fn located(message: String, sql: &str, offset: usize) -> SqlError {
    let before = String::from_utf8_lossy(&sql.as_bytes()[..offset.min(sql.len())]);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    SqlError::Statement { message, line, column }
}

fn all_names(connection: &Connection) -> Result<Vec<String>, SqlError> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Adds a table for each type, named unlike those that are `taken`. The view `instances` of `catalogue` tells the names.
fn add_samples(
    connection: &Connection,
    catalogue: &Connection,
    all: impl Iterator<Item = Samples>,
    taken: &[String],
) -> Result<Vec<TableInfo>, SqlError> {
    let mut names = Names::new(taken.iter().map(String::as_str));
    let mut tables = Vec::new();
    let mut of_type: HashMap<String, usize> = HashMap::new();
    for samples in all {
        let probe_type = samples.probe_type.clone();
        let name = names.unique(&oasis_format::table::table_name(&probe_type.name));
        let columns =
            columns_of(&samples.table).map(|(name, unit)| (name.to_owned(), unit.map(str::to_owned)));
        let columns = columns.collect();
        let types = types_of(&samples.table).collect();
        connection.create_module(name.as_str(), &SAMPLES, Some(Arc::new(samples)))?;
        views::name_table(catalogue, &name, &probe_type)?;
        *of_type.entry(probe_type.name.clone()).or_default() += 1;
        tables.push((TableInfo { name, about: String::new(), columns, types }, probe_type));
    }
    let described = tables.into_iter().map(|(table, probe_type)| {
        let mut about = format!("samples of {} {}", probe_type.name, probe_type.version);
        if let Some(count @ 2..) = of_type.get(&probe_type.name) {
            about += &format!("; one of {count} tables of types with this name: see instances");
        }
        TableInfo { about, ..table }
    });
    Ok(described.collect())
}
