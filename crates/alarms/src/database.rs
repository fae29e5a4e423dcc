//! The database file: opened, locked, brought up to date, checked.

use crate::{AlarmsError, tables};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Its file in the directory.
pub const NAME: &str = "alarms.sqlite3";

/// Databases in memory that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// An open database: a connection that writes and one that reads, so that a reader of the journal does not hold up a commit.
#[derive(Debug)]
pub struct Database {
    pub path: PathBuf,
    pub writer: Connection,
    pub reader: Connection,
    /// Held as long as the database is open; none of one in memory.
    pub lock: Option<File>,
}

/// Opens or makes the database in a directory.
///
/// # Errors
/// If it cannot be opened, another process has it, it is damaged, or a later version wrote it.
pub fn open(directory: &Path) -> Result<Database, AlarmsError> {
    let in_file = |path: &Path| {
        let path = path.to_owned();
        move |error| AlarmsError::File(path, error)
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(in_file(directory))?;
    let path = directory.join(NAME);
    let lock_path = directory.join("alarms.lock");
    let file = |path: &Path| {
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(in_file(path))
    };
    let lock = file(&lock_path)?;
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => AlarmsError::InUse(path.clone()),
        TryLockError::Error(error) => AlarmsError::File(lock_path, error),
    })?;
    // SQLite would make it readable for everyone; the files beside it get its mode.
    file(&path)?;
    fs::File::open(directory).and_then(|directory| directory.sync_all()).map_err(in_file(directory))?;
    let connections = connect(&path).map_err(|error| failure(&path, error))?;
    let (mut writer, reader) = connections;
    bring_up_to_date(&path, &mut writer)?;
    Ok(Database { path, writer, reader, lock: Some(lock) })
}

/// Makes a database in memory, which ends with its connections.
///
/// # Errors
/// If there is no memory.
pub fn in_memory() -> Result<Database, AlarmsError> {
    let path = PathBuf::from("alarms in memory");
    // Both connections share it by its name, which no other database of the process has.
    let uri = format!("file:/oasis-alarms-{}?vfs=memdb", MADE.fetch_add(1, Ordering::Relaxed));
    let flags = OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |more| {
        let connection = Connection::open_with_flags(&uri, flags | more)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        Ok(connection)
    };
    let failed = |error| failure(&path, error);
    let mut writer =
        open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE).map_err(failed)?;
    writer.set_prepared_statement_cache_capacity(64);
    bring_up_to_date(&path, &mut writer)?;
    let reader = open(OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    Ok(Database { path, writer, reader, lock: None })
}

fn connect(path: &Path) -> rusqlite::Result<(Connection, Connection)> {
    let writer = Connection::open(path)?;
    writer.busy_timeout(Duration::from_secs(5))?;
    // In WAL mode, NORMAL can lose acknowledged commits in a power failure.
    writer.pragma_update(None, "journal_mode", "WAL")?;
    writer.pragma_update(None, "synchronous", "FULL")?;
    writer.pragma_update(None, "journal_size_limit", 64 << 20)?;
    writer.set_prepared_statement_cache_capacity(64);
    // After a failed sync the system may show what never reached the disk: it is written again before anything follows from it.
    writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    let verdict: String = writer.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict != "ok" {
        return Err(tables::invalid(verdict));
    }
    let reader = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    reader.busy_timeout(Duration::from_secs(5))?;
    Ok((writer, reader))
}

fn bring_up_to_date(path: &Path, writer: &mut Connection) -> Result<(), AlarmsError> {
    let failed = |error| failure(path, error);
    let found: i64 = writer.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let missing = usize::try_from(found).ok().and_then(|found| tables::VERSIONS.get(found..));
    let missing =
        missing.ok_or_else(|| AlarmsError::Version(path.to_owned(), found, tables::VERSIONS.len() as i64))?;
    let update = |writer: &mut Connection| {
        let transaction = writer.transaction()?;
        missing.iter().try_for_each(|step| transaction.execute_batch(step))?;
        transaction.commit()
    };
    update(writer).map_err(failed)
}

/// The error for one of SQLite: what is wrong with which file, and what to do.
pub fn failure(path: &Path, error: rusqlite::Error) -> AlarmsError {
    use rusqlite::Error;
    let is_damage = match &error {
        Error::SqliteFailure(failure, _) => {
            // Unknown: a table or a column is missing.
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        }
        Error::InvalidColumnType(..)
        | Error::InvalidColumnName(..)
        | Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::SqlInputError { .. }
        | Error::Utf8Error(..)
        | Error::QueryReturnedNoRows => true,
        _ => false,
    };
    if is_damage {
        return AlarmsError::Damaged(path.to_owned(), error.to_string());
    }
    AlarmsError::Sqlite(path.to_owned(), error)
}
