//! Opens a catalogue only to read it: beside a DAC that writes, or on read-only media.

use super::{CatalogueError, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{
    fs::{self, File},
    io,
    path::Path,
    time::Duration,
};

/// A connection that reads.
#[derive(Debug)]
pub struct Reading {
    /// A read-only connection.
    pub connection: Connection,
    /// Prevents the start of a writer until it is dropped.
    pub undisturbed: Option<File>,
}

/// Opens the catalogue of an archive's folder.
///
/// Readers and writer share a file (`-shm`), which a reader creates if there is none. On a full or read-only disk it cannot:
/// then the catalogue is read as an unchanging file, which requires that its DAC closed it cleanly.
///
/// # Errors
/// If it cannot be opened, or read without that file.
pub fn open(folder: &Path) -> Result<Reading> {
    let path = folder.join("catalogue.sqlite");
    match connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(connection) => Ok(Reading { connection, undisturbed: None }),
        Err(error) if cannot_share(&error) && File::open(&path).is_ok() => {
            match (undisturbed(folder), unchanging(&path)) {
                (Some(lock), Some(uri)) => {
                    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                    let connection = connect(Path::new(&uri), flags)?;
                    Ok(Reading { connection, undisturbed: lock })
                }
                _ => Err(CatalogueError::Unshared(error)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Opening alone does not read the file.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn cannot_share(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
}

/// Returns the lock of the archive if no DAC writes and the write-ahead log is empty. A copy may have no lock file.
fn undisturbed(folder: &Path) -> Option<Option<File>> {
    let lock = match File::open(folder.join("lock")) {
        Ok(lock) => Some(lock),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return None,
    };
    if let Some(lock) = &lock {
        lock.try_lock_shared().ok()?;
    }
    let has_log = fs::metadata(folder.join("catalogue.sqlite-wal")).is_ok_and(|log| log.len() > 0);
    (!has_log).then_some(lock)
}

/// The URI with which SQLite assumes that no process changes the file.
fn unchanging(path: &Path) -> Option<String> {
    let path = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(format!("file:{path}?immutable=1"))
}
