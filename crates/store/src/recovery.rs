//! Recovery of files that were open when an earlier process ended, or that the catalogue does not list.

use crate::{
    index::{self, ScannedFile},
    record::{self, FileHeader, NotASegment},
    segment_file,
    walk::Walk,
};
use serde::Serialize;
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// A recovered file.
#[derive(Debug)]
pub struct RecoveredFile {
    /// Its header.
    pub header: FileHeader,
    /// Its content.
    pub found: ScannedFile,
    /// Its size now.
    pub bytes: u64,
    /// Bytes of an incomplete record that were cut off its end.
    pub torn: u64,
}

/// Damage of a file, for people and for the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// File name.
    pub file: String,
    /// First byte.
    pub from: u64,
    /// After the last one.
    pub to: u64,
    /// `torn_tail`: cut off, was never stored. `damaged`: skipped, the rest is intact. `unreadable`: the whole file. `read_error`: the disk failed.
    pub kind: &'static str,
    /// Description.
    pub detail: String,
}

impl Finding {
    /// Whether nothing of the file can be read.
    pub fn is_of_a_whole_file(&self) -> bool {
        self.kind == "unreadable"
    }
}

/// Errors of recovery.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The disk failed, or access was denied.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Not a segment file.
    #[error("{0}")]
    Header(#[from] NotASegment),
    /// The file can be read, but not sealed.
    #[error("cannot be sealed: {0}")]
    NotSealed(io::Error),
}

/// Reads a file, cuts off an incomplete record at its end, and seals it if necessary.
///
/// # Errors
/// If it cannot be read or sealed. The file is unchanged then.
pub fn recover(path: &Path) -> Result<RecoveredFile, Unreadable> {
    let bytes = fs::read(path)?;
    let (header, found) = scan(&bytes)?;
    let sealed = OpenOptions::new().write(true).open(path).and_then(|file| {
        make_durable(&file, &bytes, &found)?;
        match found.is_sealed {
            true => complete(&file, &found),
            false => segment_file::seal(&file, &header, found.end, &found.index),
        }
    });
    let sealed = sealed.map_err(Unreadable::NotSealed)?;
    let torn = if found.is_sealed { 0 } else { bytes.len() as u64 - found.end };
    Ok(RecoveredFile { header, found, bytes: sealed, torn })
}

/// Makes sure that the records are on the disk. A killed process has not synced its last ones; and after a failed sync the system may show
/// bytes that it will never write, so they are written again.
fn make_durable(file: &File, bytes: &[u8], found: &ScannedFile) -> io::Result<()> {
    let unsynced = &bytes[found.synced as usize..found.end as usize];
    file.write_all_at(unsynced, found.synced)?;
    file.sync_data()
}

/// Writes the trailer of a file that was perhaps not sealed to its last byte. Returns its size.
fn complete(file: &File, found: &ScannedFile) -> io::Result<u64> {
    let trailer = record::trailer(found.index_position);
    file.write_all_at(&trailer, found.end)?;
    let length = found.end + trailer.len() as u64;
    file.set_len(length)?;
    file.sync_all()?;
    Ok(length)
}

/// Reads a file without changing it.
///
/// # Errors
/// If it cannot be read.
pub fn read_file(path: &Path) -> Result<(FileHeader, ScannedFile), Unreadable> {
    scan(&fs::read(path)?)
}

/// As [`read_file`], for the bytes of a file.
///
/// # Errors
/// If they are not a segment file.
pub fn scan(bytes: &[u8]) -> Result<(FileHeader, ScannedFile), Unreadable> {
    let header = FileHeader::parse(bytes)?;
    let found = index::build(Walk::new(bytes, &header));
    // Records after such a hole were not stored either. If they were kept, what the hole had would count as stored: sequence numbers of
    // an instance only grow.
    let hole = found.first_unsynced_damage().filter(|_| header.marks_syncs && !found.is_sealed);
    let found = match hole {
        Some(hole) => index::build(Walk::new(&bytes[..hole as usize], &header)),
        None => found,
    };
    Ok((header, found))
}

impl RecoveredFile {
    /// Returns its damage.
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
                detail: "damaged bytes; the rest of the file is intact".into(),
            })
            .collect();
        if self.torn > 0 {
            findings.push(Finding {
                file,
                from: self.found.end,
                to: self.found.end + self.torn,
                kind: "torn_tail",
                detail: "cut off: incomplete record at the end, from a write that was interrupted before it was stored".into(),
            });
        }
        findings
    }
}

/// Returns the finding for an unreadable file.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment_file::SegmentFile;
    use oasis_wire::quantity::Epoch;

    #[test]
    fn a_seal_that_was_interrupted_anywhere_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SegmentFile::create(folder.path(), 1, Epoch(1)).unwrap();
        let header = fs::metadata(file.path()).unwrap().len() as usize;
        file.seal().unwrap();
        let sealed = fs::read(file.path()).unwrap();
        for length in header..sealed.len() {
            fs::write(file.path(), &sealed[..length]).unwrap();
            let recovered = recover(file.path()).unwrap();
            assert_eq!(recovered.bytes, sealed.len() as u64, "cut at {length}");
            assert_eq!(fs::read(file.path()).unwrap(), sealed, "cut at {length}");
        }
    }
}
