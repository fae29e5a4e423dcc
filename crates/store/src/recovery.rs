//! What a start makes of files that were being written when an earlier life ended, or that the catalogue does not know.

use crate::{
    index::{self, Found},
    record::{FileHeader, NotASegment},
    segment_file,
    walk::Walk,
};
use serde::Serialize;
use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// A file, read and ended.
#[derive(Debug)]
pub struct Recovered {
    /// Its header.
    pub header: FileHeader,
    /// What is in it.
    pub found: Found,
    /// Its size now.
    pub bytes: u64,
    /// Bytes cut off its end because they were no whole record.
    pub torn: u64,
}

/// What was wrong with files, for people and for the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// File name.
    pub file: String,
    /// First byte.
    pub from: u64,
    /// Behind the last one.
    pub to: u64,
    /// `torn_tail`: cut off, it was never stored. `damaged`: passed over, the rest is good. `unreadable`: none of it can be read. `read_error`: the disk did not give it.
    pub kind: &'static str,
    /// In words.
    pub detail: String,
}

/// Why a file was left alone.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The disk fails, or it may not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no segment file.
    #[error("{0}")]
    Header(#[from] NotASegment),
}

/// Reads a file, cuts what was torn off its end, and seals it if it is not.
///
/// # Errors
/// If it cannot be read or ended. The file is as it was then.
pub fn recover(path: &Path) -> Result<Recovered, Unreadable> {
    let length = fs::metadata(path)?.len();
    let (header, found) = look(path)?;
    if found.is_sealed {
        return Ok(Recovered { header, found, bytes: length, torn: 0 });
    }
    let file = OpenOptions::new().write(true).open(path)?;
    let sealed = segment_file::seal(&file, &header, found.end, &found.index)?;
    let torn = length - found.end;
    Ok(Recovered { header, found, bytes: sealed, torn })
}

/// Reads a file and leaves it as it is.
///
/// # Errors
/// If it cannot be read.
pub fn look(path: &Path) -> Result<(FileHeader, Found), Unreadable> {
    look_at(&fs::read(path)?)
}

/// The same of a file's bytes.
///
/// # Errors
/// If they are no segment file.
pub fn look_at(bytes: &[u8]) -> Result<(FileHeader, Found), Unreadable> {
    let header = FileHeader::parse(bytes)?;
    let found = index::build(Walk::new(bytes, &header));
    Ok((header, found))
}

impl Recovered {
    /// What was wrong with it.
    pub fn findings(&self, path: &Path) -> Vec<Finding> {
        let file = file_name(path);
        let mut findings: Vec<_> = self
            .found
            .damage
            .iter()
            .map(|damage| Finding {
                file: file.clone(),
                from: damage.start,
                to: damage.end,
                kind: "damaged",
                detail: "these bytes are not what was written; everything around them is good".into(),
            })
            .collect();
        if self.torn > 0 {
            findings.push(Finding {
                file,
                from: self.found.end,
                to: self.found.end + self.torn,
                kind: "torn_tail",
                detail: "cut off: what lies behind is no whole record, as after a write that was interrupted before it was stored".into(),
            });
        }
        findings
    }
}

/// A finding about a file of which nothing can be read.
pub fn unreadable(path: &Path, error: &Unreadable) -> Finding {
    let to = fs::metadata(path).map_or(0, |metadata| metadata.len());
    Finding { file: file_name(path), from: 0, to, kind: "unreadable", detail: error.to_string() }
}

/// All segment files of a folder, oldest first.
///
/// # Errors
/// If the folder cannot be read.
pub fn segment_files(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if let Some(number) = segment_file::number(&path) {
            files.push((number, path));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// A file's name without its folder.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
