//! Errors of the database of alarms.

use rusqlite::ErrorCode;
use std::{io, path::PathBuf};

/// The database cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum AlarmsError {
    /// The directory or file cannot be made.
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// An error of SQLite.
    #[error("{path}: {1}", path = .0.display())]
    Sqlite(PathBuf, rusqlite::Error),
    /// Another process has it.
    #[error("{path} is in use by another process: is another DAC running with the same `[rules] directory`?", path = .0.display())]
    InUse(PathBuf),
    /// Written by a later version.
    #[error("{path} has tables of version {1}, supported is {2}: update oasis", path = .0.display())]
    Version(PathBuf, i64, i64),
    /// Written by an earlier version, and only to be read.
    #[error("{path} has tables of version {1}, required is {2}: start its DAC once with this oasis to update them", path = .0.display())]
    Outdated(PathBuf, i64, i64),
    /// A directory without a database, to read.
    #[error("{path} has no alarms (alarms.sqlite3): name the directory of the DAC's rules, which is ARCHIVE-rules or rules.directory", path = .0.display())]
    Missing(PathBuf),
    /// Readers cannot share it with a DAC.
    #[error("{path}: {1}: its directory cannot be written, or its disk is full: copy the directory to a writable disk", path = .0.display())]
    Unshared(PathBuf, rusqlite::Error),
    /// Damaged.
    #[error("{path} is damaged ({1}): rename it to begin with no alarms, then restart; its alarms, shelves and journal are lost", path = .0.display())]
    Damaged(PathBuf, String),
}

impl AlarmsError {
    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Sqlite(_, error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull))
    }
}
