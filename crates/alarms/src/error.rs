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
