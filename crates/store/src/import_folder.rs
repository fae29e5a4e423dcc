//! Where an import's files grow until they are whole, and what shows that they were not all listed.
//!
//! Its file `epoch` names the epoch that all of the import's files are of, and no others. They move into the archive before one commit of the catalogue lists all of
//! them: as long as the folder is there, a file of that epoch which is not listed is of an import that has not ended.

use crate::{record::FileHeader, segment_file};
use oasis_wire::quantity::Epoch;
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

const NAME: &str = "import.part";
const EPOCH: &str = "epoch";

/// Makes it, empty but for the epoch, which lasts when this has returned. What an earlier one has left is gone.
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

/// Epoch of the import that goes on, or that was interrupted, if there is one.
///
/// # Errors
/// If the disk fails.
pub fn epoch(archive: &Path) -> io::Result<Option<Epoch>> {
    match fs::read_to_string(archive.join(NAME).join(EPOCH)) {
        // One that cannot be read was never synced, so nothing has moved.
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

/// Removes it with all that is in it.
///
/// # Errors
/// If the disk fails.
pub fn remove(archive: &Path) -> io::Result<()> {
    match fs::remove_dir_all(archive.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
