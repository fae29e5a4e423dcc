//! The directory of a file spool: who may use it, which runs left something in it, how many bytes there are.
//!
//! `LOCK`, and a directory for each run: its number, which gives the order, and its UUID. In it the segments by number, and `delivered`.

use super::segment::Reader;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};
use uuid::Uuid;

const LOCK: &str = "LOCK";
const SEGMENT: &str = "segment";

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Another node has it.
    #[error(
        "the spool directory {directory} is in use by process {holder}: give each node a directory of its own (spool_directory)"
    )]
    Taken {
        /// As configured.
        directory: String,
        /// Process number.
        holder: String,
    },
    /// The operating system says no.
    #[error(
        "the spool directory {directory} cannot be used: {error}; choose another one (spool_directory) or none"
    )]
    Unusable {
        /// As configured.
        directory: String,
        /// Why.
        error: io::Error,
    },
}

/// A spool directory that this process has for itself.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    limit: u64,
    /// Numbers of runs: those up to here were there before.
    last_run: u64,
    /// The lock goes with it, however the process ends.
    _lock: File,
}

/// A segment by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFile {
    /// Where it is.
    pub path: PathBuf,
    /// Within its run.
    pub number: u64,
    /// Size.
    pub bytes: u64,
}

impl Directory {
    /// Makes the directory if need be, and takes it. `limit` is for the bytes of all segments.
    pub fn open(path: &Path, limit: u64) -> Result<Self, DirectoryError> {
        let directory = || path.display().to_string();
        let unusable = |error| DirectoryError::Unusable { directory: directory(), error };
        fs::create_dir_all(path).map_err(unusable)?;
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
                return Err(DirectoryError::Taken { directory: directory(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        // Only for the message above: a full disk must not keep the node from starting.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        let last_run = runs(path).map_err(unusable)?.last().map_or(0, |(number, _)| *number);
        Ok(Self { path: path.to_owned(), limit, last_run, _lock: file })
    }

    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of all segments at most.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Where the segments of this process's run go.
    pub fn own_run(&self, run: Uuid) -> PathBuf {
        self.path.join(format!("{:010}-{run}", self.last_run + 1))
    }

    /// What earlier processes left, oldest first.
    pub fn left_behind(&self) -> io::Result<Vec<PathBuf>> {
        let runs = runs(&self.path)?.into_iter();
        Ok(runs.filter(|(number, _)| *number <= self.last_run).map(|(_, path)| path).collect())
    }

    /// Removes the oldest segments until `wanted` bytes fit, and says how many went; an error if they never will.
    ///
    /// Of the last segment of a run its head stays, which says how many samples there were: they are missing for a reason then. Only
    /// if all the rest is not enough do heads go as well.
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
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "spool_directory_bytes is too little"));
        }
        Ok(removed)
    }
}

fn remove(segment: &SegmentFile) -> io::Result<u64> {
    match fs::remove_file(&segment.path) {
        // Another thread has delivered it.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(0),
    }
}

/// Leaves the head of a segment, and says how many bytes that has.
fn shrink(segment: &SegmentFile) -> io::Result<u64> {
    let Ok(mut reader) = Reader::open(&segment.path, segment.number) else { return remove(segment) };
    while reader.next()?.is_some() {}
    let Some(mut head) = reader.head.take() else { return remove(segment) };
    if reader.seen.is_empty() {
        return Ok(segment.bytes);
    }
    head.include(&reader.seen);
    let bytes = head.to_bytes()?;
    replace(&segment.path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Puts a file where one may be, as a whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

/// The path of a segment.
pub fn segment_path(run: &Path, number: u64) -> PathBuf {
    run.join(format!("{number:010}.{SEGMENT}"))
}

/// The segments of a run in order; none if the run is not there.
pub fn segments(run: &Path) -> io::Result<Vec<SegmentFile>> {
    let mut found = Vec::new();
    for entry in entries(run)? {
        let entry = entry?;
        let path = entry.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|it| it == SEGMENT)) {
            // Gone since: another thread has delivered it.
            let Ok(metadata) = entry.metadata() else { continue };
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
