//! SQL over an archive, to read: each probe type is a table, a sample a row (`docs/guides/query-with-sql.md`).
//!
//! The tables of samples are SQLite's *virtual tables*: SQLite asks for rows, and [`cursor`] reads them from the segment files as it does. What a
//! query says of node, instance and time is known before anything is read ([`plan`]), so that files without such samples stay closed.

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

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The archive cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// As SQLite says it.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It would change something.
    #[error("this would change something, and the archive is read-only here: begin with SELECT or WITH")]
    Writes,
    /// No table has the name.
    #[error("no table has the name {0:?}: .tables lists them")]
    UnknownTable(String),
    /// The output of the rows.
    #[error("{0}")]
    Output(std::io::Error),
}

/// A table that queries can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// What to write in a query.
    pub name: String,
    /// What its rows are.
    pub about: String,
    /// Its columns, with a unit behind those that have one.
    pub columns: Vec<(String, Option<String>)>,
}

/// Takes what a query answers, row by row.
pub trait Rows {
    /// Names of the columns, once, before any row.
    ///
    /// # Errors
    /// If they cannot be written.
    fn begin(&mut self, columns: &[String]) -> std::io::Result<()>;
    /// A row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()>;
}

/// An archive that answers queries. What is stored later is not seen, unless in files that were begun before.
pub struct Sql {
    connection: Connection,
    history: History,
    tables: Vec<TableInfo>,
}

impl Sql {
    /// Opens an archive, whether or not a DAC writes to it just now.
    ///
    /// # Errors
    /// If there is none, or its catalogue cannot be read.
    pub fn open(directory: &Path) -> Result<Self, SqlError> {
        let history = History::open(directory)?;
        // What keeps writers away, if anything has to, the other connection holds as well.
        let connection = reading::open(directory).map_err(OpenError::Catalogue)?.connection;
        connection.create_collation(TIMES, compare_times)?;
        let mut tables = views::create(&connection, &history.0.open_shares(), &history.0.open_gaps())?;
        // Whatever else the file has keeps its name as well.
        let mut taken = all_names(&connection)?;
        taken.extend(tables.iter().map(|table| table.name.clone()));
        taken.extend(views::OPEN.map(str::to_owned));
        let mut names = Names::new(taken.iter().map(String::as_str));
        for probe_type in history.types()? {
            let name = names.unique(&oasis_format::table::table_name(&probe_type.name));
            tables.push(add_samples(&connection, &history, name, probe_type)?);
        }
        // Besides what is refused here, nothing can be attached, and no file made: the connection is read-only.
        connection.pragma_update(None, "query_only", true)?;
        connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        Ok(Self { connection, history, tables })
    }

    /// All tables: of samples, and of what else the catalogue has.
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// A table.
    ///
    /// # Errors
    /// If none has the name.
    pub fn table(&self, name: &str) -> Result<&TableInfo, SqlError> {
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::UnknownTable(name.into()))
    }

    /// How often a segment file was opened to read samples.
    pub fn file_reads(&self) -> u64 {
        self.history.file_reads()
    }

    /// Answers one query, row by row, in bounded memory; SQLite sorts what is large in temporary files.
    ///
    /// # Errors
    /// If the query is wrong or would change something, the archive cannot be read, or the rows not be written.
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
