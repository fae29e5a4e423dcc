//! The directory of a file spool: its lock, the runs in it, and its size in bytes.
//!
//! Contains `LOCK` and a directory for each run, named by its number (which gives the order) and its UUID. A run
//! contains numbered segments and `delivered`.

use super::segment::Reader;
use crate::process;
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};
use uuid::Uuid;

const LOCK: &str = "LOCK";
const SEGMENT: &str = "segment";
/// Names with larger numbers are not of a node: the number after it must exist too.
const LAST_NUMBER: u64 = 1_000_000_000_000_000_000;

/// Why a spool directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Another node uses it.
    #[error(
        "spool directory {directory} is in use by process {holder}: give each node its own directory (spool_directory)"
    )]
    InUse {
        /// As configured.
        directory: String,
        /// Process number.
        holder: String,
    },
    /// The operating system reported an error.
    #[error("cannot use spool directory {directory}: {error}: choose another one (spool_directory) or none")]
    Unusable {
        /// As configured.
        directory: String,
        /// The cause.
        error: io::Error,
    },
}

/// A spool directory that this process has locked.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    limit: u64,
    /// Runs numbered up to this existed before this process.
    last_run: u64,
    /// The lock is released with the file, however the process ends.
    lock: File,
}

/// A segment by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFile {
    /// Path of the segment.
    pub path: PathBuf,
    /// Within its run.
    pub number: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Drop for Directory {
    fn drop(&mut self) {
        process::keep_in_child(&self.lock);
    }
}

impl Directory {
    /// Creates the directory if needed, and locks it. `limit` is for the bytes of all segments.
    pub fn open(path: &Path, limit: u64) -> Result<Self, DirectoryError> {
        let directory = || path.display().to_string();
        let unusable = |error| DirectoryError::Unusable { directory: directory(), error };
        create_private(path).map_err(unusable)?;
        let lock = path.join(LOCK);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock)
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&lock).unwrap_or_default();
                let holder = if holder.is_empty() { "?".into() } else { holder };
                return Err(DirectoryError::InUse { directory: directory(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        // A child would hold the lock after this process has ended.
        process::close_in_child(&file);
        // Only for the error message above: a full disk must not keep the node from starting.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        let last_run = runs(path).map_err(unusable)?.last().map_or(0, |(number, _)| *number);
        Ok(Self { path: path.to_owned(), limit, last_run, lock: file })
    }

    /// Returns where it is.
    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the limit for the bytes of all segments.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the directory for the segments of this process's run.
    pub fn own_run(&self, run: Uuid) -> PathBuf {
        self.path.join(format!("{:010}-{run}", self.last_run + 1))
    }

    /// Returns the runs of earlier processes, oldest first.
    pub fn earlier_runs(&self) -> io::Result<Vec<PathBuf>> {
        let runs = runs(&self.path)?.into_iter();
        Ok(runs.filter(|(number, _)| *number <= self.last_run).map(|(_, path)| path).collect())
    }

    /// Removes the oldest segments until `wanted` bytes fit, and returns how many were removed. Fails if they can
    /// never fit.
    ///
    /// The head of a run's last segment stays: it has the number of samples, so that the removed ones are reported
    /// with a cause. Heads are removed only if removing everything else is not enough.
    pub fn make_room(&self, wanted: u64) -> io::Result<usize> {
        let runs = runs(&self.path)?.into_iter();
        let runs = runs.map(|(_, run)| segments(&run)).collect::<io::Result<Vec<_>>>()?;
        let mut bytes: u64 = runs.iter().flatten().map(|segment| segment.bytes).sum();
        let mut removed = 0;
        let mut heads = Vec::new();
        let all = runs.iter().flat_map(|run| run.iter().rev().enumerate().rev());
        for (behind, segment) in all {
            if bytes + wanted <= self.limit {
                return Ok(removed);
            }
            let left = if behind == 0 { shrink(segment)? } else { remove(segment)? };
            bytes -= segment.bytes.saturating_sub(left);
            removed += usize::from(left < segment.bytes);
            heads.extend((left > 0).then_some((segment, left)));
        }
        for (head, left) in heads {
            if bytes + wanted > self.limit {
                remove(head)?;
                bytes -= left;
            }
        }
        if bytes + wanted > self.limit {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "a batch does not fit into the spool directory: increase spool_directory_bytes",
            ));
        }
        Ok(removed)
    }
}

/// Creates a directory for its owner alone: it contains samples and the secrets of runs.
fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

fn remove(segment: &SegmentFile) -> io::Result<u64> {
    match fs::remove_file(&segment.path) {
        // Removed meanwhile: another thread has sent it.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(0),
    }
}

/// Truncates a segment to its head, and returns the head's bytes.
fn shrink(segment: &SegmentFile) -> io::Result<u64> {
    let Ok(mut reader) = Reader::open(&segment.path, segment.number) else { return remove(segment) };
    // Batches that cannot be read cannot be sent either: they must not keep new samples out.
    while reader.next().is_ok_and(|batch| batch.is_some()) {}
    let Some(mut head) = reader.head.take() else { return remove(segment) };
    if reader.seen.is_empty() {
        return Ok(segment.bytes);
    }
    head.include(&reader.seen);
    let bytes = head.to_bytes()?;
    replace(&segment.path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Replaces a file atomically.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

/// Returns the path of a segment.
pub fn segment_path(run: &Path, number: u64) -> PathBuf {
    run.join(format!("{number:010}.{SEGMENT}"))
}

/// Returns the segments of a run in order; none if the run does not exist. Ignores whatever else has such a name.
pub fn segments(run: &Path) -> io::Result<Vec<SegmentFile>> {
    let mut found = Vec::new();
    for entry in entries(run)? {
        let entry = entry?;
        let path = entry.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let is_segment = path.extension().is_some_and(|it| it == SEGMENT);
        if let Some(number) = number.filter(|&number| is_segment && number <= LAST_NUMBER) {
            // Removed meanwhile: another thread has sent it.
            let Some(metadata) = entry.metadata().ok().filter(|metadata| metadata.is_file()) else {
                continue;
            };
            found.push(SegmentFile { path, number, bytes: metadata.len() });
        }
    }
    found.sort_by_key(|segment| segment.number);
    Ok(found)
}

fn runs(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in entries(directory)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.split_once('-')?.0.parse().ok());
        let number = number.filter(|&number| number <= LAST_NUMBER && path.is_dir());
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

fn entries(directory: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None.into_iter().flatten()),
        Err(error) => Err(error),
    }
}
