//! The directory of files that can be changed.

use super::MAX_TEXT_BYTES;
use crate::whole_file;
use axum::http::StatusCode;
use oasis_http::Problem;
use sha2::{Digest, Sha256};
use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Most files of the directory.
const MAX_FILES: usize = 64;
/// Longest name of a file, in bytes.
const LONGEST_NAME: usize = 64;
const ENDING: &str = ".rules";
/// Bytes of a digest in a revision.
const REVISION: usize = 16;

/// Why a file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Names become file names, so they are plain.
    #[error(
        "{0:?} cannot be the name of a file of rules: 1 to {LONGEST_NAME} letters, digits and - _ . of ASCII, beginning with a letter or a digit, ending with {ENDING}"
    )]
    Name(String),
    #[error("no file of rules is called {0:?}: GET /api/v1/rules lists them")]
    Unknown(String),
    #[error("there are {0} files of rules, as many as allowed: delete one first")]
    TooMany(usize),
    /// The file has another revision: a text of another author must not be lost.
    #[error("{0} has changed since it was read: read it again, and repeat the change")]
    Changed(String),
    #[error("{path} cannot be read or written: {source}", path = .path.display())]
    Storage { path: PathBuf, source: io::Error },
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        let (status, code) = match error {
            FileError::Name(_) => (StatusCode::BAD_REQUEST, "rules_file_name"),
            FileError::Unknown(_) => (StatusCode::NOT_FOUND, "unknown_rules_file"),
            FileError::TooMany(_) => (StatusCode::CONFLICT, "too_many_rules_files"),
            FileError::Changed(_) => (StatusCode::CONFLICT, "rules_file_changed"),
            FileError::Storage { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "rules_storage"),
        };
        Self::new(status, code, error.to_string())
    }
}

/// A file and the number of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub text: String,
    pub revision: String,
}

impl Stored {
    pub fn new(text: String) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let mut revision = String::with_capacity(2 * REVISION);
        for byte in digest.iter().take(REVISION) {
            // A string takes any text.
            let _ = write!(revision, "{byte:02x}");
        }
        Self { text, revision }
    }
}

/// Files of rules in one directory. Blocks.
#[derive(Debug)]
pub struct FileStore {
    directory: PathBuf,
    /// One change at a time: a revision is compared and replaced under it.
    changing: Mutex<()>,
}

impl FileStore {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, changing: Mutex::new(()) }
    }

    /// Names of the files, in order. A directory that is not there has none.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(FileError::Storage { path: self.directory.clone(), source }),
        };
        let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let mut names: Vec<_> = entries.filter_map(name).filter(|name| is_name(name)).collect();
        names.sort();
        Ok(names)
    }

    pub fn read(&self, name: &str) -> Result<Stored, FileError> {
        let path = self.path(name)?;
        match read(&path) {
            Ok(text) => Ok(Stored::new(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FileError::Unknown(name.into())),
            Err(source) => Err(FileError::Storage { path, source }),
        }
    }

    /// Replaces the text with this revision, or creates the file if there is none. A reader of the directory sees the old text or the new one.
    pub fn write(&self, name: &str, text: String, revision: Option<&str>) -> Result<Stored, FileError> {
        let path = self.path(name)?;
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.read(name), revision) {
            (Ok(stored), Some(revision)) if stored.revision == revision => {}
            (Err(FileError::Unknown(_)), None) => {
                let files = self.names()?.len();
                if files >= MAX_FILES {
                    return Err(FileError::TooMany(files));
                }
            }
            (Ok(_), _) | (Err(FileError::Unknown(_)), Some(_)) => {
                return Err(FileError::Changed(name.into()));
            }
            (Err(error), _) => return Err(error),
        }
        let written = fs::create_dir_all(&self.directory).and_then(|()| whole_file::replace(&path, &text));
        written.map_err(|source| FileError::Storage { path, source })?;
        Ok(Stored::new(text))
    }

    /// Removes a file, if it has this revision or none is asked for.
    pub fn remove(&self, name: &str, revision: Option<&str>) -> Result<(), FileError> {
        let path = self.path(name)?;
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = self.read(name)?;
        if revision.is_some_and(|revision| revision != stored.revision) {
            return Err(FileError::Changed(name.into()));
        }
        let removed = whole_file::remove(&path);
        removed.map_err(|source| FileError::Storage { path, source })
    }

    fn path(&self, name: &str) -> Result<PathBuf, FileError> {
        if is_name(name) { Ok(self.directory.join(name)) } else { Err(FileError::Name(name.into())) }
    }
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.len() <= LONGEST_NAME
        && name.len() > ENDING.len()
        && name.ends_with(ENDING)
        && name.bytes().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_TEXT_BYTES as u64 + 1).read_to_string(&mut text)?;
    if text.len() > MAX_TEXT_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_TEXT_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::new(folder.path().join("files"));
        let long = format!("{}.rules", "a".repeat(59));
        for name in [
            "",
            ".rules",
            "..rules",
            "../x.rules",
            "a/b.rules",
            "a\\b.rules",
            "-a.rules",
            "ä.rules",
            "a b.rules",
            "a.pdl",
            "a.rules/",
            "a\0.rules",
            &long,
        ] {
            assert!(matches!(files.write(name, String::new(), None), Err(FileError::Name(_))), "{name:?}");
            assert!(matches!(files.read(name), Err(FileError::Name(_))), "{name:?}");
            assert!(matches!(files.remove(name, None), Err(FileError::Name(_))), "{name:?}");
        }
        assert!(files.write("Line-3_night.v2.rules", "x".into(), None).is_ok());
        assert_eq!(files.names().unwrap(), ["Line-3_night.v2.rules"]);
    }

    #[test]
    fn a_text_is_replaced_only_by_those_who_have_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::new(folder.path().to_owned());
        assert!(matches!(files.read("a.rules"), Err(FileError::Unknown(_))));
        assert!(matches!(files.write("a.rules", "x".into(), Some("0")), Err(FileError::Changed(_))));
        let first = files.write("a.rules", "one".into(), None).unwrap();
        assert_eq!(files.read("a.rules").unwrap(), first);
        assert!(matches!(files.write("a.rules", "two".into(), None), Err(FileError::Changed(_))));
        let second = files.write("a.rules", "two".into(), Some(&first.revision)).unwrap();
        assert_ne!(first.revision, second.revision);
        assert!(matches!(
            files.write("a.rules", "three".into(), Some(&first.revision)),
            Err(FileError::Changed(_))
        ));
        assert!(matches!(files.remove("a.rules", Some(&first.revision)), Err(FileError::Changed(_))));
        files.remove("a.rules", Some(&second.revision)).unwrap();
        assert!(matches!(files.remove("a.rules", None), Err(FileError::Unknown(_))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn number_and_size_of_files_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::new(folder.path().to_owned());
        for number in 0..MAX_FILES {
            files.write(&format!("{number}.rules"), String::new(), None).unwrap();
        }
        assert!(matches!(files.write("a.rules", String::new(), None), Err(FileError::TooMany(MAX_FILES))));
        fs::write(folder.path().join("0.rules"), vec![b' '; MAX_TEXT_BYTES + 1]).unwrap();
        assert!(matches!(files.read("0.rules"), Err(FileError::Storage { .. })));
        fs::write(folder.path().join("0.rules"), b"\xff").unwrap();
        assert!(matches!(files.read("0.rules"), Err(FileError::Storage { .. })));
    }
}
