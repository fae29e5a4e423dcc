//! The files of the log: named by the number of their first record, so that names sort as records do.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file of the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LogFile {
    /// Number of its first record.
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
}

impl LogFile {
    pub(crate) fn new(folder: &Path, first: u64) -> Self {
        Self { first, path: folder.join(format!("audit-{first:020}.jsonl")) }
    }

    /// Lists the files of a folder, oldest first. Others are ignored.
    pub(crate) fn list(folder: &Path) -> io::Result<Vec<Self>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let digits = name.strip_prefix("audit-").and_then(|name| name.strip_suffix(".jsonl"));
            if let Some(first) =
                digits.filter(|digits| digits.len() == 20).and_then(|digits| digits.parse().ok())
            {
                files.push(Self { first, path });
            }
        }
        files.sort();
        Ok(files)
    }
}
