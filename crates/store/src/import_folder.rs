//! The folder of an import: its files are written here, and the folder shows that they are not all listed yet.
//!
//! Its file `epoch` contains the epoch of the import's files. Only they are of it. They move into the archive before one commit of the catalogue lists all of
//! them. While the folder exists, an unlisted file of that epoch belongs to an unfinished import.

use crate::{record::FileHeader, segment_file};
use oasis_wire::quantity::Epoch;
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

const NAME: &str = "import.part";
const EPOCH: &str = "epoch";

/// Creates the folder with only the epoch, synced. Removes leftovers of an earlier import.
///
/// # Errors
/// If the disk fails.
pub fn begin(archive: &Path, epoch: Epoch) -> io::Result<PathBuf> {
    remove(archive)?;
    let folder = archive.join(NAME);
    fs::create_dir(&folder)?;
    let mut file = File::create_new(folder.join(EPOCH))?;
    file.write_all(epoch.to_string().as_bytes())?;
    file.sync_all()?;
    segment_file::sync_directory(&folder)?;
    segment_file::sync_directory(archive)?;
    Ok(folder)
}

/// Returns the epoch of a running or interrupted import, if there is one.
///
/// # Errors
/// If the disk fails.
pub fn epoch(archive: &Path) -> io::Result<Option<Epoch>> {
    match fs::read_to_string(archive.join(NAME).join(EPOCH)) {
        // An unreadable one was never synced, so no file was moved.
        Ok(text) => Ok(text.parse().ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a segment file is of an epoch.
///
/// # Errors
/// If it cannot be read.
pub fn is_of(path: &Path, epoch: Epoch) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(crate::record::FILE_HEADER as u64).read_to_end(&mut head)?;
    Ok(FileHeader::parse(&head).is_ok_and(|header| header.epoch == epoch))
}

/// Removes the folder with its content.
///
/// # Errors
/// If the disk fails.
pub fn remove(archive: &Path) -> io::Result<()> {
    match fs::remove_dir_all(archive.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
