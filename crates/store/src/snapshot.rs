//! A copy of an archive, while its DAC writes to it: sealed files as they are, open ones up to a length, the catalogue as of one moment.

use crate::{
    catalogue::{Catalogue, CatalogueError},
    forget, import_folder,
    open_error::OpenError,
    recovery, segment_file,
    store::ReadError,
};
use rusqlite::{Connection, OpenFlags};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Files that belong to a running process, or are not complete.
const LEFT_OUT: [&str; 4] = ["lock", "reserve", "catalogue.sqlite-wal", "catalogue.sqlite-shm"];
/// Most listings of the folder for roll-ups that were merged meanwhile.
const MAX_LISTINGS: usize = 8;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A process is about to remove what a copy would still have, or has not listed all it adds.
    #[error("{0} is being changed by `oasis archive remove` or `oasis import`: try again when that is done")]
    Changing(PathBuf),
    /// The archive.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file or the catalogue.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The receiver.
    #[error("{0}")]
    Put(Box<dyn std::error::Error + Send + Sync>),
}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        Self::Read(error.into())
    }
}

impl From<CatalogueError> for SnapshotError {
    fn from(error: CatalogueError) -> Self {
        Self::Read(error.into())
    }
}

/// Copies an archive that a DAC may be writing to: `put` receives the name of each file, its size and the file. Everything that was stored before the call is
/// in it. `scratch` is a private folder for the copy of the catalogue.
///
/// # Errors
/// If something cannot be read, or `put` fails.
pub fn snapshot<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    directory: &Path,
    scratch: &Path,
    mut put: impl FnMut(&str, u64, File) -> Result<(), E>,
) -> Result<(), SnapshotError> {
    let mut put =
        |name: &str, size, file| put(name, size, file).map_err(|error| SnapshotError::Put(error.into()));
    if forget::is_under_way(directory) || import_folder::epoch(directory)?.is_some() {
        return Err(SnapshotError::Changing(directory.to_owned()));
    }
    let copy = scratch.join("catalogue.sqlite");
    copy_database(&directory.join("catalogue.sqlite"), &copy)?;
    let mut seen = BTreeSet::new();
    // First of all, so that open files end where they end now.
    let sizes = sizes(directory)?;
    let last = recovery::segment_files(directory)?.last().map_or(0, |(number, _)| *number);
    for (name, size) in sizes {
        if let Some(file) = open(&directory.join(&name))? {
            // A file that was replaced by a smaller one meanwhile.
            put(&name, size.min(file.metadata()?.len()), file)?;
            seen.insert(name);
        }
    }
    // Merged roll-ups replace those that were listed; younger segment files are of the time after.
    for _ in 0..MAX_LISTINGS {
        let new: Vec<_> =
            self::sizes(directory)?.into_iter().filter(|(name, _)| !seen.contains(name)).collect();
        let is_wanted =
            |name: &str| segment_file::number(Path::new(name)).is_none_or(|number| number <= last);
        let new: Vec<_> = new.into_iter().filter(|(name, _)| is_wanted(name)).collect();
        if new.is_empty() {
            break;
        }
        for (name, size) in new {
            if let Some(file) = open(&directory.join(&name))? {
                put(&name, size.min(file.metadata()?.len()), file)?;
            }
            seen.insert(name);
        }
    }
    expire_missing(&copy, &seen)?;
    let catalogue = File::open(&copy)?;
    put("catalogue.sqlite", catalogue.metadata()?.len(), catalogue)
}

/// Retention has evicted files since the catalogue was copied.
fn expire_missing(copy: &Path, seen: &BTreeSet<String>) -> Result<(), CatalogueError> {
    let mut catalogue = Catalogue::open(copy)?;
    for number in catalogue.segment_numbers()? {
        let name = recovery::file_name(&segment_file::path(Path::new(""), number));
        if !seen.contains(&name) {
            catalogue.expire(number)?;
        }
    }
    Ok(())
}

/// Names and sizes of the files to copy.
fn sizes(directory: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut sizes = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_left_out = LEFT_OUT.contains(&&*name) || name.ends_with(".part") || name == "catalogue.sqlite";
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() && !is_left_out => sizes.push((name, metadata.len())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    sizes.sort_unstable();
    Ok(sizes)
}

/// Opens a file, unless it was removed meanwhile.
fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies an SQLite database as of one moment, also while other processes write to it.
///
/// # Errors
/// If it cannot be read, or the copy cannot be written.
pub fn copy_database(from: &Path, to: &Path) -> Result<(), CatalogueError> {
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    source.busy_timeout(Duration::from_secs(30))?;
    source.execute("VACUUM INTO ?", [to.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArchiveConfig, History, open as open_archive};

    #[test]
    fn a_copy_lists_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let config = |folder: &Path| ArchiveConfig {
            directory: folder.display().to_string(),
            ..ArchiveConfig::default()
        };
        let opened = open_archive(config(folder.path())).unwrap();
        let (copied, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut names = Vec::new();
        snapshot(folder.path(), scratch.path(), |name, size, mut file| {
            names.push(name.to_owned());
            let written = io::copy(&mut file, &mut File::create(copied.path().join(name))?)?;
            assert_eq!(written, size);
            io::Result::Ok(())
        })
        .unwrap();
        assert_eq!(names, ["catalogue.sqlite"]);
        assert!(History::open(copied.path()).unwrap().instances().unwrap().is_empty());
        drop(opened);
        assert!(open_archive(config(copied.path())).unwrap().store.counters.lock().findings.is_empty());
        fs::write(folder.path().join("forgetting.json"), "{}").unwrap();
        let refused = snapshot(folder.path(), scratch.path(), |_, _, _| io::Result::Ok(()));
        assert!(matches!(refused, Err(SnapshotError::Changing(_))));
    }
}
