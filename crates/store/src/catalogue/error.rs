//! Errors of the catalogue.

use super::versions::{SAME_TABLES, VERSION};
use crate::folder_identity::FolderGone;
use rusqlite::ErrorCode;
use std::path::PathBuf;

/// The database is damaged, full, or of another version.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// An error of SQLite.
    #[error("catalogue: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// Read-only media require an archive that was closed cleanly.
    #[error(
        "catalogue: {0}: the folder is read-only or its disk full, and the archive is in use or was not closed cleanly: copy the folder to a writable disk"
    )]
    Unshared(rusqlite::Error),
    /// Written by a later version.
    #[error("catalogue: unsupported version {0} of its tables: supported is {VERSION}, update oasis")]
    Version(usize),
    /// Damaged.
    #[error("catalogue: damaged: {0}")]
    Damaged(String),
    /// A damaged one cannot be renamed.
    #[error("catalogue: {path} is damaged and cannot be renamed: {1}", path = .0.display())]
    Aside(PathBuf, std::io::Error),
    /// Written by an earlier version, and this process may not migrate it.
    #[error(
        "catalogue: version {0} of its tables is too old, {SAME_TABLES} is required: start its DAC once with this oasis to update them"
    )]
    Outdated(usize),
    /// The written folder has no name any more.
    #[error(transparent)]
    Gone(#[from] FolderGone),
    /// An invalid value.
    #[error("catalogue: {0:?} is not a {1}")]
    Value(String, &'static str),
}

impl CatalogueError {
    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull))
    }
}
