//! Why the catalogue cannot be used.

use super::versions::{SAME_TABLES, VERSION};
use rusqlite::ErrorCode;
use std::path::PathBuf;

/// The database is damaged, full, or of another version.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// As SQLite says it.
    #[error("catalogue: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// Where nothing can be written only what a DAC has ended as it should can be read.
    #[error(
        "catalogue: {0}: nothing can be written beside it, and its DAC is at work or has not ended as it should: read a copy of the folder on a disk with room"
    )]
    Unshared(rusqlite::Error),
    /// Made by a later version.
    #[error("catalogue: its tables are of version {0}, where {VERSION} is known: update oasis")]
    Version(usize),
    /// It is not what was written.
    #[error("catalogue: it is damaged: {0}")]
    Damaged(String),
    /// A damaged one cannot be given another name.
    #[error("catalogue: {path} is damaged and cannot be renamed: {1}", path = .0.display())]
    Aside(PathBuf, std::io::Error),
    /// Made by an earlier version, and this process may not write here.
    #[error(
        "catalogue: its tables are of version {0}, where {SAME_TABLES} is needed: start its DAC with this oasis once, which brings them up to date"
    )]
    Outdated(usize),
    /// A value that no version of this program writes.
    #[error("catalogue: {0:?} is no {1}")]
    Value(String, &'static str),
}

impl CatalogueError {
    /// Whether there would be room for what was refused on a larger disk.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull))
    }
}
