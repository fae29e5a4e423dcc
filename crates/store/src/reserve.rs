//! Reserved disk space for the next start of the archive: a disk that other programs have filled must not prevent the DAC from
//! starting. A start first seals files and writes to the catalogue.

use crate::{config::ArchiveConfig, open_error::OpenError};
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use std::{
    fs::{self, File},
    io,
    path::Path,
};

const NAME: &str = "reserve";
/// Enough for the catalogue's log and its shared memory.
const MIN_RESERVE_BYTES: u64 = 1024 * 1024;

/// Free bytes on the disk of a folder.
///
/// # Errors
/// If the system call fails.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let room = statvfs(folder)?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Reserves space if enough stays free for others. Without a reserve, only a start on a full disk fails.
pub fn keep(folder: &Path, config: &ArchiveConfig) {
    let (path, bytes) = (folder.join(NAME), bytes(config));
    let needed = config.min_free_bytes.saturating_add(bytes);
    let is_kept = fs::metadata(&path).is_ok_and(|kept| kept.len() >= bytes);
    if is_kept || free_bytes(folder).is_ok_and(|free| free < needed) {
        return;
    }
    // An incomplete one, or one for smaller files.
    let _ = fs::remove_file(&path);
    let kept = File::create_new(&path).and_then(|file| {
        // Allocates blocks: a file system that compresses zeros would reserve nothing.
        Ok(fallocate(&file, FallocateFlags::empty(), 0, bytes)?)
    });
    if kept.is_err() {
        // An incomplete reserve is removed.
        let _ = fs::remove_file(&path);
    }
}

/// Releases the reserve if less is free on the disk. Returns whether there was one.
pub fn release_if_needed(folder: &Path, config: &ArchiveConfig) -> bool {
    free_bytes(folder).is_ok_and(|free| free < bytes(config)) && fs::remove_file(folder.join(NAME)).is_ok()
}

/// Turns an error of opening into [`OpenError::NoRoom`] if the disk is full.
pub fn explain(folder: &Path, error: OpenError) -> OpenError {
    match free_bytes(folder) {
        Ok(..MIN_RESERVE_BYTES) => OpenError::NoRoom { path: folder.to_owned(), error: Box::new(error) },
        _ => error,
    }
}

/// Size of the reserve: an index is a small part of its file.
fn bytes(config: &ArchiveConfig) -> u64 {
    (config.segment_bytes / 4).max(MIN_RESERVE_BYTES)
}
