//! Some room on the disk that the archive keeps back for its own next start: a disk that others have filled to the brim must not keep the DAC from
//! coming up. A start ends files and writes to the catalogue before anything else.

use crate::{config::ArchiveConfig, open_error::OpenError};
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use std::{
    fs::{self, File},
    io,
    path::Path,
};

const NAME: &str = "reserve";
/// Enough for a catalogue's log and the memory that it shares with readers.
const LEAST: u64 = 1024 * 1024;

/// Bytes that are free on a folder's disk.
///
/// # Errors
/// If the system does not say.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let room = statvfs(folder)?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Keeps room back, as soon as that leaves others what is left to them. Where none can be kept back all is as without it, but for a start on a full disk.
pub fn keep(folder: &Path, config: &ArchiveConfig) {
    let (path, bytes) = (folder.join(NAME), bytes(config));
    let needed = config.min_free_bytes.saturating_add(bytes);
    let is_kept = fs::metadata(&path).is_ok_and(|kept| kept.len() >= bytes);
    if is_kept || free_bytes(folder).is_ok_and(|free| free < needed) {
        return;
    }
    // One that was being made when its process ended, or for smaller files.
    let _ = fs::remove_file(&path);
    let kept = File::create_new(&path).and_then(|file| {
        // Room, and not only a length: a file system that packs zeros would keep nothing back for them.
        Ok(fallocate(&file, FallocateFlags::empty(), 0, bytes)?)
    });
    if kept.is_err() {
        // Less than all of it is none.
        let _ = fs::remove_file(&path);
    }
}

/// Gives it up if there is less left on the disk. Answers whether there was any.
pub fn release_if_needed(folder: &Path, config: &ArchiveConfig) -> bool {
    free_bytes(folder).is_ok_and(|free| free < bytes(config)) && fs::remove_file(folder.join(NAME)).is_ok()
}

/// An archive could not be opened: whether because its disk is full.
pub fn explain(folder: &Path, error: OpenError) -> OpenError {
    match free_bytes(folder) {
        Ok(..LEAST) => OpenError::NoRoom { path: folder.to_owned(), error: Box::new(error) },
        _ => error,
    }
}

/// An index, which ends a file, is a small part of it.
fn bytes(config: &ArchiveConfig) -> u64 {
    (config.segment_bytes / 4).max(LEAST)
}
