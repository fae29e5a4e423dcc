//! The alarms of a DAC as its database has them, read without changing anything.

use crate::{
    AlarmView, AlarmsError, JournalFilter, JournalPage,
    database::{self, NAME},
    journal::MAX_PAGE_ENTRIES,
    tables::{self, alarm, journal},
};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// The alarms in a directory, as of when it was opened. A DAC may have the directory in use meanwhile.
#[derive(Debug)]
pub struct RecordedAlarms {
    path: PathBuf,
    connection: Connection,
}

impl RecordedAlarms {
    /// Opens the database in a directory. Neither makes nor migrates one.
    ///
    /// # Errors
    /// If the directory has none, it cannot be read, or another version of its tables is there.
    pub fn open(directory: &Path) -> Result<Self, AlarmsError> {
        let path = directory.join(NAME);
        File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => AlarmsError::Missing(directory.to_owned()),
            _ => AlarmsError::File(path.clone(), error),
        })?;
        let connection = connect(&path).map_err(|error| match cannot_share(&error) {
            true => AlarmsError::Unshared(path.clone(), error),
            false => database::failure(&path, error),
        })?;
        check_version(&path, &connection)?;
        Ok(Self { path, connection })
    }

    /// All alarms in the order of their keys.
    ///
    /// # Errors
    /// If the database fails.
    pub fn list(&self) -> Result<Vec<AlarmView>, AlarmsError> {
        let alarms = alarm::all(&self.connection).map_err(|error| self.failure(error))?;
        let mut views: Vec<_> = alarms.into_iter().map(|alarm| alarm.view).collect();
        views.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(views)
    }

    /// Entries of the journal, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn journal(&self, filter: &JournalFilter) -> Result<JournalPage, AlarmsError> {
        let most = if filter.most == 0 { MAX_PAGE_ENTRIES } else { filter.most.min(MAX_PAGE_ENTRIES) };
        journal::find(&self.connection, filter, most, |_, _| true).map_err(|error| self.failure(error))
    }

    fn failure(&self, error: rusqlite::Error) -> AlarmsError {
        database::failure(&self.path, error)
    }
}

/// Opens the file and begins to read: what a DAC commits later is not seen.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch("BEGIN")?;
    // Neither opening nor BEGIN reads the file.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Readers and writer share a file (`-shm`), which a reader creates if there is none.
fn cannot_share(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
}

fn check_version(path: &Path, connection: &Connection) -> Result<(), AlarmsError> {
    let newest = tables::VERSIONS.len() as i64;
    let found: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|error| database::failure(path, error))?;
    match found {
        found if found == newest => Ok(()),
        found if found > newest => Err(AlarmsError::Version(path.to_owned(), found, newest)),
        found => Err(AlarmsError::Outdated(path.to_owned(), found, newest)),
    }
}
